// SPDX-License-Identifier: GPL-2.0-only
/* Commands in set_ftrace_filter: what they do, how the file shows them, how they go. */

#include "tests.h"

#define FILTER		"instances/c/set_ftrace_filter"
#define HEADER		NO_FILTER

static struct trace_array *tr;

static int commands_init(struct kunit *test)
{
	int ret = native_mkdir("c");

	tr = trace_array_find("c");
	native_mod_setup();
	return ret;
}

static void commands_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, native_rmdir("c"), 0);
	ftrace_kunit_exit(test);
}

static void send(struct kunit *test, const char *words, int ret, const char *want)
{
	echo(test, FILTER, O_APPEND, words, ret, want);
}

/* Is tracing on after a call of a function? */
static bool on_after(test_func_t func)
{
	func(1);
	return tracer_tracing_is_on(tr);
}

SUITE(commands, commands_init, commands_exit);

/* An owner that does not know its trace array is warned. */
CASE(probes_need_a_trace_array)
{
	static struct ftrace_probe_ops probe_ops;
	char glob[] = "ftrace_kunit_func1";
	unsigned int before = native_warnings;

	KUNIT_EXPECT_EQ(test, register_ftrace_function_probe(glob, NULL, &probe_ops, NULL),
			-EINVAL);
	native_warnings = before;
	native_expect_file(test, FILTER, HEADER);
}

CASE(commands_switch_tracing)
{
	send(test, "ftrace_kunit_func1:traceoff", 0, HEADER "ftrace_kunit_func1:traceoff:unlimited\n");
	send(test, "ftrace_kunit_func2:traceon:2", 0, HEADER "ftrace_kunit_func2:traceon:count=2\n"
	     "ftrace_kunit_func1:traceoff:unlimited\n");
	KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func3));
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func1));
		KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func1));
		KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func2));
		/* Tracing is on already: this does not count. */
		KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func2));
	}
	native_expect_file(test, FILTER, HEADER "ftrace_kunit_func2:traceon:count=0\n"
			   "ftrace_kunit_func1:traceoff:unlimited\n");
	KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func1));
	KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func2));
	tracer_tracing_on(tr);
	/* A function that has the command keeps its count. */
	send(test, "ftrace_kunit_func2:traceon:5", -EINVAL, HEADER "ftrace_kunit_func2:traceon:count=0\n"
	     "ftrace_kunit_func1:traceoff:unlimited\n");
	/* A number and no number are two commands; an empty number is -1, which is unlimited. */
	send(test, "ftrace_kunit_func3:traceoff:", 0, HEADER "ftrace_kunit_func3:traceoff:count=-1\n"
	     "ftrace_kunit_func2:traceon:count=0\nftrace_kunit_func1:traceoff:unlimited\n");
	KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func3));
	tracer_tracing_on(tr);
	send(test, "!ftrace_kunit_func1:traceoff:0", -EINVAL,
	     HEADER "ftrace_kunit_func3:traceoff:count=-1\n"
	     "ftrace_kunit_func2:traceon:count=0\nftrace_kunit_func1:traceoff:unlimited\n");
	send(test, "!ftrace_kunit_func1:traceoff", 0, HEADER "ftrace_kunit_func3:traceoff:count=-1\n"
	     "ftrace_kunit_func2:traceon:count=0\n");
	KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func1));
	KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func3));
	tracer_tracing_on(tr);
	send(test, "!*:traceoff:0", 0, HEADER "ftrace_kunit_func2:traceon:count=0\n");
	send(test, "!ftrace_kunit_func2:traceon:0", 0, HEADER);
	send(test, "!ftrace_kunit_func2:traceon:0", -ENODEV, HEADER);
	send(test, "ftrace_kunit_func2:traceon", 0,
	     HEADER "ftrace_kunit_func2:traceon:unlimited\n");
	send(test, "!no_such_function:traceon", -EINVAL,
	     HEADER "ftrace_kunit_func2:traceon:unlimited\n");
	send(test, "!ftrace_kunit_func2:traceon", 0, HEADER);
	KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func3));
	native_expect_file(test, "enabled_functions", "");
}

/* Without a name a command goes from all functions. */
CASE(all_functions_of_a_command_go)
{
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "ftrace_kunit_func[1-3]:traceoff:3"), 0);
	send(test, "!:traceoff:0", 0, HEADER);
	KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func1));
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "ftrace_kunit_func[1-3]:traceoff"), 0);
	send(test, "!*:traceoff", 0, HEADER);
	KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func2));
	native_expect_file(test, "enabled_functions", "");
}

