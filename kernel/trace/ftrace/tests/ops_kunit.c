// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of ops: which ops a site calls while ops come, change and go.
 *
 * The cases look at the classes of the sites, at the bytes of the sites, and at which
 * callbacks run.
 */
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>

#include "../callback.h"
#include "../class.h"
#include "../core.h"
#include "ftrace_kunit.h"
#include "../hash.h"
#include "../ops.h"

static struct ftrace_ops ops_a = { .func = ftrace_kunit_note, .private = (void *)'a' };
static struct ftrace_ops ops_b = { .func = ftrace_kunit_note, .private = (void *)'b' };
static struct ftrace_ops ops_c = { .func = ftrace_kunit_note, .private = (void *)'c' };

static unsigned long last_ip, last_parent;

static void ops_note_ips(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	last_ip = ip;
	last_parent = parent_ip;
	ftrace_kunit_note(ip, parent_ip, ops, fregs);
}

static void one_ops_is_called(struct kunit *test)
{
	static struct ftrace_ops ops = { .func = ops_note_ips, .private = (void *)'o' };
	unsigned long tramp, ip = ftrace_location((unsigned long)ftrace_kunit_func1);

	ftrace_kunit_add_ops(test, &ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, ftrace_kunit_func1, true), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "o");
	KUNIT_EXPECT_EQ(test, last_ip, ip);
	KUNIT_EXPECT_EQ(test, ftrace_location(last_parent), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "");
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->nr, 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->users, 1);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, tramp));
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(tramp));
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), -EBUSY);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), -EBUSY);
}

static const test_func_t funcs[] = {
	ftrace_kunit_func1, ftrace_kunit_func2, ftrace_kunit_func3,
};

/* A set of ops is one class, in any order the ops are registered and unregistered. */
static void sets_of_ops_are_classes(struct kunit *test)
{
	unsigned int before = ftrace_kunit_nr_classes();
	struct ftrace_class *ab, *abc;

	ftrace_kunit_add_ops(test, &ops_a);
	ftrace_kunit_add_ops(test, &ops_b);
	ftrace_kunit_add_ops(test, &ops_c);
	for (int i = 0; i < ARRAY_SIZE(funcs); i++) {
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_a, funcs[i], !i), 0);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_b, funcs[i], !i), 0);
	}
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_c, ftrace_kunit_func2, true), 0);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before + 1);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_c), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before + 2);

	ab = ftrace_kunit_class(ftrace_kunit_func1);
	abc = ftrace_kunit_class(ftrace_kunit_func2);
	KUNIT_EXPECT_EQ(test, abc->nr, 3);
	KUNIT_EXPECT_EQ(test, abc->users, 1);
	KUNIT_EXPECT_PTR_EQ(test, ab, ftrace_kunit_class(ftrace_kunit_func3));
	KUNIT_EXPECT_EQ(test, ab->users, 2);

	/* The youngest first. */
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "ba");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "cba");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "ca");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "a");

	/* A change of a filter moves only the sites of the filter. */
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&ops_c, ftrace_kunit_func3, true), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "a");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "a");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "ca");
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops_a, "ftrace_kunit_func3", 18, 0), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "c");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "a");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_c), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);
	for (int i = 0; i < ARRAY_SIZE(funcs); i++)
		KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(funcs[i], 0));
}

static int ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_ops_set_func(ops, func, NULL);
}

static void callbacks_can_change(struct kunit *test)
{
	ftrace_kunit_add_ops(test, &ops_a);
	ftrace_kunit_add_ops(test, &ops_b);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_a, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_b, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_b), 0);

	KUNIT_EXPECT_EQ(test, ops_set_func(&ops_a, ftrace_kunit_note_x), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "bx");
	KUNIT_EXPECT_EQ(test, ops_set_func(&ops_a, ftrace_kunit_note), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "ba");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
}

static void bad_input_is_refused(struct kunit *test)
{
	static struct ftrace_ops none = { };
	static struct ftrace_ops deleted = {
		.func = ftrace_kunit_note,
		.flags = FTRACE_OPS_FL_DELETED,
	};
	unsigned long ips[] = {
		(unsigned long)ftrace_kunit_func1, (unsigned long)test,
	};

	ftrace_kunit_add_ops(test, &none);
	ftrace_kunit_add_ops(test, &deleted);
	ftrace_kunit_add_ops(test, &ops_a);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&none), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&deleted), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, "no_such_function", 16, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, "", 0, 1), -EINVAL);
	/* Only the ops of a trace array can wait for a module. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, "*:mod:no_such_module", 20, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops_a, ips, 2, 0, 0), -EINVAL);
	swap(ips[0], ips[1]);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops_a, ips, 2, 0, 0), -EINVAL);
	swap(ips[0], ips[1]);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops_a, ips[0], 1, 0), -ENOENT);
	/* Only the first byte of a function or of a call site is an address of it. */
	for (int i = 1; i < MCOUNT_INSN_SIZE; i++) {
		unsigned long inside = ftrace_location(ips[0]) + i;
		char word[24];
		int len = scnprintf(word, sizeof(word), "0x%lx", inside);

		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops_a, inside, 0, 0), -EINVAL);
		KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, word, len, 0), -EINVAL);
	}
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(ops_a.func_hash->filter_hash));
}

