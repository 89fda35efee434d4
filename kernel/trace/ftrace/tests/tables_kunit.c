// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of tables: all sites are in order and found, and tables come and go. */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>

#include "../core.h"
#include "ftrace_kunit.h"
#include "../table.h"

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
	KUNIT_EXPECT_EQ(test, ftrace_location_range(ip + MCOUNT_INSN_SIZE - 1,
						    ip + MCOUNT_INSN_SIZE - 1), ip);
	KUNIT_EXPECT_NE(test, ftrace_location_range(ip - 8, ip - 1), ip);
	KUNIT_EXPECT_NE(test, ftrace_location_range(ip + MCOUNT_INSN_SIZE,
						    ip + MCOUNT_INSN_SIZE), ip);
	KUNIT_EXPECT_TRUE(test, ftrace_text_reserved((void *)ip + 2, (void *)ip + 2));

	guard(mutex)(&ftrace_lock);
	for_each_ftrace_table(t, i) {
		for (unsigned int n = 0; n < t->nr; n++) {
			struct ftrace_site *site = &t->sites[n];

			if (ftrace_find_site(site_ip(t, site), &other) != site || other != t ||
			    ftrace_find_site(site_ip(t, site) + 1, &other)) {
				KUNIT_FAIL(test, "site %u of table %u", n, i);
				return;
			}
		}
	}
}

static struct ftrace_table *table_make(unsigned long start)
{
	struct ftrace_table *t = kzalloc(sizeof(*t), GFP_KERNEL | __GFP_NOFAIL);

	t->sites = ftrace_sites_alloc(1);
	t->sites[0] = (struct ftrace_site){ .off = 16 };
	t->nr = 1;
	t->start = start;
	t->end = start + PAGE_SIZE;
	return t;
}

/* Thousands of tables are added and removed. Removed tables leave nothing behind. */
static void tables_come_and_go(struct kunit *test)
{
	static struct ftrace_table *table[2000];
	unsigned int i, before, failed = 0, found = 0;
	struct ftrace_table *t;

	guard(mutex)(&ftrace_lock);
	before = ftrace_nr_sites();
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		/* At addresses that nothing else uses, in no order. */
		table[i] = table_make(PAGE_SIZE * (1 + i * 7 % ARRAY_SIZE(table)));
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
	t = table_make(PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, ftrace_tables_add(t), 0);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_table_nth(0), t);
	KUNIT_EXPECT_GT(test, ftrace_table_nth(1)->nr, 0);
	ftrace_tables_drop(t);
}

static struct kunit_case tables_cases[] = {
	KUNIT_CASE(tables_are_sorted),
	KUNIT_CASE(sites_are_found),
	KUNIT_CASE(tables_come_and_go),
	{ }
};

static struct kunit_suite tables_suite = {
	.name = "ftrace_tables",
	.exit = ftrace_kunit_exit,
	.test_cases = tables_cases,
};

kunit_test_suite(tables_suite);
