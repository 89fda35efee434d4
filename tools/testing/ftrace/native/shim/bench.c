// SPDX-License-Identifier: GPL-2.0-only
/*
 * What calls and changes cost on this machine's CPUs. No emulator knows that.
 *
 * A call of a traced function, with the loop around it, in cycles of the time stamp counter: the
 * median of many runs and the least. Then the time to change sites while another thread calls them.
 * The thread that measures stays on one CPU, the other thread on another one if there is one.
 */
#include <linux/ftrace.h>
#include <linux/sort.h>

#include <asm/msr.h>

#include "ftrace/core.h"
#include "ftrace/guards.h"
#include "ftrace/ops.h"
#include "native.h"
#include "targets.h"

#define CALLS		500	/* a run: no longer than a CPU is left alone, most of the time */
#define MAX_OPS		40
#define GO		1

static struct ftrace_ops ops[MAX_OPS];
static u64 *result;
static unsigned int nr_runs;

static void notrace callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
}

static int compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* In hundredths of @unit. */
static void print_row(const char *name, const char *unit, u64 per)
{
	u64 median, least;

	sort(result, nr_runs, sizeof(*result), compare, NULL);
	median = 100 * result[nr_runs / 2] / per;
	least = 100 * result[0] / per;
	printk("cycles  %-24s %-7s %9llu.%02llu %9llu.%02llu\n", name, unit, median / 100, median % 100,
	       least / 100, least % 100);
}

static void calls(const char *name)
{
	native_func_t *func = READ_ONCE(native_funcs[0]);

	for (unsigned int run = 0; run < nr_runs; run++) {
		u64 start = rdtsc_ordered();

		for (unsigned int i = 0; i < CALLS; i++)
			func(i);
		result[run] = rdtsc_ordered() - start;
	}
	print_row(name, "cycles", CALLS);
}

/* Register @nr ops on a function, from @first on. */
static void begin(unsigned int first, unsigned int nr, unsigned int func, unsigned long flags)
{
	for (unsigned int i = first; i < first + nr; i++) {
		ops[i] = (struct ftrace_ops){ .func = callback, .flags = flags };
		if (ftrace_set_filter_ip(&ops[i], (unsigned long)native_funcs[func], 0, 1) ||
		    register_ftrace_function(&ops[i]))
			native_fail("an ops is refused");
	}
}

static void end(void)
{
	for (unsigned int i = 0; i < MAX_OPS; i++) {
		if (ops[i].flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(&ops[i]);
		if (ops[i].func)
			ftrace_free_filter(&ops[i]);
	}
}

static void row(const char *name, unsigned int nr, unsigned int elsewhere, unsigned long flags)
{
	begin(0, nr, 0, flags);
	begin(nr, elsewhere, 1, flags);
	calls(name);
	end();
}

/* The ops have guards: @word says what the word of this CPU is. */
static void guarded(const char *name, unsigned int nr, int word)
{
	struct ftrace_guard *guard = ftrace_guard_make(-1);

	if (!guard)
		native_fail("no memory");
	begin(0, nr, 0, 0);
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		*per_cpu_ptr(guard->word, cpu) = word;
	mutex_lock(&ftrace_lock);
	for (unsigned int i = 0; i < nr; i++)
		if (ftrace_ops_set_func(&ops[i], callback, guard))
			native_fail("a guard is refused");
	mutex_unlock(&ftrace_lock);
	calls(name);
	end();
	mutex_lock(&ftrace_lock);
	ftrace_guard_put(guard);
	mutex_unlock(&ftrace_lock);
}

static bool stop;
static unsigned long others_calls;

static void caller(void *arg)
{
	static struct task_struct task = { .comm = "caller" };

	native_cpu_begin(&task, 1);
	host_pin(NULL, 1);
	while (!READ_ONCE(stop)) {
		for (unsigned int i = 0; i < NATIVE_FUNCS; i++)
			native_funcs[i](i);
		WRITE_ONCE(others_calls, others_calls + NATIVE_FUNCS);
		native_quiescent();
	}
	native_cpu_end();
}

/* An ops comes and goes: two changes of the functions of a glob. */
static void changes(const char *name, const char *glob)
{
	unsigned long before = native_broadcasts();

	ops[0] = (struct ftrace_ops){ .func = callback };
	if (ftrace_set_filter(&ops[0], (u8 *)glob, strlen(glob), 1))
		native_fail("a filter is refused");
	for (unsigned int run = 0; run < nr_runs; run++) {
		unsigned long start = host_clock_ns();

		if (register_ftrace_function(&ops[0]) || unregister_ftrace_function(&ops[0]))
			native_fail("an ops is refused");
		result[run] = host_clock_ns() - start;
	}
	ftrace_free_filter(&ops[0]);
	print_row(name, "us", 2 * NSEC_PER_USEC);
	printk("# %s: %lu broadcasts a change\n", name, (native_broadcasts() - before) / nr_runs / 2);
}

/**
 * native_bench - measure
 * @argc: number of arguments
 * @argv: number of runs of each row
 *
 * Return: 0.
 */
int native_bench(int argc, char **argv)
{
	struct host_thread *other;

	if (argc < 1 || kstrtouint(argv[0], 10, &nr_runs) || !nr_runs)
		nr_runs = 4001;
	result = host_alloc(nr_runs * sizeof(*result));
	native_broadcast_waits = false;
	host_pin(NULL, 0);
	printk("clock   what                     unit        median        least\n");
	calls("call_off");
	row("call_1op", 1, 0, 0);
	row("call_1op_regs", 1, 0, FTRACE_OPS_FL_SAVE_REGS);
	row("call_1op_recursion", 1, 0, FTRACE_OPS_FL_RECURSION);
	row("call_2ops", 2, 0, 0);
	row("call_8ops", 8, 0, 0);
	row("call_1op_32_elsewhere", 1, 32, 0);
	row("call_2ops_32_elsewhere", 2, 32, 0);
	guarded("call_guard_turns_away", 1, -1);
	guarded("call_guard_lets_in", 1, GO);
	guarded("call_8_guards_turn_away", 8, -1);
	/* Fewer runs: each is a change of text, and not a call. */
	nr_runs = min(nr_runs, 1001U);
	other = host_thread(caller, NULL);
	while (!READ_ONCE(others_calls))
		host_usleep(100);
	changes("change_1_site", "native_func_101");
	changes("change_100_sites", "native_func_2*");
	changes("change_500_sites", "native_func_*");
	WRITE_ONCE(stop, true);
	host_join(other);
	printk("# cycles of the time stamp counter; %u runs of %u calls a row; while sites changed, another thread made %lu calls\n",
	       nr_runs, CALLS, others_calls);
	host_free(result);
	return 0;
}
