// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters for modules that are not there yet: `name:mod:module'.
 *
 * Such a word is kept with its trace array until the module comes, shown in the
 * filter file as it was written, and then matched against the module.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "ftrace_internal.h"

static struct list_head *wait_list(struct trace_array *tr, bool enable)
{
	return enable ? &tr->mod_trace : &tr->mod_notrace;
}

static void wait_free(struct ftrace_mod_load *wait)
{
	list_del(&wait->list);
	kfree(wait->func);
	kfree(wait->module);
	kfree(wait);
}

/**
 * ftrace_mod_wait_add - keep a filter until its module comes
 * @tr: the trace array
 * @func: name or glob
 * @module: the module
 * @enable: true: set_ftrace_filter; false: set_ftrace_notrace
 *
 * Return: 0, or -ENOMEM.
 * Context: may sleep; takes ftrace_lock.
 */
int ftrace_mod_wait_add(struct trace_array *tr, const char *func,
			const char *module, bool enable)
{
	struct ftrace_mod_load *wait = kzalloc(sizeof(*wait), GFP_KERNEL);

	if (!wait)
		return -ENOMEM;
	INIT_LIST_HEAD(&wait->list);
	wait->enable = enable;
	wait->func = kstrdup(func, GFP_KERNEL);
	wait->module = kstrdup(module, GFP_KERNEL);
	if (!wait->func || !wait->module) {
		wait_free(wait);
		return -ENOMEM;
	}
	guard(mutex)(&ftrace_lock);
	list_add(&wait->list, wait_list(tr, enable));
	return 0;
}

/* Nothing written for a name stands for all names. */
static bool same_func(const char *a, const char *b)
{
	return !strcmp(*a ? a : "*", *b ? b : "*");
}

/**
 * ftrace_mod_wait_del - take a filter back that waits for its module
 * @tr: the trace array
 * @func: name or glob; `*' or nothing for whatever waits for the module
 * @module: the module
 * @enable: which file it was written to
 *
 * Return: 0, or -EINVAL if there is none.
 * Context: takes ftrace_lock.
 */
int ftrace_mod_wait_del(struct trace_array *tr, const char *func,
			const char *module, bool enable)
{
	struct ftrace_mod_load *wait, *tmp;
	int ret = -EINVAL;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry_safe(wait, tmp, wait_list(tr, enable), list) {
		if (strcmp(wait->module, module) ||
		    (!same_func(func, "*") && !same_func(func, wait->func)))
			continue;
		wait_free(wait);
		ret = 0;
	}
	return ret;
}

/**
 * ftrace_mod_wait_swap - exchange lists of filters that wait for modules
 * @waits: of a trace array, or NULL
 * @other: the caller's
 *
 * Context: takes ftrace_lock.
 */
void ftrace_mod_wait_swap(struct list_head *waits, struct list_head *other)
{
	LIST_HEAD(tmp);

	if (!waits)
		return;
	guard(mutex)(&ftrace_lock);
	list_splice_init(waits, &tmp);
	list_splice_init(other, waits);
	list_splice(&tmp, other);
}

/**
 * ftrace_mod_wait_free - free filters that wait for modules
 * @waits: the caller's list of them
 */
void ftrace_mod_wait_free(struct list_head *waits)
{
	struct ftrace_mod_load *wait, *tmp;

	list_for_each_entry_safe(wait, tmp, waits, list)
		wait_free(wait);
}

/**
 * ftrace_mod_wait_clear - forget all filters that wait for modules
 * @tr: the trace array, or NULL
 * @enable: those of which file
 *
 * Context: takes ftrace_lock.
 */
void ftrace_mod_wait_clear(struct trace_array *tr, bool enable)
{
	LIST_HEAD(old);

	if (!tr)
		return;
	ftrace_mod_wait_swap(wait_list(tr, enable), &old);
	ftrace_mod_wait_free(&old);
}

#ifdef CONFIG_MODULES
/* Take the first filter of @tr that waits for @mod out of its list. */
static struct ftrace_mod_load *wait_take(struct trace_array *tr, struct module *mod,
					 bool enable)
{
	struct ftrace_mod_load *wait;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry(wait, wait_list(tr, enable), list) {
		if (strcmp(wait->module, mod->name))
			continue;
		list_del_init(&wait->list);
		return wait;
	}
	return NULL;
}

static void apply(struct trace_array *tr, struct module *mod, bool enable)
{
	struct ftrace_ops_hash *filter = tr->ops->func_hash;
	struct ftrace_hash __rcu **orig;
	struct ftrace_mod_load *wait;
	struct ftrace_hash *hash;

	orig = enable ? &filter->filter_hash : &filter->notrace_hash;
	while ((wait = wait_take(tr, mod, enable))) {
		mutex_lock(&filter->regex_lock);
		hash = ftrace_hash_dup(rcu_dereference_protected(*orig, true));
		if (hash && ftrace_hash_match(hash, wait->func, wait->module) > 0) {
			guard(mutex)(&ftrace_lock);
			if (list_empty(wait_list(tr, enable)))
				hash->flags &= ~FTRACE_HASH_FL_MOD;
			ftrace_ops_update_hash(tr->ops, orig, hash, enable);
		}
		mutex_unlock(&filter->regex_lock);
		ftrace_hash_free(hash);
		wait_free(wait);
	}
}

/**
 * ftrace_mod_wait_apply - a module has come that filters may wait for
 * @mod: the module
 *
 * Context: may sleep; takes trace_types_lock and ftrace_lock.
 */
void ftrace_mod_wait_apply(struct module *mod)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (!tr->ops)
			continue;
		apply(tr, mod, true);
		apply(tr, mod, false);
	}
}
#endif

/* Take what lies in a range out of a filter. */
static void forget_in(struct ftrace_hash *hash, unsigned long start, unsigned long end)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	bool any = false;
	int i;

	if (!hash || !hash->count)
		return;
	for_each_ftrace_entry(hash, entry, tmp, i) {
		if (entry->ip < start || entry->ip >= end)
			continue;
		hlist_del_rcu(&entry->hlist);
		kfree_rcu_mightsleep(entry);
		hash->count--;
		any = true;
	}
	/* It was for these functions alone, and must not be for all now. */
	if (any && !hash->count)
		hash->flags |= FTRACE_HASH_FL_MOD;
}

/**
 * ftrace_forget_sites - take sites that go out of the filters of trace arrays
 * @start: first address of the text that goes
 * @end: first address after it
 *
 * Context: may sleep; takes trace_types_lock and ftrace_lock.
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
		forget_in(rcu_dereference_protected(filter->filter_hash, true),
			  start, end);
		forget_in(rcu_dereference_protected(filter->notrace_hash, true),
			  start, end);
	}
}
