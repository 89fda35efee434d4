/* SPDX-License-Identifier: GPL-2.0-only */
/* Function probes: what a command in set_ftrace_filter attaches to functions. */
#ifndef _FTRACE_PROBES_H
#define _FTRACE_PROBES_H

#include <linux/types.h>

struct ftrace_func_entry;
struct ftrace_func_probe;
struct ftrace_hash;
struct seq_file;
struct trace_array;

/**
 * struct ftrace_probe_iter - a position in the list of all probed functions
 * @probe: the probe
 * @entry: one of the functions of @probe
 * @bucket: the bucket of @entry in the hash of the functions of @probe
 *
 * Valid while ftrace_lock is held.
 */
struct ftrace_probe_iter {
	struct ftrace_func_probe	*probe;
	struct ftrace_func_entry	*entry;
	int				bucket;
};

bool ftrace_probe_first(struct ftrace_probe_iter *iter, struct trace_array *tr);
bool ftrace_probe_next(struct ftrace_probe_iter *iter);
int ftrace_probe_show(struct seq_file *m, const struct ftrace_probe_iter *iter);

void ftrace_forget_probes(unsigned long start, unsigned long end);

#endif
