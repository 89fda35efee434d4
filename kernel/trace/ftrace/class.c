// SPDX-License-Identifier: GPL-2.0-only
/*
 * Classes: the exact set of ops on a call site, and what a direct caller has called.
 *
 * Sites with the same set share a class. So the core works out what a site calls
 * once for each set, not once for each site. A class is freed when its last site
 * leaves.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/slab.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "dispatch.h"
#include "flight.h"
#include "table.h"
#include "walk.h"
#include "wants.h"

static struct ftrace_class empty;
static struct ftrace_class *first_class = &empty;
static unsigned long first_target;

struct ftrace_class **ftrace_classes = &first_class;
unsigned long *ftrace_targets = &first_target;
/* How many numbers of classes there is room for. */
unsigned int ftrace_nr_classes = 1;

static DEFINE_IDA(ids);
static DEFINE_HASHTABLE(by_set, 10);

/* The hash of a set is the sum of the hashes of its ops, and of what is called directly. */
static unsigned long class_hash_set(struct ftrace_ops *const *set, unsigned int nr,
				    unsigned long direct)
{
	unsigned long total = hash_long(direct, BITS_PER_LONG);

	for (unsigned int i = 0; i < nr; i++)
		total += hash_long((unsigned long)set[i], BITS_PER_LONG);
	return total;
}

/* Double the arrays that are indexed by class numbers. */
static int class_make_room(u32 id)
{
	struct ftrace_class **classes;
	unsigned long *targets;
	unsigned int more;

	if (id < ftrace_nr_classes)
		return 0;
	more = max(64U, 2 * ftrace_nr_classes);
	classes = kvcalloc(more, sizeof(*classes), GFP_KERNEL);
	targets = kvcalloc(more, sizeof(*targets), GFP_KERNEL);
	if (!classes || !targets) {
		kvfree(classes);
		kvfree(targets);
		return -ENOMEM;
	}
	memcpy(classes, ftrace_classes, ftrace_nr_classes * sizeof(*classes));
	memcpy(targets, ftrace_targets, ftrace_nr_classes * sizeof(*targets));
	if (ftrace_nr_classes > 1) {
		kvfree(ftrace_classes);
		kvfree(ftrace_targets);
	}
	ftrace_classes = classes;
	ftrace_targets = targets;
	ftrace_nr_classes = more;
	return 0;
}

/*
 * Asks the owner of a direct caller to share the function at @ip: 0, -EBUSY, or the owner's
 * error.
 */
int ftrace_direct_agrees(struct ftrace_ops *direct, unsigned long ip, enum ftrace_ops_cmd cmd)
{
	int answer = direct->ops_func ? direct->ops_func(direct, ip, cmd) : -EBUSY;

	/* Only 0 agrees, and only a negative value is an error. */
	return answer > 0 ? -EBUSY : answer;
}

/*
 * The ops for which owners of direct callers are asked, NULL if there is none, and the number of
 * the question. Changed with direct_mutex and ftrace_lock held.
 */
static const struct ftrace_ops *asker;
static unsigned int question;

/* Owners are asked for @ops from now on; NULL: for none. direct_mutex held. Takes ftrace_lock. */
void ftrace_direct_ask_for(const struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);
	asker = ops;
	question++;
}

/*
 * The owner of a direct caller has agreed to share functions with the ops for which owners are
 * asked. direct_mutex held. Takes ftrace_lock.
 */
void ftrace_direct_agreed(struct ftrace_ops *direct)
{
	guard(mutex)(&ftrace_lock);
	direct->callback->asked = question;
}

/*
 * May @set, to which @new is about to be added, share the function at @ip? One ops may change
 * the instruction pointer and one may be a direct caller, and both only if the owner of the
 * direct caller agrees, or has agreed before @new gets the function. 0, -EBUSY, the owner's error,
 * or -EINVAL if @new is a direct caller that has no address to call there. ftrace_lock held.
 */
