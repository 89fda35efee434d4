// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boot parameters, a boot without memory, and the time after ftrace_kill(): what is never undone.
 * So each of these tests boots in a child of its own.
 */
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/init.h>

#include "trace.h"
#include "ftrace/filter_api.h"
#include "ftrace/core.h"
#include "ftrace/hash.h"
#include "ftrace/profile.h"
#include "ftrace/tests/ftrace_kunit.h"
#include "alone.h"
#include "module.h"
#include "native.h"

static unsigned int nr_wrong;

static void wrong(int line, const char *what)
{
	printk("    %s:%d: %s\n", __FILE__, line, what);
	nr_wrong++;
}

#define EXPECT(condition) do {				\
	if (!(condition))				\
		wrong(__LINE__, #condition);		\
} while (0)

static void expect_file(int line, const char *path, const char *want)
{
	static char text[4096];
	ssize_t ret = native_cat(path, text, sizeof(text), 100);

	if (ret >= 0 && !strcmp(text, want))
		return;
	wrong(line, path);
	printk("    error %zd, and: %s", min_t(ssize_t, ret, 0), text);
}

#define EXPECT_FILE(path, want) expect_file(__LINE__, path, want)

static void parameters(void)
{
	EXPECT_FILE("set_ftrace_filter", "native_func_201\nnative_func_203\nnative_func_204\n"
		    "*_1:mod:native_mod\n");
	EXPECT_FILE("set_ftrace_notrace", "native_func_203\nnative_func_211\nnative_func_221\n");
	EXPECT_FILE("set_graph_function", "native_func_300\nnative_func_301\n");
	EXPECT_FILE("set_graph_notrace", "native_func_301\n");
	EXPECT(fgraph_max_depth == 7);
	EXPECT(ftrace_filter_param);
	EXPECT(native_log_has("ftrace: boot parameter: no function `nosuch'"));
	/* The filter that waits. */
	native_mod_load();
	EXPECT_FILE("set_ftrace_filter", "native_func_201\nnative_func_203\nnative_func_204\n"
		    "native_mod_1 [native_mod]\n");
	native_mod_release();
}

static void only_filter(void)
{
	EXPECT(ftrace_filter_param);
	EXPECT_FILE("set_ftrace_filter", "native_func_201\n");
	EXPECT_FILE("set_ftrace_notrace", "#### no functions disabled ####\n");
}

static void only_notrace(void)
{
	EXPECT(ftrace_filter_param);
	EXPECT_FILE("set_ftrace_filter", "#### all functions enabled ####\n");
	EXPECT_FILE("set_ftrace_notrace", "native_func_211\n");
}

/* The words of a parameter that is given several times. */
static void words_need_room(void)
{
	char words[8] = "";

	native_log_begin();
	ftrace_early_append(words, sizeof(words), "abc");
	EXPECT(!strcmp(words, "abc"));
	ftrace_early_append(words, sizeof(words), "defg");
	EXPECT(!strcmp(words, "abc"));
	EXPECT(native_log_has("no room for `defg'"));
	native_log_begin();
	ftrace_early_append(words, sizeof(words), "def");
	EXPECT(!strcmp(words, "abc,def"));
	EXPECT(!native_log_has("no room"));
	ftrace_early_append(words, sizeof(words), "");
	EXPECT(!strcmp(words, "abc,def"));
	EXPECT(native_log_has("no room for `'"));
}

/* Without memory the filter stays as it is, or lacks a word, and that is said. */
static void words_need_memory(void)
{
	for (unsigned int n = 1; n < 100; n++) {
		char words[] = "native_func_203", text[64];
		unsigned long left;

		EXPECT(!native_echo("set_ftrace_filter", O_TRUNC, "native_func_201"));
		native_log_begin();
		native_fail_nth(n);
		ftrace_set_early_filter(&global_ops, words, 1);
		left = native_fail_left();
		native_fail_nth(0);
		EXPECT(native_cat("set_ftrace_filter", text, sizeof(text), 64) >= 0);
		if (left) {
			EXPECT(!strcmp(text, "native_func_203\n"));
			EXPECT(!native_log_has("boot parameter"));
			return;
		}
		EXPECT(native_log_has("ftrace: boot parameter: no memory for `native_func_203'"));
		EXPECT(!strcmp(text, "native_func_201\n") || text[0] == '#');
	}
	EXPECT(!"enough memory");
}

