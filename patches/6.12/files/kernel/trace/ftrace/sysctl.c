// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sysctl kernel.ftrace_enabled: 0 switches off all ops that are not permanent.
 */
#include <linux/ftrace.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "class.h"
#include "core.h"
#include "hash.h"
#include "ipmodify.h"
#include "ops.h"
#include "plan.h"
#include "sysctl.h"
#include "wants.h"

bool ftrace_functions_off;

/*
 * Another ops than @ops with one of @flags that wants the function at @ip. While tracing is off, no
 * site shows it.
 */
static struct ftrace_ops *ops_unseen_on(const struct ftrace_ops *ops, unsigned long ip,
					unsigned long flags)
{
	struct ftrace_ops *op;

	for_each_ftrace_ops(op)
		if (op != ops && op->flags & flags && ftrace_ops_wants(op, ip))
			return op;
	return NULL;
}

/*
 * Would @filter, in place of @old, conflict with other ops once tracing is enabled again? Until
 * then owners of direct callers cannot be asked for a new ops, so ops that would need to agree do
 * not share a function. ftrace_lock held.
 */
bool ftrace_clashes_unseen(struct ftrace_ops *ops, struct ftrace_hash *old,
			   struct ftrace_hash *filter)
{
	const unsigned long picky = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT;
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	int i;

	lockdep_assert_held(&ftrace_lock);
	if (!ftrace_functions_off || !(ops->flags & picky) || ftrace_hash_empty(filter))
		return false;
	for_each_ftrace_entry(filter, entry, tmp, i)
		if (!ftrace_lookup_ip(old, entry->ip) && ops_unseen_on(ops, entry->ip, picky))
			return true;
	return false;
}

/*
 * While tracing is off, asks the owner of a direct caller, of which another address is about to be
 * called, to share those of @funcs that it shares with an ops that changes the instruction pointer:
 * no plan sees them. 0 or the refusal. direct_mutex and ftrace_lock held, as for the question of a
 * plan.
 */
int ftrace_ask_unseen(struct ftrace_ops *direct, struct ftrace_hash *funcs)
{
	const enum ftrace_ops_cmd cmd = FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF;
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	int i, ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (!ftrace_functions_off)
		return 0;
	for_each_ftrace_entry(funcs, entry, tmp, i) {
		if (ops_unseen_on(direct, entry->ip, FTRACE_OPS_FL_IPMODIFY))
			ret = ftrace_direct_agrees(direct, entry->ip, cmd);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Switches all ops off, or on again: -EBUSY if one is permanent, -ENOMEM. direct_mutex and
 * ftrace_lock held: no direct caller comes back to a site after its owner would have been asked.
 */
static int set_enabled(bool on)
{
	const struct ftrace_scope scope = { .all = true };
	struct ftrace_change *changes __free(kvfree) = NULL;
	struct ftrace_ops *ops;
	unsigned int nr = 0;
	int ret;

	lockdep_assert_held(&direct_mutex);
	lockdep_assert_held(&ftrace_lock);
	if (ftrace_functions_off == !on)
		return 0;
	for_each_ftrace_ops(ops) {
		if (!on && ops->flags & FTRACE_OPS_FL_PERMANENT)
			return -EBUSY;
		nr++;
	}

	changes = kvcalloc(max(nr, 1U), sizeof(*changes), GFP_KERNEL);
	if (!changes)
		return -ENOMEM;
	ftrace_functions_off = !on;
	nr = 0;
	for_each_ftrace_ops(ops)
		changes[nr++] = (struct ftrace_change){
			ops, on && !(ops->flags & FTRACE_OPS_FL_STUB)
		};
	ret = nr ? ftrace_plan_run(changes, nr, &scope, FTRACE_PLAN_AGREED) : 0;
	if (ret)
		ftrace_functions_off = on;
	return ret;
}

static int enabled_sysctl(const struct ctl_table *table, int write,
			  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret, old;

	guard(mutex)(&direct_mutex);
	guard(mutex)(&ftrace_lock);
	if (write && ftrace_killed())
		return -ENODEV;

	old = ftrace_enabled;
	ret = proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || !!old == !!ftrace_enabled)
		return ret;

	ret = set_enabled(ftrace_enabled);
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

static int __init enabled_make_sysctl(void)
{
	register_sysctl_init("kernel", sysctl_table);
	return 0;
}
late_initcall(enabled_make_sysctl);
