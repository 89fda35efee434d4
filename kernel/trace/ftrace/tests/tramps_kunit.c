// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of trampolines: more of them than one piece of memory has room for, each of which is
 * found by its address and by its number.
 */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>

#include "../core.h"
#include "ftrace_kunit.h"

/* A trampoline has some hundred bytes, and a piece of memory has 64 KiB. */
#define NR_TRAMPS	1000

static void tramps_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
}

static struct ftrace_ops tramps_ops = { .func = tramps_callback };
static struct ftrace_tramp *tramps[NR_TRAMPS];

static unsigned int tramps_make(void)
{
	struct ftrace_call call = { .func = tramps_callback, .ops = &tramps_ops };
	unsigned int made = 0;

	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < NR_TRAMPS; i++) {
		tramps[i] = arch_ftrace_tramp_make(&call, 1, i % 2, 0);
		made += !!tramps[i];
	}
	return made;
}

static void tramps_free(void *unused)
{
	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < NR_TRAMPS; i++)
		if (tramps[i])
			arch_ftrace_tramp_free(tramps[i]);
	memset(tramps, 0, sizeof(tramps));
}

/* How many of the trampolines are found at their first and last byte, and not behind it. */
static unsigned int tramps_at_addresses(void)
{
	unsigned int found = 0;

	guard(preempt)();
	for (unsigned int i = 0; i < NR_TRAMPS; i++) {
		const struct ftrace_tramp *t = tramps[i];

		found += arch_ftrace_tramp_find(t->addr) == t &&
			 arch_ftrace_tramp_find(t->addr + t->size - 1) == t &&
			 arch_ftrace_tramp_find(t->addr + t->size) != t &&
			 arch_ftrace_tramp_find(t->addr - 1) != t;
	}
	return found;
}

/* How many trampolines have a number, and how many all have the same number as another one. */
static unsigned int tramps_with_numbers(unsigned int *all)
{
	const struct ftrace_tramp *t, *last = NULL;
	unsigned int found = 0;

	/* One of an earlier case that is freed meanwhile would change the numbers of the others. */
	guard(mutex)(&ftrace_lock);
	guard(preempt)();
	for (*all = 0; (t = arch_ftrace_tramp_nth(*all)) && t != last; ++*all) {
		for (unsigned int i = 0; i < NR_TRAMPS; i++)
			found += tramps[i] == t;
		last = t;
	}
	return found;
}

static void each_trampoline_is_found(struct kunit *test)
{
	unsigned long first, last;
	unsigned int all;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, tramps_free, NULL), 0);
	KUNIT_ASSERT_EQ(test, tramps_make(), NR_TRAMPS);
	KUNIT_EXPECT_EQ(test, tramps_at_addresses(), NR_TRAMPS);
	KUNIT_EXPECT_EQ(test, tramps_with_numbers(&all), NR_TRAMPS);
	KUNIT_EXPECT_GE(test, all, NR_TRAMPS);

	first = tramps[0]->addr;
	last = tramps[NR_TRAMPS - 1]->addr;
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(first));
	kunit_release_action(test, tramps_free, NULL);
	KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline(first));
	KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline(last));
	KUNIT_EXPECT_EQ(test, tramps_with_numbers(&all), 0);
	KUNIT_EXPECT_LT(test, all, NR_TRAMPS);
}

static struct kunit_case tramps_cases[] = {
	KUNIT_CASE(each_trampoline_is_found),
	{ }
};

static struct kunit_suite tramps_suite = {
	.name = "ftrace_tramps",
	.exit = ftrace_kunit_exit,
	.test_cases = tramps_cases,
};

kunit_test_suite(tramps_suite);
