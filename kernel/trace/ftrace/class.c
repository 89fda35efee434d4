// SPDX-License-Identifier: GPL-2.0-only
/*
 * Classes: the exact set of ops on a call site.
 *
 * Sites with the same set share a class, so what to call is worked out once a
 * set and not once a site. A class remembers where adding or taking away an
 * ops last led, as a JavaScript engine does for the shapes of objects, so that
 * moving a site on costs a comparison. A class dies with its last site.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "class.h"
#include "ftrace_internal.h"
#include "table.h"

static struct ftrace_class empty;
static struct ftrace_class *first_class = &empty;
static unsigned long first_target;

struct ftrace_class **ftrace_classes = &first_class;
unsigned long *ftrace_targets = &first_target;
static unsigned int room = 1;

static DEFINE_IDA(ids);
static DEFINE_HASHTABLE(by_set, 10);

/* The same whatever the order, and quick to get for one ops more or less. */
static unsigned long hash_ops(const struct ftrace_ops *ops)
{
	return hash_long((unsigned long)ops, BITS_PER_LONG);
}

static unsigned long hash_set(const struct ftrace_class *c)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < c->nr; i++)
		sum += hash_ops(c->ops[i]);
	return sum;
}

/* Is @c the set of @set, less @without if any, with @with if any? */
static bool same_set(const struct ftrace_class *c, const struct ftrace_class *set,
		     const struct ftrace_ops *with, const struct ftrace_ops *without)
{
	if (c->nr != set->nr + !!with - !!without)
		return false;
	if (with && !ftrace_class_has(c, with))
		return false;
	for (unsigned int i = 0; i < set->nr; i++)
		if (set->ops[i] != without && !ftrace_class_has(c, set->ops[i]))
			return false;
	return true;
}

/* Double the arrays that are indexed by class numbers. */
static int make_room(u32 id, gfp_t gfp)
{
	struct ftrace_class **classes;
	unsigned long *targets;
	unsigned int more;

	if (id < room)
		return 0;
	more = max(64U, 2 * room);
	classes = kvcalloc(more, sizeof(*classes), gfp);
	targets = kvcalloc(more, sizeof(*targets), gfp);
	if (!classes || !targets) {
		kvfree(classes);
		kvfree(targets);
		return -ENOMEM;
	}
	memcpy(classes, ftrace_classes, room * sizeof(*classes));
	memcpy(targets, ftrace_targets, room * sizeof(*targets));
	if (room > 1) {
		kvfree(ftrace_classes);
		kvfree(ftrace_targets);
	}
	ftrace_classes = classes;
	ftrace_targets = targets;
	room = more;
	return 0;
}

/*
 * May these ops share a function? One may change the instruction pointer, one
 * may be a direct caller, and both may be there if the direct caller agrees.
 */
static int check_set(struct ftrace_class *c, struct ftrace_ops *new)
{
	struct ftrace_ops *ipmodify = NULL, *direct = NULL;

	for (unsigned int i = 0; i < c->nr; i++) {
		struct ftrace_ops *ops = c->ops[i];

		if (ops->flags & FTRACE_OPS_FL_IPMODIFY) {
			if (ipmodify)
				return -EBUSY;
			ipmodify = ops;
		}
		if (ops->flags & FTRACE_OPS_FL_DIRECT) {
			if (direct)
				return -EBUSY;
			direct = ops;
		}
	}
	if (!ipmodify || !direct || (new != ipmodify && new != direct))
		return 0;
	if (!direct->ops_func)
		return -EBUSY;
	if (new == direct)
		return direct->ops_func(direct, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
	return ftrace_ipmodify_asked(ipmodify) ? 0 : -EBUSY;
}

/* What the sites of a class call. */
static int make_target(struct ftrace_class *c, gfp_t gfp)
{
	struct ftrace_call *calls;
	unsigned long direct = 0;
	unsigned int nr = 0;
	bool regs = false;

	calls = kvcalloc(c->nr, sizeof(*calls), gfp);
	if (!calls)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->nr; i++) {
		struct ftrace_ops *ops = c->ops[i];

		regs |= !!(ops->flags & FTRACE_OPS_FL_SAVE_REGS);
		if (ops->flags & FTRACE_OPS_FL_DIRECT)
			direct = ftrace_direct_of(ops);
		else
			calls[nr++] = (struct ftrace_call){ ftrace_ops_get_func(ops), ops };
	}

	if (direct && !arch_ftrace_reaches(direct)) {
		kvfree(calls);
		return -ERANGE;
	}
	if (nr) {
		c->tramp = arch_ftrace_tramp_make(calls, nr, regs, direct, gfp);
		if (c->tramp) {
			ftrace_targets[c->id] = c->tramp->addr;
			ftrace_announce_tramp(c->tramp, false);
		}
	} else {
		ftrace_targets[c->id] = direct;
	}
	kvfree(calls);
	return nr && !c->tramp ? -ENOMEM : 0;
}

