// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of sites come and go, with modules and when init memory is freed.
 *
 * The compiler's calls become nops before their text runs, which needs no memory and cannot
 * fail. The table that makes the sites traceable is made after that. Without memory for it, the
 * functions run and are not traced.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "class.h"
#include "core.h"
#include "dispatch.h"
#include "filter_edit.h"
#include "flight.h"
#include "graph_files.h"
#include "kallsyms.h"
#include "modules.h"
#include "ops.h"
#include "plan.h"
#include "probes.h"
#include "table.h"

/*
 * dyn_ftrace_total_info shows these: sites, pages of tables, tables; how many ns boot and
 * the loading of modules took for call sites.
 */
unsigned long ftrace_update_tot_cnt;
unsigned long ftrace_number_of_pages;
unsigned long ftrace_number_of_groups;
u64 ftrace_update_time;
u64 ftrace_total_mod_time;

static void mod_account(const struct ftrace_table *t, int sign)
{
	ftrace_update_tot_cnt += sign * (long)t->nr;
	ftrace_number_of_pages += sign * (long)DIV_ROUND_UP(t->nr * sizeof(*t->sites),
							    PAGE_SIZE);
	ftrace_number_of_groups += sign;
}

static int mod_cmp_ips(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* The linker leaves the addresses sorted, unless it was told to shuffle sections. */
void ftrace_text_sort(unsigned long *ips, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++) {
		if (ips[i - 1] > ips[i]) {
			sort(ips, nr, sizeof(*ips), mod_cmp_ips, NULL);
			return;
		}
	}
}

/*
 * Turns calls into nops in text that does not run yet. Returns how many; other sites are
 * reported.
 */
unsigned int ftrace_text_convert(const unsigned long *ips, unsigned int nr,
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

/* If the compiler made no call here, the site must not become a call of ours. */
static void mod_check_sites(struct ftrace_table *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		if (!arch_ftrace_site_calls(site_ip(t, &t->sites[i]), 0))
			t->sites[i].state |= SITE_FAILED;
		ftrace_yield(i);
	}
}

/*
 * Makes the table of a stretch of text from @ips, which are sorted and may have other sites. 0,
 * also if there are none, or -ENOMEM. ftrace_lock held.
 */
int ftrace_text_add(struct module *mod, unsigned long start, unsigned long end,
		    const unsigned long *ips, unsigned int nr, bool live)
{
	struct ftrace_table *t;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	t = ftrace_table_build(mod, start, end, ips, nr);
	if (IS_ERR_OR_NULL(t))
		return PTR_ERR_OR_ZERO(t);
	mod_check_sites(t);
	t->live = live;
	ret = ftrace_tables_add(t);
	if (ret)
		ftrace_table_free(t);
	else
		mod_account(t, 1);
	return ret;
}

/*
 * Remove a table whose text is about to be freed, and take its sites out of their classes.
 * After ftrace_kill() the sites call their trampolines as long as there is text.
 */
static void mod_drop_table(struct ftrace_table *t)
{
	if (!ftrace_killed()) {
		ftrace_plan_clear(t);
		for (unsigned int i = 0; i < t->nr; i++) {
			ftrace_class_put(ftrace_class_nth(site_class(&t->sites[i])), 1);
			ftrace_yield(i);
		}
	}
	mod_account(t, -1);
	ftrace_thunks_retire(t);
	ftrace_tables_drop(t);
}

/* Find a table of @mod, or of the kernel if @mod is NULL, whose text lies in a range. */
static struct ftrace_table *mod_find_table(struct module *mod, unsigned long start,
					   unsigned long end)
{
	struct ftrace_table *t;
	unsigned int i;

	for_each_ftrace_table(t, i)
		if (t->nr && t->mod == mod && t->start >= start && t->end <= end)
			return t;
	return NULL;
}

/*
 * Remove the table of text that is about to be freed, if there is one. With @names, keep the
 * names of the functions that were traced.
 */
static bool mod_free_text(struct module *mod, void *start, void *end, bool names)
{
	struct ftrace_table *t;

	scoped_guard(mutex, &ftrace_lock) {
		t = mod_find_table(mod, (unsigned long)start, (unsigned long)end);
		if (!t)
			return false;
		if (names)
			ftrace_save_init_names(t);
		mod_drop_table(t);
	}
	/* This comes last: a filter must have all sites that its ops is on. */
	ftrace_forget_sites((unsigned long)start, (unsigned long)end);
	ftrace_forget_probes((unsigned long)start, (unsigned long)end);
	return true;
}

/**
 * ftrace_free_mem - remove the sites of text that is freed before its module
 * @mod: the module, NULL for the kernel
 * @start: first address of the text
 * @end: first address after the text
 *
 * Names of functions that were traced are kept until the module is unloaded, because
 * the trace has the addresses of these functions.
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 */
void ftrace_free_mem(struct module *mod, void *start, void *end)
{
	mod_free_text(mod, start, end, mod);
	if (mod)
		ftrace_flight_text_gone((unsigned long)start, (unsigned long)end, true);
}

