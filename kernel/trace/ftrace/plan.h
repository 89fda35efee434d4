/* SPDX-License-Identifier: GPL-2.0-only */
/* Plans: which sites move to which class, determined before the first byte is written. */
#ifndef _FTRACE_PLAN_H
#define _FTRACE_PLAN_H

#include <linux/bits.h>
#include <linux/types.h>

struct ftrace_hash;
struct ftrace_ops;
struct ftrace_table;

/**
 * struct ftrace_change - one ops of a plan
 * @ops: the ops
 * @on: the ops gets the sites that its filter lets through; otherwise no site
 * @where: the ops whose filter changed: @ops itself, or an ops that runs under @ops. With
 *	FTRACE_PLAN_NAMED, what this filter names must be traceable
 */
struct ftrace_change {
	struct ftrace_ops	*ops;
	bool			on;
	struct ftrace_ops	*where;
};

/**
 * struct ftrace_scope - the sites that a plan looks at
 * @all: all sites
 * @table: only sites of this table
 * @hash: if @all is not set: the sites that are in one of these hashes, except sites
 *	that are in both alike, because a change from one hash to the other does not
 *	affect such sites; with no hash and a @table, all sites of the table
 */
struct ftrace_scope {
	bool			all;
	struct ftrace_table	*table;
	struct ftrace_hash	*hash[2];
};

/**
 * enum ftrace_plan_flags - what kind of change a plan is
 * @FTRACE_PLAN_NAMED: An ops is registered, or somebody changes a filter. Fail with -EINVAL if a
 *	site that was named exactly cannot be traced, and with -ENOMEM if too much memory waits
 *	to be freed.
 * @FTRACE_PLAN_AGREED: The ops had these sites before, and agreed to share them. If two
 *	ops cannot share a site, the older one keeps it.
 * @FTRACE_PLAN_REMOVES: The only ops of the plan is being unregistered: it loses all
 *	sites, and all slots that call it are switched off. Needs no memory.
 * @FTRACE_PLAN_KEEPS: The ops get no site that they do not have.
 * @FTRACE_PLAN_SPARES: The only ops of the plan does not get the sites that it cannot share. They
 *	are reported, and the plan goes on.
 */
enum ftrace_plan_flags {
	FTRACE_PLAN_NAMED	= BIT(0),
	FTRACE_PLAN_AGREED	= BIT(1),
	FTRACE_PLAN_REMOVES	= BIT(2),
	FTRACE_PLAN_KEEPS	= BIT(3),
	FTRACE_PLAN_SPARES	= BIT(4),
};

void ftrace_plan_clear(struct ftrace_table *t);
int ftrace_plan_run(const struct ftrace_change *changes, unsigned int nr,
		    const struct ftrace_scope *scope, unsigned int flags);

#endif
