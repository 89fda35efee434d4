// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers: the trampolines of classes, and the slots in them.
 *
 * A trampoline that no site calls any more is freed by a work item that nobody waits
 * for, after the grace periods that cover a task in the trampoline.
 */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "callback.h"
#include "caller.h"
#include "core.h"
#include "kallsyms.h"

static void caller_slot_init(struct ftrace_caller *caller, unsigned int n, struct ftrace_ops *ops)
{
	struct ftrace_slot *slot = &caller->slot[n];

	slot->caller = caller;
	slot->callback = ops->callback;
	slot->callback->users++;
	slot->callback->nr_slots++;
	list_add_tail(&slot->list, &slot->callback->slots);
}

/* What the trampoline of a set of ops calls. */
struct calls {
	struct ftrace_call	*call;
	unsigned int		nr;
	struct ftrace_ops	*direct;
	bool			regs;
};

static void calls_fill(struct calls *calls, struct ftrace_ops *const *ops, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct ftrace_ops *op = ops[i];

		calls->regs |= !!(op->flags & FTRACE_OPS_FL_SAVE_REGS);
		if (op->flags & FTRACE_OPS_FL_DIRECT)
			calls->direct = op;
		else
			calls->call[calls->nr++] = (struct ftrace_call){
				ftrace_ops_get_func(op), op, op->callback->count };
	}
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
	struct ftrace_caller *caller;
	struct calls calls = { };
	unsigned int n = 0;

	caller = kvzalloc(struct_size(caller, slot, nr), GFP_KERNEL);
	calls.call = kvcalloc(nr, sizeof(*calls.call), GFP_KERNEL);
	if (!caller || !calls.call)
		goto fail;

	calls_fill(&calls, ops, nr);
	caller->tramp = arch_ftrace_tramp_make(calls.call, calls.nr, calls.regs, direct);
	if (!caller->tramp)
		goto fail;

	caller->nr = nr;
	for (; n < calls.nr; n++)
		caller_slot_init(caller, n, calls.call[n].ops);
	if (calls.direct)
		caller_slot_init(caller, n, calls.direct);
	kvfree(calls.call);
	ftrace_announce_tramp(caller->tramp, false);
	return caller;

fail:
	kvfree(calls.call);
	kvfree(caller);
	return NULL;
}

static void caller_free(struct ftrace_caller *caller)
{
	for (unsigned int i = 0; i < caller->nr; i++) {
		struct ftrace_slot *slot = &caller->slot[i];

		if (!list_empty(&slot->list)) {
			list_del(&slot->list);
			slot->callback->nr_slots--;
		}
		ftrace_callback_put(slot->callback);
	}
	ftrace_announce_tramp(caller->tramp, true);
	arch_ftrace_tramp_free(caller->tramp);
	kvfree(caller);
}

/* Trampolines that no site calls any more; ftrace_lock held. */
static LIST_HEAD(dead_callers);

static void caller_free_dead(struct work_struct *work)
{
	struct ftrace_caller *caller, *tmp;
	LIST_HEAD(dead);

	mutex_lock(&ftrace_lock);
	list_splice_init(&dead_callers, &dead);
	mutex_unlock(&ftrace_lock);

	ftrace_wait_callbacks();

	list_for_each_entry_safe(caller, tmp, &dead, dead) {
		mutex_lock(&ftrace_lock);
		caller_free(caller);
		mutex_unlock(&ftrace_lock);
		cond_resched();
	}
}

static DECLARE_WORK(free_work, caller_free_dead);

/**
 * ftrace_caller_retire - free a trampoline that no site calls any more
 * @caller: the trampoline; freed later, when no task can be in it
 *
 * Context: ftrace_lock held.
 */
void ftrace_caller_retire(struct ftrace_caller *caller)
{
	list_add_tail(&caller->dead, &dead_callers);
	/* Early at boot there is no workqueue. The next call then queues the work. */
	if (ftrace_any_cpu_wq)
		queue_work(ftrace_any_cpu_wq, &free_work);
}
