// SPDX-License-Identifier: GPL-2.0-only
/* Trampolines: what unwinders learn of each byte, and the memory that they are in. */
#include <linux/cpu.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>

#include <asm/ftrace_patch.h>

#include "../../arch/x86/kernel/ftrace/flight.h"
#include "ftrace/flight.h"
#include "ftrace/guards.h"
#include "tests.h"

/* The parts of the two templates, see entry_64.S. */
static const struct {
	const char	*start, *keep, *call, *tail, *end;
} templates[] = {
	{ (const char *)ftrace_caller, ftrace_caller_keep, ftrace_caller_call, ftrace_caller_tail,
	  ftrace_caller_end },
	{ (const char *)ftrace_regs_caller, ftrace_regs_caller_keep, ftrace_regs_caller_call,
	  ftrace_regs_caller_tail, ftrace_regs_caller_end },
};

static struct ftrace_ops ops[2];

#define ARENA_SIZE	SZ_64K

/*
 * The frame is made and removed by the code of the template, so each byte of that has the layout
 * of the byte it was copied from. Between them it is that of the call, and in the gate that of the
 * start.
 */
static void expect_layout(struct kunit *test, unsigned int t, unsigned long tramp, bool has_gate)
{
	unsigned long start = (unsigned long)templates[t].start;
	unsigned long call = (unsigned long)templates[t].call;
	unsigned long tail = (unsigned long)templates[t].tail;
	unsigned long end = (unsigned long)templates[t].end;
	unsigned int head = templates[t].keep - templates[t].start, gate = 0, off = 0, at;
	unsigned int size;

	scoped_guard(preempt)
		size = arch_ftrace_tramp_find(tramp)->size;
	while (ftrace_tramp_template_ip(tramp + gate + 1) == start)
		gate++;
	KUNIT_EXPECT_EQ(test, !!gate, has_gate);
	tramp += gate;
	size -= gate;
	for (; off < head; off++) {
		KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(tramp + off), start + off);
		KUNIT_EXPECT_EQ(test, *(u8 *)(tramp + off), *(u8 *)(start + off));
	}
	while (off < size && ftrace_tramp_template_ip(tramp + off) == call)
		off++;
	KUNIT_EXPECT_GE(test, off, head + 10);
	for (at = 0; at < end - tail; at++) {
		KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(tramp + off + at), tail + at);
		KUNIT_EXPECT_EQ(test, *(u8 *)(tramp + off + at), *(u8 *)(tail + at));
	}
	/* The return, and an int3 behind it: the CPU must not run on speculatively. */
	for (at += off; at < size; at++)
		KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(tramp + at), end);
	KUNIT_EXPECT_EQ(test, *(u8 *)(tramp + size - 1), INT3_INSN_OPCODE);
}

SUITE(tramps, NULL, ftrace_kunit_exit);

CASE(layouts_are_known)
{
	struct ftrace_guard *guard = ftrace_guard_make(1);

	KUNIT_ASSERT_NOT_NULL(test, guard);
	for (unsigned int n = 0; n < 8; n++) {
		unsigned int nr = 1 + n % 2, t = n / 2 % 2;
		bool guarded = n / 4;

		for (unsigned int i = 0; i < nr; i++) {
			ops[i] = (struct ftrace_ops){
				.func = ftrace_kunit_note_x,
				.flags = t ? FTRACE_OPS_FL_SAVE_REGS : 0,
				.guard = guarded ? guard : NULL,
			};
			register_on(test, &ops[i], ftrace_kunit_func1);
		}
		expect_layout(test, t, ftrace_kunit_tramp(ftrace_kunit_func1), guarded);
		for (unsigned int i = 0; i < nr; i++) {
			KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops[i]), 0);
			ftrace_free_filter(&ops[i]);
		}
	}
	KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip((unsigned long)native_funcs[0]), 0UL);
	native_settle();
	LOCKED(ftrace_guard_put(guard));
}

/* The templates of what records a call. */
static const struct {
	unsigned long	start, end;
} records[] = {
	{ (unsigned long)ftrace_flight_code, (unsigned long)ftrace_flight_code_end },
	{ (unsigned long)ftrace_flight_timed_code, (unsigned long)ftrace_flight_timed_code_end },
};

static struct ftrace_flight *flights[2];
static struct ftrace_guard *guards[2];

static void recorders_free(void *unused)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (flights[i])
			ftrace_flight_put(flights[i]);
		guard(mutex)(&ftrace_lock);
		if (guards[i])
			ftrace_guard_put(guards[i]);
	}
}

