// SPDX-License-Identifier: GPL-2.0-only
/* What the graph tracer needs: ops under one ops, its filter files, and the function profiler. */

#include "ftrace/profile.h"
#include "tests.h"

/*
 * The entries, a letter for each user. The returns are only counted: fgraph.c calls the return
 * function of its first user also for functions that only others want.
 */
static char calls[64];
static unsigned int returns;

static void note(char letter)
{
	size_t len = strlen(calls);

	if (len < sizeof(calls) - 1)
		calls[len] = letter;
}

#define USER(letter)							\
	static NATIVE_GRAPH_ENTER(enter_##letter) { note(#letter[0]); return 1; }	\
	static NATIVE_GRAPH_RETURN(return_##letter) { returns++; }	\
	static struct fgraph_ops letter = {				\
		.entryfunc = enter_##letter, .retfunc = return_##letter	\
	}

USER(a);
USER(b);

static const char *calls_of(test_func_t func)
{
	memset(calls, 0, sizeof(calls));
	returns = 0;
	func(1);
	/* Which of them is first depends on how many users there were before. */
	if (!strcmp(calls, "ba"))
		return returns < 2 ? "no return" : "ab";
	return returns < strlen(calls) ? "no return" : calls;
}

static void end_graph(void *gops)
{
	if (((struct fgraph_ops *)gops)->ops.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_graph(gops);
	ftrace_free_filter(&((struct fgraph_ops *)gops)->ops);
}

static int graph_init(struct kunit *test)
{
	native_mod_setup();
	return kunit_add_action_or_reset(test, end_graph, &a) ?:
	       kunit_add_action_or_reset(test, end_graph, &b);
}

static void expect_calls(struct kunit *test, const char *one, const char *two, const char *three)
{
	KUNIT_EXPECT_STREQ(test, calls_of(ftrace_kunit_func1), one);
	KUNIT_EXPECT_STREQ(test, calls_of(ftrace_kunit_func2), two);
	KUNIT_EXPECT_STREQ(test, calls_of(ftrace_kunit_func3), three);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_state() ?: "", "");
}

SUITE(graph, graph_init, ftrace_kunit_exit);

/* A site has the managing ops if one of the users wants the site. */
CASE(users_share_an_ops)
{
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&a.ops, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&a.ops, ftrace_kunit_func2, false), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&b.ops, ftrace_kunit_func2, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&b.ops, ftrace_kunit_func3, false), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&a), 0);
	expect_calls(test, "a", "a", "");
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&b), 0);
	expect_calls(test, "a", "ab", "b");
	native_expect_glob(test, "enabled_functions",
			   "ftrace_kunit_func1 (1)*subops: {ent:enter_a+* ret:return_a+*}\n"
			   "ftrace_kunit_func2 (1)*subops: {ent:enter_b+*} {ent:enter_a+* ret:return_a+*}\n"
			   "ftrace_kunit_func3 (1)*subops: {ent:enter_b+* ret:return_b+*}\n");
	/* The filter of one of them changes. */
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&b.ops, ftrace_kunit_func1, true), 0);
	expect_calls(test, "ab", "a", "");
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&a.ops, "ftrace_kunit_func1", 18, 0), 0);
	expect_calls(test, "b", "a", "");
	unregister_ftrace_graph(&b);
	expect_calls(test, "", "a", "");
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&b), 0);
	unregister_ftrace_graph(&a);
	expect_calls(test, "b", "", "");
	unregister_ftrace_graph(&b);
	expect_calls(test, "", "", "");
	native_expect_file(test, "enabled_functions", "");
}

CASE(both_registers_are_returned)
{
	unsigned long ip = (unsigned long)native_pair_func;
	struct native_pair pair;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&a.ops, ip, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&a), 0);
	returns = 0;
	pair = native_pair_func(3, 4);
	KUNIT_EXPECT_EQ(test, returns, 1);
	KUNIT_EXPECT_EQ(test, pair.first, 3);
	KUNIT_EXPECT_EQ(test, pair.second, 4);
	unregister_ftrace_graph(&a);
}

static int start_b(void *data)
{
	return register_ftrace_graph(&b);
}

static void stop_b(void *data)
{
	unregister_ftrace_graph(&b);
}

CASE(users_fail_without_memory)
{
	struct native_op op = { start_b, stop_b };

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&a.ops, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&b.ops, ftrace_kunit_func2, true), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 4U);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&a), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 2U);
	expect_calls(test, "a", "", "");
}

/* One user or the other names a function that cannot be traced. */
CASE(users_name_broken_sites)
{
	unsigned long ip = (unsigned long)ftrace_kunit_func3;

	ftrace_kunit_break_site(test, ftrace_kunit_func3);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&a.ops, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&b.ops, ip, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&a), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_graph(&b), -EINVAL);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&b.ops, ftrace_kunit_func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&b), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&a.ops, ip, 0, 1), -EINVAL);
	expect_calls(test, "a", "b", "");
}

