// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of a module that comes and goes while ops want its functions.
 *
 * The module is made up. Its text has call sites, is not run, and is where the text of modules is.
 */
#include <linux/elf.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/module.h>

#include "../class.h"
#include "../core.h"
#include "ftrace_kunit.h"
#include "../hash.h"
#include "../ops.h"
#include "../table.h"
#include "../text.h"

#define NR_FUNCS	4
#define FUNC_SIZE	32
#define STRANGE		0xcc	/* no byte of a call site */

static unsigned long funcs[NR_FUNCS];
static struct module mod;
static struct mod_kallsyms kallsyms;
static Elf_Sym syms[1 + NR_FUNCS];
static char names[16] = "\0function";
static void *text;

static struct ftrace_ops old, young;

static void modules_free(void *unused)
{
	execmem_free(text);
}

static void modules_forget(void *unused)
{
	ftrace_release_mod(&mod);
}

static int modules_init(struct kunit *test)
{
	ftrace_kunit_alone(test);
	text = execmem_alloc(EXECMEM_MODULE_DATA, PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, modules_free, NULL), 0);
	memset(text, STRANGE, PAGE_SIZE);
	mod = (struct module){ .name = "ftrace_kunit", .state = MODULE_STATE_COMING };
	mod.mem[MOD_TEXT] = (struct module_memory){ .base = text, .size = PAGE_SIZE };
	mod.ftrace_callsites = funcs;
	mod.num_ftrace_callsites = NR_FUNCS;
	/* The first symbol of a table stands for no symbol. */
	kallsyms = (struct mod_kallsyms){
		.symtab = syms, .num_symtab = 1 + NR_FUNCS, .strtab = names,
	};
	RCU_INIT_POINTER(mod.kallsyms, &kallsyms);
	for (int i = 0; i < NR_FUNCS; i++) {
		funcs[i] = (unsigned long)text + i * FUNC_SIZE;
		arch_ftrace_insn(funcs[i], MCOUNT_ADDR, (u8 *)funcs[i]);
		syms[1 + i] = (Elf_Sym){
			.st_name = 1,
			.st_value = funcs[i],
			.st_size = FUNC_SIZE,
			.st_info = STB_GLOBAL << 4 | STT_FUNC,
			.st_shndx = 1,
		};
	}
	return 0;
}

static void modules_load(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, modules_forget, NULL), 0);
	ftrace_module_init(&mod);
	ftrace_module_enable(&mod);
}

/* A failed assertion ends the task, so none may be made with the lock held. */
static int modules_filter_add(struct ftrace_ops *ops, unsigned int first, unsigned int last)
{
	struct ftrace_hash *filter;
	int ret = 0;

	guard(mutex)(&ftrace_lock);
	filter = ftrace_locked(ops->func_hash->filter_hash);
	for (unsigned int i = first; i <= last && !ret; i++)
		ret = ftrace_hash_add(filter, funcs[i], false);
	return ret;
}

/* The filter of an ops that is not registered has @own, and some functions of the module. */
static void modules_filter(struct kunit *test, struct ftrace_ops *ops, test_func_t own,
			   unsigned int first, unsigned int last)
{
	ftrace_kunit_add_ops(test, ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(ops, own, true), 0);
	KUNIT_ASSERT_EQ(test, modules_filter_add(ops, first, last), 0);
}

static bool modules_calls(unsigned int func, const struct ftrace_ops *ops)
{
	struct ftrace_table *t;
	struct ftrace_site *site;

	guard(mutex)(&ftrace_lock);
	site = ftrace_find_site(funcs[func], &t);
	return site && ftrace_class_has(ftrace_class_nth(site_class(site)), ops);
}

static bool modules_site_calls(unsigned int func, unsigned long target)
{
	guard(mutex)(&text_mutex);
	return arch_ftrace_site_calls(funcs[func], target);
}

/* The older ops has functions 0 and 1. The younger ops is refused for function 1, and has 2. */
static void modules_expect_older(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, modules_calls(0, &old));
	KUNIT_EXPECT_TRUE(test, modules_calls(1, &old));
	KUNIT_EXPECT_FALSE(test, modules_calls(1, &young));
	KUNIT_EXPECT_TRUE(test, modules_calls(2, &young));
}

