// SPDX-License-Identifier: GPL-2.0-only
/* KUnit test of boot parameters that are given several times; runs before init text is freed. */
#include <kunit/test.h>
#include <linux/init.h>

#include "../filter_api.h"
#include "ftrace_kunit.h"

static void __init parameters_are_appended(struct kunit *test)
{
	char words[8] = "";

	ftrace_early_append(words, sizeof(words), "a");
	KUNIT_EXPECT_STREQ(test, words, "a");
	ftrace_early_append(words, sizeof(words), "bc,d");
	KUNIT_EXPECT_STREQ(test, words, "a,bc,d");

	/* Without room for all words, none is added. */
	ftrace_early_append(words, sizeof(words), "e");
	KUNIT_EXPECT_STREQ(test, words, "a,bc,d");
	words[4] = '\0';
	ftrace_early_append(words, sizeof(words), "e");
	KUNIT_EXPECT_STREQ(test, words, "a,bc,e");
}

static struct kunit_case __refdata boot_cases[] = {
	KUNIT_CASE(parameters_are_appended),
	{ }
};

static struct kunit_suite boot_suite = {
	.name = "ftrace_boot",
	.exit = ftrace_kunit_exit,
	.test_cases = boot_cases,
};

kunit_test_init_section_suites(&boot_suite);
