// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters for modules that are not there yet: `name:mod:module'.
 *
 * Such a word is kept with its trace array until the module comes, shown in the
 * filter file as it was written, and then matched against the module.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"

static void wait_free(struct ftrace_mod_load *wait)
{
	list_del(&wait->list);
	kfree(wait->func);
	kfree(wait->module);
	kfree(wait);
}

/**
 * ftrace_mod_wait_add - keep a filter until its module comes
 * @waits: list of such filters, nobody else sees it
 * @func: name or glob
 * @module: the module
 *
 * Return: 0, or -ENOMEM.
 * Context: may sleep.
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
		wait_free(wait);
		return -ENOMEM;
	}
	return 0;
}

/* Nothing written for a name stands for all names. */
static bool same_func(const char *a, const char *b)
{
	return !strcmp(*a ? a : "*", *b ? b : "*");
}

/**
 * ftrace_mod_wait_del - take a filter back that waits for its module
 * @waits: list of such filters, nobody else sees it
 * @func: name or glob; `*' or nothing for whatever waits for the module
 * @module: the module
 *
 * Return: 0, or -EINVAL if there is none.
 */
int ftrace_mod_wait_del(struct list_head *waits, const char *func, const char *module)
{
	struct ftrace_mod_load *wait, *tmp;
	int ret = -EINVAL;

	list_for_each_entry_safe(wait, tmp, waits, list) {
		if (strcmp(wait->module, module) ||
		    (!same_func(func, "*") && !same_func(func, wait->func)))
			continue;
		wait_free(wait);
		ret = 0;
	}
	return ret;
}

/**
 * ftrace_mod_wait_copy - copy a list of filters that wait for modules
 * @waits: an empty list, nobody else sees it
 * @src: the list
 *
 * Return: 0, or -ENOMEM with @waits empty.
 * Context: ftrace_lock held if @src is that of a trace array; may sleep.
 */
int ftrace_mod_wait_copy(struct list_head *waits, const struct list_head *src)
{
	struct ftrace_mod_load *wait;

	/* Each is added before those that were copied; so it ends in the same order. */
	list_for_each_entry_reverse(wait, src, list) {
		if (ftrace_mod_wait_add(waits, wait->func, wait->module)) {
			ftrace_mod_wait_free(waits);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * ftrace_mod_wait_free - free filters that wait for modules
 * @waits: list of them, nobody else sees it
 */
void ftrace_mod_wait_free(struct list_head *waits)
{
	struct ftrace_mod_load *wait, *tmp;

	list_for_each_entry_safe(wait, tmp, waits, list)
		wait_free(wait);
}

#ifdef CONFIG_MODULES
/**
 * ftrace_mod_is_there - is there anything for a filter to wait for?
 * @module: as in `:mod:module'
 *
 * Return: true if not.
 */
bool ftrace_mod_is_there(const char *module)
{
	guard(preempt)();
	return find_module(module);
}

/*
 * Take the first filter of @tr that waits for @module, or without @module for
 * one that is there, out of its list.
 */
static struct ftrace_mod_load *wait_take(struct trace_array *tr, const char *module,
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

static int apply(struct trace_array *tr, struct ftrace_mod_load *wait, bool enable)
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

static void apply_all(struct trace_array *tr, const char *module, bool enable)
{
	struct ftrace_mod_load *wait;

	/* Whoever copies the filter sees it as one that waits, or as functions. */
	guard(mutex)(&tr->ops->func_hash->regex_lock);
	while ((wait = wait_take(tr, module, enable))) {
		int ret = apply(tr, wait, enable);

		if (ret < 0)
			pr_warn("%s: a filter that waited for it is lost, error %d\n",
				wait->module, ret);
		wait_free(wait);
	}
}

/**
 * ftrace_mod_wait_over - apply filters whose modules came while they were written
 * @tr: the trace array
 * @enable: those of which file
 *
 * Context: may sleep; takes ftrace_lock.
 */
void ftrace_mod_wait_over(struct trace_array *tr, bool enable)
{
	apply_all(tr, NULL, enable);
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
		apply_all(tr, mod->name, true);
		apply_all(tr, mod->name, false);
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

/* Take what lies in a range out of a filter. */
static void forget_in(struct ftrace_hash *hash, unsigned long start, unsigned long end)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	unsigned long flags;
	int i;

	if (!hash || !hash->count)
		return;
	/*
	 * If it was for these functions alone, it must not be for all then, nor
	 * for a moment: fgraph.c looks into it without a lock.
	 */
	flags = hash->flags;
	hash->flags |= FTRACE_HASH_FL_MOD;
	/*
	 * The flag before the count. ftrace_hash_empty() of trace.h has no
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
