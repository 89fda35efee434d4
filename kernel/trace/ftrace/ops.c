// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registering and unregistering ops.
 *
 * An ops that is registered is in a list and has FTRACE_OPS_FL_ENABLED. Which
 * sites it is on is not kept here: that is what the classes of the sites say.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include <asm/sections.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "pid.h"
#include "plan.h"
#include "table.h"

/* All that core.h says it guards. */
DEFINE_MUTEX(ftrace_lock);
LIST_HEAD(ftrace_ops_registered);

int ftrace_enabled __read_mostly = 1;
static bool functions_off;	/* by kernel.ftrace_enabled */

/* Set by ftrace_kill(), for good. */
int ftrace_disabled __read_mostly;

/* Of the top trace array; others share its filter, too. */
struct ftrace_ops global_ops = {
	.func			= ftrace_stub,
	.flags			= FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_PID,
	.func_hash		= &global_ops.local_hash,
	.local_hash.regex_lock	= __MUTEX_INITIALIZER(global_ops.local_hash.regex_lock),
	.subop_list		= LIST_HEAD_INIT(global_ops.subop_list),
};

static u64 ops_seq;

/**
 * ftrace_ops_init - set up an ops that is used for the first time
 * @ops: the ops
 *
 * Context: any; the caller sees to it that two do not do it at once.
 */
void ftrace_ops_init(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	mutex_init(&ops->local_hash.regex_lock);
	INIT_LIST_HEAD(&ops->subop_list);
	ops->func_hash = &ops->local_hash;
	ops->flags |= FTRACE_OPS_FL_INITIALIZED;
}

/**
 * ftrace_ops_active - may an ops be on sites?
 * @ops: the ops
 *
 * Return: true if it is registered and tracing is not switched off for it.
 * Context: ftrace_lock held.
 */
bool ftrace_ops_active(const struct ftrace_ops *ops)
{
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED) || ops->flags & FTRACE_OPS_FL_STUB)
		return false;
	return !functions_off || ops->flags & FTRACE_OPS_FL_PERMANENT;
}

/* The sites that an ops may have, or may get: those that its filter names. */
static struct ftrace_scope ops_scope(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter;

	if (list_is_singular(&ops->subop_list))
		ops = list_first_entry(&ops->subop_list, struct ftrace_ops, list);
	filter = rcu_dereference_protected(ops->func_hash->filter_hash, true);
	if (ftrace_hash_empty(filter) || !list_empty(&ops->subop_list))
		return (struct ftrace_scope){ .all = true };
	return (struct ftrace_scope){ .hash = { filter } };
}

static int plan_ops(struct ftrace_ops *ops, unsigned int flags)
{
	struct ftrace_change change = { ops, ftrace_ops_active(ops) };
	struct ftrace_scope scope = ops_scope(ops);

	return ftrace_plan_run(&change, 1, &scope, flags);
}

/**
 * ftrace_ops_set_func - change the callback of an ops
 * @ops: the ops, registered or not
 * @func: the new callback
 *
 * Return: 0, or an error with nothing changed.
 * Context: ftrace_lock held; may sleep.
 */
int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	ftrace_func_t old = ops->func;
	int ret;

	if (old == func)
		return 0;
	ops->func = func;
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return 0;

	ftrace_classes_stale(ops);
	ret = plan_ops(ops, FTRACE_PLAN_AGREED);
	if (ret)
		ops->func = old;
	return ret;
}

/*
 * Trampolines that were built before the CPU was known lack what it wants of a
 * return or a call against speculation.
 */
static int __init rebuild_early_tramps(void)
{
	struct ftrace_ops *ops;

	guard(mutex)(&ftrace_lock);
	for_each_ftrace_ops(ops) {
		ftrace_classes_stale(ops);
		if (plan_ops(ops, FTRACE_PLAN_AGREED))
			pr_warn("no memory to rebuild the trampoline of %ps\n", ops->func);
	}
	return 0;
}
core_initcall(rebuild_early_tramps);

/**
 * ftrace_clashes_unseen - can an ops not be on functions with others, of which
 *	the sites tell nothing because tracing is switched off?
 * @ops: the ops
 * @old: the functions that it has already, or NULL
 * @filter: the functions that it is to have
 *
 * Then none of those that may have to agree can be asked, so they are not shared.
 *
 * Return: true if so.
 * Context: ftrace_lock held.
 */
