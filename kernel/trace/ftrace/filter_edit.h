/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of a filter: begin, words, commit. */
#ifndef _FTRACE_FILTER_EDIT_H
#define _FTRACE_FILTER_EDIT_H

#include "../trace.h"
#include "hash.h"

/**
 * struct ftrace_mod_word - a word `function:mod:module' that stays with a filter
 * @list: in the words of the filter, the youngest first
 * @func: the functions; empty means all
 * @module: the name of the module
 * @text: where the text of the module was when its functions were put into the filter; NULL while
 *	the word waits for the module
 * @hidden: the word waits, but is not shown: its module was unloaded. Tools expect that a filter is
 *	empty then.
 */
struct ftrace_mod_word {
	struct list_head	list;
	char			*func;
	char			*module;
	const void		*text;
	bool			hidden;
};

/* The words of set_ftrace_filter, or of set_ftrace_notrace if not @wanted. */
static inline struct list_head *ftrace_mod_words_of(struct trace_array *tr, bool wanted)
{
	return wanted ? &tr->mod_trace : &tr->mod_notrace;
}

/**
 * struct ftrace_filter - a filter that can be changed
 * @tr: the trace array of the filter; NULL if there is none
 * @ops: the ops of the filter; NULL if @replace is set
 * @hash: where the filter is
 * @words: where its words for modules are; NULL if no word can wait
 * @wanted: true: functions to trace (wanted); false: functions not to trace
 * @replace: installs a new filter, which this function uses or frees; called with
 *	ftrace_lock held; NULL for the filter of an ops, whose change can fail
 */
struct ftrace_filter {
	struct trace_array		*tr;
	struct ftrace_ops		*ops;
	struct ftrace_hash __rcu	**hash;
	struct list_head		*words;
	bool				wanted;
	void (*replace)(struct ftrace_hash __rcu **hash, struct ftrace_hash *new);
};

/**
 * struct ftrace_edit - a filter as it will be
 * @filter: the filter that is changed
 * @command: carries out a word `function:name:parameters'; NULL if such a word is wrong
 * @gen: ftrace_tables_gen when the change began
 * @hash: the new filter; NULL before the change begins, and after it ended
 * @words: its words for modules
 */
struct ftrace_edit {
	struct ftrace_filter	filter;
	int (*command)(struct ftrace_edit *edit, char *func, char *name, char *params);
	u64			gen;
	struct ftrace_hash	*hash;
	struct list_head	words;
};

struct ftrace_filter ftrace_filter_of(struct ftrace_ops *ops, bool wanted);
int ftrace_edit_begin(struct ftrace_edit *edit, const struct ftrace_filter *filter, bool empty);
int ftrace_edit_word(struct ftrace_edit *edit, char *word);
int ftrace_edit_commit(struct ftrace_edit *edit, int ret);
void ftrace_edit_end(struct ftrace_edit *edit);

void ftrace_mod_words_free(struct list_head *words);
void ftrace_mod_words_apply(const char *module);
void ftrace_mod_words_wait(const char *module, bool failed);

#endif