int ftrace_set_check(struct ftrace_ops *const *set, unsigned int nr,
		     const struct ftrace_ops *new, unsigned long ip)
{
	struct ftrace_ops *ipmodify = NULL, *direct = NULL;

	lockdep_assert_held(&ftrace_lock);
	for (unsigned int i = 0; i < nr; i++) {
		struct ftrace_ops *ops = set[i];

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
	if (direct && new == direct && !ftrace_direct_of(direct, ip))
		return -EINVAL;
	if (!ipmodify || !direct || (new != ipmodify && new != direct))
		return 0;
	if (new == direct)
		return ftrace_direct_agrees(direct, ip, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
	return asker == ipmodify && direct->callback->asked == question ? 0 : -EBUSY;
}

/*
 * Set what the sites of a class call. A class with many ops gets its trampoline at the end of
 * the plan, from ftrace_heirs_prepare().
 */
static int class_make_target(struct ftrace_class *c, bool walks)
{
	if (c->direct && !arch_ftrace_reaches(ftrace_jmp_get(c->direct)))
		return -ERANGE;
	if (c->direct && c->nr == 1) {
		ftrace_targets[c->id] = c->direct;
		return 0;
	}
	if (c->nr == 1 && ftrace_ops_thunk(c->ops[0])) {
		ftrace_targets[c->id] = ftrace_ops_thunk(c->ops[0]);
		return 0;
	}
	if (c->nr > (walks ? FTRACE_MIN_WALK : FTRACE_MAX_SLOTS))
		return 0;
	c->dispatch = ftrace_dispatch_make(c->ops, c->nr, c->direct, NULL);
	if (!c->dispatch)
		return -ENOMEM;
	ftrace_targets[c->id] = c->dispatch->tramp->addr;
	return 0;
}

/* Does the trampoline of a class go through an array? */
bool ftrace_class_walks(const struct ftrace_class *c)
{
	return c->dispatch && c->dispatch->walker;
}

static struct ftrace_class *class_make(struct ftrace_ops *const *set, unsigned int nr,
				       unsigned long direct, bool walks)
{
	struct ftrace_class *c __free(kvfree) = kvzalloc(struct_size(c, ops, nr), GFP_KERNEL);
	int id, ret;

	if (!c)
		return ERR_PTR(-ENOMEM);
	c->nr = nr;
	c->direct = direct;
	memcpy(c->ops, set, nr * sizeof(*set));

	id = ida_alloc_range(&ids, 1, SITE_CLASS_MASK, GFP_KERNEL);
	if (id < 0)
		return ERR_PTR(id);
	c->id = id;
	ret = class_make_room(id) ?: class_make_target(c, walks);
	if (ret) {
		ida_free(&ids, id);
		return ERR_PTR(ret);
	}

	ftrace_classes[id] = c;
	hash_add(by_set, &c->node, class_hash_set(c->ops, nr, direct));
	for (unsigned int i = 0; i < nr; i++)
		c->ops[i]->callback->nr_classes++;
	return no_free_ptr(c);
}

/*
 * Finds or makes the class to which a site of @from goes if it gets @set, youngest first. The
 * class may have no users yet. -ENOMEM, or -ERANGE if the direct caller is too far away.
 * ftrace_lock held.
 */
struct ftrace_class *ftrace_class_of(struct ftrace_ops *const *set, unsigned int nr,
				     unsigned long direct, const struct ftrace_class *from)
{
	struct ftrace_class *c;

	lockdep_assert_held(&ftrace_lock);
	if (!nr)
		return &empty;
	hash_for_each_possible(by_set, c, node, class_hash_set(set, nr, direct))
		if (c->nr == nr && c->direct == direct &&
		    !memcmp(c->ops, set, nr * sizeof(*set)))
			return c;
	return class_make(set, nr, direct, ftrace_class_walks(from));
}

/**
 * ftrace_classes_stale - mark the classes of an ops whose callback is about to change
 * @ops: the ops
 *
 * A stale class is no longer found by its set. If the change fails, the sites of a
 * stale class leave the class when the next plan looks at them.
 *
 * Context: ftrace_lock held.
 */
void ftrace_classes_stale(struct ftrace_ops *ops)
{
	unsigned int left = ops->callback->nr_classes;

	lockdep_assert_held(&ftrace_lock);
	for (unsigned int id = 1; id < ftrace_nr_classes && left; id++) {
		struct ftrace_class *c = ftrace_classes[id];

		ftrace_yield(id);
		if (!c || !ftrace_class_has(c, ops))
			continue;
		left--;
		hash_del(&c->node);
	}
}

/**
 * ftrace_classes_lose - remove an unregistered ops from all classes
 * @ops: the ops, whose slots have been switched off
 *
 * Sites with unexpected bytes do not leave their class, nor does any site if there is
 * no memory for the class without @ops. Such a class goes on without @ops, and is
 * stale: its sites leave the class when the next plan looks at them.
 *
 * Context: ftrace_lock held.
 */
void ftrace_classes_lose(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	for (unsigned int id = 1; id < ftrace_nr_classes && ops->callback->nr_classes; id++) {
		struct ftrace_class *c = ftrace_classes[id];
		unsigned int n = 0;

		ftrace_yield(id);
		if (!c || !ftrace_class_has(c, ops))
			continue;
		hash_del(&c->node);
		for (unsigned int i = 0; i < c->nr; i++)
			if (c->ops[i] != ops)
				c->ops[n++] = c->ops[i];
		c->nr = n;
		if (ops->flags & FTRACE_OPS_FL_DIRECT)
			c->direct = 0;
		ops->callback->nr_classes--;
	}
}

/**
 * ftrace_class_put - sites have left a class; without users, free the class
 * @c: the class
 * @sites: number of sites that have left, and no longer call its trampoline
 *
 * Context: ftrace_lock held.
 */
void ftrace_class_put(struct ftrace_class *c, unsigned int sites)
{
	lockdep_assert_held(&ftrace_lock);
	c->users -= sites;
	if (c->users || c == &empty)
		return;

	hash_del(&c->node);
	ftrace_classes[c->id] = NULL;
	ftrace_targets[c->id] = 0;
	ida_free(&ids, c->id);
	for (unsigned int i = 0; i < c->nr; i++)
		c->ops[i]->callback->nr_classes--;
	if (c->dispatch)
		ftrace_dispatch_retire(c->dispatch);
	if (c->walk)
		ftrace_walk_free(c->walk);
	kvfree(c);
}

/**
 * ftrace_class_flag - does any ops of a class have a flag?
 * @c: the class
 * @flag: FTRACE_OPS_FL_*
 *
 * Return: true if at least one ops has the flag.
 */
bool ftrace_class_flag(const struct ftrace_class *c, unsigned long flag)
{
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->ops[i]->flags & flag)
			return true;
	return false;
}