/* A command of another file. */
static void commands_have_names(void)
{
	static struct ftrace_func_command one = { .name = "one" }, two = { .name = "two" };

	EXPECT(!register_ftrace_command(&one));
	EXPECT(register_ftrace_command(&one) == -EBUSY);
	EXPECT(unregister_ftrace_command(&two) == -ENODEV);
	EXPECT(!register_ftrace_command(&two));
	EXPECT(!unregister_ftrace_command(&one));
	EXPECT(unregister_ftrace_command(&one) == -ENODEV);
	EXPECT(!unregister_ftrace_command(&two));
	EXPECT(native_echo("set_ftrace_filter", O_APPEND, "native_func_201:two") == -EINVAL);
}

static void only_modules(void)
{
	/* Not all functions. */
	EXPECT_FILE("set_ftrace_filter", "native_mod_1:mod:native_mod\n");
	EXPECT(!ftrace_ops_test(&global_ops, ftrace_location((unsigned long)native_funcs[7]), NULL));
	EXPECT_FILE("set_ftrace_notrace", "native_mod_2:mod:native_mod\n");
	EXPECT(!native_echo("current_tracer", 0, "function"));
	EXPECT_FILE("enabled_functions", "");
	native_mod_load();
	EXPECT_FILE("set_ftrace_filter", "native_mod_1 [native_mod]\n");
	EXPECT_FILE("set_ftrace_notrace", "native_mod_2 [native_mod]\n");
	native_mod_release();
}

static void no_parameters(void)
{
	char word[] = "native_func_201:mod:nosuch";

	EXPECT(!ftrace_filter_param);
	EXPECT_FILE("set_ftrace_filter", "#### all functions enabled ####\n");
	EXPECT_FILE("set_graph_notrace", "#### no functions disabled ####\n");
	/* Before any tracer has run. The ops of the graph tracer is a copy. */
	EXPECT(global_ops.private && global_ops.private == top_trace_array());
	EXPECT(!ftrace_set_filter(&global_ops, word, strlen(word), 0));
	EXPECT_FILE("set_ftrace_filter", "native_func_201:mod:nosuch\n");
	EXPECT(!ftrace_is_dead());
}

/* Init text of the kernel is freed. */
static void init_text_is_freed(void)
{
	unsigned long before = ftrace_update_tot_cnt;

	ftrace_free_init_mem();
	EXPECT(ftrace_update_tot_cnt < before);
	EXPECT(native_echo("set_ftrace_filter", O_TRUNC, "native_init_func") == -EINVAL);
	EXPECT(!native_echo("set_ftrace_filter", O_TRUNC, "native_func_1*"));
	EXPECT(!ftrace_kunit_state());
}

/* The only ops with a file and without a trace array is that of the stack tracer. */
static struct ftrace_ops stack_ops = { .func = ftrace_kunit_note };

static int open_stack_filter(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(NULL, &stack_ops, FTRACE_ITER_FILTER, inode, file);
}

static const struct file_operations stack_fops = {
	.open		= open_stack_filter,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.flush		= ftrace_set_flush,
	.release	= ftrace_regex_release,
};

static void stack_filter(void)
{
	char words[] = "native_func_20[1-3],native_func_205,nosuch";

	trace_create_file("stack_trace_filter", 0644, NULL, NULL, &stack_fops);
	ftrace_set_early_filter(&stack_ops, words, 1);
	EXPECT_FILE("stack_trace_filter", "native_func_201\nnative_func_202\nnative_func_203\n"
		    "native_func_205\n");
	EXPECT(!register_ftrace_function(&stack_ops));
	native_mod_load();
	/* Nothing waits there; removing what is not there is no error. */
	EXPECT(native_echo("stack_trace_filter", O_APPEND, "x:mod:y") == -EINVAL);
	EXPECT(!native_echo("stack_trace_filter", O_APPEND, "!native_func_206"));
	EXPECT(!native_echo("stack_trace_filter", O_TRUNC, "native_mod_1 native_func_201"));
	EXPECT_FILE("stack_trace_filter", "native_func_201\nnative_mod_1 [native_mod]\n");
	EXPECT(!strcmp(ftrace_kunit_calls_of((test_func_t)native_mod_ips[2]), ""));
	native_mod_release();
	EXPECT_FILE("stack_trace_filter", "native_func_201\n");
	EXPECT(native_echo("stack_trace_filter", O_APPEND, "native_func_202:traceoff") == -ENODEV);
	EXPECT(!unregister_ftrace_function(&stack_ops));
	EXPECT(!ftrace_kunit_state());
}