/* One without times and one with times, and two guards that turn nobody away. */
static void recorders_make(struct kunit *test)
{
	for (unsigned int i = 0; i < 2; i++) {
		flights[i] = ftrace_flight_make(SZ_16K, NULL, i);
		guards[i] = ftrace_guard_make(i ? 0x12345678 : 1);
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, recorders_free, NULL), 0);
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_ASSERT_NOT_NULL(test, flights[i]);
		KUNIT_ASSERT_NOT_NULL(test, guards[i]);
	}
}

static struct ftrace_tramp *tramp_make(const struct ftrace_call *calls, unsigned int nr, bool regs)
{
	guard(mutex)(&ftrace_lock);
	return arch_ftrace_tramp_make(calls, nr, regs, 0);
}

static void tramp_free(struct ftrace_tramp *tramp)
{
	guard(mutex)(&ftrace_lock);
	arch_ftrace_tramp_free(tramp);
}

/* Behind a trampoline, and where there was none yet, nothing can be executed. */
CASE(memory_has_traps)
{
	const struct ftrace_call call = { .func = ftrace_kunit_note_x, .ops = &ops[0] };
	struct ftrace_tramp *tramp = tramp_make(&call, 1, false);
	unsigned int wrong = 0;

	KUNIT_ASSERT_NOT_NULL(test, tramp);
	for (unsigned long at = tramp->addr + tramp->size; at & (ARENA_SIZE - 1); at++)
		wrong += !is_ftrace_trampoline(at) && *(u8 *)at != INT3_INSN_OPCODE;
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	tramp_free(tramp);
}

/* How many bytes from @at on have the layout of @ip. */
static unsigned int layout_of(unsigned long at, unsigned long ip)
{
	unsigned int len = 0;

	while (ftrace_tramp_template_ip(at + len) == ip)
		len++;
	return len;
}

/*
 * The code that records is at the start, and each byte of it has the layout of its template. A
 * guard before it has the layout of the start, as the gate has; what comes behind, when nothing is
 * called, that of the end.
 */
static void expect_records(struct kunit *test, const struct ftrace_tramp *tramp,
			   unsigned int guarded, bool calls, const struct ftrace_call *call)
{
	unsigned long at = tramp->addr, end = tramp->addr + tramp->size;
	unsigned long start = (unsigned long)templates[0].start;

	for (unsigned int i = 0; i < 2; i++) {
		bool timed = call[i].flight == flights[1];
		unsigned int len;

		if (guarded & 1 << i) {
			/* cmpl $imm, %gs:word has a byte or four; and the jump six. */
			len = layout_of(at, start);
			KUNIT_EXPECT_EQ(test, len, 8U + (i ? 4 : 1) + 6);
			at += len;
		}
		for (len = 0; len < records[timed].end - records[timed].start; len++)
			KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(at + len),
					records[timed].start + len);
		at += len;
	}
	if (!calls) {
		KUNIT_EXPECT_LT(test, at, end);
		KUNIT_EXPECT_EQ(test, layout_of(at, (unsigned long)templates[0].end), end - at);
		return;
	}
	KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(at), start);
	KUNIT_EXPECT_EQ(test, ftrace_tramp_template_ip(at + 1), start + 1);
}

CASE(layouts_of_recorders_are_known)
{
	recorders_make(test);
	for (unsigned int n = 0; n < 16; n++) {
		unsigned int first = n & 1, guarded = n >> 1 & 3, others = n >> 3;
		struct ftrace_call call[3] = {
			{ .flight = flights[first] }, { .flight = flights[!first] },
			{ .func = ftrace_kunit_note_x, .ops = &ops[0] },
		};
		struct ftrace_tramp *tramp;

		for (unsigned int i = 0; i < 2; i++)
			call[i].guard = guarded & 1 << i ? guards[i] : NULL;
		tramp = tramp_make(call, 2 + others, false);
		KUNIT_ASSERT_NOT_NULL(test, tramp);
		expect_records(test, tramp, guarded, others, call);
		tramp_free(tramp);
	}
}

static int make_recorder(void *data)
{
	flights[0] = ftrace_flight_make(SZ_16K, data, false);
	return flights[0] ? 0 : -ENOMEM;
}

static void put_recorder(void *data)
{
	ftrace_flight_put(flights[0]);
	flights[0] = NULL;
}

