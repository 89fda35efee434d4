/* SPDX-License-Identifier: GPL-2.0-only */
/* The class that a site gets by a plan. */
#ifndef _FTRACE_NEXT_CLASS_H
#define _FTRACE_NEXT_CLASS_H

#include "plan.h"

struct ftrace_class;

/* A plan that is being made or carried out. next_class.c changes @heirs only. */
struct ftrace_plan {
	u64				id;
	const struct ftrace_change	*changes;
	unsigned int			nr_changes;
	unsigned int			flags;
	bool				blanket; /* the only ops wants all sites or none */
	bool				small;	/* sites leave no class with an array */
	bool				heirs;	/* a class may take over a trampoline */
	bool				failed;	/* a site left the plan */
	bool				again;	/* the plan must be made again */
	struct ftrace_patch		*batch;
	unsigned int			nr;
};

struct ftrace_class *ftrace_next_class(struct ftrace_plan *p, struct ftrace_class *from,
				       unsigned long ip);
bool ftrace_plan_names(const struct ftrace_plan *p, unsigned long ip);

#endif
