// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers: the trampolines of classes, and the slots in them.
 *
 * A trampoline has a slot for each ops of its class. If the class has many ops, the
 * trampoline has one slot for all of them, which walks an array (walk.c).
 *
 * A trampoline that no site calls any more, and an array that no trampoline goes through
 * any more, is freed by a work item that nobody waits for, after the grace periods that
 * cover a task in the trampoline.
 */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "callback.h"
#include "caller.h"
#include "core.h"
#include "kallsyms.h"
#include "walk.h"

static void caller_slot_init(struct ftrace_caller *caller, unsigned int n, struct ftrace_ops *ops)
{
	struct ftrace_slot *slot = &caller->slot[n];

	slot->caller = caller;
	slot->callback = ops->callback;
	slot->callback->users++;
	slot->callback->nr_slots++;
	list_add_tail(&slot->list, &slot->callback->slots);
}

/* What a trampoline needs besides the calls of its ops. */
struct needs {
	bool			regs;
	struct ftrace_ops	*direct;
};

static struct needs caller_needs(struct ftrace_ops *const *ops, unsigned int nr)
{
	struct needs needs = { };

	for (unsigned int i = 0; i < nr; i++) {
		needs.regs |= !!(ops[i]->flags & FTRACE_OPS_FL_SAVE_REGS);
		if (ops[i]->flags & FTRACE_OPS_FL_DIRECT)
			needs.direct = ops[i];
	}
	return needs;
}

/* The calls of a set of ops, one slot each. Returns their number. */
static unsigned int calls_fill(struct ftrace_call *call, struct ftrace_ops *const *ops,
			       unsigned int nr)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct ftrace_ops *op = ops[i];

		if (!(op->flags & FTRACE_OPS_FL_DIRECT))
			call[n++] = (struct ftrace_call){
				ftrace_ops_get_func(op), op, op->callback->count };
	}
	return n;
}

/**
 * ftrace_caller_make - build the trampoline that calls a set of ops
 * @ops: the ops, in the order in which the trampoline calls them
 * @nr: number of ops
 * @direct: where the trampoline jumps at the end, if one of the ops is a direct caller
 *
 * Context: Process context, may sleep. ftrace_lock held, text_mutex not held.
 * Return: the trampoline, NULL if there is no memory.
 */
struct ftrace_caller *ftrace_caller_make(struct ftrace_ops *const *ops, unsigned int nr,
					 unsigned long direct)
{
	struct ftrace_call *call __free(kvfree) = NULL;
	struct needs needs = caller_needs(ops, nr);
	struct ftrace_caller *caller __free(kvfree) = NULL;
	unsigned int n, calls;

	lockdep_assert_held(&ftrace_lock);
	caller = kvzalloc(struct_size(caller, slot, nr), GFP_KERNEL);
	call = kvcalloc(nr, sizeof(*call), GFP_KERNEL);
	if (!caller || !call)
		return NULL;

	calls = calls_fill(call, ops, nr);
	caller->tramp = arch_ftrace_tramp_make(call, calls, needs.regs, direct);
	if (!caller->tramp)
		return NULL;

	caller->nr = nr;
	for (n = 0; n < calls; n++)
		caller_slot_init(caller, n, call[n].ops);
	if (needs.direct)
		caller_slot_init(caller, n, needs.direct);
	ftrace_announce_tramp(caller->tramp, false);
	return no_free_ptr(caller);
}

/**
 * ftrace_caller_make_walker - build the trampoline that walks a set of ops
 * @ops: the ops
 * @nr: number of ops
 * @direct: where the trampoline jumps at the end, if one of the ops is a direct caller
 * @walk: the callbacks of @ops; belongs to the trampoline if the function succeeds
 *
 * Context: Process context, may sleep. ftrace_lock held, text_mutex not held.
 * Return: the trampoline, NULL if there is no memory.
 */
struct ftrace_caller *ftrace_caller_make_walker(struct ftrace_ops *const *ops, unsigned int nr,
						unsigned long direct, struct ftrace_walk *walk)
{
	struct needs needs = caller_needs(ops, nr);
	struct ftrace_call call = { .func = ftrace_walk_func };
	unsigned int slots = 1 + !!needs.direct;
	struct ftrace_caller *caller;

	lockdep_assert_held(&ftrace_lock);
	caller = kzalloc(struct_size(caller, slot, slots), GFP_KERNEL);
	if (!caller)
		return NULL;
	caller->nr = slots;
	caller->walker = kzalloc(sizeof(*caller->walker), GFP_KERNEL);
	if (!caller->walker)
		goto fail;
	call.ops = &caller->walker->ops;
	caller->tramp = arch_ftrace_tramp_make(&call, 1, needs.regs, direct);
	if (!caller->tramp)
		goto fail;

	caller->walker->regs = needs.regs;
	rcu_assign_pointer(caller->walker->walk, walk);
	/* Nobody switches the slot off that walks. */
	INIT_LIST_HEAD(&caller->slot[0].list);
	if (needs.direct)
		caller_slot_init(caller, 1, needs.direct);
	ftrace_announce_tramp(caller->tramp, false);
	return caller;

fail:
	kfree(caller->walker);
	kfree(caller);
	return NULL;
}

