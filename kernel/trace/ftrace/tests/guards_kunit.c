// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of guards: which callbacks a trampoline calls is what the words of the CPU say, for
 * each combination of them; a task that is turned away is not counted; and the word stays as long
 * as a task can be about to read it.
 *
 * A case stays on one CPU. So the words of this CPU have the values that the case has given them,
 * and those of all other CPUs have the opposite values.
 */
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "../callback.h"
#include "../class.h"
#include "../core.h"
#include "../dispatch.h"
#include "../guards.h"
#include "../ops.h"
#include "ftrace_kunit.h"

#define NR_OPS		3

/* What a case does with an ops. */
enum { FREE, GO, SKIP, NR_KINDS };

/* Of the comparison, the CPU has two forms: for a byte, and for four bytes. */
static const int guards_skip[NR_OPS] = { -1, 0x12345678, 0 };

static struct ftrace_ops guards_ops[NR_OPS];
static struct ftrace_guard *guards[NR_OPS];

static void guards_set(const struct ftrace_guard *guard, bool skip)
{
	int here = raw_smp_processor_id(), cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(*per_cpu_ptr(guard->word, cpu), guard->skip + (skip != (cpu == here)));
}

static void guards_unpin(void *unused)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void guards_pin(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, guards_unpin, NULL), 0);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
}

static void guards_free(void *guard)
{
	guard(mutex)(&ftrace_lock);
	ftrace_guard_put(guard);
}

static struct ftrace_guard *guards_new(struct kunit *test, int skip)
{
	struct ftrace_guard *guard = ftrace_guard_make(skip);

	KUNIT_ASSERT_NOT_NULL(test, guard);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, guards_free, guard), 0);
	return guard;
}

static void guards_trace(struct kunit *test, struct ftrace_ops *ops)
{
	ftrace_kunit_add_ops(test, ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(ops, ftrace_kunit_func1, true), 0);
}

static const char *guards_call(void)
{
	return ftrace_kunit_calls_of(ftrace_kunit_func1);
}

/* Ops a, b and c of one function, and a guard for each. */
static void guards_make(struct kunit *test, unsigned long flags)
{
	guards_pin(test);
	for (unsigned int i = 0; i < NR_OPS; i++) {
		guards[i] = guards_new(test, guards_skip[i]);
		guards_ops[i] = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = flags };
		guards_ops[i].private = (void *)(unsigned long)('a' + i);
		guards_trace(test, &guards_ops[i]);
	}
}

/* The letters of the ops that a call must call, youngest first. The digits of @n are the kinds. */
static const char *guards_want(unsigned int n, unsigned int nr)
{
	static char want[NR_OPS + 1];
	unsigned int len = 0;
	char last;

	for (unsigned int i = 0; i < nr; i++, n /= NR_KINDS)
		if (n % NR_KINDS != SKIP)
			want[len++] = 'a' + i;
	for (unsigned int i = 0; i < len / 2; i++) {
		last = want[len - 1 - i];
		want[len - 1 - i] = want[i];
		want[i] = last;
	}
	want[len] = '\0';
	return want;
}

/* One combination of ops without guard, and with a guard that lets in or turns away. */
static void guards_check(struct kunit *test, unsigned int n, unsigned int nr)
{
	for (unsigned int i = 0, rest = n; i < nr; i++, rest /= NR_KINDS) {
		guards_ops[i].guard = rest % NR_KINDS == FREE ? NULL : guards[i];
		guards_set(guards[i], rest % NR_KINDS == SKIP);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&guards_ops[i]), 0);
	}
	KUNIT_EXPECT_STREQ(test, guards_call(), guards_want(n, nr));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(40), 41);

	/* The words change, and the trampolines do not. */
	for (unsigned int i = 0, rest = n; i < nr; i++, rest /= NR_KINDS)
		guards_set(guards[i], rest % NR_KINDS == GO);
	for (unsigned int i = 0, rest = n, at = 1; i < nr; i++, rest /= NR_KINDS, at *= NR_KINDS)
		n += rest % NR_KINDS == FREE ? 0 : rest % NR_KINDS == GO ? at : -at;
	KUNIT_EXPECT_STREQ(test, guards_call(), guards_want(n, nr));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(40), 41);
	for (unsigned int i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&guards_ops[i]), 0);
}

static void guards_check_all(struct kunit *test, unsigned long flags)
{
	unsigned int combinations = 1;

	guards_make(test, flags);
	for (unsigned int nr = 1; nr <= NR_OPS; nr++) {
		combinations *= NR_KINDS;
		for (unsigned int n = 0; n < combinations; n++)
			guards_check(test, n, nr);
	}
}

static void each_combination_of_guards(struct kunit *test)
{
	guards_check_all(test, 0);
}

