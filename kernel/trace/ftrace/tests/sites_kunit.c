// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the bytes of sites: a nop where nobody traces, and left alone where
 * another writer has put something else.
 *
 * The other writer puts the call that the compiler made. Such a call returns at once, so
 * a function with such a site still runs.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>

#include "../callback.h"
#include "../class.h"
#include "../core.h"
#include "ftrace_kunit.h"
#include "../ops.h"
#include "../plan.h"
#include "../table.h"

static struct ftrace_ops ops_a = { .func = ftrace_kunit_note, .private = (void *)'a' };
static struct ftrace_ops ops_b = { .func = ftrace_kunit_note, .private = (void *)'b' };

static bool site_failed(test_func_t func)
{
	struct ftrace_table *t;

	return ftrace_kunit_site(func, &t)->state & SITE_FAILED;
}

/* A site with unexpected bytes is not changed, and all other sites go on working. */
static void bad_site_is_left_alone(struct kunit *test)
{
	static char * const words[] = { "ftrace_kunit_func4", "ftrace_kunit_func*" };
	struct ftrace_class *before = ftrace_kunit_class(ftrace_kunit_func4);

	ftrace_kunit_add_ops(test, &ops_a);

	/*
	 * Named before or after a glob matched it: an error, also for the other functions. This is
	 * the first check of the site.
	 */
	for (unsigned int after = 0; after < 2; after++) {
		ftrace_kunit_mend_site(ftrace_kunit_func4);
		ftrace_kunit_break_site(test, ftrace_kunit_func4);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, words[after], 18, 1), 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, words[!after], 18, 0), 0);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), -EINVAL);
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	}

	/* By a glob: the other functions are traced. */
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops_a, "ftrace_kunit_func*", 18, 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "a");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func4), "");
	KUNIT_EXPECT_TRUE(test, site_failed(ftrace_kunit_func4));
	KUNIT_EXPECT_PTR_EQ(test, ftrace_kunit_class(ftrace_kunit_func4), before);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);

	/* Named: still an error. */
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&ops_a, ftrace_kunit_func4, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&ops_a, ftrace_kunit_func1, false), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), -EINVAL);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");

	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func4, FTRACE_KUNIT_STRANGE));
}

/* Change much beside the bad site. */
static void site_change_others(struct kunit *test, struct ftrace_ops *ops)
{
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(ops, "ftrace_kunit_func2", 18, 1), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "a");
	scoped_guard(mutex, &ftrace_lock) {
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(ops, ftrace_kunit_note_x, NULL), 0);
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(ops, ftrace_kunit_note, NULL), 0);
	}
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "a");
}

/*
 * A site gets unexpected bytes while it calls a trampoline. The writer of the bytes
 * may put the call back, even when the ops was unregistered. All other sites can be
 * changed meanwhile.
 */
static void bad_site_keeps_its_trampoline(struct kunit *test)
{
	unsigned int before = ftrace_kunit_nr_classes();
	unsigned long call;

	ftrace_kunit_add_ops(test, &ops_a);
	ftrace_kunit_add_ops(test, &ops_b);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops_a, "ftrace_kunit_func*", 18, 1), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops_b, "ftrace_kunit_func4*", 19, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func4), "a");
	call = ftrace_kunit_tramp(ftrace_kunit_func4);
	ftrace_kunit_break_site(test, ftrace_kunit_func4);

	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_TRUE(test, site_failed(ftrace_kunit_func4));
	site_change_others(test, &ops_a);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func4, FTRACE_KUNIT_STRANGE));
	ftrace_kunit_write_site(ftrace_kunit_func4, FTRACE_KUNIT_STRANGE, call);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func4), "a");
	ftrace_kunit_write_site(ftrace_kunit_func4, call, FTRACE_KUNIT_STRANGE);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	/* Meanwhile trampolines that no site calls are freed. */
	ftrace_wait_tramps();
	msleep(100);
	ftrace_kunit_write_site(ftrace_kunit_func4, FTRACE_KUNIT_STRANGE, call);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func4), "");
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func4)->nr, 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before + 1);

	kunit_release_action(test, ftrace_kunit_mend_site, ftrace_kunit_func4);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func4), "b");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func4, 0));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* The class that a bad site cannot leave forgets what a removed direct caller called. */
