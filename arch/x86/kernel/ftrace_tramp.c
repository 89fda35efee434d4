// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines: the code between a call site and the callbacks.
 *
 * A trampoline is put together from the parts of a template in ftrace_64.S or
 * ftrace_32.S: the head that saves registers, one slot for each callback, and
 * the tail that restores the registers. No filter is looked up when it runs.
 *
 * A slot loads the ops as an immediate and calls the callback. If the ops can be
 * freed, the slot counts the tasks that enter the callback and the tasks that
 * leave it, per CPU: one instruction before the call, one after it. An instruction
 * cannot be divided by an NMI. A task may change the CPU in between, because only
 * the sums of all CPUs are compared.
 *
 * A slot is switched off by a change of five bytes, as a site is:
 *
 *	a counted slot		the first increment becomes a jump behind the
 *				second. It is longer than five bytes, so that no
 *				task can be in the middle of it. Behind it a task
 *				has counted itself in; before it, the task jumps.
 *				So the sum of the tasks that entered stands still.
 *	any other slot		its call becomes a call of ftrace_stub()
 *	the jump to a direct	becomes a jump to ftrace_stub(), which returns
 *	caller
 *
 * Trampolines live in arenas that are read-only and executable from the moment
 * they hold code, and are written through text_poke_copy(). Each granule of an
 * arena knows its trampoline, so that an address is found in any context.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/rculist.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

#include "ftrace_insn.h"

#define ARENA_SIZE	SZ_64K
#define GRANULE		SZ_64
#define GRANULES	(ARENA_SIZE / GRANULE)

/**
 * struct slot - the part of a trampoline that calls one callback
 * @at: offset of the instruction that is changed to switch it off
 * @end: offset of its end if it counts, else 0
 */
struct slot {
	u16	at;
	u16	end;
};

/**
 * struct tramp - a trampoline, as this file knows it
 * @tramp: as others know it
 * @rcu: frees it
 * @slots_at: offset of the first slot, where the frame is complete
 * @tail_at: offset of the code that takes the frame down
 * @regs: saves all registers
 * @nr: how many slots; the jump to a direct caller is the last, if there is one
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
 * @base: where it is
 * @used: granules that are in use
 * @first: the first granule of each trampoline
 * @owner: the trampoline of each granule
 * @free: frees it
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

/* The parts of a template; see ftrace_64.S for what each does. */
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

static const struct template *template_of(bool regs)
{
	return regs ? &regs_template : &args_template;
}

/* Code under construction: written at @buf, to run at @addr. */
struct code {
	u8		*buf;
	unsigned long	addr;
	unsigned int	len;
};

static void emit(struct code *c, const void *bytes, unsigned int len)
{
	if (c->buf)
		memcpy(c->buf + c->len, bytes, len);
	c->len += len;
}

/*
 * Nothing in a template refers to memory relative to where it stands, but for
 * CALL_DEPTH_ACCOUNT.
 */
