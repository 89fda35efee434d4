// SPDX-License-Identifier: GPL-2.0-only
/* Modules come, start, fail and go: what is traced in them, and which names are kept. */
#include <linux/kallsyms.h>
#include <linux/sched/clock.h>

#include "ftrace/class.h"
#include "ftrace/dispatch.h"
#include "ftrace/kallsyms.h"
#include "ftrace/ops.h"
#include "tests.h"

static struct ftrace_ops ops;

static int modules_init(struct kunit *test)
{
	native_mod_setup();
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note, .private = (void *)(unsigned long)'a' };
	ftrace_kunit_add_ops(test, &ops);
	return 0;
}

static int mod_func(unsigned int n, int arg)
{
	return ((native_func_t *)native_mod_ips[n])(arg);
}

/* Which functions of the module, of the first @nr, call the ops? A bit for each. */
static unsigned int traced(struct kunit *test, unsigned int nr)
{
	unsigned int bits = 0;

	for (unsigned int i = 0; i < nr; i++) {
		bits |= !!strcmp(ftrace_kunit_calls_of((test_func_t)native_mod_ips[i]), "") << i;
		KUNIT_EXPECT_EQ(test, mod_func(i, 1), 1001 + i);
	}
	return bits;
}

SUITE(modules, modules_init, ftrace_kunit_exit);

/* The functions of a module are traced from the moment that it is enabled. */
CASE(module_functions_are_traced)
{
	KUNIT_ASSERT_EQ(test, ftrace_set_notrace(&ops, "native_func*", 12, 0), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	native_mod_init(true);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_mod_1", 12, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_mod_7", 12, 0), 0);
	native_mod_enable();
	KUNIT_EXPECT_EQ(test, traced(test, 8), 1U << 1 | 1U << 7);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_mod*", 11, 0), 0);
	KUNIT_EXPECT_EQ(test, traced(test, 8), 0xffU);
	native_mod_started();
	KUNIT_EXPECT_EQ(test, traced(test, 6), 0x3fU);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "*_[3-9]", 7, 1), 0);
	KUNIT_EXPECT_EQ(test, traced(test, 6), 0x38U);
	native_mod_release();
}

/* Without a list of sites, the symbols lead to them. */
CASE(sites_need_no_list)
{
	native_log_begin();
	native_mod_init(false);
	KUNIT_EXPECT_TRUE(test, native_log_has("native_mod: no table of call sites, but 8 calls at the heads"));
	KUNIT_EXPECT_FALSE(test, native_log_has("no memory"));
	native_mod_enable();
	register_on_glob(test, &ops, "native_mod_[0-6]");
	KUNIT_EXPECT_EQ(test, traced(test, 8), 0x7fU);
	native_mod_started();
	native_mod_release();
}

static void expect_kallsym(struct kunit *test, const char *name, unsigned long addr)
{
	char type, found[KSYM_NAME_LEN], module[MODULE_NAME_LEN];
	unsigned long value;

	for (unsigned int n = 0; ; n++) {
		int exported = 1;
		int ret = ftrace_mod_get_kallsym(n, &value, &type, found, module, &exported);

		if (ret) {
			KUNIT_EXPECT_EQ(test, ret, -ERANGE);
			KUNIT_EXPECT_EQ_MSG(test, addr, 0UL, "no symbol %s", name);
			return;
		}
		if (strcmp(found, name))
			continue;
		KUNIT_EXPECT_EQ(test, value, addr);
		KUNIT_EXPECT_EQ(test, type, 'T');
		KUNIT_EXPECT_EQ(test, exported, 0);
		KUNIT_EXPECT_STREQ(test, module, "native_mod");
		return;
	}
}

/* The name of an address; "" if there is none. */
static const char *name_at(unsigned long addr)
{
	static char name[KSYM_NAME_LEN];

	name[0] = 0;
	ftrace_mod_address_lookup(addr, NULL, NULL, NULL, NULL, name);
	return name;
}

