// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks: how the trampoline of a class with many ops calls them.
 *
 * With a slot for each ops a trampoline is fast, but must be built anew, and patched into all
 * sites, when an ops joins or leaves the class. So the trampoline of a class with many ops has
 * one slot, which calls ftrace_walk_func(), and this goes through an array with the callbacks of
 * the class and no others. To change the set, the core publishes another array. An old one is
 * freed like a trampoline.
 *
 * An array cannot be patched, so the callback of a removed ops is marked as off. A task in
 * ftrace_walk_func() counts itself in before it reads the mark, and each CPU has a full barrier
 * between the mark and the sums of the counters; see ftrace_callback_shut(). So either the task
 * sees the mark and calls nothing, or the sums have the task.
 *
 * Without memory for another array, sites go on walking one that has the removed ops. So a task
 * also reads the mark before it counts itself in. Otherwise calls that never stop would change the
 * two sums for ever, and these are not read at the same moment.
 */
#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "callback.h"
#include "flight.h"
#include "guards.h"
#include "walk.h"

/*
 * Makes the array of callbacks of @ops, without a direct caller among them. NULL without memory.
 * ftrace_lock held.
 */
struct ftrace_walk *ftrace_walk_make(struct ftrace_ops *const *ops, unsigned int nr)
{
	struct ftrace_walk *walk = kvzalloc(struct_size(walk, call, nr), GFP_KERNEL);
	unsigned int n = 0;

	lockdep_assert_held(&ftrace_lock);
	if (!walk)
		return NULL;
	walk->nr = nr;
	for (unsigned int i = 0; i < nr; i++) {
		struct ftrace_ops *op = ops[i];

		if (op->flags & FTRACE_OPS_FL_DIRECT)
			continue;
		walk->call[n++] = (struct ftrace_walk_call){
			ftrace_ops_get_func(op), op, op->callback, ftrace_guard_get(op->guard),
			ftrace_flight_get(ftrace_ops_flight(op)) };
		op->callback->users++;
		op->callback->nr_walks++;
	}
	walk->nr = n;
	return walk;
}

/**
 * ftrace_walk_free - free an array of callbacks
 * @walk: the array; no task reads it or will read it
 *
 * Context: Process context, may sleep. ftrace_lock held.
 */
void ftrace_walk_free(struct ftrace_walk *walk)
{
	lockdep_assert_held(&ftrace_lock);
	for (unsigned int i = 0; i < walk->nr; i++) {
		walk->call[i].callback->nr_walks--;
		ftrace_callback_put(walk->call[i].callback);
		ftrace_guard_put(walk->call[i].guard);
		ftrace_flight_put(walk->call[i].flight);
	}
	kvfree(walk);
}

static __always_inline void walk_call(const struct ftrace_walk_call *call, unsigned long ip,
				      unsigned long parent_ip, struct ftrace_regs *fregs)
{
	struct ftrace_count __percpu *count = call->callback->count;

	/* Before the count, as in a slot. */
	if (ftrace_guard_skips(call->guard) || unlikely(READ_ONCE(call->callback->off)))
		return;
	if (count)
		this_cpu_inc(count->entered);
	/* Count in, then read the mark; pairs with the broadcast in ftrace_callback_shut(). */
	barrier();
	if (likely(!READ_ONCE(call->callback->off)))
		call->func(ip, parent_ip, call->ops, fregs);
	/*
	 * All that the callback did comes before the count; pairs with the smp_mb() in
	 * ftrace_callback_wait(). A CPU with HAVE_FTRACE_PATCH keeps the order of its stores.
	 */
	barrier();
	if (count)
		this_cpu_inc(count->left);
}

/*
 * Calls the callbacks of a class with many ops. @op is that of the trampoline's walker. Any
 * context.
 */
void ftrace_walk_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs)
{
	const struct ftrace_walker *walker = container_of(op, struct ftrace_walker, ops);
	const struct ftrace_walk *walk = rcu_dereference_raw(walker->walk);

	for (unsigned int i = 0; i < walk->nr; i++) {
		/* The previous callback may have filled in what the trampoline does not save. */
		if (i && !walker->regs)
			arch_ftrace_reset_regs(fregs);
		walk_call(&walk->call[i], ip, parent_ip, fregs);
	}
}

NOKPROBE_SYMBOL(ftrace_walk_func);
