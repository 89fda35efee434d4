/* SPDX-License-Identifier: GPL-2.0-only */
/* What an ops wants of a call site. */
#ifndef _FTRACE_WANTS_H
#define _FTRACE_WANTS_H

#include "hash.h"

bool ftrace_hash_wants(struct ftrace_ops_hash *hash, unsigned long ip);
bool ftrace_ops_wants(struct ftrace_ops *ops, unsigned long ip);
bool ftrace_ops_exact(struct ftrace_ops *ops, unsigned long ip);
unsigned long ftrace_direct_of(struct ftrace_ops *ops, unsigned long ip);

/* Does a direct caller have the address to call in each entry of its filter? */
static inline bool ftrace_direct_is_many(const struct ftrace_ops *ops)
{
#ifdef CONFIG_HAVE_SINGLE_FTRACE_DIRECT_OPS
	return ops->flags & FTRACE_OPS_FL_DIRECT && !ops->direct_call;
#else
	return false;
#endif
}

/* The ops itself if no ops runs under it, else each ops that runs under it. */
#define for_each_ftrace_sub(_sub, _ops)					\
	for ((_sub) = ftrace_sub_after(_ops, NULL); (_sub);		\
	     (_sub) = ftrace_sub_after(_ops, _sub))

static inline struct ftrace_ops *ftrace_sub_after(struct ftrace_ops *ops,
						  struct ftrace_ops *sub)
{
	if (list_empty(&ops->subop_list))
		return sub ? NULL : ops;
	if (!sub)
		return list_first_entry(&ops->subop_list, struct ftrace_ops, list);
	return list_is_last(&sub->list, &ops->subop_list) ? NULL : list_next_entry(sub, list);
}

#endif
