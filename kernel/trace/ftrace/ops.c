// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registering and unregistering ops.
 *
 * A registered ops is in a list and has FTRACE_OPS_FL_ENABLED. This file does not
 * keep the sites of an ops: the classes of the sites have this information.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include <asm/sections.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "hash.h"
#include "ipmodify.h"
#include "ops.h"
#include "pid.h"
#include "plan.h"
#include "sysctl.h"
#include "table.h"

/* core.h says what this lock guards. */
DEFINE_MUTEX(ftrace_lock);
/* Direct callers do not change while the owner of one of them is asked. */
DEFINE_MUTEX(direct_mutex);
LIST_HEAD(ftrace_ops_registered);

int ftrace_enabled __read_mostly = 1;

/* Set by ftrace_kill(), never cleared. */
int ftrace_disabled __read_mostly;

/* The ops of the top trace array; other ops share its filter. */
struct ftrace_ops global_ops = {
	.func			= ftrace_stub,
	.flags			= FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_PID,
	.func_hash		= &global_ops.local_hash,
	.local_hash.regex_lock	= __MUTEX_INITIALIZER(global_ops.local_hash.regex_lock),
	.subop_list		= LIST_HEAD_INIT(global_ops.subop_list),
};

static u64 ops_seq;

/*
 * Sets up an ops, with a filter, before its first use. If several users do it at the same time,
 * none initialises a lock that another holds.
 */
void ftrace_ops_init_with(struct ftrace_ops *ops, struct ftrace_ops_hash *filter)
{
	static DEFINE_SPINLOCK(lock);

	/* Pairs with smp_store_release() below: what is initialised is seen as such. */
	if (smp_load_acquire(&ops->flags) & FTRACE_OPS_FL_INITIALIZED)
		return;
	spin_lock(&lock);
	if (!(ops->flags & FTRACE_OPS_FL_INITIALIZED)) {
		mutex_init(&ops->local_hash.regex_lock);
		INIT_LIST_HEAD(&ops->subop_list);
		ops->func_hash = filter;
		/* Pairs with smp_load_acquire() above. */
		smp_store_release(&ops->flags, ops->flags | FTRACE_OPS_FL_INITIALIZED);
	}
	spin_unlock(&lock);
}

/**
 * ftrace_ops_init - set up an ops before its first use, with a filter of its own
 * @ops: the ops
 *
 * Context: Process context.
 */
void ftrace_ops_init(struct ftrace_ops *ops)
{
	ftrace_ops_init_with(ops, &ops->local_hash);
}

/**
 * ftrace_ops_active - may an ops be on sites?
 * @ops: the ops
 *
 * Context: ftrace_lock held.
 * Return: true if @ops is registered and tracing is not switched off for it.
 */
bool ftrace_ops_active(const struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED) || ops->flags & FTRACE_OPS_FL_STUB)
		return false;
	return !ftrace_all_off() || ops->flags & FTRACE_OPS_FL_PERMANENT;
}

/* The sites that an ops is on, or may get: those of its filter. */
static struct ftrace_scope ops_scope(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter;

	if (list_is_singular(&ops->subop_list))
		ops = list_first_entry(&ops->subop_list, struct ftrace_ops, list);
	filter = ftrace_locked(ops->func_hash->filter_hash);
	if (ftrace_hash_empty(filter) || !list_empty(&ops->subop_list))
		return (struct ftrace_scope){ .all = true };
	return (struct ftrace_scope){ .hash = { filter } };
}

/*
 * Puts @ops on the sites that it wants now that the filter of @where, itself or an ops under it,
 * has changed. Errors of ftrace_plan_run(). ftrace_lock held.
 */
int ftrace_ops_plan(struct ftrace_ops *ops, struct ftrace_ops *where, unsigned int flags)
{
	struct ftrace_change change = { ops, ftrace_ops_active(ops), where };
	struct ftrace_scope scope = ops_scope(where);

	lockdep_assert_held(&ftrace_lock);
	return ftrace_plan_run(&change, 1, &scope, flags);
}

