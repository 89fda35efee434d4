// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of classes with many ops: all ops are called, in their order, and an ops that
 * comes or goes changes no site.
 */
#include <linux/ftrace_arch.h>
#include <linux/slab.h>

#include "../class.h"
#include "../core.h"
#include "../dispatch.h"
#include "ftrace_kunit.h"

#define NR_MANY		1100
/* So many that one slot walks them. */
#define NR_SOME		(FTRACE_MAX_SLOTS + 6)

struct many {
	struct ftrace_ops	ops;
	unsigned int		calls;
	bool			has_regs;
};

/* What the callbacks note: how many were called, and how many not in the order of their age. */
static struct many *many_last;
static unsigned int nr_calls, nr_disorder;

static void many_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	struct many *m = container_of(ops, struct many, ops);
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;

	nr_calls++;
	nr_disorder += m >= many_last;
	many_last = m;
	m->calls++;
	m->has_regs = ftrace_get_regs(fregs);
	/* As callbacks do that need a struct pt_regs for perf or BPF. */
	arch_ftrace_partial_regs(regs);
}

/* Returns how many were called, -1 if in the wrong order. */
static int many_call(test_func_t func)
{
	many_last = (struct many *)ULONG_MAX;
	nr_calls = 0;
	nr_disorder = 0;
	func(1);
	return nr_disorder ? -1 : nr_calls;
}

static void many_free(void *all)
{
	kvfree(all);
}

/* Ops of one function, or with a glob of all functions that match. */
static struct many *many_make(struct kunit *test, unsigned int nr, char *glob)
{
	struct many *m = kvcalloc(nr, sizeof(*m), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, many_free, m), 0);
	for (unsigned int i = 0; i < nr; i++) {
		m[i].ops.func = many_note;
		ftrace_kunit_add_ops(test, &m[i].ops);
		ret = glob ? ftrace_set_filter(&m[i].ops, glob, strlen(glob), 1) :
			     ftrace_kunit_filter(&m[i].ops, ftrace_kunit_func1, true);
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	return m;
}

static void many_register(struct kunit *test, struct many *m, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&m[i].ops), 0);
}

static void many_unregister(struct kunit *test, struct many *m, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, unregister_ftrace_function(&m[i].ops), 0);
}

static unsigned int many_calls(const struct many *m, unsigned int nr)
{
	unsigned int calls = 0;

	for (unsigned int i = 0; i < nr; i++)
		calls += m[i].calls;
	return calls;
}

/* More ops than a trampoline can have slots: they come and go, and the site stays as it is. */
static void a_thousand_ops_share_a_function(struct kunit *test)
{
	unsigned int before = ftrace_kunit_nr_classes();
	struct many *m = many_make(test, NR_MANY, NULL);
	unsigned long tramp;

	many_register(test, m, FTRACE_MAX_SLOTS + 1);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), FTRACE_MAX_SLOTS + 1);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	many_register(test, m + FTRACE_MAX_SLOTS + 1, NR_MANY - FTRACE_MAX_SLOTS - 1);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_MANY);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, tramp));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before + 1);

	/* From the middle. */
	many_unregister(test, m + 300, 500);
	m[400].calls = 0;
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_MANY - 500);
	KUNIT_EXPECT_EQ(test, m[400].calls, 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);

	/* One that went comes again, and is the youngest now. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&m[400].ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), -1);
	KUNIT_EXPECT_EQ(test, nr_calls, NR_MANY - 499);
	KUNIT_EXPECT_EQ(test, nr_disorder, 1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&m[400].ops), 0);

	/* The oldest, then all: the last ones get slots again. */
	many_unregister(test, m, 300);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_MANY - 800);
	many_unregister(test, m + 800, NR_MANY - 800 - 3);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), 3);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	many_unregister(test, m + NR_MANY - 3, 3);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), 0);
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);
}

/* One that comes and goes, where slots would just do: the site calls the same trampoline. */
static void a_walk_stays_for_a_while(struct kunit *test)
{
	const unsigned int nr = FTRACE_MAX_SLOTS + 1;
	struct many *m = many_make(test, nr, NULL);
	unsigned long tramp;

	many_register(test, m, nr);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	for (unsigned int i = 0; i < 4 * nr; i++) {
		many_unregister(test, &m[nr - 1], 1);
		KUNIT_ASSERT_EQ(test, many_call(ftrace_kunit_func1), nr - 1);
		many_register(test, &m[nr - 1], 1);
		KUNIT_ASSERT_EQ(test, many_call(ftrace_kunit_func1), nr);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	}
	many_unregister(test, m, nr - FTRACE_MIN_WALK - 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	many_unregister(test, &m[nr - 1], 1);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), FTRACE_MIN_WALK);
}

