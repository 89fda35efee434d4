/* SPDX-License-Identifier: GPL-2.0-only */
/* set_graph_function and set_graph_notrace. */
#ifndef _FTRACE_GRAPH_FILES_H
#define _FTRACE_GRAPH_FILES_H

#include <linux/init.h>

struct dentry;

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
void __init ftrace_graph_tracefs(struct dentry *d_tracer);
void __init ftrace_graph_early_filters(void);
#else
static inline void ftrace_graph_tracefs(struct dentry *d_tracer) { }
static inline void ftrace_graph_early_filters(void) { }
#endif

#endif
