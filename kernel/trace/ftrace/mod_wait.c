// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting filters: filters for modules that are not loaded yet,
 * `function:mod:module'.
 *
 * Such a word stays with its trace array until the module is loaded. Until then the
 * filter file shows the word as it was written. When the module is loaded, the word
 * is matched against the functions of the module.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"

static void mod_wait_free_one(struct ftrace_mod_load *wait)
{
	list_del(&wait->list);
	kfree(wait->func);
	kfree(wait->module);
	kfree(wait);
}

/**
 * ftrace_mod_wait_add - keep a filter until its module is loaded
 * @waits: list of waiting filters that only the caller uses
 * @func: name or glob
 * @module: the name of the module
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int ftrace_mod_wait_add(struct list_head *waits, const char *func, const char *module)
{
	struct ftrace_mod_load *wait = kzalloc(sizeof(*wait), GFP_KERNEL);

	if (!wait)
		return -ENOMEM;
	list_add(&wait->list, waits);
	wait->func = kstrdup(func, GFP_KERNEL);
	wait->module = kstrdup(module, GFP_KERNEL);
	if (!wait->func || !wait->module) {
		mod_wait_free_one(wait);
		return -ENOMEM;
	}
	return 0;
}

/* An empty name means all names. */
static bool mod_wait_same_func(const char *a, const char *b)
{
	return !strcmp(*a ? a : "*", *b ? b : "*");
}

/**
 * ftrace_mod_wait_del - remove waiting filters
 * @waits: list of waiting filters that only the caller uses
 * @func: name or glob; `*' or empty for all filters that wait for the module
 * @module: the name of the module
 *
 * Return: 0, or -EINVAL if no filter matches.
 */
int ftrace_mod_wait_del(struct list_head *waits, const char *func, const char *module)
{
	struct ftrace_mod_load *wait, *tmp;
	int ret = -EINVAL;

	list_for_each_entry_safe(wait, tmp, waits, list) {
		if (strcmp(wait->module, module) ||
		    (!mod_wait_same_func(func, "*") && !mod_wait_same_func(func, wait->func)))
			continue;
		mod_wait_free_one(wait);
		ret = 0;
	}
	return ret;
}

/**
 * ftrace_mod_wait_copy - copy a list of waiting filters
 * @waits: an empty list that only the caller uses
 * @src: the list to copy
 *
 * Context: Process context, may sleep. ftrace_lock held if @src belongs to a trace
 *	array.
 * Return: 0, or -ENOMEM with @waits empty.
 */
