// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines: the code between a call site and the callbacks.
 *
 * A trampoline is built from the parts of a template in entry_64.S or entry_32.S: the head that
 * saves registers, one slot for each callback, and the tail that restores the registers. No
 * filter is looked up when it runs.
 *
 * A slot loads the ops as an immediate and calls the callback. If the ops can be freed, it
 * counts the tasks that enter and leave the callback, with one instruction of the CPU each,
 * which an NMI cannot divide. A task may change the CPU in between: only the sums of all CPUs
 * are compared.
 *
 * A slot is switched off by a change of five bytes, as a site is:
 *
 *	a counted slot		the first increment becomes a jump behind the second. It is
 *				longer than five bytes, so no task can be in the middle of
 *				it. A task behind it has counted itself in, a task before
 *				it jumps, and the number that entered no longer changes.
 *	any other slot		its call becomes a call of ftrace_stub()
 *	the jump to a direct	becomes a jump to ftrace_stub(), which returns
 *	caller
 *
 * A guard is a comparison of a word of the CPU, and a jump over the slot. If all slots have
 * guards, the trampoline begins with a gate, which compares all words and returns if all slots
 * are skipped. The gate runs before registers are saved, so it may only use flags and %r11,
 * which neither a function nor its caller expects from the other: a callback may change both.
 *
 * A callback that gives up if the task is in a callback is skipped by the gate, too, and counted
 * as missed. What such a callback calls may be traced, too: that can be twenty calls for one.
 * A word that the callback knows is a guard of the gate alone: the calls that it turns away are
 * counted there, too.
 *
 * The slot of a flight recorder is a template of its own, in flight_64.S: it records and calls
 * nothing. Such slots are at the start, before the gate. If there are no other slots, the
 * trampoline has no frame. The first instruction of such a slot is longer than five bytes, and
 * is switched off as in a counted slot.
 *
 * A direct caller that expects a jump from the site does not find the return address into the
 * traced function. So the trampoline removes it, behind a jump to the next instruction, which
 * can be switched off.
 *
 * Trampolines are in arenas that are read-only and executable from the moment they hold code,
 * and are written through text_poke_copy(). Each granule of an arena has a pointer to its
 * trampoline, so that it is found by any address in it, in any context.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/memory.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/trace_recursion.h>
#include <linux/workqueue.h>

#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

#include "flight.h"
#include "insn.h"

#define ARENA_SIZE	SZ_64K
#define GRANULE		SZ_64
#define GRANULES	(ARENA_SIZE / GRANULE)

/* The part of a trampoline that calls one callback. All but @code are offsets. */
struct slot {
	u16		at;	/* of the instruction that is changed to switch the slot off */
	u16		end;	/* of the end if the slot counts tasks or records, else 0 */
	u16		next;	/* of the code behind the slot, where its guard jumps */
	const char	*code;	/* the template of a slot that records, else NULL */
};

/* A trampoline, with the parts that only this file uses. The members in _at are offsets of code. */
struct tramp {
	struct ftrace_tramp	tramp;
	struct rcu_head		rcu;
	unsigned int		gate_at;	/* behind the slots that record */
	unsigned int		start_at;	/* makes the frame, behind the gate */
	unsigned int		slots_at;	/* the first slot; the frame is complete */
	unsigned int		tail_at;	/* removes the frame */
	unsigned int		end_at;		/* returns or jumps to the direct caller */
	bool			regs;		/* saves all registers */
	unsigned int		nr;		/* of slots; the last may be a direct caller */
	struct slot		slot[] __counted_by(nr);
};

/* Memory for trampolines. */
struct arena {
	struct list_head	list;			/* in arenas */
	unsigned long		base;
	DECLARE_BITMAP(used, GRANULES);
	DECLARE_BITMAP(first, GRANULES);		/* the first granule of each trampoline */
	const struct tramp	*owner[GRANULES];	/* the trampoline of each granule */
	struct rcu_work		free;
};

