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
 * never executable and that exists in an mm of our own, which only this CPU
 * loads, and with interrupts off. Interrupts come on again every
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
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "ftrace_insn.h"

/* The longest stretch with interrupts off, in sites written. */
#define SITES_PER_LOAD		64

/* Pages of text mapped at a time: as many as one page table maps. */
#define WINDOW_PAGES		PTRS_PER_PTE

enum phase { PHASE_INT3, PHASE_TAIL, PHASE_HEAD };

static struct mm_struct *ftrace_mm __ro_after_init;

/* Where the window lies in ftrace_mm; the start of a page table's range. */
static const unsigned long window = PMD_SIZE;

/* The batch whose sites may hold int3; written with text_mutex held. */
static struct {
	const struct ftrace_patch	*batch;
	const unsigned long		*targets;
	unsigned int			nr;
} transit;

/**
 * arch_ftrace_init - make the mm that text is written through
 *
 * The page table of the window is allocated now, patching allocates nothing.
 * Context: boot, after poking_init().
 */
void __init arch_ftrace_init(void)
{
	spinlock_t *ptl;	/* of the page table; nobody else wants it */
	pte_t *pte = NULL;

	ftrace_mm = mm_alloc();
	if (ftrace_mm) {
		paravirt_enter_mmap(ftrace_mm);
		pte = get_locked_pte(ftrace_mm, window, &ptl);
	}
	if (!pte)
		panic("ftrace: no memory for the mm to patch text in\n");
	pte_unmap_unlock(pte, ptl);
}

/*
 * The walk over a batch that both filling and using the window make: sites come
 * in the order of their addresses, and each page of text that they lie in has
 * the next slot of the window. A site may lie across two pages.
 */
struct walk {
	unsigned long	page;	/* of the last slot */
	unsigned int	slots;
};

#define WALK_START	{ .page = ULONG_MAX }

/* The slot of a page; *@new is set if it is a new one. */
static __always_inline unsigned int walk_page(struct walk *w, unsigned long page,
					      bool *new)
{
	*new = page != w->page;
	if (*new) {
		w->page = page;
		w->slots++;
	}
	return w->slots - 1;
}

/* Is a site wholly on the page of the last slot? Most are. */
static __always_inline bool walk_here(const struct walk *w, unsigned long ip)
{
	return (ip & PAGE_MASK) == w->page &&
	       offset_in_page(ip) <= PAGE_SIZE - MCOUNT_INSN_SIZE;
}

static unsigned long text_pfn(unsigned long addr)
{
	if (core_kernel_text(addr))
		return __pa_symbol(addr) >> PAGE_SHIFT;
	return vmalloc_to_pfn((void *)addr);
}

/* Map the text of as many sites as fit; returns how many. */
static unsigned int window_fill(const struct ftrace_patch *batch, unsigned int nr,
				unsigned int *slots)
{
	/* Not global: it is to go when another mm is loaded. */
	const pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);
	struct walk w = WALK_START;
	spinlock_t *ptl;	/* of the page table */
	unsigned int i;
	pte_t *pte;

	pte = get_locked_pte(ftrace_mm, window, &ptl);
	for (i = 0; i < nr && w.slots + 2 <= WINDOW_PAGES; i++) {
		unsigned long page = batch[i].ip & PAGE_MASK;
		unsigned long last = (batch[i].ip + MCOUNT_INSN_SIZE - 1) & PAGE_MASK;

		if (likely(walk_here(&w, batch[i].ip)))
			continue;
		for (; page <= last; page += PAGE_SIZE) {
			bool new;
			unsigned int slot = walk_page(&w, page, &new);

			if (new)
				set_pte_at(ftrace_mm, window + slot * PAGE_SIZE, pte + slot,
					   pfn_pte(text_pfn(page), prot));
		}
	}
	pte_unmap_unlock(pte, ptl);
	*slots = w.slots;
	return i;
}

