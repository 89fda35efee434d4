// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boot: the sites of the kernel.
 *
 * The calls become nops while one CPU runs, before the text is read-only.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/init.h>
#include <linux/sched/clock.h>

#include <asm/sections.h>

#include "core.h"
#include "filter_api.h"
#include "graph_files.h"
#include "names.h"
#include "table.h"
#include "text.h"

static int __init boot_tables(const unsigned long *ips, unsigned int nr)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_text_add(NULL, (unsigned long)_stext, (unsigned long)_etext, ips, nr, true) ?:
	       ftrace_text_add(NULL, (unsigned long)__init_begin, (unsigned long)__init_end,
			       ips, nr, true);
}

/* Finds the sites of the kernel and turns them into nops. Boot, one CPU, interrupts off. */
void __init ftrace_init(void)
{
	unsigned int nr = __stop_mcount_loc - __start_mcount_loc, nops;
	unsigned long *ips = __start_mcount_loc;
	u64 start = sched_clock(), converted, done;

	arch_ftrace_init();
	ftrace_names_init();

	ftrace_text_sort(ips, nr);
	nops = ftrace_text_convert(ips, nr, (unsigned long)_stext, (unsigned long)_etext);
	nops += ftrace_text_convert(ips, nr, (unsigned long)__init_begin,
				    (unsigned long)__init_end);
	converted = sched_clock();

	if (!nops || boot_tables(ips, nr)) {
		pr_err("%s, no function can be traced\n",
		       nops ? "no memory for the call sites" : "no call sites");
		ftrace_kill();
		return;
	}

	done = sched_clock();
	ftrace_update_time = done - start;
	pr_info("%lu call sites in %lu bytes; %u nops in %llu us, tables in %llu us\n",
		ftrace_update_tot_cnt, ftrace_update_tot_cnt * sizeof(struct ftrace_site),
		nops, div_u64(converted - start, NSEC_PER_USEC),
		div_u64(done - converted, NSEC_PER_USEC));

	ftrace_boot_filters();
	ftrace_graph_early_filters();
}

/* Removes the sites of the kernel's init text, which no longer runs, before it is freed. */
void __init ftrace_free_init_mem(void)
{
	ftrace_boot_snapshot();
	ftrace_text_free(NULL, (unsigned long)__init_begin, (unsigned long)__init_end, false);
}
