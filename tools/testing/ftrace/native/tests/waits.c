// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each operation waits while somebody else holds the lock that guards what the operation uses, and
 * for tasks in code that it lets go: what is not waited for would be noticed only by chance.
 */
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace/core.h"
#include "ftrace/kallsyms.h"
#include "ftrace/ops.h"
#include "ftrace/profile.h"
#include "ftrace/filter_edit.h"
#include "ftrace/pid.h"
#include "module.h"
#include "tests.h"

static struct ftrace_ops ops;

/* A lock of one file only. */
static struct mutex *lock_named(struct kunit *test, const char *name)
{
	struct mutex *lock = (struct mutex *)kallsyms_lookup_name(name);

	KUNIT_EXPECT_NOT_NULL_MSG(test, lock, "no lock %s", name);
	return lock;
}

static void read_file(void *path)
{
	static char text[1 << 16];

	native_cat(path, text, sizeof(text), 4096);
}

static void reads_wait(struct kunit *test)
{
	static char * const files[] = {
		"available_filter_functions", "available_filter_functions_addrs", "enabled_functions",
		"touched_functions", "set_ftrace_filter", "set_ftrace_notrace", "set_graph_function",
		"set_graph_notrace", "set_ftrace_pid", "set_ftrace_notrace_pid",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++)
		native_expect_waits(test, &ftrace_lock, read_file, files[i]);
}

struct echo {
	const char	*path, *text;
};

static void write_file(void *data)
{
	struct echo *echo = data;

	native_echo(echo->path, O_TRUNC, echo->text);
}

static void writes_wait(struct kunit *test)
{
	static struct echo echos[] = {
		{ "set_ftrace_filter", "native_func_101" }, { "set_ftrace_filter", "" },
		{ "set_ftrace_notrace", "native_func_101" }, { "set_ftrace_notrace", "" },
		{ "set_ftrace_filter", "native_func_101:mod:nosuch" }, { "set_ftrace_filter", "" },
		{ "set_graph_function", "native_func_101" }, { "set_graph_function", "" },
		{ "set_graph_notrace", "native_func_101" }, { "set_graph_notrace", "" },
		{ "set_ftrace_pid", "3" }, { "set_ftrace_pid", "" },
		{ "set_ftrace_notrace_pid", "3" }, { "set_ftrace_notrace_pid", "" },
		{ "set_ftrace_filter", "native_func_101:traceoff:1" },
		{ "set_ftrace_filter", "!native_func_101:traceoff:1" },
		{ "current_tracer", "function" }, { "current_tracer", "nop" },
		{ "function_profile_enabled", "1" }, { "function_profile_enabled", "0" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(echos); i++)
		native_expect_waits(test, &ftrace_lock, write_file, &echos[i]);
	for (unsigned int i = 0; i < 2; i++) {
		native_expect_waits(test, &global_ops.func_hash->regex_lock, write_file, &echos[i]);
		native_expect_waits(test, lock_named(test, "pid_mutex"), write_file, &echos[10 + i]);
		native_expect_waits(test, lock_named(test, "probe_mutex"), write_file, &echos[14 + i]);
		native_expect_waits(test, lock_named(test, "profile_mutex"), write_file, &echos[18 + i]);
	}
}

static void open_and_close(void *path)
{
	struct native_file *f = native_open(path, O_RDWR);

	if (!IS_ERR(f))
		native_close(f);
}

static void profile_waits(struct kunit *test)
{
	struct mutex *lock = lock_named(test, "profile_mutex");

	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, "ftrace_kunit_func1"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "1"), 0);
	ftrace_kunit_func1(1);
	native_expect_waits(test, lock, read_file, "trace_stat/function0");
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
}

static void do_load(void *unused)
{
	native_mod_init(true);
}

static void do_enable(void *unused)
{
	native_mod_enable();
}

static void do_start(void *unused)
{
	native_mod_started();
}

static void do_release(void *unused)
{
	native_mod_release();
}

