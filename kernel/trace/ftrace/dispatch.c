// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the sites of a class call: a trampoline, and the slots in it.
 *
 * A trampoline has a slot for each ops of its class, or, if there are many, one slot that walks
 * an array (walk.c). When no site calls a trampoline, or no trampoline uses an array any more, a
 * work item that nobody waits for frees it, after the grace periods that cover a task in it.
 */
#include <linux/ftrace_arch.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "callback.h"
#include "core.h"
#include "dispatch.h"
#include "flight.h"
#include "guards.h"
#include "kallsyms.h"
#include "table.h"
#include "wait.h"
#include "walk.h"

static void dispatch_slot_init(struct ftrace_dispatch *dispatch, unsigned int n,
			       struct ftrace_ops *ops)
{
	struct ftrace_slot *slot = &dispatch->slot[n];

	slot->dispatch = dispatch;
	slot->callback = ops->callback;
	slot->callback->users++;
	slot->callback->nr_slots++;
	slot->guard = ftrace_guard_get(ops->guard);
	slot->flight = ftrace_flight_get(ftrace_ops_flight(ops));
	list_add_tail(&slot->list, &slot->callback->slots);
}

/* What the ops of a trampoline need: all registers, calls, a jump at the end. */
struct needs {
	bool			regs;
	unsigned int		calls;
	struct ftrace_ops	*direct;
};

static struct needs dispatch_needs(struct ftrace_ops *const *ops, unsigned int nr)
{
	struct needs needs = { };

	for (unsigned int i = 0; i < nr; i++) {
		needs.regs |= !!(ops[i]->flags & FTRACE_OPS_FL_SAVE_REGS);
		if (ops[i]->flags & FTRACE_OPS_FL_DIRECT)
			needs.direct = ops[i];
		else
			needs.calls++;
	}
	return needs;
}

/* The calls of a set of ops, one slot each. */
static void calls_fill(struct ftrace_call *call, struct ftrace_ops *const *ops, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct ftrace_ops *op = ops[i];

		if (!(op->flags & FTRACE_OPS_FL_DIRECT))
			*call++ = (struct ftrace_call){
				ftrace_ops_get_func(op), op, op->callback->count, op->guard,
				ftrace_ops_trylock(op), ftrace_ops_flight(op) };
	}
}

/*
 * Builds the trampoline that calls @ops in this order or, with one slot, walks @walk, which then
 * belongs to the trampoline. At the end it jumps to @direct if one of @ops is a direct caller. NULL
 * without memory. ftrace_lock held, text_mutex not held.
 */
struct ftrace_dispatch *ftrace_dispatch_make(struct ftrace_ops *const *ops, unsigned int nr,
					     unsigned long direct, struct ftrace_walk *walk)
{
	struct needs needs = dispatch_needs(ops, nr);
	unsigned int calls = walk ? 1 : needs.calls, slots = calls + !!needs.direct;
	struct ftrace_call *call __free(kvfree) = kvcalloc(calls, sizeof(*call), GFP_KERNEL);
	struct ftrace_dispatch *dispatch __free(kvfree) = NULL;
	struct ftrace_walker *walker __free(kfree) = NULL;

	lockdep_assert_held(&ftrace_lock);
	dispatch = kvzalloc(struct_size(dispatch, slot, slots), GFP_KERNEL);
	walker = walk ? kzalloc(sizeof(*walker), GFP_KERNEL) : NULL;
	if (!dispatch || !call || (walk && !walker))
		return NULL;

	if (walk)
		call[0] = (struct ftrace_call){ ftrace_walk_func, &walker->ops };
	else
		calls_fill(call, ops, nr);
	dispatch->tramp = arch_ftrace_tramp_make(call, calls, needs.regs, direct);
	if (!dispatch->tramp)
		return NULL;

	dispatch->nr = slots;
	if (walk) {
		walker->regs = needs.regs;
		rcu_assign_pointer(walker->walk, walk);
		dispatch->walker = no_free_ptr(walker);
		/* Nobody switches the slot off that walks. */
		INIT_LIST_HEAD(&dispatch->slot[0].list);
	} else {
		for (unsigned int n = 0; n < calls; n++)
			dispatch_slot_init(dispatch, n, call[n].ops);
	}
	if (needs.direct)
		dispatch_slot_init(dispatch, calls, needs.direct);
	ftrace_announce_tramp(dispatch->tramp, false);
	return no_free_ptr(dispatch);
}

/*
 * Would @dispatch with another array be what ftrace_dispatch_make() builds for @ops? Who calls this
 * function compares what a direct caller has called. ftrace_lock held.
 */
bool ftrace_dispatch_fits(const struct ftrace_dispatch *dispatch, struct ftrace_ops *const *ops,
			  unsigned int nr)
{
	struct needs needs = dispatch_needs(ops, nr);
	struct ftrace_callback *direct = needs.direct ? needs.direct->callback : NULL;

	lockdep_assert_held(&ftrace_lock);
	return dispatch->walker && dispatch->walker->regs == needs.regs &&
	       (dispatch->nr > 1 ? dispatch->slot[1].callback : NULL) == direct;
}

static void dispatch_free(struct ftrace_dispatch *dispatch)
{
	for (unsigned int i = 0; i < dispatch->nr; i++) {
		struct ftrace_slot *slot = &dispatch->slot[i];

		if (!slot->callback)
			continue;
		if (!list_empty(&slot->list)) {
			list_del(&slot->list);
			slot->callback->nr_slots--;
		}
		ftrace_callback_put(slot->callback);
		ftrace_guard_put(slot->guard);
		ftrace_flight_put(slot->flight);
	}
	ftrace_announce_tramp(dispatch->tramp, true);
	arch_ftrace_tramp_free(dispatch->tramp);
	if (dispatch->walker) {
		ftrace_walk_free(ftrace_locked(dispatch->walker->walk));
		kfree(dispatch->walker);
	}
	kvfree(dispatch);
}

