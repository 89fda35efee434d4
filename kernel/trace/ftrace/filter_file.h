/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that hold a filter: reading, writing, applying. */
#ifndef _FTRACE_FILTER_FILE_H
#define _FTRACE_FILTER_FILE_H

#include <linux/fs.h>

#include "../trace.h"

/**
 * struct ftrace_set - a filter that a file holds
 * @tr: the trace array of the filter; NULL if there is none
 * @ops: the ops of the filter; NULL if @replace is set
 * @hash: where the filter is
 * @flag: FTRACE_ITER_FILTER or FTRACE_ITER_NOTRACE
 * @replace: installs a new filter, which this function uses or frees; called with
 *	ftrace_lock held; NULL for the filter of an ops, whose change can fail
 */
struct ftrace_set {
	struct trace_array		*tr;
	struct ftrace_ops		*ops;
	struct ftrace_hash __rcu	**hash;
	int				flag;
	void (*replace)(struct ftrace_hash __rcu **hash, struct ftrace_hash *set);
};

int ftrace_set_open(struct file *file, const struct ftrace_set *set);

#endif
