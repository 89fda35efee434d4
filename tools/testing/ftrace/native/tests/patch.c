// SPDX-License-Identifier: GPL-2.0-only
/* The patcher alone: text of the tests that is not run, and other tasks that want the CPU. */
#include <linux/cpu.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/unaligned.h>

#include <asm/sections.h>
#include <asm/text-patching.h>

#include "tests.h"

/* Text that does not fit into the window, which maps the kernel's own text and some more. */
struct text {
	unsigned long		start, size;
	u8			*want, *seen;	/* at the end, and at the last broadcast */
	struct ftrace_patch	*patch;
	unsigned int		nr;
};

static const unsigned long targets[] = {
	0, (unsigned long)ftrace_stub, (unsigned long)ftrace_kunit_note,
};

static unsigned long window_size(void)
{
	return (DIV_ROUND_UP(_etext - _stext, PMD_SIZE) + 1) * PMD_SIZE;
}

static void text_free(void *data)
{
	struct text *text = data;

	kvfree(text->want);
	kvfree(text->seen);
	kvfree(text->patch);
}

static void text_add_site(struct text *text, unsigned long at)
{
	/* The bytes of a patch are not compared, so the site needs no record. */
	text->patch[text->nr++] = (struct ftrace_patch){
		text->start + at, (struct ftrace_site *)text, 0, 0
	};
}

/* Each in two pages of its own, so the window is filled to its last page. */
static void text_add_pairs(struct text *text)
{
	for (unsigned long at = 0; at + 2 * PAGE_SIZE < text->size; at += 2 * PAGE_SIZE)
		text_add_site(text, at + PAGE_SIZE - 2);
}

/* Sites that follow each other closely, or after free pages; every third lies in two pages. */
static void text_add_sites(struct text *text)
{
	static const unsigned int gaps[] = {
		MCOUNT_INSN_SIZE, 100, PAGE_SIZE - 1, 2 * PAGE_SIZE + 3,
	};
	unsigned long at = 0;

	for (unsigned int n = 0; at + 2 * PAGE_SIZE < text->size; n++) {
		if (n % 3 == 2)
			at = round_up(at + MCOUNT_INSN_SIZE, PAGE_SIZE) - 1 - n / 3 % 4;
		text_add_site(text, at);
		at += gaps[n / 3 % 7 % ARRAY_SIZE(gaps)];
	}
}

/* What the sites must be, and nothing else has changed. */
static void text_expect(struct kunit *test, struct text *text)
{
	for (unsigned int n = 0; n < text->nr; n++) {
		const struct ftrace_patch *patch = &text->patch[n];
		u8 insn[FTRACE_INSN_MAX];

		if (patch->site) {
			arch_ftrace_insn(patch->ip, targets[patch->to], insn);
		} else {
			insn[0] = patch->from;
			put_unaligned((u32)patch->to, (u32 *)(insn + 1));
		}
		memcpy(text->want + (patch->ip - text->start), insn, MCOUNT_INSN_SIZE);
	}
	KUNIT_EXPECT_EQ(test, memcmp(text->want, (void *)text->start, text->size), 0);
}

static struct text *text_make(struct kunit *test, void (*add)(struct text *text))
{
	struct text *text = kunit_kzalloc(test, sizeof(*text), GFP_KERNEL);
	static unsigned long start;

	KUNIT_ASSERT_NOT_NULL(test, text);
	text->size = window_size() + 100 * PAGE_SIZE;
	/* Kept, because what is freed is not used again soon. */
	if (!start)
		start = (unsigned long)execmem_alloc(EXECMEM_FTRACE, text->size);
	text->start = start;
	KUNIT_ASSERT_NE(test, text->start, 0UL);
	text->want = kvmalloc(text->size, GFP_KERNEL);
	text->seen = kvmalloc(text->size, GFP_KERNEL);
	text->patch = kvcalloc(text->size / PAGE_SIZE * 2, sizeof(*text->patch), GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, text_free, text), 0);
	KUNIT_ASSERT_NOT_NULL(test, text->want);
	KUNIT_ASSERT_NOT_NULL(test, text->seen);
	KUNIT_ASSERT_NOT_NULL(test, text->patch);
	memset(text->want, INT3_INSN_OPCODE, text->size);
	add(text);
	KUNIT_ASSERT_LE(test, text->nr, text->size / PAGE_SIZE * 2);
	for (unsigned int n = 0; n < text->nr; n++) {
		unsigned long ip = text->patch[n].ip;

		arch_ftrace_insn(ip, 0, text->want + (ip - text->start));
	}
	memcpy(native_text_alias(text->start), text->want, text->size);
	return text;
}