/* Changed with ftrace_lock held, read in any context. */
static LIST_HEAD(arenas);

/* The parts of a template; entry_64.S describes the parts. */
struct template {
	const char *start, *keep, *again, *call, *tail, *end;
};

#define TEMPLATE(name) {			\
	.start = (const char *)name,		\
	.keep = name##_keep,			\
	.again = name##_again,			\
	.call = name##_call,			\
	.tail = name##_tail,			\
	.end = name##_end,			\
}

static const struct template args_template = TEMPLATE(ftrace_caller);
static const struct template regs_template = TEMPLATE(ftrace_regs_caller);

static const struct template *tramp_template(bool regs)
{
	return regs ? &regs_template : &args_template;
}

/* Code under construction: written at @buf, to run at @addr. */
struct code {
	u8		*buf;
	unsigned long	addr;
	unsigned int	len;
};

static void tramp_emit(struct code *c, const void *bytes, unsigned int len)
{
	if (c->buf)
		memcpy(c->buf + c->len, bytes, len);
	c->len += len;
}

/* Except for CALL_DEPTH_ACCOUNT, nothing in a template uses an address relative to itself. */
static void tramp_emit_part(struct code *c, const char *from, const char *to)
{
	unsigned int len = to - from;
	u8 *dst = c->buf + c->len;

	tramp_emit(c, from, len);
	if (c->buf && cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		text_poke_apply_relocation(dst, (u8 *)c->addr + c->len - len, len,
					   (u8 *)from, len);
}

static void tramp_emit_branch(struct code *c, u8 opcode, unsigned long to)
{
	u8 insn[CALL_INSN_SIZE];

	__text_gen_insn(insn, opcode, (void *)c->addr + c->len, (void *)to,
			sizeof(insn));
	tramp_emit(c, insn, sizeof(insn));
}

/* A jump to an offset of the trampoline, which the first run of tramp_emit_all() has found. */
static void tramp_emit_jump(struct code *c, const char *opcode, unsigned int to)
{
	s32 distance;

	tramp_emit(c, opcode, strlen(opcode));
	distance = to - (c->len + sizeof(distance));
	tramp_emit(c, &distance, sizeof(distance));
}

#define JE	"\x0f\x84"
#define JNE	"\x0f\x85"
#define JMP	"\xe9"

/*
 * The last two arguments of a callback. 64-bit: the ops in %rdx, with mov $imm32 if the ops is
 * in the kernel image and else movabs, and the registers in %rcx. 32-bit, with -mregparm=3:
 * mov $imm32, %ecx; the registers are already on the stack.
 */
static void tramp_emit_last_args(struct code *c, const struct ftrace_ops *ops)
{
#ifdef CONFIG_X86_64
	long imm = (long)ops;
	s32 imm32 = imm;

	if (imm == imm32) {
		tramp_emit(c, "\x48\xc7\xc2", 3);
		tramp_emit(c, &imm32, sizeof(imm32));
	} else {
		tramp_emit(c, "\x48\xba", 2);
		tramp_emit(c, &imm, sizeof(imm));
	}
	tramp_emit(c, "\x48\x89\xe1", 3);
#else
	tramp_emit(c, "\xb9", 1);
	tramp_emit(c, &ops, sizeof(ops));
#endif
}

#ifdef CONFIG_X86_64
/* Does the address of a variable of the CPU fit into an instruction, sign-extended? */
static bool tramp_near(const void __percpu *p)
{
	long addr = (__force long)p;

	return addr == (s32)addr;
}

/* movabs $count, %rax: callbacks do not use this register. */
static void tramp_emit_count_addr(struct code *c, const unsigned long __percpu *count)
{
	if (tramp_near(count))
		return;
	tramp_emit(c, "\x48\xb8", 2);
	tramp_emit(c, &count, sizeof(count));
}

/* incq %gs:count, or incq %gs:0(%rax): both are longer than five bytes. */
static void tramp_emit_count(struct code *c, const unsigned long __percpu *count)
{
	bool near = tramp_near(count);
	s32 disp = near ? (__force long)count : 0;

	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x65", 1);
	if (near)
		tramp_emit(c, "\x48\xff\x04\x25", 4);
	else
		tramp_emit(c, "\x48\xff\x80", 3);
	tramp_emit(c, &disp, sizeof(disp));
}

/*
 * cmpl $imm, %gs:word; or, by way of a register, cmpl $imm, %gs:(%rax) in a slot, and
 * cmpl $imm, %gs:(%r11) in the gate.
 */
static void tramp_emit_compare(struct code *c, const struct ftrace_guard *guard, bool gate)
{
	const s8 imm8 = guard->skip;
	bool near = tramp_near(guard->word), small = imm8 == guard->skip;
	s32 disp = (__force long)guard->word;

	if (!near) {
		tramp_emit(c, gate ? "\x49\xbb" : "\x48\xb8", 2);
		tramp_emit(c, &guard->word, sizeof(guard->word));
	}
	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x65", 1);
	if (!near && gate)
		tramp_emit(c, "\x41", 1);
	tramp_emit(c, small ? "\x83" : "\x81", 1);
	if (near) {
		tramp_emit(c, "\x3c\x25", 2);
		tramp_emit(c, &disp, sizeof(disp));
	} else {
		tramp_emit(c, gate ? "\x3b" : "\x38", 1);
	}
	if (small)
		tramp_emit(c, &imm8, sizeof(imm8));
	else
		tramp_emit(c, &guard->skip, sizeof(guard->skip));
}

/* testb $(1 << ctx), trace_recursion(%r11) */
static void tramp_emit_test_recursion(struct code *c, int ctx)
{
	u32 off = offsetof(struct task_struct, trace_recursion);
	u8 bit = BIT(TRACE_FTRACE_START + ctx);

	static_assert(TRACE_FTRACE_START + TRACE_CTX_TRANSITION < 8);
	tramp_emit(c, "\x41\xf6\x83", 3);
	tramp_emit(c, &off, sizeof(off));
	tramp_emit(c, &bit, sizeof(bit));
}

/*
 * Does ftrace_test_recursion_trylock() fail? It does if the task has the bit of its context and
 * that of a transition. This looks at tasks alone; interrupts are left to the callback. First
 * comes what mostly decides: movq %gs:current_task, %r11, and the test of the transition.
 */
static void tramp_emit_trylock(struct code *c, unsigned int succeeds)
{
	u32 task = (__force unsigned long)&current_task;
	u32 count = (__force unsigned long)&__preempt_count;
	u32 interrupted = NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET;

	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x65", 1);
	tramp_emit(c, "\x4c\x8b\x1c\x25", 4);
	tramp_emit(c, &task, sizeof(task));
	tramp_emit_test_recursion(c, TRACE_CTX_TRANSITION);
	tramp_emit_jump(c, JE, succeeds);
	tramp_emit_test_recursion(c, TRACE_CTX_NORMAL);
	tramp_emit_jump(c, JE, succeeds);
	/* testl $interrupted, %gs:__preempt_count */
	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x65", 1);
	tramp_emit(c, "\xf7\x04\x25", 3);
	tramp_emit(c, &count, sizeof(count));
	tramp_emit(c, &interrupted, sizeof(interrupted));
	tramp_emit_jump(c, JNE, succeeds);
}

/* incq %gs:count, or, where registers are not saved, movabs $count, %r11; incq %gs:(%r11) */
static void tramp_emit_missed(struct code *c, const unsigned long __percpu *count)
{
	if (tramp_near(count)) {
		tramp_emit_count(c, count);
		return;
	}
	tramp_emit(c, "\x49\xbb", 2);
	tramp_emit(c, &count, sizeof(count));
	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x65", 1);
	tramp_emit(c, "\x49\xff\x03", 3);
}
#else
static void tramp_emit_count_addr(struct code *c, const unsigned long __percpu *count) { }

/* incl %fs:count */
static void tramp_emit_count(struct code *c, const unsigned long __percpu *count)
{
	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x64", 1);
	tramp_emit(c, "\xff\x05", 2);
	tramp_emit(c, &count, sizeof(count));
}

/* No register is free. */
static void tramp_emit_trylock(struct code *c, unsigned int succeeds) { }
static void tramp_emit_missed(struct code *c, const unsigned long __percpu *count) { }

/* cmpl $imm, %fs:word */
static void tramp_emit_compare(struct code *c, const struct ftrace_guard *guard, bool gate)
{
	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x64", 1);
	tramp_emit(c, "\x81\x3d", 2);
	tramp_emit(c, &guard->word, sizeof(guard->word));
	tramp_emit(c, &guard->skip, sizeof(guard->skip));
}
#endif

static void tramp_emit_slot(struct code *c, struct slot *slot, const struct ftrace_call *call)
{
	tramp_emit_last_args(c, call->ops);
	if (!call->count) {
		slot->at = c->len;
		tramp_emit_branch(c, CALL_INSN_OPCODE, (unsigned long)call->func);
		return;
	}
	tramp_emit_count_addr(c, &call->count->entered);
	slot->at = c->len;
	tramp_emit_count(c, &call->count->entered);
	tramp_emit_branch(c, CALL_INSN_OPCODE, (unsigned long)call->func);
	tramp_emit_count_addr(c, &call->count->left);
	tramp_emit_count(c, &call->count->left);
	slot->end = c->len;
}

/*
 * Undo the call of the site: shlq $5, %gs:depth for its count in the call depth, and
 * lea 8(%rsp), %rsp for its return address.
 */
static void tramp_emit_uncall(struct code *c)
{
#if defined(CONFIG_MITIGATION_CALL_DEPTH_TRACKING) && defined(CONFIG_DYNAMIC_FTRACE_WITH_JMP)
	u32 depth = (u32)(__force unsigned long)&__x86_call_depth;

	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH)) {
		tramp_emit(c, "\x65\x48\xc1\x24\x25", 5);
		tramp_emit(c, &depth, sizeof(depth));
		tramp_emit(c, "\x05", 1);
	}