static void bad_site_forgets_a_direct_caller(struct kunit *test)
{
	unsigned long stub = (unsigned long)ftrace_stub;
	static struct ftrace_ops direct;

	ftrace_kunit_add_ops(test, &direct);
	ftrace_kunit_add_ops(test, &ops_a);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func4, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops_a, "ftrace_kunit_func4*", 19, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func4)->direct, stub);
	ftrace_kunit_break_site(test, ftrace_kunit_func4);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, stub, true), 0);
	KUNIT_EXPECT_TRUE(test, site_failed(ftrace_kunit_func4));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func4)->nr, 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func4)->direct, 0);

	kunit_release_action(test, ftrace_kunit_mend_site, ftrace_kunit_func4);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func4), "a");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func4, 0));
}
#endif

static struct ftrace_ops above = { .func = ftrace_kunit_note, .private = (void *)'g' };
static struct ftrace_ops sub_a = { .func = ftrace_kunit_note };
static struct ftrace_ops sub_b = { .func = ftrace_kunit_note };

/* A case that fails ends its task, so it must not hold the lock when it compares. */
static int site_start_sub(struct ftrace_ops *sub)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_startup_subops(&above, sub, 0);
}

static void site_end_sub(void *sub)
{
	struct ftrace_ops *ops = sub;

	scoped_guard(mutex, &ftrace_lock)
		if (ops->flags & FTRACE_OPS_FL_ENABLED)
			ftrace_shutdown_subops(&above, ops, 0);
	ftrace_free_filter(ops);
}

/* If one ops under an ops names a bad site, others can still be added under it. */
static void bad_site_concerns_who_names_it(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, site_end_sub, &sub_a), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, site_end_sub, &sub_b), 0);
	ftrace_kunit_add_ops(test, &ops_b);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&sub_a, ftrace_kunit_func4, true), 0);
	KUNIT_ASSERT_EQ(test, site_start_sub(&sub_a), 0);
	ftrace_kunit_break_site(test, ftrace_kunit_func4);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_TRUE(test, site_failed(ftrace_kunit_func4));

	/* A glob, which matches the bad site but does not name it. */
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&sub_b, "ftrace_kunit_func*", 18, 1), 0);
	KUNIT_EXPECT_EQ(test, site_start_sub(&sub_b), 0);
	kunit_release_action(test, site_end_sub, &sub_b);

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&sub_b, ftrace_kunit_func4, true), 0);
	KUNIT_EXPECT_EQ(test, site_start_sub(&sub_b), -EINVAL);
	ftrace_free_filter(&sub_b);
}

/* The sites of text that will be freed call nothing any more. */
static void text_that_goes_calls_nothing(struct kunit *test)
{
	unsigned int before = ftrace_kunit_nr_classes();
	struct ftrace_table *t, part;

	ftrace_kunit_add_ops(test, &ops_a);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_a, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_a, ftrace_kunit_func2, false), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);

	/* A table of one site stands for the text of a module. */
	scoped_guard(mutex, &ftrace_lock) {
		struct ftrace_site *site = ftrace_kunit_site(ftrace_kunit_func1, &t);

		part = *t;
		part.sites = site;
		part.nr = 1;
		ftrace_plan_clear(&part);
	}
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "a");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);
}

static void disabled_is_nop_everywhere(struct kunit *test)
{
	struct ftrace_table *t;
	unsigned int i, bad = 0;

	guard(mutex)(&ftrace_lock);
	guard(mutex)(&text_mutex);
	for_each_ftrace_table(t, i)
		for (unsigned int n = 0; n < t->nr; n++)
			if (!site_class(&t->sites[n]))
				bad += !arch_ftrace_site_calls(site_ip(t, &t->sites[n]), 0);
	KUNIT_EXPECT_EQ(test, bad, 0);
}

static struct kunit_case sites_cases[] = {
	KUNIT_CASE(bad_site_is_left_alone),
	KUNIT_CASE(bad_site_keeps_its_trampoline),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(bad_site_forgets_a_direct_caller),
#endif
	KUNIT_CASE(bad_site_concerns_who_names_it),
	KUNIT_CASE(text_that_goes_calls_nothing),
	KUNIT_CASE(disabled_is_nop_everywhere),
	{ }
};

static struct kunit_suite sites_suite = {
	.name = "ftrace_sites",
	.init = ftrace_kunit_alone,
	.exit = ftrace_kunit_exit,
	.test_cases = sites_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(sites_suite);
