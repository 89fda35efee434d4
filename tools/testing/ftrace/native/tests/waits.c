// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations wait while somebody else holds a lock of which no function asserts that it is held:
 * without it they would fail only by chance. A forgotten ftrace_lock ends the program anyway.
 */
#include <linux/kallsyms.h>

#include "ftrace/kallsyms.h"
#include "ftrace/filter_edit.h"
#include "ftrace/ops.h"
#include "tests.h"

static struct ftrace_ops ops, lone;
static const struct ftrace_ops changing = {
	.func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
};

static const unsigned long target = (unsigned long)native_direct_target;
static struct module other = { .name = "other" };

#define STEP(name, ...)	static void name(void) { __VA_ARGS__; }

STEP(call, ftrace_kunit_func1(1))
STEP(make_instance, native_mkdir("w"))
STEP(remove_instance, native_rmdir("w"))
STEP(set_filter, ftrace_set_filter(&ops, "native_func_101", 15, 1))
STEP(set_ip, ftrace_set_filter_ip(&ops, (unsigned long)native_funcs[0], 0, 1))
STEP(free_filter, ftrace_free_filter(&ops))
STEP(direct, ops = (struct ftrace_ops){ }; set_ip(); register_ftrace_direct(&ops, target))
STEP(modify_direct, modify_ftrace_direct(&ops, (unsigned long)native_funcs[7]))
STEP(undirect, unregister_ftrace_direct(&ops, 0, true))
STEP(changes_ip, ops = changing; set_ip(); register_ftrace_function(&ops))
STEP(unregister, unregister_ftrace_function(&ops))
STEP(load, native_mod_init(true))
STEP(forget_sites, ftrace_forget_sites(1, 2))
STEP(words_wait, ftrace_mod_words_wait("nosuch", false))
STEP(drop_names, ftrace_drop_init_names(&other))
STEP(keep_names, ftrace_keep_failed_names(&other))
/* It stays noted to the end of the program. */
STEP(note_lone, ftrace_ops_init(&lone); ftrace_note_lone_ops(&lone))

static void read_profile(void)
{
	static char text[1 << 16];

	native_cat("trace_stat/function0", text, sizeof(text), 4096);
}

#define FILTER(words)	"set_ftrace_filter", words
#define PIDS(words)	"set_ftrace_pid", words
#define PROFILE(words)	"function_profile_enabled", words
#define RUN(step)	.run = step

/* In this order; without a lock, what must be done between two others. */
static const struct wait {
	const char	*lock, *path, *words;
	void		(*run)(void);
} waits[] = {
	{ "filter", FILTER("native_func_101") }, { "filter", FILTER("") },
	{ "pid_mutex", PIDS("3") }, { "pid_mutex", PIDS("") },
	{ "probe_mutex", FILTER("native_func_101:traceoff:1") },
	{ "probe_mutex", FILTER("!native_func_101:traceoff:1") },
	{ NULL, FILTER("ftrace_kunit_func1") }, { "profile_mutex", PROFILE("1") }, { RUN(call) },
	{ "profile_mutex", RUN(read_profile) }, { "profile_mutex", PROFILE("0") },
	{ NULL, FILTER("") },
	{ "trace_types_lock", RUN(make_instance) }, { "probe_mutex", RUN(remove_instance) },
	{ "ops", RUN(set_filter) }, { "ops", RUN(set_ip) }, { "ops", RUN(free_filter) },
	{ "direct_mutex", RUN(direct) }, { "direct_mutex", RUN(modify_direct) },
	{ "direct_mutex", RUN(undirect) },
	{ "direct_mutex", RUN(changes_ip) }, { "direct_mutex", RUN(unregister) },
	{ RUN(free_filter) },
	{ NULL, FILTER("native_mod_1:mod:native_mod") }, { RUN(load) },
	{ "filter", RUN(native_mod_enable) },
	{ "trace_types_lock", RUN(native_mod_started) },
	{ "trace_types_lock", RUN(native_mod_release) },
	{ RUN(load) }, { RUN(native_mod_enable) },
	{ "probe_mutex", RUN(native_mod_started) }, { "probe_mutex", RUN(native_mod_release) },
	{ NULL, FILTER("") },
	{ "trace_types_lock", RUN(forget_sites) }, { "trace_types_lock", RUN(words_wait) },
	{ "filter", RUN(words_wait) },
	{ "ftrace_lock", RUN(drop_names) }, { "ftrace_lock", RUN(keep_names) },
	{ "ftrace_lock", RUN(note_lone) },
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

	if (w->run)
		w->run();
	else
		native_echo(w->path, O_TRUNC, w->words);
}

SUITE(waits, NULL, ftrace_kunit_exit);

CASE(operations_wait)
{
	native_mod_setup();
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note };
	ftrace_ops_init(&ops);
	for (unsigned int i = 0; i < ARRAY_SIZE(waits); i++) {
		if (!waits[i].lock) {
			run_wait((void *)&waits[i]);
			continue;
		}
		KUNIT_ASSERT_NOT_NULL_MSG(test, lock_of(waits[i].lock), "no lock %s", waits[i].lock);
		native_expect_waits(test, lock_of(waits[i].lock), run_wait, (void *)&waits[i]);
	}
}