/*
 * Two ops want a function that only one of them can have. When the function comes with a module,
 * the ops that was registered first gets the function, and keeps the function. The other ops gets
 * its other functions.
 */
static void older_ops_get_new_functions(struct kunit *test)
{
	old = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_IPMODIFY };
	young = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_IPMODIFY };
	modules_filter(test, &old, ftrace_kunit_func1, 0, 1);
	modules_filter(test, &young, ftrace_kunit_func2, 1, 2);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&old), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&young), 0);
	modules_load(test);
	modules_expect_older(test);

	/* A callback that changes gives the ops no function. */
	scoped_guard(mutex, &ftrace_lock) {
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(&young, ftrace_kunit_note_x, NULL), 0);
		KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(&old, ftrace_kunit_note_x, NULL), 0);
	}
	modules_expect_older(test);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "x");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "x");
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
static void new_functions_get_one_direct_caller(struct kunit *test)
{
	unsigned long stub = (unsigned long)ftrace_stub_direct_tramp;
	unsigned long other = (unsigned long)ftrace_stub;

	old = (struct ftrace_ops){ };
	young = (struct ftrace_ops){ };
	modules_filter(test, &old, ftrace_kunit_func1, 0, 1);
	modules_filter(test, &young, ftrace_kunit_func2, 1, 2);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&old, stub), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&young, stub), 0);
	modules_load(test);
	modules_expect_older(test);
	KUNIT_EXPECT_TRUE(test, modules_site_calls(1, stub));

	/* Each of them can change what it calls, where it is. */
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&young, other), 0);
	KUNIT_EXPECT_TRUE(test, modules_site_calls(1, stub));
	KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func2, other));
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(&old, other), 0);
	KUNIT_EXPECT_TRUE(test, modules_site_calls(1, other));
	modules_expect_older(test);
}
#endif

/* The text of a module can run until it is freed: its sites must not call what may be freed. */
static void modules_that_go_call_nothing(struct kunit *test)
{
	unsigned int before = ftrace_kunit_nr_classes();

	old = (struct ftrace_ops){ .func = ftrace_kunit_note };
	modules_filter(test, &old, ftrace_kunit_func1, 1, 2);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&old), 0);
	modules_load(test);
	KUNIT_EXPECT_TRUE(test, modules_calls(1, &old));
	KUNIT_EXPECT_FALSE(test, modules_site_calls(1, 0));

	ftrace_release_mod(&mod);
	for (unsigned int i = 0; i < NR_FUNCS; i++)
		KUNIT_EXPECT_TRUE(test, modules_site_calls(i, 0));
	KUNIT_EXPECT_FALSE(test, modules_calls(1, &old));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&old), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);
}

/* A site with unexpected bytes is not written, but its class ends with the module. */
static void modules_that_go_keep_no_class(struct kunit *test)
{
	unsigned int before = ftrace_kunit_nr_classes();

	old = (struct ftrace_ops){ .func = ftrace_kunit_note };
	young = (struct ftrace_ops){ .func = ftrace_kunit_note };
	modules_filter(test, &old, ftrace_kunit_func1, 1, 2);
	modules_filter(test, &young, ftrace_kunit_func2, 1, 1);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&old), 0);
	modules_load(test);
	memset((void *)funcs[1], STRANGE, MCOUNT_INSN_SIZE);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&young), 0);
	KUNIT_EXPECT_TRUE(test, modules_calls(1, &old));
	KUNIT_EXPECT_FALSE(test, modules_calls(1, &young));

	ftrace_release_mod(&mod);
	KUNIT_EXPECT_EQ(test, *(u8 *)funcs[1], STRANGE);
	KUNIT_EXPECT_TRUE(test, modules_site_calls(2, 0));
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&young), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&old), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), before);
}

static struct kunit_case modules_cases[] = {
	KUNIT_CASE(older_ops_get_new_functions),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(new_functions_get_one_direct_caller),
#endif
	KUNIT_CASE(modules_that_go_call_nothing),
	KUNIT_CASE(modules_that_go_keep_no_class),
	{ }
};

static struct kunit_suite modules_suite = {
	.name = "ftrace_modules",
	.init = modules_init,
	.exit = ftrace_kunit_exit,
	.test_cases = modules_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(modules_suite);
