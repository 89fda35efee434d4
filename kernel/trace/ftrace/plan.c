// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans: a change of what is traced, as a whole or not at all.
 *
 * A plan looks only at the sites that a change concerns, asks for the class that each of them
 * gets (next_class.c), and notes those that move to another class. All failures come before the
 * first byte of text is written: no memory, ops that cannot share a site, a site with unexpected
 * bytes. The architecture then patches all sites as one batch.
 *
 * A plan that removes an ops cannot fail, because the owner frees the ops. It also switches off
 * every slot that calls the ops, in the same batch, so a site can stay in its class if there is
 * no memory for another. Without memory for the batch, it goes through all sites with a small
 * batch that is always there.
 *
 * If all sites of a class with many ops move to one new class, this may take over the trampoline
 * (heirs.c). Then the sites change their class, and no byte of text changes.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cpu.h>
#include <linux/ftrace_arch.h>
#include <linux/list_sort.h>
#include <linux/memory.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "dispatch.h"
#include "flight.h"
#include "hash.h"
#include "next_class.h"
#include "plan.h"
#include "table.h"

static void plan_start(struct ftrace_plan *p)
{
	static u64 ids;

	p->id = ++ids;
	p->nr = 0;
	p->heirs = false;
	p->failed = false;
	p->again = false;
}

/* The callback whose slots must be switched off, if any. */
static struct ftrace_callback *plan_removes(const struct ftrace_plan *p)
{
	return p->flags & FTRACE_PLAN_REMOVES ? p->changes->ops->callback : NULL;
}

static void plan_move(struct ftrace_plan *p, struct ftrace_site *site, unsigned long ip,
		      struct ftrace_class *from, struct ftrace_class *to)
{
	if (to == from)
		return;
	to->users++;
	p->batch[p->nr++] = (struct ftrace_patch){ ip, site, from->id, to->id };
}

static int plan_site(struct ftrace_plan *p, struct ftrace_table *t, struct ftrace_site *site)
{
	struct ftrace_class *from = ftrace_class_nth(site_class(site)), *to = NULL;
	unsigned long ip = site_ip(t, site);

	if (unlikely(site->state & SITE_FAILED))
		return ftrace_plan_names(p, ip) ? -EINVAL : 0;

	/* An ops that wants all sites or none need not be asked again. */
	if (p->blanket && from->plan == p->id)
		to = from->to[p->changes->on];
	if (!to)
		to = ftrace_next_class(p, from, ip);
	if (!IS_ERR(to) && ftrace_is_thunk(ftrace_targets[to->id]) &&
	    ftrace_thunks_make(t, ftrace_targets[to->id]))
		to = p->flags & FTRACE_PLAN_REMOVES ? from : ERR_PTR(-ENOMEM);
	if (IS_ERR(to) && p->flags & FTRACE_PLAN_SPARES && to != ERR_PTR(-ENOMEM)) {
		pr_warn("%pS: not traced by %ps, error %ld\n", (void *)ip, p->changes->ops->func,
			PTR_ERR(to));
		return 0;
	}
	if (IS_ERR(to))
		return PTR_ERR(to);
	plan_move(p, site, ip, from, to);
	return 0;
}

/* Does the ops want all sites or none, so that no site must be looked up? */
static bool plan_change_is_blanket(const struct ftrace_change *change)
{
	struct ftrace_ops_hash *hash = change->ops->func_hash;

	return !change->on ||
	       (list_empty(&change->ops->subop_list) &&
		ftrace_hash_empty(rcu_access_pointer(hash->filter_hash)) &&
		ftrace_hash_empty(rcu_access_pointer(hash->notrace_hash)));
}

static int plan_table(struct ftrace_plan *p, struct ftrace_table *t)
{
	int ret = 0;

	for (unsigned int i = 0; i < t->nr && !ret; i++) {
		ret = plan_site(p, t, &t->sites[i]);
		ftrace_yield(i);
	}
	return ret;
}

/* Allocate the batch: @sites sites and all slots that must be switched off. */
static int plan_room(struct ftrace_plan *p, unsigned int sites)
{
	struct ftrace_callback *cb = plan_removes(p);

	p->batch = kvmalloc_array(max(sites + (cb ? cb->nr_slots : 0), 1U),
				  sizeof(*p->batch), GFP_KERNEL);
	return p->batch ? 0 : -ENOMEM;
}

