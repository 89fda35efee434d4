/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans: which sites move to which class, worked out before a byte is written.
 */
#ifndef _FTRACE_PLAN_H
#define _FTRACE_PLAN_H

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
 * @table: all sites of this table, live or not
 * @hash: else the sites in any of these
 */
struct ftrace_scope {
	bool			all;
	struct ftrace_table	*table;
	struct ftrace_hash	*hash[4];
};

int ftrace_plan_run(const struct ftrace_change *changes, unsigned int nr,
		    const struct ftrace_scope *scope);

#endif