/* The boot parameter names a function of init text, and nobody opens the file. */
static void stack_filter_forgets_init_text(void)
{
	char words[] = "native_init_func,native_func_201";

	trace_create_file("stack_trace_filter", 0644, NULL, NULL, &stack_fops);
	ftrace_set_early_filter(&stack_ops, words, 1);
	EXPECT(ftrace_ops_test(&stack_ops, ftrace_location((unsigned long)native_init_func), NULL));
	EXPECT(!register_ftrace_function(&stack_ops));
	ftrace_free_init_mem();
	/* The file would show no freed text, but a module may get the address. */
	scoped_guard(mutex, &ftrace_lock)
		EXPECT(ftrace_locked(stack_ops.func_hash->filter_hash)->count == 1);
	EXPECT_FILE("stack_trace_filter", "native_func_201\n");
	EXPECT(!unregister_ftrace_function(&stack_ops));
	EXPECT(!ftrace_kunit_state());
}

/* A module is unloaded, and the filter has no boot parameter. */
static void stack_filter_forgets(void)
{
	trace_create_file("stack_trace_filter", 0644, NULL, NULL, &stack_fops);
	native_mod_load();
	EXPECT(!native_echo("stack_trace_filter", O_TRUNC, "native_mod_1"));
	EXPECT_FILE("stack_trace_filter", "native_mod_1 [native_mod]\n");
	native_mod_release();
	native_mod_load();
	EXPECT_FILE("stack_trace_filter", "");
	native_mod_release();
	EXPECT(!native_echo("stack_trace_filter", O_TRUNC, ""));
	EXPECT_FILE("stack_trace_filter", "#### all functions enabled ####\n");
}

static struct ftrace_ops ops = { .func = ftrace_kunit_note, .private = (void *)(unsigned long)'k' };

static NATIVE_GRAPH_ENTER(graph_enter)
{
	return 0;
}

static NATIVE_GRAPH_RETURN(graph_return)
{
}

static struct fgraph_ops graph = { .entryfunc = graph_enter, .retfunc = graph_return };

