// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the core: tables, names, globs, hashes, classes, plans.
 *
 * ftrace_kunit_funcs.c has the traced functions. A test looks at the classes of
 * their sites, at the bytes of the sites, and at which callbacks run.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>
#include <asm/text-patching.h>

#include "../../kallsyms_internal.h"
#include "callback.h"
#include "class.h"
#include "core.h"
#include "ftrace_kunit.h"
#include "hash.h"
#include "match.h"
#include "names.h"
#include "ops.h"
#include "plan.h"
#include "table.h"

typedef int (*test_func_t)(int arg);

static const test_func_t funcs[] = {
	ftrace_kunit_func1, ftrace_kunit_func2, ftrace_kunit_func3,
};

/* Which ops were called, in order: the letter in the ->private of each ops. */
static char called[16];
static unsigned int nr_called;
static unsigned long last_ip, last_parent;

static void test_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	if (nr_called < sizeof(called) - 1)
		called[nr_called++] = (char)(unsigned long)ops->private;
	last_ip = ip;
	last_parent = parent_ip;
}

static void test_note_other(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (nr_called < sizeof(called) - 1)
		called[nr_called++] = 'x';
}

static struct ftrace_ops ops_a = { .func = test_note, .private = (void *)'a' };
static struct ftrace_ops ops_b = { .func = test_note, .private = (void *)'b' };
static struct ftrace_ops ops_c = { .func = test_note, .private = (void *)'c' };

static const char *test_calls_of(test_func_t func)
{
	memset(called, 0, sizeof(called));
	nr_called = 0;
	func(1);
	return called;
}

static struct ftrace_site *site_of(test_func_t func, struct ftrace_table **t)
{
	return ftrace_find_site(ftrace_location((unsigned long)func), t);
}

static struct ftrace_class *class_of(test_func_t func)
{
	struct ftrace_table *t;

	return ftrace_class_nth(site_class(site_of(func, &t)));
}

static unsigned long tramp_of(test_func_t func)
{
	return class_of(func)->caller->tramp->addr;
}

static bool site_calls(test_func_t func, unsigned long target)
{
	guard(mutex)(&text_mutex);
	return arch_ftrace_site_calls(ftrace_location((unsigned long)func), target);
}

static int test_filter(struct ftrace_ops *ops, test_func_t func, bool reset)
{
	return ftrace_set_filter_ip(ops, (unsigned long)func, 0, reset);
}

static unsigned int test_nr_classes(void)
{
	unsigned int nr = 0;

	guard(mutex)(&ftrace_lock);
	for (unsigned int id = 1; id < ftrace_nr_classes(); id++)
		nr += !!ftrace_class_nth(id);
	return nr;
}

static void tables_are_sorted(struct kunit *test)
{
	struct ftrace_table *t;
	unsigned long last = 0;
	unsigned int i, nr = 0;

	guard(mutex)(&ftrace_lock);
	for_each_ftrace_table(t, i) {
		KUNIT_EXPECT_GE(test, t->start, last);
		for (unsigned int n = 0; n < t->nr; n++) {
			unsigned long ip = site_ip(t, &t->sites[n]);

			if (ip <= last || ip < t->start || ip + MCOUNT_INSN_SIZE > t->end)
				KUNIT_FAIL(test, "site %u of table %u: %lx", n, i, ip);
			last = ip;
			nr++;
		}
		last = t->end;
	}
	KUNIT_EXPECT_EQ(test, ftrace_update_tot_cnt, nr);
	KUNIT_EXPECT_EQ(test, sizeof(struct ftrace_site), 8);
}

