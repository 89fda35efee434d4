// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sites come and go: at boot, when init memory is freed, with modules.
 *
 * The calls that the compiler made become nops before their text runs, which
 * needs no memory and cannot fail. The table that makes them traceable comes
 * after; without memory for it the functions run, but are not traced.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timex.h>

#include <asm/sections.h>

#include "class.h"
#include "core.h"
#include "names.h"
#include "plan.h"
#include "table.h"

/* What dyn_ftrace_total_info shows: sites, pages of tables, tables. */
unsigned long ftrace_update_tot_cnt;
unsigned long ftrace_number_of_pages;
unsigned long ftrace_number_of_groups;

static void account(const struct ftrace_table *t, int sign)
{
	ftrace_update_tot_cnt += sign * (long)t->nr;
	ftrace_number_of_pages += sign * (long)DIV_ROUND_UP(t->nr * sizeof(*t->sites),
							    PAGE_SIZE);
	ftrace_number_of_groups += sign;
}

static int cmp_ips(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* The linker leaves them sorted, unless it was told to shuffle sections. */
static void sort_ips(unsigned long *ips, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++) {
		if (ips[i - 1] > ips[i]) {
			sort(ips, nr, sizeof(*ips), cmp_ips, NULL);
			return;
		}
	}
}

/**
 * ftrace_mod_convert - turn calls into nops in text that does not run yet
 * @ips: addresses of sites
 * @nr: how many
 * @start: first address of the text
 * @end: first address after it
 *
 * Return: how many became nops; the others are reported.
 * Context: boot, or the loading of a module.
 */
unsigned int ftrace_mod_convert(const unsigned long *ips, unsigned int nr,
				unsigned long start, unsigned long end)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (ips[i] < start || ips[i] >= end)
			continue;
		if (arch_ftrace_init_site(ips[i]))
			pr_warn("%pS: no call for tracing here, but %*ph\n", (void *)ips[i],
				MCOUNT_INSN_SIZE, (void *)ips[i]);
		else
			done++;
	}
	arch_ftrace_init_done();
	return done;
}

/* A site that was not a call of the compiler's must not become one of ours. */
static void check_sites(struct ftrace_table *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		if (!arch_ftrace_site_calls(site_ip(t, &t->sites[i]), 0))
			t->sites[i].state |= SITE_FAILED;
		ftrace_yield(i);
	}
}

static int add_table(struct module *mod, unsigned long start, unsigned long end,
		     const unsigned long *ips, unsigned int nr, bool live)
{
	struct ftrace_table *t;
	int ret;

	t = ftrace_table_build(mod, start, end, ips, nr);
	if (IS_ERR_OR_NULL(t))
		return PTR_ERR_OR_ZERO(t);
	check_sites(t);
	t->live = live;
	ret = ftrace_tables_add(t);
	if (ret)
		ftrace_table_free(t);
	else
		account(t, 1);
	return ret;
}

/* The text of a table is about to go: nobody has its sites any more. */
static void drop_table(struct ftrace_table *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		struct ftrace_class *c = ftrace_class_nth(site_class(&t->sites[i]));

		c->users--;
		if (!c->users)
			ftrace_class_put(c);
		ftrace_yield(i);
	}
	account(t, -1);
	ftrace_tables_drop(t);
}

/* A table whose text lies in a range; with @mod, of that module, wherever. */
static struct ftrace_table *find_table(struct module *mod, unsigned long start,
				       unsigned long end)
{
	struct ftrace_table *t;
	unsigned int i;

	for_each_ftrace_table(t, i)
		if (t->nr && t->mod == mod && t->start >= start && t->end <= end)
			return t;
	return NULL;
}

/* Both, for the clock may not run yet, and a counter of cycles may not be there. */
struct moment {
	u64		ns;
	cycles_t	cycles;
};

static struct moment __init now(void)
{
	return (struct moment){ sched_clock(), get_cycles() };
}

static const char *__init took(char *buf, size_t size, struct moment from, struct moment to)
{
	if (to.ns != from.ns)
		snprintf(buf, size, "%llu us", div_u64(to.ns - from.ns, NSEC_PER_USEC));
	else
		snprintf(buf, size, "%llu cycles", (u64)(to.cycles - from.cycles));
	return buf;
}

/**
 * ftrace_init - find the kernel's sites and make nops of them
 *
 * Context: boot, one CPU, interrupts off.
 */
void __init ftrace_init(void)
{
	unsigned int nr = __stop_mcount_loc - __start_mcount_loc, nops;
	unsigned long *ips = __start_mcount_loc;
	struct moment start = now(), converted;
	char for_nops[32], for_tables[32];

	arch_ftrace_init();
	ftrace_names_init();

	sort_ips(ips, nr);
	nops = ftrace_mod_convert(ips, nr, (unsigned long)_stext, (unsigned long)_etext);
	nops += ftrace_mod_convert(ips, nr, (unsigned long)__init_begin,
				   (unsigned long)__init_end);
	converted = now();

	if (!nops || add_table(NULL, (unsigned long)_stext, (unsigned long)_etext,
			       ips, nr, true) ||
	    add_table(NULL, (unsigned long)__init_begin, (unsigned long)__init_end,
		      ips, nr, true)) {
		pr_err("%s, no function can be traced\n",
		       nops ? "no memory for the call sites" : "no call sites");
		ftrace_kill();
		return;
	}

	pr_info("%lu call sites in %lu bytes; %u nops in %s, tables in %s\n",
		ftrace_update_tot_cnt, ftrace_update_tot_cnt * sizeof(struct ftrace_site), nops,
		took(for_nops, sizeof(for_nops), start, converted),
		took(for_tables, sizeof(for_tables), converted, now()));

	ftrace_early_filters();
}

