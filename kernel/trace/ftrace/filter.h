/* SPDX-License-Identifier: GPL-2.0-only */
/* The filter of an ops: the functions that the ops traces. */
#ifndef _FTRACE_FILTER_H
#define _FTRACE_FILTER_H

#include <linux/ftrace.h>

int ftrace_ops_update_hash(struct ftrace_ops *ops, struct ftrace_hash __rcu **orig,
			   struct ftrace_hash *new, bool enable);
void ftrace_forget_sites(unsigned long start, unsigned long end);
void ftrace_note_lone_ops(struct ftrace_ops *ops);
void ftrace_forget_file_sites(unsigned long start, unsigned long end);

#endif
