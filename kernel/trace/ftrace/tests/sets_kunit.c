// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of sets: globs, which choose functions, and hashes, which keep functions. */
#include "../core.h"
#include "ftrace_kunit.h"
#include "../hash.h"
#include "../match.h"
#include "../wants.h"

static bool sets_glob(const char *pattern, const char *name)
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
	KUNIT_EXPECT_TRUE(test, sets_glob("vfs_read", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, sets_glob("vfs_read", "vfs_readv"));
	KUNIT_EXPECT_TRUE(test, sets_glob("vfs_*", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, sets_glob("vfs_*", "do_vfs_read"));
	KUNIT_EXPECT_TRUE(test, sets_glob("*read", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, sets_glob("*read", "vfs_readv"));
	KUNIT_EXPECT_FALSE(test, sets_glob("*read", "ead"));
	KUNIT_EXPECT_TRUE(test, sets_glob("*fs_r*", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, sets_glob("*fs_w*", "vfs_read"));
	KUNIT_EXPECT_TRUE(test, sets_glob("v*d", "vfs_read"));
	KUNIT_EXPECT_FALSE(test, sets_glob("v*d", "vfs_readv"));
	KUNIT_EXPECT_TRUE(test, sets_glob("vfs_?ead", "vfs_read"));
	KUNIT_EXPECT_TRUE(test, sets_glob("vfs_[rw]*", "vfs_write"));
	KUNIT_EXPECT_FALSE(test, sets_glob("vfs_[!rw]*", "vfs_write"));
	KUNIT_EXPECT_TRUE(test, sets_glob("*", "vfs_read"));
}

KUNIT_DEFINE_ACTION_WRAPPER(sets_free, ftrace_hash_free, struct ftrace_hash *);

/* A set, which is freed when the case ends. */
static void sets_add(struct kunit *test, struct ftrace_hash *set)
{
	KUNIT_ASSERT_NOT_NULL(test, set);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, sets_free, set), 0);
}

static int sets_match(struct ftrace_hash *set, char *glob)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_hash_match(set, glob, NULL, false);
}

static int sets_unmatch(struct ftrace_hash *set, char *glob)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_hash_match(set, glob, NULL, true);
}

static void sets_hold_sites(struct kunit *test)
{
	struct ftrace_hash *set = ftrace_hash_alloc(), *copy, *rest;
	struct ftrace_ops_hash both = { };
	unsigned long ip;
	char all[] = "ftrace_kunit_func*", one[] = "ftrace_kunit_func2", none[] = "no_such*";

	sets_add(test, set);
	KUNIT_EXPECT_EQ(test, sets_match(set, none), 0);
	KUNIT_EXPECT_EQ(test, sets_match(set, all), 4);
	KUNIT_EXPECT_EQ(test, set->count, 4);
	KUNIT_EXPECT_EQ(test, sets_unmatch(set, one), 1);
	KUNIT_EXPECT_EQ(test, set->count, 3);
	ip = ftrace_location((unsigned long)ftrace_kunit_func2);
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(set, ip));

	copy = ftrace_hash_dup(set);
	sets_add(test, copy);
	KUNIT_EXPECT_EQ(test, copy->count, 3);
	KUNIT_EXPECT_EQ(test, ftrace_hash_add(copy, 42, false), 0);
	KUNIT_EXPECT_EQ(test, ftrace_hash_add(copy, 42, false), 0);
	KUNIT_EXPECT_EQ(test, copy->count, 4);
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(set, 42));

	for (ip = 1000; ip < 2000; ip++)
		KUNIT_ASSERT_EQ(test, ftrace_hash_add(copy, ip, false), 0);
	KUNIT_EXPECT_EQ(test, copy->count, 1004);
	KUNIT_EXPECT_GE(test, 4 << copy->size_bits, 1004);
	for (ip = 1000; ip < 2000; ip++)
		KUNIT_ASSERT_NOT_NULL(test, ftrace_lookup_ip(copy, ip));
	KUNIT_EXPECT_NOT_NULL(test, ftrace_lookup_ip(copy, 42));
	rest = ftrace_hash_dup(copy);
	sets_add(test, rest);
	ftrace_hash_subtract(rest, copy);
	KUNIT_EXPECT_EQ(test, rest->count, 0);

	/* An empty filter wants all sites; notrace_hash takes precedence. */
	KUNIT_EXPECT_TRUE(test, ftrace_hash_wants(&both, 42));
	RCU_INIT_POINTER(both.filter_hash, set);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_wants(&both, 42));
	RCU_INIT_POINTER(both.filter_hash, copy);
	KUNIT_EXPECT_TRUE(test, ftrace_hash_wants(&both, 42));
	RCU_INIT_POINTER(both.notrace_hash, copy);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_wants(&both, 42));
}

/* A set whose functions were unloaded is a set of no function, until functions are added. */
static void unloaded_functions_are_not_all(struct kunit *test)
{
	struct ftrace_hash *set = ftrace_hash_alloc(), *more = ftrace_hash_alloc(), *copy;

	sets_add(test, set);
	sets_add(test, more);
	KUNIT_EXPECT_EQ(test, ftrace_hash_add(set, 42, false), 0);
	scoped_guard(mutex, &ftrace_lock)
		ftrace_hash_forget(set, 42, 43);
	KUNIT_EXPECT_EQ(test, set->count, 0);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_empty(set));
	copy = ftrace_hash_dup(set);
	sets_add(test, copy);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_empty(copy));
	KUNIT_ASSERT_EQ(test, ftrace_hash_add(copy, 43, false), 0);
	ftrace_hash_del(copy, ftrace_lookup_ip(copy, 43));
	KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(copy));
	/* Functions that a glob adds count as well. */
	copy = ftrace_hash_dup(set);
	sets_add(test, copy);
	ftrace_hash_merge(copy, more);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_empty(copy));
	KUNIT_ASSERT_EQ(test, ftrace_hash_add(more, 44, false), 0);
	ftrace_hash_merge(copy, more);
	KUNIT_ASSERT_EQ(test, copy->count, 1);
	ftrace_hash_del(copy, ftrace_lookup_ip(copy, 44));
	KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(copy));
}

static struct kunit_case sets_cases[] = {
	KUNIT_CASE(globs_match),
	KUNIT_CASE(sets_hold_sites),
	KUNIT_CASE(unloaded_functions_are_not_all),
	{ }
};

static struct kunit_suite sets_suite = {
	.name = "ftrace_sets",
	.exit = ftrace_kunit_exit,
	.test_cases = sets_cases,
};

kunit_test_suite(sets_suite);
