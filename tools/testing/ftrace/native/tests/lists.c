// SPDX-License-Identifier: GPL-2.0-only
/* The lists of functions, with all that they can show, and the names that only the core has. */
#include <linux/kallsyms.h>
#include <linux/stringify.h>

#include "ftrace/class.h"
#include "ftrace/dispatch.h"
#include "ftrace/kallsyms.h"
#include "ftrace/names.h"
#include "ftrace/ops.h"
#include "tests.h"

static struct ftrace_ops ops, other, direct;
static char text[1 << 17];

#define MOD_LINES	"native_mod_0 [native_mod]\nnative_mod_1 [native_mod]\n" \
			"native_mod_2 [native_mod]\nnative_mod_3 [native_mod]\n" \
			"native_mod_4 [native_mod]\nnative_mod_5 [native_mod]\n"

#define ANY_TRAMP	"ftrace_trampoline+0x0/0x*"

asm(".text\n"
    ".balign 16\n"
    ".globl native_direct_target\n"
    "native_direct_target:\n\tret\n");

static int lists_init(struct kunit *test)
{
	native_mod_setup();
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note, .private = (void *)(unsigned long)'a' };
	other = (struct ftrace_ops){
		.func = ftrace_kunit_note_x, .flags = FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_SAVE_REGS,
	};
	direct = (struct ftrace_ops){ };
	ftrace_kunit_add_ops(test, &ops);
	ftrace_kunit_add_ops(test, &other);
	ftrace_kunit_add_ops(test, &direct);
	return 0;
}

/* A line of a file: what follows a name. */
static const char *line_of(struct kunit *test, const char *path, const char *name)
{
	char *rest = text, *line;
	size_t len = strlen(name);

	KUNIT_EXPECT_GE(test, native_cat(path, text, sizeof(text), 333), 0);
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, name, len) && (line[len] == ' ' || !line[len]))
			return line + len;
	return NULL;
}

SUITE(lists, lists_init, ftrace_kunit_exit);

CASE(alone_and_shared_ops_are_shown)
{
	const char *line;

	register_on(test, &ops, ftrace_kunit_func1);
	native_expect_glob(test, "enabled_functions", "ftrace_kunit_func1 (1)           \ttramp: " ANY_TRAMP
			   " (ftrace_kunit_note+0x0/0x*) ->ftrace_kunit_note+0x0/0x*\n");
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&other, "ftrace_kunit_func[12]", 21, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&other), 0);
	native_expect_glob(test, "enabled_functions",
			   "ftrace_kunit_func1 (2) R          ->ftrace_kunit_note_x+0x0/0x* ->ftrace_kunit_note+*\n"
			   "ftrace_kunit_func2 (1) R         \ttramp: " ANY_TRAMP " (*) ->*\n");
	/* What is between the trampoline and the callback, if the callback is alone. */
	line = line_of(test, "enabled_functions", "ftrace_kunit_func2");
	KUNIT_ASSERT_NOT_NULL(test, line);
	KUNIT_EXPECT_NOT_NULL(test, strstr(line, "(ftrace_kunit_note_x+0x0/"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(line, "->ftrace_ops_assist_func+0x0/"));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&other), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	/* The functions that were traced once. */
	KUNIT_EXPECT_NOT_NULL(test, line_of(test, "touched_functions", "ftrace_kunit_func1"));
	KUNIT_EXPECT_NOT_NULL(test, line_of(test, "touched_functions", "ftrace_kunit_func2"));
	KUNIT_EXPECT_NULL(test, line_of(test, "touched_functions", "ftrace_kunit_func3"));
	line = line_of(test, "touched_functions", "ftrace_kunit_func1");
	KUNIT_EXPECT_NOT_NULL(test, strstr(line ?: "", " (0)            ->ftrace_stub"));
}

