// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines: the code between a call site and the callbacks.
 *
 * A trampoline is built from the parts of a template in ftrace_64.S or ftrace_32.S:
 * the head that saves registers, one slot for each callback, and the tail that
 * restores the registers. No filter is looked up when a trampoline runs.
 *
 * A slot loads the ops as an immediate and calls the callback. If the ops can be
 * freed, the slot counts the tasks that enter the callback and the tasks that leave
 * it, per CPU: one instruction before the call, one after it. An NMI cannot divide
 * an instruction. A task may change the CPU in between, because only the sums of all
 * CPUs are compared.
 *
 * A slot is switched off by a change of five bytes, as a site is:
 *
 *	a counted slot		the first increment becomes a jump behind the
 *				second. The increment is longer than five bytes,
 *				so no task can be in the middle of it. A task
 *				behind the increment has counted itself in; a task
 *				before the increment jumps.
 *				So the number of tasks that entered no longer
 *				changes.
 *	any other slot		its call becomes a call of ftrace_stub()
 *	the jump to a direct	becomes a jump to ftrace_stub(), which returns
 *	caller
 *
 * A direct caller that expects a jump from the site does not find the return address
 * into the traced function. So the trampoline removes this address. Before that is a
 * jump to the next instruction, which can be switched off.
 *
 * Trampolines are in arenas that are read-only and executable from the moment they
 * hold code, and are written through text_poke_copy(). Each granule of an arena
 * stores its trampoline, so that the trampoline of an address is found in any
 * context.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/rculist.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

#include "ftrace_base.h"
#include "ftrace_insn.h"

#define ARENA_SIZE	SZ_64K
#define GRANULE		SZ_64
#define GRANULES	(ARENA_SIZE / GRANULE)

/**
 * struct slot - the part of a trampoline that calls one callback
 * @at: offset of the instruction that is changed to switch the slot off
 * @end: offset of the end of the slot if the slot counts tasks, else 0
 */
struct slot {
	u16	at;
	u16	end;
};

/**
 * struct tramp - a trampoline, with the parts that only this file uses
 * @tramp: the parts that other files use
 * @rcu: frees this struct
 * @slots_at: offset of the first slot, where the frame is complete
 * @tail_at: offset of the code that removes the frame
 * @regs: the trampoline saves all registers
 * @nr: number of slots; if there is a direct caller, the jump to it is the last slot
 * @slot: the slots
 */
struct tramp {
	struct ftrace_tramp	tramp;
	struct rcu_head		rcu;
	unsigned int		slots_at;
	unsigned int		tail_at;
	bool			regs;
	unsigned int		nr;
	struct slot		slot[] __counted_by(nr);
};

/**
 * struct arena - memory for trampolines
 * @list: in arenas
 * @base: address of the memory
 * @used: granules that are in use
 * @first: the first granule of each trampoline
 * @owner: the trampoline of each granule
 * @free: frees the arena
 */
struct arena {
	struct list_head	list;
	unsigned long		base;
	DECLARE_BITMAP(used, GRANULES);
	DECLARE_BITMAP(first, GRANULES);
	const struct tramp	*owner[GRANULES];
	struct rcu_work		free;
};

/* Changed with ftrace_lock held, read in any context. */
static LIST_HEAD(arenas);

/* The parts of a template; ftrace_64.S describes the parts. */
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

/*
 * The last two arguments of a callback. 64-bit: the ops in %rdx, with the short
 * instruction if the ops is in the kernel image, and the registers in %rcx. 32-bit,
 * with -mregparm=3: the ops in %ecx; the registers are already on the stack.
 */
static void tramp_emit_last_args(struct code *c, const struct ftrace_ops *ops)
{
#ifdef CONFIG_X86_64
	long imm = (long)ops;
	s32 imm32 = imm;

	if (imm == imm32) {
		tramp_emit(c, "\x48\xc7\xc2", 3);	/* mov $imm32, %rdx */
		tramp_emit(c, &imm32, sizeof(imm32));
	} else {
		tramp_emit(c, "\x48\xba", 2);		/* movabs $imm64, %rdx */
		tramp_emit(c, &imm, sizeof(imm));
	}
	tramp_emit(c, "\x48\x89\xe1", 3);		/* mov %rsp, %rcx */
#else
	tramp_emit(c, "\xb9", 1);			/* mov $imm32, %ecx */
	tramp_emit(c, &ops, sizeof(ops));
#endif
}