#endif
	tramp_emit(c, "\x48\x8d\x64\x24\x08", 5);
}

static void tramp_emit_direct(struct code *c, struct slot *slot, unsigned long direct)
{
	slot->at = c->len;
	if (ftrace_is_jmp(direct)) {
		tramp_emit_branch(c, JMP32_INSN_OPCODE, c->addr + c->len + JMP32_INSN_SIZE);
		tramp_emit_uncall(c);
	}
	tramp_emit_branch(c, JMP32_INSN_OPCODE, ftrace_jmp_get(direct));
}

/* Behind a jump or return: no straight-line speculation. */
static void tramp_emit_int3(struct code *c)
{
	tramp_emit(c, "\xcc", INT3_INSN_SIZE);
}

/* Count the call of the site, where nothing that is copied from a template does. */
static void tramp_emit_account(struct code *c)
{
#ifdef CONFIG_MITIGATION_CALL_DEPTH_TRACKING
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		tramp_emit_part(c, ftrace_account, ftrace_account_end);
#endif
}

static void tramp_emit_return(struct code *c)
{
	if (cpu_wants_rethunk())
		tramp_emit_branch(c, JMP32_INSN_OPCODE, (unsigned long)x86_return_thunk);
	else
		tramp_emit(c, "\xc3", RET_INSN_SIZE);
}

