// SPDX-License-Identifier: GPL-2.0-only
/* The function tracer: which events it records, its options, and kernel.ftrace_enabled. */
#include <linux/glob.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/timex.h>
#include <linux/unaligned.h>

#include "ftrace/dispatch.h"
#include "ftrace/flight.h"
#include "tests.h"

#define DIR	"instances/t/"

static struct trace_array *tr;

/* What the events are, a word each: f1 to f4 of calls, r3 of 3 repeats, s of a stack. */
static char events[512];

static bool note_event(struct trace_entry *entry, void *data)
{
	size_t len = strlen(events);
	unsigned int i;

	if (entry->type == TRACE_FN) {
		struct ftrace_entry *call = (struct ftrace_entry *)entry;

		for (i = 0; i < ARRAY_SIZE(kunit_funcs); i++)
			if (call->ip == ftrace_location((unsigned long)kunit_funcs[i]))
				break;
		snprintf(events + len, sizeof(events) - len, "f%u ", i + 1);
	} else if (entry->type == TRACE_FUNC_REPEATS) {
		struct func_repeats_entry *repeats = (struct func_repeats_entry *)entry;

		snprintf(events + len, sizeof(events) - len, "r%u ", repeats->count);
	} else if (entry->type == TRACE_STACK) {
		snprintf(events + len, sizeof(events) - len, "s ");
	}
	return true;
}

/* The events since the last time. */
static const char *take_events(void)
{
	events[0] = 0;
	native_events(tr, note_event, NULL);
	ring_buffer_reset_online_cpus(tr->array_buffer.buffer);
	return events;
}

/* Call a function several times from one place: only then a call is a repeat. */
static noinline void repeat(test_func_t func, unsigned int nr)
{
	while (nr--)
		func(1);
}

/* Probes of tracepoints without the tracer. */
static unsigned int hooks;

static int tracer_init_case(struct kunit *test)
{
	int ret = native_mkdir("t");

	if (ret)
		return ret;
	hooks = native_nr_hooks();
	tr = trace_array_find("t");
	return native_echo(DIR "set_ftrace_filter", O_TRUNC, "ftrace_kunit_func[1-3]");
}

static void tracer_exit_case(struct kunit *test)
{
	tracer_tracing_on(tr);
	native_become(OWN);
	native_symbols = NULL;
	native_echo(DIR "options/func_stack_trace", 0, "0");
	native_echo(DIR "options/func-no-repeats", 0, "0");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-time", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/context-info", 0, "1"), 0);
	KUNIT_EXPECT_EQ(test, native_rmdir("t"), 0);
	KUNIT_EXPECT_EQ(test, native_cmdlines, 0);
	KUNIT_EXPECT_EQ(test, native_nr_hooks(), hooks);
	ftrace_kunit_exit(test);
}

SUITE(tracer, tracer_init_case, tracer_exit_case);

CASE(calls_are_recorded)
{
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "");
	/* Headers of traces name the CPU on which the tracer was started. */
	tr->array_buffer.cpu = -1;
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	KUNIT_EXPECT_EQ(test, tr->array_buffer.cpu, raw_smp_processor_id());
	KUNIT_EXPECT_EQ(test, native_cmdlines, 1);
	ftrace_kunit_func1(1);
	ftrace_kunit_func1(1);
	ftrace_kunit_func3(1);
	ftrace_kunit_func4(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 f1 f3 ");
	/* A start clears the buffer. */
	ftrace_kunit_func1(1);
	tr->current_trace->start(tr);
	KUNIT_EXPECT_STREQ(test, take_events(), "");
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	KUNIT_EXPECT_EQ(test, native_cmdlines, 0);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "");
}

/* While the sites are changed, and on a CPU that records nothing, no event is recorded. */
CASE(recording_can_be_off)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	WRITE_ONCE(tr->function_enabled, 0);
	ftrace_kunit_func1(1);
	WRITE_ONCE(tr->function_enabled, 1);
	ftrace_kunit_func2(1);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/func_stack_trace", 0, "1"), 0);
	WRITE_ONCE(tr->function_enabled, 0);
	ftrace_kunit_func1(1);
	WRITE_ONCE(tr->function_enabled, 1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f2 ");
	tracer_tracing_off(tr);
	ftrace_kunit_func1(1);
	tracer_tracing_on(tr);
	KUNIT_EXPECT_STREQ(test, take_events(), "");
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 s ");
}

CASE(repeats_are_counted)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "options/func-no-repeats", 0, "1"), 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	repeat(ftrace_kunit_func1, 4);
	repeat(ftrace_kunit_func2, 1);
	repeat(ftrace_kunit_func1, 1);
	repeat(ftrace_kunit_func2, 1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 r3 f2 f1 f2 ");
	/* Another caller is no repeat. */
	repeat(ftrace_kunit_func2, 1);
	ftrace_kunit_func2(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "r1 f2 ");
	/* The count has 16 bits. */
	repeat(ftrace_kunit_func3, 65537 + 3);
	repeat(ftrace_kunit_func2, 1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f3 r65535 f3 r3 f2 ");
	/* Switched on again, the option begins from 0. */
	repeat(ftrace_kunit_func2, 1);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "options/func-no-repeats", 0, "0"), 0);
	repeat(ftrace_kunit_func2, 2);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "options/func-no-repeats", 0, "1"), 0);
	repeat(ftrace_kunit_func2, 1);
	repeat(ftrace_kunit_func3, 1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f2 f2 f2 f3 ");
}

/* When the last repeat was: before the event that counts it. */
static u64 repeat_age;

static bool note_age(struct trace_entry *entry, void *data)
{
	if (entry->type == TRACE_FUNC_REPEATS)
		repeat_age = FUNC_REPEATS_GET_DELTA_TS((struct func_repeats_entry *)entry);
	return true;
}

CASE(repeats_have_times)
{
	u64 start = sched_clock();

	KUNIT_ASSERT_EQ(test, native_echo(DIR "options/func-no-repeats", 0, "1"), 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	repeat(ftrace_kunit_func1, 2);
	repeat(ftrace_kunit_func2, 1);
	repeat_age = U64_MAX;
	native_events(tr, note_age, NULL);
	KUNIT_EXPECT_LE(test, repeat_age, sched_clock() - start);
}

/* An NMI is recorded, too. */
CASE(interrupts_are_recorded)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	preempt_disable();
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	ftrace_kunit_func1(1);
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
	preempt_enable();
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 ");
}

static NATIVE_GRAPH_ENTER(graph_enter)
{
	return 1;
}

static NATIVE_GRAPH_RETURN(graph_return)
{
}

static struct fgraph_ops graph = { .entryfunc = graph_enter, .retfunc = graph_return };

static unsigned long parent_seen;

static bool note_parent(struct trace_entry *entry, void *data)
{
	struct ftrace_entry *call = (struct ftrace_entry *)entry;

	if (entry->type == TRACE_FN &&
	    call->ip == ftrace_location((unsigned long)data))
		parent_seen = call->parent_ip;
	return true;
}