/* What kallsyms says of an address in a function. */
static void expect_name(struct kunit *test, unsigned int func, const char *want)
{
	unsigned long size = 0, offset = 0, ip = native_mod_ips[func];
	char name[KSYM_NAME_LEN] = "", *module = NULL;
	const unsigned char *id = NULL;

	if (!ftrace_mod_address_lookup(ip + 3, &size, &offset, &module, &id, name)) {
		KUNIT_EXPECT_STREQ(test, "", want);
		return;
	}
	KUNIT_EXPECT_STREQ(test, name, want);
	KUNIT_EXPECT_EQ(test, size, 32UL);
	KUNIT_EXPECT_EQ(test, offset, 3UL);
	KUNIT_EXPECT_STREQ(test, module, "native_mod");
	/* From the first byte of the function to the last. */
	KUNIT_EXPECT_STRNEQ(test, name_at(ip - 1), want);
	KUNIT_EXPECT_STREQ(test, name_at(ip), want);
	KUNIT_EXPECT_STREQ(test, name_at(ip + 31), want);
	KUNIT_EXPECT_STRNEQ(test, name_at(ip + 32), want);
}

CASE(names_of_init_functions_stay)
{
	native_mod_live();
	register_on_glob(test, &ops, "native_mod_[17]");
	expect_name(test, 7, "");
	native_mod_started();
	/* Only of functions that were traced. */
	expect_name(test, 7, "native_mod_7");
	expect_name(test, 6, "");
	expect_name(test, 1, "");
	expect_kallsym(test, "native_mod_7", native_mod_ips[7]);
	expect_kallsym(test, "native_mod_6", 0);
	native_mod_release();
	expect_name(test, 7, "");
	expect_kallsym(test, "native_mod_7", 0);
}

CASE(names_of_failed_modules_stay)
{
	native_mod_live();
	register_on_glob(test, &ops, "native_mod_[17]");
	native_mod_release();
	expect_name(test, 7, "native_mod_7");
	expect_name(test, 1, "native_mod_1");
	expect_name(test, 2, "");
	expect_kallsym(test, "native_mod_1", native_mod_ips[1]);
	/* Until the text is used again. */
	native_mod_init(true);
	expect_name(test, 7, "");
	expect_name(test, 1, "");
	/* A load that fails before its text can run. */
	native_mod_release();
	expect_name(test, 1, "");
	expect_kallsym(test, "native_mod_1", 0);
}

/* A module that fails twice, at two places. */
CASE(names_of_the_last_failure_stay)
{
	unsigned long first, second;
	char name[KSYM_NAME_LEN];

	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops, "native_func_*", 13, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	first = native_mod_ips[1];
	native_mod_live();
	native_mod_release();
	KUNIT_EXPECT_NE(test, ftrace_mod_address_lookup(first, NULL, NULL, NULL, NULL, name), 0);
	native_mod_move();
	second = native_mod_ips[1];
	/* A failure before its functions were traced leaves no names, and takes none away. */
	native_mod_init(true);
	native_mod_release();
	KUNIT_EXPECT_EQ(test, ftrace_mod_address_lookup(second, NULL, NULL, NULL, NULL, name), 0);
	native_mod_live();
	native_mod_release();
	KUNIT_EXPECT_EQ(test, ftrace_mod_address_lookup(first, NULL, NULL, NULL, NULL, name), 0);
	KUNIT_EXPECT_NE(test, ftrace_mod_address_lookup(second, NULL, NULL, NULL, NULL, name), 0);
	KUNIT_EXPECT_STREQ(test, name, "native_mod_1");
	/* Its success elsewhere changes nothing. */
	native_mod_move();
	native_mod_load();
	KUNIT_EXPECT_NE(test, ftrace_mod_address_lookup(second, NULL, NULL, NULL, NULL, name), 0);
	native_mod_release();
	native_mod_move();
	native_mod_load();
	KUNIT_EXPECT_EQ(test, ftrace_mod_address_lookup(second, NULL, NULL, NULL, NULL, name), 0);
	native_mod_release();
	native_mod_move();
}

static void drop_failed(unsigned long start, unsigned long end)
{
	guard(mutex)(&ftrace_lock);
	ftrace_drop_failed_names(start, end);
}

