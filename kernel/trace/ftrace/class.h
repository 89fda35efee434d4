/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classes: the exact set of ops on a call site, and what a direct caller has called.
 *
 * A site stores the number of its class, and calls the trampoline of its class.
 */
#ifndef _FTRACE_CLASS_H
#define _FTRACE_CLASS_H

#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/types.h>

struct ftrace_callback;
struct ftrace_dispatch;
struct ftrace_walk;

/**
 * struct ftrace_class - a set of ops that at least one site has
 * @node: in the hash of classes by their sets, unless the class is stale
 * @id: number of the class
 * @users: number of sites of the class, and of sites that a current plan moves to it
 * @plan: number of the plan that @to belongs to
 * @to: where the only ops of that plan moves the sites: to [0] if the ops does not want
 *	a site, to [1] if the ops wants it; NULL if not known yet
 * @direct: what the direct caller among the ops has called, 0 if there is none
 * @dispatch: trampoline of the class, NULL if its sites call a direct caller or nothing
 * @walk: the array for a trampoline that the class is about to take over, NULL if the array
 *	that is there will do. See heirs.c for this and for the next three
 * @heir: the first class to which the current plan moves sites
 * @leaving: number of sites that the plan moves to @heir
 * @donor: the class that leaves its trampoline to this one, NULL if there is none
 * @nr: number of ops
 * @ops: the set, youngest first
 */
struct ftrace_class {
	struct hlist_node	node;
	u32			id;
	unsigned int		users;
	u64			plan;
	struct ftrace_class	*to[2];
	unsigned long		direct;
	struct ftrace_dispatch	*dispatch;
	struct ftrace_walk	*walk;
	struct ftrace_class	*heir;
	unsigned int		leaving;
	struct ftrace_class	*donor;
	unsigned int		nr;
	struct ftrace_ops	*ops[];
};

/* By number; class 0 is the empty set. ftrace_lock held. */
extern struct ftrace_class **ftrace_classes;
extern unsigned long *ftrace_targets;
extern unsigned int ftrace_nr_classes;

struct ftrace_class *ftrace_class_of(struct ftrace_ops *const *set, unsigned int nr,
				     unsigned long direct, const struct ftrace_class *from);
bool ftrace_class_walks(const struct ftrace_class *c);
void ftrace_direct_ask_for(const struct ftrace_ops *ops);
void ftrace_direct_agreed(struct ftrace_ops *direct);
int ftrace_direct_agrees(struct ftrace_ops *direct, unsigned long ip, enum ftrace_ops_cmd cmd);
int ftrace_set_check(struct ftrace_ops *const *set, unsigned int nr,
		     const struct ftrace_ops *new, unsigned long ip);
void ftrace_class_put(struct ftrace_class *c, unsigned int sites);
void ftrace_classes_stale(struct ftrace_ops *ops);
void ftrace_classes_lose(struct ftrace_ops *ops);
bool ftrace_class_flag(const struct ftrace_class *c, unsigned long flag);

static inline struct ftrace_class *ftrace_class_nth(u32 id)
{
	return ftrace_classes[id];
}

/*
 * Has an ops of the class changed its callback, or was it unregistered? Then the sites must leave
 * the class for another class with the same set.
 */
static inline bool ftrace_class_stale(const struct ftrace_class *c)
{
	return c->id && hlist_unhashed(&c->node);
}

/* Is this a new class with many ops, which does not have its trampoline yet? */
static inline bool ftrace_class_waits(const struct ftrace_class *c)
{
	return c->id && !ftrace_targets[c->id];
}

static inline bool ftrace_class_has(const struct ftrace_class *c,
				    const struct ftrace_ops *ops)
{
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->ops[i] == ops)
			return true;
	return false;
}

/* heirs.c: the class that takes over a trampoline */
int ftrace_heirs_prepare(const struct ftrace_patch *batch, unsigned int nr,
			 const struct ftrace_callback *removed);
void ftrace_heirs_take(const struct ftrace_patch *batch, unsigned int nr);

#endif