/* Another ops finds a site with wrong bytes. */
static void fail_site(struct kunit *test, test_func_t func)
{
	static struct ftrace_ops ops = { .func = ftrace_kunit_note };

	ftrace_kunit_add_ops(test, &ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, func, true), 0);
	ftrace_kunit_break_site(test, func);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), -EINVAL);
}

/* A user that is removed without memory leaves sites on until the next change. */
CASE(users_go_without_memory)
{
	static struct ftrace_ops other[2];

	/* The classes that the sites go back to have no other sites, and must be made again. */
	for (int i = 0; i < 2; i++) {
		other[i] = (struct ftrace_ops){ .func = ftrace_kunit_note };
		register_on(test, &other[i], i ? ftrace_kunit_func2 : ftrace_kunit_func1);
	}
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&a.ops, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&b.ops, ftrace_kunit_func2, true), 0);
	fail_site(test, ftrace_kunit_func4);
	for (unsigned int n = 1; n < 20; n++) {
		KUNIT_ASSERT_EQ(test, register_ftrace_graph(&a), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_graph(&b), 0);
		WITHOUT(n, unregister_ftrace_graph(n % 2 ? &a : &b));
		expect_calls(test, n % 2 ? "" : "a", n % 2 ? "b" : "", "");
		/* The next change looks at all sites. */
		if (n % 3 == 0) {
			KUNIT_ASSERT_EQ(test, register_ftrace_graph(n % 2 ? &a : &b), 0);
			expect_calls(test, "a", "b", "");
			unregister_ftrace_graph(n % 2 ? &a : &b);
		}
		WITHOUT(n % 5, unregister_ftrace_graph(n % 2 ? &b : &a));
		expect_calls(test, "", "", "");
	}
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&other[i]), 0);
	ftrace_kunit_mend_site(ftrace_kunit_func4);
	native_expect_file(test, "enabled_functions", "");
}

/* Is a task turned away that no user wants? What is called for it, and for task 3? */
static void expect_tasks(struct kunit *test, bool guard, const char *own, const char *three)
{
	struct trace_array *tr = trace_array_find("g");
	struct ftrace_ops *ops = a.ops.managed;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	KUNIT_EXPECT_PTR_EQ(test, ops->guard, guard ? tr->function_guard : NULL);
	KUNIT_EXPECT_STREQ(test, calls_of(ftrace_kunit_func1), own);
	native_become(3);
	KUNIT_EXPECT_STREQ(test, calls_of(ftrace_kunit_func1), three);
	native_become(OWN);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_state() ?: "", "");
}

#define PIDS	"instances/g/set_ftrace_pid"

/* The ops of all users has a guard while all users have the same. */
CASE(unwanted_tasks_are_turned_away)
{
	struct native_op op = { start_b, stop_b };
	/* The lists keep pages in store, which they can do without. */
	struct native_op pids = { NATIVE_WRITES(PIDS, O_TRUNC, "3", ""), .lenient = true };

	KUNIT_ASSERT_EQ(test, native_mkdir("g"), 0);
	a.ops.private = b.ops.private = trace_array_find("g");
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&a.ops, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&b.ops, ftrace_kunit_func1, true), 0);
	a.ops.flags |= FTRACE_OPS_FL_PID;
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&a), 0);
	expect_tasks(test, false, "a", "a");
	KUNIT_ASSERT_EQ(test, native_echo(PIDS, O_TRUNC, "3"), 0);
	expect_tasks(test, true, "", "a");
	/* A user that wants all tasks comes and goes. */
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&b), 0);
	expect_tasks(test, false, "b", "ab");
	unregister_ftrace_graph(&b);
	expect_tasks(test, true, "", "a");
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 2U);
	expect_tasks(test, true, "", "a");
	/* One that wants the same tasks. */
	b.ops.flags |= FTRACE_OPS_FL_PID;
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&b), 0);
	expect_tasks(test, true, "", "ab");
	KUNIT_EXPECT_EQ(test, native_echo(PIDS, O_TRUNC, ""), 0);
	expect_tasks(test, false, "ab", "ab");
	KUNIT_EXPECT_GT(test, native_sweep(test, &pids), 2U);
	expect_tasks(test, false, "ab", "ab");
	unregister_ftrace_graph(&b);
	/* The first user starts with a filter of tasks. */
	KUNIT_ASSERT_EQ(test, native_echo(PIDS, O_TRUNC, "3"), 0);
	unregister_ftrace_graph(&a);
	/* As the graph tracer does at its start. */
	a.entryfunc = enter_a;
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&a), 0);
	expect_tasks(test, true, "", "a");
	unregister_ftrace_graph(&a);
	a.entryfunc = enter_a;
	b.entryfunc = enter_b;
	a.ops.flags &= ~FTRACE_OPS_FL_PID;
	b.ops.flags &= ~FTRACE_OPS_FL_PID;
	a.ops.private = b.ops.private = NULL;
	KUNIT_EXPECT_EQ(test, native_rmdir("g"), 0);
}

