// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change any number of call sites while other CPUs run them.
 *
 * The one idea: the first byte of a site is int3 for as long as its other four
 * are in doubt. A batch goes through three phases, each for all its sites, and
 * each followed by one broadcast that makes every CPU serialise:
 *
 *	INT3	the first byte becomes int3
 *	TAIL	the other four bytes become those of the new instruction
 *	HEAD	the first byte becomes that of the new instruction
 *
 * so that no CPU ever sees bytes of both instructions (Intel SDM vol. 3A,
 * "Handling Self- and Cross-Modifying Code"; AMD APM vol. 2, "Self-Modifying
 * Code and Cross-Modifying Code"). A CPU that comes upon the int3 meanwhile is
 * sent on by ftrace_int3_handler() as if the new instruction stood there.
 *
 * Kernel text is read-only. It is written through a second mapping that is
 * never executable and that exists in page tables of our own, which only this
 * CPU loads, and with interrupts off. Interrupts come on again every
 * SITES_PER_LOAD sites.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bsearch.h>
#include <linux/cpu.h>
#include <linux/ftrace_arch.h>
#include <linux/hw_breakpoint.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include <asm/debugreg.h>
#include <asm/mmu_context.h>
#include <asm/sections.h>
#include <asm/special_insns.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "ftrace_insn.h"

/* The longest stretch with interrupts off, in sites written. */
#define SITES_PER_LOAD		64

enum phase { PHASE_INT3, PHASE_TAIL, PHASE_HEAD };

static struct mm_struct *ftrace_mm __ro_after_init;

/*
 * Where the window lies in ftrace_mm, the start of a page table's range, and
 * how many pages of text it maps at a time: all of the kernel's own, and some
 * hundreds of modules. What does not fit is written in several goes.
 */
static const unsigned long window = PMD_SIZE;
static unsigned int window_pages __ro_after_init;

/* What the window maps: the pages of these sites; text_mutex held. */
static struct {
	const struct ftrace_patch	*batch;
	unsigned int			nr;
	unsigned int			pages;
} mapped;

/*
 * The batch whose sites may hold int3; written with text_mutex held. It may be
 * looked at, and must not be written or freed, for as long as it has references.
 */
static struct {
	atomic_t			refs;
	const struct ftrace_patch	*batch;
	const unsigned long		*targets;
	unsigned int			nr;
} transit;

/**
 * arch_ftrace_init - make the mm that text is written through
 *
 * The page tables of the window are allocated now, patching allocates nothing.
 * Context: boot, after poking_init().
 */
void __init arch_ftrace_init(void)
{
	unsigned int tables = DIV_ROUND_UP(_etext - _stext, PMD_SIZE) + 1;

	window_pages = tables * PTRS_PER_PTE;
	ftrace_mm = mm_alloc();
	if (!ftrace_mm)
		goto no_memory;
	paravirt_enter_mmap(ftrace_mm);
	for (unsigned int i = 0; i < tables; i++) {
		spinlock_t *ptl;	/* of the page table; nobody else wants it */
		pte_t *pte = get_locked_pte(ftrace_mm, window + i * PMD_SIZE, &ptl);

		if (!pte)
			goto no_memory;
		pte_unmap_unlock(pte, ptl);
	}
	return;

no_memory:
	panic("ftrace: no memory for the mm to patch text in\n");
}

/*
 * The walk over a batch that both filling and using the window make: sites come
 * in the order of their addresses, and each page of text that they lie in has
 * the next page of the window.
 */
struct walk {
	unsigned long	page;	/* of text */
	unsigned long	alias;	/* where the window has it */
};

#define WALK_START	{ .page = ULONG_MAX, .alias = window - PAGE_SIZE }

/* Walk on to a page; true if it is a new one. */
static __always_inline bool walk_to(struct walk *w, unsigned long page)
{
	if (likely(page == w->page))
		return false;
	w->page = page;
	w->alias += PAGE_SIZE;
	return true;
}

static __always_inline bool crosses_page(unsigned long ip)
{
	return unlikely(offset_in_page(ip) > PAGE_SIZE - MCOUNT_INSN_SIZE);
}

static unsigned long text_pfn(unsigned long addr)
{
	if (__is_kernel(addr))
		return __pa_symbol(addr) >> PAGE_SHIFT;
	return vmalloc_to_pfn((void *)addr);
}

/* The window's page table entries one after the other, a table locked at a time. */
struct entries {
	pte_t		*pte;
	spinlock_t	*ptl;	/* of the page table */
};

static void entries_end(struct entries *e)
{
	if (e->pte)
		pte_unmap_unlock(e->pte, e->ptl);
	e->pte = NULL;
}

static pte_t *entries_next(struct entries *e, unsigned long alias)
{
	if (e->pte && alias & ~PMD_MASK)
		return ++e->pte;
	entries_end(e);
	e->pte = get_locked_pte(ftrace_mm, alias, &e->ptl);
	return e->pte;
}

static void window_set(struct entries *e, const struct walk *w)
{
	/* Not global: it is to go when other page tables are loaded. */
	const pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);

	set_pte_at(ftrace_mm, w->alias, entries_next(e, w->alias),
		   pfn_pte(text_pfn(w->page), prot));
	mapped.pages++;
}

