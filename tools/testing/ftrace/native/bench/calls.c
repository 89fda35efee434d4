// SPDX-License-Identifier: GPL-2.0-only
/*
 * What calls and changes cost on this machine's CPUs. No emulator knows that.
 *
 * A call of a traced function, with the loop around it, in cycles of the time stamp counter: the
 * median of many runs and the least. The thread that measures stays on one CPU. The rows of this file
 * are also those of the base's core, see base.c.
 */
#include <linux/ftrace.h>
#include <linux/sort.h>

#include <asm/msr.h>

#include "../shim/targets.h"
#include "bench.h"

#define CALLS		500	/* a run: no longer than a CPU is left alone, most of the time */

struct ftrace_ops bench_ops[BENCH_MAX_OPS];
u64 *bench_result;
unsigned int bench_runs;

/* Which ops was called last? */
static struct ftrace_ops *last;

void notrace bench_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			    struct ftrace_regs *fregs)
{
	WRITE_ONCE(last, op);
}

static int compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* In hundredths of @unit. */
void bench_row(const char *name, const char *unit, u64 per)
{
	u64 median, least;

	sort(bench_result, bench_runs, sizeof(*bench_result), compare, NULL);
	median = 100 * bench_result[bench_runs / 2] / per;
	least = 100 * bench_result[0] / per;
	printk("cycles  %-24s %-7s %9llu.%02llu %9llu.%02llu\n", name, unit, median / 100, median % 100,
	       least / 100, least % 100);
}

void bench_calls(const char *name)
{
	native_func_t *func = READ_ONCE(native_funcs[0]);

	for (unsigned int run = 0; run < bench_runs; run++) {
		u64 start = rdtsc_ordered();

		for (unsigned int i = 0; i < CALLS; i++)
			func(i);
		bench_result[run] = rdtsc_ordered() - start;
	}
	bench_row(name, "cycles", CALLS);
}

/* Register @nr ops on a function, from @first on. */
void bench_begin(unsigned int first, unsigned int nr, unsigned int func, unsigned long flags)
{
	for (unsigned int i = first; i < first + nr; i++) {
		bench_ops[i] = (struct ftrace_ops){ .func = bench_callback, .flags = flags };
		if (ftrace_set_filter_ip(&bench_ops[i], (unsigned long)native_funcs[func], 0, 1) ||
		    register_ftrace_function(&bench_ops[i]))
			native_fail("an ops is refused");
	}
}

void bench_end(void)
{
	for (unsigned int i = 0; i < BENCH_MAX_OPS; i++) {
		if (bench_ops[i].flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(&bench_ops[i]);
		if (bench_ops[i].func)
			ftrace_free_filter(&bench_ops[i]);
	}
}

static void row(const char *name, unsigned int nr, unsigned int elsewhere, unsigned long flags)
{
	bench_begin(0, nr, 0, flags);
	bench_begin(nr, elsewhere, 1, flags);
	last = NULL;
	bench_calls(name);
	if (!last || last - bench_ops >= nr)
		native_fail("%s: the callback is not called", name);
	bench_end();
}

/**
 * bench_all_calls - measure calls
 * @runs: number of runs of each row
 */
void bench_all_calls(unsigned int runs)
{
	bench_runs = runs;
	bench_result = host_alloc(runs * sizeof(*bench_result));
	host_pin(NULL, 0);
	printk("clock   what                     unit        median        least\n");
	bench_calls("call_off");
	row("call_1op", 1, 0, 0);
	row("call_1op_regs", 1, 0, FTRACE_OPS_FL_SAVE_REGS);
	row("call_1op_recursion", 1, 0, FTRACE_OPS_FL_RECURSION);
	row("call_2ops", 2, 0, 0);
	row("call_8ops", 8, 0, 0);
	row("call_1op_32_elsewhere", 1, 32, 0);
	row("call_2ops_32_elsewhere", 2, 32, 0);
}
