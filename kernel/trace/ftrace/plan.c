// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans: a change of what is traced, as a whole or not at all.
 *
 * A plan looks at the sites that a change concerns and no others, asks for each
 * which of the changing ops want it, and notes the sites that go to another
 * class. All that can go wrong goes wrong before the first byte of text is
 * written: no memory, ops that cannot share a site, a site whose bytes are not
 * what they should be. The architecture then takes all sites as one batch.
 *
 * A plan that only takes ops away does not fail, for those who unregister an
 * ops free it: it waits for memory.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cpu.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "class.h"
#include "ftrace_internal.h"
#include "plan.h"
#include "table.h"

/*
 * Where a class led the last time, with the one ops of a plan wanted or not. With
 * ->all set, that ops wants all sites or none, whichever.
 */
struct memo {
	struct ftrace_class	*from;
	struct ftrace_class	*to;
};

struct plan {
	const struct ftrace_change	*changes;
	unsigned int			nr_changes;
	unsigned int			flags;
	gfp_t				gfp;
	struct ftrace_patch		*batch;
	unsigned int			nr;
	struct memo			memo[2];
	bool				all;
};

static bool change_wants(const struct ftrace_change *change, unsigned long ip)
{
	return change->on && ftrace_ops_wants(change->ops, ip);
}

static struct ftrace_class *next_class(struct plan *p, struct ftrace_class *c,
				       struct ftrace_ops *ops, bool want)
{
	if (ftrace_class_has(c, ops) == want)
		return c;
	if (!want)
		return ftrace_class_del(c, ops, p->gfp);
	return ftrace_class_add(c, ops, p->flags & FTRACE_PLAN_AGREED, p->gfp);
}

/* The class that a site is to have; an error where it cannot have it. */
static struct ftrace_class *site_next(struct plan *p, struct ftrace_class *from,
				      unsigned long ip)
{
	struct ftrace_class *to = from;
	struct memo *memo = NULL;

	for (unsigned int i = 0; i < p->nr_changes; i++) {
		const struct ftrace_change *change = &p->changes[i];
		bool want = change_wants(change, ip);

		if (p->nr_changes == 1) {
			memo = &p->memo[want];
			if (memo->from == from)
				return memo->to;
		}
		to = next_class(p, to, change->ops, want);
		if (IS_ERR(to))
			return to;
	}
	if (to->stale)
		to = ftrace_class_fresh(to, p->gfp);
	if (memo && !IS_ERR(to))
		*memo = (struct memo){ from, to };
	return to;
}

/* Does anybody ask by name for this site, of which nothing can be had? */
static bool wanted_exactly(struct plan *p, unsigned long ip)
{
	if (!(p->flags & FTRACE_PLAN_NAMED))
		return false;
	for (unsigned int i = 0; i < p->nr_changes; i++)
		if (change_wants(&p->changes[i], ip) &&
		    ftrace_ops_exact(p->changes[i].ops, ip))
			return true;
	return false;
}

static void plan_move(struct plan *p, struct dyn_ftrace *site, unsigned long ip,
		      struct ftrace_class *from, struct ftrace_class *to)
{
	if (to == from)
		return;
	to->users++;
	p->batch[p->nr++] = (struct ftrace_patch){ ip, site, from->id, to->id };
}

static int plan_site(struct plan *p, struct ftrace_table *t, struct dyn_ftrace *site)
{
	struct ftrace_class *from = ftrace_class_nth(site_class(site)), *to;
	unsigned long ip = site_ip(t, site);

	if (unlikely(site->state & SITE_FAILED))
		return wanted_exactly(p, ip) ? -EINVAL : 0;

	to = site_next(p, from, ip);
	if (IS_ERR(to))
		return PTR_ERR(to);
	plan_move(p, site, ip, from, to);
	return 0;
}

/*
 * Where all sites of a class go the same way, those that come one after the
 * other need no more than to be noted. Returns how many.
 */
static unsigned int plan_alike(struct plan *p, struct ftrace_table *t, unsigned int i)
{
	const struct memo *memo = &p->memo[p->changes->on];
	struct ftrace_patch *patch = &p->batch[p->nr];
	unsigned int first = i;

	if (!p->all || !memo->from)
		return 0;

	for (; i < t->nr; i++) {
		struct dyn_ftrace *site = &t->sites[i];

		if ((site->state & (SITE_CLASS_MASK | SITE_FAILED)) != memo->from->id)
			break;
		if (memo->to != memo->from)
			*patch++ = (struct ftrace_patch){ site_ip(t, site), site,
							  memo->from->id, memo->to->id };
	}
	memo->to->users += patch - &p->batch[p->nr];
	p->nr = patch - p->batch;
	return i - first;
}