static void sites_are_found(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)ftrace_kunit_func1);
	struct ftrace_table *t, *other;
	unsigned int i;

	KUNIT_ASSERT_NE(test, ip, 0);
	KUNIT_EXPECT_EQ(test, ftrace_location(ip), ip);
	KUNIT_EXPECT_EQ(test, ftrace_location(ip + MCOUNT_INSN_SIZE), 0);
	KUNIT_EXPECT_EQ(test, ftrace_location(0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_location(ULONG_MAX), 0);
	KUNIT_EXPECT_EQ(test, ftrace_location((unsigned long)test), 0);

	/* A range touches a site with its first or last byte. */
	KUNIT_EXPECT_EQ(test, ftrace_location_range(ip - 8, ip), ip);
	KUNIT_EXPECT_EQ(test, ftrace_location_range(ip + 4, ip + 4), ip);
	KUNIT_EXPECT_NE(test, ftrace_location_range(ip - 8, ip - 1), ip);
	KUNIT_EXPECT_NE(test, ftrace_location_range(ip + 5, ip + 5), ip);
	KUNIT_EXPECT_TRUE(test, ftrace_text_reserved((void *)ip + 2, (void *)ip + 2));

	guard(mutex)(&ftrace_lock);
	for_each_ftrace_table(t, i) {
		for (unsigned int n = 0; n < t->nr; n++) {
			struct ftrace_site *site = &t->sites[n];

			if (ftrace_find_site(site_ip(t, site), &other) != site || other != t) {
				KUNIT_FAIL(test, "site %u of table %u", n, i);
				return;
			}
		}
	}
}

/* Can the name of the symbol found be @name, and not a name with another character? */
static bool test_holds(const struct ftrace_names *names, const char *name)
{
	u32 chars = 0;

	for (const char *c = name; *c; c++)
		chars |= ftrace_name_char(*c);
	return ftrace_names_holds(names, chars) &&
	       (!~chars || !ftrace_names_holds(names, ~chars));
}

/* The walk gives each address the same name as kallsyms_lookup(). */
static void names_are_those_of_kallsyms(struct kunit *test)
{
	char name[FTRACE_NAME_ROOM], *sym, *modname;
	unsigned long size, offset;
	struct ftrace_names names;
	struct ftrace_table *t;

	sym = kunit_kzalloc(test, KSYM_NAME_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sym);

	guard(mutex)(&ftrace_lock);
	t = ftrace_table_nth(0);
	KUNIT_ASSERT_EQ(test, ftrace_names_start(&names, t), 0);
	for (unsigned int n = 0; n < kallsyms_num_syms; n++) {
		unsigned long ip = kallsyms_sym_address(n);
		const char *expected;

		if (ip < t->start || ip >= t->end)
			continue;
		if (!ftrace_names_find(&names, ip)) {
			KUNIT_FAIL(test, "no name for %lx", ip);
			break;
		}
		ftrace_names_get(&names, name);
		/* kallsyms_lookup() is slow. Names with this prefix have a long token. */
		if (n % 16 && !strstarts(name, "trace_event"))
			continue;
		expected = kallsyms_lookup(ip, &size, &offset, &modname, sym);
		if (strcmp(name, expected ?: "") || !test_holds(&names, name)) {
			KUNIT_FAIL(test, "%s is called %s", expected, name);
			break;
		}
	}
	ftrace_names_end(&names);
}

static bool test_glob(const char *pattern, const char *name)
{
	char buf[32], *search;
	struct ftrace_glob g;
	int not;

	strscpy(buf, pattern);
	g.type = filter_parse_regex(buf, strlen(buf), &search, &not);
	g.search = search;
	g.len = strlen(search);
	return ftrace_glob_match(&g, name);
}