static void forget_text(void *unused)
{
	ftrace_free_mem(NULL, (void *)1, (void *)2);
}

static void forget_sites(void *unused)
{
	ftrace_forget_sites(1, 2);
}

static void drop_names(void *unused)
{
	static struct module other = { .name = "other" };

	ftrace_drop_init_names(&other);
}

static void keep_names(void *unused)
{
	static struct module other = { .name = "other" };

	ftrace_keep_failed_names(&other);
}

static void words_wait(void *unused)
{
	ftrace_mod_words_wait("nosuch", false);
}

/* It stays noted to the end of the program. */
static struct ftrace_ops lone;

static void note_lone(void *unused)
{
	ftrace_note_lone_ops(&lone);
}

static void modules_wait(struct kunit *test)
{
	static void (*const steps[])(void *) = { do_load, do_enable, do_start, do_release };

	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++)
		native_expect_waits(test, &ftrace_lock, steps[i], NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		if (i >= 2)
			native_expect_waits(test, &trace_types_lock, steps[i], NULL);
		else
			steps[i](NULL);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		if (i >= 2)
			native_expect_waits(test, lock_named(test, "probe_mutex"), steps[i], NULL);
		else
			steps[i](NULL);
	}
	native_expect_waits(test, &ftrace_lock, forget_text, NULL);
	native_expect_waits(test, &ftrace_lock, forget_sites, NULL);
	native_expect_waits(test, &trace_types_lock, forget_sites, NULL);
	ftrace_ops_init(&lone);
	native_expect_waits(test, &ftrace_lock, note_lone, NULL);
	native_expect_waits(test, &ftrace_lock, words_wait, NULL);
	native_expect_waits(test, &global_ops.func_hash->regex_lock, words_wait, NULL);
	native_expect_waits(test, &trace_types_lock, words_wait, NULL);
	native_expect_waits(test, &ftrace_lock, drop_names, NULL);
	native_expect_waits(test, &ftrace_lock, keep_names, NULL);
	/* A word that waits for the module, and its function. */
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, "native_mod_1:mod:native_mod"), 0);
	native_mod_init(true);
	native_expect_waits(test, &global_ops.func_hash->regex_lock, do_enable, NULL);
	native_mod_started();
	native_expect_waits(test, &global_ops.func_hash->regex_lock, do_release, NULL);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
}

static void set_filter(void *unused)
{
	ftrace_set_filter(&ops, "native_func_101", 15, 1);
}

static void set_ip(void *unused)
{
	ftrace_set_filter_ip(&ops, (unsigned long)native_funcs[0], 0, 1);
}

static void free_filter(void *unused)
{
	ftrace_free_filter(&ops);
}

static void do_register(void *unused)
{
	register_ftrace_function(&ops);
}

static void do_unregister(void *unused)
{
	unregister_ftrace_function(&ops);
}

void native_direct_target(void);

static void register_direct(void *unused)
{
	register_ftrace_direct(&ops, (unsigned long)native_direct_target);
}

static void modify_direct(void *unused)
{
	modify_ftrace_direct(&ops, (unsigned long)native_funcs[7]);
}

static void unregister_direct(void *unused)
{
	unregister_ftrace_direct(&ops, 0, false);
}

static void switch_off(void *unused)
{
	native_sysctl_write("ftrace_enabled", "0");
}

static void switch_on(void *unused)
{
	native_sysctl_write("ftrace_enabled", "1");
}

static void calls_wait(struct kunit *test)
{
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note };
	native_expect_waits(test, &ftrace_lock, set_filter, NULL);
	native_expect_waits(test, &ops.local_hash.regex_lock, set_filter, NULL);
	native_expect_waits(test, &ftrace_lock, set_ip, NULL);
	native_expect_waits(test, &ops.local_hash.regex_lock, set_ip, NULL);
	native_expect_waits(test, &ftrace_lock, do_register, NULL);
	native_expect_waits(test, &ftrace_lock, switch_off, NULL);
	native_expect_waits(test, &ftrace_lock, switch_on, NULL);
	native_expect_waits(test, &ftrace_lock, do_unregister, NULL);
	native_expect_waits(test, &ops.local_hash.regex_lock, free_filter, NULL);
}