#ifdef CONFIG_FTRACE_FLIGHT
static unsigned long flight_resched(void)
{
#if !defined(CONFIG_PREEMPTION)
	return 0;
#elif defined(CONFIG_PREEMPT_DYNAMIC)
	return (unsigned long)STATIC_CALL_TRAMP_ADDR(preempt_schedule_notrace);
#else
	return (unsigned long)preempt_schedule_notrace_thunk;
#endif
}

/* Write into the copy of a template at @code, which will run at @addr. */
static void flight_fix(u8 *code, unsigned long addr, const struct flight_fix *fix,
		       const struct ftrace_flight *flight)
{
	u8 *at = code + fix->at;
	unsigned long end = addr + fix->at + sizeof(s32);

	switch (fix->what) {
	case FLIGHT_DEPTH:
		put_unaligned((u32)(__force unsigned long)&ftrace_flight_depth, (u32 *)at);
		break;
	case FLIGHT_PREEMPT:
		put_unaligned((u32)(__force unsigned long)&__preempt_count, (u32 *)at);
		break;
	case FLIGHT_CPU:
		put_unaligned((__force u64)flight->cpu, (u64 *)at);
		break;
	case FLIGHT_RESCHED:
		put_unaligned((u32)(flight_resched() - end), (u32 *)at);
		break;
	case FLIGHT_GROUP:
		put_unaligned((u32)((unsigned long)(flight->timed ? ftrace_flight_slow_timed :
						    ftrace_flight_slow) - end), (u32 *)at);
		break;
	}
}

