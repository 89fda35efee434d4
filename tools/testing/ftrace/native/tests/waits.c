// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations wait while somebody else holds a lock of which no function asserts that it is held:
 * without it they would fail only by chance. A forgotten ftrace_lock ends the program anyway.
 */
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/mutex.h>

#include "trace.h"
#include "ftrace/core.h"
#include "ftrace/kallsyms.h"
#include "ftrace/filter_edit.h"
#include "ftrace/ops.h"
#include "module.h"
#include "tests.h"

static struct ftrace_ops ops, lone;
static struct module other = { .name = "other" };

void native_direct_target(void);

static void filter(const char *words)
{
	native_echo("set_ftrace_filter", O_TRUNC, words);
}

static void pids(const char *words)
{
	native_echo("set_ftrace_pid", O_TRUNC, words);
}

static void profile(const char *words)
{
	native_echo("function_profile_enabled", 0, words);
}

static void read_profile(const char *path)
{
	static char text[1 << 16];

	native_cat(path, text, sizeof(text), 4096);
}

static void call(const char *unused)
{
	ftrace_kunit_func1(1);
}

static void make_instance(const char *name)
{
	native_mkdir(name);
}

static void remove_instance(const char *name)
{
	native_rmdir(name);
}

static void set_filter(const char *word)
{
	ftrace_set_filter(&ops, (unsigned char *)word, strlen(word), 1);
}

static void set_ip(const char *unused)
{
	ftrace_set_filter_ip(&ops, (unsigned long)native_funcs[0], 0, 1);
}

static void free_filter(const char *unused)
{
	ftrace_free_filter(&ops);
}

static void direct(const char *unused)
{
	ops = (struct ftrace_ops){ };
	set_ip(NULL);
	register_ftrace_direct(&ops, (unsigned long)native_direct_target);
}

static void modify_direct(const char *unused)
{
	modify_ftrace_direct(&ops, (unsigned long)native_funcs[7]);
}

static void undirect(const char *unused)
{
	unregister_ftrace_direct(&ops, 0, true);
}

static void changes_ip(const char *unused)
{
	ops = (struct ftrace_ops){
		.func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
	};
	set_ip(NULL);
	register_ftrace_function(&ops);
}

static void unregister(const char *unused)
{
	unregister_ftrace_function(&ops);
}

static void load(const char *unused)
{
	native_mod_init(true);
}

static void enable(const char *unused)
{
	native_mod_enable();
}

static void start(const char *unused)
{
	native_mod_started();
}

static void release(const char *unused)
{
	native_mod_release();
}

static void forget_sites(const char *unused)
{
	ftrace_forget_sites(1, 2);
}

static void words_wait(const char *module)
{
	ftrace_mod_words_wait(module, false);
}

static void drop_names(const char *unused)
{
	ftrace_drop_init_names(&other);
}

static void keep_names(const char *unused)
{
	ftrace_keep_failed_names(&other);
}

/* It stays noted to the end of the program. */
static void note_lone(const char *unused)
{
	ftrace_ops_init(&lone);
	ftrace_note_lone_ops(&lone);
}

/* In this order; without a lock, what must be done between two others. */
static const struct wait {
	const char	*lock;
	void		(*run)(const char *arg);
	const char	*arg;
} waits[] = {
	{ "filter", filter, "native_func_101" }, { "filter", filter, "" },
	{ "pid_mutex", pids, "3" }, { "pid_mutex", pids, "" },
	{ "probe_mutex", filter, "native_func_101:traceoff:1" },
	{ "probe_mutex", filter, "!native_func_101:traceoff:1" },
	{ NULL, filter, "ftrace_kunit_func1" }, { "profile_mutex", profile, "1" }, { NULL, call },
	{ "profile_mutex", read_profile, "trace_stat/function0" }, { "profile_mutex", profile, "0" },
	{ NULL, filter, "" },
	{ "trace_types_lock", make_instance, "w" }, { "probe_mutex", remove_instance, "w" },
	{ "ops", set_filter, "native_func_101" }, { "ops", set_ip }, { "ops", free_filter },
	{ "direct_mutex", direct }, { "direct_mutex", modify_direct }, { "direct_mutex", undirect },
	{ "direct_mutex", changes_ip }, { "direct_mutex", unregister }, { NULL, free_filter },
	{ NULL, filter, "native_mod_1:mod:native_mod" }, { NULL, load }, { "filter", enable },
	{ "trace_types_lock", start }, { "trace_types_lock", release },
	{ NULL, load }, { NULL, enable }, { "probe_mutex", start }, { "probe_mutex", release },
	{ NULL, filter, "" },
	{ "trace_types_lock", forget_sites }, { "trace_types_lock", words_wait, "nosuch" },
	{ "filter", words_wait, "nosuch" },
	{ "ftrace_lock", drop_names }, { "ftrace_lock", keep_names }, { "ftrace_lock", note_lone },
};

static struct mutex *lock_of(const char *name)
{
	if (!strcmp(name, "filter"))
		return &global_ops.func_hash->regex_lock;
	if (!strcmp(name, "ops"))
		return &ops.local_hash.regex_lock;
	return (struct mutex *)kallsyms_lookup_name(name);
}

static void run_wait(void *data)
{
	const struct wait *w = data;

	w->run(w->arg);
}

SUITE(waits, NULL, ftrace_kunit_exit);

CASE(operations_wait)
{
	native_mod_setup();
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note };
	ftrace_ops_init(&ops);
	for (unsigned int i = 0; i < ARRAY_SIZE(waits); i++) {
		if (!waits[i].lock) {
			waits[i].run(waits[i].arg);
			continue;
		}
		KUNIT_ASSERT_NOT_NULL_MSG(test, lock_of(waits[i].lock), "no lock %s", waits[i].lock);
		native_expect_waits(test, lock_of(waits[i].lock), run_wait, (void *)&waits[i]);
	}
}