CASE(recorders_need_memory)
{
	struct native_op op = { make_recorder, put_recorder, "name" };

	/* Itself, two things that it points to, and the rings. */
	KUNIT_EXPECT_EQ(test, native_sweep(test, &op), 3U + num_online_cpus());
	/* What is clearly too much is not tried. */
	native_pages_left = num_online_cpus() * 4 - 1;
	KUNIT_EXPECT_EQ(test, make_recorder("name"), -ENOMEM);
	native_pages_left++;
	KUNIT_EXPECT_EQ(test, make_recorder("name"), 0);
	put_recorder(NULL);
	native_pages_left = LONG_MAX;
}

static u64 next_of(const struct ftrace_flight *flight)
{
	return per_cpu_ptr(flight->cpu, raw_smp_processor_id())->next;
}

static void record_func1(struct kunit *test, struct ftrace_ops *op, unsigned int i,
			 struct ftrace_guard *guard)
{
	ftrace_flight_off(flights[i], false);
	*op = (struct ftrace_ops){
		.func = ftrace_flight_func, .flight = flights[i], .guard = guard,
	};
	register_on(test, op, ftrace_kunit_func1);
}

/* A guard turns the task away from its own recorder only. */
CASE(recorders_have_guards)
{
	static struct ftrace_ops flight_ops[2];

	recorders_make(test);
	for (unsigned int i = 0; i < 2; i++) {
		ftrace_kunit_add_ops(test, &flight_ops[i]);
		record_func1(test, &flight_ops[i], i, guards[i]);
	}
	for (unsigned int n = 0; n < 16; n++) {
		u64 next[2] = { next_of(flights[0]), next_of(flights[1]) };

		for (unsigned int i = 0; i < 2; i++)
			this_cpu_write(*guards[i]->word, guards[i]->skip + (n >> i & 1));
		KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(40), 41);
		for (unsigned int i = 0; i < 2; i++)
			KUNIT_EXPECT_EQ(test, next_of(flights[i]) != next[i], n >> i & 1);
	}
	for (unsigned int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&flight_ops[i]), 0);
}

/*
 * The word of a guard may be far away, as that of a counter below. It is compared by way of a
 * register that the traced function's caller has no value in: before a record, nothing is saved.
 */
CASE(far_guards_keep_registers)
{
	static struct ftrace_guard far;
	static int word;
	struct ftrace_call call = { .guard = &far };
	struct ftrace_tramp *tramp;
	unsigned long rax;
	u64 next;

	recorders_make(test);
	far = (struct ftrace_guard){ .skip = 1, .users = 1 };
	far.word = (__force int __percpu *)
		((unsigned long)&word - per_cpu_offset(raw_smp_processor_id()));
	call.flight = flights[0];
	ftrace_flight_off(flights[0], false);
	tramp = tramp_make(&call, 1, false);
	KUNIT_ASSERT_NOT_NULL(test, tramp);
	for (word = 0; word < 2; word++) {
		next = next_of(flights[0]);
		rax = 0x123;
		/* As from a site: the trampoline returns to here. */
		asm volatile("call *%1"
			     : "+a" (rax) : "b" (tramp->addr) : "r10", "r11", "memory", "cc");
		KUNIT_EXPECT_EQ(test, rax, 0x123UL);
		KUNIT_EXPECT_EQ(test, next_of(flights[0]) != next, !word);
	}
	tramp_free(tramp);
}

/* Where a task that records has been interrupted, it gives the CPU to another one at the end. */
CASE(recorders_are_preempted)
{
	static struct ftrace_ops flight_ops;
	unsigned long before;

	recorders_make(test);
	ftrace_kunit_add_ops(test, &flight_ops);
	for (unsigned int i = 0; i < 2; i++) {
		record_func1(test, &flight_ops, i, NULL);
		/* The first record of a group takes longer. */
		ftrace_kunit_func1(1);
		before = native_preemptions;
		ftrace_kunit_func1(1);
		KUNIT_EXPECT_EQ(test, native_preemptions - before, 0UL);
		set_preempt_need_resched();
		KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(40), 41);
		clear_preempt_need_resched();
		KUNIT_EXPECT_EQ(test, native_preemptions - before, 1UL);
		preempt_disable();
		set_preempt_need_resched();
		ftrace_kunit_func1(1);
		clear_preempt_need_resched();
		preempt_enable();
		KUNIT_EXPECT_EQ(test, native_preemptions - before, 1UL);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&flight_ops), 0);
		ftrace_free_filter(&flight_ops);
	}
}

