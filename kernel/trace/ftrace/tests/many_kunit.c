// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of direct callers with many addresses.
 */
#include <linux/ftrace_arch.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "../class.h"
#include "../core.h"
#include "../dispatch.h"
#include "ftrace_kunit.h"

#define func1	ftrace_kunit_func1
#define func2	ftrace_kunit_func2
#define func3	ftrace_kunit_func3

/* Two functions that return at once. */
static const unsigned long one = (unsigned long)ftrace_stub_direct_tramp;
static const unsigned long other = (unsigned long)ftrace_stub;

/* What the owner was asked about, and what it answers. */
static unsigned long asked_of;
static int answer;

static int many_ops_func(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd)
{
	asked_of = ip;
	return answer;
}

static struct ftrace_ops many = { .ops_func = many_ops_func };

static void many_free(void *hash)
{
	free_ftrace_hash(hash);
}

static void many_hash_add(struct kunit *test, struct ftrace_hash *hash, test_func_t func,
			  unsigned long addr)
{
	unsigned long ip = ftrace_location((unsigned long)func);

	if (func)
		KUNIT_ASSERT_NOT_NULL(test, add_ftrace_hash_entry_direct(hash, ip, addr));
}

/* A hash that is freed when the case ends, with up to two functions. */
static struct ftrace_hash *many_hash(struct kunit *test, test_func_t func, unsigned long addr,
				     test_func_t second, unsigned long addr2)
{
	struct ftrace_hash *hash = alloc_ftrace_hash(FTRACE_HASH_DEFAULT_BITS);

	KUNIT_ASSERT_NOT_NULL(test, hash);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, many_free, hash), 0);
	many_hash_add(test, hash, func, addr);
	many_hash_add(test, hash, second, addr2);
	return hash;
}

static void many_expect(struct kunit *test, unsigned long f1, unsigned long f2, unsigned long f3)
{
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(func1, f1));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(func2, f2));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(func3, f3));
}

static void functions_have_their_addresses(struct kunit *test)
{
	struct ftrace_hash *two = many_hash(test, func1, one, func2, other);
	struct ftrace_hash *third = many_hash(test, func3, one, NULL, 0);
	struct ftrace_hash *all = many_hash(test, func1, other, func3, other);
	struct ftrace_hash *others = many_hash(test, func1, other, func2, other);
	unsigned int before = ftrace_kunit_nr_classes();

	ftrace_kunit_add_ops(test, &many);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, two), 0);
	many_expect(test, one, other, 0);
	KUNIT_EXPECT_EQ(test, func1(1), 2);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, third), 0);
	many_expect(test, one, other, one);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before + 2);

	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, all, true), 0);
	many_expect(test, other, other, other);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before + 1);

	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, third), -EINVAL);
	many_expect(test, other, other, other);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, others), 0);
	many_expect(test, 0, 0, other);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, third), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, third, true), 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, third), 0);
	many_expect(test, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);

	/* And again. */
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, third), 0);
	many_expect(test, 0, 0, one);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, third), 0);
	many_expect(test, 0, 0, 0);
}

/* A filter that is set in another way has no addresses. */
static void no_function_lacks_an_address(struct kunit *test)
{
	struct ftrace_hash *first = many_hash(test, func1, one, NULL, 0);
	struct ftrace_hash *nowhere = many_hash(test, func1, 0, NULL, 0);

	ftrace_kunit_add_ops(test, &many);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&many, func2, true), 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, first), -EINVAL);
	ftrace_free_filter(&many);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, nowhere), -EINVAL);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, first), 0);

	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&many, func2, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&many, "ftrace_kunit_func3*", 19, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, nowhere, true), -EINVAL);
	many_expect(test, one, 0, 0);
	KUNIT_EXPECT_EQ(test, func1(1), 2);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, first), 0);
	many_expect(test, 0, 0, 0);
}