static void globs_match(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, test_glob("vfs_read", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, test_glob("vfs_read", "vfs_readv"));
	KUNIT_EXPECT_TRUE(test, test_glob("vfs_*", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, test_glob("vfs_*", "do_vfs_read"));
	KUNIT_EXPECT_TRUE(test, test_glob("*read", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, test_glob("*read", "vfs_readv"));
	KUNIT_EXPECT_FALSE(test, test_glob("*read", "ead"));
	KUNIT_EXPECT_TRUE(test, test_glob("*fs_r*", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, test_glob("*fs_w*", "vfs_read"));
	KUNIT_EXPECT_TRUE(test, test_glob("v*d", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, test_glob("v*d", "vfs_readv"));
	KUNIT_EXPECT_TRUE(test, test_glob("vfs_?ead", "vfs_read"));
	KUNIT_EXPECT_TRUE(test, test_glob("vfs_[rw]*", "vfs_write"));
	KUNIT_EXPECT_FALSE(test, test_glob("vfs_[!rw]*", "vfs_write"));
	KUNIT_EXPECT_TRUE(test, test_glob("*", "vfs_read"));
}

static void sets_hold_sites(struct kunit *test)
{
	struct ftrace_hash *set = ftrace_hash_alloc(), *copy;
	struct ftrace_ops_hash both = { };
	unsigned long ip;
	char all[] = "ftrace_kunit_func*", one[] = "ftrace_kunit_func2", none[] = "no_such*";

	KUNIT_ASSERT_NOT_NULL(test, set);
	KUNIT_EXPECT_EQ(test, ftrace_hash_match(set, none, NULL), 0);
	KUNIT_EXPECT_EQ(test, ftrace_hash_match(set, all, NULL), 4);
	KUNIT_EXPECT_EQ(test, set->count, 4);
	KUNIT_EXPECT_EQ(test, ftrace_hash_unmatch(set, one, NULL), 1);
	KUNIT_EXPECT_EQ(test, set->count, 3);
	ip = ftrace_location((unsigned long)ftrace_kunit_func2);
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(set, ip));

	copy = ftrace_hash_dup(set);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_EQ(test, copy->count, 3);
	KUNIT_EXPECT_EQ(test, ftrace_hash_add(copy, 42), 0);
	KUNIT_EXPECT_EQ(test, ftrace_hash_add(copy, 42), 0);
	KUNIT_EXPECT_EQ(test, copy->count, 4);
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(set, 42));

	for (ip = 1000; ip < 2000; ip++)
		KUNIT_ASSERT_EQ(test, ftrace_hash_add(copy, ip), 0);
	KUNIT_EXPECT_EQ(test, copy->count, 1004);
	KUNIT_EXPECT_GE(test, 4 << copy->size_bits, 1004);
	for (ip = 1000; ip < 2000; ip++)
		KUNIT_ASSERT_NOT_NULL(test, ftrace_lookup_ip(copy, ip));
	KUNIT_EXPECT_NOT_NULL(test, ftrace_lookup_ip(copy, 42));

	/* An empty filter wants all sites; notrace_hash takes precedence. */
	KUNIT_EXPECT_TRUE(test, ftrace_hash_wants(&both, 42));
	RCU_INIT_POINTER(both.filter_hash, set);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_wants(&both, 42));
	RCU_INIT_POINTER(both.filter_hash, copy);
	KUNIT_EXPECT_TRUE(test, ftrace_hash_wants(&both, 42));
	RCU_INIT_POINTER(both.notrace_hash, copy);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_wants(&both, 42));

	ftrace_hash_free(set);
	ftrace_hash_free(copy);
}

static void one_ops_is_called(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)ftrace_kunit_func1);

	KUNIT_ASSERT_EQ(test, test_filter(&ops_a, ftrace_kunit_func1, true), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, 0));

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "a");
	KUNIT_EXPECT_EQ(test, last_ip, ip);
	KUNIT_EXPECT_EQ(test, ftrace_location(last_parent), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "");
	KUNIT_EXPECT_EQ(test, class_of(ftrace_kunit_func1)->nr, 1);
	KUNIT_EXPECT_EQ(test, class_of(ftrace_kunit_func1)->users, 1);
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, tramp_of(ftrace_kunit_func1)));
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(tramp_of(ftrace_kunit_func1)));
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), -EBUSY);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, 0));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), -EBUSY);
	ftrace_free_filter(&ops_a);
}

