// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of a filter: begin, words, commit.
 *
 * A change works on a copy, which takes the place of the filter at the end. Files, the kernel's own
 * calls and boot parameters all change a filter so. A word that is refused changes nothing.
 *
 * A word `function:mod:module' stays with its trace array as a pending filter. While the module is
 * not loaded, it waits, and the file shows it as it was written. When the module is loaded, its
 * functions that match are in the filter instead. When the module goes or fails to load, they
 * leave, and the word waits again: a driver can fail its first load and succeed with the second.
 * After an unload it is not shown.
 *
 * A pending filter goes when the file is written with O_TRUNC, when `!' removes it, or when the
 * filter loses its last function although no word waits: then it is empty, and means all functions.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"
#include "filter_edit.h"
#include "hash.h"
#include "match.h"
#include "ops.h"
#include "table.h"

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

/* The filter of an ops; with @tr, of its trace array. */
struct ftrace_set ftrace_set_of(struct ftrace_ops *ops, struct trace_array *tr, bool enable)
{
	return (struct ftrace_set){
		.tr = tr, .ops = ops, .hash = ftrace_hash_of(ops->func_hash, enable),
		.pending = tr ? ftrace_pending_of(tr, enable) : NULL, .enable = enable };
}

static int edit_copy_pending(struct ftrace_edit *edit)
{
	struct ftrace_mod_load *p;

	/* pending_add() adds at the head, so walk backwards to keep the order. */
	list_for_each_entry_reverse(p, edit->set.pending, list)
		if (pending_add(&edit->pending, p->func, p->module, p->enable,
				pending_word_of(p)->text))
			return -ENOMEM;
	if (pending_waits(&edit->pending) && !(edit->hash->flags & FTRACE_HASH_FL_GONE))
		edit->hash->flags &= ~FTRACE_HASH_FL_MOD;
	return 0;
}

/**
 * ftrace_edit_begin - begin to change a filter
 * @edit: the change; ftrace_edit_end() frees what it has, also after an error
 * @set: the filter
 * @empty: begin with an empty filter instead of a copy
 *
 * Context: Process context, may sleep. regex_lock of the filter of an ops held. Takes ftrace_lock.
 * Return: 0, or -ENOMEM.
 */
int ftrace_edit_begin(struct ftrace_edit *edit, const struct ftrace_set *set, bool empty)
{
	edit->set = *set;
	INIT_LIST_HEAD(&edit->pending);
	guard(mutex)(&ftrace_lock);
	edit->hash = ftrace_hash_dup(empty ? NULL : ftrace_locked(*set->hash));
	if (!edit->hash)
		return -ENOMEM;
	return set->pending && !empty ? edit_copy_pending(edit) : 0;
}

/* `function:mod:module': if the module is not loaded, the word waits. */
static int edit_mod_word(struct ftrace_edit *edit, char *func, const char *module)
{
	bool del = *func == '!';
	const char *glob = func + del;
	int ret = ftrace_hash_word(edit->hash, func, module);

	if (ret == -ENOMEM || !edit->set.pending)
		return ret;
	if (del)
		return pending_del(&edit->pending, glob, module) ? ret : 0;
	if (ret && pending_can_wait(module))
		return pending_add_again(&edit->pending, glob, module);
	return ret;
}

/**
 * ftrace_edit_word - change a filter by a word, or carry out the command that it is
 * @edit: the change
 * @word: name, glob, number or address of functions to add, with `!' before it to remove;
 *	"function:mod:module"; or "function:command:parameters". Modified
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 * Return: 0; 1 if the word is a command; -EINVAL if it names no function and no command; or
 *	another error. After an error nothing has changed.
 */
int ftrace_edit_word(struct ftrace_edit *edit, char *word)
{
	char *params = word, *func = strsep(&params, ":"), *name = strsep(&params, ":");

	if (name && strcmp(name, "mod"))
		return edit->command ? edit->command(edit, func, name, params) : -EINVAL;
	guard(mutex)(&ftrace_lock);
	return params ? edit_mod_word(edit, func, params) :
			ftrace_hash_word(edit->hash, func, NULL);
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

/* Drop functions whose module was unloaded after the change began. */
static void edit_drop_gone(struct ftrace_edit *edit)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	struct ftrace_table *t;
	int i;

	for_each_ftrace_entry(edit->hash, entry, tmp, i) {
		if (ftrace_find_site(entry->ip, &t))
			continue;
		ftrace_hash_del(edit->hash, entry);
		if (!edit->hash->count)
			edit->hash->flags |= FTRACE_HASH_UNLOADED;
	}
}

/* The new pending filters take the place of the old ones. */
static void edit_replace_pending(struct ftrace_edit *edit)
{
	LIST_HEAD(old);

	list_splice_init(edit->set.pending, &old);
	if (ftrace_hash_empty(edit->hash))
		ftrace_pending_free(&edit->pending);
	list_splice_init(&edit->pending, edit->set.pending);
	ftrace_pending_free(&old);
}

/**
 * ftrace_edit_commit - the filter becomes what it was changed to
 * @edit: the change, which ends
 *
 * Context: Process context, may sleep. regex_lock of the filter of an ops held. Takes ftrace_lock.
 * Return: 0, or an error of ftrace_ops_update_hash() with nothing changed.
 */
int ftrace_edit_commit(struct ftrace_edit *edit)
{
	struct ftrace_set *set = &edit->set;
	int ret;

	guard(mutex)(&ftrace_lock);
	if (edit->unlocked)
		edit_drop_gone(edit);
	if (set->replace) {
		set->replace(set->hash, no_free_ptr(edit->hash));
		return 0;
	}
	pending_update(&edit->pending);
	/* A filter for modules alone must not mean all functions. */
	if (pending_waits(&edit->pending))
		edit->hash->flags |= FTRACE_HASH_FL_MOD;
	ret = ftrace_ops_update_hash(set->ops, set->hash, edit->hash);
	if (!ret && set->pending)
		edit_replace_pending(edit);
	return ret;
}

/* Frees what a change has. */
void ftrace_edit_end(struct ftrace_edit *edit)
{
	ftrace_hash_free(edit->hash);
	edit->hash = NULL;
	ftrace_pending_free(&edit->pending);
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
	return ret > 0 ? ftrace_ops_update_hash(tr->ops, orig, hash) : ret;
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
