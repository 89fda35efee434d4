/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What function tracing on x86 uses of the rest of arch/x86 in another way from version to
 * version: this is the file for Linux 7.3.
 */
#ifndef _X86_KERNEL_FTRACE_BASE_H
#define _X86_KERNEL_FTRACE_BASE_H

#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>

#include <asm/ibt.h>
#include <asm/mmu_context.h>
#include <asm/smap.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

/* The workqueue for work that may run on any CPU. */
#define ftrace_any_cpu_wq	system_dfl_wq

/* Make every online CPU serialise. */
static inline void ftrace_sync_cpus(void)
{
	smp_text_poke_sync_each_cpu();
}

/* Continue after an int3 at @ip as if the CPU had executed a call of @target. */
static __always_inline void ftrace_emulate_call(struct pt_regs *regs, unsigned long ip,
						unsigned long target)
{
	int3_emulate_call(regs, ip + CALL_INSN_SIZE, target);
}

static inline bool ftrace_is_endbr(unsigned long ip)
{
	return is_endbr((u32 *)ip);
}

/* sparse must not look at what this function locks. */
static inline pte_t *ftrace_get_locked_pte(struct mm_struct *mm, unsigned long addr,
					   spinlock_t **ptl)
{
	return get_locked_pte(mm, addr, ptl);
}

/* Memory for code, writable and not yet executable. Other memory of execmem is read-only. */
static inline void *ftrace_text_alloc(size_t size)
{
	return execmem_alloc_rw(EXECMEM_FTRACE, size);
}

/*
 * Text in modules may be mapped by small pages now and by a huge page later. Nobody may
 * change the page tables while they are read.
 */
static inline void ftrace_hold_mappings(void)
{
	mmap_read_lock(&init_mm);
}

static inline void ftrace_release_mappings(void)
{
	mmap_read_unlock(&init_mm);
}

/* With LASS, the kernel may write to addresses in the half of user space only with AC set. */
static __always_inline void ftrace_allow_low_writes(void)
{
	lass_stac();
}

static __always_inline void ftrace_forbid_low_writes(void)
{
	lass_clac();
}

/*
 * An mm that runs on many CPUs can have one address space identifier on all of them. The
 * CPU that changes the page tables then flushes the TLBs of all CPUs by INVLPGB, which
 * does not depend on the mm that a CPU has loaded.
 */
static __always_inline bool ftrace_asid_is_global(u16 asid)
{
	return is_global_asid(asid);
}

/*
 * @mm may have got a global identifier while this CPU had another mm loaded. The CPU that
 * gave it to @mm did not wait for this CPU, so this CPU must change to it now, also a lazy
 * CPU: INVLPGB does not flush what this CPU has cached under another identifier.
 */
static __always_inline void ftrace_asid_update(struct mm_struct *mm)
{
	u16 asid = mm_global_asid(mm);

	if (unlikely(asid && asid != this_cpu_read(cpu_tlbstate.loaded_mm_asid)))
		switch_mm_irqs_off(NULL, mm, NULL);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Returns true if the return of the function at @ip, to *@parent, is to be traced. */
static inline bool ftrace_graph_enter(unsigned long ip, unsigned long *parent,
				      struct ftrace_regs *fregs)
{
	return !function_graph_enter_regs(*parent, ip, 0, parent, fregs);
}
#endif

#endif