#define FLIGHT_CODE(name) {				\
	.start = (const char *)ftrace_##name##_code,	\
	.end = ftrace_##name##_code_end,		\
	.fix = ftrace_##name##_fixes,			\
	.fix_end = ftrace_##name##_fixes_end,		\
}

static const struct flight_code flight_codes[] = { FLIGHT_CODE(flight), FLIGHT_CODE(flight_timed) };

static void tramp_emit_record(struct code *c, struct slot *slot, const struct ftrace_flight *flight)
{
	const struct flight_code *code = &flight_codes[flight->timed];

	slot->at = c->len;
	slot->code = code->start;
	tramp_emit(c, code->start, code->end - code->start);
	slot->end = c->len;
	if (!c->buf)
		return;
	for (const struct flight_fix *fix = code->fix; fix < code->fix_end; fix++)
		flight_fix(c->buf + slot->at, c->addr + slot->at, fix, flight);
}
#else
static void tramp_emit_record(struct code *c, struct slot *slot, const struct ftrace_flight *flight)
{
}
#endif

/* The slots that record. As nothing is saved, their guards compare as the gate does. */
static void tramp_emit_records(struct code *c, struct tramp *tramp,
			       const struct ftrace_call *calls, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct slot *slot = &tramp->slot[i];

		if (!calls[i].flight)
			continue;
		if (calls[i].guard) {
			tramp_emit_compare(c, calls[i].guard, true);
			tramp_emit_jump(c, JE, slot->next);
		}
		tramp_emit_record(c, slot, calls[i].flight);
		slot->next = c->len;
	}
}

/* The number of slots that call something. */
static unsigned int tramp_nr_calls(const struct ftrace_call *calls, unsigned int nr)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < nr; i++)
		n += !calls[i].flight;
	return n;
}

static bool tramp_tries_lock(const struct ftrace_call *call)
{
	return IS_ENABLED(CONFIG_X86_64) && call->trylock;
}

/*
 * A guard that counts is for the gate alone: the callback knows its word, too. On 32 bit, no
 * register is free.
 */
static const struct ftrace_guard *tramp_guard(const struct ftrace_call *call, bool gate)
{
	const struct ftrace_guard *guard = call->guard;

	return guard && guard->skipped && (!gate || !IS_ENABLED(CONFIG_X86_64)) ? NULL : guard;
}

static bool tramp_has_gate(const struct ftrace_call *calls, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!tramp_guard(&calls[i], true) && !calls[i].flight &&
		    !tramp_tries_lock(&calls[i]))
			return false;
	return nr;
}

/*
 * Callbacks without a guard are skipped if the task is in a callback. They are counted when it is
 * known that all are skipped.
 */
static void tramp_emit_gate_trylock(struct code *c, const struct tramp *tramp,
				    const struct ftrace_call *calls, unsigned int nr)
{
	bool first = true;

	for (unsigned int i = 0; i < nr; i++) {
		if (tramp_guard(&calls[i], true) || calls[i].flight)
			continue;
		if (first)
			tramp_emit_trylock(c, tramp->start_at);
		first = false;
		if (calls[i].count)
			tramp_emit_missed(c, &calls[i].count->missed);
	}
}

