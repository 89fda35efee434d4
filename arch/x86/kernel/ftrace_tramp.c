// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines: the code between a call site and the callbacks.
 *
 * A trampoline is put together from the parts of a template in ftrace_64.S or
 * ftrace_32.S: the head that saves registers, one call for each callback with
 * its ops as an immediate, and the tail that restores them. Nothing is looked
 * up when it runs.
 *
 * They live in arenas that are read-only and executable from the moment they
 * hold code, and are written through text_poke_copy(). Each granule of an arena
 * knows its trampoline, so that an address is found in any context.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/rculist.h>
#include <linux/set_memory.h>
#include <linux/slab.h>

#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

#define ARENA_SIZE	SZ_64K
#define GRANULE		SZ_64
#define GRANULES	(ARENA_SIZE / GRANULE)

struct arena {
	struct list_head	list;
	unsigned long		base;
	DECLARE_BITMAP(used, GRANULES);
	const struct ftrace_tramp *owner[GRANULES];
};

/* Only ever added to; changed with ftrace_lock held, read in any context. */
static LIST_HEAD(arenas);

/* For when there is no memory and there must be, to take an ops off a site. */
static struct arena *spare;

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

/* Run twice, first with no buffer, for the length. */
static void emit_tramp(struct code *c, struct ftrace_tramp *tramp,
		       const struct ftrace_call *calls, unsigned int nr,
		       unsigned long direct)
{
	const struct template *t = template_of(tramp->regs);

	c->len = 0;
	emit_part(c, t->start, t->keep);
	tramp->calls = c->len;
	if (nr > 1)
		emit_part(c, t->keep, t->again);
	for (unsigned int i = 0; i < nr; i++) {
		if (i)
			emit_part(c, t->again, t->call);
		emit_last_args(c, calls[i].ops);
		emit_branch(c, CALL_INSN_OPCODE, (unsigned long)calls[i].func);
	}
	tramp->tail = c->len;
	emit_part(c, t->tail, t->end);

	if (direct)
		emit_branch(c, JMP32_INSN_OPCODE, direct);
	else if (cpu_wants_rethunk())
		emit_branch(c, JMP32_INSN_OPCODE, (unsigned long)x86_return_thunk);
	else
		emit(c, "\xc3", RET_INSN_SIZE);
	emit(c, "\xcc", INT3_INSN_SIZE);	/* no straight-line speculation */
	tramp->size = c->len;
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
	if (set_memory_rox((unsigned long)mem, ARENA_SIZE >> PAGE_SHIFT))
		goto free_mem;
	arena->base = (unsigned long)mem;
	return arena;

free_mem:
	execmem_free(mem);
free_arena:
	kvfree(arena);
	return NULL;
}

/* The first user of a trampoline finds one ready. */
static int __init arenas_init(void)
{
	guard(mutex)(&ftrace_lock);
	if (!spare)
		spare = arena_make();
	if (list_empty(&arenas)) {
		struct arena *arena = arena_make();

		if (arena)
			list_add_rcu(&arena->list, &arenas);
	}
	return 0;
}
core_initcall(arenas_init);

static struct arena *arena_of(unsigned long addr)
{
	struct arena *arena;

	/* Never removed, so no grace period is involved. */
	list_for_each_entry_rcu(arena, &arenas, list, true)
		if (addr - arena->base < ARENA_SIZE)
			return arena;
	return NULL;
}

/* Take @n granules in a row; 0 if there is no memory. */
static unsigned long granules_get(unsigned int n, gfp_t gfp)
{
	struct arena *arena;
	unsigned long at;

	list_for_each_entry(arena, &arenas, list) {
		at = bitmap_find_next_zero_area(arena->used, GRANULES, 0, n, 0);
		if (at < GRANULES)
			goto found;
	}
	if (n > GRANULES)
		return 0;
	/* The spare one is not for those who can do without. */
	if (!spare)
		spare = arena_make();
	if (!spare && !(gfp & __GFP_NOFAIL))
		return 0;
	arena = arena_make();
	if (gfp & __GFP_NOFAIL) {
		if (!arena)
			swap(arena, spare);
		while (!arena) {
			schedule_timeout_uninterruptible(HZ / 10);
			arena = arena_make();
		}
	}
	if (!arena)
		return 0;
	list_add_rcu(&arena->list, &arenas);
	at = 0;
found:
	bitmap_set(arena->used, at, n);
	return arena->base + at * GRANULE;
}