static int plan_table(struct plan *p, struct ftrace_table *t)
{
	unsigned int i = 0;
	int ret = 0;

	while (i < t->nr && !ret) {
		unsigned int alike = plan_alike(p, t, i);

		i += alike;
		if (!alike)
			ret = plan_site(p, t, &t->sites[i++]);
	}
	return ret;
}

/* Is there nothing to look up for each site? */
static bool change_is_for_all(const struct ftrace_change *change)
{
	struct ftrace_ops_hash *hash = change->ops->func_hash;

	return !change->on ||
	       (list_empty(&change->ops->subop_list) &&
		ftrace_hash_empty(rcu_access_pointer(hash->filter_hash)) &&
		ftrace_hash_empty(rcu_access_pointer(hash->notrace_hash)));
}

static int plan_all(struct plan *p, struct ftrace_table *only)
{
	unsigned int i, room = only ? only->nr : ftrace_nr_sites();
	struct ftrace_table *t;
	int ret = 0;

	p->batch = kvmalloc_array(max(room, 1U), sizeof(*p->batch), p->gfp);
	if (!p->batch)
		return -ENOMEM;
	if (only)
		return plan_table(p, only);
	for_each_ftrace_table(t, i) {
		if (t->live)
			ret = plan_table(p, t);
		if (ret)
			break;
	}
	return ret;
}

