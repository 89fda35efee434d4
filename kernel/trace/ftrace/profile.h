/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The function profiler: how often each function was called, and for how long.
 */
#ifndef _FTRACE_PROFILE_H
#define _FTRACE_PROFILE_H

struct dentry;

#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_tracefs(struct dentry *d_tracer);
#else
static inline void ftrace_profile_tracefs(struct dentry *d_tracer) { }
#endif

#endif