CASE(direct_callers_are_shown)
{
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, (unsigned long)native_direct_target), 0);
	native_expect_glob(test, "enabled_functions",
			   "ftrace_kunit_func1 (1)     D   M*\tdirect-->native_direct_target+0x0/0x*\n");
	register_on(test, &ops, ftrace_kunit_func1);
	native_expect_glob(test, "enabled_functions",
			   "ftrace_kunit_func1 (2)     D   M  ->ftrace_kunit_note+0x0/0x*\n"
			   "\tdirect-->native_direct_target+0x0/0x*\n");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, 0, false), 0);
	/* That a direct caller or a live patch was there is never forgotten. */
	native_expect_glob(test, "enabled_functions", "ftrace_kunit_func1 (1)         M \ttramp: *\n");
}

CASE(failed_functions_are_shown)
{
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops, "ftrace_kunit_func[34]", 21, 1), 0);
	ftrace_kunit_break_site(test, ftrace_kunit_func3);
	native_log_begin();
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_TRUE(test, native_log_has("expected 0f 1f 44 00 00, found e8 "));
	native_expect_glob(test, "enabled_functions",
			   "ftrace_kunit_func3 (0)           \tfailed: unexpected bytes ->ftrace_stub*\n"
			   "ftrace_kunit_func4 (1)           \ttramp: *\n");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	/* To name a function that failed is an error, however many others are named. */
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, ftrace_kunit_func3, true), 0);
	for (unsigned int i = 0; i < 60; i++)
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, native_funcs[i], false), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), -EINVAL);
}

CASE(addresses_are_shown)
{
	char want[64];

	KUNIT_EXPECT_GT(test, native_cat("available_filter_functions_addrs", text, sizeof(text), 77), 0);
	snprintf(want, sizeof(want), "\n%lx native_func_345\n",
		 ftrace_location((unsigned long)native_funcs[245]));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, want));
}

/* A name whose length in the table of kallsyms takes two bytes, and the name behind it. */
CASE(long_names_are_shown)
{
	static const char name[] = __stringify(NATIVE_LONG_NAME);

	KUNIT_EXPECT_GT(test, native_cat("available_filter_functions", text, sizeof(text), 4096),
			0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\n" __stringify(NATIVE_LONG_NAME)
						 "\nnative_after_long\n"));
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, (unsigned char *)name, strlen(name), 1), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_after_l*g", 16, 0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(NATIVE_LONG_NAME), "a");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(native_after_long), "a");
}

