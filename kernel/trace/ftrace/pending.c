// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending filters: filters for modules that are not loaded yet, `function:mod:module'.
 *
 * Such a word stays with its trace array. While the module is not loaded, it waits, and the file
 * shows it as it was written. When the module is loaded, its functions that match are in the
 * filter instead. When the module goes or fails to load, they leave, and the word waits again: a
 * driver can fail its first load and succeed with the second. After an unload it is not shown.
 *
 * A word goes when the file is written with O_TRUNC, when `!' removes it, or when the filter
 * loses its last function although no word waits: then it is empty, and means all functions.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"
#include "hash.h"
#include "match.h"
#include "ops.h"
#include "pending.h"

/* What the base has of a word, and where the text of its module was when it was applied. */
struct pending_word {
	struct ftrace_mod_load	load;
	const void		*text;
};

static struct pending_word *pending_word_of(struct ftrace_mod_load *p)
{
	return container_of(p, struct pending_word, load);
}

static void pending_free_one(struct ftrace_mod_load *p)
{
	list_del(&p->list);
	kfree(p->func);
	kfree(p->module);
	kfree(pending_word_of(p));
}

static int pending_add(struct list_head *list, const char *func, const char *module,
		       enum ftrace_pending_state state, const void *text)
{
	struct pending_word *word = kzalloc(sizeof(*word), GFP_KERNEL);
	struct ftrace_mod_load *p;

	if (!word)
		return -ENOMEM;
	p = &word->load;
	list_add(&p->list, list);
	p->enable = state;
	p->func = kstrdup(func, GFP_KERNEL);
	p->module = kstrdup(module, GFP_KERNEL);
	word->text = text;
	if (!p->func || !p->module) {
		pending_free_one(p);
		return -ENOMEM;
	}
	return 0;
}

/* An empty name means all names. */
static bool pending_same_func(const char *a, const char *b)
{
	return !strcmp(*a ? a : "*", *b ? b : "*");
}

/* A word that waits already, shown or not, is the last one again, and is shown. */
static int pending_add_again(struct list_head *list, const char *func, const char *module)
{
	struct ftrace_mod_load *p;

	list_for_each_entry(p, list, list) {
		if (strcmp(p->module, module) || !pending_same_func(func, p->func))
			continue;
		p->enable = FTRACE_PENDING_WAITS;
		list_move(&p->list, list);
		return 0;
	}
	return pending_add(list, func, module, FTRACE_PENDING_WAITS, NULL);
}

/* Remove pending filters; `*' or an empty @func are all filters that wait for the module. */
static int pending_del(struct list_head *list, const char *func, const char *module)
{
	struct ftrace_mod_load *p, *tmp;
	int ret = -EINVAL;

	list_for_each_entry_safe(p, tmp, list, list) {
		if (strcmp(p->module, module) ||
		    (!pending_same_func(func, "*") && !pending_same_func(func, p->func)))
			continue;
		pending_free_one(p);
		ret = 0;
	}
	return ret;
}

/* Does one of the words wait for a module? */
static bool pending_waits(struct list_head *list)
{
	struct ftrace_mod_load *p;

	list_for_each_entry(p, list, list)
		if (p->enable != FTRACE_PENDING_APPLIED)
			return true;
	return false;
}

/**
 * ftrace_pending_begin - begin a change of a filter and its pending filters
 * @list: an empty list that only the caller uses; gets a copy of the pending filters
 * @tr: the trace array
 * @hash: a copy of the filter in use
 * @enable: true: set_ftrace_filter; false: set_ftrace_notrace
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or -ENOMEM with @list empty.
 */
int ftrace_pending_begin(struct list_head *list, struct trace_array *tr, struct ftrace_hash *hash,
			 bool enable)
{
	struct ftrace_mod_load *p;

	lockdep_assert_held(&ftrace_lock);
	/* pending_add() adds at the head, so walk backwards to keep the order. */
	list_for_each_entry_reverse(p, ftrace_pending_of(tr, enable), list) {
		if (pending_add(list, p->func, p->module, p->enable, pending_word_of(p)->text)) {
			ftrace_pending_free(list);
			return -ENOMEM;
		}
	}
	if (pending_waits(list) && !(hash->flags & FTRACE_HASH_FL_GONE))
		hash->flags &= ~FTRACE_HASH_FL_MOD;
	return 0;
}

/**
 * ftrace_pending_free - free pending filters
 * @list: list of pending filters that only the caller uses
 */
void ftrace_pending_free(struct list_head *list)
{
	struct ftrace_mod_load *p, *tmp;

	list_for_each_entry_safe(p, tmp, list, list)
		pending_free_one(p);
}

#ifdef CONFIG_MODULES
/*
 * Is the module loaded, so that a filter need not wait? And where is its text? A module that is
 * being unloaded may have lost its sites already.
 */
static bool pending_is_loaded(const char *module, const void **text)
{
	struct module *mod;

	guard(preempt)();
	mod = find_module(module);
	if (!mod || mod->state == MODULE_STATE_GOING)
		return false;
	*text = mod->mem[MOD_TEXT].base;
	return true;
}
#else
/* Without modules nothing can wait. */
static bool pending_is_loaded(const char *module, const void **text)
{
	return true;
}
#endif

/* Only an exact module name can wait; a glob or `!name' means modules loaded now. */
static bool pending_can_wait(const char *module)
{
	const void *text;

	return *module && !strpbrk(module, "!*?[\\") && !pending_is_loaded(module, &text);
}

/**
 * ftrace_pending_word - change a filter by a word with `:mod:'
 * @hash: the filter
 * @pending: list of pending filters that only the caller uses
 * @func: name or glob of the functions to add; with `!' before it, to remove
 * @module: only functions of this module; if the module is not loaded, the word waits in
 *	@pending
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error: -EINVAL if the word names nothing; -ENOMEM.
 */