#ifdef CONFIG_MODULES
static const enum mod_mem_type module_text[] = { MOD_TEXT, MOD_INIT_TEXT };

/* Forget the names of modules that failed to load where @mod is now. */
static void mod_forget_failed(struct module *mod)
{
	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(module_text); i++) {
		const struct module_memory *mem = &mod->mem[module_text[i]];

		ftrace_drop_failed_names((unsigned long)mem->base,
					 (unsigned long)mem->base + mem->size);
	}
}

/*
 * Makes the tables of a module whose text does not run yet, and which others do not see. It has a
 * list of its sites. Otherwise, its symbols lead to the sites. Takes ftrace_lock.
 */
void ftrace_module_init(struct module *mod)
{
	unsigned long *found __free(kvfree) = NULL;
	unsigned long *ips = mod->ftrace_callsites;
	unsigned int nr = mod->num_ftrace_callsites;
	u64 start_time = sched_clock();
	int ret = 0;

	mod_forget_failed(mod);
	if (!nr) {
		found = ftrace_heads_convert(mod, &nr);
		ips = found;
	}
	if (!nr)
		return;
	ftrace_text_sort(ips, nr);

	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(module_text); i++) {
		unsigned long start = (unsigned long)mod->mem[module_text[i]].base;
		unsigned long end = start + mod->mem[module_text[i]].size;

		if (!found)
			ftrace_text_convert(ips, nr, start, end);
		if (!ftrace_killed() && !ret)
			ret = ftrace_text_add(mod, start, end, ips, nr, false);
	}
	if (ret)
		pr_warn("%s: no memory for its call sites, not traced\n", mod->name);
	ftrace_total_mod_time += sched_clock() - start_time;
}

/*
 * If the filter has fewer functions than the table has sites, look at the filter;
 * otherwise look at all sites of the table.
 */
static struct ftrace_scope mod_table_scope(struct ftrace_table *t, struct ftrace_ops *ops)
{
	struct ftrace_hash *filter;

	filter = ftrace_locked(ops->func_hash->filter_hash);
	if (!list_empty(&ops->subop_list) || ftrace_hash_empty(filter) ||
	    filter->count > t->nr)
		filter = NULL;
	return (struct ftrace_scope){ .table = t, .hash = { filter } };
}

/*
 * Ops that trace get the functions of a new module as well. Each ops has its own
 * plan, so one failure does not affect the others. If two ops cannot share a function,
 * the ops that was registered first gets the function, as it would have if the module
 * had been there. The other one gets the rest of its functions.
 */
static void mod_trace_new_table(struct ftrace_table *t)
{
	struct ftrace_ops *ops;

	for_each_ftrace_ops_oldest_first(ops) {
		struct ftrace_change change = { ops, true };
		struct ftrace_scope scope = mod_table_scope(t, ops);
		int ret;

		cond_resched();
		if (!ftrace_ops_active(ops))
			continue;
		ret = ftrace_plan_run(&change, 1, &scope, FTRACE_PLAN_SPARES);
		if (ret)
			pr_warn("%s: not traced by %ps, error %d\n", t->mod->name,
				ops->func, ret);
	}
}

/*
 * Makes the sites of a module traceable. The module is in state MODULE_STATE_COMING, and its text
 * is read-only now. Takes ftrace_lock.
 */
void ftrace_module_enable(struct module *mod)
{
	struct ftrace_table *t;
	unsigned int i;

	/* First the filters that waited for this module. */
	ftrace_mod_words_apply(mod->name);

	guard(mutex)(&ftrace_lock);
	if (ftrace_killed())
		return;
	for_each_ftrace_table(t, i) {
		if (t->mod != mod)
			continue;
		t->live = true;
		mod_trace_new_table(t);
	}
}

/* When a module has started, the memory that only its start needs is freed. */
static bool mod_has_started(const struct module *mod)
{
	for_class_mod_mem_type(type, init)
		if (mod->mem[type].size)
			return false;
	return true;
}

/*
 * Removes the sites of a module that is unloaded or failed to load, and of which no code runs any
 * more. The names of the traced functions of a module that failed to load are kept. The words of
 * filters that name the module wait again. Takes ftrace_lock. May be called twice.
 */
void ftrace_release_mod(struct module *mod)
{
	bool failed = !mod_has_started(mod), found = false;

	for (unsigned int i = 0; i < ARRAY_SIZE(module_text); i++) {
		const struct module_memory *mem = &mod->mem[module_text[i]];

		if (!mem->size)
			continue;
		found |= mod_free_text(mod, mem->base, mem->base + mem->size, failed);
		ftrace_flight_text_gone((unsigned long)mem->base,
					(unsigned long)mem->base + mem->size, failed);
	}
	if (failed && found)
		ftrace_keep_failed_names(mod);
	ftrace_drop_init_names(mod);
	ftrace_mod_words_wait(mod->name, failed);
}
#endif
