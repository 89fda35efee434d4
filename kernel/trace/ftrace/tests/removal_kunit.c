// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of removal: who unregisters an ops waits for a task in the callback, and a
 * trampoline stays as long as a task can be in it.
 */
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../core.h"
#include "../dispatch.h"
#include "ftrace_kunit.h"

/*
 * A task is where it must be waited for, the ops is being removed, the task has left the
 * callback.
 */
static bool removal_inside, removal_begins, removal_left;

/* Stay in the callback until the removal has begun, and some time longer. */
static void removal_stay(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	unsigned long until;

	if (READ_ONCE(removal_inside))
		return;
	WRITE_ONCE(removal_inside, true);
	while (!READ_ONCE(removal_begins))
		cpu_relax();
	until = jiffies + HZ / 20 + 1;
	while (time_before(jiffies, until))
		cpu_relax();
	WRITE_ONCE(removal_left, true);
}

static void removal_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
}

static int removal_call(void *unused)
{
	ftrace_kunit_func1(1);
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

/* Another CPU than that of the case, which stays on its CPU. */
static unsigned int removal_cpu(struct kunit *test)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, 0);

	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "one CPU does not run two tasks at the same time");
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	return cpu;
}

static void removal_end(struct task_struct *task)
{
	if (!IS_ERR(task))
		kthread_stop(task);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void removal_await(struct task_struct *task)
{
	for (unsigned int i = 0; !IS_ERR(task) && i < 5000 && !READ_ONCE(removal_inside); i++)
		usleep_range(1000, 2000);
}

/* Unregister an ops while a task is in its callback. */
static void removal_wait(struct kunit *test, struct ftrace_ops *ops)
{
	unsigned int cpu = removal_cpu(test);
	struct task_struct *task;
	int ret;

	removal_inside = false;
	removal_begins = false;
	removal_left = false;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
	task = kthread_run_on_cpu(removal_call, NULL, cpu, "ftrace_kunit/%u");
	removal_await(task);
	WRITE_ONCE(removal_begins, true);
	ret = unregister_ftrace_function(ops);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(removal_left));
	removal_end(task);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, removal_inside);
}

static void removal_add(struct kunit *test, struct ftrace_ops *ops, ftrace_func_t func)
{
	ops->func = func;
	ftrace_kunit_add_ops(test, ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(ops, ftrace_kunit_func1, true), 0);
}

/* The memory of the ops can be freed, as the memory of an ops of a module. */
static void tasks_in_a_callback_are_waited_for(struct kunit *test)
{
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	removal_add(test, ops, removal_stay);
	removal_wait(test, ops);
}

/* So many ops that one slot walks them. */
static void tasks_in_a_walk_are_waited_for(struct kunit *test)
{
	const unsigned int nr = FTRACE_MAX_SLOTS + 2;
	struct ftrace_ops *ops = kunit_kcalloc(test, nr, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	for (unsigned int i = 1; i < nr; i++) {
		removal_add(test, &ops[i], removal_nothing);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops[i]), 0);
	}
	removal_add(test, &ops[0], removal_stay);
	removal_wait(test, &ops[0]);
}

/* RCU tasks waits for this task. */
static int removal_spin(void *unused)
{
	WRITE_ONCE(removal_inside, true);
	while (!kthread_should_stop())
		cpu_relax();
	return 0;
}

static bool removal_is_tramp(unsigned long addr)
{
	guard(preempt)();
	return arch_ftrace_tramp_find(addr);
}

static struct ftrace_dispatch *removal_dispatch(struct ftrace_ops *ops)
{
	struct ftrace_ops *set[] = { ops };

	guard(mutex)(&ftrace_lock);
	return ftrace_dispatch_make(set, 1, 0, NULL);
}

/*
 * While a trampoline waits to be freed, another one is retired. The wait may have begun before, so
 * it does not count for that one.
 */
static void each_trampoline_is_waited_for(struct kunit *test)
{
	struct task_struct *task = ERR_PTR(-ENODEV);
	struct ftrace_dispatch *first, *second;
	unsigned int cpu = removal_cpu(test);
	static struct ftrace_ops ops;
	unsigned long addr = 0;
	bool stays;

	removal_add(test, &ops, removal_nothing);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	first = removal_dispatch(&ops);
	second = removal_dispatch(&ops);

	mutex_lock(&ftrace_lock);
	if (first)
		ftrace_dispatch_retire(first);
	/* Longer than a grace period, if somebody has begun to wait. */
	msleep(200);
	if (second) {
		addr = second->tramp->addr;
		removal_inside = false;
		task = kthread_run_on_cpu(removal_spin, NULL, cpu, "ftrace_kunit/%u");
		removal_await(task);
		ftrace_dispatch_retire(second);
	}
	mutex_unlock(&ftrace_lock);
	msleep(100);
	stays = removal_is_tramp(addr);
	removal_end(task);
	KUNIT_EXPECT_NOT_NULL(test, first);
	KUNIT_EXPECT_NOT_NULL(test, second);
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_TRUE(test, stays);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	for (unsigned int i = 0; i < 500 && removal_is_tramp(addr); i++)
		msleep(20);
	KUNIT_EXPECT_FALSE(test, removal_is_tramp(addr));
}

static struct kunit_case removal_cases[] = {
	KUNIT_CASE(tasks_in_a_callback_are_waited_for),
	KUNIT_CASE(tasks_in_a_walk_are_waited_for),
	KUNIT_CASE(each_trampoline_is_waited_for),
	{ }
};

static struct kunit_suite removal_suite = {
	.name = "ftrace_removal",
	.exit = ftrace_kunit_exit,
	.test_cases = removal_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(removal_suite);
