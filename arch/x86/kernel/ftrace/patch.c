// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change any number of call sites while other CPUs run them.
 *
 * The basic idea: as long as the last four bytes of a site may belong to the old or
 * to the new instruction, the first byte is int3. A site goes through three phases:
 *
 *	INT3	the first byte becomes int3
 *	TAIL	the other four bytes become those of the new instruction
 *	HEAD	the first byte becomes that of the new instruction
 *
 * Between any two of them every CPU serialises, so that no CPU ever sees bytes of
 * both instructions (Intel SDM vol. 3A, "Handling Self- and Cross-Modifying Code";
 * AMD APM vol. 2, "Self-Modifying Code and Cross-Modifying Code"). If a CPU executes
 * the int3 meanwhile, ftrace_int3_handler() lets the CPU continue as if it had
 * executed the new instruction.
 *
 * An int3 is expensive for the CPU that executes it, so only few sites hold int3 at
 * a time, and not for long. The batch moves through the phases as a pipeline of
 * chunks. A step writes HEAD for one chunk, TAIL for the next and INT3 for the one
 * after that, and ends with one broadcast that makes every CPU serialise. While the
 * pipeline holds sites the patching task is not preempted; when another task needs
 * its CPU, the pipeline is emptied first.
 *
 * Kernel text is read-only. It is written through a second mapping that is never
 * executable. This mapping exists only in an mm of our own, which only the patching
 * CPU loads, for one chunk at a time, and with interrupts off.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bsearch.h>
#include <linux/cpu.h>
#include <linux/ftrace_arch.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mmu_context.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include <asm/mmu_context.h>
#include <asm/sections.h>
#include <asm/smap.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "insn.h"

/*
 * Sites that enter the pipeline together; three times as many hold int3 at once.
 *
 * A step costs one broadcast and the writing of three chunks, and a site holds int3
 * for two steps. If a chunk has few sites, broadcasts are most of the cost. If a
 * chunk has many sites, writing takes longer, and more and more sites trap during
 * that time. Writing 256 sites three times takes about 20 us, about as long as a
 * broadcast to several hundred CPUs. A third of this is the longest time with
 * interrupts off. On PREEMPT_RT that is a latency, and so are the three steps that
 * empty the pipeline, so a chunk is smaller there.
 */
#define SITES_PER_CHUNK		(IS_ENABLED(CONFIG_PREEMPT_RT) ? 64 : 256)

/* In the order in which a step runs the phases, which keeps the number of int3 small. */
enum phase { PHASE_HEAD, PHASE_TAIL, PHASE_INT3, NR_PHASES };

static struct mm_struct *ftrace_mm __ro_after_init;

/*
 * Where the window lies in ftrace_mm (the start of the range of a page table), and
 * how many pages of text it maps at a time: all text of the kernel itself, and that
 * of several hundred modules. Text that does not fit is written in several windows.
 */
static const unsigned long window = PMD_SIZE;
static unsigned int window_pages __ro_after_init;

/* How many pages the window maps; text_mutex held. */
static unsigned int mapped_pages;

/*
 * The batch whose sites may hold int3; ->patch is NULL if there is none. Written with
 * text_mutex held, before the first int3 of a batch and after the last: while CPUs
 * trap, nothing writes what the handler reads. The barriers, in pairs:
 *
 *	A	a handler that finds the batch sees all of it
 *	B	a handler of one of its int3 finds the batch
 *	C	a handler is counted, or it does not find the batch
 *	D	a handler that is no longer counted no longer uses the batch
 */
static struct ftrace_batch transit ____cacheline_aligned_in_smp;

/*
 * How many int3 handlers may be looking at the batch, on each CPU. A CPU writes only
 * its own count: when all CPUs trap, they do not wait for one cache line. One more
 * broadcast could replace the count. But it would disturb all CPUs, idle CPUs too,
 * even after a batch of one site.
 */
static DEFINE_PER_CPU(unsigned int, handlers);

/* sparse cannot see what get_locked_pte() locks. */
static __always_inline void entries_tell_sparse(spinlock_t *ptl)
{
	__acquire(ptl);
	__acquire(RCU);
}