/*
 * What the TLB may still hold of it goes when the window is loaded the next
 * time; see window_load().
 */
static void window_clear(void)
{
	unsigned long alias = window;
	struct entries e = { };

	for (; mapped.pages; mapped.pages--, alias += PAGE_SIZE)
		pte_clear(ftrace_mm, alias, entries_next(&e, alias));
	entries_end(&e);
	mapped.batch = NULL;
}

/* Map the text of as many sites as fit, if it is not mapped; returns how many. */
static unsigned int window_fill(const struct ftrace_patch *batch, unsigned int nr)
{
	struct walk w = WALK_START;
	struct entries e = { };
	unsigned int i;

	if (batch == mapped.batch)
		return mapped.nr;
	window_clear();
	for (i = 0; i < nr && mapped.pages + 2 <= window_pages; i++) {
		unsigned long ip = batch[i].ip;

		if (walk_to(&w, ip & PAGE_MASK))
			window_set(&e, &w);
		if (crosses_page(ip)) {
			walk_to(&w, w.page + PAGE_SIZE);
			window_set(&e, &w);
		}
	}
	entries_end(&e);
	mapped.batch = batch;
	mapped.nr = i;
	return i;
}

/*
 * Only for as long as interrupts are off: nothing else runs on this CPU but
 * NMIs and their like, and these find that no user memory is to be had. So the
 * page tables are exchanged below all that keeps account of mms.
 *
 * Loading CR3 with PCID 0, which no mm has, and bit 63 clear drops what the TLB
 * holds of it; bit 63 keeps what it holds of the PCID that returns (Intel SDM
 * vol. 3A, 4.10.4.1, MOV to CR3).
 */
static __always_inline unsigned long window_load(struct mm_struct **mm)
{
	unsigned long cr3 = __read_cr3();

	*mm = this_cpu_read(cpu_tlbstate.loaded_mm);
	this_cpu_write(cpu_tlbstate.loaded_mm, LOADED_MM_SWITCHING);
	/* Pairs with the reading of loaded_mm in nmi_uaccess_okay(), on this CPU. */
	barrier();
	write_cr3(__sme_pa(ftrace_mm->pgd));

	/* A watchpoint of user space is not meant for what we map here. */
	if (hw_breakpoint_active())
		hw_breakpoint_disable();
	return cr3;
}

static __always_inline void window_unload(unsigned long cr3, struct mm_struct *mm)
{
	if (cpu_feature_enabled(X86_FEATURE_PCID))
		cr3 |= CR3_NOFLUSH;
	write_cr3(cr3);
	/* Pairs with the reading of loaded_mm in nmi_uaccess_okay(), on this CPU. */
	barrier();
	this_cpu_write(cpu_tlbstate.loaded_mm, mm);
	if (hw_breakpoint_active())
		hw_breakpoint_restore();
}

static __always_inline void poke_site(enum phase phase, unsigned long alias,
				      unsigned long ip, unsigned long target)
{
	u8 *byte = (u8 *)alias;

	switch (phase) {
	case PHASE_INT3:
		WRITE_ONCE(*byte, INT3_INSN_OPCODE);
		break;
	case PHASE_TAIL:
		put_unaligned(ftrace_insn_tail(ip, target), (u32 *)(byte + 1));
		break;
	case PHASE_HEAD:
		WRITE_ONCE(*byte, ftrace_insn_head(target));
		break;
	}
}

static __always_inline void
window_write(enum phase phase, const struct ftrace_patch *batch, unsigned int nr,
	     const unsigned long *targets)
{
	struct walk w = WALK_START;
	unsigned int i = 0;

	while (i < nr) {
		unsigned int end = min(nr, i + SITES_PER_LOAD);
		unsigned long flags, cr3;
		struct mm_struct *mm;

		local_irq_save(flags);
		cr3 = window_load(&mm);
		for (; i < end; i++) {
			unsigned long ip = batch[i].ip;

			walk_to(&w, ip & PAGE_MASK);
			poke_site(phase, w.alias + offset_in_page(ip), ip,
				  targets[batch[i].to]);
			if (crosses_page(ip))
				walk_to(&w, w.page + PAGE_SIZE);
		}
		window_unload(cr3, mm);
		local_irq_restore(flags);
		cond_resched();
	}
}

