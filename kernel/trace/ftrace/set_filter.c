// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other parts of the kernel call to set the filter of an ops, by name or by address.
 *
 * Nobody else sets the filter of this ops between the begin of a change and its commit.
 */
#include <linux/slab.h>

#include "core.h"
#include "filter_edit.h"
#include "hash.h"
#include "ipmodify.h"
#include "ops.h"
#include "plan.h"
#include "table.h"

/*
 * The trace array of @ops; NULL if @ops belongs to none. The caller owns @ops, so the trace
 * array stays.
 */
static struct trace_array *filter_trace_array(struct ftrace_ops *ops)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		if (tr->ops == ops)
			return tr;
	return NULL;
}

static int filter_change(struct ftrace_ops *ops, struct trace_array *tr, char *word, bool reset,
			 bool enable)
{
	struct ftrace_set set = ftrace_set_of(ops, tr, enable);
	struct ftrace_edit edit = { };
	int ret;

	guard(mutex)(&ops->func_hash->regex_lock);
	ret = ftrace_edit_begin(&edit, &set, reset);
	if (!ret && word)
		ret = ftrace_edit_word(&edit, word);
	if (!ret)
		ret = ftrace_edit_commit(&edit);
	ftrace_edit_end(&edit);
	return ret;
}

static int filter_set_regex(struct ftrace_ops *ops, unsigned char *buf, int len, bool reset,
			    bool enable)
{
	char *word __free(kfree) = NULL;
	struct trace_array *tr = NULL;

	if (ftrace_killed())
		return -ENODEV;
	if (buf && len <= 0)
		return -EINVAL;

	ftrace_ops_init(ops);
	if (buf) {
		word = kmemdup_nul(buf, len, GFP_KERNEL);
		if (!word)
			return -ENOMEM;
		/* Only with a trace array a word can wait for a module. */
		if (strchr(word, ':')) {
			tr = filter_trace_array(ops);
			if (!tr)
				return -EINVAL;
		}
	}
	return filter_change(ops, tr, word, reset, enable);
}

/**
 * ftrace_set_filter - set the functions that an ops traces
 * @ops: the ops
 * @buf: a name or glob, with `!' before it to remove its functions; NULL for none. If @ops
 *	belongs to a trace array, also `function:mod:module', which waits for the module
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

	ip = ftrace_site_of(ip);
	if (!ip)
		return -EINVAL;
	if (!remove)
		return ftrace_hash_add(hash, ip, true);
	entry = ftrace_lookup_ip(hash, ip);
	if (!entry)
		return -ENOENT;
	ftrace_hash_del(hash, entry);
	return 0;
}

static int filter_change_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int cnt,
			     bool remove, bool reset)
{
	struct ftrace_hash *hash __free(ftrace_hash) = NULL;

	guard(mutex)(&ops->func_hash->regex_lock);
	guard(mutex)(&ftrace_lock);

	hash = ftrace_hash_dup(reset ? NULL : ftrace_locked(ops->func_hash->filter_hash));
	if (!hash)
		return -ENOMEM;
	for (unsigned int i = 0; i < cnt; i++) {
		int ret = filter_set_ip(hash, ips[i], remove);

		if (ret)
			return ret;
		ftrace_yield(i);
	}
	return ftrace_ops_update_hash(ops, &ops->func_hash->filter_hash, hash);
}

/*
 * The same for a registered ops that changes the instruction pointer: owners of direct callers are
 * asked before it gets functions, and told when it has lost them. Kprobes with a post_handler share
 * such an ops. A task that is in the callback then is not waited for: as always when a filter
 * changes, its call may be one of before. Takes direct_mutex.
 */
static int filter_ask_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int cnt,
			  bool remove, bool reset)
{
	struct ftrace_hash *funcs __free(ftrace_hash) = ftrace_hash_alloc();
	int ret = 0;

	if (!funcs)
		return -ENOMEM;
	scoped_guard(mutex, &ftrace_lock) {
		for (unsigned int i = 0; i < cnt && !ret; i++) {
			ret = filter_set_ip(funcs, ips[i], false);
			ftrace_yield(i);
		}
	}
	if (ret)
		return ret;

	if (remove) {
		ret = filter_change_ips(ops, ips, cnt, remove, reset);
		if (!ret)
			ftrace_ipmodify_gone(ops, funcs);
		return ret;
	}
	ret = ftrace_ipmodify_begin(ops, funcs);
	if (ret)
		return ret;
	ret = filter_change_ips(ops, ips, cnt, remove, reset);
	ftrace_ipmodify_end(ops, funcs, !ret);
	return ret;
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
 *	-ENODEV after ftrace_kill(); -ENOMEM; the answer of the owner of a direct
 *	caller; or an error of ftrace_plan_run().
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset)
{
	if (ftrace_killed())
		return -ENODEV;

	ftrace_ops_init(ops);
	if (ops->flags & FTRACE_OPS_FL_ENABLED && ops->flags & FTRACE_OPS_FL_IPMODIFY)
		return filter_ask_ips(ops, ips, cnt, remove, reset);
	return filter_change_ips(ops, ips, cnt, remove, reset);
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
	ftrace_ops_init_with(ops, &global_ops.local_hash);
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);