static void each_combination_with_registers(struct kunit *test)
{
	guards_check_all(test, FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED);
}

static void each_combination_with_recursion(struct kunit *test)
{
	guards_check_all(test, FTRACE_OPS_FL_RECURSION);
}

static DEFINE_PER_CPU(int, guards_here);

/*
 * With SMP, the variables of the kernel image are far from those of a CPU. Seen as a variable of
 * the CPU, such a word has an address that does not fit into the comparison; as a word that was
 * allocated when there were many.
 */
static void words_may_be_far_away(struct kunit *test)
{
	static struct ftrace_guard far[NR_OPS];
	static int word[NR_OPS];
	unsigned long offset;
	int users = 0;

	guards_make(test, 0);
	/* What this CPU adds to the address of a per-CPU variable: without SMP, nothing. */
	offset = (unsigned long)raw_cpu_ptr(&guards_here) - (__force unsigned long)&guards_here;
	for (unsigned int i = 0; i < NR_OPS; i++) {
		far[i] = (struct ftrace_guard){ .skip = guards_skip[i], .users = 1 };
		far[i].word = (__force int __percpu *)((unsigned long)&word[i] - offset);
		guards_ops[i].guard = &far[i];
		if (IS_ENABLED(CONFIG_SMP) && IS_ENABLED(CONFIG_64BIT))
			KUNIT_EXPECT_NE(test, (__force long)far[i].word,
					(s32)(__force long)far[i].word);
	}
	for (unsigned int nr = 1; nr <= NR_OPS; nr++) {
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&guards_ops[nr - 1]), 0);
		for (unsigned int n = 0; n < 1 << nr; n++) {
			unsigned int kinds = 0;

			for (int i = nr - 1; i >= 0; i--) {
				word[i] = far[i].skip + (n >> i & 1);
				kinds = kinds * NR_KINDS + (n >> i & 1 ? GO : SKIP);
			}
			KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1),
					   guards_want(kinds, nr));
		}
	}
	for (unsigned int i = 0; i < NR_OPS; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&guards_ops[i]), 0);
	/* Trampolines have references. */
	for (unsigned int i = 0; i < 500; i++) {
		scoped_guard(mutex, &ftrace_lock)
			users = far[0].users + far[1].users + far[2].users;
		if (users == NR_OPS)
			break;
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, users, NR_OPS);
}

static int guards_set_func(unsigned int i, struct ftrace_guard *guard)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_ops_set_func(&guards_ops[i], guards_ops[i].func, guard);
}

/* A registered ops gets a guard and loses it. */
static void guards_come_and_go(struct kunit *test)
{
	guards_make(test, 0);
	for (unsigned int i = 0; i < NR_OPS; i++) {
		guards_set(guards[i], true);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&guards_ops[i]), 0);
	}
	KUNIT_EXPECT_STREQ(test, guards_call(), "cba");
	KUNIT_EXPECT_EQ(test, guards_set_func(1, guards[1]), 0);
	KUNIT_EXPECT_STREQ(test, guards_call(), "ca");
	KUNIT_EXPECT_EQ(test, guards_set_func(0, guards[0]), 0);
	KUNIT_EXPECT_EQ(test, guards_set_func(2, guards[2]), 0);
	KUNIT_EXPECT_STREQ(test, guards_call(), "");
	KUNIT_EXPECT_EQ(test, guards_set_func(1, NULL), 0);
	KUNIT_EXPECT_STREQ(test, guards_call(), "b");
}

/* More ops than a trampoline has slots for. */
static void many_ops_have_guards(struct kunit *test)
{
	const unsigned int nr = FTRACE_MAX_SLOTS + 2;
	struct ftrace_ops *ops = kunit_kcalloc(test, nr, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	guards_make(test, 0);
	for (unsigned int i = 0; i < nr; i++) {
		ops[i].func = ftrace_stub;
		guards_trace(test, &ops[i]);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops[i]), 0);
	}
	for (unsigned int n = 0; n < 27; n++)
		guards_check(test, n, NR_OPS);
}

static unsigned long guards_entered(const struct ftrace_ops *ops)
{
	unsigned long entered = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		entered += per_cpu_ptr(ops->callback->count, cpu)->entered;
	return entered;
}