static void emit_part(struct code *c, const char *from, const char *to)
{
	unsigned int len = to - from;
	u8 *dst = c->buf + c->len;

	emit(c, from, len);
	if (c->buf && cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		text_poke_apply_relocation(dst, (u8 *)c->addr + c->len - len, len,
					   (u8 *)from, len);
}

static void emit_branch(struct code *c, u8 opcode, unsigned long to)
{
	u8 insn[CALL_INSN_SIZE];

	__text_gen_insn(insn, opcode, (void *)c->addr + c->len, (void *)to,
			sizeof(insn));
	emit(c, insn, sizeof(insn));
}

/*
 * The last two arguments of a callback. 64-bit: the ops in %rdx, in the short
 * form if it lies in the kernel image, the registers in %rcx. 32-bit, with
 * -mregparm=3: the ops in %ecx, the registers already on the stack.
 */
static void emit_last_args(struct code *c, const struct ftrace_ops *ops)
{
#ifdef CONFIG_X86_64
	long imm = (long)ops;
	s32 imm32 = imm;

	if (imm == imm32) {
		emit(c, "\x48\xc7\xc2", 3);		/* mov $imm32, %rdx */
		emit(c, &imm32, sizeof(imm32));
	} else {
		emit(c, "\x48\xba", 2);			/* movabs $imm64, %rdx */
		emit(c, &imm, sizeof(imm));
	}
	emit(c, "\x48\x89\xe1", 3);			/* mov %rsp, %rcx */
#else
	emit(c, "\xb9", 1);				/* mov $imm32, %ecx */
	emit(c, &ops, sizeof(ops));
#endif
}

#ifdef CONFIG_X86_64
/* Does the address of a counter fit into an instruction, sign-extended? */
static bool count_near(const unsigned long __percpu *count)
{
	long addr = (__force long)count;

	return addr == (s32)addr;
}

/* movabs $count, %rax: callbacks have no use for that register. */
static void emit_count_addr(struct code *c, const unsigned long __percpu *count)
{
	if (count_near(count))
		return;
	emit(c, "\x48\xb8", 2);
	emit(c, &count, sizeof(count));
}

/* incq %gs:count, or incq %gs:0(%rax): of more than five bytes, either. */
static void emit_count(struct code *c, const unsigned long __percpu *count)
{
	bool near = count_near(count);
	s32 disp = near ? (__force long)count : 0;

	if (IS_ENABLED(CONFIG_SMP))
		emit(c, "\x65", 1);
	if (near)
		emit(c, "\x48\xff\x04\x25", 4);
	else
		emit(c, "\x48\xff\x80", 3);
	emit(c, &disp, sizeof(disp));
}
#else
static void emit_count_addr(struct code *c, const unsigned long __percpu *count) { }

/* incl %fs:count */
static void emit_count(struct code *c, const unsigned long __percpu *count)
{
	if (IS_ENABLED(CONFIG_SMP))
		emit(c, "\x64", 1);
	emit(c, "\xff\x05", 2);
	emit(c, &count, sizeof(count));
}
#endif

static void emit_slot(struct code *c, struct slot *slot, const struct ftrace_call *call)
{
	emit_last_args(c, call->ops);
	if (!call->count) {
		*slot = (struct slot){ .at = c->len };
		emit_branch(c, CALL_INSN_OPCODE, (unsigned long)call->func);
		return;
	}
	emit_count_addr(c, &call->count->entered);
	slot->at = c->len;
	emit_count(c, &call->count->entered);
	emit_branch(c, CALL_INSN_OPCODE, (unsigned long)call->func);
	emit_count_addr(c, &call->count->left);
	emit_count(c, &call->count->left);
	slot->end = c->len;
}

/* Run twice, first with no buffer, for the length. */
static void emit_tramp(struct code *c, struct tramp *tramp,
		       const struct ftrace_call *calls, unsigned int nr,
		       unsigned long direct)
{
	const struct template *t = template_of(tramp->regs);

	c->len = 0;
	emit_part(c, t->start, t->keep);
	tramp->slots_at = c->len;
	if (nr > 1)
		emit_part(c, t->keep, t->again);
	for (unsigned int i = 0; i < nr; i++) {
		if (i)
			emit_part(c, t->again, t->call);
		emit_slot(c, &tramp->slot[i], &calls[i]);
	}
	tramp->tail_at = c->len;
	emit_part(c, t->tail, t->end);

	if (direct) {
		tramp->slot[nr] = (struct slot){ .at = c->len };
		emit_branch(c, JMP32_INSN_OPCODE, direct);
	} else if (cpu_wants_rethunk()) {
		emit_branch(c, JMP32_INSN_OPCODE, (unsigned long)x86_return_thunk);
	} else {
		emit(c, "\xc3", RET_INSN_SIZE);
	}
	emit(c, "\xcc", INT3_INSN_SIZE);	/* no straight-line speculation */
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
	mem = execmem_alloc(EXECMEM_FTRACE, ARENA_SIZE);
	if (!mem)
		goto free_arena;
	memset(mem, INT3_INSN_OPCODE, ARENA_SIZE);
	set_vm_flush_reset_perms(mem);
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

/* Returns the address of @n granules in a row, 0 if there is no memory. */
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

/* The last arena stays, for the next trampoline: to make one takes a while. */
static void granules_put(unsigned long addr, unsigned int n)
{
	struct arena *arena = arena_of(addr);

	bitmap_clear(arena->used, (addr - arena->base) / GRANULE, n);
	if (!bitmap_empty(arena->used, GRANULES) || list_is_singular(&arenas))
		return;
	/* Somebody may be looking for an address in it. */
	list_del_rcu(&arena->list);
	queue_rcu_work(system_unbound_wq, &arena->free);
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
 * @calls: the callbacks, in the order in which they are to run
 * @nr: how many
 * @regs: save all registers, not only those of arguments
 * @direct: where to go in the end, 0 for the traced function
 *
 * Its slots are numbered as the callbacks are; the jump to @direct has the number
 * after them.
 *
 * Return: the trampoline, NULL if there is no memory for it or it would be larger
 * than 64 KB.
 * Context: ftrace_lock held, text_mutex not; may sleep.
 */
struct ftrace_tramp *arch_ftrace_tramp_make(const struct ftrace_call *calls,
					    unsigned int nr, bool regs,
					    unsigned long direct)
{
	unsigned int slots = nr + !!direct;
	struct code code = { };
	struct tramp *tramp;

	tramp = kvzalloc(struct_size(tramp, slot, slots), GFP_KERNEL);
	if (!tramp)
		return NULL;
	tramp->nr = slots;
	tramp->regs = regs;
	emit_tramp(&code, tramp, calls, nr, direct);

	code.buf = kvmalloc(tramp->tramp.size, GFP_KERNEL);
	if (!code.buf)
		goto fail;
	code.addr = granules_get(tramp_granules(tramp));
	if (!code.addr)
		goto fail;

	emit_tramp(&code, tramp, calls, nr, direct);
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
 * arch_ftrace_tramp_off - how a trampoline stops calling a callback
 * @tramp: the trampoline
 * @n: number of the slot, which is on
 * @patch: where to put what arch_ftrace_patch() is to do
 *
 * Context: ftrace_lock held.
 */
void arch_ftrace_tramp_off(const struct ftrace_tramp *tramp, unsigned int n,
			   struct ftrace_patch *patch)
{
	const struct slot *slot = &container_of(tramp, struct tramp, tramp)->slot[n];
	unsigned long ip = tramp->addr + slot->at;

	if (slot->end)
		ftrace_slot_set(patch, ip, JMP32_INSN_OPCODE, tramp->addr + slot->end);
	else
		ftrace_slot_set(patch, ip, *(const u8 *)ip, (unsigned long)ftrace_stub);
}

/**
 * arch_ftrace_tramp_free - give back what a trampoline occupies
 * @tramp: the trampoline; no task is in it or will enter it
 *
 * Context: ftrace_lock held; may sleep.
 */
void arch_ftrace_tramp_free(struct ftrace_tramp *tramp)
{
	struct tramp *t = container_of(tramp, struct tramp, tramp);

	text_poke_set((void *)tramp->addr, INT3_INSN_OPCODE, tramp->size);
	granules_own(tramp->addr, tramp_granules(t), NULL);
	granules_put(tramp->addr, tramp_granules(t));
	/* arch_ftrace_tramp_find() may be looking at it. */
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
 * arch_ftrace_tramp_find - the trampoline at an address
 * @addr: any address
 *
 * Return: the trampoline, which stays for as long as preemption is off, where RCU
 * is watching; NULL if there is none.
 * Context: any, preemption off.
 */
const struct ftrace_tramp *arch_ftrace_tramp_find(unsigned long addr)
{
	const struct tramp *t = tramp_find(addr);

	return t ? &t->tramp : NULL;
}

/**
 * arch_ftrace_tramp_nth - trampolines one after the other
 * @n: which, from 0
 *
 * Return: the trampoline, which stays for as long as preemption is off; NULL if
 * there are no more.
 * Context: any, preemption off.
 */
const struct ftrace_tramp *arch_ftrace_tramp_nth(unsigned int n)
{
	struct arena *arena;

	list_for_each_entry_rcu(arena, &arenas, list, true) {
		unsigned int nr = bitmap_weight(arena->first, GRANULES);
		const struct tramp *t;

		if (n >= nr) {
			n -= nr;
			continue;
		}
		t = READ_ONCE(arena->owner[find_nth_bit(arena->first, GRANULES, n)]);
		/* It may have gone since they were counted. */
		return t ? &t->tramp : NULL;
	}
	return NULL;
}

/**
 * ftrace_tramp_template_ip - where a trampoline's stack layout is described
 * @ip: an address in a trampoline
 *
 * While callbacks run the stack is laid out as at the call of the template.
 *
 * Return: an address in the template with the same stack layout, 0 if @ip is
 * not in a trampoline.
 * Context: any.
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

	t = template_of(tramp->regs);
	off = ip - tramp->tramp.addr;
	if (off < tramp->slots_at)
		at = t->start + off;
	else if (off < tramp->tail_at)
		at = t->call;
	else
		at = min(t->tail + (off - tramp->tail_at), t->end);
	return (unsigned long)at;
}