/* Names of a module that failed go with their text, and not with that of others. */
CASE(names_go_with_their_text)
{
	static struct module other = { .name = "other" };
	unsigned long ip = native_mod_ips[2];

	native_mod_live();
	register_on_glob(test, &ops, "native_mod_[2367]");
	native_mod_started();
	/* Names that a loaded module lacks go with the module. */
	drop_failed(0, ULONG_MAX);
	expect_name(test, 6, "native_mod_6");
	ftrace_keep_failed_names(&other);
	ftrace_drop_init_names(&other);
	drop_failed(0, ULONG_MAX);
	expect_name(test, 6, "native_mod_6");
	expect_name(test, 7, "native_mod_7");
	native_mod_release();
	KUNIT_EXPECT_STREQ(test, name_at(native_mod_ips[6]), "");

	native_mod_live();
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_mod_[2367]", 17, 1), 0);
	native_mod_release();
	ftrace_keep_failed_names(&other);
	ftrace_drop_init_names(&other);
	drop_failed(ip - 32, ip);
	drop_failed(ip + 64, ip + 96);
	expect_name(test, 2, "native_mod_2");
	expect_name(test, 3, "native_mod_3");
	drop_failed(ip + 31, ip + 32);
	expect_name(test, 2, "");
	expect_name(test, 3, "native_mod_3");
	drop_failed(ip + 32, ip + 33);
	expect_name(test, 3, "");
	expect_name(test, 7, "native_mod_7");
}

static void load_and_unload(struct kunit *test)
{
	native_mod_load();
	native_mod_release();
	native_mod_live();
	native_mod_release();
	native_mod_init(false);
	native_mod_release();
	native_mod_load();
	native_mod_release();
}

CASE(modules_leave_nothing)
{
	register_on_glob(test, &ops, "native_func_101");
	native_expect_no_leak(test, load_and_unload);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	/* All functions, also those of the module. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, NULL, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops, "native_func_*", 13, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	native_expect_no_leak(test, load_and_unload);
}

/* All steps of a load; what has no memory is not traced, and all functions run. */
static int load(void *data)
{
	for (int i = 0; i < 2; i++) {
		native_mod_init(i);
		native_mod_enable();
		for (unsigned int f = 0; f < NATIVE_MOD_FUNCS; f++)
			if (mod_func(f, 1) != 1001 + f)
				return -EINVAL;
		if (i)
			native_mod_started();
		native_mod_release();
	}
	/* A module that failed is traced in full when it comes again. */
	return 0;
}

CASE(modules_load_without_memory)
{
	struct native_op op = { load, .lenient = true };

	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops, "native_func_*", 13, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, "*_[2-7]:mod:native_mod"), 0);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_notrace", O_TRUNC, "native_mod_3:mod:native_mod"), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 20U);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_notrace", O_TRUNC, ""), 0);
}

/* A function that had no memory for an ops is not given to it when the ops changes its callback. */
CASE(changes_give_no_functions)
{
	static struct ftrace_ops many[FTRACE_MAX_SLOTS + 1];
	test_func_t func;

	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops, "native_func_*", 13, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	native_mod_init(true);
	native_fail_all(true);
	native_mod_enable();
	native_fail_all(false);
	func = (test_func_t)native_mod_ips[1];
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(func), "");
	/* Nor if the function calls more ops than a trampoline has slots. */
	register_crowd(test, many, ARRAY_SIZE(many), func);
	KUNIT_EXPECT_EQ(test, LOCKED(ftrace_ops_set_func(&ops, ftrace_kunit_note_x, NULL)), 0);
	KUNIT_EXPECT_FALSE(test, LOCKED(ftrace_class_has(ftrace_kunit_class(func), &ops)));
	for (unsigned int i = 0; i < ARRAY_SIZE(many); i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&many[i]), 0);
	native_mod_release();
}

/* Each allocation for the sites of a module fails in turn, and the log says so each time. */
CASE(missing_memory_is_reported)
{
	unsigned long left = 0, groups = ftrace_number_of_groups;
	unsigned int n;

	for (n = 1; !left && n < 20; n++) {
		native_log_begin();
		native_fail_nth(n);
		native_mod_init(true);
		left = native_fail_left();
		native_fail_nth(0);
		KUNIT_EXPECT_EQ(test, !left,
				native_log_has("native_mod: no memory for its call sites, not traced\n"));
		/* If the first table has no memory, the second is not made. */
		KUNIT_EXPECT_TRUE(test, n > 1 || ftrace_number_of_groups == groups);
		native_mod_release();
	}
	KUNIT_EXPECT_GT(test, n, 4U);
	KUNIT_EXPECT_LT(test, n, 20U);
}