static void ops_end_killed(void *unused)
{
	WRITE_ONCE(ftrace_disabled, 0);
}

/*
 * After ftrace_kill() an ops cannot be unregistered, but its owner may free it: nothing that the
 * core still does may look at the ops.
 */
static void killed_ops_is_forgotten(struct kunit *test)
{
	unsigned int before = ftrace_kunit_nr_classes();
	struct ftrace_callback *callback;
	struct ftrace_ops *op;
	bool found = false;

	ftrace_kunit_add_ops(test, &ops_a);
	ftrace_kunit_add_ops(test, &ops_b);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_a, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops_b, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_b), 0);
	callback = ops_a.callback;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ops_end_killed, NULL), 0);
	WRITE_ONCE(ftrace_disabled, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), -ENODEV);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), -ENODEV);
	WRITE_ONCE(ftrace_disabled, 0);

	scoped_guard(mutex, &ftrace_lock) {
		for_each_ftrace_ops(op)
			found |= op == &ops_a;
		KUNIT_EXPECT_FALSE(test, found);
		KUNIT_EXPECT_FALSE(test, ftrace_class_has(ftrace_kunit_class(ftrace_kunit_func1),
							  &ops_a));
	}
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);

	/* The core is not really dead: the case ends what it began. */
	scoped_guard(mutex, &ftrace_lock)
		ftrace_callback_put(callback);
	ops_a.callback = NULL;
}

/* An ops that two tasks use first, at the same time, many times in at most two seconds. */
static struct ftrace_ops shared;
static unsigned int shared_round, shared_done;

/* Wait a moment for the other task; after many times, let other tasks run. */
static void ops_wait(unsigned int times)
{
	if (times % 4096)
		cpu_relax();
	else
		usleep_range(20, 40);
}

static int ops_use_shared(void *unused)
{
	unsigned int round = 0, waited = 0;

	while (!kthread_should_stop()) {
		/* Pairs with smp_store_release() in two_tasks_use_an_ops_first(). */
		if (smp_load_acquire(&shared_round) == round) {
			ops_wait(++waited);
			continue;
		}
		round++;
		ftrace_kunit_filter(&shared, ftrace_kunit_func2, false);
		/* Pairs with smp_load_acquire() there. */
		smp_store_release(&shared_done, round);
	}
	return 0;
}

static void two_tasks_use_an_ops_first(struct kunit *test)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, 0);
	struct task_struct *task;
	unsigned long until = jiffies + 2 * HZ;
	unsigned int lost = 0;

	if (cpu >= nr_cpu_ids) {
		kunit_skip(test, "one CPU does not run two tasks at the same time");
		return;
	}
	shared_round = 0;
	shared_done = 0;
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	task = kthread_run_on_cpu(ops_use_shared, NULL, cpu, "ftrace_kunit/%u");
	for (unsigned int round = 1; !IS_ERR(task) && round <= 1000 && time_before(jiffies, until);
	     round++) {
		shared = (struct ftrace_ops){ .func = ftrace_kunit_note };
		/* Pairs with smp_load_acquire() in ops_use_shared(). */
		smp_store_release(&shared_round, round);
		/* The other CPU takes some time to see this. */
		for (unsigned int i = round % 32; i; i--)
			cpu_relax();
		ftrace_kunit_filter(&shared, ftrace_kunit_func1, false);
		/* Pairs with smp_store_release() there. */
		for (unsigned int i = 1; smp_load_acquire(&shared_done) != round; i++)
			ops_wait(i);
		scoped_guard(mutex, &ftrace_lock)
			lost += ftrace_locked(shared.func_hash->filter_hash)->count != 2;
		ftrace_free_filter(&shared);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, lost, 0);
	kthread_stop(task);
}

static struct kunit_case ops_cases[] = {
	KUNIT_CASE(one_ops_is_called),
	KUNIT_CASE(sets_of_ops_are_classes),
	KUNIT_CASE(callbacks_can_change),
	KUNIT_CASE(bad_input_is_refused),
	KUNIT_CASE(killed_ops_is_forgotten),
	KUNIT_CASE(two_tasks_use_an_ops_first),
	{ }
};

static struct kunit_suite ops_suite = {
	.name = "ftrace_ops",
	.init = ftrace_kunit_alone,
	.exit = ftrace_kunit_exit,
	.test_cases = ops_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(ops_suite);
