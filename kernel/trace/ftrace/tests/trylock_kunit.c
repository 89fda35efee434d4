// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of what a trampoline turns away because the task is in a callback: for each set of
 * recursion bits, and in each context, a callback runs exactly if ftrace_test_recursion_trylock()
 * lets it; and each call that does not get there is counted, once.
 */
#include <linux/ftrace_arch.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/trace_recursion.h>

#include "../guards.h"
#include "ftrace_kunit.h"

#define NR_OPS		2
/* Do trampolines look? */
#define LOOKS_EARLY \
	(IS_ENABLED(CONFIG_X86_64) && !IS_ENABLED(CONFIG_FTRACE_RECORD_RECURSION))
#define NR_BITS		(TRACE_CTX_TRANSITION + 1)
/* What a task has that is in two callbacks, the second time in a transition. */
#define NESTED		(BIT(TRACE_CTX_NORMAL) | BIT(TRACE_CTX_TRANSITION))

static const unsigned int trylock_contexts[] = {
	0, SOFTIRQ_OFFSET, HARDIRQ_OFFSET, NMI_OFFSET | HARDIRQ_OFFSET,
};

static struct ftrace_ops *trylock_ops[NR_OPS];
static struct ftrace_ops trylock_other;
static unsigned int trylock_ran, trylock_gave_up;

static void trylock_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0) {
		trylock_gave_up++;
		return;
	}
	trylock_ran++;
	ftrace_test_recursion_unlock(bit);
}

static void trylock_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
}

static void trylock_run(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	trylock_ran++;
}

/* The memory of these ops can be freed, so their calls are counted. */
static void trylock_make(struct kunit *test, ftrace_func_t func, unsigned long flags)
{
	for (unsigned int i = 0; i < NR_OPS; i++) {
		struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, ops);
		ops->func = func;
		ops->flags = flags;
		ftrace_kunit_add_ops(test, ops);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(ops, ftrace_kunit_func1, true), 0);
		trylock_ops[i] = ops;
	}
	trylock_other = (struct ftrace_ops){ .func = trylock_nothing };
	ftrace_kunit_add_ops(test, &trylock_other);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&trylock_other, ftrace_kunit_func1, true), 0);
}

/* Call a function as if the task had these bits, in a context. */
static void trylock_call(unsigned int bits, unsigned int context)
{
	unsigned long flags, old;

	trylock_ran = 0;
	trylock_gave_up = 0;
	local_irq_save(flags);
	old = current->trace_recursion;
	__preempt_count_add(context);
	current->trace_recursion = bits << TRACE_FTRACE_START;
	ftrace_kunit_func1(1);
	current->trace_recursion = old;
	__preempt_count_sub(context);
	local_irq_restore(flags);
}

/* @nr ops are registered, and nothing else is. Is a nested call of a task turned @early? */
static void trylock_check(struct kunit *test, unsigned int nr, bool early)
{
	for (unsigned int context = 0; context < ARRAY_SIZE(trylock_contexts); context++)
		for (unsigned int bits = 0; bits < 1 << NR_BITS; bits++) {
			unsigned int needs = BIT(TRACE_CTX_NORMAL - context) |
					     BIT(TRACE_CTX_TRANSITION);
			unsigned long missed = 0;

			for (unsigned int i = 0; i < nr; i++)
				missed -= ftrace_ops_missed(trylock_ops[i]);
			trylock_call(bits, trylock_contexts[context]);
			for (unsigned int i = 0; i < nr; i++)
				missed += ftrace_ops_missed(trylock_ops[i]);
			KUNIT_EXPECT_EQ(test, trylock_ran, (bits & needs) == needs ? 0 : nr);
			KUNIT_EXPECT_EQ(test, trylock_ran + trylock_gave_up + missed, nr);
			if (LOOKS_EARLY)
				KUNIT_EXPECT_EQ(test, missed, early && !context &&
						(bits & NESTED) == NESTED ? nr : 0);
		}
}

static void each_context_is_as_trylock_says(struct kunit *test)
{
	trylock_make(test, trylock_note, FTRACE_OPS_FL_TRYLOCK);
	for (unsigned int nr = 1; nr <= NR_OPS; nr++) {
		KUNIT_ASSERT_EQ(test, register_ftrace_function(trylock_ops[nr - 1]), 0);
		trylock_check(test, nr, true);
	}
	/* Another callback needs the registers. */
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&trylock_other), 0);
	trylock_check(test, NR_OPS, false);
}

static void registers_are_saved_for_others(struct kunit *test)
{
	trylock_make(test, trylock_note,
		     FTRACE_OPS_FL_TRYLOCK | FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(trylock_ops[0]), 0);
	trylock_check(test, 1, true);
}

/* Callbacks that do not say so are called. */
static void other_callbacks_decide_for_themselves(struct kunit *test)
{
	trylock_make(test, trylock_note, 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(trylock_ops[0]), 0);
	trylock_check(test, 1, false);
}

