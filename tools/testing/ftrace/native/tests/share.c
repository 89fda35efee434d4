// SPDX-License-Identifier: GPL-2.0-only
/* Owners of direct callers are asked to share their functions, each as often as it must be. */
#include <linux/ftrace_arch.h>

#include "ftrace/class.h"
#include "ftrace/ipmodify.h"
#include "tests.h"

#define OWNERS		4
#define CHANGES_IP	(FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS)

/* What an owner has heard: + a question to share, - the end of sharing. */
static struct owner {
	struct ftrace_ops	ops;
	char			heard[8];
	int			answer;
} owner[OWNERS];

static struct ftrace_ops redirect, rival;
static bool wrong_locks, told_inside;

/* Linux 6.12 does not pass @ip: this name is a macro there. */
static int ops_func(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd)
{
	struct owner *o = container_of(ops, struct owner, ops);
	size_t len = strlen(o->heard);

	/* Of this task: a worker may hold ftrace_lock at any time. */
	if (!lockdep_is_held(&direct_mutex) || lockdep_is_held(&ftrace_lock))
		wrong_locks = true;
	if (cmd == FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER && READ_ONCE(native_inside) == 1)
		told_inside = true;
	if (len + 1 < sizeof(o->heard))
		o->heard[len] = cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER ? '+' :
				cmd == FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER ? '-' : '?';
	/* That an owner is busy at the end of sharing does not matter. */
	return cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER ? o->answer : -EBUSY;
}

static const unsigned long target = (unsigned long)native_direct_target;

static test_func_t func_of(unsigned int i)
{
	return native_funcs[40 + 3 * i];
}

/* What all owners have heard since the last time. */
static const char *take_heard(void)
{
	static char all[OWNERS * 8];

	all[0] = 0;
	for (unsigned int i = 0; i < OWNERS; i++) {
		snprintf(all + strlen(all), sizeof(all) - strlen(all), i ? " %s" : "%s",
			 owner[i].heard);
		memset(owner[i].heard, 0, sizeof(owner[i].heard));
	}
	return all;
}

static int share_init(struct kunit *test)
{
	redirect = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = CHANGES_IP };
	rival = redirect;
	wrong_locks = false;
	native_mod_setup();
	ftrace_kunit_add_ops(test, &redirect);
	ftrace_kunit_add_ops(test, &rival);
	for (unsigned int i = 0; i < OWNERS; i++) {
		owner[i] = (struct owner){ .ops.ops_func = ops_func };
		ftrace_kunit_add_ops(test, &owner[i].ops);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&owner[i].ops, func_of(i), true), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_direct(&owner[i].ops, target), 0);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, func_of(i), !i), 0);
	}
	/* Nobody's. */
	return ftrace_kunit_filter(&redirect, ftrace_kunit_func1, false);
}

static void share_exit(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, wrong_locks);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&direct_mutex));
	for (unsigned int i = 0; i < OWNERS; i++)
		unregister_ftrace_direct(&owner[i].ops, target, true);
	ftrace_kunit_exit(test);
}

SUITE(share, share_init, share_exit);

static void stay_inside(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	native_stay();
}

/* An owner has its function for itself again when no task is in the other callback any more. */
CASE(owners_are_told_last)
{
	struct ftrace_ops *ops = native_dynamic_ops(test);
	struct task_struct *caller;

	*ops = (struct ftrace_ops){ .func = stay_inside, .flags = CHANGES_IP };
	register_on(test, ops, func_of(0));
	caller = native_call_until_inside(func_of(0));
	told_inside = false;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
	KUNIT_EXPECT_FALSE(test, told_inside);
	KUNIT_EXPECT_STREQ(test, take_heard(), "+-   ");
	kthread_stop(caller);
	ftrace_free_filter(ops);
}

static int get_func1(void *unused)
{
	return ftrace_set_filter_ip(&redirect, (unsigned long)ftrace_kunit_func1, 0, 0);
}

static void lose_func1(void *unused)
{
	ftrace_set_filter_ip(&redirect, (unsigned long)ftrace_kunit_func1, 1, 0);
}

/* Neither before nor after an owner is asked an error without memory leaves anything. */
CASE(questions_need_memory)
{
	const struct native_op op = { get_func1, lose_func1 };

	register_on(test, &redirect, func_of(0));
	/* The list of functions, two copies, changes, sites, and a class. */
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 6U);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	take_heard();
}

/*
 * A function has one direct caller. Another one is refused before it is asked to share any of its
 * functions: those on both sides of the function have none.
 */