/* The graph tracer goes. The call of @func came from somewhere in @caller. */
static void expect_parent(struct kunit *test, void *func, void (*caller)(struct kunit *test))
{
	unregister_ftrace_graph(&graph);
	ftrace_free_filter(&graph.ops);
	parent_seen = 0;
	native_events(tr, note_parent, func);
	KUNIT_EXPECT_GT(test, parent_seen, (unsigned long)caller);
	KUNIT_EXPECT_LT(test, parent_seen, (unsigned long)caller + 2000);
}

/*
 * The caller is shown, and not what the graph tracer, which is called before, puts in place of the
 * return address.
 */
CASE(callers_are_shown)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&graph.ops, "ftrace_kunit_func1", 18, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&graph), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(1), 2);
	expect_parent(test, ftrace_kunit_func1, callers_are_shown);
}

/* A function that ends with a jump leaves the next one what the graph tracer has put in place. */
CASE(callers_of_jumps_are_shown)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "set_ftrace_filter", O_TRUNC, "native_func_100"), 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&graph.ops, "native_tail_func", 16, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_graph(&graph), 0);
	KUNIT_EXPECT_EQ(test, native_tail_func(1), 101);
	expect_parent(test, native_funcs[0], callers_of_jumps_are_shown);
}

/* The options may change while the tracer runs, and are kept while it does not. */
CASE(options_change)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/func_stack_trace", 0, "1"), 0);
	ftrace_kunit_func1(1);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 s f1 s ");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/func-no-repeats", 0, "1"), 0);
	repeat(ftrace_kunit_func1, 2);
	repeat(ftrace_kunit_func2, 1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 s r1 f2 s ");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/func_stack_trace", 0, "0"), 0);
	repeat(ftrace_kunit_func1, 2);
	repeat(ftrace_kunit_func2, 1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 r1 f2 ");
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/func-no-repeats", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/func_stack_trace", 0, "1"), 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	ftrace_kunit_func1(1);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 s f1 s ");
}

/* Without one of its probes, a recorder does not start. */
static int start_flight(void *probes)
{
	int ret = native_echo(DIR "current_tracer", 0, "flight");

	if (!ret && native_nr_hooks() != *(unsigned int *)probes)
		native_fail("started with %u probes", native_nr_hooks() - hooks);
	return ret;
}

static void stop_tracer(void *data)
{
	native_echo(DIR "current_tracer", 0, "nop");
}

CASE(tracers_fail_without_memory)
{
	unsigned int probes;
	struct native_op op = { NATIVE_WRITES(DIR "current_tracer", 0, "function", "nop") };
	struct native_op flight = { start_flight, stop_tracer, &probes, .lenient = true };

	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	probes = native_nr_hooks();
	KUNIT_EXPECT_GT(test, probes, hooks);
	stop_tracer(NULL);
	KUNIT_EXPECT_GT(test, native_sweep(test, &flight), 3U);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/func-no-repeats", 0, "1"), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	KUNIT_EXPECT_EQ(test, native_cmdlines, 0);
	/* The filter of an ops that must trace all functions by name of one that cannot be. */
	ftrace_kunit_break_site(test, ftrace_kunit_func2);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "set_ftrace_filter", O_TRUNC, "ftrace_kunit_func2"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_cmdlines, 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "set_ftrace_filter", O_TRUNC, "ftrace_kunit_func1"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
}

#define NEW	"instances/q/"

static int start_new_returns(void *data)
{
	return native_echo(NEW "current_tracer", 0, "flight");
}

static void new_array(void *data)
{
	native_echo(NEW "current_tracer", 0, "nop");
	native_rmdir("q");
	native_mkdir("q");
	native_echo(NEW "set_ftrace_filter", O_TRUNC, "ftrace_kunit_func1");
	native_echo(NEW "options/flight-returns", 0, "1");
}

/* The first recorder of an array that has returns makes a guard. */
CASE(first_returns_need_memory)
{
	struct native_op op = { start_new_returns, new_array, .lenient = true };

	new_array(NULL);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	native_echo(NEW "current_tracer", 0, "nop");
	KUNIT_EXPECT_EQ(test, native_rmdir("q"), 0);
}

CASE(options_fail_without_memory)
{
	struct native_op op = { NATIVE_WRITES(DIR "options/func-no-repeats", 0, "1", "0") };

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	ftrace_kunit_func1(1);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 f1 ");
}

/* Newer versions of Linux do not let a user switch tracing off. */
static bool stays_on(void)
{
	if (native_sysctl_write("ftrace_enabled", "0") == -EOPNOTSUPP)
		return true;
	native_sysctl_write("ftrace_enabled", "1");
	return false;
}

/* kernel.ftrace_enabled */
CASE(functions_can_be_switched_off)
{
	static struct ftrace_ops ops = { .func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_PERMANENT };

	ftrace_kunit_add_ops(test, &ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, ftrace_kunit_func4, true), 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	KUNIT_EXPECT_EQ(test, native_sysctl_read("ftrace_enabled"), 1);
	if (stays_on()) {
		KUNIT_EXPECT_EQ(test, native_sysctl_read("ftrace_enabled"), 1);
		return;
	}
	KUNIT_EXPECT_EQ(test, native_sysctl_write("ftrace_enabled", "0"), 0);
	KUNIT_EXPECT_EQ(test, native_sysctl_read("ftrace_enabled"), 0);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "");
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), -EBUSY);
	KUNIT_EXPECT_EQ(test, native_sysctl_write("ftrace_enabled", "x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_sysctl_read("ftrace_enabled"), 0);
	KUNIT_EXPECT_EQ(test, native_sysctl_write("ftrace_enabled", "5"), 0);
	KUNIT_EXPECT_EQ(test, native_sysctl_read("ftrace_enabled"), 5);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 ");
	KUNIT_EXPECT_EQ(test, native_sysctl_write("ftrace_enabled", "1"), 0);
	/* A permanent ops keeps tracing on. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_EQ(test, native_sysctl_write("ftrace_enabled", "0"), -EBUSY);
	KUNIT_EXPECT_EQ(test, native_sysctl_read("ftrace_enabled"), 1);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 ");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
}

static int switch_off(void *data)
{
	return native_sysctl_write("ftrace_enabled", "0");
}

static void switch_on(void *data)
{
	native_sysctl_write("ftrace_enabled", "1");
}

CASE(switches_fail_without_memory)
{
	struct native_op op = { switch_off, switch_on };

	if (stays_on())
		return;
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 0U);
	KUNIT_EXPECT_EQ(test, native_sysctl_read("ftrace_enabled"), 1);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_STREQ(test, take_events(), "f1 ");
}

/* What is written while a site has unexpected bytes; first @before and, if @traced, "function". */
static const struct {
	const char	*before, *file, *words;
	bool		traced, named;
} on_bad_site[] = {
	{ "ftrace_kunit_func[1-3]", "current_tracer", "function" },
	{ "ftrace_kunit_func1 ftrace_kunit_func2 ftrace_kunit_func3", "current_tracer", "function",
	  .named = true },
	{ "ftrace_kunit_func4", "set_ftrace_filter", "ftrace_kunit_func[1-3]", .traced = true },
	{ "ftrace_kunit_func4", "set_ftrace_filter",
	  "ftrace_kunit_func1 ftrace_kunit_func2 ftrace_kunit_func3", .traced = true, .named = true },
	{ "ftrace_kunit_func[1-4]", "set_ftrace_filter", "ftrace_kunit_func4", .traced = true },
	{ "ftrace_kunit_func[1-4]", "current_tracer", "nop", .traced = true },
	{ "ftrace_kunit_func4", "set_ftrace_filter", "ftrace_kunit_func[1-3]:stacktrace" },
};

static const char *calls_of_all(void)
{
	ftrace_kunit_func1(1);
	ftrace_kunit_func2(1);
	ftrace_kunit_func3(1);
	ftrace_kunit_func4(1);
	return take_events();
}

/*
 * For each site in turn, if it has unexpected bytes: a change that names it is refused and changes nothing, and
 * any other works for all other sites. The site is listed, alone.
 */
CASE(one_bad_site_is_no_harm)
{
	static char before[512], wanted[512], listed[2048];

	for (unsigned int n = 0; n < 3 * ARRAY_SIZE(on_bad_site); n++) {
		typeof(on_bad_site[0]) *op = &on_bad_site[n / 3];

		strscpy(before, op->before);
		KUNIT_ASSERT_EQ(test, native_echo(DIR "set_ftrace_filter", O_TRUNC, before), 0);
		if (op->traced)
			KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
		strscpy(wanted, calls_of_all());
		ftrace_kunit_break_site(test, kunit_funcs[n % 3]);
		KUNIT_EXPECT_EQ(test, native_echo(strstr(op->file, "set") ? DIR "set_ftrace_filter" :
						  DIR "current_tracer", O_TRUNC, op->words),
				op->named ? -EINVAL : 0);
		native_cat("enabled_functions", listed, sizeof(listed), 100);
		native_expect_once(test, listed, "failed:");
		ftrace_kunit_mend_site(kunit_funcs[n % 3]);
		if (op->named)
			KUNIT_EXPECT_STREQ(test, calls_of_all(), wanted);
		if (strchr(op->words, ':'))
			KUNIT_EXPECT_EQ(test, native_echo(DIR "set_ftrace_filter", 0, "!*:stacktrace"), 0);
		KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
		/* The next change finds all sites right. */
		KUNIT_EXPECT_EQ(test, native_echo(DIR "set_ftrace_filter", O_TRUNC,
						  "ftrace_kunit_func[1-4]"), 0);
		KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "function"), 0);
		KUNIT_EXPECT_STREQ(test, calls_of_all(), "f1 f2 f3 f4 ");
		KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	}
	native_expect_file(test, "enabled_functions", "");
}