static int plan_all(struct ftrace_plan *p, struct ftrace_table *only)
{
	struct ftrace_table *t;
	unsigned int i;
	int ret;

	ret = plan_room(p, only ? only->nr : ftrace_nr_sites());
	if (ret)
		return ret;
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

static int plan_cmp_entry(const void *a, const void *b)
{
	const struct ftrace_func_entry *x = *(struct ftrace_func_entry * const *)a;
	const struct ftrace_func_entry *y = *(struct ftrace_func_entry * const *)b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

/* Put all entries of both hashes into @entries, by address. Returns their number. */
static unsigned int plan_sort_entries(const struct ftrace_scope *scope,
				      struct ftrace_func_entry **entries)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	unsigned int nr = 0;
	int i;

	for (int h = 0; h < ARRAY_SIZE(scope->hash); h++) {
		if (!scope->hash[h])
			continue;
		for_each_ftrace_entry(scope->hash[h], entry, tmp, i) {
			ftrace_yield(nr);
			entries[nr++] = entry;
		}
	}
	if (nr > 1)
		sort(entries, nr, sizeof(*entries), plan_cmp_entry, NULL);
	return nr;
}

static int plan_entry(struct ftrace_plan *p, const struct ftrace_scope *scope,
		      const struct ftrace_func_entry *entry)
{
	struct ftrace_table *t;
	struct ftrace_site *site;

	site = ftrace_find_site(entry->ip, &t);
	/* A filter may still have the functions of an unloaded module. */
	if (!site || !t->live || (scope->table && t != scope->table))
		return 0;
	return plan_site(p, t, site);
}

static int plan_hashes(struct ftrace_plan *p, const struct ftrace_scope *scope)
{
	struct ftrace_func_entry **entries __free(kvfree) = NULL;
	unsigned int nr, room = 0;
	int ret;

	for (int h = 0; h < ARRAY_SIZE(scope->hash); h++)
		room += scope->hash[h] ? scope->hash[h]->count : 0;

	ret = plan_room(p, room);
	if (ret || !room)
		return ret;
	entries = kvmalloc_array(room, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;

	nr = plan_sort_entries(scope, entries);
	for (unsigned int n = 0; n < nr && !ret; n++) {
		bool both = n + 1 < nr && entries[n]->ip == entries[n + 1]->ip;
		const struct ftrace_func_entry *entry = entries[n];

		n += both;
		if (!both || entry->direct != entries[n]->direct)
			ret = plan_entry(p, scope, entry);
		ftrace_yield(n);
	}
	return ret;
}

static int plan_cmp_slot(void *priv, const struct list_head *a, const struct list_head *b)
{
	const struct ftrace_slot *x = list_entry(a, struct ftrace_slot, list);
	const struct ftrace_slot *y = list_entry(b, struct ftrace_slot, list);

	return x->dispatch->tramp->addr > y->dispatch->tramp->addr;
}

/*
 * Merge the first slots of the removed callback, as many as there is room for, into the sites. The
 * batch stays sorted by address. A trampoline has one slot of the callback at most.
 */
static void plan_slots(struct ftrace_plan *p, struct ftrace_callback *cb, unsigned int room)
{
	unsigned int left = min(room, cb->nr_slots), site = p->nr, to = site + left;
	struct list_head *pos = &cb->slots;
	struct ftrace_patch off;

	list_sort(NULL, &cb->slots, plan_cmp_slot);
	for (unsigned int n = 0; n < left; n++)
		pos = pos->next;
	p->nr = to;
	/* From the last to the first, so that no site is overwritten before it has moved. */
	for (; left; left--, pos = pos->prev) {
		const struct ftrace_slot *slot = list_entry(pos, struct ftrace_slot, list);

		arch_ftrace_tramp_off(slot->dispatch->tramp, slot - slot->dispatch->slot, &off);
		for (; site && p->batch[site - 1].ip > off.ip; ftrace_yield(site))
			p->batch[--to] = p->batch[--site];
		p->batch[--to] = off;
	}
}

static void site_move(struct ftrace_site *site, u32 to, u32 flags)
{
	site->state = (site->state & ~SITE_CLASS_MASK) | to | flags;
}

/* Report a site with unexpected bytes once, and exclude it from later plans. */
static void site_fail(struct ftrace_patch *patch)
{
	u8 want[FTRACE_INSN_MAX], found[FTRACE_INSN_MAX];
	unsigned int len;

	len = arch_ftrace_insn(patch->ip, ftrace_targets[patch->from], want);
	if (copy_from_kernel_nofault(found, (void *)patch->ip, len))
		memset(found, 0, len);
	pr_err("%pS at 0x%lx: expected %*ph, found %*ph; it can not be traced\n",
	       (void *)patch->ip, patch->ip, len, want, len, found);

	/*
	 * The site keeps its class. A debugger may have written the unexpected
	 * bytes, and may put the call back later: then the trampoline of the class
	 * must be there. A direct caller that was alone on the site is not the core's
	 * to keep.
	 */
	ftrace_class_put(ftrace_class_nth(patch->to), 1);
	site_move(patch->site, patch->from, SITE_FAILED);
}

/*
 * Check the bytes of all sites of the plan. A site with unexpected bytes leaves the
 * plan. If a changing ops names this site, the plan fails.
 */
static int plan_verify(struct ftrace_plan *p)
{
	unsigned int kept = 0, next = 0;
	int ret = 0;

	while (next < p->nr) {
		struct ftrace_patch *patch = &p->batch[next];
		unsigned int good = arch_ftrace_check(&(struct ftrace_batch){
			patch, p->nr - next, ftrace_targets });

		if (kept != next)
			memmove(&p->batch[kept], patch, good * sizeof(*patch));
		kept += good;
		next += good;
		if (next == p->nr)
			break;

		patch = &p->batch[next++];
		if (ftrace_plan_names(p, patch->ip))
			ret = -EINVAL;
		site_fail(patch);
		p->failed = true;
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

/* Commit consecutive sites that go from one class to one class. Returns their number. */
static unsigned int plan_commit_alike(struct ftrace_patch *batch, unsigned int nr)
{
	u32 from = batch->from, to = batch->to, flags = site_flags(ftrace_class_nth(to));
	unsigned int i;

	for (i = 0; i < nr && batch[i].site && batch[i].from == from && batch[i].to == to; i++)
		site_move(batch[i].site, to, flags);
	ftrace_class_put(ftrace_class_nth(from), i);
	return i;
}

/* Commit the sites that already call the trampoline of their new class. */
static void plan_commit_heirs(struct ftrace_plan *p)
{
	unsigned int kept = 0;

	ftrace_heirs_take(p->batch, p->nr);
	for (unsigned int i = 0; i < p->nr; ) {
		struct ftrace_patch *patch = &p->batch[i];

		ftrace_yield(i);
		if (patch->site && ftrace_targets[patch->from] == ftrace_targets[patch->to]) {
			i += plan_commit_alike(patch, p->nr - i);
		} else {
			p->batch[kept++] = *patch;
			i++;
		}
	}
	p->nr = kept;
}

static int plan_carry_out(struct ftrace_plan *p)
{
	int ret;

	/* A CPU that comes up would miss a broadcast. */
	cpus_read_lock();
	mutex_lock(&text_mutex);
	ret = plan_verify(p);
	/* A site that failed stays in its class, which then needs its trampoline. */
	p->again = !ret && p->heirs && p->failed;
	if (!ret && !p->again && p->heirs)
		plan_commit_heirs(p);
	if (!ret && !p->again)
		arch_ftrace_patch(&(struct ftrace_batch){ p->batch, p->nr, ftrace_targets });
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
	return ret;
}

static void plan_commit(struct ftrace_plan *p)
{
	unsigned int slots = 0;

	for (unsigned int i = 0; i < p->nr; ) {
		ftrace_yield(i);
		if (p->batch[i].site) {
			i += plan_commit_alike(&p->batch[i], p->nr - i);
		} else {
			slots++;
			i++;
		}
	}
	if (slots)
		ftrace_callback_is_off(plan_removes(p), slots);
}

static void plan_drop(struct ftrace_plan *p)
{
	for (unsigned int i = 0; i < p->nr; i++)
		if (p->batch[i].site)
			ftrace_class_put(ftrace_class_nth(p->batch[i].to), 1);
}

/* Used by a removal when there is no memory; ftrace_lock guards it. */
static struct ftrace_patch small_batch[64];

static void plan_small_flush(struct ftrace_plan *p)
{
	/* Only named functions can make this fail; a removal names none. */
	WARN_ON_ONCE(plan_carry_out(p));
	plan_commit(p);
	plan_start(p);
}

/* Remove an ops from all sites in several batches, without allocating memory. */
static void plan_small(struct ftrace_plan *p)
{
	struct ftrace_callback *cb = plan_removes(p);
	struct ftrace_table *t;
	unsigned int i;

	plan_drop(p);
	kvfree(p->batch);
	p->batch = small_batch;
	p->small = true;
	plan_start(p);

	for_each_ftrace_table(t, i) {
		for (unsigned int n = 0; n < t->nr && t->live; n++) {
			plan_site(p, t, &t->sites[n]);
			if (p->nr == ARRAY_SIZE(small_batch))
				plan_small_flush(p);
			ftrace_yield(n);
		}
	}
	plan_small_flush(p);

	while (cb->nr_slots) {
		plan_slots(p, cb, ARRAY_SIZE(small_batch));
		plan_small_flush(p);
	}
	p->batch = NULL;
}

/* Determine the plan and carry it out, unless it must be made again. */
static int plan_try(struct ftrace_plan *p, const struct ftrace_scope *scope)
{
	int ret;

	plan_start(p);
	if (scope->all || (scope->table && !scope->hash[0]))
		ret = plan_all(p, scope->table);
	else
		ret = plan_hashes(p, scope);
	if (!ret && p->heirs)
		ret = ftrace_heirs_prepare(p->batch, p->nr, plan_removes(p));
	if (!ret && plan_removes(p))
		plan_slots(p, plan_removes(p), plan_removes(p)->nr_slots);
	if (!ret && p->nr)
		ret = plan_carry_out(p);
	if (p->again) {
		plan_drop(p);
		kvfree(p->batch);
		p->batch = NULL;
	}
	return ret;
}

/*
 * Turns all sites of a table into nops. The text may still run until it is freed: through
 * parameters of the module, and by work that it has queued. So no site may go on calling a
 * trampoline that can be freed before. Needs no memory. A site with unexpected bytes keeps its
 * class. ftrace_lock held, text_mutex not held.
 */
void ftrace_plan_clear(struct ftrace_table *t)
{
	struct ftrace_plan p = { .batch = small_batch };

	lockdep_assert_held(&ftrace_lock);
	plan_start(&p);
	for (unsigned int i = 0; i < t->nr; i++) {
		struct ftrace_site *site = &t->sites[i];

		ftrace_yield(i);
		if (!site_class(site) || site->state & SITE_FAILED)
			continue;
		plan_move(&p, site, site_ip(t, site), ftrace_class_nth(site_class(site)),
			  ftrace_class_nth(0));
		if (p.nr == ARRAY_SIZE(small_batch))
			plan_small_flush(&p);
	}
	if (p.nr)
		plan_small_flush(&p);
}

/**
 * ftrace_plan_run - carry out a change
 * @changes: the ops that change, youngest first; they already have their new filters
 * @nr: number of changes
 * @scope: the sites to look at: all sites that may have or get one of the ops
 * @flags: see enum ftrace_plan_flags
 *
 * Context: Process context, may sleep. ftrace_lock held, text_mutex not held.
 * Return: 0 if all sites call what they must call; or an error with nothing
 *	changed: -ENOMEM; -EBUSY if ops cannot share a site, or the answer of the
 *	owner of a direct caller; -EINVAL if a site that was named exactly cannot be
 *	traced; -ERANGE if a direct caller is too far away; -ENODEV after
 *	ftrace_kill(). A change that removes an ops returns 0 or -ENODEV.
 */
int ftrace_plan_run(const struct ftrace_change *changes, unsigned int nr,
		    const struct ftrace_scope *scope, unsigned int flags)
{
	struct ftrace_plan p = { .changes = changes, .nr_changes = nr, .flags = flags };
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_killed())
		return -ENODEV;
	if (flags & FTRACE_PLAN_NAMED && ftrace_dispatches_full())
		return -ENOMEM;

	p.blanket = nr == 1 && plan_change_is_blanket(changes);
	do {
		ret = plan_try(&p, scope);
	} while (p.again);

	if (!ret) {
		plan_commit(&p);
	} else if (flags & FTRACE_PLAN_REMOVES) {
		plan_small(&p);
		ret = 0;
	} else {
		plan_drop(&p);
	}
	if (flags & FTRACE_PLAN_REMOVES) {
		ftrace_callback_shut(changes->ops->callback);
		ftrace_classes_lose(changes->ops);
	}
	kvfree(p.batch);
	return ret;
}
