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
	return want ? ftrace_class_add(c, ops) : ftrace_class_del(c, ops, p->gfp);
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

/* Did anybody ask by name for this site, of which nothing can be had? */
static bool wanted_exactly(struct plan *p, unsigned long ip)
{
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
	const struct memo *memo = &p->memo[p->changes->on];
	unsigned long ip = site_ip(t, site);

	if (p->all && memo->from == from && !(site->state & SITE_FAILED)) {
		plan_move(p, site, ip, from, memo->to);
		return 0;
	}
	if (unlikely(site->state & SITE_FAILED))
		return wanted_exactly(p, ip) ? -EINVAL : 0;

	to = site_next(p, from, ip);
	if (IS_ERR(to))
		return PTR_ERR(to);
	plan_move(p, site, ip, from, to);
	return 0;
}

static int plan_table(struct plan *p, struct ftrace_table *t)
{
	int ret = 0;

	for (unsigned int i = 0; i < t->nr && !ret; i++)
		ret = plan_site(p, t, &t->sites[i]);
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

static int cmp_ip(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static int plan_hashes(struct plan *p, struct ftrace_hash *const *hash)
{
	struct ftrace_func_entry *entry;
	unsigned int nr = 0, room = 0;
	struct hlist_node *tmp;
	unsigned long *ips;
	int i, ret = 0;

	for (int h = 0; h < ARRAY_SIZE(((struct ftrace_scope *)0)->hash); h++)
		room += hash[h] ? hash[h]->count : 0;
	if (!room)
		return 0;

	ips = kvmalloc_array(room, sizeof(*ips), p->gfp);
	p->batch = kvmalloc_array(room, sizeof(*p->batch), p->gfp);
	if (!ips || !p->batch) {
		kvfree(ips);
		return -ENOMEM;
	}

	for (int h = 0; h < ARRAY_SIZE(((struct ftrace_scope *)0)->hash); h++) {
		if (!hash[h])
			continue;
		for_each_ftrace_entry(hash[h], entry, tmp, i)
			ips[nr++] = entry->ip;
	}
	if (nr > 1)
		sort(ips, nr, sizeof(*ips), cmp_ip, NULL);

	for (unsigned int n = 0; n < nr && !ret; n++) {
		struct ftrace_table *t;
		struct dyn_ftrace *site;

		if (n && ips[n] == ips[n - 1])
			continue;
		site = ftrace_find_site(ips[n], &t);
		/* A filter may outlive the module that it was for. */
		if (site && t->live)
			ret = plan_site(p, t, site);
	}
	kvfree(ips);
	return ret;
}

static void site_move(struct ftrace_patch *patch, u32 flags)
{
	struct ftrace_class *from = ftrace_class_nth(patch->from);

	patch->site->state &= ~SITE_CLASS_MASK;
	patch->site->state |= patch->to | flags;
	from->users--;
	if (!from->users)
		ftrace_class_put(from);
}

static void site_drop(struct ftrace_patch *patch)
{
	struct ftrace_class *to = ftrace_class_nth(patch->to);

	to->users--;
	if (!to->users)
		ftrace_class_put(to);
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

	site_drop(patch);
	patch->to = 0;
	ftrace_class_nth(0)->users++;
	site_move(patch, SITE_FAILED);
}

/*
 * Compare what all sites hold with what they should. One that is not as
 * expected leaves the plan, which fails if somebody asked for just that one.
 */
static int plan_verify(struct plan *p)
{
	unsigned int kept = 0;
	int ret = 0;

	for (unsigned int i = 0; i < p->nr; i++) {
		struct ftrace_patch *patch = &p->batch[i];

		if (likely(arch_ftrace_site_calls(patch->ip, ftrace_targets[patch->from]))) {
			p->batch[kept++] = *patch;
			continue;
		}
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

/**
 * ftrace_plan_run - carry out a change
 * @changes: the ops that change; their filters are the new ones already
 * @nr: how many
 * @scope: the sites to look at: all that may have or get one of the ops
 *
 * Return: 0, all sites call what they should; or an error with nothing changed:
 * -ENOMEM; -EBUSY where ops cannot be on one site; -EINVAL where a site that
 * was asked for by name cannot be traced. A change that only takes ops away
 * returns 0.
 * Context: ftrace_lock held, text_mutex not; may sleep.
 */
int ftrace_plan_run(const struct ftrace_change *changes, unsigned int nr,
		    const struct ftrace_scope *scope)
{
	struct plan p = {
		.changes = changes,
		.nr_changes = nr,
		.gfp = GFP_KERNEL | __GFP_NOFAIL,
	};
	u32 flags = 0, last = 0;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	for (unsigned int i = 0; i < nr; i++)
		if (changes[i].on)
			p.gfp = GFP_KERNEL;
	p.all = nr == 1 && change_is_for_all(changes);

	if (scope->all || scope->table)
		ret = plan_all(&p, scope->table);
	else
		ret = plan_hashes(&p, scope->hash);
	if (!ret && p.nr)
		ret = plan_carry_out(&p);

	for (unsigned int i = 0; i < p.nr; i++) {
		struct ftrace_patch *patch = &p.batch[i];

		if (ret) {
			site_drop(patch);
			continue;
		}
		if (patch->to != last) {
			last = patch->to;
			flags = site_flags(ftrace_class_nth(last));
		}
		site_move(patch, flags);
	}
	if (ret || nr > 1)
		drop_unused_classes();
	kvfree(p.batch);
	return ret;
}
