// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of users of the graph tracer: their handlers run with preemption off, so that a grace
 * period of RCU is enough before a user is freed.
 */
#include <linux/ftrace_arch.h>
#include <linux/preempt.h>

#include "ftrace_kunit.h"

static unsigned int graph_entries, graph_returns, graph_preemptible;

/* What handlers get depends on the version of Linux. */
static int graph_entry(void)
{
	graph_entries++;
	graph_preemptible += preemptible();
	return 1;
}

static void graph_return(void)
{
	graph_returns++;
	graph_preemptible += preemptible();
}

static void handlers_are_not_preempted(struct kunit *test)
{
	static struct fgraph_ops user = {
		.entryfunc = (void *)graph_entry,
		.retfunc = (void *)graph_return,
	};
	unsigned long func1 = (unsigned long)ftrace_kunit_func1;

	graph_entries = 0;
	graph_returns = 0;
	graph_preemptible = 0;
	if (IS_ENABLED(CONFIG_CFI) || IS_ENABLED(CONFIG_CFI_CLANG))
		kunit_skip(test, "these handlers do not have the type of a handler");
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&user.ops, func1, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&user), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(1), 2);
	unregister_ftrace_graph(&user);
	ftrace_free_filter(&user.ops);
	KUNIT_EXPECT_EQ(test, graph_entries, 1U);
	KUNIT_EXPECT_EQ(test, graph_returns, 1U);
	KUNIT_EXPECT_EQ(test, graph_preemptible, 0U);
}

static struct kunit_case graph_cases[] = {
	KUNIT_CASE(handlers_are_not_preempted),
	{ }
};

static struct kunit_suite graph_suite = {
	.name = "ftrace_graph",
	.exit = ftrace_kunit_exit,
	.test_cases = graph_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(graph_suite);
