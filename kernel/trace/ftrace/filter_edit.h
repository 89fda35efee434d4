/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of a filter: begin, words, commit. */
#ifndef _FTRACE_FILTER_EDIT_H
#define _FTRACE_FILTER_EDIT_H

#include "../trace.h"
#include "hash.h"

/**
 * enum ftrace_pending_state - the &ftrace_mod_load.enable of a word
 * @FTRACE_PENDING_WAITS: its module has never been loaded, or has failed to load
 * @FTRACE_PENDING_APPLIED: was matched against the functions of its module, which is loaded
 * @FTRACE_PENDING_UNLOADED: waits, too, but is not shown. Tools expect that a filter is empty when
 *	the module of its functions is unloaded.
 */
enum ftrace_pending_state {
	FTRACE_PENDING_WAITS,
	FTRACE_PENDING_APPLIED,
	FTRACE_PENDING_UNLOADED,
};

/* The pending filters of set_ftrace_filter, or of set_ftrace_notrace if not @enable. */
static inline struct list_head *ftrace_pending_of(struct trace_array *tr, bool enable)
{
	return enable ? &tr->mod_trace : &tr->mod_notrace;
}

/**
 * struct ftrace_set - a filter that can be changed
 * @tr: the trace array of the filter; NULL if there is none
 * @ops: the ops of the filter; NULL if @replace is set
 * @hash: where the filter is
 * @pending: where its pending filters are; NULL if no word can wait
 * @enable: true: functions to trace; false: functions not to trace
 * @replace: installs a new filter, which this function uses or frees; called with
 *	ftrace_lock held; NULL for the filter of an ops, whose change can fail
 */
struct ftrace_set {
	struct trace_array		*tr;
	struct ftrace_ops		*ops;
	struct ftrace_hash __rcu	**hash;
	struct list_head		*pending;
	bool				enable;
	void (*replace)(struct ftrace_hash __rcu **hash, struct ftrace_hash *set);
};

/**
 * struct ftrace_edit - a filter as it will be
 * @set: the filter that is changed
 * @command: carries out a word `function:name:parameters'; NULL if such a word is wrong
 * @unlocked: regex_lock is not held from begin to commit, and a module may go meanwhile
 * @hash: the new filter
 * @pending: the new pending filters
 */
struct ftrace_edit {
	struct ftrace_set	set;
	int (*command)(struct ftrace_edit *edit, char *func, char *name, char *params);
	bool			unlocked;
	struct ftrace_hash	*hash;
	struct list_head	pending;
};

struct ftrace_set ftrace_set_of(struct ftrace_ops *ops, struct trace_array *tr, bool enable);
int ftrace_edit_begin(struct ftrace_edit *edit, const struct ftrace_set *set, bool empty);
int ftrace_edit_word(struct ftrace_edit *edit, char *word);
int ftrace_edit_commit(struct ftrace_edit *edit);
void ftrace_edit_end(struct ftrace_edit *edit);

void ftrace_pending_free(struct list_head *pending);
void ftrace_pending_loaded(struct trace_array *tr, bool enable);
void ftrace_pending_apply(struct module *mod);
void ftrace_pending_gone(const char *module, bool failed);

#endif
