/* SPDX-License-Identifier: GPL-2.0-only */
/* What kernel.ftrace_enabled means for ops: nothing, as it cannot become 0. */
#ifndef _FTRACE_SYSCTL_H
#define _FTRACE_SYSCTL_H

#include <linux/ftrace.h>

/* No user can switch all functions off. */
static inline bool ftrace_all_off(void)
{
	return false;
}

static inline bool ftrace_clashes_unseen(struct ftrace_ops *ops, struct ftrace_hash *old,
					 struct ftrace_hash *filter)
{
	return false;
}

static inline int ftrace_ask_unseen(struct ftrace_ops *direct, struct ftrace_hash *funcs)
{
	return 0;
}

static inline unsigned int ftrace_drop_rivals(struct ftrace_ops **set, unsigned int nr)
{
	return nr;
}

#endif
