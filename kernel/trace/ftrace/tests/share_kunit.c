// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of ops that cannot share a function, or can share it only if the owner of
 * the direct caller agrees.
 */
#include <linux/ftrace_arch.h>

#include "../callback.h"
#include "../class.h"
#include "../core.h"
#include "ftrace_kunit.h"
#include "../hash.h"

/* If one site cannot be part of a plan, the plan changes no site. */
static void conflict_changes_nothing(struct kunit *test)
{
	static const test_func_t funcs[] = {
		ftrace_kunit_func1, ftrace_kunit_func2, ftrace_kunit_func3,
	};
	static struct ftrace_ops first = {
		.func = ftrace_kunit_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'f',
	};
	static struct ftrace_ops second = {
		.func = ftrace_kunit_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'s',
	};
	unsigned int before = ftrace_kunit_nr_classes();

	ftrace_kunit_add_ops(test, &first);
	ftrace_kunit_add_ops(test, &second);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&first, ftrace_kunit_func2, true), 0);
	for (int i = 0; i < ARRAY_SIZE(funcs); i++)
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&second, funcs[i], !i), 0);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&first), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&second), -EBUSY);
	KUNIT_EXPECT_EQ(test, second.flags & FTRACE_OPS_FL_ENABLED, 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before + 1);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "f");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "");

	/* The same by a change of filter. */
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&second, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&second), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&second, ftrace_kunit_func2, false), -EBUSY);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "f");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "s");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&first), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&second, ftrace_kunit_func2, false), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "s");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&second), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
static const unsigned long stub = (unsigned long)ftrace_stub_direct_tramp;

/* What the owner of the direct caller was asked, how often, and what it answers. */
static unsigned long asked;
static unsigned int nr_asked;
static int answer;

static int ops_func(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd)
{
	asked |= BIT(cmd);
	nr_asked++;
	return answer;
}

static struct ftrace_ops direct = { .ops_func = ops_func };

static struct ftrace_ops redirect = {
	.func = ftrace_kunit_note,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
	.private = (void *)'r',
};

static struct ftrace_ops rival = {
	.func = ftrace_kunit_note,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
	.private = (void *)'v',
};

/* A direct caller is on func1, and its owner agrees to share func1. */
static void share_func1(struct kunit *test)
{
	answer = 0;
	asked = 0;
	ftrace_kunit_add_ops(test, &direct);
	ftrace_kunit_add_ops(test, &redirect);
	ftrace_kunit_add_ops(test, &rival);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
}

/* func1 has the direct caller and the ops that changes the instruction pointer. */
static void share_func1_both(struct kunit *test)
{
	share_func1(test);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");
	asked = 0;
}

/*
 * An ops that changes the instruction pointer shares a function with a direct caller
 * that agrees.
 */
static void direct_callers_are_asked(struct kunit *test)
{
	share_func1(test);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func1, true), 0);

	answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), -EAGAIN);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));

	/* Only 0 agrees. */
	answer = 1;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), -EBUSY);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));

	answer = 0;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");

	asked = 0;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, stub, true), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
}

/* A direct caller that comes second is asked as part of the plan. */
static void second_direct_callers_are_asked(struct kunit *test)
{
	static const int answers[][2] = { { -EAGAIN, -EAGAIN }, { 1, -EBUSY }, { 0, 0 } };

	ftrace_kunit_add_ops(test, &direct);
	ftrace_kunit_add_ops(test, &redirect);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&redirect), 0);
	for (int i = 0; i < ARRAY_SIZE(answers); i++) {
		asked = 0;
		answer = answers[i][0];
		KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct, stub), answers[i][1]);
		KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF));
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");
	}
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
}

static unsigned int share_nr_tramps(void)
{
	unsigned int nr = 0;

	guard(preempt)();
	while (arch_ftrace_tramp_nth(nr))
		nr++;
	return nr;
}

/* A second direct caller is refused before a class or a trampoline is made for it. */
static void second_direct_callers_are_refused(struct kunit *test)
{
	static struct ftrace_ops second;
	unsigned long func1 = (unsigned long)ftrace_kunit_func1;
	unsigned int classes, tramps;

	share_func1(test);
	ftrace_kunit_add_ops(test, &second);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&second, ftrace_kunit_func1, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&second, stub), -EBUSY);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&second, ftrace_kunit_func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&second, stub), 0);

	classes = ftrace_kunit_nr_classes();
	tramps = share_nr_tramps();
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&second, ftrace_kunit_func1, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&second, "ftrace_kunit_func1", 18, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&second, func1, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&second, "!ftrace_kunit_func1", 19, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), classes);
	/* The trampolines of earlier cases may be freed meanwhile. */
	KUNIT_EXPECT_LE(test, share_nr_tramps(), tramps);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func2, stub));

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&second, stub, true), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func2, 0));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
}