/* After ftrace_kill() sites call what they call, and nothing changes. */
static void killed(void)
{
	static struct ftrace_ops other = { .func = ftrace_kunit_note }, above = { .func = ftrace_kunit_note };
	static struct ftrace_ops direct, sub;
	const unsigned long target = (unsigned long)native_funcs[0];
	/* Only code points to what is kept, where LeakSanitizer does not look. */
	static struct ftrace_ops *kept;
	struct native_file *f, *list, *begun;
	static char text[1 << 14];

	EXPECT(!ftrace_kunit_filter(&ops, ftrace_kunit_func1, true));
	EXPECT(!register_ftrace_function(&ops));
	EXPECT(!ftrace_kunit_filter(&direct, ftrace_kunit_func2, true));
	EXPECT(!register_ftrace_direct(&direct, target));
	EXPECT(!ftrace_kunit_filter(&sub, ftrace_kunit_func3, true));
	scoped_guard(mutex, &ftrace_lock)
		EXPECT(!ftrace_startup_subops(&above, &sub, 0));
	EXPECT(!native_mkdir("k"));
	EXPECT(!native_echo("instances/k/set_ftrace_filter", 0, "ftrace_kunit_func1:traceoff:3"));
	EXPECT(!native_echo("instances/k/set_ftrace_filter", 0, "ftrace_kunit_func1"));
	EXPECT(!native_echo("instances/k/current_tracer", 0, "function"));
	/* The same with a list of tasks. */
	EXPECT(!native_mkdir("l"));
	EXPECT(!native_echo("instances/l/set_ftrace_filter", 0, "ftrace_kunit_func1"));
	EXPECT(!native_echo("instances/l/set_ftrace_notrace_pid", 0, "77"));
	EXPECT(!native_echo("instances/l/current_tracer", 0, "function"));
	kept = trace_array_find("k")->ops;
	f = native_open("set_ftrace_filter", O_RDWR);
	native_mod_load();
	/* A list of which a part was read: the names of a module. */
	list = native_open("available_filter_functions", O_RDONLY);
	do {
		static char text[65];

		EXPECT(native_read(list, text, 64) == 64);
		if (strstr(text, "native_mod"))
			break;
	} while (true);
	begun = native_open("available_filter_functions", O_RDONLY);
	EXPECT(native_read(begun, text, 64) == 64);
	ftrace_kill();
	while (native_read(list, text, sizeof(text)) > 0)
		;
	native_close(list);
	/* What was in the buffer of the reader comes, and then the end. */
	EXPECT(native_read(begun, text, sizeof(text)) < PAGE_SIZE);
	EXPECT(!native_read(begun, text, sizeof(text)));
	native_close(begun);
	EXPECT(ftrace_is_dead());
	EXPECT(native_sysctl_read("ftrace_enabled") == 0);
	EXPECT(native_sysctl_write("ftrace_enabled", "1") == -ENODEV);
	EXPECT(native_write(f, "native_func_201 ") == -ENODEV);
	native_close(f);
	EXPECT(native_echo("set_ftrace_filter", O_TRUNC, "native_func_201") == -ENODEV);
	EXPECT(native_echo("set_graph_function", O_TRUNC, "native_func_201") == -ENODEV);
	EXPECT(PTR_ERR(native_open("enabled_functions", O_RDONLY)) == -ENODEV);
	EXPECT(PTR_ERR(native_open("set_graph_function", O_RDONLY)) == -ENODEV);
	EXPECT(ftrace_set_filter(&ops, "native_func_201", 15, 1) == -ENODEV);
	EXPECT(ftrace_set_filter_ip(&ops, (unsigned long)native_funcs[0], 0, 0) == -ENODEV);
	EXPECT(ftrace_set_filter(&other, "native_func_201", 15, 1) == -ENODEV);
	EXPECT(ftrace_set_filter_ip(&other, (unsigned long)native_funcs[0], 0, 0) == -ENODEV);
	EXPECT(!strcmp(ftrace_kunit_calls_of(ftrace_kunit_func1), "k"));
	EXPECT(unregister_ftrace_function(&ops) == -ENODEV);
	EXPECT(register_ftrace_function(&ops) == -ENODEV);
	EXPECT(unregister_ftrace_direct(&direct, target, true) == -ENODEV);
	EXPECT(direct.direct_call == target);
	scoped_guard(mutex, &ftrace_lock)
		EXPECT(ftrace_shutdown_subops(&above, &sub, 0) == -ENODEV);
	EXPECT(register_ftrace_graph(&graph) == -ENODEV);
	/* Choosing tasks would change what the sites of the instance call. */
	EXPECT(native_echo("instances/k/set_ftrace_pid", O_TRUNC, "1") == -ENODEV);
	EXPECT_FILE("instances/k/set_ftrace_pid", "no pid\n");
	/* What a user removes stays in memory, and calls nothing that is freed. */
	EXPECT(!native_rmdir("k"));
	EXPECT(!native_rmdir("l"));
	native_settle();
	EXPECT(!strcmp(ftrace_kunit_calls_of(ftrace_kunit_func1), "k"));
	EXPECT(!(kept->flags & FTRACE_OPS_FL_ENABLED) && kept->callback);
	/* Modules go and come, and run. */
	native_mod_release();
	native_mod_load();
	EXPECT(((native_func_t *)native_mod_ips[1])(1) == 1002);
	native_mod_release();
}

static void kill_now(void)
{
	native_at_broadcast = NULL;
	ftrace_kill();
}