/* Read the list of all functions, and call @step after each read, with its number. */
static void read_in_steps(struct kunit *test, size_t size, void (*step)(unsigned int n))
{
	struct native_file *f = open_file(test, "available_filter_functions", O_RDONLY);
	ssize_t len = 0, ret;

	for (unsigned int n = 0; (ret = native_read(f, text + len, size)) > 0; n++) {
		len += ret;
		text[len] = 0;
		step(n);
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
}

static void come_and_go(unsigned int n)
{
	if (n == 1)
		native_mod_load();
	if (n == 3)
		native_mod_release();
}

/* Functions come and go between two reads of a list. */
CASE(lists_change_between_reads)
{
	read_in_steps(test, 1000, come_and_go);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\nnative_func_598\nnative_func_599\n"));
	KUNIT_EXPECT_NULL(test, strstr(text, "native_mod"));
	/* Each function once. */
	for (unsigned int i = 102; i < 600; i++) {
		char name[24];

		snprintf(name, sizeof(name), "native_func_%u\n", i);
		native_expect_once(test, text, name);
	}
}

/* So many reads behind the first function of the module, it has started. */
static unsigned int reads_left;

static void start(unsigned int n)
{
	if (!reads_left || !strstr(text, "native_mod_0"))
		return;
	if (--reads_left == 1)
		native_mod_free_init();
	if (!reads_left)
		native_mod_started();
}

/*
 * When a module has started, first the sites of its init code go, then the symbols change: each
 * between two reads. Each function that stays is listed once, with its name.
 */
CASE(symbols_change_between_reads)
{
	for (unsigned int reads = 2; reads < 6; reads++) {
		const char *at;

		native_mod_live();
		reads_left = reads;
		read_in_steps(test, 30, start);
		KUNIT_EXPECT_EQ(test, reads_left, 0U);
		at = strstr(text, MOD_LINES);
		KUNIT_EXPECT_NOT_NULL(test, at);
		KUNIT_EXPECT_NULL(test, strstr(at ? at + 1 : "", "native_mod_0"));
		native_mod_release();
	}
}

static void go_behind_the_second(unsigned int n)
{
	if (native_module && strstr(text, "native_mod_1"))
		native_mod_release();
}

/* A module goes between two reads of its lines: its names are not looked at any more. */
CASE(modules_go_between_reads)
{
	native_mod_load();
	read_in_steps(test, 30, go_behind_the_second);
	KUNIT_EXPECT_NULL(test, native_module);
	KUNIT_EXPECT_NULL(test, strstr(text, "native_mod_4"));
}

/* Without memory for the names of a module, the lists show what kallsyms says. */
static int read_list(void *data)
{
	ssize_t ret = native_cat("available_filter_functions", text, sizeof(text), 4096);

	if (ret >= 0 && (!strstr(text, "native_func_599\n") || !strstr(text, "\n" MOD_LINES)))
		return -EINVAL;
	return ret < 0 ? ret : 0;
}

CASE(lists_are_read_without_memory)
{
	struct native_op op = { read_list, .lenient = true };

	native_mod_load();
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	native_mod_release();
}

/* Reads the lines of a module only in part: the file still has a copy of its symbols. */
static void read_in_part(struct kunit *test)
{
	static const char *const paths[] = { "set_ftrace_filter", "available_filter_functions" };

	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ":mod:native_mod"), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++) {
		struct native_file *f = open_file(test, paths[i], O_RDONLY);
		ssize_t got;

		do {
			got = native_read(f, text, 40);
			KUNIT_ASSERT_GT(test, got, 0);
			text[got] = 0;
		} while (!strstr(text, "[native"));
		KUNIT_EXPECT_EQ(test, native_close(f), 0);
	}
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
}

CASE(lists_are_read_in_part)
{
	native_mod_load();
	native_expect_no_leak(test, read_in_part);
	native_mod_release();
}

CASE(trampolines_have_names)
{
	unsigned long tramp, size, offset, value = 0;
	char mod_name[MODULE_NAME_LEN], type;
	int exported;
	const unsigned char *id = (void *)1;
	char name[KSYM_SYMBOL_LEN], *module;

	register_on(test, &ops, ftrace_kunit_func1);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, ftrace_mod_address_lookup(tramp + 5, &size, &offset, &module, &id, name),
			strlen("ftrace_trampoline"));
	KUNIT_EXPECT_STREQ(test, name, "ftrace_trampoline");
	KUNIT_EXPECT_STREQ(test, module, "__builtin__ftrace");
	KUNIT_EXPECT_EQ(test, offset, 5UL);
	KUNIT_EXPECT_GT(test, size, 40UL);
	KUNIT_EXPECT_NULL(test, id);
	KUNIT_EXPECT_GT(test, ftrace_mod_address_lookup(tramp + size - 1, NULL, NULL, NULL, NULL, name), 0);
	/* The same in /proc/kallsyms. */
	for (unsigned int n = 0; value != tramp; n++) {
		name[0] = 0;
		KUNIT_ASSERT_EQ(test, ftrace_mod_get_kallsym(n, &value, &type, name, mod_name, &exported), 0);
	}
	KUNIT_EXPECT_STREQ(test, name, "ftrace_trampoline");
	KUNIT_EXPECT_STREQ(test, mod_name, "__builtin__ftrace");
	KUNIT_EXPECT_EQ(test, type, 't');
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(tramp));
	KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline((unsigned long)native_funcs[0]));
	KUNIT_EXPECT_EQ(test, ftrace_mod_address_lookup((unsigned long)native_funcs[0], &size, &offset,
							&module, &id, name), 0);
}

