// SPDX-License-Identifier: GPL-2.0-only
/*
 * The class that a site gets by a plan.
 *
 * Which of the changing ops want the site, and may they share it with the others? The answer is the
 * same for all sites of a class that are asked for alike, so it is kept with the class.
 */
#include <linux/slab.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "next_class.h"
#include "sysctl.h"
#include "wants.h"

/* Does a site of class @from get the ops of a change? */
static bool next_wants(const struct ftrace_plan *p, const struct ftrace_change *change,
		       const struct ftrace_class *from, unsigned long ip)
{
	if (p->flags & FTRACE_PLAN_KEEPS && !ftrace_class_has(from, change->ops))
		return false;
	return change->on && ftrace_ops_wants(change->ops, ip);
}

/*
 * The set of ops that a site of class @from must get: the ops of the class that do
 * not change, and the changing ops that want the site. Both lists have the youngest
 * ops first, and so has the set.
 */
static unsigned int next_set(const struct ftrace_plan *p, const struct ftrace_class *from,
			     unsigned long ip, struct ftrace_ops **set)
{
	unsigned int i = 0, j = 0, n = 0;

	while (i < from->nr || j < p->nr_changes) {
		const struct ftrace_change *change = &p->changes[j];

		if (j == p->nr_changes ||
		    (i < from->nr && from->ops[i]->callback->seq > change->ops->callback->seq)) {
			set[n++] = from->ops[i++];
			continue;
		}
		i += i < from->nr && from->ops[i] == change->ops;
		if (next_wants(p, change, from, ip))
			set[n++] = change->ops;
		j++;
	}
	return n;
}

/* What the direct caller in the set of a site has called. */
static unsigned long next_direct(struct ftrace_ops **set, unsigned int nr, unsigned long ip)
{
	unsigned long direct = 0;

	for (unsigned int i = 0; i < nr && !direct; i++)
		direct = ftrace_direct_of(set[i], ip);
	return direct;
}

/* Is an ops new to the sites of a class? Both sets have the youngest ops first. */
static bool next_is_new(const struct ftrace_class *from, const struct ftrace_ops *ops,
			unsigned int *at)
{
	while (*at < from->nr && from->ops[*at]->callback->seq > ops->callback->seq)
		++*at;
	return *at == from->nr || from->ops[*at] != ops;
}

/* May all ops that are new to a site share the site? */
static int next_check(const struct ftrace_plan *p, const struct ftrace_class *from,
		      struct ftrace_ops **set, unsigned int nr, unsigned long ip)
{
	bool moves = next_direct(set, nr, ip) != from->direct;
	unsigned int at = 0;
	int ret = 0;

	if (p->flags & FTRACE_PLAN_AGREED)
		return 0;
	for (unsigned int i = 0; i < nr && !ret; i++) {
		struct ftrace_ops *ops = set[i];

		/* Another address to call may not share the site, even if the old one does. */
		if (next_is_new(from, ops, &at) || (ops->flags & FTRACE_OPS_FL_DIRECT && moves))
			ret = ftrace_set_check(set, nr, ops, ip);
	}
	return ret;
}

/* A set that cannot share the site is refused before anything is made for it. */
static struct ftrace_class *next_class(struct ftrace_plan *p, struct ftrace_class *from,
				       unsigned long ip)
{
	struct ftrace_ops **set __free(kvfree) = NULL;
	struct ftrace_class *to;
	unsigned int nr;
	int ret;

	set = kvmalloc_array(from->nr + p->nr_changes, sizeof(*set), GFP_KERNEL);
	if (!set)
		return ERR_PTR(-ENOMEM);
	nr = next_set(p, from, ip, set);
	if (p->flags & FTRACE_PLAN_AGREED)
		nr = ftrace_drop_rivals(set, nr);
	ret = next_check(p, from, set, nr, ip);
	if (ret)
		return ERR_PTR(ret);
	to = ftrace_class_of(set, nr, next_direct(set, nr, ip), from);
	if (!IS_ERR(to))
		p->heirs |= ftrace_class_waits(to);
	return to;
}

/* The class that a site of class @from must get, or an error. ftrace_lock held. */
struct ftrace_class *ftrace_next_class(struct ftrace_plan *p, struct ftrace_class *from,
				       unsigned long ip)
{
	const struct ftrace_change *change = p->changes;
	struct ftrace_class *to;
	bool want;

	lockdep_assert_held(&ftrace_lock);
	if (p->nr_changes > 1)
		return next_class(p, from, ip);

	want = next_wants(p, change, from, ip);
	if (want && ftrace_direct_is_many(change->ops))
		return next_class(p, from, ip);
	if (from->plan != p->id) {
		from->plan = p->id;
		memset(from->to, 0, sizeof(from->to));
	}
	if (from->to[want])
		return from->to[want];

	if (!ftrace_class_stale(from) && ftrace_class_has(from, change->ops) == want)
		to = from;
	else if (p->small && ftrace_class_walks(from))
		to = from;
	else if (!want && from->nr == 1 && ftrace_class_has(from, change->ops))
		to = ftrace_class_nth(0);
	else
		to = next_class(p, from, ip);
	/* The slots of a removed ops are switched off: the site can keep its class. */
	if (IS_ERR(to) && p->flags & FTRACE_PLAN_REMOVES)
		to = from;
	if (!IS_ERR(to))
		from->to[want] = to;
	return to;
}

/* Does a changing ops want this site, which cannot be traced, by name? ftrace_lock held. */
bool ftrace_plan_names(const struct ftrace_plan *p, unsigned long ip)
{
	lockdep_assert_held(&ftrace_lock);
	if (!(p->flags & FTRACE_PLAN_NAMED))
		return false;
	for (unsigned int i = 0; i < p->nr_changes; i++) {
		const struct ftrace_change *change = &p->changes[i];

		if (change->on && ftrace_ops_wants(change->where, ip) &&
		    ftrace_ops_exact(change->where, ip))
			return true;
	}
	return false;
}
