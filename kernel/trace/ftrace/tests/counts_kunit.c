// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the counters of tasks: when the pairs of the kernel image are in use,
 * groups of pairs are made, and they are given back.
 *
 * The address of a pair says whether the pair is of the image. The next pair is of the
 * image again when all groups that were made are gone.
 */
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/percpu.h>

#include <asm/sections.h>

#include "../callback.h"
#include "../core.h"
#include "ftrace_kunit.h"

/* The image has 64 pairs; the rest is two groups, and part of a third. */
#define IN_IMAGE	64
#define NR_PAIRS	(3 * 64 + 2)

static struct ftrace_count __percpu *pair[NR_PAIRS];

static bool counts_in_image(struct ftrace_count __percpu *count)
{
	unsigned long addr;

	if (!count)
		return false;
	addr = (unsigned long)per_cpu_ptr(count, cpumask_first(cpu_possible_mask));
	/* Without SMP, counters are ordinary variables. */
	return is_kernel_percpu_address(addr) || is_kernel_core_data(addr);
}

static void counts_look(struct kunit *test)
{
	unsigned int outside = 0, same = 0;

	for (unsigned int i = 0; i < NR_PAIRS; i++) {
		KUNIT_EXPECT_TRUE(test, pair[i]);
		outside += !counts_in_image(pair[i]);
		for (unsigned int j = 0; j < i; j++)
			same += pair[i] == pair[j];
	}
	KUNIT_EXPECT_GE(test, outside, NR_PAIRS - IN_IMAGE);
	KUNIT_EXPECT_EQ(test, same, 0);
}

static bool counts_next_in_image(void)
{
	struct ftrace_count __percpu *count;

	guard(mutex)(&ftrace_lock);
	count = ftrace_count_get();
	ftrace_count_put(count);
	return counts_in_image(count);
}

/*
 * Of two groups that are full each gets a pair back, the image first. Both are used again before a
 * group is made.
 */
static void counts_use_again(struct kunit *test)
{
	struct ftrace_count __percpu *again[2];
	unsigned int inside = 0, outside = 0;
	int cpu;

	while (inside < NR_PAIRS && !counts_in_image(pair[inside]))
		inside++;
	while (outside < NR_PAIRS && counts_in_image(pair[outside]))
		outside++;
	if (inside == NR_PAIRS)
		return;
	raw_cpu_ptr(pair[inside])->missed = 1;
	ftrace_count_put(pair[inside]);
	ftrace_count_put(pair[outside]);
	for (int i = 0; i < 2; i++)
		again[i] = ftrace_count_get();
	KUNIT_EXPECT_TRUE(test, again[0] == pair[outside]);
	KUNIT_EXPECT_TRUE(test, again[1] == pair[inside]);
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_EQ(test, per_cpu_ptr(again[1], cpu)->missed, 0);
	pair[outside] = again[0];
	pair[inside] = again[1];
}

static void counters_come_in_groups(struct kunit *test)
{
	scoped_guard(mutex, &ftrace_lock) {
		for (unsigned int i = 0; i < NR_PAIRS; i++)
			pair[i] = ftrace_count_get();
		counts_look(test);
		counts_use_again(test);
		/* The pairs of groups that were made come last. */
		for (unsigned int i = 0; i < NR_PAIRS; i++)
			ftrace_count_put(pair[i]);
	}
	KUNIT_EXPECT_TRUE(test, counts_next_in_image());
}

/* A group is made and given back a thousand times, and the memory does not grow. */
static void groups_are_freed(struct kunit *test)
{
	const unsigned int times = 1000;
	unsigned long before, room;
	unsigned int nr;

	guard(mutex)(&ftrace_lock);
	/* All pairs of the image. */
	for (nr = 0; nr < NR_PAIRS; nr++) {
		pair[nr] = ftrace_count_get();
		if (!counts_in_image(pair[nr])) {
			ftrace_count_put(pair[nr]);
			break;
		}
	}

	before = pcpu_nr_pages();
	for (unsigned int i = 0; i < times; i++)
		ftrace_count_put(ftrace_count_get());
	/* Half of what would be lost. */
	room = times * IN_IMAGE * sizeof(struct ftrace_count) / PAGE_SIZE / 2;
	KUNIT_EXPECT_LT(test, pcpu_nr_pages(), before + room * num_possible_cpus());

	while (nr--)
		ftrace_count_put(pair[nr]);
}

static unsigned int nr_calls;

static void counts_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
	nr_calls++;
}

/* How many tasks entered the callbacks of all pairs, minus how many left. */
static unsigned long counts_sum(unsigned long *entered)
{
	unsigned long left = 0;
	int cpu;

	*entered = 0;
	for (unsigned int i = 0; i < NR_PAIRS; i++) {
		for_each_possible_cpu(cpu) {
			*entered += per_cpu_ptr(pair[i], cpu)->entered;
			left += per_cpu_ptr(pair[i], cpu)->left;
		}
	}
	return *entered - left;
}

/* Each ops in memory that can be freed has a pair of its own. */
static void many_ops_are_counted(struct kunit *test)
{
	struct ftrace_ops *ops = kunit_kcalloc(test, NR_PAIRS, sizeof(*ops), GFP_KERNEL);
	unsigned long before, after;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	for (unsigned int i = 0; i < NR_PAIRS; i++) {
		ops[i].func = counts_callback;
		ftrace_kunit_add_ops(test, &ops[i]);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops[i], ftrace_kunit_func1, true), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops[i]), 0);
		pair[i] = ops[i].callback->count;
		KUNIT_ASSERT_TRUE(test, pair[i]);
	}
	counts_look(test);

	KUNIT_EXPECT_EQ(test, counts_sum(&before), 0);
	nr_calls = 0;
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_EQ(test, nr_calls, NR_PAIRS);
	KUNIT_EXPECT_EQ(test, counts_sum(&after), 0);
	KUNIT_EXPECT_EQ(test, after - before, NR_PAIRS);

	for (unsigned int i = 0; i < NR_PAIRS; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops[i]), 0);
	/* Trampolines hold pairs until they are freed, for which nobody waits. */
	for (unsigned int i = 0; i < 200 && !counts_next_in_image(); i++)
		msleep(50);
	KUNIT_EXPECT_TRUE(test, counts_next_in_image());
}

static struct kunit_case counts_cases[] = {
	KUNIT_CASE(counters_come_in_groups),
	KUNIT_CASE(groups_are_freed),
	KUNIT_CASE(many_ops_are_counted),
	{ }
};

static struct kunit_suite counts_suite = {
	.name = "ftrace_counts",
	.exit = ftrace_kunit_exit,
	.test_cases = counts_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(counts_suite);