int ftrace_mod_wait_copy(struct list_head *waits, const struct list_head *src)
{
	struct ftrace_mod_load *wait;

	/* ftrace_mod_wait_add() adds at the head, so walk backwards to keep the order. */
	list_for_each_entry_reverse(wait, src, list) {
		if (ftrace_mod_wait_add(waits, wait->func, wait->module)) {
			ftrace_mod_wait_free(waits);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * ftrace_mod_wait_free - free waiting filters
 * @waits: list of waiting filters that only the caller uses
 */
void ftrace_mod_wait_free(struct list_head *waits)
{
	struct ftrace_mod_load *wait, *tmp;

	list_for_each_entry_safe(wait, tmp, waits, list)
		mod_wait_free_one(wait);
}

#ifdef CONFIG_MODULES
/**
 * ftrace_mod_is_there - is a module loaded, so that a filter need not wait?
 * @module: the name of the module, as in `:mod:module'
 *
 * Return: true if the module is loaded.
 */
bool ftrace_mod_is_there(const char *module)
{
	guard(preempt)();
	return find_module(module);
}

/*
 * Remove the first matching waiting filter from the list of @tr and return it: with
 * @module the first that waits for this module, without @module the first whose
 * module is loaded.
 */
static struct ftrace_mod_load *mod_wait_take(struct trace_array *tr, const char *module,
					     bool enable)
{
	struct ftrace_mod_load *wait;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry(wait, ftrace_mod_waits(tr, enable), list) {
		if (module ? strcmp(wait->module, module) :
			     !ftrace_mod_is_there(wait->module))
			continue;
		list_del_init(&wait->list);
		return wait;
	}
	return NULL;
}

static int mod_wait_apply_one(struct trace_array *tr, struct ftrace_mod_load *wait, bool enable)
{
	struct ftrace_ops_hash *filter = tr->ops->func_hash;
	struct ftrace_hash __rcu **orig;
	struct ftrace_hash *hash;
	int ret;

	orig = enable ? &filter->filter_hash : &filter->notrace_hash;
	hash = ftrace_hash_dup(rcu_dereference_protected(*orig, true));
	if (!hash)
		return -ENOMEM;
	ret = ftrace_hash_match(hash, wait->func, wait->module);
	if (ret > 0) {
		guard(mutex)(&ftrace_lock);
		if (list_empty(ftrace_mod_waits(tr, enable)))
			hash->flags &= ~FTRACE_HASH_FL_MOD;
		ret = ftrace_ops_update_hash(tr->ops, orig, hash, enable);
	}
	ftrace_hash_free(hash);
	return ret;
}

static void mod_wait_apply_all(struct trace_array *tr, const char *module, bool enable)
{
	struct ftrace_mod_load *wait;

	/* A copy of the filter must have either the waiting filter or its functions. */
	guard(mutex)(&tr->ops->func_hash->regex_lock);
	while ((wait = mod_wait_take(tr, module, enable))) {
		int ret = mod_wait_apply_one(tr, wait, enable);

		if (ret < 0)
			pr_warn("%s: a filter that waited for it is lost, error %d\n",
				wait->module, ret);
		mod_wait_free_one(wait);
	}
}

/**
 * ftrace_mod_wait_over - apply waiting filters whose modules were loaded while the
 *	filters were written
 * @tr: the trace array
 * @enable: true: set_ftrace_filter; false: set_ftrace_notrace
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 */
void ftrace_mod_wait_over(struct trace_array *tr, bool enable)
{
	mod_wait_apply_all(tr, NULL, enable);
}

/**
 * ftrace_mod_wait_apply - apply the filters that wait for a module
 * @mod: the module, just loaded
 *
 * Context: Process context, may sleep. Takes trace_types_lock and ftrace_lock.
 */
void ftrace_mod_wait_apply(struct module *mod)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (!tr->ops)
			continue;
		mod_wait_apply_all(tr, mod->name, true);
		mod_wait_apply_all(tr, mod->name, false);
	}
}
#else
bool ftrace_mod_is_there(const char *module)
{
	return true;
}

void ftrace_mod_wait_over(struct trace_array *tr, bool enable)
{
}
#endif

/* Remove the addresses of a range from a filter. */
static void mod_wait_forget_range(struct ftrace_hash *hash, unsigned long start, unsigned long end)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	unsigned long flags;
	int i;

	if (!hash || !hash->count)
		return;
	/*
	 * If all functions of the filter are removed, the filter must not mean all
	 * functions, not even for a moment: fgraph.c reads the filter without a
	 * lock.
	 */
	flags = hash->flags;
	hash->flags |= FTRACE_HASH_FL_MOD;
	/*
	 * Write the flag before the count. ftrace_hash_empty() of trace.h has no
	 * barrier to pair with, and reads the count first.
	 */
	smp_wmb();
	for_each_ftrace_entry(hash, entry, tmp, i) {
		if (entry->ip < start || entry->ip >= end)
			continue;
		hlist_del_rcu(&entry->hlist);
		hash->count--;
		kfree_rcu_mightsleep(entry);
	}
	if (hash->count)
		hash->flags = flags;
}

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
		mod_wait_forget_range(rcu_dereference_protected(filter->filter_hash, true),
				      start, end);
		mod_wait_forget_range(rcu_dereference_protected(filter->notrace_hash, true),
				      start, end);
	}
}
