/* SPDX-License-Identifier: GPL-2.0-only */
/* Pending filters: filters for modules that are not loaded yet. */
#ifndef _FTRACE_PENDING_H
#define _FTRACE_PENDING_H

#include "../trace.h"

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

int ftrace_pending_begin(struct list_head *list, struct trace_array *tr, struct ftrace_hash *hash,
			 bool enable);
void ftrace_pending_free(struct list_head *pending);
int ftrace_pending_word(struct ftrace_hash *hash, struct list_head *pending, char *func,
			const char *module);
int ftrace_pending_commit(struct trace_array *tr, struct ftrace_hash *hash,
			  struct list_head *pending, bool enable);
void ftrace_pending_loaded(struct trace_array *tr, bool enable);
void ftrace_pending_apply(struct module *mod);
void ftrace_pending_gone(const char *module, bool failed);

#endif