/* Go on behind the gate if a slot is not skipped. Otherwise do what comes after the frame. */
static void tramp_emit_gate(struct code *c, const struct tramp *tramp,
			    const struct ftrace_call *calls, unsigned int nr, bool direct)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (!tramp_guard(&calls[i], true) || calls[i].flight)
			continue;
		tramp_emit_compare(c, calls[i].guard, true);
		tramp_emit_jump(c, JNE, tramp->start_at);
	}
	tramp_emit_gate_trylock(c, tramp, calls, nr);
	for (unsigned int i = 0; i < nr; i++)
		if (tramp_guard(&calls[i], true) && !calls[i].flight && calls[i].guard->skipped)
			tramp_emit_missed(c, calls[i].guard->skipped);
	tramp_emit_account(c);
	if (direct)
		tramp_emit_jump(c, JMP, tramp->end_at);
	else
		tramp_emit_return(c);
	tramp_emit_int3(c);
}

/* If there is one slot, the gate is its guard. */
static void tramp_emit_guarded(struct code *c, struct tramp *tramp, unsigned int i,
			       const struct ftrace_call *call, bool first, bool only)
{
	const struct template *t = tramp_template(tramp->regs);
	struct slot *slot = &tramp->slot[i];

	if (tramp_guard(call, false) && !only) {
		tramp_emit_compare(c, call->guard, false);
		tramp_emit_jump(c, JE, slot->next);
	}
	if (!first)
		tramp_emit_part(c, t->again, t->call);
	tramp_emit_slot(c, slot, call);
	slot->next = c->len;
}

/* The frame, and the slots that need it. */
static void tramp_emit_calls(struct code *c, struct tramp *tramp,
			     const struct ftrace_call *calls, unsigned int nr)
{
	const struct template *t = tramp_template(tramp->regs);
	unsigned int nr_calls = tramp_nr_calls(calls, nr), n = 0;

	tramp->start_at = c->len;
	tramp_emit_part(c, t->start, t->keep);
	tramp->slots_at = c->len;
	if (nr_calls > 1)
		tramp_emit_part(c, t->keep, t->again);
	for (unsigned int i = 0; i < nr; i++) {
		if (calls[i].flight)
			continue;
		tramp_emit_guarded(c, tramp, i, &calls[i], !n, nr_calls == 1);
		n++;
	}
	tramp->tail_at = c->len;
	tramp_emit_part(c, t->tail, t->end);
}

/* Run twice: the first time without a buffer, to get the length and the offsets. */
static void tramp_emit_all(struct code *c, struct tramp *tramp,
			   const struct ftrace_call *calls, unsigned int nr,
			   unsigned long direct)
{
	bool frame = !nr || tramp_nr_calls(calls, nr);

	c->len = 0;
	tramp_emit_records(c, tramp, calls, nr);
	tramp->gate_at = c->len;
	if (tramp_has_gate(calls, nr) && frame)
		tramp_emit_gate(c, tramp, calls, nr, direct);
	if (frame) {
		tramp_emit_calls(c, tramp, calls, nr);
	} else {
		/* All slots record. */
		tramp->start_at = c->len;
		tramp->slots_at = c->len;
		tramp_emit_account(c);
	}
	tramp->end_at = c->len;
	if (direct)
		tramp_emit_direct(c, &tramp->slot[nr], direct);
	else
		tramp_emit_return(c);
	tramp_emit_int3(c);
	tramp->tramp.size = c->len;
}

static void arena_free(struct work_struct *work)
{
	struct arena *arena = container_of(to_rcu_work(work), struct arena, free);

	execmem_free((void *)arena->base);
	kvfree(arena);
}

static struct arena *arena_make(void)
{
	struct arena *arena __free(kvfree) = kvzalloc(sizeof(*arena), GFP_KERNEL);
	void *mem;