/* set_graph_function and set_graph_notrace belong to no trace array. */
CASE(graph_files_hold_filters)
{
	echo(test, "set_graph_function", O_TRUNC, "native_func_20[1-3]", 0,
	     "native_func_201\nnative_func_202\nnative_func_203\n");
	echo(test, "set_graph_notrace", O_TRUNC, "native_func_211", 0, "native_func_211\n");
	echo(test, "set_graph_function", O_APPEND, "!native_func_202", 0,
	     "native_func_201\nnative_func_203\n");
	/* A word that removes nothing is refused, and so is one that waits. */
	echo(test, "set_graph_function", O_APPEND, "!native_func_202", -EINVAL,
	     "native_func_201\nnative_func_203\n");
	echo(test, "set_graph_function", O_APPEND, "x:mod:y", -EINVAL,
	     "native_func_201\nnative_func_203\n");
	echo(test, "set_graph_function", O_TRUNC, "nosuch", -EINVAL, "native_func_201\nnative_func_203\n");
	native_mod_load();
	echo(test, "set_graph_notrace", O_TRUNC, "native_mod_1", 0, "native_mod_1 [native_mod]\n");
	native_mod_release();
	native_expect_file(test, "set_graph_notrace", "");
	/* Another module at that place is not the one that was named. */
	native_mod_load();
	native_expect_file(test, "set_graph_notrace", "");
	echo(test, "set_graph_function", O_TRUNC, "native_mod_2", 0, "native_mod_2 [native_mod]\n");
	native_mod_release();
	native_mod_load();
	native_expect_file(test, "set_graph_function", "");
	native_mod_release();
	echo(test, "set_graph_function", O_TRUNC, "", 0, NO_FILTER);
	echo(test, "set_graph_notrace", O_TRUNC, "", 0, NO_NOTRACE);
}

/* A module goes while a file is open. */
CASE(graph_files_forget_modules)
{
	struct native_file *f;

	native_mod_load();
	f = begin_write(test, "set_graph_function", O_TRUNC, "native_mod_1 native_func_201 ");
	native_mod_release();
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_mod_load();
	native_expect_file(test, "set_graph_function", "native_func_201\n");
	native_mod_release();
	echo(test, "set_graph_function", O_TRUNC, "", 0, NO_FILTER);
}

static void write_graph_files(struct kunit *test)
{
	native_echo("set_graph_function", O_TRUNC, "native_func_20*");
	native_echo("set_graph_function", O_APPEND, "native_func_21*");
	native_echo("set_graph_notrace", O_TRUNC, "native_func_22*");
	native_echo("set_graph_function", O_TRUNC, "");
	native_echo("set_graph_notrace", O_TRUNC, "");
}

CASE(graph_files_leave_nothing)
{
	native_expect_no_leak(test, write_graph_files);
}

CASE(functions_are_profiled)
{
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, "ftrace_kunit_func[1-3]"), 0);
	native_expect_file(test, "function_profile_enabled", "0\n");
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "1"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "1"), 0);
	native_expect_file(test, "function_profile_enabled", "1\n");
	for (int i = 0; i < 7; i++)
		ftrace_kunit_func1(1);
	ftrace_kunit_func2(1);
	ftrace_kunit_func4(1);
	native_expect_glob(test, "trace_stat/function0", "  Function *Hit    Time *s^2\n  -------*\n"
			   "  ftrace_kunit_func? * us * us * us *\n  ftrace_kunit_func? * us * us * us *\n");
	native_expect_glob(test, "trace_stat/function0", "*  ftrace_kunit_func1                       7  *");
	native_expect_glob(test, "trace_stat/function0", "*  ftrace_kunit_func2                       1  *");
	native_expect_glob(test, "trace_stat/function1", "  Function *Hit    Time *s^2\n  -----*--\n");
	/* The counts stay when the profiler stops, and start from 0 with it. */
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "0"), 0);
	ftrace_kunit_func1(1);
	native_expect_glob(test, "trace_stat/function0", "*  ftrace_kunit_func1                       7  *");
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "1"), 0);
	ftrace_kunit_func2(1);
	ftrace_kunit_func2(1);
	native_expect_glob(test, "trace_stat/function0",
			   "*--\n  ftrace_kunit_func2                       2  *\n");
	KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
	native_expect_file(test, "enabled_functions", "");
}

/* With the option graph-time the time of a function includes that of what it calls. */
CASE(profiles_can_leave_children_out)
{
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, "ftrace_kunit_func1"), 0);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, ftrace_profile_children == !i);
		KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "1"), 0);
		ftrace_kunit_func1(1);
		KUNIT_EXPECT_EQ(test, native_echo("function_profile_enabled", 0, "0"), 0);
		native_expect_glob(test, "trace_stat/function0", "*  ftrace_kunit_func1 * 1  *");
		ftrace_graph_graph_time_control(i);
	}
	KUNIT_EXPECT_TRUE(test, ftrace_profile_children);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
}

CASE(profiles_fail_without_memory)
{
	struct native_op op = { NATIVE_WRITES("function_profile_enabled", 0, "1", "0") };

	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, "ftrace_kunit_func1"), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	native_expect_file(test, "function_profile_enabled", "0\n");
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
}