/* A set of ops is one class, in any order the ops are registered and unregistered. */
static void sets_of_ops_are_classes(struct kunit *test)
{
	unsigned int before = test_nr_classes();
	struct ftrace_class *abc;

	for (int i = 0; i < ARRAY_SIZE(funcs); i++) {
		KUNIT_ASSERT_EQ(test, test_filter(&ops_a, funcs[i], !i), 0);
		KUNIT_ASSERT_EQ(test, test_filter(&ops_b, funcs[i], !i), 0);
	}
	KUNIT_ASSERT_EQ(test, test_filter(&ops_c, ftrace_kunit_func2, true), 0);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_EQ(test, test_nr_classes(), before + 1);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_c), 0);
	KUNIT_EXPECT_EQ(test, test_nr_classes(), before + 2);

	abc = class_of(ftrace_kunit_func2);
	KUNIT_EXPECT_EQ(test, abc->nr, 3);
	KUNIT_EXPECT_EQ(test, abc->users, 1);
	KUNIT_EXPECT_PTR_EQ(test, class_of(ftrace_kunit_func1), class_of(ftrace_kunit_func3));
	KUNIT_EXPECT_EQ(test, class_of(ftrace_kunit_func1)->users, 2);

	/* The youngest first. */
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "ba");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "cba");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "ca");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func3), "a");

	/* A change of a filter moves only the sites of the filter. */
	KUNIT_EXPECT_EQ(test, test_filter(&ops_c, ftrace_kunit_func3, true), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "a");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "a");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func3), "ca");
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops_a, "ftrace_kunit_func3", 18, 0), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func3), "c");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "a");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_c), 0);
	KUNIT_EXPECT_EQ(test, test_nr_classes(), before);
	for (int i = 0; i < ARRAY_SIZE(funcs); i++)
		KUNIT_EXPECT_TRUE(test, site_calls(funcs[i], 0));
	ftrace_free_filter(&ops_a);
	ftrace_free_filter(&ops_b);
	ftrace_free_filter(&ops_c);
}

static void callbacks_can_change(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, test_filter(&ops_a, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, test_filter(&ops_b, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_b), 0);

	scoped_guard(mutex, &ftrace_lock)
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(&ops_a, test_note_other), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "bx");
	scoped_guard(mutex, &ftrace_lock)
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(&ops_a, test_note), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "ba");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	ftrace_free_filter(&ops_a);
	ftrace_free_filter(&ops_b);
}

/* If one site cannot be part of a plan, the plan changes no site. */
static void conflict_changes_nothing(struct kunit *test)
{
	static struct ftrace_ops first = {
		.func = test_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'f',
	};
	static struct ftrace_ops second = {
		.func = test_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'s',
	};
	unsigned int before = test_nr_classes();

	KUNIT_ASSERT_EQ(test, test_filter(&first, ftrace_kunit_func2, true), 0);
	for (int i = 0; i < ARRAY_SIZE(funcs); i++)
		KUNIT_ASSERT_EQ(test, test_filter(&second, funcs[i], !i), 0);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&first), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&second), -EBUSY);
	KUNIT_EXPECT_EQ(test, second.flags & FTRACE_OPS_FL_ENABLED, 0);
	KUNIT_EXPECT_EQ(test, test_nr_classes(), before + 1);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "f");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func3), "");

	/* The same by a change of filter. */
	KUNIT_ASSERT_EQ(test, test_filter(&second, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&second), 0);
	KUNIT_EXPECT_EQ(test, test_filter(&second, ftrace_kunit_func2, false), -EBUSY);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "f");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "s");

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&first), 0);
	KUNIT_EXPECT_EQ(test, test_filter(&second, ftrace_kunit_func2, false), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "s");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&second), 0);
	KUNIT_EXPECT_EQ(test, test_nr_classes(), before);
	ftrace_free_filter(&first);
	ftrace_free_filter(&second);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
static unsigned long asked;
static int answer;