int ftrace_pending_word(struct ftrace_hash *hash, struct list_head *pending, char *func,
			const char *module)
{
	bool del = *func == '!';
	const char *glob = func + del;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ret = ftrace_hash_word(hash, func, module);
	if (ret == -ENOMEM)
		return ret;
	if (del)
		return pending_del(pending, glob, module) ? ret : 0;
	if (ret && pending_can_wait(module))
		return pending_add_again(pending, glob, module);
	return ret;
}

/*
 * The words were copied when the file was opened. Those of a module that has gone since then wait
 * again. If it has come back elsewhere, its functions are not in the filter yet.
 */
static void pending_update(struct list_head *pending)
{
	struct ftrace_mod_load *p;
	const void *text = NULL;

	list_for_each_entry(p, pending, list) {
		if (p->enable != FTRACE_PENDING_APPLIED)
			continue;
		if (!pending_is_loaded(p->module, &text))
			p->enable = FTRACE_PENDING_UNLOADED;
		else if (text != pending_word_of(p)->text)
			p->enable = FTRACE_PENDING_WAITS;
	}
}

/**
 * ftrace_pending_commit - give a trace array another filter and other pending filters
 * @tr: the trace array
 * @hash: the new filter; the caller keeps it
 * @pending: the new pending filters; the list is empty after success
 * @enable: true: set_ftrace_filter; false: set_ftrace_notrace
 *
 * Context: Process context, may sleep. regex_lock of the filter and ftrace_lock held.
 * Return: 0, or an error of ftrace_ops_update_hash() with nothing changed.
 */
int ftrace_pending_commit(struct trace_array *tr, struct ftrace_hash *hash,
			  struct list_head *pending, bool enable)
{
	struct list_head *used = ftrace_pending_of(tr, enable);
	LIST_HEAD(old);
	int ret;

	lockdep_assert_held(&ftrace_lock);
	pending_update(pending);
	/* A filter for modules alone must not mean all functions. */
	if (pending_waits(pending))
		hash->flags |= FTRACE_HASH_FL_MOD;
	ret = ftrace_ops_update_hash(tr->ops, ftrace_hash_of(tr->ops->func_hash, enable), hash,
				     enable, 0);
	if (ret)
		return ret;
	list_splice_init(used, &old);
	if (ftrace_hash_empty(hash))
		ftrace_pending_free(pending);
	list_splice_init(pending, used);
	ftrace_pending_free(&old);
	return 0;
}

#ifdef CONFIG_MODULES
static int pending_apply_one(struct trace_array *tr, struct ftrace_mod_load *p, bool enable)
{
	struct ftrace_hash __rcu **orig = ftrace_hash_of(tr->ops->func_hash, enable);
	/* Matching writes into the glob, and the word may have to wait again. */
	char *glob __free(kfree) = kstrdup(p->func, GFP_KERNEL);
	struct ftrace_hash *hash __free(ftrace_hash) = ftrace_hash_dup(ftrace_locked(*orig));
	int ret;

	if (!hash || !glob)
		return -ENOMEM;
	ret = ftrace_hash_match(hash, glob, p->module, false);
	return ret > 0 ? ftrace_ops_update_hash(tr->ops, orig, hash, enable, 0) : ret;
}

/*
 * Apply the words of @tr that wait for @module, if @state is FTRACE_PENDING_APPLIED. Otherwise,
 * give @state to those that are applied. Without @module: the words whose modules are loaded. The
 * sites of a module do not go while ftrace_lock is held.
 */
static void pending_set(struct trace_array *tr, const char *module, bool enable,
			enum ftrace_pending_state state)
{
	bool apply = state == FTRACE_PENDING_APPLIED;
	struct ftrace_mod_load *p;

	/* A copy of the filter must have either the pending filter or its functions. */
	guard(mutex)(&tr->ops->func_hash->regex_lock);
	guard(mutex)(&ftrace_lock);
	list_for_each_entry(p, ftrace_pending_of(tr, enable), list) {
		bool applied = p->enable == FTRACE_PENDING_APPLIED;
		const void *text = NULL;
		int ret;

		if (apply == applied || (module && strcmp(p->module, module)) ||
		    (apply && !pending_is_loaded(p->module, &text)))
			continue;
		p->enable = state;
		pending_word_of(p)->text = text;
		ret = apply ? pending_apply_one(tr, p, enable) : 0;
		if (ret < 0)
			pr_warn("%s: a filter that waited for it is not applied, error %d\n",
				p->module, ret);
	}
}

/* Applies filters whose modules were loaded while they were written. Takes ftrace_lock. */
void ftrace_pending_loaded(struct trace_array *tr, bool enable)
{
	pending_set(tr, NULL, enable, FTRACE_PENDING_APPLIED);
}

static void pending_set_all(const char *module, enum ftrace_pending_state state)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		pending_set(tr, module, true, state);
		pending_set(tr, module, false, state);
	}
}

/* Applies the filters that wait for @mod, just loaded. Takes trace_types_lock and ftrace_lock. */
void ftrace_pending_apply(struct module *mod)
{
	pending_set_all(mod->name, FTRACE_PENDING_APPLIED);
}

/*
 * The functions of @module, which was unloaded or has failed to load, have left the filters. Their
 * words wait again. Takes trace_types_lock and ftrace_lock.
 */
void ftrace_pending_gone(const char *module, bool failed)
{
	pending_set_all(module, failed ? FTRACE_PENDING_WAITS : FTRACE_PENDING_UNLOADED);
}
#else
void ftrace_pending_loaded(struct trace_array *tr, bool enable)
{
}
#endif
