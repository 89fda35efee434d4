// SPDX-License-Identifier: GPL-2.0-only
/* Which functions a word of a filter names: a name, a glob, a number, an address. */

#include "tests.h"
#include "ftrace/hash.h"

#define FILTER		"set_ftrace_filter"

static char list[1 << 16], want[512];

static int words_init(struct kunit *test)
{
	native_mod_setup();
	return 0;
}

static void words_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_TRUNC, ""), 0);
	ftrace_kunit_exit(test);
}

static void expect(struct kunit *test, const char *word, const char *functions)
{
	KUNIT_EXPECT_EQ_MSG(test, native_echo(FILTER, O_TRUNC, word), functions ? 0 : -EINVAL, "%s", word);
	if (functions)
		native_expect_file(test, FILTER, functions);
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_TRUNC, ""), 0);
}

#define FUNC		"native_func_"

SUITE(words, words_init, words_exit);

CASE(globs_name_functions)
{
	static const char * const tests[][2] = {
		{ FUNC "201", FUNC "201\n" },
		{ FUNC "201*", FUNC "201\n" },
		{ FUNC "20", NULL },
		{ "*" FUNC "201", FUNC "201\n" },
		{ "*x" FUNC "201", NULL },
		{ "*_func_201*", FUNC "201\n" },
		{ "*e_func_201x*", NULL },
		{ "*" FUNC "201*", FUNC "201\n" },
		{ "na*ve_func_20[12]", FUNC "201\n" FUNC "202\n" },
		{ "na*ve_f*_201", FUNC "201\n" },
		{ "native_?unc_201", FUNC "201\n" },
		{ "nat?ve_func_20?", FUNC "200\n" FUNC "201\n" FUNC "202\n" FUNC "203\n" FUNC "204\n"
		  FUNC "205\n" FUNC "206\n" FUNC "207\n" FUNC "208\n" FUNC "209\n" },
		{ "*[f]unc_201", FUNC "201\n" },
		{ "native\\_f?nc_201", FUNC "201\n" },
		{ "native_f?nc_201x", NULL },
		{ "native_func_2?12", NULL },
		{ "!nosuch", NULL },
		{ "!!native_func_201", NULL },
		{ "_func_201", NULL },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
		expect(test, tests[i][0], tests[i][1]);
}

/* The n-th line of available_filter_functions, and how many there are. */
static const char *line_of(unsigned int n)
{
	const char *line = list;

	while (--n && (line = strchr(line, '\n')))
		line++;
	snprintf(want, sizeof(want), "%.*s", (int)(strchr(line, '\n') - line + 1), line);
	return want;
}

static unsigned int nr_lines(void)
{
	unsigned int nr = 0;

	native_cat("available_filter_functions", list, sizeof(list), 4096);
	for (const char *line = list; (line = strchr(line, '\n')); line++)
		nr++;
	return nr;
}

static void expect_number(struct kunit *test, unsigned int n, bool is_there)
{
	char word[16];

	snprintf(word, sizeof(word), "%u", n);
	expect(test, word, is_there ? line_of(n) : NULL);
}

/* The number of a line of available_filter_functions. */
CASE(numbers_name_functions)
{
	unsigned int nr = nr_lines(), more;

	expect(test, "0", NULL);
	expect(test, "00", NULL);
	expect_number(test, 1, true);
	expect_number(test, 2, true);
	expect_number(test, nr, true);
	expect_number(test, nr + 1, false);
	native_mod_load();
	more = nr_lines();
	KUNIT_EXPECT_EQ(test, more, nr + NATIVE_MOD_INIT);
	for (unsigned int n = nr - 1; n <= more; n++)
		expect_number(test, n, true);
	expect_number(test, more + 1, false);
	native_mod_release();
	/* Not yet live. */
	native_mod_init(true);
	expect_number(test, nr + 1, false);
	native_mod_release();
	expect(test, "3x", NULL);
}

static void expect_address(struct kunit *test, unsigned long addr, const char *functions)
{
	char word[24];

	snprintf(word, sizeof(word), "0x%lx", addr);
	expect(test, word, functions);
}

CASE(addresses_name_functions)
{
	unsigned long addr = (unsigned long)native_funcs[101];

	expect_address(test, addr, FUNC "201\n");
	expect_address(test, ftrace_location(addr), FUNC "201\n");
	expect_address(test, addr + 200000000, NULL);
	native_mod_load();
	expect_address(test, native_mod_ips[2], "native_mod_2 [native_mod]\n");
	native_mod_release();
	expect_address(test, native_mod_ips[2], NULL);
}

/* Which modules `:mod:' names. */
CASE(words_name_modules)
{
	static const char * const tests[][2] = {
		{ "native_mod_1:mod:native_mod", "native_mod_1 [native_mod]\n" },
		{ "native_mod_[12]:mod:native*", "native_mod_1 [native_mod]\nnative_mod_2 [native_mod]\n" },
		{ "*_1:mod:*", "native_mod_1 [native_mod]\n" },
		{ "*_1:mod:", "native_mod_1 [native_mod]\n" },
		{ "*_201:mod:!native_mod", FUNC "201\n" },
		{ FUNC "201:mod:!native_mod", FUNC "201\n" },
		{ "native_mod_1:mod:!native_mod", NULL },
		{ "native_mod_:mod:native_mod", NULL },
		{ "native_mod_1:mod:!other", "native_mod_1 [native_mod]\n" },
		{ FUNC "201:mod:native_mod", NULL },
		{ "ative_mod_1:mod:native_mod", NULL },
		{ "*_1:mod:*_mod", "native_mod_1 [native_mod]\n" },
		{ "*_1:mod:*live*", NULL },
	};

	native_mod_load();
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
		expect(test, tests[i][0], tests[i][1]);
	expect(test, ":mod:native_mod", "native_mod_0 [native_mod]\nnative_mod_1 [native_mod]\n"
	       "native_mod_2 [native_mod]\nnative_mod_3 [native_mod]\nnative_mod_4 [native_mod]\n"
	       "native_mod_5 [native_mod]\n");
	native_mod_release();
}

/* The name of a module, such as 8021q, may begin with a digit, and is no number. */
CASE(modules_have_no_numbers)
{
	const char *name = native_mod_name;

	native_mod_name = "8021q";
	native_mod_load();
	native_mod_name = name;
	expect(test, "native_mod_1:mod:8021q", "native_mod_1 [8021q]\n");
	expect(test, "*_1:mod:8021q", "native_mod_1 [8021q]\n");
	expect(test, "native_mod_1:mod:!8021q", NULL);
	/* These wait for another module. */
	expect(test, "native_mod_1:mod:8021", "native_mod_1:mod:8021\n");
	expect(test, "native_mod_1:mod:1", "native_mod_1:mod:1\n");
	native_mod_release();
}

static struct ftrace_ops glob_ops;

static int add_glob(void *want)
{
	int ret = ftrace_set_filter(&glob_ops, "native_*_[15]", 13, 0);
	unsigned int *nr = want;

	if (ret)
		return ret;
	ret = LOCKED(ftrace_locked(glob_ops.func_hash->filter_hash)->count);
	if (!*nr)
		*nr = ret;
	return ret == *nr ? 0 : -EIO;
}

static void drop_glob(void *unused)
{
	ftrace_free_filter(&glob_ops);
}

/* A glob never takes the functions of the kernel and leaves out those of a module. */
CASE(globs_need_memory)
{
	unsigned int want = 0;
	struct native_op op = { add_glob, drop_glob, &want, .lenient = true };

	glob_ops = (struct ftrace_ops){ .func = ftrace_kunit_note };
	native_mod_load();
	KUNIT_EXPECT_EQ(test, add_glob(&want), 0);
	KUNIT_EXPECT_GE(test, want, 2U);
	drop_glob(NULL);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 2U);
	native_mod_release();
}

/* An ops has a filter of its own; its owner calls these. */
CASE(bad_lengths_are_refused)
{
	static struct ftrace_ops ops;
	unsigned long ips[] = { (unsigned long)native_funcs[101], 1 };

	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_func_201", 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_func_201", -1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_func_201 and more", 15, 1), 0);
	/* Of a variable, which is in no text. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_work", 11, 1), -EINVAL);
	/* Of no trace array. */
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_func_201:mod:x", 21, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, "native_func_201:", 16, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops, ips, 2, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops, ips, 1, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops, ips, 1, 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter_ips(&ops, ips, 1, 1, 1), -ENOENT);
	/* The top trace array has words that wait; a command is not for them. */
	ftrace_set_global_filter("native_func_201:mod", 19, 1);
	native_expect_file(test, FILTER, FUNC "201\n");
	ftrace_set_global_filter("native_func_202:traceoff", 24, 1);
	native_expect_file(test, FILTER, FUNC "201\n");
	ftrace_free_filter(&ops);
}
