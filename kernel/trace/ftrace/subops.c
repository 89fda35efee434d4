// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ops that run under another ops (subops).
 *
 * The graph tracer has one ops on the call sites, and itself calls the ops of its
 * users. A site has the managing ops if at least one of its subops wants the site.
 * There is no merged filter to keep up to date.
 */
#include "core.h"
#include "hash.h"
#include "ops.h"
#include "plan.h"

/**
 * ftrace_startup_subops - let an ops run under another ops
 * @ops: the managing ops; registered with its first subops
 * @subops: the ops that runs under @ops
 * @command: not used
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error with nothing changed, as ftrace_ops_start().
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
	ret = first ? ftrace_ops_start(ops, 0) : ftrace_ops_plan(ops, subops, FTRACE_PLAN_NAMED);
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
 * @subops: the ops that runs under @ops
 * @command: not used
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error as ftrace_ops_stop(); @subops may be freed even then.
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
		ret = ftrace_ops_plan(ops, subops, FTRACE_PLAN_AGREED);
	}
	subops->flags &= ~(FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP);
	subops->managed = NULL;
	return ret;
}

/**
 * ftrace_ops_test - does an ops that runs under another ops want a call?
 * @ops: the ops
 * @ip: address of the call site
 * @regs: not used
 *
 * Context: Any context, preemption off.
 * Return: 1 if @ops wants the call, else 0.
 */
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs)
{
	return ftrace_hash_wants(ops->func_hash, ip);
}
