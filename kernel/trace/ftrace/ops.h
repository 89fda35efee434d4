/* SPDX-License-Identifier: GPL-2.0-only */
/* Ops: registered and unregistered. */
#ifndef _FTRACE_OPS_H
#define _FTRACE_OPS_H

#include <linux/ftrace.h>

extern struct list_head ftrace_ops_registered;

/* Registered ops, youngest first; ftrace_lock held. */
#define for_each_ftrace_ops(ops)	\
	list_for_each_entry(ops, &ftrace_ops_registered, list)

#define for_each_ftrace_ops_oldest_first(ops)	\
	list_for_each_entry_reverse(ops, &ftrace_ops_registered, list)

void ftrace_ops_init_with(struct ftrace_ops *ops, struct ftrace_ops_hash *filter);
void ftrace_ops_init(struct ftrace_ops *ops);
bool ftrace_ops_active(const struct ftrace_ops *ops);
int ftrace_ops_plan(struct ftrace_ops *ops, struct ftrace_ops *where, unsigned int flags);
int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func, struct ftrace_guard *guard);
int ftrace_ops_start(struct ftrace_ops *ops);
int ftrace_ops_stop(struct ftrace_ops *ops);
void ftrace_ops_stop_wait(struct ftrace_ops *ops);
int ftrace_ops_replace(struct ftrace_ops *old, struct ftrace_ops *new);

/* subops.c: ops that run under another ops */
int ftrace_subops_set_guard(struct ftrace_ops *ops);

/* filter.c: the functions that an ops traces */
int ftrace_ops_update_hash(struct ftrace_ops *ops, struct ftrace_hash __rcu **orig,
			   struct ftrace_hash **new);
void ftrace_forget_sites(unsigned long start, unsigned long end);
void ftrace_note_lone_ops(struct ftrace_ops *ops);

#endif
