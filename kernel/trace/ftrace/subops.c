// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ops that run under another ops (subops).
 *
 * The graph tracer has one ops on the call sites, and itself calls the ops of its
 * users. A site has the managing ops if at least one of its subops wants the site.
 * There is no merged filter to keep up to date.
 *
 * A subops can always be removed, because its owner frees it. The managing ops may need
 * memory to leave a site that it shares with other ops. Without memory it stays on such
 * sites. There nobody wants the call, and the graph tracer finds out by asking each subops.
 * The next change of the subops tries again.
 */
#include "core.h"
#include "ops.h"
#include "pid.h"
#include "plan.h"
#include "wants.h"

/* A managing ops is on sites that none of its subops wants; ftrace_lock held. */
static bool subops_left_sites;

/* The guard that all subops have in common; NULL if one of them wants other tasks. */
static struct ftrace_guard *subops_guard(const struct ftrace_ops *ops)
{
	struct ftrace_guard *guard = NULL;
	struct ftrace_ops *subops;

	list_for_each_entry(subops, &ops->subop_list, list) {
		struct ftrace_guard *own = ftrace_pid_guard(subops);

		if (!own || (guard && guard != own))
			return NULL;
		guard = own;
	}
	return guard;
}

/*
 * Turns tasks away that no subops of @ops wants, after the pid filter of one has changed, or one
 * came or went: 0, or an error with nothing changed. ftrace_lock held.
 */
int ftrace_subops_set_guard(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	return ftrace_ops_set_func(ops, ops->func, subops_guard(ops));
}

/* Put @ops on the sites that its subops want, after @subops came or went. */
static int subops_plan(struct ftrace_ops *ops, struct ftrace_ops *subops, unsigned int flags)
{
	const struct ftrace_change change = { ops, ftrace_ops_active(ops), subops };
	const struct ftrace_scope all = { .all = true };
	int ret;

	if (!subops_left_sites)
		return ftrace_ops_plan(ops, subops, flags);
	ret = ftrace_plan_run(&change, 1, &all, flags);
	subops_left_sites = ret;
	return ret;
}

/* Take @ops off all sites together with its last subops. */
static int subops_stop(struct ftrace_ops *ops, struct ftrace_ops *subops)
{
	int ret;

	/* Without a subops @ops has no filter: the plan looks at all sites. */
	if (subops_left_sites)
		list_del_init(&subops->list);
	ret = ftrace_ops_stop(ops);
	list_del(&subops->list);
	if (!ret)
		subops_left_sites = false;
	ops->guard = NULL;
	return ret;
}

/*
 * Lets @subops run under @ops, which is registered with its first subops: 0, or an error with
 * nothing changed, as ftrace_ops_start(). ftrace_lock held.
 */
int ftrace_startup_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	bool first;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ftrace_ops_init(subops);
	ftrace_ops_init(ops);
	if (ftrace_killed())
		return -ENODEV;
	if (WARN_ON_ONCE(subops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;

	first = list_empty(&ops->subop_list);
	list_add(&subops->list, &ops->subop_list);
	/* @subops may want tasks that the others do not want. */
	ret = ftrace_subops_set_guard(ops);
	if (!ret)
		ret = first ? ftrace_ops_start(ops) :
			      subops_plan(ops, subops, FTRACE_PLAN_NAMED);
	if (ret) {
		list_del(&subops->list);
		/* Without memory, tasks are not turned away. */
		ftrace_subops_set_guard(ops);
		return ret;
	}
	subops->managed = ops;
	subops->flags |= FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP;
	return 0;
}

/*
 * Undoes ftrace_startup_subops(); @ops is unregistered with its last subops. 0; -ENOMEM if @ops is
 * still on sites that no other subops wants; or an error as ftrace_ops_stop(). @subops may be
 * freed even then. ftrace_lock held.
 */
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (WARN_ON_ONCE(!(subops->flags & FTRACE_OPS_FL_ENABLED)))
		return -EBUSY;

	if (list_is_singular(&ops->subop_list)) {
		ret = subops_stop(ops, subops);
	} else {
		list_del(&subops->list);
		ret = subops_plan(ops, subops, FTRACE_PLAN_AGREED);
		if (ret)
			subops_left_sites = true;
		/* Without memory, tasks are not turned away. */
		ftrace_subops_set_guard(ops);
	}
	subops->flags &= ~(FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP);
	subops->managed = NULL;
	return ret;
}

/* Does an ops that runs under another ops want a call? Any context, preemption off. */
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs)
{
	return ftrace_hash_wants(ops->func_hash, ip);
}