/* Where a client looks for the trampoline that is its own. */
static void own_tramp(struct ftrace_class *c)
{
	if (c->nr != 1 || !c->tramp)
		return;
	c->ops[0]->trampoline = c->tramp->addr;
	c->ops[0]->trampoline_size = c->tramp->size;
}

/* Make the set of @set, less @without if any, with @with if any. */
static struct ftrace_class *class_make(struct ftrace_class *set,
				       struct ftrace_ops *with,
				       struct ftrace_ops *without, gfp_t gfp)
{
	unsigned int n = 0, nr = set->nr + !!with - !!without;
	struct ftrace_class *c;
	int id, ret = -ENOMEM;

	c = kvzalloc(struct_size(c, ops, nr), gfp);
	if (!c)
		return ERR_PTR(-ENOMEM);
	INIT_HLIST_NODE(&c->node);
	INIT_HLIST_HEAD(&c->came);
	c->nr = nr;
	for (unsigned int i = 0; i < set->nr; i++) {
		if (with && with->seq > set->ops[i]->seq) {
			c->ops[n++] = with;
			with = NULL;
		}
		if (set->ops[i] != without)
			c->ops[n++] = set->ops[i];
	}
	if (with)
		c->ops[n++] = with;

	id = ida_alloc_range(&ids, 1, SITE_CLASS_MASK, gfp);
	if (id < 0) {
		ret = id;
		goto free_class;
	}
	c->id = id;
	ret = make_room(id, gfp);
	if (ret)
		goto free_id;
	ret = make_target(c, gfp);
	if (ret)
		goto free_id;

	own_tramp(c);
	ftrace_classes[id] = c;
	hash_add(by_set, &c->node, hash_set(c));
	return c;

free_id:
	ida_free(&ids, id);
free_class:
	kvfree(c);
	return ERR_PTR(ret);
}

static struct ftrace_class *class_find(struct ftrace_class *set,
				       struct ftrace_ops *with,
				       struct ftrace_ops *without)
{
	unsigned long hash = hash_set(set);
	struct ftrace_class *c;

	if (with)
		hash += hash_ops(with);
	if (without)
		hash -= hash_ops(without);
	hash_for_each_possible(by_set, c, node, hash)
		if (same_set(c, set, with, without))
			return c;
	return NULL;
}

static struct ftrace_class *remember(struct ftrace_transition *t,
				     struct ftrace_class *to, struct ftrace_ops *ops)
{
	if (!IS_ERR(to) && to != &empty) {
		if (t->to)
			hlist_del(&t->node);
		t->to = to;
		t->ops = ops;
		hlist_add_head(&t->node, &to->came);
	}
	return to;
}

static void forget(struct ftrace_transition *t)
{
	if (t->to)
		hlist_del(&t->node);
	t->to = NULL;
}

/**
 * ftrace_class_add - the class that a site has with one ops more
 * @c: its class now
 * @ops: the ops, not in @c
 * @agreed: they have been on one site before, so nobody is asked
 * @gfp: for memory
 *
 * Return: the class, perhaps with no users yet; ERR_PTR(-EBUSY) if @ops cannot
 * be on one site with those in @c; ERR_PTR(-ENOMEM); ERR_PTR(-ERANGE) if a
 * direct caller is too far away; or what the owner of a direct caller says.
 * Context: ftrace_lock held; may sleep.
 */
struct ftrace_class *ftrace_class_add(struct ftrace_class *c, struct ftrace_ops *ops,
				      bool agreed, gfp_t gfp)
{
	struct ftrace_class *to;
	int ret;

	if (c->add.to && c->add.ops == ops)
		return c->add.to;
	to = class_find(c, ops, NULL);
	if (!to)
		to = class_make(c, ops, NULL, gfp);
	if (IS_ERR(to))
		return to;

	ret = agreed ? 0 : check_set(to, ops);
	if (ret) {
		if (!to->users)
			ftrace_class_put(to);
		return ERR_PTR(ret);
	}
	/* Whether this one may is asked each time. */
	if (ops->flags & FTRACE_OPS_FL_IPMODIFY)
		return to;
	return remember(&c->add, to, ops);
}

