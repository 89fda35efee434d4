/* SPDX-License-Identifier: GPL-2.0-only */
/* Direct callers. */
#ifndef _FTRACE_DIRECT_H
#define _FTRACE_DIRECT_H

#include <linux/ftrace.h>
#include <linux/mutex.h>

extern struct mutex direct_mutex;

static inline unsigned long ftrace_direct_of(const struct ftrace_ops *ops)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return ops->direct_call;
#endif
	return 0;
}

#endif
