// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of a filter: begin, words, commit.
 *
 * A change works on a copy, which takes the place of the filter at the end. Files, the kernel's own
 * calls, boot parameters and modules all change a filter so. A refused word changes nothing.
 *
 * A word `function:mod:module' stays with its trace array. While the module is not loaded, the word
 * waits, and the file shows it as it was written. When the module is loaded, its functions that
 * match are in the filter instead. When the module goes or fails to load, they leave, and the word
 * waits again: a driver can fail its first load and succeed with the second. After an unload it is
 * not shown.
 *
 * Such a word goes when the file is written with O_TRUNC, when `!' removes it, or when the filter
 * loses its last function although no word waits: then it is empty, and means all functions.
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

static void mod_word_free(struct ftrace_mod_word *word)
{
	list_del(&word->list);
	kfree(word->func);
	kfree(word->module);
	kfree(word);
}

/**
 * ftrace_mod_words_free - free words for modules
 * @words: a list that only the caller uses
 */
void ftrace_mod_words_free(struct list_head *words)
{
	struct ftrace_mod_word *word, *tmp;

	list_for_each_entry_safe(word, tmp, words, list)
		mod_word_free(word);
}

static struct ftrace_mod_word *mod_word_add(struct list_head *words, const char *func,
					    const char *module)
{
	struct ftrace_mod_word *word = kzalloc(sizeof(*word), GFP_KERNEL);

	if (!word)
		return NULL;
	list_add(&word->list, words);
	word->func = kstrdup(func, GFP_KERNEL);
	word->module = kstrdup(module, GFP_KERNEL);
	if (word->func && word->module)
		return word;
	mod_word_free(word);
	return NULL;
}

/* An empty name means all names. */
static bool mod_word_same_func(const char *a, const char *b)
{
	return !strcmp(*a ? a : "*", *b ? b : "*");
}

/* A word that is there already, shown or not, is the last one again, waits, and is shown. */
static int mod_word_add_again(struct list_head *words, const char *func, const char *module)
{
	struct ftrace_mod_word *word;

	list_for_each_entry(word, words, list) {
		if (strcmp(word->module, module) || !mod_word_same_func(func, word->func))
			continue;
		word->text = NULL;
		word->hidden = false;
		list_move(&word->list, words);
		return 0;
	}
	return mod_word_add(words, func, module) ? 0 : -ENOMEM;
}

/* Remove words; `*' or an empty @func are all words for the module. Returns if there was one. */
static bool mod_word_del(struct list_head *words, const char *func, const char *module)
{
	struct ftrace_mod_word *word, *tmp;
	bool found = false;

	list_for_each_entry_safe(word, tmp, words, list) {
		if (strcmp(word->module, module) ||
		    (!mod_word_same_func(func, "*") && !mod_word_same_func(func, word->func)))
			continue;
		mod_word_free(word);
		found = true;
	}
	return found;
}

/* Does a word wait, for @module or, if that is NULL, for any? */
static bool mod_words_wait(struct list_head *words, const char *module)
{
	struct ftrace_mod_word *word;

	list_for_each_entry(word, words, list)
		if (!word->text && (!module || !strcmp(word->module, module)))
			return true;
	return false;
}

/*
 * Where is the text of a module? NULL if it is not loaded. A module that is being unloaded may have
 * lost its sites already.
 */
static const void *mod_word_text(const char *module)
{
#ifdef CONFIG_MODULES
	struct module *mod;

	guard(preempt)();
	mod = find_module(module);
	return mod && mod->state != MODULE_STATE_GOING ? mod->mem[MOD_TEXT].base : NULL;
#else
	/* Nothing can wait. */
	return module;
#endif
}

/**
 * ftrace_filter_of - the filter of an ops
 * @ops: the ops; with its trace array, if it is the ops of one
 * @wanted: true: functions to trace; false: functions not to trace
 */
