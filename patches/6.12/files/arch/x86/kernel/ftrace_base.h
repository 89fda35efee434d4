/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What function tracing on x86 uses of the rest of arch/x86 in another way from version to
 * version: this is the file for Linux 6.12.
 */
#ifndef _X86_KERNEL_FTRACE_BASE_H
#define _X86_KERNEL_FTRACE_BASE_H

#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/mm.h>

#include <asm/ibt.h>
#include <asm/text-patching.h>

/* The workqueue for work that may run on any CPU. */
#define ftrace_any_cpu_wq	system_unbound_wq

/* Make every online CPU serialise. */
static inline void ftrace_sync_cpus(void)
{
	text_poke_sync();
}

/* Continue after an int3 at @ip as if the CPU had executed a call of @target. */
static __always_inline void ftrace_emulate_call(struct pt_regs *regs, unsigned long ip,
						unsigned long target)
{
	int3_emulate_call(regs, target);
}

static inline bool ftrace_is_endbr(unsigned long ip)
{
	return is_endbr(*(u32 *)ip);
}

/* sparse must not look at what this function locks. */
static inline pte_t *ftrace_get_locked_pte(struct mm_struct *mm, unsigned long addr,
					   spinlock_t **ptl)
{
	return __get_locked_pte(mm, addr, ptl);
}

/* Memory for code, writable and not yet executable. */
static inline void *ftrace_text_alloc(size_t size)
{
	return execmem_alloc(EXECMEM_FTRACE, size);
}

/* The mappings of text in modules never change. */
static inline void ftrace_hold_mappings(void) { }
static inline void ftrace_release_mappings(void) { }

/* The kernel may write to addresses in the half of user space. */
static __always_inline void ftrace_allow_low_writes(void) { }
static __always_inline void ftrace_forbid_low_writes(void) { }

/* Each address space identifier is of one CPU, which flushes its TLB itself. */
static __always_inline bool ftrace_asid_is_global(u16 asid)
{
	return false;
}

static __always_inline void ftrace_asid_update(struct mm_struct *mm) { }

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Returns true if the return of the function at @ip, to *@parent, is to be traced. */
static inline bool ftrace_graph_enter(unsigned long ip, unsigned long *parent,
				      struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, *parent), ret;

	if (bit < 0)
		return false;
	ret = function_graph_enter(*parent, ip, 0, parent);
	ftrace_test_recursion_unlock(bit);
	return !ret;
}
#endif

#endif
