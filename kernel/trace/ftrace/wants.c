// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an ops wants of a call site: whether its filter lets the site through, whether the function
 * was named, and what a direct caller has called there.
 */
#include "core.h"
#include "wants.h"

/* Does a filter let @ip through? Any context; preemption off, or ftrace_lock held. */
bool ftrace_hash_wants(struct ftrace_ops_hash *hash, unsigned long ip)
{
	struct ftrace_hash *filter = rcu_dereference_raw_check(hash->filter_hash);
	struct ftrace_hash *unwanted = rcu_dereference_raw_check(hash->notrace_hash);

	/*
	 * ftrace_hash_forget() may be removing entries of the filter. Before that, it sets a
	 * flag. A filter with the flag is not empty, also if its count is 0.
	 */
	return (data_race(ftrace_hash_empty(filter)) || ftrace_lookup_ip(filter, ip)) &&
	       !ftrace_lookup_ip(unwanted, ip);
}

/**
 * ftrace_ops_wants - does an ops, or an ops that runs under it, want a site?
 * @ops: the ops
 * @ip: address of the site
 *
 * Context: ftrace_lock held.
 * Return: true if at least one of them wants the site.
 */
bool ftrace_ops_wants(struct ftrace_ops *ops, unsigned long ip)
{
	struct ftrace_ops *sub;

	lockdep_assert_held(&ftrace_lock);
	for_each_ftrace_sub(sub, ops)
		if (ftrace_hash_wants(sub->func_hash, ip))
			return true;
	return false;
}

/*
 * Was the site named for @ops, or for an ops that runs under it, and not found by a glob? One ops
 * at most runs under @ops: of those that run under another one, each changes by itself. ftrace_lock
 * held.
 */
bool ftrace_ops_exact(struct ftrace_ops *ops, unsigned long ip)
{
	struct ftrace_ops *sub = ftrace_sub_after(ops, NULL);
	struct ftrace_func_entry *entry;

	lockdep_assert_held(&ftrace_lock);
	entry = ftrace_lookup_ip(ftrace_locked(sub->func_hash->filter_hash), ip);
	return entry && entry->direct;
}

/*
 * The address that @ops has called at @ip; 0 if it is not a direct caller, or has many addresses
 * and none for @ip. ftrace_lock held.
 */
unsigned long ftrace_direct_of(struct ftrace_ops *ops, unsigned long ip)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	struct ftrace_func_entry *entry;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_direct_is_many(ops)) {
		entry = ftrace_lookup_ip(ftrace_locked(ops->func_hash->filter_hash), ip);
		return entry && entry->direct != FTRACE_ENTRY_NAMED ? entry->direct : 0;
	}
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return ops->direct_call;
#endif
	return 0;
}