/* Makes the mm of the window, with all its page tables. After poking_init(). */
void __init arch_ftrace_init(void)
{
	unsigned int tables = DIV_ROUND_UP(_etext - _stext, PMD_SIZE) + 1;

	window_pages = tables * PTRS_PER_PTE;
	ftrace_mm = mm_alloc();
	if (!ftrace_mm)
		goto no_memory;
	paravirt_enter_mmap(ftrace_mm);
	set_notrack_mm(ftrace_mm);
	for (unsigned int i = 0; i < tables; i++) {
		/* Of the page table; not contended. */
		spinlock_t *ptl;
		pte_t *pte = get_locked_pte(ftrace_mm, window + i * PMD_SIZE, &ptl);

		if (!pte)
			goto no_memory;
		entries_tell_sparse(ptl);
		pte_unmap_unlock(pte, ptl);
	}
	return;

no_memory:
	panic("ftrace: no memory for the mm to patch text in\n");
}

/*
 * A walk over a batch, both to fill and to use the window. Sites are in the order of their
 * addresses, and each page of text with sites has the next page of the window. Each phase has its
 * own walk.
 */
struct walk {
	unsigned int	next;	/* index of the site in the batch */
	unsigned long	page;	/* of text */
	unsigned long	alias;	/* address of @page in the window */
};

#define WALK_START	((struct walk){ .page = ULONG_MAX, .alias = window - PAGE_SIZE })

/* Walk on to a page. Returns true if the page is new. */
static __always_inline bool walk_to(struct walk *w, unsigned long page)
{
	if (likely(page == w->page))
		return false;
	w->page = page;
	w->alias += PAGE_SIZE;
	return true;
}

static __always_inline bool patch_crosses_page(unsigned long ip)
{
	return unlikely(offset_in_page(ip) > PAGE_SIZE - MCOUNT_INSN_SIZE);
}

static unsigned long window_text_pfn(unsigned long addr)
{
	if (__is_kernel(addr))
		return __pa_symbol(addr) >> PAGE_SHIFT;
	return vmalloc_to_pfn((void *)addr);
}

/* The page table entries of the window in order. */
struct entries {
	pte_t		*pte;
	/* Locks one page table at a time. */
	spinlock_t	*ptl;
};

static void entries_end(struct entries *e)
{
	if (e->pte) {
		entries_tell_sparse(e->ptl);
		pte_unmap_unlock(e->pte, e->ptl);
	}
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
	/* Not global: the TLB must drop it when other page tables are loaded. */
	const pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);

	set_pte_at(ftrace_mm, w->alias, entries_next(e, w->alias),
		   pfn_pte(window_text_pfn(w->page), prot));
	mapped_pages++;
}

/* Nobody has ftrace_mm loaded, so the flush interrupts no CPU; it is done by the next load. */
static void window_clear(void)
{
	const unsigned long end = window + mapped_pages * PAGE_SIZE;
	struct entries e = { };

	for (unsigned long alias = window; alias < end; alias += PAGE_SIZE)
		pte_clear(ftrace_mm, alias, entries_next(&e, alias));
	entries_end(&e);
	mapped_pages = 0;
	flush_tlb_mm_range(ftrace_mm, window, end, PAGE_SHIFT, false);
}

/* Map the text of as many sites as fit. Returns the number of sites. */
static unsigned int window_fill(const struct ftrace_batch *batch)
{
	struct walk w = WALK_START;
	struct entries e = { };

	/* Text of modules may get a huge page in the place of small pages. */
	mmap_read_lock(&init_mm);
	for (; w.next < batch->nr && mapped_pages + 2 <= window_pages; w.next++) {
		unsigned long ip = batch->patch[w.next].ip;

		if (walk_to(&w, ip & PAGE_MASK))
			window_set(&e, &w);
		if (patch_crosses_page(ip)) {
			walk_to(&w, w.page + PAGE_SIZE);
			window_set(&e, &w);
		}
	}
	entries_end(&e);
	mmap_read_unlock(&init_mm);
	return w.next;
}

static __always_inline u8 patch_new_head(const struct ftrace_patch *patch,
					 const unsigned long *targets)
{
	return likely(patch->site) ? ftrace_insn_head(targets[patch->to]) :
				     ftrace_slot_head(patch);
}

static __always_inline u32 patch_new_tail(const struct ftrace_patch *patch,
					  const unsigned long *targets)
{
	return likely(patch->site) ? ftrace_insn_tail(patch->ip, targets[patch->to]) :
				     ftrace_slot_tail(patch);
}

static __always_inline void patch_poke_site(enum phase phase, unsigned long alias,
					    const struct ftrace_patch *patch,
					    const unsigned long *targets)
{
	u8 *byte = (u8 *)alias;

	switch (phase) {
	case PHASE_INT3:
		WRITE_ONCE(*byte, INT3_INSN_OPCODE);
		break;
	case PHASE_TAIL:
		put_unaligned(patch_new_tail(patch, targets), (u32 *)(byte + 1));
		break;
	default:
		WRITE_ONCE(*byte, patch_new_head(patch, targets));
		break;
	}
}