/* perf gets the code of a trampoline in events of less than 64K. */
CASE(code_is_announced_in_pieces)
{
	static const struct {
		unsigned int size, events;
	} tests[] = { { 1, 1 }, { SZ_32K, 1 }, { SZ_32K + 1, 2 }, { SZ_64K, 2 }, { 100000, 4 } };

	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++) {
		const struct ftrace_tramp tramp = { 0x12345000, tests[i].size };

		ftrace_announce_tramp(&tramp, false);
		KUNIT_EXPECT_EQ(test, native_code_events(), tests[i].events);
		ftrace_announce_tramp(&tramp, true);
		KUNIT_EXPECT_EQ(test, native_code_events(), tests[i].events);
	}
}

/* The prototype has a const more or less. */
static int look_up(const char * const *names, size_t nr, unsigned long *addrs)
{
	return ftrace_lookup_symbols((void *)names, nr, addrs);
}

/* Names of functions, of the kernel and of a module, become addresses. */
CASE(symbols_are_looked_up)
{
	static const char * const syms[] = { "ftrace_kunit_func2", "native_func_250", "native_mod_1", "native_mod_4" };
	static const char * const missing[] = { "ftrace_kunit_func2", "native_mod_1", "nosuch" };
	/* A symbol without a call site. */
	static const char * const untraced[] = { "ftrace_kunit_note" };
	/* Of the kernel and of the module; and a second symbol of a function of the module. */
	static const char * const both[] = { "native_func_250", "native_mod_alias", "nosuch" };
	static const char * const data[] = { "native_mod_data" };
	unsigned long addrs[4];

	KUNIT_EXPECT_EQ(test, look_up(syms, 2, addrs), 0);
	KUNIT_EXPECT_EQ(test, addrs[1], (unsigned long)native_funcs[150]);
	KUNIT_EXPECT_EQ(test, look_up(syms, 4, addrs), -ESRCH);
	native_mod_load();
	KUNIT_EXPECT_EQ(test, look_up(syms, 4, addrs), 0);
	KUNIT_EXPECT_EQ(test, addrs[0], (unsigned long)ftrace_kunit_func2);
	KUNIT_EXPECT_EQ(test, addrs[1], (unsigned long)native_funcs[150]);
	KUNIT_EXPECT_EQ(test, addrs[2], native_mod_ips[1]);
	KUNIT_EXPECT_EQ(test, addrs[3], native_mod_ips[4]);
	KUNIT_EXPECT_EQ(test, look_up(missing, 3, addrs), -ESRCH);
	KUNIT_EXPECT_EQ(test, look_up(untraced, 1, addrs), -ESRCH);
	KUNIT_EXPECT_EQ(test, look_up(both, 2, addrs), 0);
	KUNIT_EXPECT_EQ(test, addrs[0], (unsigned long)native_funcs[150]);
	KUNIT_EXPECT_EQ(test, addrs[1], native_mod_ips[4]);
	KUNIT_EXPECT_EQ(test, look_up(data, 1, addrs), -ESRCH);
	/* Each name counts once. */
	KUNIT_EXPECT_EQ(test, look_up(both, 3, addrs), -ESRCH);
	native_mod_release();
	KUNIT_EXPECT_EQ(test, look_up(both, 0, addrs), 0);
}

