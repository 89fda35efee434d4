// SPDX-License-Identifier: GPL-2.0-only
/* What the KUnit suites of the program share; see tests.h. */
#include <linux/glob.h>

#include "tests.h"

static char text[1 << 16];

/* A file has these contents, in reads of each size. */
void native_expect_file(struct kunit *test, const char *path, const char *want)
{
	static const size_t sizes[] = { 4096, 1, 17, 40 };

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		ssize_t len = native_cat(path, text, sizeof(text), sizes[i]);

		KUNIT_EXPECT_GE_MSG(test, len, 0, "%s", path);
		KUNIT_EXPECT_STREQ_MSG(test, text, want, "%s, %zu bytes a read", path, sizes[i]);
	}
}

void echo(struct kunit *test, const char *path, int flags, const char *words, int ret,
	  const char *want)
{
	KUNIT_EXPECT_EQ_MSG(test, native_echo(path, flags, words), ret, "%s: %s", path, words);
	native_expect_file(test, path, want);
}

struct native_file *open_file(struct kunit *test, const char *path, int flags)
{
	struct native_file *f = native_open(path, flags);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(f), "%s", path);
	return f;
}

/* Write, and leave the file open. */
struct native_file *begin_write(struct kunit *test, const char *path, int flags, const char *words)
{
	struct native_file *f = open_file(test, path, O_WRONLY | flags);

	KUNIT_EXPECT_EQ_MSG(test, native_write(f, words), 0, "%s", words);
	return f;
}