/**
 * ftrace_ops_set_func - change the callback of an ops, and what turns tasks away before it
 * @ops: the ops, registered or not
 * @func: the new callback
 * @guard: the new guard, which the caller of this function keeps until @ops has another one; NULL
 *	if no task is turned away
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error with nothing changed.
 */
int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func, struct ftrace_guard *guard)
{
	struct ftrace_guard *old_guard = ops->guard;
	ftrace_func_t old = ops->func;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (old == func && old_guard == guard)
		return 0;
	ops->func = func;
	ops->guard = guard;
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return 0;

	ftrace_classes_stale(ops);
	ret = ftrace_ops_plan(ops, ops, FTRACE_PLAN_KEEPS);
	if (ret) {
		ops->func = old;
		ops->guard = old_guard;
	}
	return ret;
}

/*
 * Trampolines that were built before the CPU was identified lack the mitigations for
 * returns and calls that the CPU needs.
 */
static int __init ops_rebuild_early_tramps(void)
{
	struct ftrace_ops *ops;

	guard(mutex)(&ftrace_lock);
	for_each_ftrace_ops(ops) {
		ftrace_classes_stale(ops);
		if (ftrace_ops_plan(ops, ops, FTRACE_PLAN_KEEPS))
			pr_warn("no memory to rebuild the trampoline of %ps\n", ops->func);
	}
	return 0;
}
core_initcall(ops_rebuild_early_tramps);

/* The core does not call the ops any more. */
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
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error with no site changed: -ENODEV after ftrace_kill(); -EBUSY
 *	if @ops is registered or is being unregistered, if tracing is switched off
 *	and @ops is permanent or would conflict with other ops (see
 *	ftrace_clashes_unseen()); -EINVAL if @ops is being destroyed, names a site
 *	that cannot be traced, or would change the instruction pointer of all
 *	functions; or an error of ftrace_plan_run().
 */
int ftrace_ops_start(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ftrace_ops_init(ops);

	if (ftrace_killed())
		return -ENODEV;
	if (ops->flags & FTRACE_OPS_FL_DELETED || !ops->func)
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_ENABLED || ops->callback)
		return -EBUSY;
	if (ops->flags & FTRACE_OPS_FL_PERMANENT && ftrace_all_off())
		return -EBUSY;
	filter = ftrace_locked(ops->func_hash->filter_hash);
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
	if (ops->flags & FTRACE_OPS_FL_PID)
		ops->guard = ftrace_pid_guard(ops);

	ops->callback->seq = ++ops_seq;
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	ret = ftrace_ops_plan(ops, ops, FTRACE_PLAN_NAMED);
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
 * The caller must then drop the lock and call ftrace_ops_stop_wait(). Before that has
 * returned, @ops cannot be registered again. An ops whose memory is never freed needs
 * no wait; the call may be left out.
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0; -EBUSY if @ops is not registered; -ENODEV after ftrace_kill().
 */
int ftrace_ops_stop(struct ftrace_ops *ops)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return ftrace_killed() ? -ENODEV : -EBUSY;

	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	ret = ftrace_ops_plan(ops, ops, FTRACE_PLAN_REMOVES);
	/*
	 * After ftrace_kill() sites still call the ops, and nothing can be done about that. But
	 * the owner may free the ops, so the lists and classes of the core must not have it any
	 * more.
	 */
	if (ret)
		ftrace_classes_lose(ops);
	else if (!(ops->flags & FTRACE_OPS_FL_DYNAMIC))
		ops_end(ops);
	list_del(&ops->list);
	return ret;
}

/**
 * ftrace_ops_stop_wait - wait until an ops can be freed
 * @ops: the ops, for which ftrace_ops_stop() has returned 0
 *
 * An ops can be freed when no task is in its callback. Tasks in a direct caller are not
 * counted: this function waits for grace periods, unless the owner waits by itself. If
 * the callback changes the instruction pointer, a task goes to the new address after it
 * has left the callback, at the end of the trampoline. The owner may free the code at
 * that address, so this function waits until the task has left the trampoline, too.
 *
 * Context: Process context, may sleep. ftrace_lock not held.
 */