static int note_command(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
{
	asked |= BIT(cmd);
	return answer;
}

/*
 * An ops that changes the instruction pointer shares a function with a direct caller
 * that agrees.
 */
static void direct_callers_are_asked(struct kunit *test)
{
	const unsigned long stub = (unsigned long)ftrace_stub_direct_tramp;
	static struct ftrace_ops direct = { .ops_func = note_command };
	static struct ftrace_ops redirect = {
		.func = test_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
		.private = (void *)'r',
	};
	static struct ftrace_ops rival = {
		.func = test_note,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
	};

	KUNIT_ASSERT_EQ(test, test_filter(&direct, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, stub));
	KUNIT_ASSERT_EQ(test, test_filter(&redirect, ftrace_kunit_func1, true), 0);

	answer = -EAGAIN;
	asked = 0;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), -EAGAIN);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, stub));

	answer = 0;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "r");

	/* An ops that cannot share the function must not end the sharing of the others. */
	asked = 0;
	KUNIT_ASSERT_EQ(test, test_filter(&rival, ftrace_kunit_func1, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&rival), -EBUSY);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER));

	/* Switching tracing off and on asks no owner, and no ops is added meanwhile. */
	asked = 0;
	answer = -EBUSY;
	scoped_guard(mutex, &ftrace_lock)
		KUNIT_EXPECT_EQ(test, ftrace_set_enabled(false), 0);
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, 0));
	KUNIT_EXPECT_EQ(test, test_filter(&redirect, ftrace_kunit_func3, false), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&redirect, (unsigned long)ftrace_kunit_func3,
						   1, 0), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&rival), -EBUSY);
	KUNIT_EXPECT_EQ(test, test_filter(&rival, ftrace_kunit_func2, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&rival), 0);
	KUNIT_EXPECT_EQ(test, test_filter(&rival, ftrace_kunit_func1, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&rival), 0);
	scoped_guard(mutex, &ftrace_lock)
		KUNIT_EXPECT_EQ(test, ftrace_set_enabled(true), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "r");
	KUNIT_EXPECT_EQ(test, asked, 0);
	answer = 0;
	ftrace_free_filter(&rival);

	asked = 0;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_EQ(test, asked, BIT(FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER));
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, stub));

	/* A change of filter cannot ask the owner. */
	KUNIT_ASSERT_EQ(test, test_filter(&redirect, ftrace_kunit_func2, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&redirect), 0);
	KUNIT_EXPECT_EQ(test, test_filter(&redirect, ftrace_kunit_func1, false), -EBUSY);
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, stub));
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "r");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&redirect), 0);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, stub, true), 0);
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func1, 0));
	ftrace_free_filter(&redirect);
}
#endif

static void bad_input_is_refused(struct kunit *test)
{
	static struct ftrace_ops none = { };
	static struct ftrace_ops deleted = { .func = test_note, .flags = FTRACE_OPS_FL_DELETED };
	unsigned long ips[] = {
		(unsigned long)ftrace_kunit_func1, (unsigned long)test,
	};

	KUNIT_EXPECT_EQ(test, register_ftrace_function(&none), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&deleted), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, "no_such_function", 16, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, "", 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops_a, ips, 2, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&ops_a, ips[0], 1, 0), -ENOENT);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(ops_a.func_hash->filter_hash));
}

/* A nop of the same length as that of a site, but with other bytes. */
static const u8 strange[] = { 0x0f, 0x1f, 0x44, 0x00, 0x08 };

static void write_site(test_func_t func, const u8 *bytes)
{
	guard(mutex)(&text_mutex);
	text_poke((void *)ftrace_location((unsigned long)func), bytes, MCOUNT_INSN_SIZE);
}

static bool site_holds(test_func_t func, const u8 *bytes)
{
	return !memcmp((void *)ftrace_location((unsigned long)func), bytes, MCOUNT_INSN_SIZE);
}

static bool site_failed(test_func_t func)
{
	struct ftrace_table *t;

	return site_of(func, &t)->state & SITE_FAILED;
}

/* Only a test does this: let the core use the site again. */
static void site_mend(test_func_t func, const u8 *bytes)
{
	struct ftrace_table *t;

	write_site(func, bytes);
	guard(mutex)(&ftrace_lock);
	site_of(func, &t)->state &= SITE_CLASS_MASK;
}

