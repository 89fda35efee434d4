// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of what a call site of x86 holds: a nop or a call, each byte of which counts;
 * and of where the call of a function is.
 *
 * The bytes are in an array and are not run. sites_kunit.c tests what the core does
 * if a site holds other bytes.
 */
#include <kunit/test.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/unaligned.h>

#include <asm/ibt.h>
#include <asm/nops.h>

/* Another nop can differ from the recommended nop in a single bit. */
static void site_check_each_byte(struct kunit *test, unsigned long target)
{
	u8 insn[FTRACE_INSN_MAX];
	struct ftrace_patch patch = { (unsigned long)insn, (struct ftrace_site *)insn, 0, 0 };
	struct ftrace_batch batch = { &patch, 1, &target };

	guard(mutex)(&text_mutex);
	KUNIT_EXPECT_EQ(test, arch_ftrace_insn(patch.ip, target, insn), MCOUNT_INSN_SIZE);
	KUNIT_EXPECT_TRUE(test, arch_ftrace_site_calls(patch.ip, target));
	KUNIT_EXPECT_EQ(test, arch_ftrace_check(&batch), 1);
	for (unsigned int n = 0; n < MCOUNT_INSN_SIZE; n++) {
		insn[n] ^= 8;
		KUNIT_EXPECT_FALSE(test, arch_ftrace_site_calls(patch.ip, target));
		KUNIT_EXPECT_EQ(test, arch_ftrace_check(&batch), 0);
		insn[n] ^= 8;
	}
	if (!target)
		KUNIT_EXPECT_MEMEQ(test, insn, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE);
}

static void each_byte_of_a_site_counts(struct kunit *test)
{
	site_check_each_byte(test, 0);
	site_check_each_byte(test, MCOUNT_ADDR);
}

/* What arch_ftrace_find_call() says about a call of __fentry__() behind @skip bytes at @text. */
static bool site_finds_call(u8 *text, unsigned int skip, unsigned int size)
{
	unsigned long func = (unsigned long)text, ip = func + skip;

	arch_ftrace_insn(ip, MCOUNT_ADDR, text + skip);
	return arch_ftrace_find_call(func, size) == ip;
}

static void call_may_follow_endbr(struct kunit *test)
{
	const bool ibt = IS_ENABLED(CONFIG_X86_KERNEL_IBT);
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	u8 text[4 + FTRACE_INSN_MAX];

	KUNIT_EXPECT_TRUE(test, site_finds_call(text, 0, 5));
	KUNIT_EXPECT_FALSE(test, site_finds_call(text, 0, 4));

	memcpy(text, endbr64, 4);
	KUNIT_EXPECT_EQ(test, site_finds_call(text, 4, 9), ibt);
	KUNIT_EXPECT_FALSE(test, site_finds_call(text, 4, 8));
#ifdef CONFIG_X86_KERNEL_IBT
	/* What takes the place of an ENDBR that nobody needs. */
	put_unaligned(gen_endbr_poison(), (u32 *)text);
	KUNIT_EXPECT_TRUE(test, site_finds_call(text, 4, 9));
#endif

	/* Four bytes of another instruction. */
	text[3] = 1;
	KUNIT_EXPECT_FALSE(test, site_finds_call(text, 4, 9));
}

static struct kunit_case ftrace_x86_site_cases[] = {
	KUNIT_CASE(each_byte_of_a_site_counts),
	KUNIT_CASE(call_may_follow_endbr),
	{ }
};

static struct kunit_suite ftrace_x86_site_suite = {
	.name = "ftrace_x86_site",
	.test_cases = ftrace_x86_site_cases,
};

kunit_test_suite(ftrace_x86_site_suite);