/*
 * Write one phase of the sites up to @end.
 *
 * Interrupts are off while the mm of the window is loaded, so only NMIs, exceptions, and the
 * tracers and probes of what loads the mm run on this CPU meanwhile. nmi_uaccess_okay() tells
 * them that the user memory of the task is not there.
 */
static __always_inline void
window_write(enum phase phase, struct walk *w, unsigned int end, const struct ftrace_batch *batch)
{
	struct mm_struct *prev;

	guard(irqsave)();
	prev = use_temporary_mm(ftrace_mm);
	/* With LASS, the kernel may write to the half of user space only with AC set. */
	lass_stac();
	for (; w->next < end; w->next++) {
		const struct ftrace_patch *patch = &batch->patch[w->next];

		walk_to(w, patch->ip & PAGE_MASK);
		patch_poke_site(phase, w->alias + offset_in_page(patch->ip), patch, batch->targets);
		if (patch_crosses_page(patch->ip))
			walk_to(w, w->page + PAGE_SIZE);
	}
	lass_clac();
	unuse_temporary_mm(prev);
}

static void patch_tell_perf(const struct ftrace_batch *batch, unsigned int first,
			    unsigned int end)
{
	u8 old[FTRACE_INSN_MAX], new[FTRACE_INSN_MAX];

	if (!perf_text_poke_wanted())
		return;

	for (unsigned int i = first; i < end; i++) {
		const struct ftrace_patch *patch = &batch->patch[i];

		new[0] = patch_new_head(patch, batch->targets);
		put_unaligned(patch_new_tail(patch, batch->targets), (u32 *)(new + 1));
		/* The old code of a slot is already in perf's copy of the trampoline. */
		if (patch->site)
			ftrace_make_insn(patch->ip, batch->targets[patch->from], old);
		perf_event_text_poke((void *)patch->ip, old,
				     patch->site ? MCOUNT_INSN_SIZE : 0,
				     new, MCOUNT_INSN_SIZE);
	}
}

/*
 * How far each phase is, and whether a perf event wanted text changes at the start
 * of the batch.
 */
struct pipeline {
	struct walk	walk[NR_PHASES];
	bool		asked;
};

static bool pipeline_empty(const struct pipeline *p)
{
	return p->walk[PHASE_HEAD].next == p->walk[PHASE_INT3].next;
}

/*
 * One step, with up to @more sites that enter the pipeline. Each phase loads the window by itself:
 * then interrupts are off for one chunk of stores, not for three.
 */
static noinline void pipeline_write(struct pipeline *p, unsigned int more,
				    const struct ftrace_batch *batch)
{
	unsigned int tail = p->walk[PHASE_TAIL].next, int3 = p->walk[PHASE_INT3].next;

	window_write(PHASE_HEAD, &p->walk[PHASE_HEAD], tail, batch);
	window_write(PHASE_TAIL, &p->walk[PHASE_TAIL], int3, batch);
	window_write(PHASE_INT3, &p->walk[PHASE_INT3], int3 + more, batch);
}

NOKPROBE_SYMBOL(pipeline_write);

/*
 * A trace of the CPU's branches can be decoded if the perf event comes while its
 * sites hold int3. A tool that opens a perf event in the middle of a batch may miss
 * this event, and copy text with int3. So perf is then told again, after the
 * broadcast that follows HEAD. Later copies hold the new instruction.
 */
static void pipeline_step(struct pipeline *p, unsigned int more,
			  const struct ftrace_batch *batch)
{
	unsigned int head = p->walk[PHASE_HEAD].next, tail = p->walk[PHASE_TAIL].next;

	patch_tell_perf(batch, tail, p->walk[PHASE_INT3].next);
	pipeline_write(p, more, batch);
	arch_ftrace_sync();
	if (!p->asked)
		patch_tell_perf(batch, head, tail);
}

/* Run all phases of the sites that the window maps. */
static void pipeline_run(const struct ftrace_batch *batch)
{
	struct pipeline p = {
		.walk = { WALK_START, WALK_START, WALK_START },
		.asked = perf_text_poke_wanted(),
	};

	preempt_disable();
	while (p.walk[PHASE_HEAD].next < batch->nr) {
		unsigned int left = batch->nr - p.walk[PHASE_INT3].next;

		/* If another task needs this CPU, the pipeline is emptied first. */
		if (need_resched()) {
			left = 0;
			if (pipeline_empty(&p)) {
				preempt_enable();
				cond_resched();
				preempt_disable();
				left = batch->nr - p.walk[PHASE_INT3].next;
			}
		}
		pipeline_step(&p, min(left, SITES_PER_CHUNK), batch);
	}
	preempt_enable();
}