void register_on(struct kunit *test, struct ftrace_ops *ops, test_func_t func)
{
	ftrace_kunit_add_ops(test, ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(ops, func, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
}

void register_on_glob(struct kunit *test, struct ftrace_ops *ops, const char *glob)
{
	ftrace_kunit_add_ops(test, ops);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(ops, (u8 *)glob, strlen(glob), 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
}

struct ftrace_ops *native_dynamic_ops(struct kunit *test)
{
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	return ops;
}

void register_crowd(struct kunit *test, struct ftrace_ops *ops, unsigned int nr, test_func_t func)
{
	for (unsigned int i = 0; i < nr; i++) {
		ops[i] = (struct ftrace_ops){ .func = ftrace_kunit_note_x };
		register_on(test, &ops[i], func);
	}
}

static int counted_type;

static bool count_event(struct trace_entry *entry, void *nr)
{
	*(unsigned int *)nr += entry->type == counted_type;
	return true;
}

unsigned int native_events_of(struct trace_array *tr, int type)
{
	unsigned int nr = 0;

	counted_type = type;
	native_events(tr, count_event, &nr);
	return nr;
}

void native_expect_once(struct kunit *test, const char *text, const char *line)
{
	const char *first = strstr(text, line);

	KUNIT_ASSERT_NOT_NULL_MSG(test, first, "%s", line);
	KUNIT_ASSERT_NULL_MSG(test, strstr(first + 1, line), "%s", line);
}

/* The contents of a file match a pattern with `*'. */
void native_expect_glob(struct kunit *test, const char *path, const char *glob)
{
	KUNIT_EXPECT_GE_MSG(test, native_cat(path, text, sizeof(text), 64), 0, "%s", path);
	KUNIT_EXPECT_TRUE_MSG(test, glob_match(glob, text), "%s does not match %s", text, glob);
}

unsigned long native_left;

void native_fail_end(const unsigned long *unused)
{
	native_left = native_fail_left();
	native_fail_nth(0);
}

int native_run_write(void *data)
{
	const struct native_write *w = data;

	return native_echo(w->path, w->flags, w->words);
}

void native_undo_write(void *data)
{
	const struct native_write *w = data;

	native_echo(w->path, w->flags, w->undo);
}

int native_run_register(void *data)
{
	return register_ftrace_function(data);
}

void native_undo_register(void *data)
{
	unregister_ftrace_function(data);
}

/*
 * Try an operation with each allocation failing, one after the other, until it succeeds because it
 * makes fewer allocations. Returns their number.
 */
unsigned int native_sweep(struct kunit *test, const struct native_op *op)
{
	unsigned int n, last = 0;

	for (n = 1; n < 2000; n++) {
		unsigned long live, left, classes;
		const char *bad;
		int ret;

		native_settle();
		live = native_live();
		classes = ftrace_kunit_nr_classes();
		ret = WITHOUT(n, op->run(op->data));
		left = native_left;
		bad = ftrace_kunit_state();
		if (bad)
			KUNIT_FAIL(test, "allocation %u fails: %s", n, bad);
		if (!ret) {
			if (op->undo)
				op->undo(op->data);
			if (left)
				return n - 1;
			native_settle();
			if (n > 1 && native_live() > live + 2)
				KUNIT_FAIL(test, "allocation %u fails: %lu pieces are left", n,
					   native_live() - live);
			KUNIT_EXPECT_TRUE_MSG(test, op->lenient, "succeeds without allocation %u", n);
			continue;
		}
		if (!op->error || ret != op->error)
			KUNIT_EXPECT_EQ_MSG(test, ret, -ENOMEM, "allocation %u fails", n);
		if (left) {
			KUNIT_FAIL(test, "error %d with all allocations", ret);
			return n;
		}
		if (op->partial && op->undo)
			op->undo(op->data);
		KUNIT_EXPECT_LE_MSG(test, ftrace_kunit_nr_classes(), classes, "allocation %u", n);
		native_settle();
		if (native_live() <= live)
			continue;
		/* Arrays that are larger now, or lists that are longer, stay; but not again. */
		if (last == n)
			KUNIT_FAIL(test, "allocation %u fails: %lu pieces of memory are left", n,
				   native_live() - live);
		else
			last = n--;
	}
	KUNIT_FAIL(test, "the operation never succeeds");
	return n;
}

void native_until_stopped(void)
{
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
}

struct waiter {
	void	(*run)(void *data);
	void	*data;
	bool	done;
};

static int wait_and_run(void *data)
{
	struct waiter *w = data;

	w->run(w->data);
	WRITE_ONCE(w->done, true);
	native_until_stopped();
	return 0;
}

void native_expect_waits(struct kunit *test, struct mutex *lock, void (*run)(void *data),
			 void *data)
{
	struct waiter w = { run, data };
	struct task_struct *task;
	bool done;

	mutex_lock(lock);
	task = kthread_run_on_cpu(wait_and_run, &w, 2, "native/%u");
	while (!READ_ONCE(w.done) && !native_waits_for(lock))
		usleep_range(1000, 2000);
	done = READ_ONCE(w.done);
	KUNIT_EXPECT_FALSE_MSG(test, done, "%ps runs without %ps", run, lock);
	mutex_unlock(lock);
	while (!READ_ONCE(w.done))
		usleep_range(1000, 2000);
	kthread_stop(task);
}

unsigned int native_inside;

/* Not preemptible: about 0.1 s. */
void native_stay(void)
{
	cycles_t end = get_cycles() + 300000000;

	WRITE_ONCE(native_inside, 1);
	while (get_cycles() < end)
		cpu_relax();
	WRITE_ONCE(native_inside, 2);
}

static int call_and_stop(void *func)
{
	((native_func_t *)func)(0);
	native_until_stopped();
	return 0;
}

struct task_struct *native_call_until_inside(native_func_t *func)
{
	struct task_struct *task;

	native_inside = 0;
	task = kthread_run_on_cpu(call_and_stop, func, 2, "native/%u");
	while (!READ_ONCE(native_inside))
		usleep_range(1000, 2000);
	return task;
}

void native_expect_no_leak(struct kunit *test, void (*run)(struct kunit *test))
{
	unsigned long live;

	run(test);
	native_settle();
	live = native_live();
	run(test);
	native_settle();
	/* What KUnit keeps for an expectation that failed does not count. */
	if (test->status != KUNIT_FAILURE)
		KUNIT_EXPECT_EQ(test, native_live(), live);
}

static bool is_in, go;

static void wait_inside(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	WRITE_ONCE(is_in, true);
	while (!READ_ONCE(go))
		cpu_relax();
}

struct task_struct *native_hold_in_callback(struct kunit *test, struct ftrace_ops *ops,
					    test_func_t func)
{
	struct task_struct *task;

	ops->func = wait_inside;
	is_in = false;
	go = false;
	register_on(test, ops, func);
	task = kthread_run_on_cpu(call_and_stop, func, 2, "native/%u");
	while (!READ_ONCE(is_in))
		usleep_range(1000, 2000);
	return task;
}

void native_let_go(void)
{
	WRITE_ONCE(go, true);
}