#define RECORDS \
	"# records-in-rings/records-written: *\n# times of * calls are computed *\n# of calls, *\n#\n"
#define ENTRIES		"# entries-in-buffer/entries-written: *\n#\n"

/* The header of the flight recorder follows the options that its lines follow. */
CASE(headers_follow_options)
{
	static const struct {
		const char *option, *on, *off, *header;
	} cases[] = {
		{ "irq-info", "1", "1", RECORDS ENTRIES "*delay\n*CPU#  |||||  TIMESTAMP *\n*\n" },
		{ "irq-info", "0", "1", RECORDS ENTRIES "#   * CPU#     TIMESTAMP *\n*\n" },
		{ "context-info", "0", "1", "" },
		{ "verbose", "1", "0", RECORDS },
	};
	struct trace_iterator iter = { .tr = tr, .array_buffer = &tr->array_buffer };
	static char header[2048];

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	iter.trace = tr->current_trace;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct seq_file m = { .buf = header, .size = sizeof(header), .private = &iter };
		char path[64];

		snprintf(path, sizeof(path), DIR "options/%s", cases[i].option);
		KUNIT_EXPECT_EQ(test, native_echo(path, 0, cases[i].on), 0);
		ftrace_flight_print_header(&m);
		KUNIT_EXPECT_EQ(test, native_echo(path, 0, cases[i].off), 0);
		header[m.count] = 0;
		KUNIT_EXPECT_TRUE_MSG(test, glob_match(cases[i].header, header), "%s=%s: %s",
				      cases[i].option, cases[i].on, header);
	}
}

/* What "ftdump -N" of kdb counts from. */
CASE(recorded_calls_are_entries)
{
	struct ftrace_ops ops = { };
	/* The recorder takes addresses of the kernel only. */
	unsigned long ip = (unsigned long)(s32)0x81000000;

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	ops.flight = tr->flight;
	for (unsigned int i = 0; i < 100; i++)
		ftrace_flight_func(ip, ip, &ops, NULL);
	KUNIT_EXPECT_EQ(test, trace_total_entries(tr), 100);
	KUNIT_EXPECT_EQ(test, trace_total_entries_cpu(tr, raw_smp_processor_id()), 100);
	KUNIT_EXPECT_EQ(test, trace_total_entries_cpu(tr, NATIVE_ONLINE), 0);
}

/* No memory for a recorder: those that have ended are freed first. */
CASE(rings_are_waited_for)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	native_lazy_work(true);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	native_fail_nth(1);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&ftrace_flights));
	native_lazy_work(false);
	KUNIT_EXPECT_EQ(test, native_fail_left(), 0);
}

static void wait_cycles(u64 nr)
{
	u64 begin = get_cycles();

	while (get_cycles() - begin < nr)
		cpu_relax();
}

/* Calls of code that is in the upper 2 GB, as the kernel's is. */
static void record_calls(unsigned int nr)
{
	struct ftrace_ops ops = { .flight = tr->flight };

	while (nr--)
		ftrace_flight_func(0xffffffff81000000UL, 0xffffffff82000000UL, &ops, NULL);
}

/* An event with some text, and its time. */
static void record_long_event(const struct trace_array *of, unsigned int len)
{
	struct trace_buffer *buffer = of->array_buffer.buffer;
	struct ring_buffer_event *event;
	struct print_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_PRINT, sizeof(*entry) + len, 0);
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	entry->ip = ring_buffer_event_time_stamp(buffer, event);
	memset(entry->buf, '-', len);
	strscpy(entry->buf + len - 2, "\n", 2);
	trace_buffer_unlock_commit_nostack(buffer, event);
}

static void record_event(const struct trace_array *of)
{
	record_long_event(of, 8);
}

/* As the function graph tracer does. */
static void record_graph_call(unsigned int depth)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct ftrace_graph_ent_entry *entry;
	struct ring_buffer_event *event;

	event = trace_buffer_lock_reserve(buffer, TRACE_GRAPH_ENT, sizeof(*entry), 0);
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	entry->graph_ent.func = 0;
	entry->graph_ent.depth = depth;
	trace_buffer_unlock_commit_nostack(buffer, event);
}

