// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct calls: a function of the client's in place of a callback.
 *
 * A direct caller is an ops like any other, only that its class has an address
 * to go to in place of a callback: alone on a site, the site calls it; with
 * others, their trampoline ends by jumping to it. One direct caller a function.
 */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>

#include "class.h"
#include "core.h"
#include "plan.h"

static int check_direct(const struct ftrace_ops *ops)
{
	bool in_use = ops->func || ops->flags & FTRACE_OPS_FL_ENABLED;

	/* Without a filter it was never initialised, either. */
	return in_use || !(ops->flags & FTRACE_OPS_FL_INITIALIZED) ? -EINVAL : 0;
}

/* Marks an ops as a direct caller; its class never calls it. */
static void direct_func(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/**
 * register_ftrace_direct - have functions call a function before anything else
 * @ops: the ops, with a filter set and no callback
 * @addr: the function; it is entered as if called by the call site, with the
 *	registers and the stack that the traced function is to see
 *
 * Return: 0, or an error with nothing changed: -EINVAL if @ops is in use or has
 * no filter; -EBUSY if a function has a direct caller; -ERANGE if @addr is too
 * far away; or that of ftrace_ops_start().
 * Context: may sleep.
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	struct ftrace_func_entry *entry;
	struct ftrace_hash *filter;
	struct hlist_node *tmp;
	int i, ret;

	ret = check_direct(ops);
	if (ret)
		return ret;

	guard(mutex)(&direct_mutex);
	guard(mutex)(&ftrace_lock);

	filter = rcu_dereference_protected(ops->func_hash->filter_hash, true);
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

static bool is_direct(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_DIRECT && ops->flags & FTRACE_OPS_FL_ENABLED;
}

/**
 * unregister_ftrace_direct - undo register_ftrace_direct()
 * @ops: the ops
 * @addr: the function; of no use here
 * @free_filters: free the filter of @ops, too
 *
 * Return: 0, -EINVAL if @ops is not a direct caller, or that of
 * ftrace_ops_stop().
 * Context: may sleep.
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr,
			     bool free_filters)
{
	int ret;

	if (!is_direct(ops))
		return -EINVAL;

	scoped_guard(mutex, &direct_mutex) {
		guard(mutex)(&ftrace_lock);
		ret = ftrace_ops_stop(ops);
		if (ret)
			return ret;
	}
	/* A direct caller may ask for something that takes direct_mutex. */
	ftrace_ops_stop_wait(ops);
	ops->func = NULL;
	ops->flags &= ~(FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS);
	if (free_filters)
		ftrace_free_filter(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_direct);

/**
 * modify_ftrace_direct_nolock - have direct calls go elsewhere
 * @ops: the ops
 * @addr: the new function
 *
 * At every moment a call goes to the old function or to the new one.
 *
 * Return: 0, or an error with nothing changed: -EINVAL if @ops is not a direct
 * caller; -ERANGE; -ENOMEM.
 * Context: may sleep; direct_mutex held, as in an &ftrace_ops.ops_func.
 */
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr)
{
	struct ftrace_change change = { ops, true };
	struct ftrace_scope scope = { };
	unsigned long old;
	int ret;

	if (WARN_ON_ONCE(!mutex_is_locked(&direct_mutex)))
		return -EINVAL;
	if (!is_direct(ops))
		return -EINVAL;

	guard(mutex)(&ftrace_lock);
	old = ops->direct_call;
	if (old == addr)
		return 0;

	change.on = ftrace_ops_active(ops);
	scope.hash[0] = rcu_dereference_protected(ops->func_hash->filter_hash, true);
	ops->direct_call = addr;
	ftrace_classes_stale(ops);
	ret = ftrace_plan_run(&change, 1, &scope, FTRACE_PLAN_AGREED);
	if (ret)
		ops->direct_call = old;
	return ret;
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct_nolock);

/**
 * modify_ftrace_direct - have direct calls go elsewhere
 * @ops: the ops
 * @addr: the new function
 *
 * Return: as modify_ftrace_direct_nolock().
 * Context: may sleep.
 */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	guard(mutex)(&direct_mutex);
	return modify_ftrace_direct_nolock(ops, addr);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct);
