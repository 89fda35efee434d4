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

#include "ftrace/tests/ftrace_kunit.h"
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

void native_expect_file(struct kunit *test, const char *path, const char *want);
void native_expect_glob(struct kunit *test, const char *path, const char *glob);
/* Write to a file, and expect this result and these contents. */
void echo(struct kunit *test, const char *path, int flags, const char *words, int ret,
	  const char *want);
/* @text has @line, once. */
void native_expect_once(struct kunit *test, const char *text, const char *line);

/* An operation, and what undoes the operation after it has succeeded. */
struct native_op {
	int	(*run)(void *data);
	void	(*undo)(void *data);
	void	*data;
	bool	lenient;	/* without memory it may succeed, with less or slower */
	bool	partial;	/* an error can come after a part is done, so undo always */
	int	error;		/* what it may return without memory, besides -ENOMEM */
};

unsigned int native_sweep(struct kunit *test, const struct native_op *op);

/* @run waits while somebody else holds the lock. */
struct mutex;
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

/* Nothing may be left of @run, which is called twice: the first time makes what stays. */
void native_expect_no_leak(struct kunit *test, void (*run)(struct kunit *test));

#endif