/* Wait until no CPU looks at the batch any more. */
static void transit_end(void)
{
	int cpu;

	WRITE_ONCE(transit.patch, NULL);
	/* C: the batch can no longer be found when the counts are read. */
	smp_mb();
	/* A CPU that goes offline is not in the mask of online CPUs to the end of its handler. */
	for_each_possible_cpu(cpu)
		/* D */
		smp_cond_load_acquire(per_cpu_ptr(&handlers, cpu), !VAL);
}

/*
 * For n sites in one window there are n / SITES_PER_CHUNK + 2 broadcasts, and two more each time
 * that another task was given the CPU.
 */
void arch_ftrace_patch(const struct ftrace_batch *batch)
{
	struct ftrace_batch left = *batch;

	lockdep_assert_held(&text_mutex);
	lockdep_assert_cpus_held();

	if (!batch->nr)
		return;

	transit.targets = batch->targets;
	transit.nr = batch->nr;
	/* A: the batch is complete before a handler finds it. */
	smp_store_release(&transit.patch, batch->patch);
	/* B: the first int3 comes after that. */
	smp_wmb();

	while (left.nr) {
		struct ftrace_batch part = left;

		part.nr = window_fill(&left);
		pipeline_run(&part);
		window_clear();
		left.patch += part.nr;
		left.nr -= part.nr;
	}

	/*
	 * If a CPU executed an int3 of this batch, it did so before the last
	 * broadcast reached it, and answered the broadcast after its handler was
	 * done, because the handler runs with interrupts off. A CPU that was spared
	 * the broadcast was outside the kernel, and so in no such handler. But a CPU
	 * that executed an int3 of another user may still be searching the batch.
	 */
	transit_end();
}

static __always_inline int patch_compare(const void *key, const void *elt)
{
	unsigned long ip = *(const unsigned long *)key;
	const struct ftrace_patch *patch = elt;

	return ip < patch->ip ? -1 : ip > patch->ip;
}

static __always_inline void patch_emulate_call(struct pt_regs *regs, unsigned long ip,
					       unsigned long target)
{
	int3_emulate_push(regs, ip + CALL_INSN_SIZE);
	int3_emulate_jmp(regs, target);
}

/* Continue as if the new instruction had been executed. */
static __always_inline void patch_emulate(struct pt_regs *regs, unsigned long ip,
					  const struct ftrace_patch *patch)
{
	unsigned long target;

	if (unlikely(!patch->site)) {
		target = ip + MCOUNT_INSN_SIZE + (s32)ftrace_slot_tail(patch);
		if (ftrace_slot_head(patch) == CALL_INSN_OPCODE)
			patch_emulate_call(regs, ip, target);
		else
			int3_emulate_jmp(regs, target);
		return;
	}
	target = transit.targets[patch->to];
	/* To find the thunk takes too long. What the site was is as good, as on other CPUs. */
	if (ftrace_is_thunk(target))
		target = transit.targets[patch->from];
	if (!target || ftrace_is_thunk(target))
		int3_emulate_jmp(regs, ip + MCOUNT_INSN_SIZE);
	else if (ftrace_is_jmp(target))
		int3_emulate_jmp(regs, ftrace_jmp_get(target));
	else
		patch_emulate_call(regs, ip, target);
}

/*
 * Lets a CPU pass a site that is being changed: 1, with @regs as after the new instruction, or 0
 * if the breakpoint is not ours. Any context, before RCU and tracing know of the exception: calls
 * nothing that could itself be traced.
 */
noinstr int ftrace_int3_handler(struct pt_regs *regs)
{
	const struct ftrace_patch *batch, *patch = NULL;
	unsigned long ip = regs->ip - INT3_INSN_SIZE;
	unsigned int *count;

	if (user_mode(regs))
		return 0;

	/* An NMI may count here, too. When it returns, it has undone its count. */
	count = raw_cpu_ptr(&handlers);
	WRITE_ONCE(*count, *count + 1);
	/* B, C: the int3 was read, and the count is written, before the batch is read. */
	smp_mb();
	/* A */
	batch = smp_load_acquire(&transit.patch);
	if (batch)
		patch = __inline_bsearch(&ip, batch, transit.nr, sizeof(*patch), patch_compare);
	if (patch)
		patch_emulate(regs, ip, patch);
	/* D: the batch is no longer used when the count says so. */
	smp_store_release(count, *count - 1);
	return !!patch;
}
