// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call sites of a stretch of text: of the kernel or a module, or of the init text of one.
 *
 * The compiler's calls become nops before their text runs, which needs no memory and cannot
 * fail. The table that makes the sites traceable is made after that. Without memory for it, the
 * functions run and are not traced.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/sort.h>

#include "class.h"
#include "core.h"
#include "dispatch.h"
#include "kallsyms.h"
#include "ops.h"
#include "plan.h"
#include "probes.h"
#include "table.h"
#include "text.h"

/*
 * dyn_ftrace_total_info shows these: sites, pages of tables, tables; how many ns boot and
 * the loading of modules took for call sites.
 */
unsigned long ftrace_update_tot_cnt;
unsigned long ftrace_number_of_pages;
unsigned long ftrace_number_of_groups;
u64 ftrace_update_time;
u64 ftrace_total_mod_time;

static void text_account(const struct ftrace_table *t, int sign)
{
	ftrace_update_tot_cnt += sign * (long)t->nr;
	ftrace_number_of_pages += sign * (long)DIV_ROUND_UP(t->nr * sizeof(*t->sites),
							    PAGE_SIZE);
	ftrace_number_of_groups += sign;
}

static int text_cmp_ips(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* The linker leaves the addresses sorted, unless it was told to shuffle sections. */
void ftrace_text_sort(unsigned long *ips, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++) {
		if (ips[i - 1] > ips[i]) {
			sort(ips, nr, sizeof(*ips), text_cmp_ips, NULL);
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
static void text_check_sites(struct ftrace_table *t)
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
	text_check_sites(t);
	t->live = live;
	ret = ftrace_tables_add(t);
	if (ret)
		ftrace_table_free(t);
	else
		text_account(t, 1);
	return ret;
}

/*
 * Remove a table whose text is about to be freed, and take its sites out of their classes.
 * After ftrace_kill() the sites call their trampolines as long as there is text.
 */
static void text_drop_table(struct ftrace_table *t)
{
	if (!ftrace_killed()) {
		ftrace_plan_clear(t);
		for (unsigned int i = 0; i < t->nr; i++) {
			ftrace_class_put(ftrace_class_nth(site_class(&t->sites[i])), 1);
			ftrace_yield(i);
		}
	}
	text_account(t, -1);
	ftrace_thunks_retire(t);
	ftrace_tables_drop(t);
}

/* Find a table of @mod, or of the kernel if @mod is NULL, whose text lies in a range. */
static struct ftrace_table *text_find_table(struct module *mod, unsigned long start,
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
 * Removes the table of text that is about to be freed. With @names, keeps the names of the
 * functions that were traced. False if there is no table. Takes ftrace_lock.
 */
bool ftrace_text_free(struct module *mod, unsigned long start, unsigned long end, bool names)
{
	struct ftrace_table *t;

	scoped_guard(mutex, &ftrace_lock) {
		t = text_find_table(mod, start, end);
		if (!t)
			return false;
		if (names)
			ftrace_save_init_names(t);
		text_drop_table(t);
	}
	/* This comes last: a filter must have all sites that its ops is on. */
	ftrace_forget_sites(start, end);
	ftrace_forget_probes(start, end);
	return true;
}