/* The filter of the top trace array, as other tracers set it. */
CASE(global_filters_are_set)
{
	char one[] = "native_func_33[1-3]", two[] = "native_func_332", three[] = "native_func_340";
	char waits[] = "native_mod_2:mod:native_mod";

	ftrace_set_global_filter(one, strlen(one), 1);
	ftrace_set_global_notrace(two, strlen(two), 1);
	native_expect_file(test, "set_ftrace_filter", "native_func_331\nnative_func_332\nnative_func_333\n");
	native_expect_file(test, "set_ftrace_notrace", "native_func_332\n");
	ftrace_set_global_filter(three, strlen(three), 0);
	/* These words wait, too. */
	ftrace_set_global_filter(waits, strlen(waits), 0);
	native_expect_file(test, "set_ftrace_filter", "native_func_331\nnative_func_332\nnative_func_333\n"
			   "native_func_340\nnative_mod_2:mod:native_mod\n");
	ftrace_ops_set_global_filter(&ops);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_STRNEQ(test, ftrace_kunit_calls_of(native_funcs[231]), "");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(native_funcs[232]), "");
	native_mod_load();
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of((test_func_t)native_mod_ips[1]), "");
	native_mod_release();
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	ftrace_set_global_notrace(NULL, 0, 1);
	native_expect_file(test, "set_ftrace_notrace", NO_NOTRACE);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
	native_expect_file(test, "set_ftrace_filter", NO_FILTER);
}

static int set_waiting(void *unused)
{
	char word[] = "native_func_340:mod:nosuch";

	return ftrace_set_filter(&global_ops, word, strlen(word), 0);
}

static void clear_filter(void *unused)
{
	native_echo("set_ftrace_filter", O_TRUNC, "");
}

/* A word that is refused, or has no memory, is an error. */
CASE(words_that_wait_have_errors)
{
	struct native_op op = { set_waiting, clear_filter };
	char no_function[] = "nosuch:mod", no_command[] = "native_func_340:traceoff";

	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&global_ops, no_function, strlen(no_function), 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&global_ops, no_command, strlen(no_command), 0),
			-EINVAL);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 4U);
	native_expect_file(test, "set_ftrace_filter", NO_FILTER);
}

/* While an ops is being unregistered, it cannot be registered. */
CASE(ends_are_waited_for)
{
	/* Only the end of an ops that can be freed is waited for. */
	struct ftrace_ops *dynamic = native_dynamic_ops(test);

	dynamic->func = ftrace_kunit_note;
	register_on(test, dynamic, ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(dynamic), -EBUSY);
	KUNIT_EXPECT_EQ(test, LOCKED(ftrace_ops_stop(dynamic) ?: ftrace_ops_start(dynamic)), -EBUSY);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(dynamic), -EBUSY);
	ftrace_ops_stop_wait(dynamic);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(dynamic), 0);
}

static struct ftrace_ops many[FTRACE_MAX_SLOTS + 6];

/* An ops leaves more trampolines than one batch has room for, without memory for a larger one. */
CASE(many_slots_go_without_memory)
{
	register_on_glob(test, &ops, "native_func_*");
	for (unsigned int i = 0; i < ARRAY_SIZE(many); i++)
		register_crowd(test, &many[i], 1, native_funcs[i + 2]);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(native_funcs[2]), "xa");
	native_fail_all(true);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	native_fail_all(false);
	for (unsigned int i = 0; i < ARRAY_SIZE(many); i++)
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(native_funcs[i + 2]), "x");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_state() ?: "", "");
}

/* The arrays that a site walks are freed while the site still walks. */
CASE(replaced_arrays_are_freed)
{
	unsigned long live;

	register_crowd(test, many, ARRAY_SIZE(many), native_funcs[2]);
	native_settle();
	live = native_live();
	for (unsigned int i = 0; i < 10 * ARRAY_SIZE(many); i++) {
		KUNIT_ASSERT_EQ(test, unregister_ftrace_function(&many[0]), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&many[0]), 0);
	}
	native_settle();
	/* The array that is there keeps some callbacks of removed ops. */
	KUNIT_EXPECT_LE(test, native_live(), live + ARRAY_SIZE(many));
}