/* All callbacks get the registers that the flags of the ops ask for, and no callback fakes them. */
static void many_ops_get_registers(struct kunit *test)
{
	struct many *m = many_make(test, NR_SOME, NULL);
	unsigned int regs = 0;

	m[3].ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
	many_register(test, m, NR_SOME);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME);
	for (unsigned int i = 0; i < NR_SOME; i++)
		regs += m[i].has_regs;
	KUNIT_EXPECT_EQ(test, regs, NR_SOME);

	regs = 0;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&m[3].ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME - 1);
	m[3].has_regs = false;
	for (unsigned int i = 0; i < NR_SOME; i++)
		regs += m[i].has_regs;
	KUNIT_EXPECT_EQ(test, regs, 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&m[3].ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), -1);
	KUNIT_EXPECT_TRUE(test, m[NR_SOME - 1].has_regs);
}

/* Two functions with the same ops: what only one of them gets is called there alone. */
static void functions_part_and_meet(struct kunit *test)
{
	struct many *m = many_make(test, NR_SOME + 2, "ftrace_kunit_func[12]");
	struct many *one = &m[NR_SOME], *both = &m[NR_SOME + 1];
	unsigned long tramp;

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&one->ops, ftrace_kunit_func1, true), 0);
	many_register(test, m, NR_SOME);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func2), tramp);

	KUNIT_EXPECT_EQ(test, register_ftrace_function(&one->ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func2), NR_SOME);
	KUNIT_EXPECT_EQ(test, one->calls, 1);

	/* Two classes at once: each keeps its trampoline. */
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func2), tramp);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&both->ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME + 2);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func2), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func2), tramp);

	/* The function goes to the class that is there already. */
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&one->ops), 0);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_kunit_class(ftrace_kunit_func1),
			    ftrace_kunit_class(ftrace_kunit_func2));
	one->calls = 0;
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func2), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, one->calls, 0);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* A direct caller among many ops. */
static void many_ops_and_a_direct_caller(struct kunit *test)
{
	struct many *m = many_make(test, NR_SOME + 1, NULL);
	unsigned long stub = (unsigned long)ftrace_stub, tramp;
	unsigned long other = (unsigned long)ftrace_stub_direct_tramp;
	static struct ftrace_ops direct;

	ftrace_kunit_add_ops(test, &direct);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&direct, ftrace_kunit_func1, true), 0);
	many_register(test, m, NR_SOME);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&direct, stub), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->direct, stub);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);

	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&m[NR_SOME].ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);

	/* The same ops, but the trampoline must jump to another function. */
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&direct, other), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->direct, other);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(&direct, other, true), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func1), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_class(ftrace_kunit_func1)->direct, 0);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
}
#endif

/*
 * A site with unexpected bytes stays in its class, with the trampoline of the class. The other
 * sites get another trampoline.
 */
static void bad_site_keeps_its_walk(struct kunit *test)
{
	struct many *m = many_make(test, NR_SOME + 2, "ftrace_kunit_func[34]");
	unsigned long tramp;

	many_register(test, m, NR_SOME);
	tramp = ftrace_kunit_tramp(ftrace_kunit_func4);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func3), tramp);
	ftrace_kunit_break_site(test, ftrace_kunit_func4);

	KUNIT_EXPECT_EQ(test, register_ftrace_function(&m[NR_SOME].ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func3), NR_SOME + 1);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func3), tramp);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func4), tramp);

	/* From now on, the others change without a patch. */
	tramp = ftrace_kunit_tramp(ftrace_kunit_func3);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&m[NR_SOME + 1].ops), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&m[0].ops), 0);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func3), NR_SOME + 1);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func3), tramp);

	/* The call comes back: no ops that has gone, and no ops that came later. */
	m[0].calls = 0;
	m[NR_SOME].calls = 0;
	kunit_release_action(test, ftrace_kunit_mend_site, ftrace_kunit_func4);
	KUNIT_EXPECT_EQ(test, many_call(ftrace_kunit_func4), NR_SOME - 1);
	KUNIT_EXPECT_EQ(test, m[0].calls + m[NR_SOME].calls, 0);
	KUNIT_EXPECT_GT(test, many_calls(m, NR_SOME), 0);
}

static struct kunit_case walk_cases[] = {
	KUNIT_CASE_SLOW(a_thousand_ops_share_a_function),
	KUNIT_CASE(a_walk_stays_for_a_while),
	KUNIT_CASE(many_ops_get_registers),
	KUNIT_CASE(functions_part_and_meet),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(many_ops_and_a_direct_caller),
#endif
	KUNIT_CASE(bad_site_keeps_its_walk),
	{ }
};

static struct kunit_suite walk_suite = {
	.name = "ftrace_walk",
	.init = ftrace_kunit_alone,
	.exit = ftrace_kunit_exit,
	.test_cases = walk_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(walk_suite);
