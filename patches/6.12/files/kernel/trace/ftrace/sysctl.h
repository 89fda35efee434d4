/* SPDX-License-Identifier: GPL-2.0-only */
/* sysctl.c: what kernel.ftrace_enabled means for ops. */
#ifndef _FTRACE_SYSCTL_H
#define _FTRACE_SYSCTL_H

#include <linux/ftrace.h>

#ifdef CONFIG_SYSCTL
extern bool ftrace_functions_off;

/* Are all ops off that are not permanent? ftrace_lock held. */
static inline bool ftrace_all_off(void)
{
	return ftrace_functions_off;
}

bool ftrace_clashes_unseen(struct ftrace_ops *ops, struct ftrace_hash *old,
			   struct ftrace_hash *filter);
int ftrace_ask_unseen(struct ftrace_ops *direct, struct ftrace_hash *funcs);

/*
 * An ops whose filter has a site may have been refused there when a module was loaded. The ops
 * must not get the site later because nobody asks again. Of the ops that never share a site,
 * the oldest one stays, as in mod_trace_new_table(). The oldest one is the last of the set.
 */
static inline unsigned int ftrace_drop_rivals(struct ftrace_ops **set, unsigned int nr)
{
	const unsigned long rival_flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT;
	unsigned long seen = 0;
	unsigned int kept = nr;

	for (unsigned int i = nr; i--; ) {
		unsigned long alone = set[i]->flags & rival_flags;

		if (!(seen & alone))
			set[--kept] = set[i];
		seen |= alone;
	}
	memmove(set, set + kept, (nr - kept) * sizeof(*set));
	return nr - kept;
}

#else
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

#endif
