// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call sites of modules: what the module loader tells the core.
 *
 * A module is told of three times: before its text runs, when it may be traced, and when its text
 * is about to be freed, which for init text is early.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "core.h"
#include "filter_edit.h"
#include "flight.h"
#include "kallsyms.h"
#include "ops.h"
#include "plan.h"
#include "table.h"
#include "text.h"

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

/*
 * Removes the sites of the init text of a module, which is freed before the module. The names of
 * the functions that were traced are kept until the module is unloaded, because the trace has their
 * addresses. Takes ftrace_lock.
 */
void ftrace_free_mem(struct module *mod, void *start, void *end)
{
	ftrace_text_free(mod, (unsigned long)start, (unsigned long)end, true);
	ftrace_flight_text_gone((unsigned long)start, (unsigned long)end, true);
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
		unsigned long start = (unsigned long)mod->mem[module_text[i]].base;
		unsigned long end = start + mod->mem[module_text[i]].size;

		if (start == end)
			continue;
		found |= ftrace_text_free(mod, start, end, failed);
		ftrace_flight_text_gone(start, end, failed);
	}
	if (failed && found)
		ftrace_keep_failed_names(mod);
	ftrace_drop_init_names(mod);
	ftrace_mod_words_wait(mod->name, failed);
}