/* A callback that uses the register that holds the address of a counter. */
static void count_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		       struct ftrace_regs *fregs)
{
	ftrace_kunit_note_x(ip, parent_ip, op, fregs);
	asm volatile("xorl %%eax, %%eax" ::: "rax");
}

static void switch_off(const struct ftrace_tramp *tramp, unsigned int n)
{
	struct ftrace_patch off;

	LOCKED(arch_ftrace_tramp_off(tramp, n, &off));
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	arch_ftrace_patch(&(struct ftrace_batch){ &off, 1, NULL });
}

/*
 * With SMP, the variables of the kernel image are far from those of a CPU. Seen as variables of the
 * CPU, such counters have addresses that do not fit into an increment.
 */
CASE(counters_may_be_far_away)
{
	static struct ftrace_count count[2];
	struct ftrace_call call[2] = { };
	struct ftrace_tramp *tramp;

	for (unsigned int i = 0; i < 2; i++) {
		count[i] = (struct ftrace_count){ };
		call[i] = (struct ftrace_call){ .func = count_call, .ops = &ops[0], .trylock = true };
		call[i].count = (__force struct ftrace_count __percpu *)
			((unsigned long)&count[i] - per_cpu_offset(raw_smp_processor_id()));
		KUNIT_EXPECT_NE(test, (__force long)call[i].count,
				(s32)(__force long)call[i].count);
	}
	tramp = tramp_make(call, 2, false);
	KUNIT_ASSERT_NOT_NULL(test, tramp);
	ftrace_kunit_write_site(ftrace_kunit_func1, 0, tramp->addr);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "xx");
	KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(40), 41);
	current->trace_recursion = BIT(TRACE_CTX_NORMAL) | BIT(TRACE_CTX_TRANSITION);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	current->trace_recursion = 0;
	switch_off(tramp, 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "x");
	switch_off(tramp, 1);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, count[i].entered, 2UL + i);
		KUNIT_EXPECT_EQ(test, count[i].left, 2UL + i);
		KUNIT_EXPECT_EQ(test, count[i].missed, 1UL);
	}
	ftrace_kunit_write_site(ftrace_kunit_func1, tramp->addr, 0);
	tramp_free(tramp);
}

#define NR_LARGE	60

/* The largest trampoline: the number of slots. */
static unsigned int largest(const struct ftrace_call *calls, unsigned int nr)
{
	unsigned int fits = 1, too_many = nr;

	while (too_many - fits > 1) {
		unsigned int mid = (fits + too_many) / 2;
		struct ftrace_tramp *tramp = tramp_make(calls, mid, false);

		if (tramp) {
			fits = mid;
			tramp_free(tramp);
		} else {
			too_many = mid;
		}
	}
	return fits;
}

/*
 * Pieces of memory are used again in the order in which they were freed: so that each trampoline
 * that fills its piece lies before the one that came before it.
 */
static void free_backwards(struct kunit *test)
{
	void *piece[NR_LARGE];

	for (unsigned int i = 0; i < NR_LARGE; i++) {
		piece[i] = execmem_alloc(EXECMEM_FTRACE, ARENA_SIZE);
		KUNIT_EXPECT_NOT_NULL(test, piece[i]);
	}
	for (unsigned int i = NR_LARGE; i--;)
		if (piece[i])
			execmem_free(piece[i]);
}

/* A trampoline may fill a piece of memory, and is found up to its last byte. */
CASE(large_trampolines_are_found)
{
	static struct ftrace_tramp *large[NR_LARGE];
	const unsigned int max = 5000;
	struct ftrace_call *calls = kunit_kcalloc(test, max, sizeof(*calls), GFP_KERNEL);
	unsigned int nr, adjacent = 0;
	unsigned long live;

	KUNIT_ASSERT_NOT_NULL(test, calls);
	for (unsigned int i = 0; i < max; i++)
		calls[i] = (struct ftrace_call){ .func = ftrace_kunit_note_x, .ops = &ops[0] };
	nr = largest(calls, max);
	KUNIT_EXPECT_GT(test, nr, 1000U);
	native_settle();
	live = native_live();
	KUNIT_EXPECT_NULL(test, tramp_make(calls, nr + 1, false));
	KUNIT_EXPECT_EQ(test, native_live(), live);

	free_backwards(test);
	for (unsigned int i = 0; i < NR_LARGE; i++) {
		large[i] = tramp_make(calls, nr, false);
		KUNIT_ASSERT_NOT_NULL(test, large[i]);
		KUNIT_EXPECT_GT(test, large[i]->size, ARENA_SIZE - 64U);
		KUNIT_EXPECT_LE(test, large[i]->size, ARENA_SIZE + 0U);
		adjacent += i && large[i]->addr + ARENA_SIZE == large[i - 1]->addr;
	}
	KUNIT_EXPECT_GT(test, adjacent, 0U);
	scoped_guard(preempt)
		for (unsigned int i = 0; i < NR_LARGE; i++) {
			unsigned long addr = large[i]->addr;

			KUNIT_EXPECT_PTR_EQ(test, arch_ftrace_tramp_find(addr), large[i]);
			addr += large[i]->size - 1;
			KUNIT_EXPECT_PTR_EQ(test, arch_ftrace_tramp_find(addr), large[i]);
		}
	for (unsigned int i = 0; i < NR_LARGE; i++)
		tramp_free(large[i]);
	native_settle();
}

