// SPDX-License-Identifier: GPL-2.0-only
/* Functions that the KUnit tests trace, and that no other code calls. */
#include "ftrace_kunit.h"

/* The compiler must neither merge these functions nor evaluate their calls. */
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
