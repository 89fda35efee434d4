// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of slots: when an ops goes, its slots in the trampolines are switched off,
 * and a CPU that runs into one of them meanwhile goes on.
 */
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>

#include "../callback.h"
#include "../core.h"
#include "../dispatch.h"
#include "ftrace_kunit.h"

/* The first byte of the slot that comes next, while callbacks stop before the slot. */
static const u8 *slots_next;
/* A callback has stopped before the slot; and how many ran on into a changed slot. */
static bool slots_stopped;
static unsigned int slots_met;

static void slots_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
}

/* Stop before the next slot until the first byte of the slot changes. */
static void slots_stop(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	const u8 *next = READ_ONCE(slots_next);
	u8 first;

	if (!next)
		return;
	first = READ_ONCE(*next);
	WRITE_ONCE(slots_stopped, true);
	while (READ_ONCE(slots_next)) {
		if (READ_ONCE(*next) != first) {
			WRITE_ONCE(slots_met, slots_met + 1);
			WRITE_ONCE(slots_next, NULL);
		}
		cpu_relax();
	}
}

static struct ftrace_ops slots_hole = { .func = slots_callback };
static struct ftrace_ops slots_young = { .func = slots_stop };
static struct ftrace_ops slots_gone = { .func = slots_callback };

static unsigned int slots_calls;

static int slots_call_loop(void *unused)
{
	while (!kthread_should_stop()) {
		ftrace_kunit_func2(1);
		WRITE_ONCE(slots_calls, slots_calls + 1);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int slots_trace(struct ftrace_ops *ops, test_func_t func1, test_func_t func2)
{
	return ftrace_kunit_filter(ops, func1, true) ?: ftrace_kunit_filter(ops, func2, false) ?:
	       register_ftrace_function(ops);
}

/* An ops that could not be registered is not traced. */
static void slots_untrace(struct kunit *test, struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
}

/* The slot that calls @ops in the trampoline of @func. */
static const u8 *slots_find(struct ftrace_ops *ops, test_func_t func)
{
	unsigned long tramp = ftrace_kunit_tramp(func);
	const struct ftrace_slot *slot;
	struct ftrace_patch off;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry(slot, &ops->callback->slots, list) {
		arch_ftrace_tramp_off(slot->dispatch->tramp, slot - slot->dispatch->slot, &off);
		if (off.ip - tramp < PAGE_SIZE)
			return (const u8 *)off.ip;
	}
	return NULL;
}

/* Remove the ops while the other CPU stands before the slot of the ops. */
static void slots_remove_ops(struct kunit *test)
{
	const u8 *next = slots_find(&slots_gone, ftrace_kunit_func2);
	unsigned int calls = READ_ONCE(slots_calls);

	KUNIT_EXPECT_NOT_NULL(test, next);
	WRITE_ONCE(slots_stopped, false);
	WRITE_ONCE(slots_next, next);
	/* One of the next calls stops, whenever the other CPU makes them. */
	while (!READ_ONCE(slots_stopped) && READ_ONCE(slots_calls) - calls < 1000)
		msleep(20);
	slots_untrace(test, &slots_gone);
	WRITE_ONCE(slots_next, NULL);
}

/* Trampolines that no site calls are freed; on a busy machine, later. */
static int slots_wait_gone(unsigned long tramp)
{
	for (int i = 0; i < 3000; i++) {
		if (!is_ftrace_trampoline(tramp))
			return 0;
		msleep(20);
	}
	return -ETIMEDOUT;
}

/*
 * A plan finds the slots of an ops in the order in which they were made. Make the slot
 * on func1 first, and give the slot on func2 the lower address: its trampoline goes
 * where another one was freed. The batch must be in the order of
 * the addresses, because trap handlers search the batch.
 *
 * Each place is the first that is large enough, and all trampolines that call two ops
 * have the same size. So that of func1 is above the one that func2 has at the
 * same time, if no older one was freed between. func4 keeps the trampoline that calls young only.
 *
 * Return: 1 if the addresses were in the reversed order, 0 if not, or an error.
 */
static int slots_remove_reversed(struct kunit *test)
{
	unsigned long hole;
	bool reversed;
	int err;

	err = slots_trace(&slots_gone, ftrace_kunit_func3, ftrace_kunit_func3) ?:
	      slots_trace(&slots_young, ftrace_kunit_func4, ftrace_kunit_func2) ?:
	      slots_trace(&slots_hole, ftrace_kunit_func1, ftrace_kunit_func2);
	hole = err ? 0 : ftrace_kunit_tramp(ftrace_kunit_func2);
	err = err ?: ftrace_kunit_filter(&slots_gone, ftrace_kunit_func1, false) ?:
	      ftrace_kunit_filter(&slots_hole, ftrace_kunit_func1, true) ?:
	      slots_wait_gone(hole) ?:
	      ftrace_kunit_filter(&slots_gone, ftrace_kunit_func2, false);
	reversed = !err && ftrace_kunit_tramp(ftrace_kunit_func2) <
			   ftrace_kunit_tramp(ftrace_kunit_func1);
	if (reversed)
		slots_remove_ops(test);
	slots_untrace(test, &slots_gone);
	slots_untrace(test, &slots_young);
	slots_untrace(test, &slots_hole);
	return err ?: reversed;
}

static void slots_are_found_in_any_order(struct kunit *test)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, 0);
	struct task_struct *task;
	int reversed = 0, ret = 0;

	if (cpu >= nr_cpu_ids) {
		kunit_skip(test, "one CPU cannot run into a slot that it changes");
		return;
	}
	ftrace_kunit_add_ops(test, &slots_hole);
	ftrace_kunit_add_ops(test, &slots_young);
	ftrace_kunit_add_ops(test, &slots_gone);
	slots_met = 0;
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	task = kthread_run_on_cpu(slots_call_loop, NULL, cpu, "ftrace_kunit/%u");
	if (!IS_ERR(task)) {
		for (int i = 0; i < 20 && reversed < 3 && ret >= 0; i++) {
			ret = slots_remove_reversed(test);
			reversed += ret == 1;
		}
		kthread_stop(task);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	KUNIT_EXPECT_GE(test, ret, 0);
	KUNIT_EXPECT_EQ(test, reversed, 3);
	KUNIT_EXPECT_EQ(test, slots_met, 3);
}

static struct kunit_case slots_cases[] = {
	KUNIT_CASE_SLOW(slots_are_found_in_any_order),
	{ }
};

static struct kunit_suite slots_suite = {
	.name = "ftrace_slots",
	.exit = ftrace_kunit_exit,
	.test_cases = slots_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(slots_suite);
