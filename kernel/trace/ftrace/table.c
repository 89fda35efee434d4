// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of call sites, and finding a site by its address.
 *
 * A site takes 8 bytes: its offset from the start of its table's text, and its state. The tables
 * are in an array that is replaced as a whole when a table is added. So a look-up is two
 * searches in sorted arrays, takes no lock and is safe in any context. To remove a table there
 * may be no memory for another array: it stays in the array without its sites until the array is
 * replaced.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core.h"
#include "names.h"
#include "table.h"

struct ftrace_tables __rcu *ftrace_tables;
u64 ftrace_tables_gen;

/* Tables are in the order of addresses; NULL behind the last. ftrace_lock held. */
struct ftrace_table *ftrace_table_nth(unsigned int i)
{
	struct ftrace_tables *all = ftrace_locked(ftrace_tables);

	return all && i < all->nr ? all->table[i] : NULL;
}

/*
 * The table of the text that @ip lies in. It stays while preemption is off or ftrace_lock is
 * held.
 */
struct ftrace_table *ftrace_table_of(unsigned long ip)
{
	struct ftrace_tables *all = rcu_dereference_raw_check(ftrace_tables);
	unsigned int lo = 0, hi = all ? all->nr : 0;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (ip >= all->table[mid]->end)
			lo = mid + 1;
		else if (ip < all->table[mid]->start)
			hi = mid;
		else
			return all->table[mid];
	}
	return NULL;
}

