/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classes: the exact set of ops on a call site.
 *
 * A site knows the number of its class, and calls the trampoline of its class.
 */
#ifndef _FTRACE_CLASS_H
#define _FTRACE_CLASS_H

#include <linux/ftrace_arch.h>
#include <linux/types.h>

struct ftrace_class;

/**
 * struct ftrace_transition - where a class led to last
 * @to: the class
 * @ops: by adding or taking away this ops
 * @node: in the list of transitions that lead to @to
 */
struct ftrace_transition {
	struct ftrace_class	*to;
	struct ftrace_ops	*ops;
	struct hlist_node	node;
};

/**
 * struct ftrace_class - a set of ops that some site has
 * @node: in the hash of classes by their sets; not hashed once @stale
 * @id: its number
 * @users: sites that have it, and those that are to get it by a plan under way
 * @stale: an ops of it changed its callback: its sites are to leave it for a
 *	class with the same set
 * @add: last transition by adding an ops
 * @del: last transition by taking one away
 * @came: transitions of others that lead here
 * @tramp: its trampoline, NULL where sites call a direct caller or nothing
 * @nr: number of ops
 * @ops: the set, youngest first
 */
struct ftrace_class {
	struct hlist_node		node;
	u32				id;
	unsigned int			users;
	bool				stale;
	struct ftrace_transition	add;
	struct ftrace_transition	del;
	struct hlist_head		came;
	struct ftrace_tramp		*tramp;
	unsigned int			nr;
	struct ftrace_ops		*ops[] __counted_by(nr);
};

/* By number; class 0 is the empty set. ftrace_lock held. */
extern struct ftrace_class **ftrace_classes;
extern unsigned long *ftrace_targets;

struct ftrace_class *ftrace_class_add(struct ftrace_class *c, struct ftrace_ops *ops,
				      bool agreed, gfp_t gfp);
struct ftrace_class *ftrace_class_del(struct ftrace_class *c, struct ftrace_ops *ops,
				      gfp_t gfp);
struct ftrace_class *ftrace_class_fresh(struct ftrace_class *c, gfp_t gfp);
void ftrace_class_put(struct ftrace_class *c);
void ftrace_classes_stale(struct ftrace_ops *ops, bool stale);
bool ftrace_class_flag(const struct ftrace_class *c, unsigned long flag);
unsigned int ftrace_nr_classes(void);

static inline struct ftrace_class *ftrace_class_nth(u32 id)
{
	return ftrace_classes[id];
}

static inline bool ftrace_class_has(const struct ftrace_class *c,
				    const struct ftrace_ops *ops)
{
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->ops[i] == ops)
			return true;
	return false;
}

#endif