	if (!arena)
		return NULL;
	mem = execmem_alloc_rw(EXECMEM_FTRACE, ARENA_SIZE);
	if (!mem)
		return NULL;
	memset(mem, INT3_INSN_OPCODE, ARENA_SIZE);
	if (set_memory_rox((unsigned long)mem, ARENA_SIZE >> PAGE_SHIFT)) {
		execmem_free(mem);
		return NULL;
	}
	arena->base = (unsigned long)mem;
	INIT_RCU_WORK(&arena->free, arena_free);
	list_add_rcu(&arena->list, &arenas);
	return no_free_ptr(arena);
}

/* Any context; preemption off, or ftrace_lock held. */
static struct arena *arena_of(unsigned long addr)
{
	struct arena *arena;

	lockdep_assert(!preemptible() || lockdep_is_held(&ftrace_lock));
	list_for_each_entry_rcu(arena, &arenas, list, true)
		if (addr - arena->base < ARENA_SIZE)
			return arena;
	return NULL;
}

/* Returns the address of @n consecutive granules, 0 if there is no memory. */
static unsigned long granules_get(unsigned int n)
{
	struct arena *arena;
	unsigned long at = 0;

	if (n > GRANULES)
		return 0;
	list_for_each_entry(arena, &arenas, list) {
		at = bitmap_find_next_zero_area(arena->used, GRANULES, 0, n, 0);
		if (at < GRANULES)
			goto found;
	}
	arena = arena_make();
	if (!arena)
		return 0;
	at = 0;
found:
	bitmap_set(arena->used, at, n);
	return arena->base + at * GRANULE;
}

/* The last arena stays for the next trampoline, because making an arena is slow. */
static void granules_put(unsigned long addr, unsigned int n)
{
	struct arena *arena = arena_of(addr);

	bitmap_clear(arena->used, (addr - arena->base) / GRANULE, n);
	if (!bitmap_empty(arena->used, GRANULES) || list_is_singular(&arenas))
		return;
	/* Another CPU may be looking for an address in the arena. */
	list_del_rcu(&arena->list);
	queue_rcu_work(system_dfl_wq, &arena->free);
}

static unsigned int tramp_granules(const struct tramp *tramp)
{
	return DIV_ROUND_UP(tramp->tramp.size, GRANULE);
}

static void granules_own(unsigned long addr, unsigned int n, const struct tramp *owner)
{
	struct arena *arena = arena_of(addr);
	unsigned int at = (addr - arena->base) / GRANULE;

	for (unsigned int i = 0; i < n; i++)
		WRITE_ONCE(arena->owner[at + i], owner);
	__assign_bit(at, arena->first, owner);
}

struct ftrace_tramp *arch_ftrace_tramp_make(const struct ftrace_call *calls,
					    unsigned int nr, bool regs,
					    unsigned long direct)
{
	void *buf __free(kvfree) = NULL;
	struct tramp *tramp __free(kvfree) = NULL;
	unsigned int slots = nr + !!direct;
	struct code code = { };

	lockdep_assert_held(&ftrace_lock);
	tramp = kvzalloc(struct_size(tramp, slot, slots), GFP_KERNEL);
	if (!tramp)
		return NULL;
	tramp->nr = slots;
	tramp->regs = regs;
	tramp_emit_all(&code, tramp, calls, nr, direct);

	buf = kvmalloc(tramp->tramp.size, GFP_KERNEL);
	if (!buf)
		return NULL;
	code.buf = buf;
	code.addr = granules_get(tramp_granules(tramp));
	if (!code.addr)
		return NULL;

	tramp_emit_all(&code, tramp, calls, nr, direct);
	tramp->tramp.addr = code.addr;
	text_poke_copy((void *)code.addr, code.buf, code.len);
	granules_own(code.addr, tramp_granules(tramp), tramp);
	return &no_free_ptr(tramp)->tramp;
}

