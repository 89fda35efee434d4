/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call sites and their tables.
 *
 * A table holds the sites of one stretch of text that is loaded and freed as a
 * whole: the text of the kernel, its init text, the text of a module, its init text.
 */
#ifndef _FTRACE_TABLE_H
#define _FTRACE_TABLE_H

#include <linux/ftrace_arch.h>
#include <linux/list.h>
#include <linux/rcupdate.h>

/* ftrace_site.state: the low bits are the number of the class, the high bits are flags. */
#define SITE_CLASS_MASK		GENMASK(23, 0)
#define SITE_FAILED		BIT(24)		/* unexpected bytes; not patched */
#define SITE_TOUCHED		BIT(25)		/* had a callback since boot */
#define SITE_MODIFIED		BIT(26)		/* had IPMODIFY or a direct caller */

/**
 * struct ftrace_table - the call sites of a stretch of text
 * @start: first address of the text
 * @end: first address after the text
 * @mod: the module, NULL for the kernel
 * @sites: the sites, sorted by address; from ftrace_sites_alloc()
 * @nr: number of sites; 0 once the text was freed
 * @live: the sites may be patched; those of a module only when its text is read-only
 * @thunks: the thunks of the sites, by their targets; NULL until they are first needed
 * @rcu: frees the table
 */
struct ftrace_table {
	unsigned long		start;
	unsigned long		end;
	struct module		*mod;
	struct ftrace_site	*sites;
	unsigned int		nr;
	bool			live;
	struct ftrace_thunks	*thunks[FTRACE_NR_THUNKS];
	struct rcu_head		rcu;
};

/**
 * struct ftrace_tables - all tables, sorted by address
 * @rcu: frees the array
 * @nr: number of tables
 * @table: the tables
 */
struct ftrace_tables {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct ftrace_table	*table[];
};

/* Made by the linker from what recordmcount.pl lists. */
extern unsigned long __start_mcount_loc[], __stop_mcount_loc[];

/* Replaced as a whole with ftrace_lock held, read in any context. */
extern struct ftrace_tables __rcu *ftrace_tables;

/* Incremented with each change of the array; ftrace_lock held. */
extern u64 ftrace_tables_gen;

/* The caller holds ftrace_lock. */
#define for_each_ftrace_table(_t, _i)					\
	for ((_i) = 0; ((_t) = ftrace_table_nth(_i)); (_i)++)

struct ftrace_site *ftrace_sites_alloc(unsigned int nr);
struct ftrace_table *ftrace_table_nth(unsigned int i);
struct ftrace_site *ftrace_find_site(unsigned long ip, struct ftrace_table **table);
unsigned long ftrace_site_of(unsigned long addr);
struct ftrace_site *ftrace_find_site_in(struct ftrace_table *t, unsigned long start,
					unsigned long end);
struct ftrace_table *ftrace_table_of(unsigned long ip);
unsigned int ftrace_nr_sites(void);

int ftrace_tables_add(struct ftrace_table *add);
void ftrace_tables_drop(struct ftrace_table *t);
struct ftrace_table *ftrace_table_build(struct module *mod, unsigned long start,
					unsigned long end,
					const unsigned long *ips, unsigned int nr);
void ftrace_table_free(struct ftrace_table *t);

static inline unsigned long site_ip(const struct ftrace_table *t,
				    const struct ftrace_site *site)
{
	return t->start + site->off;
}

static inline u32 site_class(const struct ftrace_site *site)
{
	return site->state & SITE_CLASS_MASK;
}

#endif
