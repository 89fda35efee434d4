// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter of an ops: the functions that it traces.
 *
 * A filter is replaced as a whole. The plan of the change looks only at the sites that are in
 * one of the old and the new filter, and not in the other.
 */
#include <linux/slab.h>

#include "core.h"
#include "hash.h"
#include "ops.h"
#include "plan.h"
#include "sysctl.h"
#include "wants.h"

/* The user of the filter @hash: @ops, or an ops that runs under it; NULL if there is none. */
static struct ftrace_ops *filter_user(struct ftrace_ops *ops, struct ftrace_ops_hash *hash)
{
	struct ftrace_ops *sub;

	for_each_ftrace_sub(sub, ops)
		if (sub->func_hash == hash)
			return sub;
	return NULL;
}

/**
 * ftrace_ops_update_hash - give an ops another filter
 * @ops: the ops, registered or not; other ops may share its filter
 * @orig: &ops->func_hash->filter_hash or &ops->func_hash->notrace_hash
 * @new: the new filter; NULL after the call if it is in use, or was
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error with nothing changed: -EINVAL if an ops that changes the
 *	instruction pointer would get all functions; -EBUSY, see
 *	ftrace_clashes_unseen(); or an error of ftrace_plan_run().
 */
int ftrace_ops_update_hash(struct ftrace_ops *ops, struct ftrace_hash __rcu **orig,
			   struct ftrace_hash **new)
{
	bool wanted = orig == &ops->func_hash->filter_hash, empty = ftrace_hash_empty(*new);
	struct ftrace_hash *old = ftrace_locked(*orig);
	struct ftrace_scope scope = { .hash = { old, *new } };
	struct ftrace_change *changes __free(kvfree) = NULL;
	struct ftrace_ops *op;
	unsigned int nr = 0, looked = 0;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	/* An ops that changes the instruction pointer must not get all functions. */
	if (wanted && empty && ops->flags & FTRACE_OPS_FL_ENABLED &&
	    ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT))
		return -EINVAL;
	if (wanted && ops->flags & FTRACE_OPS_FL_ENABLED &&
	    ftrace_clashes_unseen(ops, old, *new))
		return -EBUSY;

	for_each_ftrace_ops(op) {
		nr += !!filter_user(op, ops->func_hash);
		ftrace_yield(looked++);
	}
	changes = kvcalloc(max(nr, 1U), sizeof(*changes), GFP_KERNEL);
	if (!changes)
		return -ENOMEM;

	rcu_assign_pointer(*orig, empty ? NULL : no_free_ptr(*new));
	if (nr) {
		nr = 0;
		for_each_ftrace_ops(op) {
			struct ftrace_ops *user = filter_user(op, ops->func_hash);

			if (user)
				changes[nr++] = (struct ftrace_change){
					op, ftrace_ops_active(op), user };
		}

		/* An empty filter means all functions. */
		scope.all = wanted && (ftrace_hash_empty(old) || empty);
		ret = ftrace_plan_run(changes, nr, &scope, FTRACE_PLAN_NAMED);
	}
	if (ret)
		old = rcu_replace_pointer(*orig, old, lockdep_is_held(&ftrace_lock));
	ftrace_hash_free_rcu(old);
	return ret;
}

/*
 * Filters with a file that belong to no trace array: those of the graph tracer, and that of the
 * stack tracer once it is used. Guarded by ftrace_lock.
 */
static struct ftrace_hash __rcu **lone_filters[] = {
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	&ftrace_graph_hash,
	&ftrace_graph_notrace_hash,
#endif
	NULL,
};

/**
 * ftrace_note_lone_ops - remember an ops with a filter file and without a trace array
 * @ops: the ops, which stays: that of the stack tracer
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 */
void ftrace_note_lone_ops(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);
	lone_filters[ARRAY_SIZE(lone_filters) - 1] = &ops->func_hash->filter_hash;
}

/*
 * Removes text that is about to be freed from the filters that have files. Takes trace_types_lock
 * and ftrace_lock.
 */
void ftrace_forget_sites(unsigned long start, unsigned long end)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&ftrace_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		struct ftrace_ops_hash *filter = tr->ops->func_hash;

		ftrace_hash_forget(ftrace_locked(filter->filter_hash), start, end);
		ftrace_hash_forget(ftrace_locked(filter->notrace_hash), start, end);
	}
	for (int i = 0; i < ARRAY_SIZE(lone_filters); i++)
		if (lone_filters[i])
			ftrace_hash_forget(ftrace_locked(*lone_filters[i]), start, end);
}
