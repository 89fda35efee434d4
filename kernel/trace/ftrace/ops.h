/* SPDX-License-Identifier: GPL-2.0-only */
/* Ops: registered, unregistered, switched on and off. */
#ifndef _FTRACE_OPS_H
#define _FTRACE_OPS_H

#include <linux/ftrace.h>

extern struct list_head ftrace_ops_registered;

/* Registered ops, youngest first; ftrace_lock held. */
#define for_each_ftrace_ops(ops)	\
	list_for_each_entry(ops, &ftrace_ops_registered, list)

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

void ftrace_ops_init(struct ftrace_ops *ops);
bool ftrace_ops_active(const struct ftrace_ops *ops);
int ftrace_ops_plan(struct ftrace_ops *ops, struct ftrace_ops *where, unsigned int flags);
int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);
int ftrace_ops_start(struct ftrace_ops *ops);
int ftrace_ops_stop(struct ftrace_ops *ops);
void ftrace_ops_stop_wait(struct ftrace_ops *ops);
bool ftrace_clashes_unseen(struct ftrace_ops *ops, struct ftrace_hash *old,
			   struct ftrace_hash *filter);
int ftrace_set_enabled(bool on);

#endif