static void expect_found(struct kunit *test, struct ftrace_tramp **tramp, unsigned int nr,
			 unsigned int step)
{
	guard(preempt)();
	for (unsigned int i = 0; i < nr; i += step)
		KUNIT_EXPECT_PTR_EQ(test, arch_ftrace_tramp_find(tramp[i]->addr), tramp[i]);
}

static struct ftrace_call *fill_calls;
static unsigned int fill_nr;
static struct ftrace_tramp *fill;

static int make_filling(void *unused)
{
	fill = tramp_make(fill_calls, fill_nr, false);
	return fill ? 0 : -ENOMEM;
}

static void free_filling(void *unused)
{
	tramp_free(fill);
}

/* A trampoline that needs new memory, which cannot be had, or cannot be made to run. */
CASE(new_memory_may_fail)
{
	struct native_op op = { make_filling, free_filling };
	const unsigned int max = 5000;

	fill_calls = kunit_kcalloc(test, max, sizeof(*fill_calls), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fill_calls);
	for (unsigned int i = 0; i < max; i++)
		fill_calls[i] = (struct ftrace_call){ .func = ftrace_kunit_note_x, .ops = &ops[0] };
	fill_nr = largest(fill_calls, max);
	/* A small one, so that there is no room for the large one beside it. */
	ops[0] = (struct ftrace_ops){ .func = ftrace_kunit_note_x };
	register_on(test, &ops[0], ftrace_kunit_func1);
	/* Two structures, two buffers, the memory of the trampoline, and what makes it run. */
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 4U);
	KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline(1));
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "x");
}

/* A trampoline that comes or goes takes nothing from the one behind it. */
CASE(neighbours_are_found)
{
	const struct ftrace_call call = { .func = ftrace_kunit_note_x, .ops = &ops[0] };
	static struct ftrace_tramp *small[10];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(small); i++) {
		small[i] = tramp_make(&call, 1, false);
		KUNIT_ASSERT_NOT_NULL(test, small[i]);
	}
	for (i = 0; i < ARRAY_SIZE(small); i += 2) {
		tramp_free(small[i]);
		small[i] = tramp_make(&call, 1, false);
		KUNIT_ASSERT_NOT_NULL(test, small[i]);
	}
	expect_found(test, small, ARRAY_SIZE(small), 1);
	for (i = 0; i < ARRAY_SIZE(small); i += 2)
		tramp_free(small[i]);
	expect_found(test, small + 1, ARRAY_SIZE(small) - 1, 2);
	for (i = 1; i < ARRAY_SIZE(small); i += 2)
		tramp_free(small[i]);
}

/* Many trampolines need more memory, which is given back when they have gone. */
CASE(memory_is_given_back)
{
	struct ftrace_ops *many = kunit_kcalloc(test, NATIVE_FUNCS, sizeof(*many), GFP_KERNEL);
	unsigned int before;

	KUNIT_ASSERT_NOT_NULL(test, many);
	native_settle();
	before = native_nr_execmem();
	for (unsigned int i = 0; i < NATIVE_FUNCS; i++) {
		many[i].func = ftrace_kunit_note_x;
		register_on(test, &many[i], native_funcs[i]);
	}
	KUNIT_EXPECT_GT(test, native_nr_execmem(), before);
	for (unsigned int i = 0; i < NATIVE_FUNCS; i += 7)
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(native_funcs[i]), "x");
	for (unsigned int i = 0; i < NATIVE_FUNCS; i++) {
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&many[i]), 0);
		ftrace_free_filter(&many[i]);
	}
	native_settle();
	KUNIT_EXPECT_LE(test, native_nr_execmem(), before);
}

/* As long as a task is in its callback, no memory is freed that waits for a grace period. */
static struct ftrace_ops waiter;