/* A module fails to load of which only one of two texts has a table. */
CASE(names_need_one_table)
{
	unsigned long groups = ftrace_number_of_groups;
	unsigned int n = 1;

	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops, "native_func_*", 13, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	for (;; n++) {
		WITHOUT(n, native_mod_init(true));
		if (ftrace_number_of_groups > groups)
			break;
		native_mod_release();
	}
	KUNIT_EXPECT_EQ(test, ftrace_number_of_groups, groups + 1);
	native_mod_enable();
	KUNIT_EXPECT_EQ(test, traced(test, 8), 0x3fU);
	native_mod_release();
	expect_name(test, 1, "native_mod_1");
}

/* What dyn_ftrace_total_info shows: sites, pages, tables, and how long the loads took. */
CASE(totals_are_kept)
{
	unsigned long sites = ftrace_update_tot_cnt, pages = ftrace_number_of_pages;
	unsigned long groups = ftrace_number_of_groups;
	u64 time = ftrace_total_mod_time, start = sched_clock();

	KUNIT_EXPECT_NE(test, ftrace_update_time, 0);
	native_mod_init(true);
	KUNIT_EXPECT_GT(test, ftrace_total_mod_time, time);
	KUNIT_EXPECT_LE(test, ftrace_total_mod_time - time, sched_clock() - start);
	native_mod_enable();
	KUNIT_EXPECT_EQ(test, ftrace_update_tot_cnt, sites + NATIVE_MOD_FUNCS);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_pages, pages + 2);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_groups, groups + 2);
	native_mod_started();
	KUNIT_EXPECT_EQ(test, ftrace_update_tot_cnt, sites + NATIVE_MOD_INIT);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_pages, pages + 1);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_groups, groups + 1);
	native_mod_release();
	KUNIT_EXPECT_EQ(test, ftrace_update_tot_cnt, sites);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_pages, pages);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_groups, groups);
}

/* The lists of functions show those of modules while they are there. */
CASE(lists_have_modules)
{
	struct native_file *f;
	static char again[1 << 16];

	static char text[1 << 16];

	native_mod_load();
	KUNIT_EXPECT_GT(test, native_cat("available_filter_functions", text, sizeof(text), 100), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\nnative_mod_0 [native_mod]\nnative_mod_1 [native_mod]\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "native_mod_5 [native_mod]\n"));
	KUNIT_EXPECT_NULL(test, strstr(text, "native_mod_6"));
	/* A file is read to its end, and once more from its start. */
	f = open_file(test, "available_filter_functions", O_RDONLY);
	for (int i = 0; i < 2; i++) {
		size_t at = 0;
		ssize_t ret;

		native_rewind(f);
		while ((ret = native_read(f, again + at, 1000)) > 0)
			at += ret;
		again[at] = 0;
		KUNIT_EXPECT_STREQ(test, again, text);
	}
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_mod_release();
	KUNIT_EXPECT_GT(test, native_cat("available_filter_functions", text, sizeof(text), 100), 0);
	KUNIT_EXPECT_NULL(test, strstr(text, "native_mod_0"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\nnative_func_312\nnative_func_313\n"));
}

/* A site where the compiler has made no call is reported once, and is never traced. */
CASE(sites_without_a_call_stay)
{
	static struct ftrace_ops named = { .func = ftrace_kunit_note };

	native_mod_without_call = 3;
	native_log_begin();
	native_mod_load();
	native_mod_without_call = -1;
	KUNIT_EXPECT_TRUE(test, native_log_has("no call for tracing here"));
	register_on_glob(test, &ops, "native_mod_*");
	KUNIT_EXPECT_EQ(test, traced(test, 6), 0x37U);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&named, "native_mod_3", 12, 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&named), -EINVAL);
	KUNIT_EXPECT_FALSE(test, native_log_has("it can not be traced"));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	native_mod_release();
	ftrace_free_filter(&named);
}
