// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: native [-f] [SUITE]			the KUnit suites, or one; -f: end after the first that fails
 *	  native oracle SEED ROUNDS OPERATIONS [v]	rounds of random operations; see oracle.c
 *	  native oracle <FILE				a round that was written down
 *	  native bench [RUNS]				what calls and changes cost; see bench.c
 *	  native torture SECONDS [SEED [CALLERS]]	all at once; see ../torture/torture.c
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "ftrace/tests/ftrace_kunit.h"
#include "../tests/alone.h"
#include "native.h"

extern struct kunit_suite * const __kunit_suites_start[];
extern struct kunit_suite * const __kunit_suites_end[];
extern struct kunit_suite * const __kunit_init_suites_start[];
extern struct kunit_suite * const __kunit_init_suites_end[];

const char *native_work = "boot";

const char *native_doing(void)
{
	return native_work;
}

void native_details(void)
{
	native_torture_details();
}

static unsigned int nr_cases, nr_skipped, nr_failed;

/* The fault that the program has, see ../faults. */
unsigned int native_fault;
static bool stop_early;
static const char *only;

static void run_suite(struct kunit_suite *suite)
{
	struct kunit_case *c;

	if (only && strcmp(only, suite->name))
		return;
	native_work = suite->name;
	kunit_run_tests(suite);
	kunit_suite_for_each_test_case(suite, c) {
		nr_cases++;
		nr_skipped += c->status == KUNIT_SKIPPED;
		nr_failed += c->status == KUNIT_FAILURE;
	}
	native_settle();
	/* A class has at most one trampoline. */
	if (native_announced() > ftrace_kunit_nr_classes())
		native_fail("perf knows %ld trampolines", native_announced());
	if (stop_early && (nr_failed || native_warnings))
		host_exit(1);
}

/* What stays is made once: if a suite leaves something, it leaves nothing the second time. */
static void run_suite_clean(struct kunit_suite *suite)
{
	unsigned long live = native_live();

	run_suite(suite);
	if (native_live() <= live)
		return;
	live = native_live();
	run_suite(suite);
	if (native_live() > live)
		native_fail("%s leaves %lu pieces of memory", suite->name, native_live() - live);
}

int native_main(int argc, char **argv)
{
	unsigned long start = host_clock_ns();
	const char *fault = host_getenv("NATIVE_FAULT");

	if (fault && kstrtouint(fault, 10, &native_fault))
		return 1;
	stop_early = argc > 1 && !strcmp(argv[1], "-f");
	if (argc > 1 && !strcmp(argv[1], "oracle")) {
		int ret;

		native_boot(0, NULL);
		ret = native_oracle(argc - 2, argv + 2);
		native_text_end();
		return ret;
	}
	if (argc > 1 && !strcmp(argv[1], "bench")) {
		native_boot(0, NULL);
		return native_bench(argc - 2, argv + 2);
	}
	if (argc > 1 && !strcmp(argv[1], "torture")) {
		native_boot(0, NULL);
		return native_torture(argc - 2, argv + 2);
	}
	only = argc > 1 + stop_early ? argv[1 + stop_early] : NULL;
	nr_failed = only ? 0 : native_alone();
	if (stop_early && nr_failed)
		return 1;
	native_boot(0, NULL);
	native_settle();
	for (struct kunit_suite * const *s = __kunit_init_suites_start;
	     s < __kunit_init_suites_end; s++)
		run_suite(*s);
	for (struct kunit_suite * const *s = __kunit_suites_start; s < __kunit_suites_end; s++)
		run_suite_clean(*s);
	printk("# KUnit: %u cases, %u failed, %u skipped, %u warnings, in %lu ms\n", nr_cases,
	       nr_failed, nr_skipped, native_warnings,
	       (host_clock_ns() - start) / NSEC_PER_MSEC);
	native_text_end();
	return nr_failed || native_warnings;
}
