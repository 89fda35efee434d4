// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ops that run under another ops.
 *
 * The graph tracer has one ops on the call sites, and calls those of its users
 * itself. A site has the managing ops if any that runs under it wants the site;
 * there is no merged filter to keep up to date.
 */
#include "core.h"
#include "plan.h"

/* Sites where @ops may change because @sub came or went. */
static struct ftrace_scope sub_scope(struct ftrace_ops *sub)
{
	struct ftrace_hash *filter;

	filter = rcu_dereference_protected(sub->func_hash->filter_hash, true);
	if (ftrace_hash_empty(filter))
		return (struct ftrace_scope){ .all = true };
	return (struct ftrace_scope){ .hash = { filter } };
}

static int plan_sub(struct ftrace_ops *ops, struct ftrace_ops *sub, unsigned int flags)
{
	struct ftrace_change change = { ops, ftrace_ops_active(ops) };
	struct ftrace_scope scope = sub_scope(sub);

	return ftrace_plan_run(&change, 1, &scope, flags);
}

/**
 * ftrace_startup_subops - have an ops run under another one
 * @ops: the other one; registered with its first subops
 * @subops: the ops
 * @command: of no use here
 *
 * Return: 0, or an error with nothing changed, as ftrace_ops_start().
 * Context: ftrace_lock held; may sleep.
 */
int ftrace_startup_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	bool first;
	int ret;

	ftrace_ops_init(subops);
	ftrace_ops_init(ops);
	if (unlikely(ftrace_disabled))
		return -ENODEV;
	if (WARN_ON_ONCE(subops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;

	first = list_empty(&ops->subop_list);
	list_add(&subops->list, &ops->subop_list);
	ret = first ? ftrace_ops_start(ops) : plan_sub(ops, subops, FTRACE_PLAN_NAMED);
	if (ret) {
		list_del(&subops->list);
		return ret;
	}
	subops->managed = ops;
	subops->flags |= FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP;
	return 0;
}

/**
 * ftrace_shutdown_subops - undo ftrace_startup_subops()
 * @ops: the managing ops; unregistered with its last subops
 * @subops: the ops
 * @command: of no use here
 *
 * Return: 0, or an error as ftrace_ops_stop(); @subops may be freed all the same.
 * Context: ftrace_lock held; may sleep.
 */
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops, int command)
{
	int ret;

	if (WARN_ON_ONCE(!(subops->flags & FTRACE_OPS_FL_ENABLED)))
		return -EBUSY;

	if (list_is_singular(&ops->subop_list)) {
		ret = ftrace_ops_stop(ops);
		list_del(&subops->list);
	} else {
		list_del(&subops->list);
		ret = plan_sub(ops, subops, FTRACE_PLAN_AGREED);
	}
	subops->flags &= ~(FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP);
	subops->managed = NULL;
	return ret;
}

/**
 * ftrace_ops_test - does an ops that runs under another want a call?
 * @ops: the ops
 * @ip: address of the call site
 * @regs: of no use here
 *
 * Return: 1 if so, else 0.
 * Context: any, preemption off.
 */
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs)
{
	return ftrace_hash_wants(ops->func_hash, ip);
}
