// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the arguments in a trace: names, types and how many words are shown.
 *
 * BTF knows the functions of this file. They are not called.
 */
#include <kunit/test.h>
#include <linux/trace_seq.h>

#include "../../trace_output.h"
#include "ftrace_kunit.h"

enum args_color {
	ARGS_RED = 1,
	ARGS_BLUE = 5,
};

struct args_pair {
	long a;
	long b;
};

static noinline __noclone void args_none(void)
{
	barrier();
}

static noinline __noclone void args_types(int i, unsigned int u, enum args_color color,
					  const void *p)
{
	barrier();
}

static noinline __noclone void args_seven(long a, long b, long c, long d, long e, long f,
					  long g)
{
	barrier();
}

static noinline __noclone void args_words(struct args_pair first, long c, long d, long e,
					  struct args_pair last, long g)
{
	barrier();
}

static struct trace_seq args_seq;

static const char *args_of(void *func, unsigned long *args)
{
	trace_seq_init(&args_seq);
	print_function_args(&args_seq, args, (unsigned long)func);
	trace_seq_putc(&args_seq, '\0');
	return args_seq.buffer;
}

static void arguments_have_names(struct kunit *test)
{
	unsigned long args[FTRACE_REGS_MAX_ARGS] = { -1, 30, ARGS_BLUE, 16 };

	KUNIT_EXPECT_STREQ(test, args_of(args_none, args), "()");
	KUNIT_EXPECT_STREQ(test, args_of(args_types, args),
			   "(i=-1, u=0x1e, color=5 [ARGS_BLUE], p=0x10)");
	args[2] = 2;
	args[3] = 0;
	KUNIT_EXPECT_STREQ(test, args_of(args_types, args),
			   "(i=-1, u=0x1e, color=2, p=0x0)");
}

static void six_words_are_shown(struct kunit *test)
{
	unsigned long args[FTRACE_REGS_MAX_ARGS] = { 1, 2, 3, 4, 5, 6 };

	KUNIT_EXPECT_STREQ(test, args_of(args_seven, args),
			   "(a=1, b=2, c=3, d=4, e=5, f=6, ...)");
}

static void structures_are_words(struct kunit *test)
{
	unsigned long args[FTRACE_REGS_MAX_ARGS] = { 1, 2, 3, 4, 5, 6 };
	const char *text = args_of(args_words, args);

	/* Some versions of pahole leave out functions that take structures. */
	if (!strcmp(text, "()"))
		kunit_skip(test, "BTF does not know the function");
	KUNIT_EXPECT_STREQ(test, text,
			   "(first=(STRUCT)[0x1:0x2], c=3, d=4, e=5, last=(STRUCT)[0x6:...])");
}

static void unknown_functions_have_no_arguments(struct kunit *test)
{
	unsigned long args[FTRACE_REGS_MAX_ARGS] = { 1 };

	KUNIT_EXPECT_STREQ(test, args_of(NULL, args), "()");
}

static struct kunit_case args_cases[] = {
	KUNIT_CASE(arguments_have_names),
	KUNIT_CASE(six_words_are_shown),
	KUNIT_CASE(structures_are_words),
	KUNIT_CASE(unknown_functions_have_no_arguments),
	{ }
};

static struct kunit_suite args_suite = {
	.name = "ftrace_args",
	.exit = ftrace_kunit_exit,
	.test_cases = args_cases,
};

kunit_test_suite(args_suite);
