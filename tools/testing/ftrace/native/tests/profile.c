// SPDX-License-Identifier: GPL-2.0-only
/* What the function profiler computes: counts and times that the test chooses, not the clock. */

#include "ftrace/profile.h"
#include "tests.h"

#define STAT		"trace_stat/function0"
#define HEADER		"  Function                               Hit    Time            Avg             s^2\n" \
			"  --------                               ---    ----            ---             ---\n"

static char text[1 << 18];

/* The profiler counts what only the test calls. */
static int profile_init(struct kunit *test)
{
	return native_echo("set_ftrace_filter", O_TRUNC, "native_func_599") ?:
	       native_echo("function_profile_enabled", 0, "1");
}

static void profile_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("tracing_thresh", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
	ftrace_kunit_exit(test);
}

static void call(unsigned int f, u64 time)
{
	ftrace_profile_hit((unsigned long)native_funcs[f - 100]);
	ftrace_profile_time((unsigned long)native_funcs[f - 100], time);
}

SUITE(profile, profile_init, profile_exit);

CASE(times_are_summed)
{
	/* A time without a count has no record. */
	ftrace_profile_time((unsigned long)native_funcs[108], 5);
	native_expect_file(test, STAT, HEADER);
	for (u64 time = 1000; time <= 3000; time += 1000)
		call(201, time);
	call(202, 1000);
	call(202, 2000);
	call(202, 3001);
	call(203, 7500);
	native_expect_file(test, STAT, HEADER
			   "  native_func_203                          1    7.500 us        7.500 us        0.000 us   \x20\n"
			   "  native_func_202                          3    6.001 us        2.000 us        1.001 us   \x20\n"
			   "  native_func_201                          3    6.000 us        2.000 us        0.999 us   \x20\n");
}

CASE(averages_are_compared)
{
	call(201, 1000);
	call(201, 3000);
	call(202, 1000);
	call(202, 2998);
	KUNIT_EXPECT_EQ(test, native_echo("tracing_thresh", 0, "2"), 0);
	native_expect_file(test, STAT, HEADER
			   "  native_func_201                          2    4.000 us        2.000 us        2.000 us   \x20\n");
}

/* The squares of long times have no room. */
CASE(squares_overflow)
{
	call(201, 5000000000);
	call(201, 1);
	call(202, 4000000000);
	call(202, 4000000000);
	call(203, 3000000000);
	call(203, 3000000000);
	native_expect_glob(test, STAT, "*native_func_202 * 2    8000000 us * 4000000 us * 18446744073709 us *\n*");
	native_expect_glob(test, STAT, "*native_func_201 * 2    5000000 us * 2500000 us * 18446744073709 us *\n*");
	native_expect_glob(test, STAT, "*native_func_203 * 2    6000000 us * 3000000 us * 0.000 us *\n");
}

/* Counts without times, as of functions that have not returned. */
CASE(counts_need_no_times)
{
	for (int i = 0; i < 3; i++)
		ftrace_profile_hit((unsigned long)native_funcs[101]);
	call(201, 9000);
	native_expect_file(test, STAT, HEADER
			   "  native_func_201                          4    9.000 us        2.250 us        20.250 us  \x20\n");
}

/* A time makes no record: the function was called on another CPU. */
CASE(times_need_counts)
{
	ftrace_profile_time((unsigned long)native_funcs[102], 9000);
	ftrace_profile_hit((unsigned long)native_funcs[102]);
	native_expect_glob(test, STAT, HEADER "  native_func_202                          1    0.000 us *");
}

/* The filter of the top trace array says what is counted. */
CASE(filters_choose_functions)
{
	for (int i = 0; i < 3; i++) {
		native_funcs[499](1);
		native_funcs[101](1);
	}
	native_expect_glob(test, STAT, HEADER "  native_func_599 * 3 *\n");
}

static unsigned int count(const char *word)
{
	unsigned int nr = 0;

	for (const char *at = text; (at = strstr(at, word)); at++)
		nr++;
	return nr;
}

/* The table has room for the functions that there were, and for a quarter more. */
CASE(tables_fill)
{
	for (unsigned long ip = 0x1000; ip < 0x1000 + 1500; ip++)
		for (int i = 0; i < 2; i++)
			ftrace_profile_hit(ip);
	/* What has no record gets none, and those that have one are counted on. */
	ftrace_profile_time(0x1000 + 1499, 7);
	ftrace_profile_hit(0x1000);
	KUNIT_EXPECT_GT(test, native_cat(STAT, text, sizeof(text), 4096), 0);
	KUNIT_EXPECT_EQ(test, count("\n"), 2U + 960U);
	/* A line that did not fit into the reader's buffer comes again, and has its times once. */
	KUNIT_EXPECT_EQ(test, count(" us "), 3U * 960U);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "  3    "));
	KUNIT_EXPECT_NULL(test, strstr(text, "0.007 us"));
}

static int call_there(void *unused)
{
	for (unsigned int f = 201; f < 204; f++)
		call(f, 1000 * f);
	native_until_stopped();
	return 0;
}

/* Each CPU has a list of its own, wherever the records are in memory. */
CASE(cpus_have_lists)
{
	for (int cpu = 1; cpu < 4; cpu++)
		kthread_stop(kthread_run_on_cpu(call_there, NULL, cpu, "profile/%u"));
	call(204, 1000);
	native_expect_file(test, STAT, HEADER
			   "  native_func_204                          1    1.000 us        1.000 us        0.000 us   \x20\n");
	for (int cpu = 1; cpu < 4; cpu++) {
		char path[] = STAT;

		path[sizeof(path) - 2] += cpu;
		native_expect_file(test, path, HEADER
				   "  native_func_203                          1    203.000 us      203.000 us      0.000 us   \x20\n"
				   "  native_func_202                          1    202.000 us      202.000 us      0.000 us   \x20\n"
				   "  native_func_201                          1    201.000 us      201.000 us      0.000 us   \x20\n");
	}
}

CASE(wrong_words_are_refused)
{
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, ""), 0);
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "nosuch"), -EINVAL);
	native_expect_file(test, "function_profile_enabled", "1\n");
	/* Any number but 0 is on. */
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "7"), 0);
	native_expect_file(test, "function_profile_enabled", "1\n");
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "0"), 0);
	native_expect_file(test, "function_profile_enabled", "0\n");
	/* Off, nothing is counted. */
	call(204, 1000);
	native_expect_file(test, STAT, HEADER);
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "0"), 0);
}
