// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks: how the trampoline of a class with many ops calls them.
 *
 * With a slot for each ops a trampoline is fast, but must be built anew, and patched into all
 * sites, when an ops joins or leaves the class. So the trampoline of a class with many ops has
 * one slot, which calls ftrace_walk_func(), and this goes through an array with the callbacks of
 * the class and no others.
 *
 * Ops that are younger than all others join at the end of the array, and the callback of a removed
 * ops stays there, off. So ops that come and go do not leave an array each behind. For any other
 * change of the set, or if there is no room, or if more callbacks are off than not, the core
 * publishes another array. An old one is freed like a trampoline.
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

/* There is room for @op. */
static void walk_add(struct ftrace_walk *walk, struct ftrace_ops *op)
{
	walk->call[walk->nr] = (struct ftrace_walk_call){
		ftrace_ops_get_func(op), op, op->callback, ftrace_guard_get(op->guard),
		ftrace_flight_get(ftrace_ops_flight(op)) };
	op->callback->users++;
	op->callback->nr_walks++;
	/* Who sees the number sees the callback; pairs with the load in ftrace_walk_func(). */
	smp_store_release(&walk->nr, walk->nr + 1);
}

/* How many of @ops are younger than all callbacks of an array? They are the first. */
static unsigned int walk_nr_younger(const struct ftrace_walk *walk, struct ftrace_ops *const *ops,
				    unsigned int nr)
{
	unsigned int n = 0;

	while (n < nr && (!walk->nr ||
			  ops[n]->callback->seq > walk->call[walk->nr - 1].callback->seq))
		n++;
	return n;
}

/*
 * Adds those of @ops, youngest first, that are younger than all callbacks of @walk, which has room
 * for them; a direct caller among them has a slot. ftrace_lock held.
 */
void ftrace_walk_append(struct ftrace_walk *walk, struct ftrace_ops *const *ops, unsigned int nr)
{
	lockdep_assert_held(&ftrace_lock);
	for (unsigned int n = walk_nr_younger(walk, ops, nr); n--;)
		if (!(ops[n]->flags & FTRACE_OPS_FL_DIRECT))
			walk_add(walk, ops[n]);
}

/*
 * Makes the array of callbacks of @ops, youngest first, without a direct caller among them, and
 * with room for more. NULL without memory. ftrace_lock held.
 */
struct ftrace_walk *ftrace_walk_make(struct ftrace_ops *const *ops, unsigned int nr)
{
	unsigned int room = nr + nr / 2;
	struct ftrace_walk *walk = kvzalloc(struct_size(walk, call, room), GFP_KERNEL);

	lockdep_assert_held(&ftrace_lock);
	if (!walk)
		return NULL;
	walk->room = room;
	ftrace_walk_append(walk, ops, nr);
	return walk;
}

/*
 * Will @walk, after ftrace_walk_append(), call @ops, youngest first, and nothing else? The callback
 * @removed, or NULL, is about to be shut. One that records is not left in an array, because it
 * keeps its rings. ftrace_lock held.
 */
bool ftrace_walk_serves(const struct ftrace_walk *walk, struct ftrace_ops *const *ops,
			unsigned int nr, const struct ftrace_callback *removed)
{
	unsigned int younger = walk_nr_younger(walk, ops, nr), off = 0;

	lockdep_assert_held(&ftrace_lock);
	for (unsigned int i = 0; i < walk->nr; i++) {
		const struct ftrace_walk_call *call = &walk->call[i];

		if (call->callback->off || (call->callback == removed && !call->flight)) {
			off++;
			continue;
		}
		if (nr > younger && ops[nr - 1]->flags & FTRACE_OPS_FL_DIRECT)
			nr--;
		if (nr == younger || ops[--nr]->callback != call->callback)
			return false;
	}
	if (nr > younger && ops[nr - 1]->flags & FTRACE_OPS_FL_DIRECT)
		nr--;
	return nr == younger && younger <= walk->room - walk->nr && off <= walk->nr / 2;
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
	 * ftrace_callback_drain(). A CPU with HAVE_FTRACE_PATCH keeps the order of its stores.
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
	/* Pairs with the store in walk_add(). */
	unsigned int nr = smp_load_acquire(&walk->nr);

	for (unsigned int i = nr; i--;) {
		/* The previous callback may have filled in what the trampoline does not save. */
		if (i != nr - 1 && !walker->regs)
			arch_ftrace_reset_regs(fregs);
		walk_call(&walk->call[i], ip, parent_ip, fregs);
	}
}

NOKPROBE_SYMBOL(ftrace_walk_func);