/* The text that is being patched; how many sites took a wrong step, and held int3 at most. */
static const struct text *patched;
static unsigned int nr_wrong, most_held;

/*
 * A CPU that executes a site while it changes has only three things to expect between two
 * broadcasts: the first byte becomes int3, the other bytes change behind an int3 that it has seen
 * already, or int3 becomes the first byte of what the other bytes have been already.
 */
static void look_at_steps(void)
{
	unsigned int held = 0;

	for (unsigned int n = 0; n < patched->nr; n++) {
		const u8 *is = (u8 *)patched->patch[n].ip;
		const u8 *was = patched->seen + (patched->patch[n].ip - patched->start);
		bool head = *was != *is, tail = memcmp(was + 1, is + 1, MCOUNT_INSN_SIZE - 1);
		bool traps = *is == INT3_INSN_OPCODE;

		held += traps;
		if (head)
			nr_wrong += tail || !(traps || *was == INT3_INSN_OPCODE);
		else
			nr_wrong += tail && !traps;
	}
	most_held = max(most_held, held);
	memcpy(patched->seen, (void *)patched->start, patched->size);
}

static void text_patch(struct kunit *test, const struct text *text, unsigned int first,
		       void (*at_broadcast)(void))
{
	nr_wrong = 0;
	most_held = 0;
	patched = text;
	memcpy(text->seen, (void *)text->start, text->size);
	native_at_broadcast = at_broadcast;
	scoped_guard(cpus_read_lock) {
		guard(mutex)(&text_mutex);
		arch_ftrace_patch(&(struct ftrace_batch){
			text->patch + first, text->nr - first, targets
		});
	}
	native_at_broadcast = NULL;
	KUNIT_EXPECT_EQ(test, nr_wrong, 0U);
	/* Two chunks: one before its second broadcast, one before its third. */
	KUNIT_EXPECT_LE(test, most_held, 2 * 256U);
	KUNIT_EXPECT_EQ(test, memcmp(text->seen, (void *)text->start, text->size), 0);
}

SUITE(patch, NULL, ftrace_kunit_exit);

CASE(each_page_of_much_text_is_found)
{
	struct text *text = text_make(test, text_add_sites);
	unsigned long sent, loads;

	KUNIT_EXPECT_EQ(test, text->patch[text->nr - 1].ip - text->start > window_size(), true);
	/* Each time without one site more, so the end of the window is in different places. */
	for (unsigned int round = 1; round < 7; round++) {
		for (unsigned int n = round; n < text->nr; n++) {
			text->patch[n].from = text->patch[n].to;
			text->patch[n].to = (round + n) % ARRAY_SIZE(targets);
		}
		sent = native_broadcasts();
		loads = native_loads();
		text_patch(test, text, round, look_at_steps);
		text_expect(test, text);
		/* Interrupts are off for a chunk of stores at most; each site has three. */
		loads = native_loads() - loads;
		KUNIT_EXPECT_GE(test, loads, 3UL * (text->nr - round) / 256);
		/* Each window has a pipeline of its own, and a part of a chunk. */
		sent = native_broadcasts() - sent;
		KUNIT_EXPECT_GE(test, sent, text->nr / 256 + 2UL);
		KUNIT_EXPECT_LE(test, sent, text->nr / 256 + 2 * 3UL);
	}
}

CASE(a_window_may_be_full)
{
	struct text *text = text_make(test, text_add_pairs);

	for (unsigned int n = 0; n < text->nr; n++)
		text->patch[n].to = 1;
	text_patch(test, text, 0, look_at_steps);
	text_expect(test, text);
}

/* Now and then a task wants the CPU, in the middle of a chunk and with an empty pipeline. */
static void look_and_be_wanted(void)
{
	static unsigned int nr;

	look_at_steps();
	if (nr++ % 7 < 4)
		set_tsk_thread_flag(current, TIF_NEED_RESCHED);
	else
		clear_tsk_thread_flag(current, TIF_NEED_RESCHED);
}

/* Some of the changes are those of slots. */
CASE(each_step_is_safe_for_other_cpus)
{
	struct text *text = text_make(test, text_add_sites);

	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int n = 0; n < text->nr; n++) {
			struct ftrace_patch *patch = &text->patch[n];
			bool slot = n % 7 == round % 5;

			patch->site = slot ? NULL : (struct ftrace_site *)text;
			patch->from = slot ? round & 1 ? CALL_INSN_OPCODE : JMP32_INSN_OPCODE : 0;
			patch->to = slot ? n << 8 | round : (round + n) % ARRAY_SIZE(targets);
		}
		text_patch(test, text, 0, look_and_be_wanted);
		clear_tsk_thread_flag(current, TIF_NEED_RESCHED);
		text_expect(test, text);
	}
}