bool ftrace_clashes_unseen(struct ftrace_ops *ops, struct ftrace_hash *old,
			   struct ftrace_hash *filter)
{
	const unsigned long picky = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT;
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	struct ftrace_ops *op;
	int i;

	if (!functions_off || !(ops->flags & picky) || ftrace_hash_empty(filter))
		return false;
	for_each_ftrace_entry(filter, entry, tmp, i) {
		if (ftrace_lookup_ip(old, entry->ip))
			continue;
		for_each_ftrace_ops(op)
			if (op != ops && op->flags & picky &&
			    ftrace_ops_wants(op, entry->ip))
				return true;
	}
	return false;
}

/* Nothing of the core calls the ops any more. */
static void ops_end(struct ftrace_ops *ops)
{
	ftrace_callback_put(ops->callback);
	ops->callback = NULL;
	ops->func = ops->saved_func;
}

/**
 * ftrace_ops_start - register an ops
 * @ops: the ops
 *
 * Return: 0; -ENODEV after ftrace_kill(); -EBUSY if it is registered, or is being
 * unregistered, or is permanent and tracing is switched off, or could then not be on its functions
 * with others; -EINVAL if it is being destroyed, names a site that cannot be
 * traced, or would change where all functions go; and what ftrace_plan_run()
 * returns. On an error no site has changed.
 * Context: ftrace_lock held; may sleep.
 */
int ftrace_ops_start(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter;
	int ret;

	ftrace_ops_init(ops);

	if (unlikely(ftrace_disabled))
		return -ENODEV;
	if (ops->flags & FTRACE_OPS_FL_DELETED || !ops->func)
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_ENABLED || ops->callback)
		return -EBUSY;
	if (ops->flags & FTRACE_OPS_FL_PERMANENT && !ftrace_enabled)
		return -EBUSY;
	filter = rcu_dereference_protected(ops->func_hash->filter_hash, true);
	if (ops->flags & FTRACE_OPS_FL_IPMODIFY && ftrace_hash_empty(filter))
		return -EINVAL;
	if (ftrace_clashes_unseen(ops, NULL, filter))
		return -EBUSY;

	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED &&
	    IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		ops->flags |= FTRACE_OPS_FL_SAVE_REGS;
	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS &&
	    !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		return -EINVAL;

	if (!is_kernel_core_data((unsigned long)ops))
		ops->flags |= FTRACE_OPS_FL_DYNAMIC;
	ret = ftrace_callback_make(ops);
	if (ret)
		return ret;
	ops->saved_func = ops->func;
	if (ftrace_pids_enabled(ops))
		ops->func = ftrace_pid_func;

	ops->callback->seq = ++ops_seq;
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	ret = plan_ops(ops, FTRACE_PLAN_NAMED);
	if (ret) {
		ops->flags &= ~FTRACE_OPS_FL_ENABLED;
		ops_end(ops);
		return ret;
	}
	list_add(&ops->list, &ftrace_ops_registered);
	return 0;
}

/**
 * ftrace_ops_stop - take an ops off all its sites
 * @ops: the ops
 *
 * Without the lock ftrace_ops_stop_wait() is then to be called. Until that has
 * returned, @ops cannot be registered again. An ops whose memory is never freed
 * needs no wait, and it is as if it had been called.
 *
 * Return: 0; -EBUSY if it is not registered; -ENODEV after ftrace_kill().
 * Context: ftrace_lock held; may sleep.
 */
int ftrace_ops_stop(struct ftrace_ops *ops)
{
	int ret;

	if (unlikely(ftrace_disabled))
		return -ENODEV;
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;

	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	ret = plan_ops(ops, FTRACE_PLAN_REMOVES);
	if (WARN_ON_ONCE(ret)) {
		ops->flags |= FTRACE_OPS_FL_ENABLED;
		return ret;
	}
	list_del(&ops->list);
	if (!(ops->flags & FTRACE_OPS_FL_DYNAMIC))
		ops_end(ops);
	return 0;
}

/**
 * ftrace_ops_stop_wait - wait until an ops can be freed
 * @ops: the ops, for which ftrace_ops_stop() has returned 0
 *
 * That is when no task is in its callback. Of a direct caller it is not known who
 * is in it: that takes grace periods, unless the owner waits by itself.
 *
 * Context: may sleep; ftrace_lock not held.
 */