static void window_clear(unsigned int slots)
{
	spinlock_t *ptl;	/* of the page table */
	pte_t *pte;

	pte = get_locked_pte(ftrace_mm, window, &ptl);
	for (unsigned int slot = 0; slot < slots; slot++)
		pte_clear(ftrace_mm, window + slot * PAGE_SIZE, pte + slot);
	pte_unmap_unlock(pte, ptl);

	/* Nobody has the mm loaded: this marks stale what a PCID may still hold. */
	flush_tlb_mm_range(ftrace_mm, window, window + slots * PAGE_SIZE,
			   PAGE_SHIFT, false);
}

static struct mm_struct *window_load(void)
{
	struct mm_struct *prev;

	/* A lazy mm would count as loaded although it has been left. */
	if (this_cpu_read(cpu_tlbstate_shared.is_lazy))
		leave_mm();

	prev = this_cpu_read(cpu_tlbstate.loaded_mm);
	switch_mm_irqs_off(NULL, ftrace_mm, current);

	/* A watchpoint of user space is not meant for what we map here. */
	if (hw_breakpoint_active())
		hw_breakpoint_disable();
	return prev;
}

static void window_unload(struct mm_struct *prev)
{
	switch_mm_irqs_off(NULL, prev, current);
	cpumask_clear_cpu(smp_processor_id(), mm_cpumask(ftrace_mm));
	if (hw_breakpoint_active())
		hw_breakpoint_restore();
}

/* User addresses, as KASAN would have it, that hold kernel text. */
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

static __always_inline void __no_sanitize_address
window_write(enum phase phase, const struct ftrace_patch *batch, unsigned int nr,
	     const unsigned long *targets)
{
	struct walk w = WALK_START;
	unsigned int i = 0;

	while (i < nr) {
		unsigned int end = min(nr, i + SITES_PER_LOAD);
		struct mm_struct *prev;
		unsigned long flags;

		local_irq_save(flags);
		prev = window_load();
		for (; i < end; i++) {
			unsigned long ip = batch[i].ip;
			unsigned int slot;
			bool new;

			slot = walk_page(&w, ip & PAGE_MASK, &new);
			poke_site(phase, window + slot * PAGE_SIZE + offset_in_page(ip),
				  ip, targets[batch[i].to]);
			if (unlikely(!walk_here(&w, ip)))
				walk_page(&w, (ip + MCOUNT_INSN_SIZE - 1) & PAGE_MASK, &new);
		}
		window_unload(prev);
		local_irq_restore(flags);
	}
}

static __always_inline void
run_phase(enum phase phase, const struct ftrace_patch *batch, unsigned int nr,
	  const unsigned long *targets)
{
	while (nr) {
		unsigned int slots, n = window_fill(batch, nr, &slots);

		window_write(phase, batch, n, targets);
		window_clear(slots);
		batch += n;
		nr -= n;
		cond_resched();
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
	 * The batch before the first int3; pairs with smp_rmb() in
	 * ftrace_int3_handler().
	 */
	smp_wmb();

	run_phase(PHASE_INT3, batch, nr, targets);
	tell_perf(batch, nr, targets);
	run_phase(PHASE_TAIL, batch, nr, targets);
	run_phase(PHASE_HEAD, batch, nr, targets);

	/*
	 * A CPU that met one of our int3 did so before the last broadcast
	 * reached it, and answered the broadcast after its handler was done:
	 * the handler runs with interrupts off. The batch is free again.
	 */
	transit.nr = 0;
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

	/* The int3 was read before the batch is; pairs with arch_ftrace_patch(). */
	smp_rmb();
	if (!transit.nr)
		return 0;

	ip = regs->ip - INT3_INSN_SIZE;
	patch = __inline_bsearch(&ip, transit.batch, transit.nr, sizeof(*patch),
				 cmp_patch);
	if (!patch)
		return 0;

	target = transit.targets[patch->to];
	if (target)
		int3_emulate_call(regs, target);
	else
		int3_emulate_jmp(regs, ip + MCOUNT_INSN_SIZE);
	return 1;
}