/* A guard decides alone, also beside a callback that gives up. */
static void guards_come_first(struct kunit *test)
{
	struct ftrace_guard *guard = ftrace_guard_make(-1);
	unsigned long missed;
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, guard);
	trylock_make(test, trylock_note, FTRACE_OPS_FL_TRYLOCK);
	trylock_ops[1]->guard = guard;
	for (unsigned int i = 0; i < NR_OPS; i++)
		KUNIT_EXPECT_EQ(test, register_ftrace_function(trylock_ops[i]), 0);
	for (unsigned int skips = 0; skips < 2; skips++) {
		for_each_possible_cpu(cpu)
			WRITE_ONCE(*per_cpu_ptr(guard->word, cpu), -skips);
		trylock_call(0, 0);
		KUNIT_EXPECT_EQ(test, trylock_ran, NR_OPS - skips);
		missed = ftrace_ops_missed(trylock_ops[0]);
		trylock_call(NESTED, 0);
		missed = ftrace_ops_missed(trylock_ops[0]) - missed;
		KUNIT_EXPECT_EQ(test, trylock_ran, 0);
		KUNIT_EXPECT_EQ(test, missed + trylock_gave_up, NR_OPS - skips);
		KUNIT_EXPECT_EQ(test, ftrace_ops_missed(trylock_ops[1]), 0);
	}
	for (unsigned int i = 0; i < NR_OPS; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(trylock_ops[i]), 0);
	guard(mutex)(&ftrace_lock);
	ftrace_guard_put(guard);
}

static DEFINE_PER_CPU(int, trylock_busy);

static void trylock_say_busy(int busy)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(trylock_busy, cpu), busy);
}

/* A word that the callback knows is for the gate alone, which counts. */
static void words_of_callbacks_are_hints(struct kunit *test)
{
	struct ftrace_guard *guard = ftrace_guard_alloc(&trylock_busy, 1);
	unsigned long skipped = 0;

	KUNIT_ASSERT_NOT_NULL(test, guard);
	trylock_make(test, trylock_run, FTRACE_OPS_FL_TRYLOCK);
	for (unsigned int i = 0; i < NR_OPS; i++)
		trylock_ops[i]->guard = guard;
	for (unsigned int nr = 1; nr <= NR_OPS; nr++) {
		KUNIT_EXPECT_EQ(test, register_ftrace_function(trylock_ops[nr - 1]), 0);
		for (int busy = 0; busy <= 2; busy++) {
			skipped = ftrace_guard_skipped(guard);
			trylock_say_busy(busy);
			trylock_call(0, 0);
			skipped = ftrace_guard_skipped(guard) - skipped;
			KUNIT_EXPECT_EQ(test, trylock_ran + skipped, nr);
			KUNIT_EXPECT_EQ(test, skipped,
					IS_ENABLED(CONFIG_X86_64) && busy == 1 ? nr : 0);
		}
	}
	/* Another callback is called, and nobody is skipped. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&trylock_other), 0);
	skipped = ftrace_guard_skipped(guard);
	trylock_say_busy(1);
	trylock_call(0, 0);
	KUNIT_EXPECT_EQ(test, trylock_ran, NR_OPS);
	KUNIT_EXPECT_EQ(test, ftrace_guard_skipped(guard), skipped);
	KUNIT_EXPECT_FALSE(test, ftrace_guard_skips(guard));
	for (unsigned int i = 0; i < NR_OPS; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(trylock_ops[i]), 0);
	ftrace_guard_free(guard);
	ftrace_guard_free(NULL);
	KUNIT_EXPECT_EQ(test, ftrace_guard_skipped(NULL), 0);
}

/* The core tries the lock for callbacks that want protection. */
static void protected_callbacks_do_not_run(struct kunit *test)
{
	unsigned long missed;

	trylock_make(test, trylock_run, FTRACE_OPS_FL_RECURSION);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(trylock_ops[0]), 0);
	trylock_call(0, 0);
	KUNIT_EXPECT_EQ(test, trylock_ran, 1);
	trylock_call(NESTED, HARDIRQ_OFFSET);
	KUNIT_EXPECT_EQ(test, trylock_ran, 1);
	missed = ftrace_ops_missed(trylock_ops[0]);
	KUNIT_EXPECT_EQ(test, missed, 0);
	trylock_call(NESTED, 0);
	KUNIT_EXPECT_EQ(test, trylock_ran, 0);
	missed = ftrace_ops_missed(trylock_ops[0]);
	if (LOOKS_EARLY)
		KUNIT_EXPECT_EQ(test, missed, 1);
}

/* Calls are counted from the registration of an ops to its removal. */
static void counts_begin_with_the_ops(struct kunit *test)
{
	trylock_make(test, trylock_note, FTRACE_OPS_FL_TRYLOCK);
	KUNIT_EXPECT_EQ(test, ftrace_ops_missed(trylock_ops[0]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, register_ftrace_function(trylock_ops[0]), 0);
		KUNIT_EXPECT_EQ(test, ftrace_ops_missed(trylock_ops[0]), 0);
		trylock_call(NESTED, 0);
		KUNIT_EXPECT_EQ(test, ftrace_ops_missed(trylock_ops[0]) + trylock_gave_up, 1);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(trylock_ops[0]), 0);
		KUNIT_EXPECT_EQ(test, ftrace_ops_missed(trylock_ops[0]), 0);
	}
	/* The memory of this one is never freed, so nothing counts its calls. */
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&trylock_other), 0);
	KUNIT_EXPECT_EQ(test, ftrace_ops_missed(&trylock_other), 0);
}

static struct kunit_case trylock_cases[] = {
	KUNIT_CASE(each_context_is_as_trylock_says),
	KUNIT_CASE(registers_are_saved_for_others),
	KUNIT_CASE(other_callbacks_decide_for_themselves),
	KUNIT_CASE(guards_come_first),
	KUNIT_CASE(words_of_callbacks_are_hints),
	KUNIT_CASE(protected_callbacks_do_not_run),
	KUNIT_CASE(counts_begin_with_the_ops),
	{ }
};

static struct kunit_suite trylock_suite = {
	.name = "ftrace_trylock",
	.init = ftrace_kunit_alone,
	.exit = ftrace_kunit_exit,
	.test_cases = trylock_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(trylock_suite);