void arch_ftrace_tramp_off(const struct ftrace_tramp *tramp, unsigned int n,
			   struct ftrace_patch *patch)
{
	const struct slot *slot = &container_of(tramp, struct tramp, tramp)->slot[n];
	unsigned long ip = tramp->addr + slot->at;

	lockdep_assert_held(&ftrace_lock);
	if (slot->end)
		ftrace_slot_set(patch, ip, JMP32_INSN_OPCODE, tramp->addr + slot->end);
	else
		ftrace_slot_set(patch, ip, *(const u8 *)ip, (unsigned long)ftrace_stub);
}

void arch_ftrace_tramp_free(struct ftrace_tramp *tramp)
{
	struct tramp *t = container_of(tramp, struct tramp, tramp);

	lockdep_assert_held(&ftrace_lock);
	text_poke_set((void *)tramp->addr, INT3_INSN_OPCODE, tramp->size);
	granules_own(tramp->addr, tramp_granules(t), NULL);
	granules_put(tramp->addr, tramp_granules(t));
	/* arch_ftrace_tramp_find() may be reading the struct. */
	kvfree_rcu(t, rcu);
}

static const struct tramp *tramp_find(unsigned long addr)
{
	struct arena *arena = arena_of(addr);
	const struct tramp *t;

	if (!arena)
		return NULL;
	t = READ_ONCE(arena->owner[(addr - arena->base) / GRANULE]);
	return t && addr - t->tramp.addr < t->tramp.size ? t : NULL;
}

const struct ftrace_tramp *arch_ftrace_tramp_find(unsigned long addr)
{
	const struct tramp *t = tramp_find(addr);

	return t ? &t->tramp : NULL;
}

const struct ftrace_tramp *arch_ftrace_tramp_nth(unsigned int n)
{
	struct arena *arena;

	list_for_each_entry_rcu(arena, &arenas, list, true) {
		unsigned int nr = bitmap_weight(arena->first, GRANULES), at;
		const struct tramp *t;

		if (n >= nr) {
			n -= nr;
			continue;
		}
		/* A trampoline may be freed after the count, and before its owner is read. */
		at = find_nth_bit(arena->first, GRANULES, n);
		t = at < GRANULES ? READ_ONCE(arena->owner[at]) : NULL;
		return t ? &t->tramp : NULL;
	}
	return NULL;
}

/* The address in the template of a slot that records; a guard of it has the layout of the start. */
static unsigned long tramp_record_ip(const struct tramp *tramp, unsigned int off)
{
	for (unsigned int i = 0; i < tramp->nr; i++) {
		const struct slot *slot = &tramp->slot[i];

		if (slot->code && off >= slot->at && off < slot->end)
			return (unsigned long)slot->code + (off - slot->at);
	}
	return (unsigned long)tramp_template(tramp->regs)->start;
}

/*
 * The address in the template with the same stack layout as @ip; 0 if @ip is in no trampoline and
 * no thunk.
 * While callbacks run, the stack has the layout of the call in the template. Any context.
 */
unsigned long ftrace_tramp_template_ip(unsigned long ip)
{
	const struct template *t;
	const struct tramp *tramp;
	const char *at;
	unsigned int off;

	guard(preempt_notrace)();
	tramp = tramp_find(ip);
	if (!tramp)
		return IS_ENABLED(CONFIG_FTRACE_FLIGHT_RETURNS) ? ftrace_thunk_template_ip(ip) : 0;

	t = tramp_template(tramp->regs);
	off = ip - tramp->tramp.addr;
	if (off < tramp->gate_at)
		return tramp_record_ip(tramp, off);
	if (off < tramp->start_at)
		at = t->start;
	else if (off < tramp->slots_at)
		at = t->start + (off - tramp->start_at);
	else if (tramp->start_at == tramp->slots_at)
		at = t->end;
	else if (off < tramp->tail_at)
		at = t->call;
	else
		at = min(t->tail + (off - tramp->tail_at), t->end);
	return (unsigned long)at;
}
