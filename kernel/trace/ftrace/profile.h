/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The function profiler: how often each function was called, and for how long.
 */
#ifndef _FTRACE_PROFILE_H
#define _FTRACE_PROFILE_H

#include <linux/ftrace.h>

struct dentry;

extern bool ftrace_profile_children;
extern struct fgraph_ops ftrace_profile_graph;

void ftrace_profile_hit(unsigned long ip);
void ftrace_profile_time(unsigned long ip, u64 time);

#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_tracefs(struct dentry *d_tracer);
#else
static inline void ftrace_profile_tracefs(struct dentry *d_tracer) { }
#endif

#endif