/* Calls are spread over the time between others, but not to the other side of an event. */
CASE(calls_stay_before_events)
{
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	unsigned int cpu, nr = 0, wrong = 0;
	u64 begin, end;

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	cpu = raw_smp_processor_id();
	record_calls(10);
	/* An event of another trace array. */
	record_event(top_trace_array());
	wait_cycles(100000);
	begin = get_cycles();
	record_event(tr);
	end = get_cycles();
	wait_cycles(100000);
	record_calls(5);
	wait_cycles(1000000);
	tracer_tracing_off(tr);
	ftrace_flight_rewind(tr->flight, &cursor, cpu);
	for (; ftrace_flight_next(tr->flight, &cursor, &call); nr++)
		wrong += nr < 10 ? call.time > end : call.time < begin;
	KUNIT_EXPECT_EQ(test, nr, 15);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static int switch_time(void *data)
{
	struct ftrace_flight *before = tr->flight;
	int ret = native_echo(DIR "options/flight-time", 0, "1");

	if (ret && tr->flight && tr->flight != before)
		native_fail("another recorder, although that failed with %d", ret);
	return ret;
}

static void switch_time_back(void *data)
{
	native_echo(DIR "options/flight-time", 0, "0");
}

static bool flight_records(void)
{
	const struct ftrace_flight_cpu *c;
	u64 next;

	if (!tr->flight)
		return false;
	c = per_cpu_ptr(tr->flight->cpu, raw_smp_processor_id());
	next = c->next;
	ftrace_kunit_func1(1);
	return c->next != next;
}

/* Another recorder takes the place of the one that runs; without memory, that one goes on. */
CASE(recorders_change)
{
	struct native_op op = { switch_time, switch_time_back, .lenient = true };
	long left = native_pages_left;
	struct ftrace_flight *flight;

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	KUNIT_EXPECT_TRUE(test, flight_records());
	KUNIT_EXPECT_EQ(test, switch_time(NULL), 0);
	KUNIT_EXPECT_TRUE(test, tr->flight && tr->flight->timed);
	KUNIT_EXPECT_TRUE(test, flight_records());
	flight = tr->flight;
	KUNIT_EXPECT_EQ(test, native_echo(DIR "trace_options", 0, "flight-time"), 0);
	KUNIT_EXPECT_PTR_EQ(test, tr->flight, flight);

	native_pages_left = 0;
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-time", 0, "0"), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, tr->flight, flight);
	KUNIT_EXPECT_TRUE(test, flight_records());
	native_pages_left = left;
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-time", 0, "0"), 0);
	KUNIT_EXPECT_TRUE(test, flight_records());

	/* Without memory for that one, too, there is none, until the next change. */
	for (unsigned int n = 1; tr->flight && n < 100; n++) {
		native_fail_from(n);
		KUNIT_EXPECT_EQ(test, switch_time(NULL), -ENOMEM);
		native_fail_all(false);
	}
	KUNIT_EXPECT_FALSE(test, flight_records());
	KUNIT_EXPECT_EQ(test, switch_time(NULL), 0);
	KUNIT_EXPECT_TRUE(test, flight_records());
}

static int switch_thresh(void *data)
{
	const struct ftrace_flight *before = top_trace_array()->flight;
	int ret = native_echo("tracing_thresh", 0, "10");

	if (!ret && top_trace_array()->flight == before)
		native_fail("the recorder of before");
	return ret;
}

static void switch_thresh_back(void *data)
{
	native_echo("tracing_thresh", 0, "0");
}

/*
 * With calls and returns that have times, a threshold begins anew at the top level; without memory,
 * the recorder goes on. It is in cycles, which are ns here. Without times, it is refused in words.
 */
CASE(thresholds_change)
{
	struct native_op op = { switch_thresh, switch_thresh_back, .lenient = true };
	const struct ftrace_flight *flight;
	long left = native_pages_left;

	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, "ftrace_kunit_func[1-3]"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("options/flight-returns", 0, "1"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("options/flight-time", 0, "1"), 0);
	KUNIT_ASSERT_EQ(test, native_echo("current_tracer", 0, "flight"), 0);
	KUNIT_EXPECT_EQ(test, top_trace_array()->flight->thresh, 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	flight = top_trace_array()->flight;
	native_pages_left = 0;
	KUNIT_EXPECT_EQ(test, switch_thresh(NULL), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, top_trace_array()->flight, flight);
	KUNIT_EXPECT_EQ(test, flight->thresh, 0);
	native_pages_left = left;
	native_log_begin();
	KUNIT_EXPECT_EQ(test, switch_thresh(NULL), 0);
	KUNIT_EXPECT_EQ(test, top_trace_array()->flight->thresh, 10000);
	flight = top_trace_array()->flight;
	KUNIT_EXPECT_EQ(test, native_echo("tracing_thresh", 0, "10"), 0);
	KUNIT_EXPECT_PTR_EQ(test, top_trace_array()->flight, flight);
	KUNIT_EXPECT_FALSE(test, native_log_has("quick calls are recorded"));
	KUNIT_EXPECT_EQ(test, native_echo("options/flight-time", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, top_trace_array()->flight->thresh, 0);
	KUNIT_EXPECT_TRUE(test, native_log_has("quick calls are recorded"));
	KUNIT_EXPECT_EQ(test, native_echo("current_tracer", 0, "nop"), 0);
	switch_thresh_back(NULL);
	KUNIT_EXPECT_EQ(test, native_echo("options/flight-returns", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
}

/* What was read, calls "c" and events "e": how many of a kind follow each other. */
static char words[512], last_kind;
static unsigned int nr_of_kind;

static void word(char kind)
{
	size_t len = strlen(words);

	if (kind == last_kind) {
		nr_of_kind++;
		return;
	}
	if (last_kind)
		snprintf(words + len, sizeof(words) - len, "%u%c ", nr_of_kind, last_kind);
	last_kind = kind;
	nr_of_kind = 1;
}

static const char *read_trace(const char *path)
{
	static char text[SZ_64K];
	char *at = text, *line;

	words[0] = 0;
	native_cat(path, text, sizeof(text), 1000);
	while ((line = strsep(&at, "\n")))
		if (*line && *line != '#')
			word(strstr(line, "<-") ? 'c' : 'e');
	word(0);
	return words;
}

/* When the open calls in pages were made, those of each depth; the task, and since when it runs. */
static u64 called[26], since;
static s32 ran;

/* "a" is a call, "A" a return, of the outermost function. */
static void graph_word(struct kunit *test, const struct trace_entry *entry, u64 time)
{
	const struct ftrace_graph_ent_entry *call = (void *)entry;
	const struct ftrace_graph_ret_entry *ret = (void *)entry;
	const u64 *times = (void *)(&ret->ret.overrun + 1);
	bool calls = entry->type == TRACE_GRAPH_ENT;
	unsigned long depth = calls ? call->graph_ent.depth : ret->ret.depth;

	if (depth >= ARRAY_SIZE(called)) {
		native_fail("depth %lu", depth);
		return;
	}
	if (entry->pid != ran)
		since = time;
	ran = entry->pid;
	if (calls) {
		word('a' + depth);
		called[depth] = time;
		return;
	}
	word('A' + depth);
	KUNIT_EXPECT_EQ(test, ret->ret.overrun, 0);
	KUNIT_EXPECT_EQ(test, get_unaligned(&times[0]), max(called[depth], since));
	KUNIT_EXPECT_EQ(test, get_unaligned(&times[1]), time);
}

/*
 * A page begins with the time of its first event and how much of it is used. "m" is a page before
 * which events are missing, "t" a time of its own.
 */
static const char *read_pages_of(struct kunit *test, struct native_file *f)
{
	static u64 page[PAGE_SIZE / sizeof(u64)];

	words[0] = 0;
	while (native_read(f, (char *)page, PAGE_SIZE) > 0) {
		void *at = &page[2], *end = at + (page[1] & GENMASK(19, 0));
		u64 time = page[0];

		word(page[1] & BIT(31) ? 'm' : 'p');
		if (page[1] & BIT(31)) {
			memset(called, 0, sizeof(called));
			since = time;
		}
		while (at < end) {
			struct ring_buffer_event *event = at;
			unsigned int len = 4 * event->type_len;
			const struct trace_entry *entry;
			u64 last = time;

			time += event->time_delta;
			at = event->array;
			if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
				time += (u64)event->array[0] << 27;
				at += sizeof(u32);
				word('t');
				continue;
			}
			if (!len) {
				len = event->array[0] - sizeof(u32);
				at += sizeof(u32);
			}
			entry = at;
			at += len;
			if (entry->type == TRACE_GRAPH_ENT || entry->type == TRACE_GRAPH_RET)
				graph_word(test, entry, time);
			else
				word(entry->type == TRACE_FN ? 'c' : 'e');
			/* Behind it is what record_long_event() knows of the time. */
			if (entry->type == TRACE_PRINT)
				KUNIT_EXPECT_EQ(test, time,
						max(last, get_unaligned((u64 *)(entry + 1))));
		}
		KUNIT_EXPECT_PTR_EQ(test, at, end);
		KUNIT_EXPECT_NULL(test, memchr_inv(end, 0, (void *)page + PAGE_SIZE - end));
	}
	word(0);
	return words;
}

static const char *read_pages(struct kunit *test)
{
	struct native_file *f = open_file(test, DIR "per_cpu/cpu0/trace_pipe_raw",
					    O_RDONLY | O_NONBLOCK);

	ran = 0;
	memset(called, 0, sizeof(called));
	read_pages_of(test, f);
	native_close(f);
	return words;
}

/* What is in the pages, which are read while nothing is recorded. Then the trace is cleared. */
static void expect_pages(struct kunit *test, const char *want)
{
	tracer_tracing_off(tr);
	KUNIT_EXPECT_STREQ(test, read_pages(test), want);
	tracer_tracing_on(tr);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "trace", O_TRUNC, ""), 0);
}

/* Calls and events are merged by their times. Meanwhile recording goes on. trace_pipe has no calls. */
CASE(recorders_are_read)
{
	struct native_file *f;

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	record_calls(3);
	record_event(tr);
	record_calls(2);
	record_event(tr);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "3c 1e 2c 1e ");
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "per_cpu/cpu0/trace"), "3c 1e 2c 1e ");
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "per_cpu/cpu1/trace"), "");
	f = open_file(test, DIR "trace", O_RDONLY);
	record_calls(1);
	native_close(f);
	record_calls(1);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "3c 1e 2c 1e 2c ");
	tracer_tracing_off(tr);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace_pipe"), "2e ");
	tracer_tracing_on(tr);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "trace", O_TRUNC, ""), 0);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "");
}