/* A command of which some functions go keeps its place among the ops of the others. */
CASE(commands_keep_their_place)
{
	static struct ftrace_ops older, younger;
	char was[512], is[512];

	older = (struct ftrace_ops){ .func = ftrace_kunit_note };
	younger = (struct ftrace_ops){ .func = ftrace_kunit_note_x };
	ftrace_kunit_add_ops(test, &younger);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&younger, ftrace_kunit_func1, true), 0);
	register_on(test, &older, ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "ftrace_kunit_func[1-3]:traceoff:3"), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&younger), 0);
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "!ftrace_kunit_func3:traceoff:0"), 0);
	native_expect_glob(test, "enabled_functions",
			   "ftrace_kunit_func1 (3)*->ftrace_kunit_note_x+*->probe_hit+*->ftrace_kunit_note+*\n"
			   "ftrace_kunit_func2 (1)*probe_hit*\n");
	native_cat("enabled_functions", was, sizeof(was), 100);
	/* The lists that are made anew after tracing was off. */
	native_sysctl_write("ftrace_enabled", "0");
	native_sysctl_write("ftrace_enabled", "1");
	native_expect_glob(test, "enabled_functions",
			   "ftrace_kunit_func1 (3)*->ftrace_kunit_note_x+*->probe_hit+*->ftrace_kunit_note+*\n"
			   "ftrace_kunit_func2 (1)*probe_hit*\n");
	native_cat("enabled_functions", is, sizeof(is), 100);
	KUNIT_EXPECT_EQ(test, strlen(is), strlen(was));
}

/* Some functions of a command go; the others go on, with their counts. */
CASE(functions_of_a_command_go)
{
	char text[256];

	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "ftrace_kunit_func[1-3]:traceoff:3"), 0);
	KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func1));
	tracer_tracing_on(tr);
	native_cat(FILTER, text, sizeof(text), 64);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "ftrace_kunit_func1:traceoff:count=2\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "ftrace_kunit_func2:traceoff:count=3\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "ftrace_kunit_func3:traceoff:count=3\n"));
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "!native_func_100:traceoff:0"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "!ftrace_kunit_func[23]:traceoff:0"), 0);
	native_expect_file(test, FILTER, HEADER "ftrace_kunit_func1:traceoff:count=2\n");
	KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func2));
	KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func1));
	tracer_tracing_on(tr);
	/* More functions join. */
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "ftrace_kunit_func*:traceoff:1"), 0);
	native_cat(FILTER, text, sizeof(text), 64);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "ftrace_kunit_func1:traceoff:count=1\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "ftrace_kunit_func4:traceoff:count=1\n"));
	KUNIT_EXPECT_FALSE(test, on_after(ftrace_kunit_func4));
	tracer_tracing_on(tr);
	KUNIT_EXPECT_TRUE(test, on_after(ftrace_kunit_func4));
	/* They go with their instance. */
}

CASE(wrong_commands_are_refused)
{
	send(test, "nosuch:traceoff", -EINVAL, HEADER);
	send(test, "ftrace_kunit_func1:traceoff:x", -EINVAL, HEADER);
	send(test, "ftrace_kunit_func1:nosuch", -EINVAL, HEADER);
	send(test, "!ftrace_kunit_func1:traceoff", -ENODEV, HEADER);
	send(test, "!!ftrace_kunit_func1:traceoff", -EINVAL, HEADER);
	KUNIT_EXPECT_EQ(test, native_echo("instances/c/set_ftrace_notrace", O_APPEND,
					  "ftrace_kunit_func1:traceoff"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_echo("set_graph_function", O_APPEND,
					  "ftrace_kunit_func1:traceoff"), -ENODEV);
	/* With O_TRUNC a command empties the filter, too. */
	send(test, "native_func_201", 0, "native_func_201\n");
	send(test, "ftrace_kunit_func1:traceoff:7", 0,
	     "native_func_201\nftrace_kunit_func1:traceoff:count=7\n");
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_TRUNC, "ftrace_kunit_func2:traceoff:6"), 0);
	native_expect_glob(test, FILTER, HEADER "ftrace_kunit_func?:traceoff:count=?\n"
			   "ftrace_kunit_func?:traceoff:count=?\n");
}