/* Alone, and in one trampoline with another ops that is called. */
static void tasks_at_a_guard_are_not_counted(struct kunit *test)
{
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);
	unsigned long before;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	guards_make(test, 0);
	ops->func = ftrace_kunit_note;
	ops->private = (void *)'d';
	ops->guard = guards[0];
	guards_trace(test, ops);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(ops), 0);
	KUNIT_ASSERT_TRUE(test, ops->callback->count);

	for (unsigned int others = 0; others < 2; others++) {
		before = guards_entered(ops);
		guards_set(guards[0], true);
		KUNIT_EXPECT_STREQ(test, guards_call(), others ? "b" : "");
		KUNIT_EXPECT_EQ(test, guards_entered(ops), before);
		guards_set(guards[0], false);
		KUNIT_EXPECT_STREQ(test, guards_call(), others ? "bd" : "d");
		KUNIT_EXPECT_EQ(test, guards_entered(ops), before + 1);
		if (!others)
			KUNIT_EXPECT_EQ(test, register_ftrace_function(&guards_ops[1]), 0);
	}
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* What is called directly is called for all tasks. */
static void direct_callers_have_no_guard(struct kunit *test)
{
	unsigned long stub = (unsigned long)ftrace_stub_direct_tramp;
	static struct ftrace_ops direct;

	guards_make(test, 0);
	guards_trace(test, &direct);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	for (unsigned int nr = 1, n = NR_KINDS; nr <= NR_OPS; nr++, n *= NR_KINDS)
		for (unsigned int i = 0; i < n; i++)
			guards_check(test, i, nr);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, stub, true), 0);
}
#endif

static bool guards_spins;

/* RCU tasks waits for this task. */
static int guards_spin(void *unused)
{
	WRITE_ONCE(guards_spins, true);
	while (!kthread_should_stop())
		cpu_relax();
	return 0;
}

static unsigned int guards_users(const struct ftrace_guard *guard)
{
	guard(mutex)(&ftrace_lock);
	return guard->users;
}

/* A task may be about to read the word when the ops has gone: the trampolines keep the guard. */
static void guards_outlive_their_ops(struct kunit *test)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, 0);
	struct task_struct *task;
	unsigned int users;

	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "one CPU does not run two tasks at the same time");
	guards_make(test, 0);
	guards_ops[0].guard = guards[0];
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&guards_ops[0]), 0);
	KUNIT_EXPECT_GT(test, guards_users(guards[0]), 1);
	guards_spins = false;
	task = kthread_run_on_cpu(guards_spin, NULL, cpu, "ftrace_kunit/%u");
	for (unsigned int i = 0; !IS_ERR(task) && i < 5000 && !READ_ONCE(guards_spins); i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&guards_ops[0]), 0);
	msleep(100);
	users = guards_users(guards[0]);
	if (!IS_ERR(task))
		kthread_stop(task);
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_GT(test, users, 1);
	for (unsigned int i = 0; i < 500 && guards_users(guards[0]) > 1; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, guards_users(guards[0]), 1);
}

static int guards_call_loop(void *unused)
{
	while (!kthread_should_stop()) {
		ftrace_kunit_func1(1);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void guards_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
}

/* An ops and its guard come, and are freed while tasks are turned away and let in. */
static void guards_remove_once(struct kunit *test, unsigned int n)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	struct ftrace_guard *guard = ftrace_guard_make(-1);
	int cpu, ret = -ENOMEM;

	if (ops && guard) {
		ops->func = guards_nothing;
		ops->guard = guard;
		ret = ftrace_kunit_filter(ops, ftrace_kunit_func1, true);
		ret = ret ?: register_ftrace_function(ops);
	}
	for (unsigned int i = 0; !ret && i < 200; i++)
		for_each_possible_cpu(cpu)
			WRITE_ONCE(*per_cpu_ptr(guard->word, cpu), (i ^ n) & 1 ? -1 : cpu);
	if (!ret)
		ret = unregister_ftrace_function(ops);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (ops)
		ftrace_free_filter(ops);
	kfree(ops);
	guards_free(guard);
}

static void ops_go_while_tasks_are_at_guards(struct kunit *test)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, 0);
	struct task_struct *task;

	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "one CPU does not run two tasks at the same time");
	guards_pin(test);
	task = kthread_run_on_cpu(guards_call_loop, NULL, cpu, "ftrace_kunit/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (unsigned int n = 0; n < 100; n++)
		guards_remove_once(test, n);
	kthread_stop(task);
}

static struct kunit_case guards_cases[] = {
	KUNIT_CASE(each_combination_of_guards),
	KUNIT_CASE(each_combination_with_registers),
	KUNIT_CASE(each_combination_with_recursion),
	KUNIT_CASE(words_may_be_far_away),
	KUNIT_CASE(guards_come_and_go),
	KUNIT_CASE_SLOW(many_ops_have_guards),
	KUNIT_CASE(tasks_at_a_guard_are_not_counted),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(direct_callers_have_no_guard),
#endif
	KUNIT_CASE(guards_outlive_their_ops),
	KUNIT_CASE_SLOW(ops_go_while_tasks_are_at_guards),
	{ }
};

static struct kunit_suite guards_suite = {
	.name = "ftrace_guards",
	.exit = ftrace_kunit_exit,
	.test_cases = guards_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(guards_suite);