static void direct_callers_wait(struct kunit *test)
{
	struct mutex *lock = lock_named(test, "direct_mutex");

	ops = (struct ftrace_ops){ };
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, ftrace_kunit_func1, true), 0);
	native_expect_waits(test, lock, register_direct, NULL);
	native_expect_waits(test, lock, modify_direct, NULL);
	native_expect_waits(test, lock, unregister_direct, NULL);
	native_expect_waits(test, &ftrace_lock, register_direct, NULL);
	native_expect_waits(test, &ftrace_lock, modify_direct, NULL);
	native_expect_waits(test, &ftrace_lock, unregister_direct, NULL);
	ftrace_free_filter(&ops);
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_IPMODIFY |
				   FTRACE_OPS_FL_SAVE_REGS };
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, ftrace_kunit_func1, true), 0);
	native_expect_waits(test, lock, do_register, NULL);
	native_expect_waits(test, lock, do_unregister, NULL);
	ftrace_free_filter(&ops);
}

static void go_and_stay(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)native_stay);
}

/* The code that an ops sends tasks to can be freed: it is waited for, besides the callback. */
static void code_is_waited_for(struct kunit *test)
{
	struct ftrace_ops *dynamic = kunit_kzalloc(test, sizeof(*dynamic), GFP_KERNEL);
	struct task_struct *caller;

	KUNIT_ASSERT_NOT_NULL(test, dynamic);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(dynamic, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(dynamic, (unsigned long)native_stay), 0);
	caller = native_call_until_inside(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(dynamic, (unsigned long)native_stay, false), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(native_inside), 2U);
	kthread_stop(caller);
	dynamic->func = go_and_stay;
	dynamic->flags |= FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(dynamic), 0);
	caller = native_call_until_inside(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(dynamic), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(native_inside), 2U);
	kthread_stop(caller);
	ftrace_free_filter(dynamic);
}

static void make_instance(void *unused)
{
	native_mkdir("w");
}

static void remove_instance(void *unused)
{
	native_rmdir("w");
}

static void change_cpus(void *unused)
{
	ftrace_cpumask_changed(trace_array_find("w"));
}

static void make_guard(void *unused)
{
	ftrace_pid_make_guard(trace_array_find("w"));
}

static void instances_wait(struct kunit *test)
{
	native_mkdir("w");
	native_expect_waits(test, &ftrace_lock, make_guard, NULL);
	native_expect_waits(test, &ftrace_lock, change_cpus, NULL);
	native_expect_waits(test, &ftrace_lock, remove_instance, NULL);
	native_mkdir("w");
	native_expect_waits(test, &ftrace_lock, open_and_close, "instances/w/set_ftrace_filter");
	native_expect_waits(test, lock_named(test, "probe_mutex"), remove_instance, NULL);
	native_expect_waits(test, &trace_types_lock, make_instance, NULL);
	native_rmdir("w");
}

static int waits_init(struct kunit *test)
{
	native_mod_setup();
	return 0;
}

static struct kunit_case waits_cases[] = {
	KUNIT_CASE(reads_wait),
	KUNIT_CASE(writes_wait),
	KUNIT_CASE(profile_waits),
	KUNIT_CASE(modules_wait),
	KUNIT_CASE(calls_wait),
	KUNIT_CASE(direct_callers_wait),
	KUNIT_CASE(code_is_waited_for),
	KUNIT_CASE(instances_wait),
	{ }
};

static struct kunit_suite waits_suite = {
	.name = "native_waits",
	.init = waits_init,
	.test_cases = waits_cases,
	.exit = ftrace_kunit_exit,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suites(&waits_suite);