/* Functions that are not there, in the upper 2 GB. */
#define FUNC(n)		(0xffffffff81000000UL + 0x100 * (n))

static const struct native_symbol tree_symbols[] = {
	{ FUNC(0), 0x100, "outer" },
	{ FUNC(1), 0x100, "inner" },
	{ FUNC(2), 0x100, "other" },
	{ }
};

enum { OUTER, INNER, OTHER };

static void enters(unsigned int func, unsigned int caller)
{
	struct ftrace_ops ops = { .flight = tr->flight };

	ftrace_flight_func(FUNC(func), FUNC(caller) + 0x20, &ops, NULL);
}

static void returns(unsigned int func)
{
	struct ftrace_ops ops = { .flight = tr->flight };

	ftrace_flight_func(FUNC(func), FTRACE_FLIGHT_RETURN, &ops, NULL);
}

/* The tree, each line with "d" if there is the duration that is known, "-" if there is none. */
static const char *read_tree(const char *path, bool timed)
{
	static char text[SZ_64K], tree[SZ_4K];
	char *at = text, *line;

	tree[0] = 0;
	native_cat(path, text, sizeof(text), 1000);
	while ((line = strsep(&at, "\n"))) {
		char *function = strstr(line, "|  "), mark = '-';
		size_t len = strlen(tree);

		if (*line == '#' || !function)
			continue;
		*function = 0;
		/* Without times, it is a limit. */
		if (strstr(line, " us "))
			mark = !strchr(line, '<') == timed ? 'd' : '?';
		snprintf(tree + len, sizeof(tree) - len, "%c%s\n", mark, function + 3);
	}
	return tree;
}

static int go_on_elsewhere(void *unused)
{
	native_become(1001);
	enters(INNER, OUTER);
	returns(INNER);
	returns(OUTER);
	native_become(3);
	native_until_stopped();
	return 0;
}

/*
 * With returns, the file has a tree. A return of a call that is older than the ring has no duration.
 * A site that other ops want, too, has no return. The tree of a task goes on when the task runs on
 * another CPU. Who reads one CPU does not know the duration if the task was switched meanwhile.
 */
#define TREE_OF_CPU(duration) \
	"-} /* inner */\n" \
	"-outer() { /* <-other */\n" \
	"d  inner();\n" \
	"-  inner() {\n" \
	"d  } /* inner */\n" \
	"-  other() {\n" \
	"d  inner();\n" \
	"-outer() { /* <-other */\n" \
	duration "} /* outer */\n"

CASE(returns_make_a_tree)
{
	native_symbols = tree_symbols;
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/context-info", 0, "0"), 0);
	for (unsigned int timed = 0; timed < 2; timed++) {
		struct task_struct *task;

		KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-time", 0, timed ? "1" : "0"), 0);
		KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, "1"), 0);
		KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
		returns(INNER);
		enters(OUTER, OTHER);
		enters(INNER, OUTER);
		returns(INNER);
		enters(INNER, OUTER);
		record_event(tr);
		returns(INNER);
		enters(OTHER, OUTER);
		enters(INNER, OUTER);
		returns(INNER);
		native_become(1001);
		enters(OUTER, OTHER);
		native_become(2);
		returns(OUTER);
		task = kthread_run_on_cpu(go_on_elsewhere, NULL, 1, "native/%u");
		kthread_stop(task);
		tracer_tracing_off(tr);
		KUNIT_EXPECT_STREQ(test, read_tree(DIR "trace", timed),
				   TREE_OF_CPU("d") "d  inner();\nd} /* outer */\n");
		KUNIT_EXPECT_STREQ(test, read_tree(DIR "per_cpu/cpu0/trace", timed), TREE_OF_CPU("-"));
		KUNIT_EXPECT_STREQ(test, read_pages(test),
				   "1p 1A 1a 1b 1B 1b 1e 1B 2b 1B 1a 1A ");
		tracer_tracing_on(tr);
		KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	}
}