/* The first site of @t with a byte from @start to @end, both included; NULL if there is none. */
struct ftrace_site *ftrace_find_site_in(struct ftrace_table *t, unsigned long start,
					unsigned long end)
{
	/* Pairs with WRITE_ONCE() in ftrace_tables_drop(). */
	unsigned int nr = READ_ONCE(t->nr), lo = 0, hi = nr;

	/* The first site that does not end at or before @start. */
	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (site_ip(t, &t->sites[mid]) + MCOUNT_INSN_SIZE <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && site_ip(t, &t->sites[lo]) <= end ? &t->sites[lo] : NULL;
}

/**
 * ftrace_find_site - find the site at an address
 * @ip: address of the first byte of a site
 * @table: where to put the table of the site
 *
 * Context: Any context.
 * Return: the site, NULL if there is none; see ftrace_table_of() for how long the
 *	site stays.
 */
struct ftrace_site *ftrace_find_site(unsigned long ip, struct ftrace_table **table)
{
	struct ftrace_table *t = ftrace_table_of(ip);
	struct ftrace_site *site;

	if (!t)
		return NULL;
	site = ftrace_find_site_in(t, ip, ip);
	if (!site || site_ip(t, site) != ip)
		return NULL;
	*table = t;
	return site;
}

/* How many sites may be patched now. ftrace_lock held. */
unsigned int ftrace_nr_sites(void)
{
	struct ftrace_table *t;
	unsigned int i, nr = 0;

	lockdep_assert_held(&ftrace_lock);
	for_each_ftrace_table(t, i)
		nr += t->live ? t->nr : 0;
	return nr;
}

/**
 * ftrace_location_range - find the first call site in a range of addresses
 * @start: first byte of the range
 * @end: last byte of the range
 *
 * Context: Any context.
 * Return: address of the first site that has a byte in the range, 0 if there is
 *	none.
 */
unsigned long ftrace_location_range(unsigned long start, unsigned long end)
{
	struct ftrace_site *site = NULL;
	struct ftrace_table *t;

	guard(preempt_notrace)();
	t = ftrace_table_of(start) ?: ftrace_table_of(end);
	if (t)
		site = ftrace_find_site_in(t, start, end);
	return site ? site_ip(t, site) : 0;
}

/**
 * ftrace_location - find the call site of a function
 * @ip: address of a call site, or of a function
 *
 * Context: Any context; in NMI context only if @ip is the address of a site.
 * Return: address of the site, 0 if there is none.
 */
unsigned long ftrace_location(unsigned long ip)
{
	unsigned long loc = ftrace_location_range(ip, ip);
	unsigned long size, offset;

	if (!loc && kallsyms_lookup_size_offset(ip, &size, &offset) && !offset && size)
		loc = ftrace_location_range(ip, ip + size - 1);
	return loc;
}

/**
 * ftrace_site_of - find the call site that an address names
 * @addr: address of a function, or of a call site
 *
 * Other than ftrace_location(), this function takes no address inside a site.
 *
 * Context: Any context except NMI.
 * Return: address of the site, 0 if there is none.
 */
unsigned long ftrace_site_of(unsigned long addr)
{
	unsigned long loc = ftrace_location(addr);

	return addr <= loc ? loc : 0;
}

/* Is there a call site, where the core patches, in a range of text? Any context. */
int ftrace_text_reserved(const void *start, const void *end)
{
	return !!ftrace_location_range((unsigned long)start, (unsigned long)end);
}

/* The sites of a table. @rcu frees them without memory and without a wait. */
struct table_sites {
	struct rcu_head		rcu;
	struct ftrace_site	site[];
};

static struct table_sites *table_sites_of(const struct ftrace_table *t)
{
	return container_of(t->sites, struct table_sites, site[0]);
}

/* Not initialised; NULL without memory. */
struct ftrace_site *ftrace_sites_alloc(unsigned int nr)
{
	struct table_sites *sites = kvmalloc(struct_size(sites, site, nr), GFP_KERNEL);

	return sites ? sites->site : NULL;
}

/* Frees a table, or NULL, that was never in the array. */
void ftrace_table_free(struct ftrace_table *t)
{
	if (t && t->sites)
		kvfree(table_sites_of(t));
	kfree(t);
}

DEFINE_FREE(ftrace_table, struct ftrace_table *, ftrace_table_free(_T))

/*
 * Makes a table of the sites in a stretch of text. A site that is not at the start of a function
 * belongs to a weak function that another one replaced at link time: nothing calls it and no
 * symbol names it, so it is left out. NULL if there is no site, or -ENOMEM. ftrace_lock held.
 */
struct ftrace_table *ftrace_table_build(struct module *mod, unsigned long start,
					unsigned long end,
					const unsigned long *ips, unsigned int nr)
{
	struct ftrace_table *t __free(ftrace_table) = NULL;
	struct ftrace_names names;
	unsigned int kept = 0;

	lockdep_assert_held(&ftrace_lock);
	while (nr && *ips < start)
		ips++, nr--;
	while (nr && ips[nr - 1] >= end)
		nr--;
	if (!nr)
		return NULL;

	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return ERR_PTR(-ENOMEM);
	t->start = start;
	t->end = end;
	t->mod = mod;
	t->sites = ftrace_sites_alloc(nr);
	if (!t->sites || ftrace_names_start(&names, t->mod, t->start, t->end))
		return ERR_PTR(-ENOMEM);

	for (unsigned int i = 0; i < nr; i++) {
		struct ftrace_site *site = &t->sites[kept];

		ftrace_yield(i);
		if (!ftrace_names_find(&names, ips[i]) ||
		    ips[i] - names.addr > FTRACE_MCOUNT_MAX_OFFSET) {
			pr_debug("%ps: overridden, not traced\n", (void *)ips[i]);
			continue;
		}
		site->off = ips[i] - start;
		site->state = 0;
		kept++;
	}
	t->nr = kept;
	ftrace_names_end(&names);
	return kept ? no_free_ptr(t) : NULL;
}

/*
 * Removes a table, no site of which has a callback, before its text is freed. Cannot fail, and
 * waits for no grace period. ftrace_lock held.
 */
void ftrace_tables_drop(struct ftrace_table *t)
{
	lockdep_assert_held(&ftrace_lock);
	/*
	 * A task that found the table before may still be looking for a site: pairs with
	 * READ_ONCE() in ftrace_find_site_in(). The sites are freed after that task.
	 */
	WRITE_ONCE(t->nr, 0);
	t->mod = NULL;
	t->live = false;
	ftrace_tables_gen++;
	kvfree_rcu(table_sites_of(t), rcu);
}

/* Adds a table to the array: 0 or -ENOMEM. ftrace_lock held. */
int ftrace_tables_add(struct ftrace_table *add)
{
	struct ftrace_tables *old = ftrace_locked(ftrace_tables);
	unsigned int nr = old ? old->nr : 0;
	struct ftrace_tables *new;

	lockdep_assert_held(&ftrace_lock);
	new = kvzalloc(struct_size(new, table, nr + 1), GFP_KERNEL);
	if (!new)
		return -ENOMEM;

	for (unsigned int i = 0; i < nr; i++) {
		struct ftrace_table *t = old->table[i];

		if (!t->nr)
			continue;
		if (add && add->start < t->start) {
			new->table[new->nr++] = add;
			add = NULL;
		}
		new->table[new->nr++] = t;
	}
	if (add)
		new->table[new->nr++] = add;

	rcu_assign_pointer(ftrace_tables, new);
	ftrace_tables_gen++;
	for (unsigned int i = 0; i < nr; i++)
		if (!old->table[i]->nr)
			kfree_rcu(old->table[i], rcu);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}
