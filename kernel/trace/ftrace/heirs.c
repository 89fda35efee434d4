// SPDX-License-Identifier: GPL-2.0-only
/*
 * Heirs: classes with many ops that take over a trampoline.
 *
 * The trampoline of a class with many ops walks an array, so it can serve another set of ops
 * without a change of its code. If a plan moves all sites of such a class to one new class, the
 * new class takes it over, and no site is patched. So an ops that joins a thousand others, or
 * leaves them, costs an entry of an array.
 *
 * The heir is known when the plan has all its sites. Until then a new class with many ops has no
 * trampoline.
 */
#include "class.h"
#include "core.h"
#include "dispatch.h"
#include "walk.h"

/* Consecutive sites that go from one class to one class. Returns their number. */
static unsigned int heirs_alike(const struct ftrace_patch *batch, unsigned int nr)
{
	unsigned int i = 1;

	while (batch->site && i < nr && batch[i].site && batch[i].from == batch->from &&
	       batch[i].to == batch->to)
		i++;
	return i;
}

/* How many sites of each class move to the class to which the first of them moves? */
static void heirs_count(const struct ftrace_patch *batch, unsigned int nr)
{
	const struct ftrace_patch *p, *end = batch + nr;

	for (p = batch; p < end; p += heirs_alike(p, end - p)) {
		ftrace_class_nth(p->from)->heir = NULL;
		ftrace_class_nth(p->from)->leaving = 0;
	}
	for (p = batch; p < end; p += heirs_alike(p, end - p)) {
		struct ftrace_class *from = ftrace_class_nth(p->from);
		struct ftrace_class *to = ftrace_class_nth(p->to);

		if (!from->heir)
			from->heir = to;
		if (from->heir == to)
			from->leaving += heirs_alike(p, end - p);
	}
}

/*
 * Does a new class get the trampoline of @from? A site that has failed does not move: it keeps
 * class and trampoline. The trampoline of a stale class may be one that must not be used again.
 */
static bool heirs_may_take(const struct ftrace_class *to, const struct ftrace_class *from)
{
	return ftrace_class_waits(to) && from->dispatch && !ftrace_class_stale(from) &&
	       from->heir == to && from->leaving == from->users && from->direct == to->direct &&
	       ftrace_dispatch_fits(from->dispatch, to->ops, to->nr);
}

static struct ftrace_walk *heirs_walk(const struct ftrace_class *c)
{
	return ftrace_locked(c->dispatch->walker->walk);
}

/* @to gets the trampoline of @from, and a new array if that of @from cannot serve it. */
static int heirs_adopt(struct ftrace_class *to, struct ftrace_class *from,
		       const struct ftrace_callback *removed)
{
	to->donor = from;
	if (ftrace_walk_serves(heirs_walk(from), to->ops, to->nr, removed))
		return 0;
	to->walk = ftrace_walk_make(to->ops, to->nr);
	return to->walk ? 0 : -ENOMEM;
}

static int heirs_make_dispatch(struct ftrace_class *c)
{
	struct ftrace_walk *walk = ftrace_walk_make(c->ops, c->nr);

	if (!walk)
		return -ENOMEM;
	c->dispatch = ftrace_dispatch_make(c->ops, c->nr, c->direct, walk);
	if (!c->dispatch) {
		ftrace_walk_free(walk);
		return -ENOMEM;
	}
	ftrace_targets[c->id] = c->dispatch->tramp->addr;
	return 0;
}

/*
 * Finds or builds the trampoline of each new class with many ops: 0, or -ENOMEM, after which the
 * plan drops its new classes. @batch has no slots yet. The plan shuts the callback @removed, or
 * NULL. ftrace_lock held, text_mutex not held.
 */
int ftrace_heirs_prepare(const struct ftrace_patch *batch, unsigned int nr,
			 const struct ftrace_callback *removed)
{
	const struct ftrace_patch *p, *end = batch + nr;
	struct ftrace_class *from, *to;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	heirs_count(batch, nr);
	for (p = batch; p < end && !ret; p += heirs_alike(p, end - p)) {
		from = ftrace_class_nth(p->from);
		to = ftrace_class_nth(p->to);
		if (!to->donor && heirs_may_take(to, from))
			ret = heirs_adopt(to, from, removed);
	}
	for (p = batch; p < end && !ret; p += heirs_alike(p, end - p)) {
		to = ftrace_class_nth(p->to);
		if (ftrace_class_waits(to) && !to->donor)
			ret = heirs_make_dispatch(to);
	}
	return ret;
}

/*
 * The plan cannot fail any more: the sites of the donors in @batch call the callbacks of the
 * heirs from now on, still with their old class. ftrace_lock held.
 */
void ftrace_heirs_take(const struct ftrace_patch *batch, unsigned int nr)
{
	const struct ftrace_patch *p, *end = batch + nr;

	lockdep_assert_held(&ftrace_lock);
	for (p = batch; p < end; p += heirs_alike(p, end - p)) {
		struct ftrace_class *to = p->site ? ftrace_class_nth(p->to) : NULL;

		if (!to || !to->donor)
			continue;
		swap(to->dispatch, to->donor->dispatch);
		ftrace_targets[to->id] = ftrace_targets[to->donor->id];
		if (to->walk)
			ftrace_dispatch_set_walk(to->dispatch, to->walk);
		else
			ftrace_walk_append(heirs_walk(to), to->ops, to->nr);
		to->walk = NULL;
		to->donor = NULL;
	}
}