CASE(stacks_are_recorded)
{
	send(test, "ftrace_kunit_func1:stacktrace:2", 0,
	     HEADER "ftrace_kunit_func1:stacktrace:count=2\n");
	tracer_tracing_off(tr);
	ftrace_kunit_func1(1);
	tracer_tracing_on(tr);
	KUNIT_EXPECT_EQ(test, native_events_of(tr, TRACE_STACK), 0U);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_EQ(test, native_events_of(tr, TRACE_STACK), 1U);
	native_expect_file(test, FILTER, HEADER "ftrace_kunit_func1:stacktrace:count=1\n");
	ftrace_kunit_func1(1);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_EQ(test, native_events_of(tr, TRACE_STACK), 2U);
	send(test, "ftrace_kunit_func2:stacktrace", 0, HEADER
	     "ftrace_kunit_func2:stacktrace:unlimited\nftrace_kunit_func1:stacktrace:count=0\n");
	ftrace_kunit_func2(1);
	ftrace_kunit_func2(1);
	KUNIT_EXPECT_EQ(test, native_events_of(tr, TRACE_STACK), 4U);
	/* Empty, a number is unlimited. */
	send(test, "!*:stacktrace:", 0, HEADER "ftrace_kunit_func2:stacktrace:unlimited\n");
	send(test, "ftrace_kunit_func3:stacktrace:", 0, HEADER
	     "ftrace_kunit_func3:stacktrace:count=-1\nftrace_kunit_func2:stacktrace:unlimited\n");
	ftrace_kunit_func3(1);
	ftrace_kunit_func3(1);
	KUNIT_EXPECT_EQ(test, native_events_of(tr, TRACE_STACK), 6U);
	native_expect_file(test, FILTER, HEADER "ftrace_kunit_func3:stacktrace:count=-1\n"
			   "ftrace_kunit_func2:stacktrace:unlimited\n");
}

static void start_function_tracer(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, native_echo("instances/c/options/func_stack_trace", 0, "1"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("instances/c/current_tracer", 0, "function"), 0);
}

static void stop_function_tracer(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, native_echo("instances/c/current_tracer", 0, "nop"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("instances/c/options/func_stack_trace", 0, "0"), 0);
}

/*
 * A stack trace leaves out what is between it and the traced function: a command has one callback
 * more than the tracer, and a walk is one more for both.
 */
CASE(stacks_begin_at_the_function)
{
	static struct ftrace_ops crowd[66];
	unsigned int skip[2][2];

	skip_if_sanitized(test);
	for (unsigned int walk = 0; walk < 2; walk++) {
		if (walk)
			register_crowd(test, crowd, ARRAY_SIZE(crowd), ftrace_kunit_func1);
		send(test, "ftrace_kunit_func1", 0, "ftrace_kunit_func1\n");
		start_function_tracer(test);
		ftrace_kunit_func1(1);
		skip[walk][0] = native_stack_skip;
		stop_function_tracer(test);
		send(test, "!ftrace_kunit_func1", 0, HEADER);
		send(test, "ftrace_kunit_func1:stacktrace", 0,
		     HEADER "ftrace_kunit_func1:stacktrace:unlimited\n");
		ftrace_kunit_func1(1);
		skip[walk][1] = native_stack_skip;
		send(test, "!ftrace_kunit_func1:stacktrace", 0, HEADER);
	}
	KUNIT_EXPECT_EQ(test, skip[0][1], skip[0][0] + 1);
	KUNIT_EXPECT_EQ(test, skip[1][0], skip[0][0] + 1);
	KUNIT_EXPECT_EQ(test, skip[1][1], skip[0][1] + 1);
}

/* Functions in the same bucket of a hash are listed once. */
CASE(many_functions_are_listed)
{
	static char text[8192];

	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "native_func_3[0-7]?:traceoff:9"), 0);
	KUNIT_EXPECT_GT(test, native_cat(FILTER, text, sizeof(text), 100), 0);
	for (unsigned int i = 300; i < 380; i++) {
		char line[48];

		snprintf(line, sizeof(line), "\nnative_func_%u:traceoff:count=9\n", i);
		native_expect_once(test, text, line);
	}
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "!*:traceoff:0"), 0);
}

/* How the file shows them; what they print is trace.c's. */
CASE(dumps_count_once)
{
	send(test, "native_func_240:dump", 0, HEADER "native_func_240:dump:count=1\n");
	send(test, "native_func_241:cpudump", 0, HEADER "native_func_241:cpudump:unlimited\n"
	     "native_func_240:dump:count=1\n");
	native_log_begin();
	native_funcs[140](1);
	KUNIT_EXPECT_TRUE(test, native_log_has("Dumping ftrace buffer"));
	native_log_begin();
	native_funcs[140](1);
	KUNIT_EXPECT_FALSE(test, native_log_has("Dumping ftrace buffer"));
	native_funcs[141](1);
	KUNIT_EXPECT_TRUE(test, native_log_has("Dumping ftrace buffer"));
	native_expect_file(test, FILTER, HEADER "native_func_241:cpudump:unlimited\n"
			   "native_func_240:dump:count=0\n");
	send(test, "!native_func_240:dump", 0, HEADER "native_func_241:cpudump:unlimited\n");
	send(test, "!*:cpudump", 0, HEADER);
}

