// SPDX-License-Identifier: GPL-2.0-only
/* Functions that ftrace_kunit.c traces, and that nobody else calls. */
#include "ftrace_kunit.h"

/* Not merged with each other, nor worked out by the compiler. */
#define TEST_FUNC(_n)						\
noinline __noclone int ftrace_kunit_func##_n(int arg)		\
{								\
	barrier();						\
	return arg + (_n);					\
}

TEST_FUNC(1)
TEST_FUNC(2)
TEST_FUNC(3)
TEST_FUNC(4)