static void refusals_change_nothing(struct kunit *test)
{
	struct ftrace_hash *first = many_hash(test, func1, one, NULL, 0);
	struct ftrace_hash *both = many_hash(test, func1, other, func2, other);
	struct ftrace_hash *far = many_hash(test, func2, (unsigned long)test, NULL, 0);
	struct ftrace_hash *none = many_hash(test, NULL, 0, NULL, 0);
	static struct ftrace_ops single;

	ftrace_kunit_add_ops(test, &many);
	ftrace_kunit_add_ops(test, &single);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, none), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, first), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, first, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, far), -ERANGE);
	many_expect(test, 0, 0, 0);

	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, first), 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, both), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, both, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, both), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, none), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, none, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, far), -ERANGE);
	many_expect(test, one, 0, 0);

	/* A direct caller of the other kind. */
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&single, func1, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&single, other), -EBUSY);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&single, func2, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(&single, other), 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&single, both), -EINVAL);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&single, other, false), 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, first), 0);
	many_expect(test, 0, 0, 0);
}

/* BPF may name one function twice: two types of BTF can have the same address. */
static void functions_may_be_named_twice(struct kunit *test)
{
	struct ftrace_hash *twice = many_hash(test, func1, one, func1, one);
	struct ftrace_hash *second = many_hash(test, func2, other, NULL, 0);
	struct ftrace_hash *third = many_hash(test, func3, other, NULL, 0);

	ftrace_kunit_add_ops(test, &many);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, twice), 0);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, second), 0);
	many_expect(test, one, other, 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, twice), 0);
	many_expect(test, 0, other, 0);

	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, twice), 0);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, third), 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, twice), 0);
	many_expect(test, 0, other, other);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, second), 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, third), 0);
	many_expect(test, 0, 0, 0);
}

/* An ops can be a direct caller with one address, then with many. */
static void an_ops_changes_its_kind(struct kunit *test)
{
	struct ftrace_hash *first = many_hash(test, func1, one, NULL, 0);
	struct ftrace_hash *changed = many_hash(test, func1, other, NULL, 0);
	static struct ftrace_ops both;

	ftrace_kunit_add_ops(test, &both);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&both, func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&both, other), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&both, other, true), 0);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&both, first), 0);
	many_expect(test, one, 0, 0);
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&both, other), -EINVAL);
	many_expect(test, one, 0, 0);

	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&both, changed), -EINVAL);
	many_expect(test, one, 0, 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&both, first), 0);
	many_expect(test, 0, 0, 0);
}

/* A callback that comes and goes takes the address of each function along. */
static void callbacks_share_functions(struct kunit *test)
{
	struct ftrace_hash *two = many_hash(test, func1, one, func2, other);
	struct ftrace_hash *swapped = many_hash(test, func1, other, func2, one);
	static struct ftrace_ops callback = {
		.func = ftrace_kunit_note,
		.private = (void *)'c',
	};

	ftrace_kunit_add_ops(test, &many);
	ftrace_kunit_add_ops(test, &callback);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&callback, func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&callback, func2, false), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&callback), 0);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, two), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(func1), "c");
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func1)->direct, one);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func2)->direct, other);

	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, swapped, true), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&callback), 0);
	many_expect(test, other, one, 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&callback), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func1)->direct, other);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func2)->direct, one);

	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, swapped), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(func2), "c");
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
/* func4 is entered in place of a function, and returns to its caller. */
static void functions_jump(struct kunit *test)
{
	unsigned long jump = ftrace_jmp_set((unsigned long)ftrace_kunit_func4);
	struct ftrace_hash *first = many_hash(test, func1, jump, NULL, 0);
	struct ftrace_hash *calls = many_hash(test, func1, one, NULL, 0);
	static struct ftrace_ops callback = {
		.func = ftrace_kunit_note,
		.private = (void *)'c',
	};

	ftrace_kunit_add_ops(test, &many);
	ftrace_kunit_add_ops(test, &callback);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, first), 0);
	many_expect(test, jump, 0, 0);
	KUNIT_EXPECT_EQ(test, func1(1), 5);

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&callback, func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&callback), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(func1), "c");
	KUNIT_EXPECT_EQ(test, func1(1), 5);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, calls, true), 0);
	KUNIT_EXPECT_EQ(test, func1(1), 2);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, first, true), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&callback), 0);
	many_expect(test, jump, 0, 0);
	KUNIT_EXPECT_EQ(test, func1(1), 5);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, first), 0);
	KUNIT_EXPECT_EQ(test, func1(1), 2);
}
#endif