/* Commands of functions of a module go with the module. */
CASE(commands_go_with_a_module)
{
	native_mod_load();
	send(test, "native_mod_1:traceoff:3", 0, HEADER "native_mod_1 [native_mod]:traceoff:count=3\n");
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "native_func_250:traceoff:3"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_APPEND, "native_mod_2:traceon"), 0);
	native_expect_glob(test, FILTER, HEADER "native_mod_2 ?native_mod?:traceon:unlimited\n"
			   "native_*:traceoff:count=3\nnative_*:traceoff:count=3\n");
	((native_func_t *)native_mod_ips[1])(0);
	KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(tr));
	((native_func_t *)native_mod_ips[2])(0);
	KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(tr));
	native_mod_release();
	native_expect_file(test, FILTER, HEADER "native_func_250:traceoff:count=3\n");
	native_mod_load();
	((native_func_t *)native_mod_ips[1])(0);
	KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(tr));
	native_mod_release();
	send(test, "!*:traceoff:0", 0, HEADER);
}

static unsigned int freed, freed_inside;

static void stay_inside(unsigned long ip, unsigned long parent_ip, struct trace_array *array,
			struct ftrace_probe_ops *ops, void *data)
{
	native_stay();
}

static void note_free(struct ftrace_probe_ops *ops, struct trace_array *array, unsigned long ip,
		      void *data)
{
	freed_inside += READ_ONCE(native_inside) == 1;
	freed++;
}

/* The data of a function that goes is not freed as long as a task uses it. */
CASE(data_outlives_its_users)
{
	static struct ftrace_probe_ops probe_ops = { .func = stay_inside, .free = note_free };
	struct task_struct *caller;

	/* With a second function, and as the last one. */
	for (unsigned int last = 0; last < 2; last++) {
		/* The first one is where the text begins. */
		char glob[] = "native_mod_0", other[] = "native_func_250", all[] = "*";

		freed = freed_inside = 0;
		native_mod_load();
		KUNIT_ASSERT_EQ(test, register_ftrace_function_probe(glob, tr, &probe_ops, NULL), 1);
		if (!last)
			KUNIT_ASSERT_EQ(test, register_ftrace_function_probe(other, tr, &probe_ops,
									     NULL), 1);
		/* Without a function of its own, a command is shown by its callback. */
		native_expect_glob(test, FILTER, "*native_mod_0*:stay_inside*");
		caller = native_call_until_inside((native_func_t *)native_mod_ips[0]);
		native_mod_release();
		kthread_stop(caller);
		/* The last one takes with it what all share. */
		KUNIT_EXPECT_EQ(test, freed, 1U + last);
		KUNIT_EXPECT_EQ(test, freed_inside, 0U);
		if (!last)
			KUNIT_EXPECT_EQ(test, unregister_ftrace_function_probe_func(all, tr, &probe_ops), 0);
	}
}

/* What could not be removed is an error. */
static int remove_some(void *data)
{
	int ret = native_echo(FILTER, O_APPEND, "!ftrace_kunit_func[12]:traceoff:0");
	static char text[1024];

	native_cat(FILTER, text, sizeof(text), 100);
	if (!ret && (strstr(text, "_func1:") || strstr(text, "_func2:")))
		return -EINVAL;
	return ret;
}

static void add_some(void *data)
{
	native_echo(FILTER, O_APPEND, "ftrace_kunit_func[12]:traceoff:3");
}

CASE(commands_fail_without_memory)
{
	struct native_op op = { NATIVE_WRITES(FILTER, O_APPEND, "ftrace_kunit_func[1-3]:traceoff:3",
					      "!*:traceoff:0") };

	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 10U);
	native_expect_file(test, FILTER, HEADER);
	add_some(NULL);
	op = (struct native_op){ NATIVE_WRITES(FILTER, O_APPEND, "ftrace_kunit_func[34]:traceoff:3",
					       "!ftrace_kunit_func[34]:traceoff:0") };
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 10U);
	native_echo(FILTER, O_APPEND, "ftrace_kunit_func*:traceoff:3");
	op = (struct native_op){ remove_some, add_some, .lenient = true };
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 10U);
}

static void use_commands(struct kunit *test)
{
	add_some(NULL);
	native_echo(FILTER, O_APPEND, "ftrace_kunit_func[34]:traceoff:3");
	remove_some(NULL);
	native_echo(FILTER, O_APPEND, "ftrace_kunit_func1:traceoff");
	native_echo(FILTER, O_APPEND, "!ftrace_kunit_func1:traceoff");
	native_echo(FILTER, O_APPEND, "!*:traceoff:0");
}

CASE(commands_leave_nothing)
{
	native_expect_no_leak(test, use_commands);
}