/**
 * ftrace_free_init_mem - the kernel's init text is about to be freed
 *
 * Context: boot, after which init text no longer runs.
 */
void __init ftrace_free_init_mem(void)
{
	ftrace_boot_snapshot();
	ftrace_free_mem(NULL, __init_begin, __init_end);
}

/* Text is about to be freed; with @names, those of its traced functions are kept. */
static void free_text(struct module *mod, void *start, void *end, bool names)
{
	struct ftrace_table *t;

	scoped_guard(mutex, &ftrace_lock) {
		t = find_table(mod, (unsigned long)start, (unsigned long)end);
		if (!t)
			return;
		if (names)
			ftrace_save_init_names(t);
		drop_table(t);
	}
	/* Last: a filter must name the sites that its ops is on. */
	ftrace_forget_sites((unsigned long)start, (unsigned long)end);
}

/**
 * ftrace_free_mem - text is about to be freed, by itself and not with its module
 * @mod: the module, NULL for the kernel
 * @start: first address
 * @end: first address after it
 *
 * Names of functions that were traced are kept for as long as the module is
 * there: the trace has their addresses.
 *
 * Context: may sleep; takes ftrace_lock.
 */
void ftrace_free_mem(struct module *mod, void *start, void *end)
{
	free_text(mod, start, end, mod);
}

#ifdef CONFIG_MODULES
static const enum mod_mem_type module_text[] = { MOD_TEXT, MOD_INIT_TEXT };

/**
 * ftrace_module_init - the text of a module is in place, but not yet run
 * @mod: the module, not visible to anyone
 *
 * Context: may sleep; takes ftrace_lock.
 */
void ftrace_module_init(struct module *mod)
{
	unsigned int nr = mod->num_ftrace_callsites;
	unsigned long *ips = mod->ftrace_callsites;
	int ret = 0;

	if (!nr)
		return;
	sort_ips(ips, nr);

	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(module_text) && !ret; i++) {
		unsigned long start = (unsigned long)mod->mem[module_text[i]].base;
		unsigned long end = start + mod->mem[module_text[i]].size;

		ftrace_mod_convert(ips, nr, start, end);
		if (!ftrace_disabled)
			ret = add_table(mod, start, end, ips, nr, false);
	}
	if (ret)
		pr_warn("%s: no memory for its call sites, not traced\n", mod->name);
}

/* Look up a short filter in a long table, or else all sites of it in the filter. */
static struct ftrace_scope table_scope(struct ftrace_table *t, struct ftrace_ops *ops)
{
	struct ftrace_hash *filter;

	filter = rcu_dereference_protected(ops->func_hash->filter_hash, true);
	if (!list_empty(&ops->subop_list) || ftrace_hash_empty(filter) ||
	    filter->count > t->nr)
		filter = NULL;
	return (struct ftrace_scope){ .table = t, .hash = { filter } };
}

/*
 * Ops that trace get the functions of a new module as well. Each ops has a plan
 * of its own, so that the failure of one does not affect the others.
 */
static void trace_new_table(struct ftrace_table *t)
{
	struct ftrace_ops *ops;

	for_each_ftrace_ops(ops) {
		struct ftrace_change change = { ops, true };
		struct ftrace_scope scope = table_scope(t, ops);
		int ret;

		cond_resched();
		if (!ftrace_ops_active(ops))
			continue;
		ret = ftrace_plan_run(&change, 1, &scope, 0);
		if (ret)
			pr_warn("%s: not traced by %ps, error %d\n", t->mod->name,
				ops->func, ret);
	}
}

/**
 * ftrace_module_enable - the text of a module is read-only now and may be patched
 * @mod: the module, in state MODULE_STATE_COMING
 *
 * Context: may sleep; takes ftrace_lock.
 */
void ftrace_module_enable(struct module *mod)
{
	struct ftrace_table *t;
	unsigned int i;

	/* Filters first, that waited for this module by name. */
	ftrace_mod_wait_apply(mod);

	guard(mutex)(&ftrace_lock);
	if (ftrace_disabled)
		return;
	for_each_ftrace_table(t, i) {
		if (t->mod != mod)
			continue;
		t->live = true;
		trace_new_table(t);
	}
}

/**
 * ftrace_release_mod - a module is about to go, or its loading has failed
 * @mod: the module, of which nothing runs any more
 *
 * Context: may sleep; takes ftrace_lock. May be called twice.
 */
void ftrace_release_mod(struct module *mod)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(module_text); i++) {
		const struct module_memory *mem = &mod->mem[module_text[i]];

		if (mem->size)
			free_text(mod, mem->base, mem->base + mem->size, false);
	}
	ftrace_drop_init_names(mod);
}
#endif
