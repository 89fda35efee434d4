/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that hold a set of functions: reading, writing, applying. */
#ifndef _FTRACE_FILTER_FILE_H
#define _FTRACE_FILTER_FILE_H

#include <linux/fs.h>

#include "core.h"

int ftrace_process_word(struct trace_array *tr, struct ftrace_hash *hash,
			struct list_head *waits, char *word, bool enable);
int ftrace_set_open(struct file *file, struct trace_array *tr, struct ftrace_ops *ops,
		    struct ftrace_hash __rcu **hash, int flag);
int ftrace_set_flush(struct file *file, fl_owner_t id);

#endif