/* A site with unexpected bytes is not changed, and all other sites go on working. */
static void bad_site_is_left_alone(struct kunit *test)
{
	struct ftrace_class *before = class_of(ftrace_kunit_func4);
	u8 bytes[MCOUNT_INSN_SIZE];

	memcpy(bytes, (void *)ftrace_location((unsigned long)ftrace_kunit_func4), sizeof(bytes));
	write_site(ftrace_kunit_func4, strange);

	/* Named: an error, also for the other functions. This is the first check of the site. */
	KUNIT_EXPECT_EQ(test, test_filter(&ops_a, ftrace_kunit_func4, true), 0);
	KUNIT_EXPECT_EQ(test, test_filter(&ops_a, ftrace_kunit_func1, false), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), -EINVAL);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "");

	/* By a glob: the other functions are traced. */
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops_a, "ftrace_kunit_func*", 18, 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "a");
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func4), "");
	KUNIT_EXPECT_TRUE(test, site_failed(ftrace_kunit_func4));
	KUNIT_EXPECT_PTR_EQ(test, class_of(ftrace_kunit_func4), before);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);

	/* Named: still an error. */
	KUNIT_EXPECT_EQ(test, test_filter(&ops_a, ftrace_kunit_func4, true), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), -EINVAL);
	KUNIT_EXPECT_EQ(test, test_filter(&ops_a, ftrace_kunit_func1, false), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_a), -EINVAL);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func1), "");

	KUNIT_EXPECT_TRUE(test, site_holds(ftrace_kunit_func4, strange));
	site_mend(ftrace_kunit_func4, bytes);
	ftrace_free_filter(&ops_a);
}

/*
 * A site gets unexpected bytes while it calls a trampoline. The writer of the bytes
 * may put the call back, even when the ops was unregistered. All other sites can be
 * changed meanwhile.
 */
static void bad_site_keeps_its_trampoline(struct kunit *test)
{
	unsigned int before = test_nr_classes();
	u8 call[MCOUNT_INSN_SIZE];

	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops_a, "ftrace_kunit_func*", 18, 1), 0);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops_b, "ftrace_kunit_func4*", 19, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func4), "a");
	memcpy(call, (void *)ftrace_location((unsigned long)ftrace_kunit_func4), sizeof(call));
	write_site(ftrace_kunit_func4, strange);

	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_TRUE(test, site_failed(ftrace_kunit_func4));
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops_a, "ftrace_kunit_func2", 18, 1), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "a");
	scoped_guard(mutex, &ftrace_lock) {
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(&ops_a, test_note_other), 0);
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(&ops_a, test_note), 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_enabled(false), 0);
		KUNIT_EXPECT_EQ(test, ftrace_set_enabled(true), 0);
	}
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func2), "a");
	KUNIT_EXPECT_TRUE(test, site_holds(ftrace_kunit_func4, strange));
	write_site(ftrace_kunit_func4, call);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func4), "a");
	write_site(ftrace_kunit_func4, strange);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_a), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	/* Meanwhile trampolines that no site calls are freed. */
	ftrace_wait_callbacks();
	msleep(100);
	write_site(ftrace_kunit_func4, call);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func4), "");
	KUNIT_EXPECT_EQ(test, class_of(ftrace_kunit_func4)->nr, 0);
	KUNIT_EXPECT_EQ(test, test_nr_classes(), before + 1);

	site_mend(ftrace_kunit_func4, call);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_STREQ(test, test_calls_of(ftrace_kunit_func4), "b");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops_b), 0);
	KUNIT_EXPECT_TRUE(test, site_calls(ftrace_kunit_func4, 0));
	KUNIT_EXPECT_EQ(test, test_nr_classes(), before);
	ftrace_free_filter(&ops_a);
	ftrace_free_filter(&ops_b);
}