/* In pages nothing is known of a call that is older than what is missing, or than very many tasks. */
CASE(pages_forget_calls)
{
	struct native_file *f;

	native_symbols = tree_symbols;
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, "1"), 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	f = open_file(test, DIR "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
	ran = 0;
	/* A long event, much older than the calls. */
	native_ahead = -BIT(30);
	record_long_event(tr, 200);
	native_ahead = 0;
	enters(OUTER, OTHER);
	enters(INNER, OUTER);
	returns(INNER);
	record_event(tr);
	KUNIT_EXPECT_STREQ(test, read_pages_of(test, f), "1p 1e 1t 1a 1b 1B 1e ");
	for (unsigned int i = 0; i < 200000; i++)
		returns(INNER);
	returns(OUTER);
	record_event(tr);
	KUNIT_EXPECT_EQ(test, strncmp(read_pages_of(test, f), "1m ", 3), 0);

	native_become(1001);
	enters(OUTER, OTHER);
	for (unsigned int i = 0; i < 2000; i++) {
		native_become(2000 + i);
		enters(INNER, OTHER);
	}
	native_become(1001);
	enters(INNER, OUTER);
	native_become(2);
	record_event(tr);
	KUNIT_EXPECT_NOT_NULL(test, strstr(read_pages_of(test, f), "a 1e "));
	KUNIT_EXPECT_NULL(test, strchr(words, 'b'));
	enters(OUTER, OTHER);
	enters(INNER, OUTER);
	record_event(tr);
	KUNIT_EXPECT_STREQ(test, read_pages_of(test, f), "1p 1a 1b 1e ");
	native_close(f);
}

/* The same in pages: full ones, an event of its own for a late time, long and lost events. */
CASE(recorders_are_read_in_pages)
{
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	record_calls(150);
	record_event(tr);
	native_ahead = BIT(30);
	record_event(tr);
	record_long_event(tr, 200);
	/* It is older than those before. */
	native_ahead = 0;
	record_event(tr);
	record_calls(3);
	expect_pages(test, "1p 145c 1p 5c 1e 3c 1t 3e ");
	/* There is room for the last call, and no byte more. */
	record_long_event(tr, 1216);
	record_calls(102);
	expect_pages(test, "1p 1e 101c 1p 1c ");
	record_calls(153);
	for (unsigned int i = 0; i < 20; i++)
		record_long_event(tr, 1000);
	record_calls(3);
	expect_pages(test, "1p 145c 1p 8c 1m 3e 1p 2e 3c ");
	/* What the graph tracer has left stays what it is. */
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, "1"), 0);
	record_graph_call(8);
	expect_pages(test, "1p 1i ");
}

/* Who waits for a full page gets less only if no more will come. */
CASE(full_pages_are_waited_for)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	struct trace_iterator iter = { .tr = tr, .array_buffer = &tr->array_buffer };
	struct buffer_data_read_page *page = NULL;

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	iter.trace = tr->current_trace;
	KUNIT_ASSERT_EQ(test, ring_buffer_alloc_read_page(buffer, 0, &page), 0);
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, i ? "1" : "0"), 0);
		KUNIT_ASSERT_EQ(test, trace_flight_raw_open(&iter), 0);
		enters(INNER, OUTER);
		returns(INNER);
		ftrace_flight_mark(tr->flight);
		KUNIT_EXPECT_EQ(test, trace_flight_read_page(&iter, page, true), -ENODATA);
		tracer_tracing_off(tr);
		KUNIT_EXPECT_EQ(test, trace_flight_read_page(&iter, page, true), 0);
		KUNIT_EXPECT_EQ(test, trace_flight_read_page(&iter, page, false), -ENODATA);
		tracer_tracing_on(tr);
		trace_flight_raw_close(&iter);
	}
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, "0"), 0);
	ring_buffer_free_read_page(buffer, 0, page);
}

static int read_text(void *data)
{
	static char text[SZ_16K];
	ssize_t ret = native_cat(data, text, sizeof(text), sizeof(text));

	return strstr(text, "# no memory to read") ? -ENOMEM : min(ret, 0);
}

CASE(recorders_are_not_read_without_memory)
{
	struct native_op text = { read_text, NULL, DIR "trace", .lenient = true };
	struct native_op pages = { read_text, NULL, DIR "per_cpu/cpu0/trace_pipe_raw" };

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	tracer_tracing_off(tr);
	native_quiet = true;
	KUNIT_EXPECT_GT(test, native_sweep(test, &text), 3U);
	KUNIT_EXPECT_EQ(test, native_sweep(test, &pages), 2);
	tracer_tracing_on(tr);
	KUNIT_EXPECT_TRUE(test, flight_records());

	/* Without memory for a tree there are no returns, or no depths. */
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, "1"), 0);
	returns(INNER);
	native_become(1001);
	enters(OUTER, OTHER);
	returns(OUTER);
	native_become(2);
	tracer_tracing_off(tr);
	pages.lenient = true;
	KUNIT_EXPECT_GT(test, native_sweep(test, &text), 6U);
	KUNIT_EXPECT_EQ(test, native_sweep(test, &pages), 5);
	native_quiet = false;
}

/* Read as a dump does, or ftdump of kdb, with interrupts off: calls made since @begin. */
static unsigned int dump(struct kunit *test, u64 begin, bool kdb)
{
	struct trace_iterator iter = { .tr = tr, .array_buffer = &tr->array_buffer,
				       .trace = tr->current_trace };
	unsigned int n = 0;
	u64 now;

	tracer_tracing_off(tr);
	guard(irqsave)();
	now = ring_buffer_time_stamp(tr->array_buffer.buffer);
	ftrace_flight_open(&iter);
	for (int cpu = 0; kdb && cpu < NATIVE_ONLINE; cpu++)
		trace_flight_rewind(&iter, cpu);
	iter.cpu_file = 1;
	KUNIT_EXPECT_TRUE(test, trace_flight_empty(&iter));
	iter.cpu_file = 0;
	KUNIT_EXPECT_FALSE(test, trace_flight_empty(&iter));
	iter.cpu_file = RING_BUFFER_ALL_CPUS;
	while (trace_find_next_entry_inc(&iter)) {
		bool call = iter.ent->type == TRACE_FN;

		KUNIT_EXPECT_EQ(test, trace_flight_consumed(&iter), call);
		n += call;
		if (call) {
			KUNIT_EXPECT_EQ(test, iter.lost_events, 0);
			KUNIT_EXPECT_GT(test, iter.ts, begin);
			KUNIT_EXPECT_LT(test, iter.ts, now);
		} else {
			ring_buffer_consume(iter.array_buffer->buffer, iter.cpu, NULL, NULL);
		}
	}
	KUNIT_EXPECT_TRUE(test, trace_empty(&iter));
	ftrace_flight_close(&iter);
	tracer_tracing_on(tr);
	return n;
}

/* Each dump shows all, unless the tracer has ended meanwhile. Not the snapshot. */
CASE(recorders_are_dumped)
{
	struct trace_iterator iter = { .snapshot = true };
	u64 begin = ring_buffer_time_stamp(tr->array_buffer.buffer);

	wait_cycles(100000);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	native_become(1001);
	record_calls(2);
	wait_cycles(100000);
	KUNIT_EXPECT_EQ(test, dump(test, begin, true), 2);
	KUNIT_EXPECT_EQ(test, dump(test, begin, true), 2);
	KUNIT_EXPECT_EQ(test, dump(test, begin, false), 2);
	KUNIT_EXPECT_EQ(test, native_name, 1001);
	for (unsigned int i = 0; i < 20; i++)
		record_long_event(tr, 1000);
	record_calls(1);
	wait_cycles(100000);
	KUNIT_EXPECT_EQ(test, dump(test, begin, false), 3);
	native_become(2);
	iter.trace = tr->current_trace;
	iter.tr = tr;
	ftrace_flight_open(&iter);
	KUNIT_EXPECT_FALSE(test, trace_flight_reads(&iter));
	KUNIT_EXPECT_NULL(test, ftrace_flight_cursor_of(&iter, 0));
}