/**
 * ftrace_class_del - the class that a site has with one ops less
 * @c: its class now
 * @ops: the ops, in @c
 * @gfp: for memory; with __GFP_NOFAIL where it cannot be helped
 *
 * Return: the class, perhaps with no users yet; ERR_PTR(-ENOMEM).
 * Context: ftrace_lock held; may sleep.
 */
struct ftrace_class *ftrace_class_del(struct ftrace_class *c, struct ftrace_ops *ops,
				      gfp_t gfp)
{
	struct ftrace_class *to;

	if (c->nr == 1)
		return &empty;
	if (c->del.to && c->del.ops == ops)
		return c->del.to;
	to = class_find(c, NULL, ops);
	if (!to)
		to = class_make(c, NULL, ops, gfp);
	return remember(&c->del, to, ops);
}

/**
 * ftrace_class_fresh - the class that takes the place of a stale one
 * @c: the stale class
 * @gfp: for memory
 *
 * Return: the class, perhaps with no users yet; ERR_PTR(-ENOMEM).
 * Context: ftrace_lock held; may sleep.
 */
struct ftrace_class *ftrace_class_fresh(struct ftrace_class *c, gfp_t gfp)
{
	return class_find(c, NULL, NULL) ?: class_make(c, NULL, NULL, gfp);
}

/**
 * ftrace_classes_stale - the callback of an ops is about to change, or not so
 * @ops: the ops
 * @stale: true: classes with it are no longer found by their sets; false: they
 *	are again, for the change did not come about
 *
 * Context: ftrace_lock held.
 */
void ftrace_classes_stale(struct ftrace_ops *ops, bool stale)
{
	for (unsigned int id = 1; id < room; id++) {
		struct ftrace_class *c = ftrace_classes[id];

		if (!c || !ftrace_class_has(c, ops) || c->stale == stale)
			continue;
		c->stale = stale;
		if (stale) {
			struct ftrace_transition *t;
			struct hlist_node *tmp;

			hash_del(&c->node);
			hlist_for_each_entry_safe(t, tmp, &c->came, node)
				forget(t);
			forget(&c->add);
			forget(&c->del);
		} else {
			hash_add(by_set, &c->node, hash_set(c));
			own_tramp(c);
		}
	}
}

/*
 * Trampolines of dead classes. A task may be in one, preempted even, so they
 * wait for every task to be seen out of it, all that there are at a time.
 */
static LLIST_HEAD(dead_tramps);

static void free_tramps(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&dead_tramps);
	struct ftrace_tramp *tramp, *tmp;

	ftrace_wait_callbacks();

	mutex_lock(&ftrace_lock);
	llist_for_each_entry_safe(tramp, tmp, list, free) {
		ftrace_announce_tramp(tramp, true);
		arch_ftrace_tramp_free(tramp);
	}
	mutex_unlock(&ftrace_lock);
}

static DECLARE_WORK(free_tramps_work, free_tramps);

/**
 * ftrace_class_put - let go of a class that has no users any more
 * @c: the class
 *
 * Context: ftrace_lock held. No site calls its trampoline any more.
 */
void ftrace_class_put(struct ftrace_class *c)
{
	struct ftrace_transition *t;
	struct hlist_node *tmp;

	if (c == &empty || WARN_ON_ONCE(c->users))
		return;

	hlist_for_each_entry_safe(t, tmp, &c->came, node)
		forget(t);
	forget(&c->add);
	forget(&c->del);
	if (!c->stale)
		hash_del(&c->node);
	ftrace_classes[c->id] = NULL;
	ftrace_targets[c->id] = 0;
	ida_free(&ids, c->id);

	if (c->nr == 1 && c->tramp && c->ops[0]->trampoline == c->tramp->addr)
		c->ops[0]->trampoline = 0;
	if (c->tramp) {
		llist_add(&c->tramp->free, &dead_tramps);
		/* Early at boot there is none yet, and they wait for the next one. */
		if (system_unbound_wq)
			queue_work(system_unbound_wq, &free_tramps_work);
	}
	kvfree(c);
}

/**
 * ftrace_class_flag - has any ops of a class a flag?
 * @c: the class
 * @flag: FTRACE_OPS_FL_*
 *
 * Return: true if so.
 */
bool ftrace_class_flag(const struct ftrace_class *c, unsigned long flag)
{
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->ops[i]->flags & flag)
			return true;
	return false;
}

/**
 * ftrace_nr_classes - how many class numbers there is room for
 *
 * Return: more than the largest class number in use.
 * Context: ftrace_lock held.
 */
unsigned int ftrace_nr_classes(void)
{
	return room;
}