/*
 * Trampolines that no site calls any more, and arrays that no trampoline goes through any
 * more; how many bytes they take, until they are freed. ftrace_lock held.
 */
static LIST_HEAD(dead_dispatches);
static LIST_HEAD(dead_walks);
static LIST_HEAD(dead_thunks);
static size_t dead_size;

/*
 * A grace period of RCU tasks can take long, and who makes trampolines die need not be privileged:
 * a task that perf follows forks, and its child exits. From half of this size on, perf waits when
 * it removes an ops. Above it, no ops gets functions.
 */
#define DEAD_MAX	SZ_16M

static size_t dispatch_walk_size(const struct ftrace_walk *walk)
{
	return struct_size(walk, call, walk->room);
}

static size_t dispatch_size(const struct ftrace_dispatch *dispatch)
{
	size_t size = struct_size(dispatch, slot, dispatch->nr) + dispatch->tramp->size;

	if (dispatch->walker)
		size += dispatch_walk_size(ftrace_locked(dispatch->walker->walk));
	return size;
}

/* Does so much wait to be freed that no ops can get functions now? ftrace_lock held. */
bool ftrace_dispatches_full(void)
{
	lockdep_assert_held(&ftrace_lock);
	return dead_size > DEAD_MAX;
}

static void thunks_free(struct ftrace_thunks *thunks)
{
#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
	guard(mutex)(&ftrace_lock);
	arch_ftrace_thunks_free(thunks);
#endif
}

static void dispatch_free_dead(struct work_struct *work)
{
	struct ftrace_dispatch *dispatch, *next_dispatch;
	struct ftrace_thunks *thunks, *next_thunks;
	struct ftrace_walk *walk, *next_walk;
	LIST_HEAD(dispatches);
	LIST_HEAD(walks);
	LIST_HEAD(dead);

	scoped_guard(mutex, &ftrace_lock) {
		list_splice_init(&dead_dispatches, &dispatches);
		list_splice_init(&dead_walks, &walks);
		list_splice_init(&dead_thunks, &dead);
	}
	ftrace_wait_tramps();
	list_for_each_entry_safe(dispatch, next_dispatch, &dispatches, dead) {
		scoped_guard(mutex, &ftrace_lock) {
			dead_size -= dispatch_size(dispatch);
			dispatch_free(dispatch);
		}
		cond_resched();
	}
	list_for_each_entry_safe(walk, next_walk, &walks, dead) {
		scoped_guard(mutex, &ftrace_lock) {
			dead_size -= dispatch_walk_size(walk);
			ftrace_walk_free(walk);
		}
		cond_resched();
	}
	list_for_each_entry_safe(thunks, next_thunks, &dead, dead)
		thunks_free(thunks);
}

static DECLARE_WORK(free_work, dispatch_free_dead);

static void dispatch_queue_free(void)
{
	/* Early at boot there is no workqueue. The next call then queues the work. */
	if (system_dfl_wq)
		queue_work(system_dfl_wq, &free_work);
}

/**
 * ftrace_dispatches_wait - wait until what is retired is freed
 *
 * Context: Process context, may sleep. No lock of ftrace_assert_may_wait() held.
 */
void ftrace_dispatches_wait(void)
{
	ftrace_assert_may_wait();
	flush_work(&free_work);
}

/**
 * ftrace_throttle - after the removal of an ops, wait if much memory waits to be freed
 *
 * Context: Process context, may sleep. No lock of ftrace_assert_may_wait() held.
 */
void ftrace_throttle(void)
{
	ftrace_assert_may_wait();
	/* A guess is enough: somebody else may add to it right now, and then waits, too. */
	if (data_race(dead_size) > DEAD_MAX / 2)
		ftrace_dispatches_wait();
}

/*
 * Lets @dispatch, which fits, walk another array. The old one is freed when no task can be in it.
 * ftrace_lock held.
 */
void ftrace_dispatch_set_walk(struct ftrace_dispatch *dispatch, struct ftrace_walk *walk)
{
	lockdep_assert_held(&ftrace_lock);
	walk = rcu_replace_pointer(dispatch->walker->walk, walk,
				   lockdep_is_held(&ftrace_lock));
	list_add_tail(&walk->dead, &dead_walks);
	dead_size += dispatch_walk_size(walk);
	dispatch_queue_free();
}

/* No site calls @dispatch any more: free it when no task can be in it. ftrace_lock held. */
void ftrace_dispatch_retire(struct ftrace_dispatch *dispatch)
{
	lockdep_assert_held(&ftrace_lock);
	list_add_tail(&dispatch->dead, &dead_dispatches);
	dead_size += dispatch_size(dispatch);
	dispatch_queue_free();
}

/*
 * The text of a table is about to be freed: free the thunks when no task can be on its way from
 * the text through them. ftrace_lock held.
 */
void ftrace_thunks_retire(struct ftrace_table *t)
{
	lockdep_assert_held(&ftrace_lock);
	for (unsigned int i = 0; i < FTRACE_NR_THUNKS; i++) {
		if (!t->thunks[i])
			continue;
		list_add_tail(&t->thunks[i]->dead, &dead_thunks);
		dispatch_queue_free();
	}
}
