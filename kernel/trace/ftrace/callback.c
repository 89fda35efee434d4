// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callbacks: what trampolines call, and the wait until no task is in a callback.
 *
 * The owner of an ops may free it as soon as it is unregistered. A task may still be in the
 * callback then, or on the way to it in a trampoline, possibly preempted. Grace periods that
 * cover such a task take a tenth of a second and more, so unregistering does not wait for one:
 *
 * - All slots that call the ops are switched off, in the batch that takes it off its sites, also
 *   those of trampolines that no site calls any more but that are not freed yet. After that only
 *   a task that has counted itself in can enter the callback. For walks (walk.c) a mark in the
 *   callback has the same effect.
 * - The wait ends when as many tasks have left as have entered, which is mostly at once.
 * - Trampolines and counters belong to the core. A work item that nobody waits for frees them
 *   later, after the grace periods.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kmsan-checks.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "callback.h"
#include "core.h"
#include "dispatch.h"
#include "wait.h"

/* If a task stays in a removed callback for longer, a message is logged. */
#define LONG_WAIT	(10 * HZ)

/* Protects callbacks that do not allow recursion, need RCU to watch, or that KMSAN checks. */
static void ftrace_ops_assist_func(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	/* Assembly has written the registers, where KMSAN does not look. */
	kmsan_unpoison_memory(fregs, ftrace_regs_size());
	/* Other flags may change meanwhile. */
	if (!(data_race(op->flags) & FTRACE_OPS_FL_RCU) || rcu_is_watching())
		op->func(ip, parent_ip, op, fregs);
	ftrace_test_recursion_unlock(bit);
}

NOKPROBE_SYMBOL(ftrace_ops_assist_func);

/**
 * ftrace_ops_get_func - the function that a trampoline calls for an ops
 * @ops: the ops
 *
 * Context: Any context.
 * Return: the callback of @ops, or a guard that calls the callback.
 */
ftrace_func_t ftrace_ops_get_func(struct ftrace_ops *ops)
{
	if (IS_ENABLED(CONFIG_KMSAN) || ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU))
		return ftrace_ops_assist_func;
	return ops->func;
}

/**
 * ftrace_ops_trylock - does the function for an ops give up in a task that is in a callback?
 * @ops: the ops
 *
 * Context: Any context.
 * Return: true if a call where ftrace_test_recursion_trylock() fails may be left out.
 */
bool ftrace_ops_trylock(struct ftrace_ops *ops)
{
	return !IS_ENABLED(CONFIG_FTRACE_RECORD_RECURSION) &&
	       (ops->flags & FTRACE_OPS_FL_TRYLOCK ||
		ftrace_ops_get_func(ops) == ftrace_ops_assist_func);
}

/* Makes the callback of an ops that is about to be registered: 0 or -ENOMEM. ftrace_lock held. */
int ftrace_callback_make(struct ftrace_ops *ops)
{
	struct ftrace_callback *cb __free(kfree) = kzalloc(sizeof(*cb), GFP_KERNEL);

	lockdep_assert_held(&ftrace_lock);
	if (!cb)
		return -ENOMEM;
	INIT_LIST_HEAD(&cb->slots);
	cb->users = 1;
	/* Tasks cannot be counted: a trampoline jumps to a direct caller, without return. */
	if (ops->flags & FTRACE_OPS_FL_DYNAMIC && !(ops->flags & FTRACE_OPS_FL_DIRECT)) {
		cb->count = ftrace_count_get();
		if (!cb->count)
			return -ENOMEM;
	}
	ops->callback = no_free_ptr(cb);
	return 0;
}

/**
 * ftrace_callback_put - drop a reference to a callback
 * @cb: the callback
 *
 * Context: ftrace_lock held.
 */
void ftrace_callback_put(struct ftrace_callback *cb)
{
	lockdep_assert_held(&ftrace_lock);
	if (--cb->users)
		return;
	ftrace_count_put(cb->count);
	kfree(cb);
}

/* The first @nr slots of the list are off now. ftrace_lock held. */
void ftrace_callback_is_off(struct ftrace_callback *cb, unsigned int nr)
{
	lockdep_assert_held(&ftrace_lock);
	cb->nr_slots -= nr;
	while (nr--)
		list_del_init(cb->slots.next);
}