/* The owner is asked about the function that is to be shared. */
static void owner_is_asked_about_functions(struct kunit *test)
{
	struct ftrace_hash *first = many_hash(test, func1, one, NULL, 0);
	struct ftrace_hash *second = many_hash(test, func2, one, NULL, 0);
	struct ftrace_hash *changed = many_hash(test, func2, other, NULL, 0);
	static struct ftrace_ops redirect = {
		.func = ftrace_kunit_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'r',
	};

	answer = 0;
	ftrace_kunit_add_ops(test, &many);
	ftrace_kunit_add_ops(test, &redirect);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, first), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&redirect, func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&redirect), 0);

	answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, second), -EAGAIN);
	KUNIT_EXPECT_EQ(test, asked_of, ftrace_location((unsigned long)func2));
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(func2), "r");
	answer = 0;
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(&many, second), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func2)->nr, 2);

	/* And about another address. */
	asked_of = 0;
	answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, changed, true), -EAGAIN);
	KUNIT_EXPECT_EQ(test, asked_of, ftrace_location((unsigned long)func2));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func2)->direct, one);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	many_expect(test, one, one, 0);
}

/* So many that one slot of a trampoline walks them. */
static struct ftrace_ops crowd[FTRACE_MAX_SLOTS + 1];
static unsigned int nr_crowd;

static void crowd_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	nr_crowd++;
}

/* The set of ops stays the same, but another address needs another trampoline. */
static void crowd_beside_a_changed_address(struct kunit *test)
{
	struct ftrace_hash *first = many_hash(test, func1, one, NULL, 0);
	struct ftrace_hash *changed = many_hash(test, func1, other, NULL, 0);
	unsigned long tramp;

	ftrace_kunit_add_ops(test, &many);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(&many, first), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(crowd); i++) {
		crowd[i].func = crowd_note;
		ftrace_kunit_add_ops(test, &crowd[i]);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&crowd[i], func1, true), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&crowd[i]), 0);
	}
	tramp = ftrace_kunit_tramp(func1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func1)->direct, one);

	KUNIT_EXPECT_EQ(test, update_ftrace_direct_mod(&many, changed, true), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(func1)->direct, other);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(func1), tramp);
	nr_crowd = 0;
	func1(1);
	KUNIT_EXPECT_EQ(test, nr_crowd, ARRAY_SIZE(crowd));
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(&many, changed), 0);
}

struct many_lost {
	struct ftrace_ops	*ops;
	struct ftrace_hash	*hash;
};

static int many_lose(void *data)
{
	struct many_lost *lost = data;
	int ret = update_ftrace_direct_del(lost->ops, lost->hash);

	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return ret;
}

/* Functions come again while the removal of the last ones waits for a grace period. */
static void functions_come_again(struct kunit *test)
{
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);
	struct many_lost lost = { ops, many_hash(test, func1, one, NULL, 0) };
	struct task_struct *task;
	int cpu = cpumask_last(cpu_online_mask);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	KUNIT_ASSERT_EQ(test, update_ftrace_direct_add(ops, lost.hash), 0);
	task = kthread_run_on_cpu(many_lose, &lost, cpu, "ftrace_kunit/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	while (READ_ONCE(ops->flags) & FTRACE_OPS_FL_ENABLED)
		schedule_timeout_idle(1);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_add(ops, lost.hash), 0);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), 0);
	many_expect(test, one, 0, 0);
	KUNIT_EXPECT_EQ(test, update_ftrace_direct_del(ops, lost.hash), 0);
}

static struct kunit_case many_cases[] = {
	KUNIT_CASE(functions_have_their_addresses),
	KUNIT_CASE(no_function_lacks_an_address),
	KUNIT_CASE(refusals_change_nothing),
	KUNIT_CASE(functions_may_be_named_twice),
	KUNIT_CASE(an_ops_changes_its_kind),
	KUNIT_CASE(callbacks_share_functions),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
	KUNIT_CASE(functions_jump),
#endif
	KUNIT_CASE(owner_is_asked_about_functions),
	KUNIT_CASE(functions_come_again),
	KUNIT_CASE(crowd_beside_a_changed_address),
	{ }
};

static struct kunit_suite many_suite = {
	.name = "ftrace_many",
	.init = ftrace_kunit_alone,
	.exit = ftrace_kunit_exit,
	.test_cases = many_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(many_suite);