void ftrace_ops_stop_wait(struct ftrace_ops *ops)
{
	if (!(ops->flags & FTRACE_OPS_FL_DYNAMIC))
		return;
	if (!(ops->flags & FTRACE_OPS_FL_DIRECT))
		ftrace_callback_wait(ops->callback, ops->func);
	else if (!(ops->flags & FTRACE_OPS_FL_OWN_WAIT))
		ftrace_wait_callbacks();

	guard(mutex)(&ftrace_lock);
	ops_end(ops);
}

/**
 * register_ftrace_function - start calling an ops
 * @ops: the ops, with ->func set, and perhaps flags and a filter
 *
 * Return: 0, or an error with nothing changed; see ftrace_ops_start().
 * Context: may sleep.
 */
int register_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	ftrace_ops_init(ops);
	ret = ftrace_ipmodify_begin(ops);
	if (ret)
		return ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_ops_start(ops);
	mutex_unlock(&ftrace_lock);

	ftrace_ipmodify_end(ops, !ret);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

/**
 * unregister_ftrace_function - stop calling an ops
 * @ops: the ops
 *
 * Return: 0, after which the memory of the ops may be freed; or an error, see
 * ftrace_ops_stop().
 * Context: may sleep.
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_ops_stop(ops);
	if (ret)
		return ret;

	ftrace_ops_stop_wait(ops);
	ftrace_ipmodify_gone(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);

/**
 * ftrace_kill - give up on function tracing until the next boot
 *
 * Sites stay as they are and go on calling what they call; nothing is
 * registered, unregistered or patched any more. An ops whose owner frees it
 * although unregistering failed is still called.
 *
 * Context: any.
 */
void ftrace_kill(void)
{
	ftrace_disabled = 1;
	ftrace_enabled = 0;
	kprobe_ftrace_kill();
}

/**
 * ftrace_is_dead - has ftrace_kill() been called?
 *
 * Return: 1 if so, else 0.
 */
int ftrace_is_dead(void)
{
	return ftrace_disabled;
}

/**
 * ftrace_set_enabled - switch all ops that are not permanent off, or on again
 * @on: which
 *
 * Return: 0, or an error with nothing changed: -EBUSY if a permanent ops is
 * registered, for it must not be switched off; -ENOMEM.
 * Context: ftrace_lock held; may sleep.
 */
int ftrace_set_enabled(bool on)
{
	const struct ftrace_scope scope = { .all = true };
	struct ftrace_change *changes;
	struct ftrace_ops *ops;
	unsigned int nr = 0;
	int ret;

	if (functions_off == !on)
		return 0;
	for_each_ftrace_ops(ops) {
		if (!on && ops->flags & FTRACE_OPS_FL_PERMANENT)
			return -EBUSY;
		nr++;
	}

	changes = kvcalloc(max(nr, 1U), sizeof(*changes), GFP_KERNEL);
	if (!changes)
		return -ENOMEM;
	functions_off = !on;
	nr = 0;
	for_each_ftrace_ops(ops)
		changes[nr++] = (struct ftrace_change){ ops, ftrace_ops_active(ops) };
	ret = nr ? ftrace_plan_run(changes, nr, &scope, FTRACE_PLAN_AGREED) : 0;
	if (ret)
		functions_off = on;
	kvfree(changes);
	return ret;
}

#ifdef CONFIG_SYSCTL
static int enabled_sysctl(const struct ctl_table *table, int write,
			  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret, old;

	guard(mutex)(&ftrace_lock);
	if (write && ftrace_disabled)
		return -ENODEV;

	old = ftrace_enabled;
	ret = proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || !!old == !!ftrace_enabled)
		return ret;

	ret = ftrace_set_enabled(ftrace_enabled);
	if (ret)
		ftrace_enabled = old;
	return ret;
}

static struct ctl_table sysctl_table[] = {
	{
		.procname = "ftrace_enabled",
		.mode = 0644,
		.data = &ftrace_enabled,
		.maxlen = sizeof(ftrace_enabled),
		.proc_handler = enabled_sysctl,
	},
};

static int __init make_sysctl(void)
{
	register_sysctl_init("kernel", sysctl_table);
	return 0;
}
late_initcall(make_sysctl);
#endif