/* ftrace_kill() comes while some functions of a command are removed: the others keep it. */
static void killed_in_between(void)
{
	/* As in killed(): the new command and the old one. */
	static struct list_head *kept, *old;
	struct trace_array *tr = top_trace_array();

	EXPECT(!native_echo("set_ftrace_filter", 0, "ftrace_kunit_func[1-3]:traceoff"));
	old = tr->func_probes.next;
	native_at_broadcast = kill_now;
	EXPECT(native_echo("set_ftrace_filter", O_APPEND, "!ftrace_kunit_func1:traceoff") == -ENODEV);
	EXPECT(ftrace_is_dead());
	kept = tr->func_probes.next;
	EXPECT(kept != old);
	native_settle();
	for (unsigned int i = 0; i < 2; i++) {
		tracer_tracing_on(tr);
		(i ? ftrace_kunit_func2 : ftrace_kunit_func1)(1);
		EXPECT(tracer_tracing_is_on(tr) == !i);
	}
}

/* More classes than there was room for, with each allocation failing on the way. */
static void classes_need_memory(void)
{
	static struct ftrace_ops many[80];
	unsigned long live;

	native_settle();
	live = native_live();
	for (unsigned int i = 0; i < ARRAY_SIZE(many); i++) {
		int ret = -ENOMEM;

		many[i].func = ftrace_kunit_note;
		EXPECT(!ftrace_set_filter_ip(&many[i], (unsigned long)native_funcs[300 + i], 0, 1));
		for (unsigned int n = 1; ret == -ENOMEM && n < 50; n++) {
			native_fail_nth(n);
			ret = register_ftrace_function(&many[i]);
			native_fail_nth(0);
			EXPECT(!ftrace_kunit_state());
		}
		EXPECT(!ret);
	}
	EXPECT(ftrace_kunit_nr_classes() == ARRAY_SIZE(many));
	for (unsigned int i = 0; i < ARRAY_SIZE(many); i++) {
		native_fail_nth(1 + i % 3);
		EXPECT(!unregister_ftrace_function(&many[i]));
		native_fail_nth(0);
		ftrace_free_filter(&many[i]);
	}
	EXPECT(!ftrace_kunit_nr_classes());
	EXPECT(!ftrace_kunit_state());
	native_settle();
	/* The two arrays of classes stay, and the counters. */
	EXPECT(native_live() <= live + 3);
}

/* The table of the profiler has room for a quarter more functions than there are, and for 16. */
static void profiles_have_room(void)
{
	static char text[1 << 19];
	unsigned int nr = 0;

	/* 815 + 815 / 4 + 16 is a bit more than 1024. */
	ftrace_update_tot_cnt = 815;
	EXPECT(!native_echo("function_profile_enabled", 0, "1"));
	for (unsigned long ip = 0x1000; ip < 0x1000 + 3000; ip++)
		ftrace_profile_hit(ip);
	EXPECT(native_cat("trace_stat/function0", text, sizeof(text), 4096) > 0);
	for (const char *line = text; (line = strchr(line, '\n')); line++)
		nr++;
	/* Of 2048 records one in 16 stays free, and the last. */
	EXPECT(nr >= 2 + 1900 && nr < 2 + 2048);
	EXPECT(!native_echo("function_profile_enabled", 0, "0"));
}

static void no_window(void)
{
	EXPECT(!"a boot without the window that text is written through");
}

/* The tables of the sites have no memory: nothing can be traced, and all runs. */
static void no_memory(void)
{
	EXPECT(ftrace_is_dead());
	EXPECT(register_ftrace_function(&ops) == -ENODEV);
	EXPECT(ftrace_kunit_func1(1) == ftrace_kunit_func1(1));
}

/* One allocation had no memory: what does not work was said, and all other things work. */
static void little_memory(void)
{
	static const struct {
		const char *path, *word, *shown;
	} words[] = {
		{ "set_ftrace_filter", "native_func_201", "native_func_201\n" },
		{ "set_ftrace_filter", "*_1", "*_1:mod:native_mod\n" },
		{ "set_ftrace_notrace", "native_func_211", "native_func_211\n" },
		{ "set_graph_function", "native_func_300", "native_func_300\n" },
	};
	static char text[4096], said[64];

	if (ftrace_is_dead())
		return no_memory();
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		EXPECT(native_cat(words[i].path, text, sizeof(text), 100) >= 0);
		snprintf(said, sizeof(said), "no memory for `%s", words[i].word);
		EXPECT(strstr(text, words[i].shown) || native_log_has(said) ||
		       (i < 2 && native_log_has("no memory for `native_func_201,*_1:mod:native_mod'")));
	}
	EXPECT(!native_echo("set_ftrace_filter", O_TRUNC, "native_func_202"));
	EXPECT(!native_echo("set_ftrace_notrace", O_TRUNC, ""));
	EXPECT(!native_echo("current_tracer", 0, "function"));
	EXPECT(!ftrace_kunit_site_calls((test_func_t)native_funcs[102], 0));
	EXPECT(!native_echo("current_tracer", 0, "nop"));
	EXPECT_FILE("enabled_functions", "");
	EXPECT(!ftrace_kunit_state());
}

