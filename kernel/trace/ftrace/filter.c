// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter of an ops: the functions that the ops traces.
 *
 * A filter is replaced as a whole. The plan of the change looks only at the sites that
 * are in the old filter or in the new filter, but not in both.
 */
#include <linux/slab.h>

#include "core.h"
#include "filter.h"
#include "hash.h"
#include "match.h"
#include "ops.h"
#include "plan.h"

/* Do @ops, or an ops that runs under it, use the filter @hash? */
static bool filter_ops_uses(struct ftrace_ops *ops, struct ftrace_ops_hash *hash)
{
	struct ftrace_ops *sub;

	for_each_ftrace_sub(sub, ops)
		if (sub->func_hash == hash)
			return true;
	return false;
}

/**
 * ftrace_ops_update_hash - give an ops another filter
 * @ops: the ops, registered or not; other ops may share its filter
 * @orig: &ops->func_hash->filter_hash or &ops->func_hash->notrace_hash
 * @new: the new filter; the caller keeps it
 * @enable: true: functions to trace; false: functions not to trace
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error with nothing changed: -EINVAL if an ops that changes the
 *	instruction pointer would get all functions; -EBUSY, see
 *	ftrace_clashes_unseen(); or an error of ftrace_plan_run().
 */
int ftrace_ops_update_hash(struct ftrace_ops *ops, struct ftrace_hash __rcu **orig,
			   struct ftrace_hash *new, bool enable)
{
	struct ftrace_hash *old = rcu_dereference_protected(*orig, true);
	struct ftrace_scope scope = { .hash = { old, new } };
	struct ftrace_change *changes;
	struct ftrace_hash *copy = NULL;
	struct ftrace_ops *op;
	unsigned int nr = 0, looked = 0;
	int ret = 0;

	/* An ops that changes the instruction pointer must not get all functions. */
	if (enable && ftrace_hash_empty(new) && ops->flags & FTRACE_OPS_FL_ENABLED &&
	    ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT))
		return -EINVAL;
	if (enable && ops->flags & FTRACE_OPS_FL_ENABLED &&
	    ftrace_clashes_unseen(ops, old, new))
		return -EBUSY;

	if (!ftrace_hash_empty(new)) {
		copy = ftrace_hash_dup(new);
		if (!copy)
			return -ENOMEM;
	}

	for_each_ftrace_ops(op) {
		nr += filter_ops_uses(op, ops->func_hash);
		ftrace_yield(looked++);
	}
	changes = kvcalloc(max(nr, 1U), sizeof(*changes), GFP_KERNEL);
	if (!changes) {
		ftrace_hash_free(copy);
		return -ENOMEM;
	}

	rcu_assign_pointer(*orig, copy);
	if (nr) {
		nr = 0;
		for_each_ftrace_ops(op)
			if (filter_ops_uses(op, ops->func_hash))
				changes[nr++] = (struct ftrace_change){
					op, ftrace_ops_active(op) };

		/* An empty filter means all functions. */
		scope.all = enable && (ftrace_hash_empty(old) || ftrace_hash_empty(copy));
		ret = ftrace_plan_run(changes, nr, &scope, FTRACE_PLAN_NAMED);
	}
	if (ret) {
		rcu_assign_pointer(*orig, old);
		swap(old, copy);
	}
	ftrace_hash_free_rcu(old);
	kvfree(changes);
	return ret;
}

/* Make a copy of the filter to change; an empty filter if @reset. */
static struct ftrace_hash *filter_begin(struct ftrace_ops *ops, bool enable, bool reset)
{
	struct ftrace_hash __rcu **orig = ftrace_hash_of(ops->func_hash, enable);

	/* Unloading a module removes its sites from the filter. */
	guard(mutex)(&ftrace_lock);
	return ftrace_hash_dup(reset ? NULL : rcu_dereference_protected(*orig, true));
}

static int filter_commit(struct ftrace_ops *ops, struct ftrace_hash *hash, bool enable)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_ops_update_hash(ops, ftrace_hash_of(ops->func_hash, enable), hash, enable);
}

static int filter_set_regex(struct ftrace_ops *ops, unsigned char *buf, int len, bool reset,
			    bool enable)
{
	struct ftrace_hash *hash;
	char *copy = NULL;
	int ret = 0;

	if (unlikely(ftrace_disabled))
		return -ENODEV;
	if (buf && len <= 0)
		return -EINVAL;

	ftrace_ops_init(ops);
	guard(mutex)(&ops->func_hash->regex_lock);

	hash = filter_begin(ops, enable, reset);
	if (buf)
		copy = kmemdup_nul(buf, len, GFP_KERNEL);
	if (!hash || (buf && !copy)) {
		ret = -ENOMEM;
		goto out;
	}
	if (copy && copy[0] == '!')
		ret = ftrace_hash_unmatch(hash, copy + 1, NULL);
	else if (copy)
		ret = ftrace_hash_match(hash, copy, NULL);
	if (copy && !ret)
		ret = -EINVAL;
	if (ret >= 0)
		ret = filter_commit(ops, hash, enable);
out:
	kfree(copy);
	ftrace_hash_free(hash);
	return ret;
}

