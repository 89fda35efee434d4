// SPDX-License-Identifier: GPL-2.0-only
/*
 * What this core alone has: calls that a guard turns away, and the time to change sites while another
 * thread calls them, which stays on another CPU if there is one.
 */
#include <linux/ftrace.h>

#include "ftrace/core.h"
#include "ftrace/flight.h"
#include "ftrace/guards.h"
#include "ftrace/ops.h"
#include "../shim/native.h"
#include "../shim/targets.h"
#include "bench.h"

#define GO		1

/* The ops have guards: @word says what the word of this CPU is. */
static void guarded(const char *name, unsigned int nr, int word)
{
	struct ftrace_guard *guard = ftrace_guard_make(-1);

	if (!guard)
		native_fail("no memory");
	bench_begin(0, nr, 0, 0);
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		*per_cpu_ptr(guard->word, cpu) = word;
	mutex_lock(&ftrace_lock);
	for (unsigned int i = 0; i < nr; i++)
		if (ftrace_ops_set_func(&bench_ops[i], bench_callback, guard))
			native_fail("a guard is refused");
	mutex_unlock(&ftrace_lock);
	bench_calls(name);
	bench_end();
	mutex_lock(&ftrace_lock);
	ftrace_guard_put(guard);
	mutex_unlock(&ftrace_lock);
}

/* The calls are recorded, with their returns or without. */
static void recorded(const char *name, bool timed, bool returns)
{
	struct ftrace_flight *flight = ftrace_flight_make(SZ_1M, NULL, timed);

	if (!flight)
		native_fail("no memory");
	flight->returns = returns;
	if (returns && ftrace_flight_returns_start(flight))
		native_fail("returns are refused");
	ftrace_flight_off(flight, false);
	bench_ops[0] = (struct ftrace_ops){ .func = ftrace_flight_func, .flight = flight };
	if (ftrace_set_filter_ip(&bench_ops[0], (unsigned long)native_funcs[0], 0, 1) ||
	    register_ftrace_function(&bench_ops[0]))
		native_fail("a recorder is refused");
	bench_calls(name);
	bench_end();
	if (returns)
		ftrace_flight_returns_stop(flight);
	ftrace_flight_put(flight);
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

	bench_ops[0] = (struct ftrace_ops){ .func = bench_callback };
	if (ftrace_set_filter(&bench_ops[0], (u8 *)glob, strlen(glob), 1))
		native_fail("a filter is refused");
	for (unsigned int run = 0; run < bench_runs; run++) {
		unsigned long start = host_clock_ns();

		if (register_ftrace_function(&bench_ops[0]) || unregister_ftrace_function(&bench_ops[0]))
			native_fail("an ops is refused");
		bench_result[run] = host_clock_ns() - start;
	}
	ftrace_free_filter(&bench_ops[0]);
	bench_row(name, "us", 2 * NSEC_PER_USEC);
	printk("# %s: %lu broadcasts a change\n", name, (native_broadcasts() - before) / bench_runs / 2);
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
	unsigned int runs;

	if (argc < 1 || kstrtouint(argv[0], 10, &runs) || !runs)
		runs = BENCH_RUNS;
	native_broadcast_waits = false;
	bench_all_calls(runs);
	guarded("call_guard_turns_away", 1, -1);
	guarded("call_guard_lets_in", 1, GO);
	guarded("call_8_guards_turn_away", 8, -1);
	recorded("call_flight", false, false);
	recorded("call_flight_time", true, false);
	recorded("call_flight_return", false, true);
	recorded("call_flight_return_time", true, true);
	/* Fewer runs: each is a change of text, and not a call. */
	bench_runs = min(runs, 1001U);
	other = host_thread(caller, NULL);
	while (!READ_ONCE(others_calls))
		host_usleep(100);
	changes("change_1_site", "native_func_101");
	changes("change_100_sites", "native_func_2*");
	changes("change_500_sites", "native_func_*");
	WRITE_ONCE(stop, true);
	host_join(other);
	printk("# cycles of the time stamp counter; while sites changed, another thread made %lu calls\n",
	       others_calls);
	host_free(bench_result);
	return 0;
}