CASE(the_second_is_not_asked)
{
	static struct owner late;

	late = (struct owner){ .ops.ops_func = ops_func };
	ftrace_kunit_add_ops(test, &late.ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&late.ops, func_of(0), true), 0);
	for (unsigned int i = 39; i <= 41; i += 2) {
		test_func_t func = native_funcs[i];

		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&late.ops, func, false), 0);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, func, false), 0);
	}
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, take_heard(), "+ + + +");
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&late.ops, target), -EBUSY);
	KUNIT_EXPECT_STREQ(test, late.heard, "");
	KUNIT_EXPECT_STREQ(test, take_heard(), "   ");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, take_heard(), "- - - -");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), -EBUSY);
	KUNIT_EXPECT_STREQ(test, take_heard(), "   ");
	/* It has not become a direct caller. */
	KUNIT_EXPECT_FALSE(test, late.ops.flags & FTRACE_OPS_FL_DIRECT);
}

/* Who has agreed is told of the refusal. Who has refused, or was not asked, hears no more. */
CASE(refusals_are_told)
{
	unsigned int told = 0;

	for (unsigned int i = 0; i < OWNERS; i++) {
		owner[i].answer = -EAGAIN;
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), -EAGAIN);
		owner[i].answer = 0;
		KUNIT_EXPECT_FALSE(test, mutex_is_locked(&direct_mutex));
		KUNIT_EXPECT_STREQ(test, owner[i].heard, "+");
		for (unsigned int j = 0; j < OWNERS; j++) {
			if (j == i)
				continue;
			told += !!owner[j].heard[0];
			KUNIT_EXPECT_STREQ(test, owner[j].heard, owner[j].heard[0] ? "+-" : "");
		}
		take_heard();
	}
	/* Of each two owners one is asked first. */
	KUNIT_EXPECT_EQ(test, told, (unsigned int)(OWNERS * (OWNERS - 1) / 2));
}

/* If the registration fails after all have agreed, those are told whose caller is alone again. */
CASE(rivals_go_on_sharing)
{
	register_on(test, &rival, func_of(1));
	KUNIT_EXPECT_STREQ(test, take_heard(), " +  ");
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), -EBUSY);
	KUNIT_EXPECT_STREQ(test, take_heard(), "+- + +- +-");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&rival), 0);
	KUNIT_EXPECT_STREQ(test, take_heard(), " -  ");
}

/* Only an ops that changes the instruction pointer asks. */
CASE(others_ask_nobody)
{
	redirect.flags = 0;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, take_heard(), "   ");
}

/* A filter can have an address that is no site any more: the module of the function has gone. */
CASE(functions_of_modules_go)
{
	test_func_t func = (test_func_t)native_mod_ips[1];

	native_mod_load();
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, func, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, func_of(2), false), 0);
	native_mod_release();
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, take_heard(), "  + ");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, take_heard(), "  - ");
}

/* An ops that changes the instruction pointer must have a filter. */
CASE(filters_stay)
{
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&redirect, NULL, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&owner[0].ops, NULL, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&redirect, NULL, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	take_heard();
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&redirect, NULL, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), -EINVAL);
	KUNIT_EXPECT_STREQ(test, take_heard(), "   ");
}

static void switch_on(void *unused)
{
	native_sysctl_write("ftrace_enabled", "1");
}

/* Only who was asked for this ops, and agreed, shares: neither who comes later, nor for another. */
CASE(owners_that_were_not_asked_share_nothing)
{
	struct ftrace_ops *set[] = { &redirect, &owner[0].ops }, *late[] = { &redirect, &owner[3].ops };
	struct ftrace_ops *others[] = { &rival, &owner[0].ops };
	unsigned long ip = ftrace_location((unsigned long)func_of(0));

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, func_of(0), true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_ipmodify_begin(&redirect, NULL), 0);
	scoped_guard(mutex, &ftrace_lock) {
		KUNIT_EXPECT_EQ(test, ftrace_set_check(set, 2, &redirect, ip), 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_check(late, 2, &redirect, ip), -EBUSY);
		KUNIT_EXPECT_EQ(test, ftrace_set_check(others, 2, &rival, ip), -EBUSY);
	}
	ftrace_ipmodify_end(&redirect, NULL, false);
	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, ftrace_set_check(set, 2, &redirect, ip), -EBUSY);
}

/* While owners are asked, kernel.ftrace_enabled brings back no caller that was not there. */
CASE(switching_waits_for_questions)
{
	if (native_sysctl_write("ftrace_enabled", "0") == -EOPNOTSUPP)
		return;
	native_expect_waits(test, &direct_mutex, switch_on, NULL);
}