static __always_inline void
run_phase(enum phase phase, const struct ftrace_patch *batch, unsigned int nr,
	  const unsigned long *targets)
{
	while (nr) {
		unsigned int n = window_fill(batch, nr);

		window_write(phase, batch, n, targets);
		batch += n;
		nr -= n;
	}
	text_poke_sync();
}

static void tell_perf(const struct ftrace_patch *batch, unsigned int nr,
		      const unsigned long *targets)
{
	u8 old[FTRACE_INSN_MAX], new[FTRACE_INSN_MAX];

	if (!perf_text_poke_wanted())
		return;

	for (; nr; batch++, nr--) {
		ftrace_make_insn(batch->ip, targets[batch->from], old);
		ftrace_make_insn(batch->ip, targets[batch->to], new);
		perf_event_text_poke((void *)batch->ip, old, MCOUNT_INSN_SIZE,
				     new, MCOUNT_INSN_SIZE);
		cond_resched();
	}
}

/**
 * arch_ftrace_patch - make each site of a batch call its new target
 * @batch: the sites, by ascending address, none twice
 * @nr: how many
 * @targets: what ->from and ->to of a site stand for; 0 is a nop
 *
 * Every site holds the instruction of its ->from; the caller has looked. When
 * this returns, every CPU sees the new instructions.
 *
 * Context: process context, may sleep. cpus_read_lock() and text_mutex held: a
 * CPU that comes up meanwhile would miss a broadcast.
 */
void arch_ftrace_patch(const struct ftrace_patch *batch, unsigned int nr,
		       const unsigned long *targets)
{
	lockdep_assert_held(&text_mutex);
	lockdep_assert_cpus_held();

	if (!nr)
		return;

	transit.batch = batch;
	transit.targets = targets;
	transit.nr = nr;
	/*
	 * The batch before the reference that lets others look at it; pairs with
	 * raw_atomic_inc_not_zero() in ftrace_int3_handler().
	 */
	atomic_set_release(&transit.refs, 1);
	/*
	 * The reference before the first int3; pairs with smp_rmb() in
	 * ftrace_int3_handler().
	 */
	smp_wmb();

	run_phase(PHASE_INT3, batch, nr, targets);
	tell_perf(batch, nr, targets);
	run_phase(PHASE_TAIL, batch, nr, targets);
	run_phase(PHASE_HEAD, batch, nr, targets);
	window_clear();

	/*
	 * A CPU that met one of our int3 did so before the last broadcast
	 * reached it, and answered the broadcast after its handler was done:
	 * the handler runs with interrupts off. But one that met an int3 of
	 * somebody else's may still be searching the batch.
	 *
	 * Pairs with raw_atomic_dec_return_release() in ftrace_int3_handler().
	 */
	if (!atomic_dec_and_test(&transit.refs))
		atomic_cond_read_acquire(&transit.refs, !VAL);
}

static __always_inline int cmp_patch(const void *key, const void *elt)
{
	unsigned long ip = *(const unsigned long *)key;
	const struct ftrace_patch *patch = elt;

	return ip < patch->ip ? -1 : ip > patch->ip;
}

/**
 * ftrace_int3_handler - let a CPU pass a site that is being changed
 * @regs: of the breakpoint
 *
 * Return: 1 if the breakpoint was ours and @regs are as after the new
 * instruction, 0 if it was not.
 * Context: any, before RCU and tracing know of the exception; calls nothing
 * that could itself be traced.
 */
noinstr int ftrace_int3_handler(struct pt_regs *regs)
{
	const struct ftrace_patch *patch;
	unsigned long ip, target;

	if (user_mode(regs))
		return 0;

	/*
	 * The int3 was read before the references are; pairs with smp_wmb() in
	 * arch_ftrace_patch().
	 */
	smp_rmb();
	/* Pairs with atomic_set_release() in arch_ftrace_patch(). */
	if (!raw_atomic_inc_not_zero(&transit.refs))
		return 0;

	ip = regs->ip - INT3_INSN_SIZE;
	patch = __inline_bsearch(&ip, transit.batch, transit.nr, sizeof(*patch),
				 cmp_patch);
	if (patch) {
		target = transit.targets[patch->to];
		if (target)
			int3_emulate_call(regs, target);
		else
			int3_emulate_jmp(regs, ip + MCOUNT_INSN_SIZE);
	}
	/* Pairs with the waiting for it in arch_ftrace_patch(). */
	raw_atomic_dec_return_release(&transit.refs);
	return !!patch;
}
