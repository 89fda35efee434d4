/* SPDX-License-Identifier: GPL-2.0-only */
/* Ops that change the instruction pointer, and what they share functions with. */
#ifndef _FTRACE_IPMODIFY_H
#define _FTRACE_IPMODIFY_H

#include <linux/ftrace.h>
#include <linux/mutex.h>

/* Held while direct callers change, on their sites too, and while their owners are asked. */
extern struct mutex direct_mutex;

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
struct ftrace_ops *ftrace_ops_on(unsigned long ip, unsigned long flag);
int ftrace_ipmodify_begin(struct ftrace_ops *ops, struct ftrace_hash *funcs);
void ftrace_ipmodify_end(struct ftrace_ops *ops, struct ftrace_hash *funcs, bool got);
void ftrace_ipmodify_gone(struct ftrace_ops *ops, struct ftrace_hash *funcs);
#else
static inline int
ftrace_ipmodify_begin(struct ftrace_ops *ops, struct ftrace_hash *funcs) { return 0; }
static inline void
ftrace_ipmodify_end(struct ftrace_ops *ops, struct ftrace_hash *funcs, bool got) { }
static inline void
ftrace_ipmodify_gone(struct ftrace_ops *ops, struct ftrace_hash *funcs) { }
#endif

#endif