/**
 * ftrace_caller_fits - can a trampoline walk another set of ops?
 * @caller: the trampoline
 * @ops: the ops
 * @nr: number of ops
 *
 * Context: ftrace_lock held.
 * Return: true if @caller walks, and with ftrace_caller_set_walk() becomes what
 *	ftrace_caller_make_walker() would build. The caller of this function compares what
 *	a direct caller has called.
 */
bool ftrace_caller_fits(const struct ftrace_caller *caller, struct ftrace_ops *const *ops,
			unsigned int nr)
{
	struct needs needs = caller_needs(ops, nr);
	struct ftrace_callback *direct = needs.direct ? needs.direct->callback : NULL;

	lockdep_assert_held(&ftrace_lock);
	return caller->walker && caller->walker->regs == needs.regs &&
	       (caller->nr > 1 ? caller->slot[1].callback : NULL) == direct;
}

static void caller_free(struct ftrace_caller *caller)
{
	for (unsigned int i = 0; i < caller->nr; i++) {
		struct ftrace_slot *slot = &caller->slot[i];

		if (!slot->callback)
			continue;
		if (!list_empty(&slot->list)) {
			list_del(&slot->list);
			slot->callback->nr_slots--;
		}
		ftrace_callback_put(slot->callback);
	}
	ftrace_announce_tramp(caller->tramp, true);
	arch_ftrace_tramp_free(caller->tramp);
	if (caller->walker) {
		struct ftrace_walk *walk;

		walk = ftrace_locked(caller->walker->walk);
		ftrace_walk_free(walk);
		kfree(caller->walker);
	}
	kvfree(caller);
}

/*
 * Trampolines that no site calls any more, and arrays that no trampoline goes through any
 * more; ftrace_lock held.
 */
static LIST_HEAD(dead_callers);
static LIST_HEAD(dead_walks);

static void caller_free_dead(struct work_struct *work)
{
	struct ftrace_caller *caller, *next_caller;
	struct ftrace_walk *walk, *next_walk;
	LIST_HEAD(callers);
	LIST_HEAD(walks);

	mutex_lock(&ftrace_lock);
	list_splice_init(&dead_callers, &callers);
	list_splice_init(&dead_walks, &walks);
	mutex_unlock(&ftrace_lock);

	ftrace_wait_callbacks();

	list_for_each_entry_safe(caller, next_caller, &callers, dead) {
		mutex_lock(&ftrace_lock);
		caller_free(caller);
		mutex_unlock(&ftrace_lock);
		cond_resched();
	}
	list_for_each_entry_safe(walk, next_walk, &walks, dead) {
		mutex_lock(&ftrace_lock);
		ftrace_walk_free(walk);
		mutex_unlock(&ftrace_lock);
		cond_resched();
	}
}

static DECLARE_WORK(free_work, caller_free_dead);

static void caller_queue_free(void)
{
	/* Early at boot there is no workqueue. The next call then queues the work. */
	if (ftrace_any_cpu_wq)
		queue_work(ftrace_any_cpu_wq, &free_work);
}

/**
 * ftrace_caller_set_walk - let a trampoline walk another set of ops
 * @caller: the trampoline, which fits the set
 * @walk: the callbacks of the set; the old array is freed later, when no task can be in it
 *
 * Context: ftrace_lock held.
 */
void ftrace_caller_set_walk(struct ftrace_caller *caller, struct ftrace_walk *walk)
{
	lockdep_assert_held(&ftrace_lock);
	walk = rcu_replace_pointer(caller->walker->walk, walk,
				   lockdep_is_held(&ftrace_lock));
	list_add_tail(&walk->dead, &dead_walks);
	caller_queue_free();
}

/**
 * ftrace_caller_retire - free a trampoline that no site calls any more
 * @caller: the trampoline; freed later, when no task can be in it
 *
 * Context: ftrace_lock held.
 */
void ftrace_caller_retire(struct ftrace_caller *caller)
{
	lockdep_assert_held(&ftrace_lock);
	list_add_tail(&caller->dead, &dead_callers);
	caller_queue_free();
}
