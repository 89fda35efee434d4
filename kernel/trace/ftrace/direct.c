// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct calls: a function of the client's in place of a callback.
 *
 * A direct caller is an ops like any other, only that its class has an address
 * to go to in place of a callback: alone on a site, the site calls it; with
 * others, their trampoline ends by jumping to it. One direct caller a function.
 *
 * It may share a function with an ops that changes the instruction pointer
 * (livepatch) if its owner can make it return to wherever that points; see
 * enum ftrace_ops_cmd.
 */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>

#include "class.h"
#include "core.h"
#include "plan.h"
#include "table.h"

/* Keeps direct callers as they are while one of them is asked to share. */
DEFINE_MUTEX(direct_mutex);

/* The ops for which direct callers are being asked; direct_mutex held. */
static struct ftrace_ops *asking;

/* The ops on a site that has a flag, if any. ftrace_lock held. */
static struct ftrace_ops *ops_on(unsigned long ip, unsigned long flag)
{
	struct ftrace_table *t;
	struct ftrace_site *site = ftrace_find_site(ip, &t);
	struct ftrace_class *c;

	if (!site)
		return NULL;
	c = ftrace_class_nth(site_class(site));
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->ops[i]->flags & flag)
			return c->ops[i];
	return NULL;
}

static int ask(struct ftrace_ops *direct, enum ftrace_ops_cmd cmd)
{
	return direct->ops_func ? direct->ops_func(direct, cmd) : -EBUSY;
}

/*
 * Ask the owner of each direct caller on a function of @ops to share it, or tell
 * it that it has it alone again, if it has: at most *@asked of them, and how many
 * is put there. Returns 0 or the first refusal to share. An owner that is told
 * and is busy goes on as if it shared, which is slower and no more.
 */
static int ask_all(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd, int *asked)
{
	struct ftrace_hash *filter;
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	int i, left = *asked, ret;

	filter = rcu_dereference_protected(ops->func_hash->filter_hash, true);
	*asked = 0;
	if (ftrace_hash_empty(filter))
		return 0;
	for_each_ftrace_entry(filter, entry, tmp, i) {
		struct ftrace_ops *direct, *peer;

		mutex_lock(&ftrace_lock);
		direct = ops_on(entry->ip, FTRACE_OPS_FL_DIRECT);
		peer = ops_on(entry->ip, FTRACE_OPS_FL_IPMODIFY);
		mutex_unlock(&ftrace_lock);
		if (!direct || direct == ops)
			continue;
		if (!left--)
			return 0;
		/* It still shares it with the one that was there before @ops. */
		if (cmd == FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER && peer)
			continue;
		ret = ask(direct, cmd);
		if (ret && cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER)
			return ret;
		++*asked;
	}
	return 0;
}

/**
 * ftrace_ipmodify_begin - an ops is about to be registered
 * @ops: the ops
 *
 * If it changes the instruction pointer, direct callers on its functions must
 * be willing to share them.
 *
 * Return: 0, and ftrace_ipmodify_end() is due; -EBUSY, -EAGAIN or what an owner
 * says, with nothing changed.
 * Context: may sleep; returns with direct_mutex held if @ops is such an ops.
 */
int ftrace_ipmodify_begin(struct ftrace_ops *ops)
{
	int asked = INT_MAX, ret;

	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return 0;

	mutex_lock(&direct_mutex);
	ret = ask_all(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER, &asked);
	if (!ret) {
		WRITE_ONCE(asking, ops);
		return 0;
	}
	ask_all(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER, &asked);
	mutex_unlock(&direct_mutex);
	return ret;
}

/**
 * ftrace_ipmodify_end - an ops has been registered, or not
 * @ops: the ops
 * @registered: which
 *
 * Context: may sleep; as ftrace_ipmodify_begin() left it.
 */
void ftrace_ipmodify_end(struct ftrace_ops *ops, bool registered)
{
	int all = INT_MAX;

	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return;
	if (!registered)
		ask_all(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER, &all);
	WRITE_ONCE(asking, NULL);
	mutex_unlock(&direct_mutex);
}

/**
 * ftrace_ipmodify_asked - have the direct callers on its functions been asked to
 *	share them with an ops?
 * @ops: the ops, which changes the instruction pointer
 *
 * That is so while it is being registered. A function that it gets later, by a
 * change of its filter, has a direct caller that does not know.
 *
 * Return: true if so.
 * Context: any.
 */
bool ftrace_ipmodify_asked(struct ftrace_ops *ops)
{
	return READ_ONCE(asking) == ops;
}

/**
 * ftrace_ipmodify_gone - an ops has been unregistered
 * @ops: the ops
 *
 * Context: may sleep; takes direct_mutex.
 */
void ftrace_ipmodify_gone(struct ftrace_ops *ops)
{
	int all = INT_MAX;

	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return;
	guard(mutex)(&direct_mutex);
	ask_all(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER, &all);
}

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
		if (ops_on(entry->ip, FTRACE_OPS_FL_DIRECT))
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