struct ftrace_filter ftrace_filter_of(struct ftrace_ops *ops, bool wanted)
{
	struct trace_array *tr = ops->flags & FTRACE_OPS_FL_PID ? ops->private : NULL;

	if (tr && tr->ops != ops)
		tr = NULL;
	return (struct ftrace_filter){
		.tr = tr, .ops = ops, .wanted = wanted,
		.hash = wanted ? &ops->func_hash->filter_hash : &ops->func_hash->notrace_hash,
		.words = tr ? ftrace_mod_words_of(tr, wanted) : NULL };
}

/**
 * ftrace_edit_begin - begin to change a filter
 * @edit: the change; ftrace_edit_commit() or ftrace_edit_end() must follow, also after an error
 * @filter: the filter
 * @empty: begin with an empty filter instead of a copy
 *
 * Context: Process context, may sleep. regex_lock of the filter of an ops held. Takes ftrace_lock.
 * Return: 0, or -ENOMEM.
 */
int ftrace_edit_begin(struct ftrace_edit *edit, const struct ftrace_filter *filter, bool empty)
{
	struct ftrace_mod_word *word, *copy;

	edit->filter = *filter;
	INIT_LIST_HEAD(&edit->words);
	guard(mutex)(&ftrace_lock);
	edit->gen = ftrace_tables_gen;
	edit->hash = ftrace_hash_dup(empty ? NULL : ftrace_locked(*filter->hash));
	if (!edit->hash)
		return -ENOMEM;
	if (!filter->words || empty)
		return 0;
	/* mod_word_add() adds at the head, so walk backwards to keep the order. */
	list_for_each_entry_reverse(word, filter->words, list) {
		copy = mod_word_add(&edit->words, word->func, word->module);
		if (!copy)
			return -ENOMEM;
		copy->text = word->text;
		copy->hidden = word->hidden;
	}
	return 0;
}

/* After `function:mod:module' was matched with @ret: an exact name of a module can wait. */
static int edit_mod_word(struct ftrace_edit *edit, const char *func, const char *module, int ret)
{
	if (ret == -ENOMEM)
		return ret;
	if (*func == '!')
		return mod_word_del(&edit->words, func + 1, module) ? 0 : ret;
	if (ret && *module && !strpbrk(module, "!*?[\\") && !mod_word_text(module))
		return mod_word_add_again(&edit->words, func, module);
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
	int ret;

	if (name && strcmp(name, "mod"))
		return edit->command ? edit->command(edit, func, name, params) : -EINVAL;
	guard(mutex)(&ftrace_lock);
	ret = ftrace_hash_word(edit->hash, func, params);
	return params && edit->filter.words ? edit_mod_word(edit, func, params, ret) : ret;
}

/* Drop functions whose module was unloaded after the change began. */
static void edit_drop_gone(struct ftrace_edit *edit)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	struct ftrace_table *t;
	int i;

	if (edit->gen == ftrace_tables_gen)
		return;
	for_each_ftrace_entry(edit->hash, entry, tmp, i) {
		if (ftrace_find_site(entry->ip, &t))
			continue;
		ftrace_hash_del(edit->hash, entry);
		if (!edit->hash->count)
			edit->hash->flags |= FTRACE_HASH_UNLOADED;
	}
}

/*
 * Words whose modules have come, perhaps back to another place, become functions. Words whose
 * modules have gone wait again. The sites of a module do not go while ftrace_lock is held.
 */
static int edit_apply_words(struct ftrace_edit *edit)
{
	struct ftrace_mod_word *word;

	list_for_each_entry(word, &edit->words, list) {
		const void *text = mod_word_text(word->module);
		int ret = 0;

		if (text == word->text)
			continue;
		if (text)
			ret = ftrace_hash_word(edit->hash, word->func, word->module);
		if (ret == -ENOMEM)
			return ret;
		/* A word need not name any function, and must not mean all functions then. */
		if (text && !edit->hash->count)
			edit->hash->flags |= FTRACE_HASH_UNLOADED;
		word->text = text;
		word->hidden = true;
	}
	return 0;
}