/* Not with a clock that has nothing to do with the time stamp counter. Another one clears. */
CASE(recorders_have_a_clock)
{
	static const char * const clocks[] = { "x86-tsc", "perf", "global", "local" };

	KUNIT_EXPECT_EQ(test, native_echo(DIR "trace_clock", 0, "counter"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), -EINVAL);
	native_log_begin();
	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		stop_tracer(NULL);
		KUNIT_EXPECT_EQ(test, native_echo(DIR "trace_clock", 0, (char *)clocks[i]), 0);
		KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	}
	KUNIT_EXPECT_FALSE(test, native_log_has("not stable"));
	KUNIT_EXPECT_EQ(test, native_echo(DIR "trace_clock", 0, "uptime"), -EINVAL);
	record_calls(1);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "1c ");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "trace_clock", 0, "x86-tsc"), 0);
	record_calls(2);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "2c ");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "per_cpu/cpu1/trace", O_TRUNC, ""), 0);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "2c ");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "per_cpu/cpu0/trace", O_TRUNC, ""), 0);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "trace_clock", 0, "local"), 0);
}

/* The name of a task is saved if the task has made calls. */
CASE(names_are_saved_of_callers)
{
	static struct task_struct other = { .pid = 1999 };
	const struct ftrace_flight_cpu *c;
	unsigned int names = native_names;
	pid_t pid = current->pid;
	u64 next;

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	c = per_cpu_ptr(tr->flight->cpu, raw_smp_processor_id());
	KUNIT_EXPECT_EQ(test, c->pid, pid);
	native_become(1000);
	native_exec(1001);
	KUNIT_EXPECT_EQ(test, c->pid, 1001);
	next = c->next;
	native_rename(current);
	native_rename(&other);
	KUNIT_EXPECT_EQ(test, c->pid, 1001);
	KUNIT_EXPECT_EQ(test, c->next, next);
	record_calls(1);
	native_become(1002);
	KUNIT_EXPECT_EQ(test, native_name, 1001);
	names = native_names;
	native_become(1003);
	native_become(1004);
	KUNIT_EXPECT_EQ(test, native_names, names);
	record_calls(1);
	native_become(pid);
	KUNIT_EXPECT_EQ(test, native_name, 1004);
	KUNIT_EXPECT_EQ(test, native_names, names + 1);
	/* And of the tasks that run. */
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "2c ");
	KUNIT_EXPECT_EQ(test, native_names, names + 1 + NATIVE_ONLINE);
}

/* The header of what is read, and how many calls that is. */
static unsigned int read_all(struct trace_iterator *iter, char *header, size_t size)
{
	struct seq_file m = { .buf = header, .size = size - 1, .private = iter };
	unsigned int nr = 0;

	memset(header, 0, size);
	ftrace_flight_print_header(&m);
	for (int cpu = 0; cpu < NATIVE_ONLINE; cpu++) {
		struct ftrace_flight_cursor *cursor = ftrace_flight_cursor_of(iter, cpu);
		struct ftrace_flight_call call;

		while (ftrace_flight_next(cursor->flight, cursor, &call))
			nr++;
	}
	return nr;
}

static struct trace_iterator reader(bool snapshot)
{
	return (struct trace_iterator){
		.tr = tr,
		.trace = tr->current_trace,
		.array_buffer = &tr->array_buffer,
		.snapshot = snapshot,
	};
}

/* How many calls and returns a reader gets. */
static unsigned int calls_of(bool snapshot)
{
	struct trace_iterator iter = reader(snapshot);
	static char header[2048];
	unsigned int nr;

	ftrace_flight_open(&iter);
	nr = IS_ERR_OR_NULL(iter.private) ? UINT_MAX : read_all(&iter, header, sizeof(header));
	ftrace_flight_close(&iter);
	return nr;
}

/* How many entries a reader of its pages gets. */
static unsigned int raw_entries_of_snapshot(void)
{
	struct trace_iterator iter = reader(true);
	unsigned int nr = 0;

	if (ftrace_flight_open_raw(&iter))
		return UINT_MAX;
	while (trace_flight_peek(&iter, 0, NULL, NULL, NULL)) {
		ftrace_flight_cursor_of(&iter, 0)->ready = false;
		nr++;
	}
	ftrace_flight_close(&iter);
	return nr;
}

static void take_snapshot(struct trace_buffer *taken, int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	trace_flight_snapshot(tr, taken, cpu);
	local_irq_restore(flags);
}

static int spare_rings(bool wanted)
{
	guard(mutex)(&trace_types_lock);
	if (wanted)
		return trace_flight_spare(tr);
	trace_flight_no_spare(tr);
	return 0;
}

/*
 * CPUs that are not online have no ring of a flight recorder, and get one when they come, and one
 * for snapshots. If there is no memory then, they record nothing, or have no snapshot.
 */
CASE(rings_come_with_cpus)
{
	const struct ftrace_flight_cpu *cpu[NATIVE_ONLINE + 3];

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(cpu); i++) {
		cpu[i] = per_cpu_ptr(tr->flight->cpu, i);
		KUNIT_EXPECT_EQ(test, ftrace_flight_has_ring(cpu[i]), i < NATIVE_ONLINE);
		KUNIT_EXPECT_EQ(test, cpu[i]->off == 1, i >= NATIVE_ONLINE);
	}

	KUNIT_ASSERT_EQ(test, spare_rings(true), 0);
	native_quiet = true;
	native_fail_nth(1);
	native_cpu_comes(NATIVE_ONLINE);
	KUNIT_EXPECT_EQ(test, native_fail_left(), 0);
	native_fail_nth(2);
	native_cpu_comes(NATIVE_ONLINE + 2);
	KUNIT_EXPECT_EQ(test, native_fail_left(), 0);
	native_quiet = false;
	native_cpu_comes(NATIVE_ONLINE + 1);
	native_cpu_comes(0);
	KUNIT_EXPECT_FALSE(test, ftrace_flight_has_ring(cpu[NATIVE_ONLINE]));
	KUNIT_EXPECT_EQ(test, cpu[NATIVE_ONLINE]->off, 1);
	KUNIT_EXPECT_TRUE(test, ftrace_flight_has_ring(cpu[NATIVE_ONLINE + 1]));
	KUNIT_EXPECT_EQ(test, cpu[NATIVE_ONLINE + 1]->off, FTRACE_FLIGHT_RESUME);
	KUNIT_EXPECT_EQ(test, cpu[NATIVE_ONLINE + 2]->off, FTRACE_FLIGHT_RESUME);
	take_snapshot(NULL, RING_BUFFER_ALL_CPUS);
	KUNIT_EXPECT_NOT_NULL(test, cpu[0]->other);
	KUNIT_EXPECT_NULL(test, cpu[NATIVE_ONLINE]->other);
	KUNIT_EXPECT_NOT_NULL(test, cpu[NATIVE_ONLINE + 1]->other);
	KUNIT_EXPECT_NULL(test, cpu[NATIVE_ONLINE + 2]->other);
	spare_rings(false);
}