/* Thousands of tables are added and removed. Removed tables leave nothing behind. */
static void tables_come_and_go(struct kunit *test)
{
	static struct ftrace_table *table[2000];
	unsigned int i, failed = 0, found = 0, before = ftrace_nr_sites();
	struct ftrace_table *t;

	guard(mutex)(&ftrace_lock);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		table[i] = kzalloc(sizeof(*t), GFP_KERNEL | __GFP_NOFAIL);
		table[i]->sites = vmalloc(PAGE_SIZE);
		/* At addresses that nothing else uses, in no order. */
		table[i]->start = PAGE_SIZE * (1 + i * 7 % ARRAY_SIZE(table));
		table[i]->end = table[i]->start + PAGE_SIZE;
		table[i]->sites[0] = (struct ftrace_site){ .off = 16 };
		table[i]->nr = 1;
		failed += !!ftrace_tables_add(table[i]);
	}
	KUNIT_EXPECT_EQ(test, failed, 0);
	for (i = 0; i < ARRAY_SIZE(table); i++)
		found += ftrace_location(table[i]->start + 16) == table[i]->start + 16;
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(table));

	found = 0;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unsigned long ip = table[i]->start + 16;

		ftrace_tables_drop(table[i]);
		found += !!ftrace_location(ip);
	}
	KUNIT_EXPECT_EQ(test, found, 0);
	KUNIT_EXPECT_EQ(test, ftrace_nr_sites(), before);

	/* The next table that is added replaces them. */
	t = kzalloc(sizeof(*t), GFP_KERNEL | __GFP_NOFAIL);
	t->sites = vmalloc(PAGE_SIZE);
	t->start = PAGE_SIZE;
	t->end = 2 * PAGE_SIZE;
	t->nr = 1;
	KUNIT_EXPECT_EQ(test, ftrace_tables_add(t), 0);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_table_nth(0), t);
	KUNIT_EXPECT_GT(test, ftrace_table_nth(1)->nr, 0);
	ftrace_tables_drop(t);
}

/* The address of a name is that of kallsyms; the site may be behind an ENDBR. */
static void names_are_looked_up(struct kunit *test)
{
	const char *names[2];
	unsigned long addrs[2];

	names[0] = "ftrace_kunit_func1";
	names[1] = "ftrace_kunit_func3";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), 0);
	KUNIT_EXPECT_EQ(test, addrs[0], kallsyms_lookup_name(names[0]));
	KUNIT_EXPECT_EQ(test, addrs[1], kallsyms_lookup_name(names[1]));
	names[1] = "no_such_function";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);
	names[1] = "__start_mcount_loc";
	swap(names[0], names[1]);
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(names, 2, addrs), -ESRCH);
}

static void disabled_is_nop_everywhere(struct kunit *test)
{
	struct ftrace_table *t;
	unsigned int i, bad = 0;

	guard(mutex)(&ftrace_lock);
	guard(mutex)(&text_mutex);
	for_each_ftrace_table(t, i)
		for (unsigned int n = 0; n < t->nr; n++)
			if (!site_class(&t->sites[n]))
				bad += !arch_ftrace_site_calls(site_ip(t, &t->sites[n]), 0);
	KUNIT_EXPECT_EQ(test, bad, 0);
}

/* Restore the flags of the sites, so that the listing files do not show the tests. */
static void test_forget(struct kunit_suite *suite)
{
	static const test_func_t all[] = {
		ftrace_kunit_func1, ftrace_kunit_func2, ftrace_kunit_func3,
		ftrace_kunit_func4,
	};

	guard(mutex)(&ftrace_lock);
	for (int i = 0; i < ARRAY_SIZE(all); i++) {
		struct ftrace_table *t;

		site_of(all[i], &t)->state &= SITE_CLASS_MASK;
	}
}

static struct kunit_case ftrace_cases[] = {
	KUNIT_CASE(tables_are_sorted),
	KUNIT_CASE(sites_are_found),
	KUNIT_CASE(names_are_those_of_kallsyms),
	KUNIT_CASE(globs_match),
	KUNIT_CASE(sets_hold_sites),
	KUNIT_CASE(one_ops_is_called),
	KUNIT_CASE(sets_of_ops_are_classes),
	KUNIT_CASE(callbacks_can_change),
	KUNIT_CASE(conflict_changes_nothing),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(direct_callers_are_asked),
#endif
	KUNIT_CASE(bad_input_is_refused),
	KUNIT_CASE(bad_site_is_left_alone),
	KUNIT_CASE(bad_site_keeps_its_trampoline),
	KUNIT_CASE(tables_come_and_go),
	KUNIT_CASE(names_are_looked_up),
	KUNIT_CASE(disabled_is_nop_everywhere),
	{ }
};

static struct kunit_suite ftrace_suite = {
	.name = "ftrace_core",
	.test_cases = ftrace_cases,
	.suite_exit = test_forget,
};

kunit_test_suite(ftrace_suite);