static int cmp_entry(const void *a, const void *b)
{
	const struct ftrace_func_entry *x = *(struct ftrace_func_entry * const *)a;
	const struct ftrace_func_entry *y = *(struct ftrace_func_entry * const *)b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static int plan_hashes(struct plan *p, const struct ftrace_scope *scope)
{
	struct ftrace_func_entry **entries, *entry;
	unsigned int nr = 0, room = 0;
	struct hlist_node *tmp;
	int i, ret = 0;

	for (int h = 0; h < ARRAY_SIZE(scope->hash); h++)
		room += scope->hash[h] ? scope->hash[h]->count : 0;
	if (!room)
		return 0;

	entries = kvmalloc_array(room, sizeof(*entries), p->gfp);
	p->batch = kvmalloc_array(room, sizeof(*p->batch), p->gfp);
	if (!entries || !p->batch) {
		kvfree(entries);
		return -ENOMEM;
	}

	for (int h = 0; h < ARRAY_SIZE(scope->hash); h++) {
		if (!scope->hash[h])
			continue;
		for_each_ftrace_entry(scope->hash[h], entry, tmp, i)
			entries[nr++] = entry;
	}
	if (nr > 1)
		sort(entries, nr, sizeof(*entries), cmp_entry, NULL);

	for (unsigned int n = 0; n < nr && !ret; n++) {
		bool both = n + 1 < nr && entries[n]->ip == entries[n + 1]->ip;
		struct ftrace_table *t;
		struct dyn_ftrace *site;

		entry = entries[n];
		n += both;
		if (both && entry->exact == entries[n]->exact)
			continue;
		site = ftrace_find_site(entry->ip, &t);
		/* A filter may outlive the module that it was for. */
		if (site && t->live)
			ret = plan_site(p, t, site);
	}
	kvfree(entries);
	return ret;
}

static void class_leave(u32 id, unsigned int sites)
{
	struct ftrace_class *c = ftrace_class_nth(id);

	c->users -= sites;
	if (!c->users)
		ftrace_class_put(c);
}

static void site_move(struct dyn_ftrace *site, u32 to, u32 flags)
{
	site->state = (site->state & ~SITE_CLASS_MASK) | to | flags;
}

/* Classes that a plan made on its way, and that no site has. */
static void drop_unused_classes(void)
{
	for (unsigned int id = 1; id < ftrace_nr_classes(); id++) {
		struct ftrace_class *c = ftrace_class_nth(id);

		if (c && !c->users)
			ftrace_class_put(c);
	}
}

/* Tell what is wrong with a site, once, and leave it alone from now on. */
static void site_fail(struct ftrace_patch *patch)
{
	u8 want[FTRACE_INSN_MAX], found[FTRACE_INSN_MAX];
	unsigned int len;

	len = arch_ftrace_insn(patch->ip, ftrace_targets[patch->from], want);
	if (copy_from_kernel_nofault(found, (void *)patch->ip, len))
		memset(found, 0, len);
	pr_err("%pS at 0x%lx: expected %*ph, found %*ph; it can not be traced\n",
	       (void *)patch->ip, patch->ip, len, want, len, found);

	class_leave(patch->to, 1);
	class_leave(patch->from, 1);
	ftrace_class_nth(0)->users++;
	site_move(patch->site, 0, SITE_FAILED);
}

/*
 * Compare what all sites hold with what they should. One that is not as
 * expected leaves the plan, which fails if somebody asked for just that one.
 */
static int plan_verify(struct plan *p)
{
	unsigned int kept = 0, next = 0;
	int ret = 0;

	while (next < p->nr) {
		struct ftrace_patch *patch = &p->batch[next];
		unsigned int good = arch_ftrace_check(patch, p->nr - next, ftrace_targets);

		if (kept != next)
			memmove(&p->batch[kept], patch, good * sizeof(*patch));
		kept += good;
		next += good;
		if (next == p->nr)
			break;

		patch = &p->batch[next++];
		if (wanted_exactly(p, patch->ip))
			ret = -EINVAL;
		site_fail(patch);
	}
	p->nr = kept;
	return ret;
}

static u32 site_flags(const struct ftrace_class *c)
{
	if (!c->nr)
		return 0;
	if (ftrace_class_flag(c, FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT))
		return SITE_TOUCHED | SITE_MODIFIED;
	return SITE_TOUCHED;
}

static int plan_carry_out(struct plan *p)
{
	int ret;

	/* A CPU that comes up would miss a broadcast. */
	cpus_read_lock();
	mutex_lock(&text_mutex);
	ret = plan_verify(p);
	if (!ret)
		arch_ftrace_patch(p->batch, p->nr, ftrace_targets);
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
	return ret;
}

/* Sites of one class that go to one class, one after the other. */
static unsigned int commit_alike(struct ftrace_patch *batch, unsigned int nr)
{
	u32 from = batch->from, to = batch->to, flags = site_flags(ftrace_class_nth(to));
	unsigned int i;

	for (i = 0; i < nr && batch[i].from == from && batch[i].to == to; i++)
		site_move(batch[i].site, to, flags);
	class_leave(from, i);
	return i;
}

static void plan_commit(struct plan *p)
{
	for (unsigned int i = 0; i < p->nr; )
		i += commit_alike(&p->batch[i], p->nr - i);
}

static void plan_drop(struct plan *p)
{
	for (unsigned int i = 0; i < p->nr; i++)
		class_leave(p->batch[i].to, 1);
}

/**
 * ftrace_plan_run - carry out a change
 * @changes: the ops that change; their filters are the new ones already
 * @nr: how many
 * @scope: the sites to look at: all that may have or get one of the ops
 * @flags: see enum ftrace_plan_flags
 *
 * Return: 0, all sites call what they should; or an error with nothing changed:
 * -ENOMEM; -EBUSY where ops cannot be on one site, or what the owner of a direct
 * caller says to it; -EINVAL where a site that is asked for by name cannot be
 * traced; -ERANGE where a direct caller is too far away; -ENODEV after
 * ftrace_kill(). A change that only takes ops away returns 0, or -ENODEV.
 * Context: ftrace_lock held, text_mutex not; may sleep.
 */
int ftrace_plan_run(const struct ftrace_change *changes, unsigned int nr,
		    const struct ftrace_scope *scope, unsigned int flags)
{
	struct plan p = {
		.changes = changes,
		.nr_changes = nr,
		.flags = flags,
		.gfp = flags & FTRACE_PLAN_REMOVES ? GFP_KERNEL | __GFP_NOFAIL : GFP_KERNEL,
	};
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (unlikely(ftrace_disabled))
		return -ENODEV;

	p.all = nr == 1 && change_is_for_all(changes);

	if (scope->all || scope->table)
		ret = plan_all(&p, scope->table);
	else
		ret = plan_hashes(&p, scope);
	if (!ret && p.nr)
		ret = plan_carry_out(&p);

	if (ret)
		plan_drop(&p);
	else
		plan_commit(&p);
	if (ret || nr > 1)
		drop_unused_classes();
	kvfree(p.batch);
	return ret;
}