/*
 * Lets no further task into the callback of a removed ops by way of a walk. A task in
 * ftrace_walk_func() counts itself in, then reads the mark. After the broadcast, either the task
 * sees the mark, or all CPUs see that the task has counted itself in. A task that gets there after
 * the broadcast does not count. ftrace_lock held.
 */
void ftrace_callback_shut(struct ftrace_callback *cb)
{
	lockdep_assert_held(&ftrace_lock);
	WRITE_ONCE(cb->off, true);
	if (!cb->nr_walks)
		return;
	/* A CPU that comes up would miss the broadcast. */
	cpus_read_lock();
	arch_ftrace_sync();
	cpus_read_unlock();
}

static unsigned long callback_sum(const unsigned long __percpu *count)
{
	unsigned long total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(*per_cpu_ptr(count, cpu));
	return total;
}

/**
 * ftrace_ops_missed - how many calls were missed before they reached the callback?
 * @ops: the ops
 *
 * A trampoline turns a task away that is in a callback already, and counts it here if the memory
 * of @ops can be freed. What the callback itself turns away is not in this number.
 *
 * Context: Process context, may sleep.
 * Return: the number since @ops was registered; 0 if it is not.
 */
unsigned long ftrace_ops_missed(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);
	return ops->callback && ops->callback->count ?
	       callback_sum(&ops->callback->count->missed) : 0;
}

/*
 * The sum of those who left is read first. A task in a walk that was on its way when the callback
 * was shut may count itself in and out without entering the callback. If the sum of those who
 * entered were read first, such a task would stand for a task that is still in the callback.
 */
static bool callback_has_tasks(struct ftrace_count __percpu *count)
{
	unsigned long left = callback_sum(&count->left);

	/* Pairs with the barrier() in walk_call(), and with the order of stores in a slot. */
	smp_rmb();
	return callback_sum(&count->entered) != left;
}

/*
 * Waits until no task is in a callback, which is shut and whose slots have all been switched off;
 * @func is named in a message. The last broadcast of the batch that switched the slots off, or of
 * ftrace_callback_shut(), made all CPUs serialise. So the increments of all tasks that entered are
 * visible here, and no further task enters. All that a task did in the callback, the task did
 * before it counted itself out. ftrace_lock not held.
 */
void ftrace_callback_drain(const struct ftrace_callback *cb, ftrace_func_t func)
{
	unsigned long start = jiffies, us = 10;
	bool told = false;

	while (callback_has_tasks(cb->count)) {
		/* Sleep: the task in the callback may need this CPU. */
		usleep_range(us, 2 * us);
		us = min(2 * us, 10000UL);
		if (!told && time_after(jiffies, start + LONG_WAIT)) {
			pr_warn("a task is in the callback %ps, which is to be removed, for %u s\n",
				func, LONG_WAIT / HZ);
			told = true;
		}
	}
	/*
	 * All that tasks did in the callback comes before what the caller does
	 * now; pairs with the order in which a CPU's stores are seen.
	 */
	smp_mb();
}

/*
 * Until the idle task of the boot CPU has entered its loop, it runs with preemption on: it
 * calls schedule(), and may be preempted in a trampoline. No grace period waits for it:
 * RCU tasks takes each idle task for quiescent. While we sleep, the idle task runs.
 */
static void tramps_wait_boot_idle(void)
{
	while (!(READ_ONCE(init_task.flags) & PF_IDLE))
		schedule_timeout_idle(1);
}

/**
 * ftrace_wait_tramps - wait for grace periods that cover any task in a
 *	callback or a trampoline
 *
 * A task in a trampoline may have been preempted: the tasks flavour waits until the
 * task has scheduled voluntarily. Without preemption this flavour is plain RCU, which
 * covers all tasks that RCU watches. On an architecture whose entry code and idle loop
 * can be traced, a task may be in a trampoline where RCU does not watch. There the
 * rude flavour makes every CPU schedule.
 *
 * Context: Process context, may sleep. No lock of ftrace_assert_may_wait() held.
 */
void ftrace_wait_tramps(void)
{
	ftrace_assert_may_wait();
	/* Before the scheduler runs, no task can be in a callback. */
	if (!rcu_scheduler_active)
		return;
	tramps_wait_boot_idle();
	if (!IS_ENABLED(CONFIG_ARCH_WANTS_NO_INSTR))
		synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
}
