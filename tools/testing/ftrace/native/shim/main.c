// SPDX-License-Identifier: GPL-2.0-only
/* Boot, and run the KUnit suites. */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/sched.h>

#include <asm/sections.h>

#include "native.h"

extern struct kunit_suite * const __kunit_suites_start[];
extern struct kunit_suite * const __kunit_suites_end[];
extern struct kunit_suite * const __kunit_init_suites_start[];
extern struct kunit_suite * const __kunit_init_suites_end[];

static const char *doing = "boot";

const char *native_doing(void)
{
	return doing;
}

static unsigned int nr_cases, nr_skipped, nr_failed;

static void run_suite(struct kunit_suite *suite)
{
	struct kunit_case *c;

	doing = suite->name;
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
