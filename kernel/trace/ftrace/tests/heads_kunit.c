// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of a module without a table of call sites: the calls at the heads of its
 * functions become sites, and nothing else changes.
 *
 * The module is made up, and its text is an array that is not run.
 */
#include <linux/elf.h>
#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/mm.h>

#include "../text.h"
#include "ftrace_kunit.h"

#define HEADS_FUNC_SIZE		32

/* Behind the text and the init text is memory that is not text. */
static u8 heads_text[16 * HEADS_FUNC_SIZE] __aligned(HEADS_FUNC_SIZE);
static struct module heads_mod;
static struct mod_kallsyms heads_kallsyms;
static Elf_Sym heads_syms[16];

static unsigned long heads_func(unsigned int n)
{
	return (unsigned long)heads_text + n * HEADS_FUNC_SIZE;
}

/* Put a call of @target into function number @n. */
static void heads_put(unsigned int n, unsigned int offset, unsigned long target)
{
	unsigned long ip = heads_func(n) + offset;

	arch_ftrace_insn(ip, target, (u8 *)ip);
}

static void heads_name(unsigned int n, unsigned int type, unsigned int size)
{
	heads_syms[heads_kallsyms.num_symtab++] = (Elf_Sym){
		.st_value = heads_func(n),
		.st_size = size,
		.st_info = STB_GLOBAL << 4 | type,
		.st_shndx = 1,
	};
}

static int heads_init(struct kunit *test)
{
	memset(heads_text, 0xcc, sizeof(heads_text));
	heads_mod = (struct module){ .name = "heads" };
	heads_mod.mem[MOD_TEXT] = (struct module_memory){
		.base = heads_text, .size = 8 * HEADS_FUNC_SIZE,
	};
	heads_mod.mem[MOD_INIT_TEXT] = (struct module_memory){
		.base = heads_text + 8 * HEADS_FUNC_SIZE, .size = 4 * HEADS_FUNC_SIZE,
	};
	/* The first symbol of a table stands for no symbol. */
	heads_kallsyms = (struct mod_kallsyms){ .symtab = heads_syms, .num_symtab = 1 };
	RCU_INIT_POINTER(heads_mod.kallsyms, &heads_kallsyms);
	return 0;
}

/* Find the sites of the module, and expect the functions in @want, a list that ends with -1. */
static void heads_expect(struct kunit *test, const int *want)
{
	static u8 wanted[sizeof(heads_text)];
	unsigned long *ips;
	unsigned int nr;

	memcpy(wanted, heads_text, sizeof(heads_text));
	ips = ftrace_heads_convert(&heads_mod, &nr);
	KUNIT_ASSERT_NOT_NULL(test, ips);
	ftrace_text_sort(ips, nr);
	for (unsigned int i = 0; i < nr && want[i] >= 0; i++) {
		KUNIT_EXPECT_EQ(test, ips[i], heads_func(want[i]));
		arch_ftrace_insn(ips[i], 0, wanted + (ips[i] - heads_func(0)));
	}
	KUNIT_EXPECT_TRUE(test, want[nr] < 0);
	kvfree(ips);
	KUNIT_EXPECT_MEMEQ(test, heads_text, wanted, sizeof(heads_text));
}

static void heads_of_functions_are_sites(struct kunit *test)
{
	/* In no order, in text and in init text, and one function with two names. */
	for (unsigned int n = 0; n < 3; n++) {
		static const unsigned int func[] = { 11, 0, 7 };

		heads_put(func[n], 0, MCOUNT_ADDR);
		heads_name(func[n], STT_FUNC, HEADS_FUNC_SIZE);
	}
	heads_name(0, STT_FUNC, MCOUNT_INSN_SIZE);
	heads_expect(test, (const int[]){ 0, 7, 11, -1 });

	/* There are no calls any more. */
	heads_expect(test, (const int[]){ -1 });
}

static void other_calls_are_left_alone(struct kunit *test)
{
	heads_put(0, 8, MCOUNT_ADDR);
	heads_name(0, STT_FUNC, HEADS_FUNC_SIZE);	/* a call in the middle */
	heads_put(1, 0, (unsigned long)ftrace_stub);
	heads_name(1, STT_FUNC, HEADS_FUNC_SIZE);	/* a call of another function */
	heads_put(2, 0, MCOUNT_ADDR);
	heads_name(2, STT_OBJECT, HEADS_FUNC_SIZE);	/* data in text */
	heads_put(3, 0, MCOUNT_ADDR);
	heads_name(3, STT_NOTYPE, HEADS_FUNC_SIZE);	/* a label */
	heads_put(4, 0, MCOUNT_ADDR);
	heads_name(4, STT_FUNC, 0);			/* nobody knows where the function ends */
	heads_put(5, 0, MCOUNT_ADDR);
	heads_name(5, STT_FUNC, MCOUNT_INSN_SIZE - 1);	/* too small for a call */
	heads_put(6, 0, 0);
	heads_name(6, STT_FUNC, HEADS_FUNC_SIZE);	/* a nop */
	heads_put(11, 0, MCOUNT_ADDR);
	heads_name(11, STT_FUNC, HEADS_FUNC_SIZE + 1);	/* a function longer than the text */
	heads_put(12, 0, MCOUNT_ADDR);
	heads_name(12, STT_FUNC, HEADS_FUNC_SIZE);	/* not in text */
	heads_put(7, 0, MCOUNT_ADDR);			/* no symbol */
	heads_expect(test, (const int[]){ -1 });
}

static struct kunit_case heads_cases[] = {
	KUNIT_CASE(heads_of_functions_are_sites),
	KUNIT_CASE(other_calls_are_left_alone),
	{ }
};

static struct kunit_suite heads_suite = {
	.name = "ftrace_heads",
	.init = heads_init,
	.exit = ftrace_kunit_exit,
	.test_cases = heads_cases,
};

kunit_test_suite(heads_suite);
