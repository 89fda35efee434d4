// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of names: the name of an address, and the address of a name. */
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>

#include "../../../kallsyms_internal.h"
#include "../core.h"
#include "ftrace_kunit.h"
#include "../names.h"
#include "../table.h"

static bool names_have_alias(unsigned int n, unsigned long ip)
{
	return n + 1 < kallsyms_num_syms && kallsyms_sym_address(n + 1) == ip;
}

/* kallsyms_lookup() is slow. Names with this prefix have a long token. */
static bool names_are_compared(unsigned int n, unsigned long ip, const char *name)
{
	return n % 16 == 0 || names_have_alias(n, ip) || strstarts(name, "trace_event");
}

/*
 * The characters of the name found are held; the characters that the name lacks are not.
 * No name has all but one of the characters.
 */
static bool names_chars_are_held(const struct ftrace_names *names, const char *name)
{
	u32 chars = 0;

	for (const char *c = name; *c; c++)
		chars |= ftrace_name_char(*c);
	return ftrace_names_holds(names, chars) && !ftrace_names_holds(names, ~chars);
}

/* The name that the walk is at is that of kallsyms. */
static bool names_are_same(struct kunit *test, struct ftrace_names *names, unsigned long ip,
			   const char *name, char *sym)
{
	unsigned long size, offset;
	char *modname;
	const char *expected = kallsyms_lookup(ip, &size, &offset, &modname, sym);

	if (!strcmp(name, expected ?: "") && names_chars_are_held(names, name))
		return true;
	KUNIT_FAIL(test, "%s is called %s", expected, name);
	return false;
}

/* The walk gives each address the same name as kallsyms_lookup(). */
static void names_are_those_of_kallsyms(struct kunit *test)
{
	char *sym = kunit_kzalloc(test, KSYM_NAME_LEN, GFP_KERNEL);
	unsigned int compared = 0, aliases = 0;
	char name[FTRACE_NAME_ROOM];
	struct ftrace_names names;
	struct ftrace_table *t;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, sym);

	guard(mutex)(&ftrace_lock);
	/* Not by its number: tables that are gone can be before the table of the kernel. */
	t = ftrace_table_of((unsigned long)ftrace_kunit_func1);
	ret = ftrace_names_start(&names, t->mod, t->start, t->end);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (ret)
		return;
	for (unsigned int n = 0; n < kallsyms_num_syms; n++) {
		unsigned long ip = kallsyms_sym_address(n);

		if (ip < t->start || ip >= t->end)
			continue;
		if (!ftrace_names_find(&names, ip)) {
			KUNIT_FAIL(test, "no name for %lx", ip);
			break;
		}
		ftrace_names_get(&names, name);
		if (!names_are_compared(n, ip, name))
			continue;
		if (!names_are_same(test, &names, ip, name, sym))
			break;
		compared++;
		aliases += names_have_alias(n, ip);
	}
	ftrace_names_end(&names);
	KUNIT_EXPECT_GT(test, compared, 100);
	KUNIT_EXPECT_GT(test, aliases, 0);
}

/* A walk may begin anywhere in the text. */
static void walks_begin_anywhere(struct kunit *test)
{
	static const test_func_t funcs[] = {
		ftrace_kunit_func1, ftrace_kunit_func2, ftrace_kunit_func3, ftrace_kunit_func4,
	};
	char name[FTRACE_NAME_ROOM], want[] = "ftrace_kunit_func1";

	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(funcs); i++) {
		unsigned long ip = (unsigned long)funcs[i];
		struct ftrace_table *t = ftrace_table_of(ip);
		struct ftrace_names names;

		want[sizeof(want) - 2] = '1' + i;
		if (ftrace_names_start(&names, t->mod, ip, t->end)) {
			KUNIT_FAIL(test, "no memory");
			break;
		}
		KUNIT_EXPECT_TRUE(test, ftrace_names_find(&names, ip));
		KUNIT_EXPECT_EQ(test, names.addr, ip);
		ftrace_names_get(&names, name);
		KUNIT_EXPECT_STREQ(test, name, want);
		ftrace_names_end(&names);
	}
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

static struct kunit_case names_cases[] = {
	KUNIT_CASE(names_are_those_of_kallsyms),
	KUNIT_CASE(walks_begin_anywhere),
	KUNIT_CASE(names_are_looked_up),
	{ }
};

static struct kunit_suite names_suite = {
	.name = "ftrace_names",
	.exit = ftrace_kunit_exit,
	.test_cases = names_cases,
};

kunit_test_suite(names_suite);