CASE(recorders_are_counted)
{
	static struct trace_seq s;
	char size[16];

	KUNIT_EXPECT_EQ(test, native_echo(DIR "flight_size_kb", 0, "15"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "flight_size_kb", 0, "1048577"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "flight_size_kb", 0, "many"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_cat(DIR "flight_size_kb", size, 16, 16), 5);
	KUNIT_EXPECT_STREQ(test, size, "1024\n");
	KUNIT_EXPECT_EQ(test, native_echo(DIR "flight_size_kb", 0, "1048576"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "flight_size_kb", 0, "16"), 0);
	KUNIT_EXPECT_EQ(test, native_cat(DIR "flight_size_kb", size, 16, 16), 3);
	KUNIT_EXPECT_STREQ(test, size, "16\n");
	trace_flight_stats(tr, &s, 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "flight_size_kb", 0, "17"), -EBUSY);
	KUNIT_EXPECT_EQ(test, tr->flight->size, SZ_16K);
	record_calls(5000);
	trace_seq_init(&s);
	trace_flight_stats(tr, &s, NATIVE_ONLINE);
	KUNIT_EXPECT_STREQ(test, s.buffer,
			   "flight records: 0\nflight overrun: 0\nflight lost: 0\n");
	trace_seq_init(&s);
	trace_flight_stats(tr, &s, 0);
	KUNIT_EXPECT_STREQ(test, s.buffer,
			   "flight records: 2049\nflight overrun: 3115\nflight lost: 0\n");
	KUNIT_EXPECT_EQ(test, calls_of(false), 1962);

	/* The counts are those of the ring. */
	KUNIT_ASSERT_EQ(test, spare_rings(true), 0);
	take_snapshot(NULL, 0);
	record_calls(1);
	trace_seq_init(&s);
	trace_flight_stats(tr, &s, 0);
	KUNIT_EXPECT_STREQ(test, s.buffer,
			   "flight records: 2\nflight overrun: 0\nflight lost: 0\n");
	spare_rings(false);
}

/* As the file snapshot does: of one CPU or of all. Events go on to mark the rings that record. */
CASE(snapshots_are_taken)
{
	struct trace_array *other = top_trace_array();
	const struct ftrace_flight_cpu *c;
	long left = native_pages_left;
	u64 next;

	/* The rings come with the tracer. */
	KUNIT_EXPECT_EQ(test, spare_rings(true), 0);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	KUNIT_EXPECT_EQ(test, calls_of(true), 0);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	spare_rings(false);
	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	c = per_cpu_ptr(tr->flight->cpu, 0);
	record_calls(10);
	KUNIT_EXPECT_EQ(test, calls_of(true), UINT_MAX);
	native_pages_left = 0;
	KUNIT_EXPECT_EQ(test, spare_rings(true), -ENOMEM);
	native_pages_left = left;
	KUNIT_ASSERT_EQ(test, spare_rings(true), 0);
	take_snapshot(NULL, 1);
	record_calls(5);
	KUNIT_EXPECT_EQ(test, calls_of(true), 0);

	/* The buffer of the events was exchanged for that of another trace array. */
	tracer_tracing_on(other);
	ring_buffer_set_flight(other->array_buffer.buffer, tr->flight);
	ring_buffer_set_flight(tr->array_buffer.buffer, NULL);
	take_snapshot(other->array_buffer.buffer, RING_BUFFER_ALL_CPUS);
	record_calls(3);
	KUNIT_EXPECT_EQ(test, calls_of(true), 15);
	next = c->next;
	record_event(other);
	KUNIT_EXPECT_EQ(test, c->next, next);
	record_event(tr);
	KUNIT_EXPECT_NE(test, c->next, next);
	scoped_guard(mutex, &trace_types_lock)
		trace_flight_forget(tr, 1);
	KUNIT_EXPECT_EQ(test, calls_of(true), 15);
	scoped_guard(mutex, &trace_types_lock)
		trace_flight_forget(tr, 0);
	KUNIT_EXPECT_EQ(test, calls_of(true), 0);

	spare_rings(false);
	KUNIT_EXPECT_EQ(test, calls_of(true), UINT_MAX);
	take_snapshot(NULL, RING_BUFFER_ALL_CPUS);
	record_calls(1);
	KUNIT_EXPECT_STREQ(test, read_trace(DIR "trace"), "3c 1e 1c ");

	/* Returns are entries, of pages, too. */
	KUNIT_EXPECT_EQ(test, native_echo(DIR "options/flight-returns", 0, "1"), 0);
	KUNIT_ASSERT_EQ(test, spare_rings(true), 0);
	enters(INNER, OUTER);
	returns(INNER);
	take_snapshot(NULL, RING_BUFFER_ALL_CPUS);
	record_calls(1);
	KUNIT_EXPECT_EQ(test, calls_of(true), 2);
	KUNIT_EXPECT_EQ(test, raw_entries_of_snapshot(), 2);
	spare_rings(false);
}

/* A recorder that has ended is off, and when it is gone, events do not mark it. */
CASE(recorders_end)
{
	struct ftrace_flight *flight;

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	flight = ftrace_flight_get(tr->flight);
	record_calls(1);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(flight->cpu, 0)->off, 1);
	ftrace_flight_put(flight);
	ftrace_dispatches_wait();
	ftrace_flight_wait();
	record_event(tr);
}

/* Who reads the trace gets a copy. Without memory for it, nothing is recorded, and all can know. */
CASE(readers_get_copies)
{
	struct trace_iterator iter = { .tr = tr, .array_buffer = &tr->array_buffer };
	unsigned long module = MODULES_END - PAGE_SIZE;
	long left = native_pages_left;
	static char header[2048];
	u64 now = get_cycles();

	KUNIT_ASSERT_EQ(test, native_echo(DIR "current_tracer", 0, "flight"), 0);
	iter.trace = tr->current_trace;
	record_calls(10);
	ftrace_flight_open(&iter);
	record_calls(10);
	KUNIT_EXPECT_TRUE(test, flight_records());
	KUNIT_EXPECT_EQ(test, read_all(&iter, header, sizeof(header)), 10);
	KUNIT_EXPECT_NULL(test, strstr(header, "nothing is recorded"));
	ftrace_flight_close(&iter);

	native_pages_left = 0;
	native_quiet = true;
	ftrace_flight_open(&iter);
	native_quiet = false;
	native_pages_left = left;
	KUNIT_EXPECT_FALSE(test, flight_records());
	KUNIT_EXPECT_GT(test, tr->flight->stop.cycles, now);
	record_calls(10);
	KUNIT_EXPECT_EQ(test, read_all(&iter, header, sizeof(header)), 20);
	KUNIT_EXPECT_TRUE(test, glob_match("*\n# nothing is recorded while *-* reads: *", header));
	ftrace_flight_close(&iter);
	KUNIT_EXPECT_TRUE(test, flight_records());

	/* A copy stays when the recorder has ended, and so does what modules that go leave behind. */
	ftrace_flight_open(&iter);
	KUNIT_EXPECT_EQ(test, native_echo(DIR "current_tracer", 0, "nop"), 0);
	ftrace_dispatches_wait();
	ftrace_flight_wait();
	ftrace_flight_text_gone(module, MODULES_END, false);
	KUNIT_EXPECT_NE(test, ftrace_flight_name(module, now), module);
	ftrace_flight_close(&iter);
}
