/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that hold a set of functions: reading, writing, applying. */
#ifndef _FTRACE_FILTER_FILE_H
#define _FTRACE_FILTER_FILE_H

#include <linux/fs.h>

#include "core.h"

/**
 * struct ftrace_set - a set of functions that a file holds
 * @tr: the trace array that it belongs to; NULL if there is none
 * @ops: the ops whose filter it is; NULL if @replace takes a new set
 * @hash: where the set is
 * @lock: held while the set and the filters that wait for modules are copied
 * @flag: FTRACE_ITER_FILTER or FTRACE_ITER_NOTRACE
 * @replace: puts another set in its place, which it uses or frees; NULL for the
 *	filter of an ops, whose change can fail
 */
struct ftrace_set {
	struct trace_array		*tr;
	struct ftrace_ops		*ops;
	struct ftrace_hash __rcu	**hash;
	struct mutex			*lock;
	int				flag;
	void (*replace)(struct ftrace_hash __rcu **hash, struct ftrace_hash *set);
};

int ftrace_process_word(struct trace_array *tr, struct ftrace_hash *hash,
			struct list_head *waits, char *word, bool enable);
int ftrace_set_open(struct file *file, const struct ftrace_set *set);
int ftrace_set_flush(struct file *file, fl_owner_t id);

#endif
