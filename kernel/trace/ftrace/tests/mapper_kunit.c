// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of the map from functions to values: there are more functions than chains,
 * and each function has its own value.
 */
#include "../core.h"
#include "ftrace_kunit.h"

#define NR_FUNCS	5000

/* No function is called. Functions are 16 bytes apart, as in a kernel. */
static unsigned long mapper_ip(unsigned int i)
{
	return 0x1000 + 16 * i;
}

static unsigned int nr_freed;

static int mapper_count_freed(void *data)
{
	return ++nr_freed;
}

static void mapper_free(void *mapper)
{
	free_ftrace_func_mapper(mapper, mapper_count_freed);
}

static void each_function_has_its_value(struct kunit *test)
{
	struct ftrace_func_mapper *mapper = allocate_ftrace_func_mapper();
	unsigned int refused = 0, wrong = 0;

	KUNIT_ASSERT_NOT_NULL(test, mapper);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mapper_free, mapper), 0);
	for (unsigned long i = 0; i < NR_FUNCS; i++)
		refused += !!ftrace_func_mapper_add_ip(mapper, mapper_ip(i), (void *)i);
	KUNIT_EXPECT_EQ(test, refused, 0);
	KUNIT_EXPECT_EQ(test, ftrace_func_mapper_add_ip(mapper, mapper_ip(1), NULL), -EBUSY);

	for (unsigned long i = 0; i < NR_FUNCS; i++) {
		void **data = ftrace_func_mapper_find_ip(mapper, mapper_ip(i));

		wrong += !data || *data != (void *)i;
		wrong += !!ftrace_func_mapper_find_ip(mapper, mapper_ip(i) + 4);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);

	KUNIT_EXPECT_PTR_EQ(test, ftrace_func_mapper_remove_ip(mapper, mapper_ip(7)), (void *)7);
	KUNIT_EXPECT_NULL(test, ftrace_func_mapper_remove_ip(mapper, mapper_ip(7)));
	KUNIT_EXPECT_NULL(test, ftrace_func_mapper_find_ip(mapper, mapper_ip(7)));
	nr_freed = 0;
	kunit_release_action(test, mapper_free, mapper);
	KUNIT_EXPECT_EQ(test, nr_freed, NR_FUNCS - 1);
}

static struct kunit_case mapper_cases[] = {
	KUNIT_CASE(each_function_has_its_value),
	{ }
};

static struct kunit_suite mapper_suite = {
	.name = "ftrace_mapper",
	.exit = ftrace_kunit_exit,
	.test_cases = mapper_cases,
};

kunit_test_suite(mapper_suite);