/**
 * ftrace_set_filter - set the functions that an ops traces
 * @ops: the ops
 * @buf: a name or glob, NULL for none
 * @len: length of @buf
 * @reset: start from an empty filter; with @buf NULL, @ops then traces all functions
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed: -EINVAL if no function matches;
 *	-ENODEV after ftrace_kill(); -ENOMEM; or an error of ftrace_plan_run().
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_regex(ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - set the functions that an ops does not trace
 * @ops: the ops
 * @buf: a name or glob, NULL for none
 * @len: length of @buf
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: as ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_regex(ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - set set_ftrace_filter of the top instance
 * @buf: as for ftrace_set_filter()
 * @len: as for ftrace_set_filter()
 * @reset: as for ftrace_set_filter()
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	filter_set_regex(&global_ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - set set_ftrace_notrace of the top instance
 * @buf: as for ftrace_set_notrace()
 * @len: as for ftrace_set_notrace()
 * @reset: as for ftrace_set_notrace()
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	filter_set_regex(&global_ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

static int filter_set_ip(struct ftrace_hash *hash, unsigned long ip, bool remove)
{
	struct ftrace_func_entry *entry;

	ip = ftrace_location(ip);
	if (!ip)
		return -EINVAL;
	if (!remove)
		return ftrace_hash_add_exact(hash, ip);
	entry = ftrace_lookup_ip(hash, ip);
	if (!entry)
		return -ENOENT;
	ftrace_hash_del(hash, entry);
	return 0;
}

/**
 * ftrace_set_filter_ips - set the functions that an ops traces, by address
 * @ops: the ops
 * @ips: addresses of functions or of their call sites
 * @cnt: number of addresses
 * @remove: remove the functions from the filter instead of adding them
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed: -EINVAL if an address is not that of
 *	a traced function; -ENOENT if a function to remove is not in the filter;
 *	-ENODEV after ftrace_kill(); -ENOMEM; or an error of ftrace_plan_run().
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset)
{
	struct ftrace_hash *hash;
	int ret = 0;

	if (unlikely(ftrace_disabled))
		return -ENODEV;

	ftrace_ops_init(ops);
	guard(mutex)(&ops->func_hash->regex_lock);

	hash = filter_begin(ops, true, reset);
	if (!hash)
		return -ENOMEM;
	for (unsigned int i = 0; i < cnt && !ret; i++) {
		ret = filter_set_ip(hash, ips[i], remove);
		ftrace_yield(i);
	}
	if (!ret)
		ret = filter_commit(ops, hash, true);
	ftrace_hash_free(hash);
	return ret;
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - set a function that an ops traces, by address
 * @ops: the ops
 * @ip: address of the function or of its call site
 * @remove: remove the function from the filter instead of adding it
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: as ftrace_set_filter_ips().
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove,
			 int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

/**
 * ftrace_free_filter - free the filter of an ops that is not registered
 * @ops: the ops
 *
 * Context: Process context, may sleep.
 */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *hash;

	ftrace_ops_init(ops);
	if (WARN_ON(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;

	/* If @ops uses the filter of another ops, that filter stays. */
	hash = &ops->local_hash;
	guard(mutex)(&hash->regex_lock);
	ftrace_hash_free_rcu(rcu_replace_pointer(hash->filter_hash, NULL, true));
	ftrace_hash_free_rcu(rcu_replace_pointer(hash->notrace_hash, NULL, true));
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

/**
 * ftrace_ops_set_global_filter - let an ops use set_ftrace_filter and
 *	set_ftrace_notrace of the top instance
 * @ops: the ops, not used before
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	ftrace_ops_init(ops);
	ops->func_hash = &global_ops.local_hash;
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);

/**
 * ftrace_forget_sites - remove sites that are about to be freed from the filters of
 *	trace arrays
 * @start: first address of the text
 * @end: first address after the text
 *
 * Context: Process context, may sleep. Takes trace_types_lock and ftrace_lock.
 */
void ftrace_forget_sites(unsigned long start, unsigned long end)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		struct ftrace_ops_hash *filter;

		if (!tr->ops || !tr->ops->func_hash)
			continue;
		filter = tr->ops->func_hash;
		guard(mutex)(&filter->regex_lock);
		guard(mutex)(&ftrace_lock);
		ftrace_hash_forget(rcu_dereference_protected(filter->filter_hash, true),
				   start, end);
		ftrace_hash_forget(rcu_dereference_protected(filter->notrace_hash, true),
				   start, end);
	}
}