void ftrace_ops_stop_wait(struct ftrace_ops *ops)
{
	if (!(ops->flags & FTRACE_OPS_FL_DYNAMIC))
		return;
	if (!(ops->flags & FTRACE_OPS_FL_DIRECT))
		ftrace_callback_drain(ops->callback, ops->func);
	if (ops->flags & FTRACE_OPS_FL_IPMODIFY ||
	    (ops->flags & FTRACE_OPS_FL_DIRECT && !(ops->flags & FTRACE_OPS_FL_OWN_WAIT)))
		ftrace_wait_tramps();

	guard(mutex)(&ftrace_lock);
	ops_end(ops);
}

/*
 * Lets @new, with the flags and callback of @old and some of its functions, take the place of
 * @old. Each function of @new calls one of the two at every moment. The caller then drops the
 * lock and calls ftrace_ops_stop_wait(@old), which waits for tasks in this callback only. With a
 * smaller filter of @old nobody could tell them from tasks in its other functions. If
 * ftrace_killed() then, slots of @old may still be on, and @old must not be freed. ftrace_lock
 * held.
 */
int ftrace_ops_replace(struct ftrace_ops *old, struct ftrace_ops *new)
{
	struct ftrace_change changes[] = { { new }, { old } };
	struct ftrace_scope scope;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_killed())
		return -ENODEV;
	if (WARN_ON_ONCE(!(old->flags & FTRACE_OPS_FL_ENABLED) || new->callback))
		return -EBUSY;
	new->flags |= old->flags & FTRACE_OPS_FL_DYNAMIC;
	ret = ftrace_callback_make(new);
	if (ret)
		return ret;

	new->saved_func = new->func;
	/* Trampolines call the two at the same place among other ops. */
	new->callback->seq = old->callback->seq;
	new->flags |= FTRACE_OPS_FL_ENABLED;
	changes[0].on = ftrace_ops_active(new);
	scope = ops_scope(old);
	ret = ftrace_plan_run(changes, ARRAY_SIZE(changes), &scope, FTRACE_PLAN_AGREED);
	if (ret) {
		new->flags &= ~FTRACE_OPS_FL_ENABLED;
		ops_end(new);
		return ret;
	}
	list_add(&new->list, &old->list);
	/* No site has @old: this only switches slots off, and fails after ftrace_kill() only. */
	ftrace_ops_stop(old);
	return 0;
}

/**
 * register_ftrace_function - start calling the callback of an ops
 * @ops: the ops, with ->func set, and perhaps flags and a filter
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed; see ftrace_ops_start().
 */
int register_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	ftrace_ops_init(ops);
	ret = ftrace_ipmodify_begin(ops, NULL);
	if (ret)
		return ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_ops_start(ops);
	ftrace_ipmodify_end(ops, NULL, !ret);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

/**
 * unregister_ftrace_function - stop calling the callback of an ops
 * @ops: the ops
 *
 * Context: Process context, may sleep.
 * Return: 0, after which the memory of the ops may be freed; or an error, see
 *	ftrace_ops_stop().
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_ops_stop(ops);
	if (ret)
		return ret;

	ftrace_ops_stop_wait(ops);
	ftrace_ipmodify_gone(ops, NULL);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);

/**
 * ftrace_kill - stop all changes of function tracing until the next boot
 *
 * Sites go on calling what they call now. Nothing is registered, unregistered or
 * patched any more. If an owner frees its ops although unregistering failed, sites
 * still call the ops.
 *
 * Context: Any context.
 */
void ftrace_kill(void)
{
	WRITE_ONCE(ftrace_disabled, 1);
	ftrace_enabled = 0;
	kprobe_ftrace_kill();
}

/* Has ftrace_kill() been called? */
int ftrace_is_dead(void)
{
	return ftrace_killed();
}