/* The new words for modules take the place of the old ones; @empty: and mean nothing any more. */
static void edit_replace_words(struct ftrace_edit *edit, bool empty)
{
	if (!edit->filter.words)
		return;
	ftrace_mod_words_free(edit->filter.words);
	if (!empty)
		list_splice_init(&edit->words, edit->filter.words);
}

static int edit_install(struct ftrace_edit *edit)
{
	struct ftrace_filter *filter = &edit->filter;
	bool empty;
	int ret;

	guard(mutex)(&ftrace_lock);
	edit_drop_gone(edit);
	ret = edit_apply_words(edit);
	if (ret)
		return ret;
	/* An empty filter means all functions, unless functions were unloaded or may still come. */
	if (edit->hash->flags & FTRACE_HASH_FL_GONE || mod_words_wait(&edit->words, NULL))
		edit->hash->flags |= FTRACE_HASH_FL_MOD;
	else
		edit->hash->flags &= ~FTRACE_HASH_FL_MOD;
	empty = ftrace_hash_empty(edit->hash);
	if (filter->replace)
		filter->replace(filter->hash, no_free_ptr(edit->hash));
	else
		ret = ftrace_ops_update_hash(filter->ops, filter->hash, &edit->hash);
	if (!ret)
		edit_replace_words(edit, empty);
	return ret;
}

/**
 * ftrace_edit_commit - end a change, and install the new filter
 * @edit: the change
 * @ret: 0, or the error for which the filter stays as it is
 *
 * Context: Process context, may sleep. regex_lock of the filter of an ops held. Takes ftrace_lock.
 * Return: @ret; -ENOMEM, or an error of ftrace_ops_update_hash(), with nothing changed.
 */
int ftrace_edit_commit(struct ftrace_edit *edit, int ret)
{
	if (!ret)
		ret = edit_install(edit);
	ftrace_edit_end(edit);
	return ret;
}

/* Ends a change, and frees what it has. The filter stays as it is. */
void ftrace_edit_end(struct ftrace_edit *edit)
{
	ftrace_mod_words_free(&edit->words);
	ftrace_hash_free(edit->hash);
	edit->hash = NULL;
}

#ifdef CONFIG_MODULES
/* While the lock is held, nobody copies a filter that has neither a word nor its functions. */
static int mod_words_apply(struct trace_array *tr, bool wanted, const char *module)
{
	struct ftrace_filter filter = ftrace_filter_of(tr->ops, wanted);
	struct ftrace_edit edit = { };

	guard(mutex)(&tr->ops->func_hash->regex_lock);
	if (!mod_words_wait(filter.words, module))
		return 0;
	return ftrace_edit_commit(&edit, ftrace_edit_begin(&edit, &filter, false));
}

/*
 * Words that wait for @module, just loaded, become functions. Takes trace_types_lock and
 * ftrace_lock.
 */
void ftrace_mod_words_apply(const char *module)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		for (int wanted = 0; wanted < 2; wanted++) {
			int ret = mod_words_apply(tr, wanted, module);

			if (ret)
				pr_warn("%s: a filter that waited for it is not applied, error %d\n",
					module, ret);
		}
	}
}

static void mod_words_wait_again(struct list_head *words, const char *module, bool failed)
{
	struct ftrace_mod_word *word;

	list_for_each_entry(word, words, list) {
		if (!word->text || strcmp(word->module, module))
			continue;
		word->text = NULL;
		word->hidden = !failed;
	}
}

/*
 * The functions of @module, which was unloaded or has failed to load, have left the filters. Their
 * words wait again. Takes trace_types_lock and ftrace_lock.
 */
void ftrace_mod_words_wait(const char *module, bool failed)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		guard(mutex)(&tr->ops->func_hash->regex_lock);
		guard(mutex)(&ftrace_lock);
		mod_words_wait_again(&tr->mod_trace, module, failed);
		mod_words_wait_again(&tr->mod_notrace, module, failed);
	}
}
#endif