static unsigned int tramp_granules(const struct ftrace_tramp *tramp)
{
	return DIV_ROUND_UP(tramp->size, GRANULE);
}

static void granules_own(unsigned long addr, unsigned int n,
			 const struct ftrace_tramp *owner)
{
	struct arena *arena = arena_of(addr);
	unsigned int at = (addr - arena->base) / GRANULE;

	for (unsigned int i = 0; i < n; i++)
		WRITE_ONCE(arena->owner[at + i], owner);
	if (!owner)
		bitmap_clear(arena->used, at, n);
}

/**
 * arch_ftrace_tramp_make - build a trampoline
 * @calls: the callbacks, in the order in which they are to run
 * @nr: how many
 * @regs: save all registers, not only those of arguments
 * @direct: where to go in the end, 0 for the traced function
 * @gfp: for memory; GFP_KERNEL, perhaps with __GFP_NOFAIL
 *
 * Return: the trampoline, NULL if there is no memory for it.
 * Context: ftrace_lock held, text_mutex not; may sleep.
 */
struct ftrace_tramp *arch_ftrace_tramp_make(const struct ftrace_call *calls,
					    unsigned int nr, bool regs,
					    unsigned long direct, gfp_t gfp)
{
	struct ftrace_tramp *tramp = kzalloc(sizeof(*tramp), gfp);
	struct code code = { };

	if (!tramp)
		return NULL;
	tramp->regs = regs;
	emit_tramp(&code, tramp, calls, nr, direct);

	code.buf = kvmalloc(tramp->size, gfp);
	if (!code.buf)
		goto fail;
	code.addr = granules_get(tramp_granules(tramp), gfp);
	if (!code.addr)
		goto fail;

	emit_tramp(&code, tramp, calls, nr, direct);
	tramp->addr = code.addr;
	text_poke_copy((void *)tramp->addr, code.buf, tramp->size);
	granules_own(tramp->addr, tramp_granules(tramp), tramp);
	kvfree(code.buf);
	return tramp;

fail:
	kvfree(code.buf);
	kfree(tramp);
	return NULL;
}

/**
 * arch_ftrace_tramp_free - give back what a trampoline occupies
 * @tramp: the trampoline; no task is in it or will enter it
 *
 * Context: ftrace_lock held; may sleep.
 */
void arch_ftrace_tramp_free(struct ftrace_tramp *tramp)
{
	text_poke_set((void *)tramp->addr, INT3_INSN_OPCODE, tramp->size);
	granules_own(tramp->addr, tramp_granules(tramp), NULL);
	/* arch_ftrace_tramp_find() may be looking at it. */
	kfree_rcu_mightsleep(tramp);
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
	struct arena *arena = arena_of(addr);
	const struct ftrace_tramp *tramp;

	if (!arena)
		return NULL;
	tramp = READ_ONCE(arena->owner[(addr - arena->base) / GRANULE]);
	return tramp && addr - tramp->addr < tramp->size ? tramp : NULL;
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
	const struct ftrace_tramp *last = NULL;
	struct arena *arena;

	list_for_each_entry_rcu(arena, &arenas, list, true) {
		for (unsigned int i = 0; i < GRANULES; i++) {
			const struct ftrace_tramp *tramp = READ_ONCE(arena->owner[i]);

			if (!tramp || tramp == last)
				continue;
			last = tramp;
			if (!n--)
				return last;
		}
	}
	return NULL;
}

/**
 * ftrace_tramp_template_ip - where a trampoline's stack layout is described
 * @ip: an address in a trampoline
 *
 * While callbacks run the stack is laid out as at the call of the template,
 * whichever of them it is.
 *
 * Return: an address in the template with the same stack layout, 0 if @ip is
 * not in a trampoline.
 * Context: any.
 */
unsigned long ftrace_tramp_template_ip(unsigned long ip)
{
	const struct ftrace_tramp *tramp;
	const struct template *t;
	const char *at;
	unsigned int off;

	guard(preempt_notrace)();
	tramp = arch_ftrace_tramp_find(ip);
	if (!tramp)
		return 0;

	t = template_of(tramp->regs);
	off = ip - tramp->addr;
	if (off < tramp->calls)
		at = t->start + off;
	else if (off < tramp->tail)
		at = t->call;
	else
		at = min(t->tail + (off - tramp->tail), t->end);
	return (unsigned long)at;
}
