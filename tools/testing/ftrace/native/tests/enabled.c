// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel.ftrace_enabled becomes 0 and 1 while ops are registered that cannot share all functions.
 * Newer versions of Linux do not let a user switch tracing off.
 */
#include <linux/ftrace_arch.h>
#include <linux/version.h>

#include "ftrace/class.h"
#include "ftrace/hash.h"
#include "tests.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
static const unsigned long stub = (unsigned long)ftrace_stub_direct_tramp;
static struct ftrace_ops direct, redirect, rival;

/* What the owner of the direct caller was asked, and what it answers. */
static unsigned long asked;
static int answer;

/* Linux 6.12 does not pass @ip: this name is a macro there. */
static int ops_func(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd)
{
	asked |= BIT(cmd);
	return answer;
}

static int enabled_init(struct kunit *test)
{
	direct = (struct ftrace_ops){ .ops_func = ops_func };
	redirect = (struct ftrace_ops){
		.func = ftrace_kunit_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'r',
	};
	rival = redirect;
	rival.private = (void *)'v';
	answer = 0;
	asked = 0;
	ftrace_kunit_add_ops(test, &direct);
	ftrace_kunit_add_ops(test, &redirect);
	ftrace_kunit_add_ops(test, &rival);
	return 0;
}

static void enabled_exit(struct kunit *test)
{
	native_sysctl_write("ftrace_enabled", "1");
	ftrace_kunit_exit(test);
}

static void switch_functions(struct kunit *test, const char *to)
{
	KUNIT_EXPECT_EQ(test, native_sysctl_write("ftrace_enabled", to), 0);
}

/* A direct caller is on func1. */
static void share_func1(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
}

/* And an ops that changes the instruction pointer shares it. */
static void share_func1_both(struct kunit *test)
{
	share_func1(test);
	register_on(test, &redirect, ftrace_kunit_func1);
	asked = 0;
}

/* As when a module with the function was loaded, and @ops was refused for it. */
static int share_be_refused(struct ftrace_ops *ops, test_func_t func)
{
	struct ftrace_hash *filter;

	guard(mutex)(&ftrace_lock);
	filter = rcu_dereference_protected(ops->func_hash->filter_hash,
					   lockdep_is_held(&ftrace_lock));
	return ftrace_hash_add(filter, ftrace_location((unsigned long)func), false);
}

SUITE(enabled, enabled_init, enabled_exit);

/* An ops that was refused for a function does not get it when tracing is switched on. */
CASE(switching_attaches_no_rival)
{
	register_on(test, &redirect, ftrace_kunit_func1);
	register_on(test, &rival, ftrace_kunit_func2);
	KUNIT_ASSERT_EQ(test, share_be_refused(&rival, ftrace_kunit_func1), 0);

	switch_functions(test, "0");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	switch_functions(test, "1");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "v");
}

/* While tracing is off, a direct caller can be changed, and is not put on its functions. */
CASE(switched_off_callers_can_change)
{
	unsigned long other = (unsigned long)ftrace_stub;

	share_func1(test);
	switch_functions(test, "0");
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, other), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
	switch_functions(test, "1");
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, other));
}

/* But what is called then may not be able to share a function, and nobody asks later. */
CASE(switched_off_callers_are_asked)
{
	unsigned long other = (unsigned long)ftrace_stub;

	share_func1_both(test);
	switch_functions(test, "0");
	answer = -EAGAIN;
	asked = 0;
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, other), -EAGAIN);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF));
	KUNIT_EXPECT_EQ(test, direct.direct_call, stub);
	answer = 0;
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, other), 0);
	switch_functions(test, "1");
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->direct, other);
}

/* Nor does it get a function that the oldest one shares with a direct caller. */
CASE(switching_attaches_no_third)
{
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&rival, ftrace_kunit_func2, true), 0);
	register_on(test, &redirect, ftrace_kunit_func1);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&rival), 0);
	KUNIT_ASSERT_EQ(test, share_be_refused(&rival, ftrace_kunit_func1), 0);

	switch_functions(test, "0");
	switch_functions(test, "1");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "v");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
}

/* Switching tracing off and on asks no owner, and no ops is added meanwhile. */
CASE(switching_asks_nobody)
{
	share_func1_both(test);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&rival, ftrace_kunit_func1, true), 0);

	answer = -EBUSY;
	switch_functions(test, "0");
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&redirect, ftrace_kunit_func3, false), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&redirect, (unsigned long)ftrace_kunit_func3,
						   1, 0), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&rival), -EBUSY);
	register_on(test, &rival, ftrace_kunit_func2);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&rival, ftrace_kunit_func1, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&rival), 0);
	switch_functions(test, "1");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "r");
	KUNIT_EXPECT_EQ(test, asked, 0);

	answer = 0;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, stub));
}

/* A site with unexpected bytes keeps no other function off. */
CASE(switching_leaves_a_bad_site_alone)
{
	static struct ftrace_ops all = { .func = ftrace_kunit_note, .private = (void *)'a' };

	register_on_glob(test, &all, "ftrace_kunit_func*");
	ftrace_kunit_break_site(test, ftrace_kunit_func4);
	switch_functions(test, "0");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "");
	switch_functions(test, "1");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "a");
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func4, FTRACE_KUNIT_STRANGE));
}
#endif
