// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: native					the KUnit suites
 *	  native oracle SEED ROUNDS OPERATIONS [v]	rounds of random operations; see oracle.c
 *	  native oracle <FILE				a round that was written down
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/sections.h>

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

static unsigned int nr_cases, nr_skipped, nr_failed;

static void run_suite(struct kunit_suite *suite)
{
	struct kunit_case *c;

	native_work = suite->name;
	kunit_run_tests(suite);
	kunit_suite_for_each_test_case(suite, c) {
		nr_cases++;
		nr_skipped += c->status == KUNIT_SKIPPED;
		nr_failed += c->status == KUNIT_FAILURE;
	}
	native_settle();
}

static void boot(void)
{
	native_percpu_init();
	native_cpu_begin(&init_task, 0);
	native_work_init();
	native_text_init();
	ftrace_init();
	native_text_done();
}

int native_main(int argc, char **argv)
{
	unsigned long start = host_clock_ns();

	boot();
	if (argc > 1 && !strcmp(argv[1], "oracle"))
		return native_oracle(argc - 2, argv + 2);
	for (struct kunit_suite * const *s = __kunit_init_suites_start;
	     s < __kunit_init_suites_end; s++)
		run_suite(*s);
	for (struct kunit_suite * const *s = __kunit_suites_start; s < __kunit_suites_end; s++)
		run_suite(*s);
	printk("# KUnit: %u cases, %u failed, %u skipped, %u warnings, in %lu ms\n", nr_cases,
	       nr_failed, nr_skipped, native_warnings,
	       (host_clock_ns() - start) / NSEC_PER_MSEC);
	return nr_failed || native_warnings;
}