/* A direct caller whose owner cannot be asked shares no function, in either order. */
static void callers_without_owner_share_nothing(struct kunit *test)
{
	static struct ftrace_ops changes = {
		.func = ftrace_kunit_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'c',
	};
	static struct ftrace_ops direct;

	ftrace_kunit_add_ops(test, &changes);
	ftrace_kunit_add_ops(test, &direct);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&changes, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&changes), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct, stub), -EBUSY);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "c");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&changes), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&changes), -EBUSY);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, stub, false), 0);
}

/* Code that takes the place of a direct caller may not be able to share the function. */
static void new_addresses_are_asked_about(struct kunit *test)
{
	unsigned long other = (unsigned long)ftrace_stub;

	share_func1_both(test);
	answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, other), -EAGAIN);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF));
	KUNIT_EXPECT_EQ(test, direct.direct_call, stub);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->direct, stub);

	answer = 0;
	nr_asked = 0;
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, other), 0);
	KUNIT_EXPECT_EQ(test, nr_asked, 1U);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->direct, other);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	asked = 0;
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, stub), 0);
	KUNIT_EXPECT_EQ(test, asked, 0);
}

/* An owner that agreed is told if the ops is not registered after all. */
static void owners_hear_of_a_failure(struct kunit *test)
{
	share_func1(test);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&rival, ftrace_kunit_func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&rival), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func2, false), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), -EBUSY);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER) |
				     BIT(FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
}

/* An ops that cannot share the function must not end the sharing of the others. */
static void sharing_outlives_a_rival(struct kunit *test)
{
	share_func1_both(test);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&rival, ftrace_kunit_func1, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&rival), -EBUSY);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");
}

/*
 * A call cannot reach memory that was allocated. Registering such an address, and changing
 * to such an address, is refused; the number of the class that was not made is used again.
 */
static void far_callers_are_refused(struct kunit *test)
{
	unsigned long far = (unsigned long)test;
	unsigned int id;

	if (arch_ftrace_reaches(far) && !IS_ENABLED(CONFIG_64BIT))
		kunit_skip(test, "a call reaches all addresses");
	share_func1(test);
	id = ftrace_kunit_class(ftrace_kunit_func1)->id;
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, far), -ERANGE);
	KUNIT_EXPECT_EQ(test, direct.direct_call, stub);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, stub, false), 0);

	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&direct, far), -ERANGE);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->id, id);
}

/* An ops that is registered gets a function only if the owner agrees, who hears when it goes. */
static void filters_ask(struct kunit *test)
{
	unsigned long ips[2] = { (unsigned long)ftrace_kunit_func1 };

	share_func1(test);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&redirect), 0);
	answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&redirect, ips[0], 0, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));

	answer = 0;
	asked = 0;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&redirect, ips[0], 0, 0), 0);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "r");
	asked = 0;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&redirect, ips[0], 1, 0), 0);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
	asked = 0;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&redirect, ips[0], 1, 0), -ENOENT);
	ips[1] = 1;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&redirect, ips, 2, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, asked, 0);

	/* The owner agrees, and another function is not to be had. */
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&rival, ftrace_kunit_func3, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&rival), 0);
	ips[1] = (unsigned long)ftrace_kunit_func3;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&redirect, ips, 2, 0, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER) |
				     BIT(FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "r");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	/* By name nobody is asked. */
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&redirect, "ftrace_kunit_func1", 18, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
}
#endif

static struct kunit_case share_cases[] = {
	KUNIT_CASE(conflict_changes_nothing),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(direct_callers_are_asked),
	KUNIT_CASE(second_direct_callers_are_asked),
	KUNIT_CASE(second_direct_callers_are_refused),
	KUNIT_CASE(callers_without_owner_share_nothing),
	KUNIT_CASE(new_addresses_are_asked_about),
	KUNIT_CASE(owners_hear_of_a_failure),
	KUNIT_CASE(sharing_outlives_a_rival),
	KUNIT_CASE(far_callers_are_refused),
	KUNIT_CASE(filters_ask),
#endif
	{ }
};

static struct kunit_suite share_suite = {
	.name = "ftrace_share",
	.init = ftrace_kunit_alone,
	.exit = ftrace_kunit_exit,
	.test_cases = share_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(share_suite);