/* A CPU that executes an int3 of a batch: how often, and where it goes on. */
static struct trap {
	unsigned long	ip, to, pushed;
	unsigned int	nr, not_ours;
} trap;

static void trap_here(void)
{
	unsigned long stack[2] = { };
	struct pt_regs regs = {
		.ip = trap.ip + INT3_INSN_SIZE, .sp = (unsigned long)&stack[1], .cs = __KERNEL_CS,
	};
	struct pt_regs user = regs;

	if (*(u8 *)trap.ip != INT3_INSN_OPCODE)
		return;
	user.cs = __USER_CS;
	trap.not_ours += !ftrace_int3_handler(&user);
	user.cs = __KERNEL_CS;
	user.ip++;
	trap.not_ours += !ftrace_int3_handler(&user);
	if (!ftrace_int3_handler(&regs))
		return;
	trap.nr++;
	trap.to = regs.ip;
	trap.pushed = regs.sp == (unsigned long)stack ? stack[0] : 0;
}

static void expect_trap(struct kunit *test, struct ftrace_patch patch, unsigned long to, bool call)
{
	unsigned long stack[2] = { };
	struct pt_regs regs = { .sp = (unsigned long)&stack[1], .cs = __KERNEL_CS };

	trap = (struct trap){ .ip = patch.ip };
	native_at_broadcast = trap_here;
	scoped_guard(cpus_read_lock) {
		guard(mutex)(&text_mutex);
		arch_ftrace_patch(&(struct ftrace_batch){ &patch, 1, targets });
	}
	native_at_broadcast = NULL;
	/* With the bytes of the old instruction, and with those of the new one. */
	KUNIT_EXPECT_EQ(test, trap.nr, 2U);
	KUNIT_EXPECT_EQ(test, trap.not_ours, 4U);
	KUNIT_EXPECT_EQ(test, trap.to, to);
	KUNIT_EXPECT_EQ(test, trap.pushed, call ? patch.ip + CALL_INSN_SIZE : 0);
	/* Afterwards an int3 there is somebody else's. */
	regs.ip = patch.ip + INT3_INSN_SIZE;
	KUNIT_EXPECT_FALSE(test, ftrace_int3_handler(&regs));
}

/* A CPU goes on as if it had executed the new instruction. */
CASE(traps_go_on)
{
	struct text *text = text_make(test, text_add_sites);
	struct ftrace_patch site = text->patch[0], slot = { .ip = site.ip };

	for (unsigned int to = 1; to < 3; to++) {
		site.to = to;
		expect_trap(test, site, targets[to], true);
		site.from = to;
	}
	site.to = 0;
	expect_trap(test, site, site.ip + MCOUNT_INSN_SIZE, false);
	slot.to = targets[1] - (slot.ip + CALL_INSN_SIZE);
	slot.from = CALL_INSN_OPCODE;
	expect_trap(test, slot, targets[1], true);
	slot.from = JMP32_INSN_OPCODE;
	expect_trap(test, slot, targets[1], false);
}

/* How often the patcher offered the CPU to other tasks, and how many sites held int3 then. */
static unsigned int nr_offers, nr_held;

static void count_held(const char *file)
{
	if (!strstr(file, "ftrace/patch.c"))
		return;
	nr_offers++;
	for (unsigned int i = 0; i < NATIVE_FUNCS; i++) {
		const u8 *site = (u8 *)ftrace_location((unsigned long)native_funcs[i]);

		nr_held += *site == INT3_INSN_OPCODE;
	}
}

/* While a task wants the CPU, each chunk has the pipeline for itself. */
CASE(other_tasks_get_the_cpu)
{
	static struct ftrace_ops ops = { .func = ftrace_kunit_note };
	unsigned long sent;

	ftrace_kunit_add_ops(test, &ops);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops, "native_func_*", 13, 1), 0);
	nr_offers = 0;
	nr_held = 0;
	native_offers = count_held;
	set_tsk_thread_flag(current, TIF_NEED_RESCHED);
	sent = native_broadcasts();
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&ops), 0);
	sent = native_broadcasts() - sent;
	clear_tsk_thread_flag(current, TIF_NEED_RESCHED);
	native_offers = NULL;
	/* Of two chunks. */
	KUNIT_EXPECT_EQ(test, nr_offers, 2U);
	KUNIT_EXPECT_EQ(test, nr_held, 0U);
	KUNIT_EXPECT_EQ(test, sent, 6UL);
}

CASE(a_barrier_on_each_cpu_is_a_broadcast)
{
	unsigned long sent = native_broadcasts();

	scoped_guard(cpus_read_lock)
		arch_ftrace_sync();
	KUNIT_EXPECT_EQ(test, native_broadcasts() - sent, 1UL);
}