#define LITTLE(n) {									\
	"little_memory_" #n, little_memory, {						\
		"ftrace_filter=native_func_201,*_1:mod:native_mod",			\
		"ftrace_notrace=native_func_211", "ftrace_graph_filter=native_func_300" },	\
	.fail_nth = n }

static const struct {
	const char	*name;
	void		(*func)(void);
	char		*params[8];
	unsigned int	fail_nth;	/* this allocation of the boot fails */
	unsigned int	window_fails;	/* or this one of those for the window */
} tests[] = {
	{ "no_parameters", no_parameters },
	{ "parameters", parameters, {
		"ftrace_filter=native_func_20[13],nosuch,,*_1:mod:native_mod",
		"ftrace_notrace=native_func_2[12]1", "ftrace_filter=native_func_204",
		"ftrace_notrace=native_func_203", "ftrace_graph_filter=native_func_30[01]",
		"ftrace_graph_notrace=native_func_301", "ftrace_graph_max_depth=7" } },
	{ "only_filter", only_filter, { "ftrace_filter=native_func_201" } },
	{ "only_notrace", only_notrace, { "ftrace_notrace=native_func_211" } },
	{ "words_need_room", words_need_room },
	{ "words_need_memory", words_need_memory },
	{ "commands_have_names", commands_have_names },
	{ "only_modules", only_modules, {
		"ftrace_filter=native_mod_1:mod:native_mod",
		"ftrace_notrace=native_mod_2:mod:native_mod" } },
	{ "init_text_is_freed", init_text_is_freed },
	{ "stack_filter", stack_filter },
	{ "stack_filter_forgets_init_text", stack_filter_forgets_init_text },
	{ "stack_filter_forgets", stack_filter_forgets },
	{ "classes_need_memory", classes_need_memory },
	{ "profiles_have_room", profiles_have_room },
	{ "killed", killed },
	{ "killed_in_between", killed_in_between },
	{ "no_memory", no_memory, .fail_nth = 1 },
	LITTLE(2), LITTLE(3), LITTLE(4), LITTLE(5), LITTLE(6), LITTLE(7), LITTLE(8), LITTLE(9), LITTLE(10),
	LITTLE(11), LITTLE(12), LITTLE(13), LITTLE(14), LITTLE(15), LITTLE(16), LITTLE(17), LITTLE(18),
	{ "no_mm", no_window, .window_fails = 1 },
	{ "no_page_table", no_window, .window_fails = 3 },
};

static void run(void *data)
{
	unsigned int n = (unsigned long)data, nr = 0;
	char *params[8];

	native_work = tests[n].name;
	/* A parameter is changed. */
	for (; nr < ARRAY_SIZE(params) && tests[n].params[nr]; nr++) {
		size_t size = strlen(tests[n].params[nr]) + 1;

		params[nr] = host_alloc(size);
		strscpy(params[nr], tests[n].params[nr], size);
	}
	native_boot_fails = tests[n].fail_nth;
	native_window_fails = tests[n].window_fails;
	native_boot(nr, params);
	native_mod_setup();
	tests[n].func();
	native_settle();
	/* After ftrace_kill() code is still called, but not by this thread. */
	native_text_end();
	host_exit(nr_wrong || native_warnings);
}

unsigned int native_alone(void)
{
	unsigned int failed = 0;

	printk("    # Subtest: native_alone\n");
	for (unsigned int n = 0; n < ARRAY_SIZE(tests); n++) {
		bool bad = host_child(run, (void *)(unsigned long)n);

		printk("    %sok %u %s\n", bad ? "not " : "", n + 1, tests[n].name);
		failed += bad;
	}
	return failed;
}
