// SPDX-License-Identifier: GPL-2.0-only
/* Trampolines: what unwinders learn of each byte, and the memory that they are in. */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>

#include <asm/ftrace_patch.h>

#include "trace.h"
#include "ftrace/core.h"
#include "ftrace/guards.h"
#include "targets.h"
#include "tests.h"

/* The parts of the two templates, see entry_64.S. */
static const struct {
	const char	*start, *keep, *call, *tail, *end;
} templates[] = {
	{ (const char *)ftrace_caller, ftrace_caller_keep, ftrace_caller_call, ftrace_caller_tail,
	  ftrace_caller_end },
	{ (const char *)ftrace_regs_caller, ftrace_regs_caller_keep, ftrace_regs_caller_call,
	  ftrace_regs_caller_tail, ftrace_regs_caller_end },
};

static struct ftrace_ops ops[2];

/*
 * The frame is made and removed by the code of the template, so each byte of that has the layout
 * of the byte it was copied from. Between them it is that of the call, and in the gate that of the
 * start.
 */
static void expect_layout(struct kunit *test, unsigned int t, unsigned long tramp, bool has_gate)
{
	unsigned long start = (unsigned long)templates[t].start;
	unsigned long call = (unsigned long)templates[t].call;
	unsigned long tail = (unsigned long)templates[t].tail;
	unsigned long end = (unsigned long)templates[t].end;
	unsigned int head = templates[t].keep - templates[t].start, gate = 0, off = 0, at;
	unsigned int size = arch_ftrace_tramp_find(tramp)->size;

	while (ftrace_tramp_template_ip(tramp + gate + 1) == start)
		gate++;
	KUNIT_EXPECT_EQ(test, !!gate, has_gate);
	tramp += gate;
	size -= gate;
	for (; off < head; off++) {
		KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(tramp + off), start + off);
		KUNIT_EXPECT_EQ(test, *(u8 *)(tramp + off), *(u8 *)(start + off));
	}
	while (off < size && ftrace_tramp_template_ip(tramp + off) == call)
		off++;
	KUNIT_EXPECT_GE(test, off, head + 10);
	for (at = 0; at < end - tail; at++) {
		KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(tramp + off + at), tail + at);
		KUNIT_EXPECT_EQ(test, *(u8 *)(tramp + off + at), *(u8 *)(tail + at));
	}
	/* The return. */
	for (at += off; at < size; at++)
		KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(tramp + at), end);
}

static void layouts_are_known(struct kunit *test)
{
	struct ftrace_guard *guard = ftrace_guard_make(1);

	KUNIT_ASSERT_NOT_NULL(test, guard);
	for (unsigned int n = 0; n < 8; n++) {
		unsigned int nr = 1 + n % 2, t = n / 2 % 2;
		bool guarded = n / 4;

		for (unsigned int i = 0; i < nr; i++) {
			ops[i] = (struct ftrace_ops){
				.func = ftrace_kunit_note_x,
				.flags = t ? FTRACE_OPS_FL_SAVE_REGS : 0,
				.guard = guarded ? guard : NULL,
			};
			ftrace_kunit_filter(&ops[i], ftrace_kunit_func1, true);
			KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops[i]), 0);
		}
		expect_layout(test, t, ftrace_kunit_tramp(ftrace_kunit_func1), guarded);
		for (unsigned int i = 0; i < nr; i++) {
			KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops[i]), 0);
			ftrace_free_filter(&ops[i]);
		}
	}
	KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip((unsigned long)native_funcs[0]), 0UL);
	native_settle();
	scoped_guard(mutex, &ftrace_lock)
		ftrace_guard_put(guard);
}

/* Many trampolines need more memory, which is given back when they have gone. */
static void memory_is_given_back(struct kunit *test)
{
	struct ftrace_ops *many = kunit_kcalloc(test, NATIVE_FUNCS, sizeof(*many), GFP_KERNEL);
	unsigned int before;

	KUNIT_ASSERT_NOT_NULL(test, many);
	native_settle();
	before = native_nr_execmem();
	for (unsigned int i = 0; i < NATIVE_FUNCS; i++) {
		many[i].func = ftrace_kunit_note_x;
		ftrace_kunit_filter(&many[i], (test_func_t)native_funcs[i], true);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&many[i]), 0);
	}
	KUNIT_EXPECT_GT(test, native_nr_execmem(), before);
	for (unsigned int i = 0; i < NATIVE_FUNCS; i += 7)
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of((test_func_t)native_funcs[i]), "x");
	for (unsigned int i = 0; i < NATIVE_FUNCS; i++) {
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&many[i]), 0);
		ftrace_free_filter(&many[i]);
	}
	native_settle();
	KUNIT_EXPECT_LE(test, native_nr_execmem(), before);
}

static struct kunit_case tramps_cases[] = {
	KUNIT_CASE(layouts_are_known),
	KUNIT_CASE(memory_is_given_back),
	{ }
};

static struct kunit_suite tramps_suite = {
	.name = "native_tramps",
	.test_cases = tramps_cases,
	.exit = ftrace_kunit_exit,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suites(&tramps_suite);
