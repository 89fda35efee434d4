// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct calls: sites call a function of the client instead of a callback.
 *
 * A direct caller is an ops with an address to call instead of a callback. Alone on a site, the
 * site calls it; with other ops there, their trampoline ends with a jump to it. A function can
 * have only one direct caller.
 */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>

#include "class.h"
#include "core.h"
#include "hash.h"
#include "ipmodify.h"
#include "ops.h"
#include "plan.h"
#include "sysctl.h"
#include "wants.h"

static int direct_check(const struct ftrace_ops *ops)
{
	bool in_use = ops->func || ops->flags & FTRACE_OPS_FL_ENABLED;

	/* An ops without a filter was never initialised either. */
	return in_use || !(ops->flags & FTRACE_OPS_FL_INITIALIZED) ? -EINVAL : 0;
}

/* Marks an ops as a direct caller; no trampoline calls this function. */
static void direct_func(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/**
 * register_ftrace_direct - have functions call a function before anything else
 * @ops: the ops, with a filter set and no callback
 * @addr: the function; entered as if called by the call site, with the registers and
 *	the stack that the traced function will see
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed: -EINVAL if @ops is in use or has no
 *	filter; -EBUSY if a function has a direct caller; -ERANGE if @addr is too
 *	far away; or an error of ftrace_ops_start().
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	struct ftrace_func_entry *entry;
	struct ftrace_hash *filter;
	struct hlist_node *tmp;
	int i, ret;

	ret = direct_check(ops);
	if (ret)
		return ret;

	guard(mutex)(&direct_mutex);
	guard(mutex)(&ftrace_lock);

	filter = ftrace_locked(ops->func_hash->filter_hash);
	if (ftrace_hash_empty(filter))
		return -EINVAL;
	for_each_ftrace_entry(filter, entry, tmp, i)
		if (ftrace_ops_on(entry->ip, FTRACE_OPS_FL_DIRECT))
			return -EBUSY;

	ops->func = direct_func;
	ops->flags |= FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS;
	ops->direct_call = addr;
	ret = ftrace_ops_start(ops);
	if (ret) {
		ops->func = NULL;
		ops->direct_call = 0;
		ops->flags &= ~(FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_direct);

static bool direct_is_registered(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_DIRECT && ops->flags & FTRACE_OPS_FL_ENABLED;
}

/**
 * unregister_ftrace_direct - undo register_ftrace_direct()
 * @ops: the ops
 * @addr: the function; not used
 * @free_filters: free the filter of @ops, too
 *
 * Context: Process context, may sleep.
 * Return: 0, -EINVAL if @ops is not a direct caller, or an error of
 *	ftrace_ops_stop().
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr,
			     bool free_filters)
{
	int ret;

	if (!direct_is_registered(ops))
		return -EINVAL;

	scoped_guard(mutex, &direct_mutex) {
		guard(mutex)(&ftrace_lock);
		ret = ftrace_ops_stop(ops);
		if (ret)
			return ret;
	}
	/* A direct caller may wait for something that takes direct_mutex. */
	ftrace_ops_stop_wait(ops);
	ops->func = NULL;
	ops->direct_call = 0;
	ops->flags &= ~(FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS);
	if (free_filters)
		ftrace_free_filter(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_direct);

/**
 * modify_ftrace_direct_nolock - change the function of a direct caller
 * @ops: the ops
 * @addr: the new function
 *
 * At every moment a call goes to the old function or to the new function.
 *
 * Context: Process context, may sleep. direct_mutex held, as in an
 *	&ftrace_ops.ops_func.
 * Return: 0, or an error with nothing changed: -EINVAL if @ops is not a direct caller
 *	with one address; -ERANGE; -ENOMEM; or, on a function of which another ops changes
 *	the instruction pointer, the answer of the owner.
 */
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr)
{
	/* FTRACE_PLAN_KEEPS: while tracing is off, the ops has no site and gets none. */
	const struct ftrace_change change = { ops, true };
	struct ftrace_scope scope = { };
	unsigned long old;
	int ret;

	if (WARN_ON_ONCE(!mutex_is_locked(&direct_mutex)))
		return -EINVAL;
	if (!direct_is_registered(ops) || ftrace_direct_is_many(ops))
		return -EINVAL;

	guard(mutex)(&ftrace_lock);
	old = ops->direct_call;
	if (old == addr)
		return 0;

	scope.hash[0] = ftrace_locked(ops->func_hash->filter_hash);
	ret = ftrace_ask_unseen(ops, scope.hash[0]);
	if (ret)
		return ret;
	ops->direct_call = addr;
	ftrace_classes_stale(ops);
	ret = ftrace_plan_run(&change, 1, &scope, FTRACE_PLAN_KEEPS);
	if (ret)
		ops->direct_call = old;
	return ret;
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct_nolock);

/**
 * modify_ftrace_direct - change the function of a direct caller
 * @ops: the ops
 * @addr: the new function
 *
 * Context: Process context, may sleep.
 * Return: as modify_ftrace_direct_nolock().
 */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	guard(mutex)(&direct_mutex);
	return modify_ftrace_direct_nolock(ops, addr);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct);
