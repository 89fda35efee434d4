/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans: which sites move to which class, worked out before a byte is written.
 */
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
 * @on: it is to have the sites that its filter lets through; if not, none
 */
struct ftrace_change {
	struct ftrace_ops	*ops;
	bool			on;
};

/**
 * struct ftrace_scope - the sites that a plan looks at
 * @all: all sites
 * @table: only sites of this table
 * @hash: if @all is not set, the sites in either of these, but not those in both
 *	alike, which a change from the one to the other leaves as they are; with
 *	none and a @table, all sites of that
 */
struct ftrace_scope {
	bool			all;
	struct ftrace_table	*table;
	struct ftrace_hash	*hash[2];
};

/**
 * enum ftrace_plan_flags - what kind of change a plan is
 * @FTRACE_PLAN_NAMED: functions are asked for now: one that was asked for by name
 *	and cannot be had is an error
 * @FTRACE_PLAN_AGREED: the ops had these sites before, and agreed to share them
 * @FTRACE_PLAN_REMOVES: the only ops of the plan is being unregistered: it loses
 *	all sites, and all slots that call it are switched off; needs no memory
 */
enum ftrace_plan_flags {
	FTRACE_PLAN_NAMED	= BIT(0),
	FTRACE_PLAN_AGREED	= BIT(1),
	FTRACE_PLAN_REMOVES	= BIT(2),
};

int ftrace_plan_run(const struct ftrace_change *changes, unsigned int nr,
		    const struct ftrace_scope *scope, unsigned int flags);

#endif
