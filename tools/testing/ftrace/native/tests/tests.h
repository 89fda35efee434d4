/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the KUnit suites share that only the program has: files of tracefs, and memory that fails.
 *
 * native_sweep() is the idea: an operation that fails without memory is tried with each of its
 * allocations failing in turn. So each error path runs, and must leave nothing behind.
 *
 * A file is a suite: SUITE() comes first, and then the cases, in the order in which they run.
 */
#ifndef _NATIVE_TESTS_H
#define _NATIVE_TESTS_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace/core.h"
#include "ftrace/tests/ftrace_kunit.h"
#include "module.h"
#include "native.h"
#include "targets.h"

/* Cases stay in this order, so an empty one ends the suite before it. */
#define __native_case	__used __no_reorder __aligned(8) __section("native_cases")
#define __no_reorder	__attribute__((no_reorder))

#define SUITE(title, begin, end)						\
	static struct kunit_case no_case __native_case;				\
	static struct kunit_suite suite = {					\
		.name = "native_" #title,					\
		.test_cases = &no_case + 1,					\
		.init = begin,							\
		.exit = end,							\
		.suite_exit = ftrace_kunit_forget,				\
	};									\
	kunit_test_suite(suite)

#define CASE(name)								\
	static void name(struct kunit *test);					\
	static struct kunit_case case_##name __native_case = KUNIT_CASE(name);	\
	static void name(struct kunit *test)

/* The pid of the task of a case, see kunit.c in shim/. */
#define OWN		2

#define NO_FILTER	"#### all functions enabled ####\n"
#define NO_NOTRACE	"#### no functions disabled ####\n"

void native_expect_file(struct kunit *test, const char *path, const char *want);
void native_expect_glob(struct kunit *test, const char *path, const char *glob);
/* Write to a file, and expect this result and these contents. */
void echo(struct kunit *test, const char *path, int flags, const char *words, int ret,
	  const char *want);
/* Open a file, which must work. */
struct native_file *open_file(struct kunit *test, const char *path, int flags);
struct native_file *begin_write(struct kunit *test, const char *path, int flags, const char *words);
/* @text has @line, once. */
void native_expect_once(struct kunit *test, const char *text, const char *line);

/* Register an ops on this function alone, or on these. The end of the case removes the ops. */
void register_on(struct kunit *test, struct ftrace_ops *ops, test_func_t func);
void register_on_glob(struct kunit *test, struct ftrace_ops *ops, const char *glob);

/* An ops whose memory can be freed. */
struct ftrace_ops *native_dynamic_ops(struct kunit *test);
/* The same for each of these ops, which note an x. */
void register_crowd(struct kunit *test, struct ftrace_ops *ops, unsigned int nr, test_func_t func);

void native_direct_target(void);

static const test_func_t kunit_funcs[] = {
	ftrace_kunit_func1, ftrace_kunit_func2, ftrace_kunit_func3, ftrace_kunit_func4,
};

/* How many events of a type a trace array has. */
unsigned int native_events_of(struct trace_array *tr, int type);

/*
 * The value of an expression in which the n-th allocation fails, counted from 1. Then native_left
 * says whether there were fewer.
 */
extern unsigned long native_left;
void native_fail_end(const unsigned long *unused);
#define WITHOUT(n, ...)								\
({										\
	unsigned long __nth __cleanup(native_fail_end) = n;			\
										\
	native_fail_nth(__nth);							\
	__VA_ARGS__;								\
})

/* The value of an expression with the lock held. */
#define LOCKED(...)								\
({										\
	guard(mutex)(&ftrace_lock);						\
	__VA_ARGS__;								\
})

/* An operation, and what undoes the operation after it has succeeded. */
struct native_op {
	int	(*run)(void *data);
	void	(*undo)(void *data);
	void	*data;
	bool	lenient;	/* without memory it may succeed, with less or slower */
	bool	partial;	/* an error can come after a part is done, so undo always */
	int	error;		/* what it may return without memory, besides -ENOMEM */
};

/* One that writes to a file, and one that registers the ops @data. */
struct native_write {
	const char	*path;
	int		flags;
	const char	*words, *undo;
};

int native_run_write(void *data);
void native_undo_write(void *data);
int native_run_register(void *data);
void native_undo_register(void *data);

#define NATIVE_WRITES(...) \
	native_run_write, native_undo_write, &(struct native_write){ __VA_ARGS__ }
#define NATIVE_REGISTERS(ops)	native_run_register, native_undo_register, ops

unsigned int native_sweep(struct kunit *test, const struct native_op *op);

/* @run waits while somebody else holds the lock. */
void native_expect_waits(struct kunit *test, struct mutex *lock, void (*run)(void *data),
			 void *data);

/*
 * A function that keeps its task busy for a while. Before, native_inside is 0; meanwhile it is 1,
 * and then 2. A new task calls @func, which gets there, and goes on.
 */
extern unsigned int native_inside;
void native_stay(void);
struct task_struct *native_call_until_inside(native_func_t *func);

/*
 * Registers @ops on @func and returns a new task that calls @func, and that stays in the callback
 * until native_let_go(), and then until kthread_stop().
 */
struct task_struct *native_hold_in_callback(struct kunit *test, struct ftrace_ops *ops,
					    test_func_t func);
void native_let_go(void);

/* The end of a task that has done its work. */
void native_until_stopped(void);

/* Where a sanitizer is in the code, that has no single steps, and other calls. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define skip_if_sanitized(test)	kunit_skip(test, "not with a sanitizer")
#else
#define skip_if_sanitized(test)	do { } while (0)
#endif

/* Nothing may be left of @run, which is called twice: the first time makes what stays. */
void native_expect_no_leak(struct kunit *test, void (*run)(struct kunit *test));

#endif