#ifdef CONFIG_X86_64
/* Does the address of a counter fit into an instruction, sign-extended? */
static bool tramp_count_near(const unsigned long __percpu *count)
{
	long addr = (__force long)count;

	return addr == (s32)addr;
}

/* movabs $count, %rax: callbacks do not use this register. */
static void tramp_emit_count_addr(struct code *c, const unsigned long __percpu *count)
{
	if (tramp_count_near(count))
		return;
	tramp_emit(c, "\x48\xb8", 2);
	tramp_emit(c, &count, sizeof(count));
}

/* incq %gs:count, or incq %gs:0(%rax): both are longer than five bytes. */
static void tramp_emit_count(struct code *c, const unsigned long __percpu *count)
{
	bool near = tramp_count_near(count);
	s32 disp = near ? (__force long)count : 0;

	if (IS_ENABLED(CONFIG_SMP))
		tramp_emit(c, "\x65", 1);
	if (near)
		tramp_emit(c, "\x48\xff\x04\x25", 4);
	else
		tramp_emit(c, "\x48\xff\x80", 3);
	tramp_emit(c, &disp, sizeof(disp));
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
#endif

static void tramp_emit_slot(struct code *c, struct slot *slot, const struct ftrace_call *call)
{
	tramp_emit_last_args(c, call->ops);
	if (!call->count) {
		*slot = (struct slot){ .at = c->len };
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

/* Undo the call of the site: its return address, and its count in the call depth. */
static void tramp_emit_uncall(struct code *c)
{
#if defined(CONFIG_MITIGATION_CALL_DEPTH_TRACKING) && defined(CONFIG_DYNAMIC_FTRACE_WITH_JMP)
	u32 depth = (u32)(__force unsigned long)&__x86_call_depth;

	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH)) {
		tramp_emit(c, "\x65\x48\xc1\x24\x25", 5);	/* shlq $5, %gs:depth */
		tramp_emit(c, &depth, sizeof(depth));
		tramp_emit(c, "\x05", 1);
	}
#endif
	tramp_emit(c, "\x48\x8d\x64\x24\x08", 5);		/* lea 8(%rsp), %rsp */
}

static void tramp_emit_direct(struct code *c, struct slot *slot, unsigned long direct)
{
	*slot = (struct slot){ .at = c->len };
	if (ftrace_is_jmp(direct)) {
		tramp_emit_branch(c, JMP32_INSN_OPCODE, c->addr + c->len + JMP32_INSN_SIZE);
		tramp_emit_uncall(c);
	}
	tramp_emit_branch(c, JMP32_INSN_OPCODE, ftrace_jmp_get(direct));
}

/* Run twice: the first time without a buffer, to get the length. */
static void tramp_emit_all(struct code *c, struct tramp *tramp,
			   const struct ftrace_call *calls, unsigned int nr,
			   unsigned long direct)
{
	const struct template *t = tramp_template(tramp->regs);

	c->len = 0;
	tramp_emit_part(c, t->start, t->keep);
	tramp->slots_at = c->len;
	if (nr > 1)
		tramp_emit_part(c, t->keep, t->again);
	for (unsigned int i = 0; i < nr; i++) {
		if (i)
			tramp_emit_part(c, t->again, t->call);
		tramp_emit_slot(c, &tramp->slot[i], &calls[i]);
	}
	tramp->tail_at = c->len;
	tramp_emit_part(c, t->tail, t->end);

	if (direct)
		tramp_emit_direct(c, &tramp->slot[nr], direct);
	else if (cpu_wants_rethunk())
		tramp_emit_branch(c, JMP32_INSN_OPCODE, (unsigned long)x86_return_thunk);
	else
		tramp_emit(c, "\xc3", RET_INSN_SIZE);
	tramp_emit(c, "\xcc", INT3_INSN_SIZE);	/* no straight-line speculation */
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
	struct arena *arena = kvzalloc(sizeof(*arena), GFP_KERNEL);
	void *mem;

	if (!arena)
		return NULL;
	mem = ftrace_text_alloc(ARENA_SIZE);
	if (!mem)
		goto free_arena;
	memset(mem, INT3_INSN_OPCODE, ARENA_SIZE);
	if (set_memory_rox((unsigned long)mem, ARENA_SIZE >> PAGE_SHIFT))
		goto free_mem;
	arena->base = (unsigned long)mem;
	INIT_RCU_WORK(&arena->free, arena_free);
	list_add_rcu(&arena->list, &arenas);
	return arena;

free_mem:
	execmem_free(mem);
free_arena:
	kvfree(arena);
	return NULL;
}

static struct arena *arena_of(unsigned long addr)
{
	struct arena *arena;

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
	queue_rcu_work(ftrace_any_cpu_wq, &arena->free);
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

/**
 * arch_ftrace_tramp_make - build a trampoline
 * @calls: the callbacks, in the order in which they are called
 * @nr: number of callbacks
 * @regs: save all registers, not only those of arguments
 * @direct: where to jump at the end, 0 for the traced function
 *
 * The slots have the numbers of the callbacks; the jump to @direct has the next number.
 *
 * Context: Process context, may sleep. ftrace_lock held, text_mutex not held.
 * Return: the trampoline, NULL if there is no memory or the trampoline would be
 *	larger than 64 KB.
 */
struct ftrace_tramp *arch_ftrace_tramp_make(const struct ftrace_call *calls,
					    unsigned int nr, bool regs,
					    unsigned long direct)
{
	unsigned int slots = nr + !!direct;
	struct code code = { };
	struct tramp *tramp;

	lockdep_assert_held(&ftrace_lock);
	tramp = kvzalloc(struct_size(tramp, slot, slots), GFP_KERNEL);
	if (!tramp)
		return NULL;
	tramp->nr = slots;
	tramp->regs = regs;
	tramp_emit_all(&code, tramp, calls, nr, direct);

	code.buf = kvmalloc(tramp->tramp.size, GFP_KERNEL);
	if (!code.buf)
		goto fail;
	code.addr = granules_get(tramp_granules(tramp));
	if (!code.addr)
		goto fail;

	tramp_emit_all(&code, tramp, calls, nr, direct);
	tramp->tramp.addr = code.addr;
	text_poke_copy((void *)code.addr, code.buf, code.len);
	granules_own(code.addr, tramp_granules(tramp), tramp);
	kvfree(code.buf);
	return &tramp->tramp;

fail:
	kvfree(code.buf);
	kvfree(tramp);
	return NULL;
}

/**
 * arch_ftrace_tramp_off - the patch that switches a slot of a trampoline off
 * @tramp: the trampoline
 * @n: number of the slot, which is on
 * @patch: where to put the patch for arch_ftrace_patch()
 *
 * Context: ftrace_lock held.
 */
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

/**
 * arch_ftrace_tramp_free - free a trampoline
 * @tramp: the trampoline; no task is in it or will enter it
 *
 * Context: Process context, may sleep. ftrace_lock held.
 */
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

/**
 * arch_ftrace_tramp_find - find the trampoline at an address
 * @addr: any address
 *
 * Context: Any context, preemption off.
 * Return: the trampoline, which stays while preemption is off, where RCU is
 *	watching; NULL if there is none.
 */
const struct ftrace_tramp *arch_ftrace_tramp_find(unsigned long addr)
{
	const struct tramp *t = tramp_find(addr);

	return t ? &t->tramp : NULL;
}

/**
 * arch_ftrace_tramp_nth - get a trampoline by its number
 * @n: number of the trampoline, from 0
 *
 * Context: Any context, preemption off.
 * Return: the trampoline, which stays while preemption is off; NULL if there are no
 *	more trampolines.
 */
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

/**
 * ftrace_tramp_template_ip - find the template address with the same stack layout
 * @ip: an address in a trampoline
 *
 * While callbacks run, the stack has the layout of the call in the template.
 *
 * Context: Any context.
 * Return: an address in the template with the same stack layout, 0 if @ip is not in
 *	a trampoline.
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
		return 0;

	t = tramp_template(tramp->regs);
	off = ip - tramp->tramp.addr;
	if (off < tramp->slots_at)
		at = t->start + off;
	else if (off < tramp->tail_at)
		at = t->call;
	else
		at = min(t->tail + (off - tramp->tail_at), t->end);
	return (unsigned long)at;
}