static void release_memory(struct task_struct *task)
{
	native_let_go();
	kthread_stop(task);
}

static struct ftrace_ops *add_crowd(struct kunit *test, unsigned int nr)
{
	struct ftrace_ops *some = kunit_kcalloc(test, nr, sizeof(*some), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, some);
	for (unsigned int i = 0; i < nr; i++) {
		some[i].func = ftrace_kunit_note_x;
		ftrace_kunit_add_ops(test, &some[i]);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&some[i], ftrace_kunit_func1, true), 0);
	}
	return some;
}

/* Ops that come and go where there are many leave their callbacks behind, and few arrays. */
CASE(a_crowd_leaves_little)
{
	const unsigned int nr = 300, last = 200;
	struct ftrace_ops *some = add_crowd(test, nr);
	struct task_struct *task = native_hold_in_callback(test, &waiter, ftrace_kunit_func2);
	unsigned long live = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (i == nr - last)
			live = native_live();
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&some[i]), 0);
	}
	KUNIT_EXPECT_LE(test, native_live() - live, last + last / 4);
	live = native_live();
	for (unsigned int i = 0; i < last; i++) {
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&some[i]), 0);
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&some[i]), 0);
	}
	KUNIT_EXPECT_LE(test, native_live() - live, last + last / 4);
	release_memory(task);
}

static int perf_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	return 0;
}

/* If too much waits to be freed, ops are not registered, but removed; until it is freed. */
CASE(what_waits_is_bounded)
{
	const unsigned int nr = 60;
	struct trace_event_class class = { .reg = perf_reg };
	struct trace_event_call call = { .class = &class, .perf_refcount = 2,
					 .flags = TRACE_EVENT_FL_DYNAMIC };
	struct perf_event event = { .tp_event = &call };
	struct ftrace_ops *some = add_crowd(test, nr);
	struct task_struct *task = native_hold_in_callback(test, &waiter, ftrace_kunit_func2);
	unsigned int rounds = 0;
	int ret = 0;

	for (unsigned int i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, register_ftrace_function(&some[i]), 0);
	while (!ret && rounds++ < 10000) {
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&some[0]), 0);
		ret = register_ftrace_function(&some[0]);
	}
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_LT(test, native_nr_execmem(), SZ_16M / ARENA_SIZE);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&some[1]), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&some[2], ftrace_kunit_func2, true), -ENOMEM);
	native_let_go();
	/* perf waits when it closes an event. */
	perf_trace_destroy(&event);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&some[0]), 0);
	release_memory(task);
}

/* A removal changes sites and slots in the order of their addresses, also if the slots came in another order. */
CASE(slots_are_switched_off_in_order)
{
	const unsigned int nr = 20;
	struct ftrace_ops *some = kunit_kcalloc(test, nr, sizeof(*some), GFP_KERNEL);
	struct ftrace_ops *all = &some[0], *beside = &some[1], *low = &some[3];
	unsigned int unsorted = 0;

	KUNIT_ASSERT_NOT_NULL(test, some);
	for (unsigned int i = 0; i < nr; i++) {
		some[i].func = ftrace_kunit_note_x;
		ftrace_kunit_add_ops(test, &some[i]);
	}
	/* These leave room at a low address. */
	for (struct ftrace_ops *ops = low; ops < some + nr; ops++)
		register_on(test, ops, native_funcs[ops - low]);
	for (unsigned int i = 0; i < 2; i++) {
		test_func_t func = native_funcs[100 + i];

		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&beside[i], func, true), 0);
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(all, func, !i), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&beside[i]), 0);
		if (i)
			break;
		KUNIT_ASSERT_EQ(test, register_ftrace_function(all), 0);
		for (struct ftrace_ops *ops = low; ops < some + nr; ops++)
			KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
		native_settle();
	}
	KUNIT_EXPECT_LT(test, ftrace_kunit_tramp(native_funcs[101]),
			ftrace_kunit_tramp(native_funcs[100]));

	native_nr_pokes = 0;
	native_perf_wants = true;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(all), 0);
	native_perf_wants = false;
	/* Two sites and three slots: one trampoline had the second function for a moment. */
	KUNIT_EXPECT_EQ(test, native_nr_pokes, 5U);
	for (unsigned int i = 1; i < min(native_nr_pokes, 5U); i++)
		unsorted += native_pokes[i - 1].addr >= native_pokes[i].addr;
	KUNIT_EXPECT_EQ(test, unsorted, 0U);
}
