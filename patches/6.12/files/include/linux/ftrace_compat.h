/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mainline's names for the function tracing core, in this older kernel.
 *
 * The files in kernel/trace/ftrace/ and arch/x86/kernel/ftrace/ are those of mainline. Here
 * are the names that they use and that this kernel lacks, or has with other parameters.
 * Only files that include <linux/ftrace_arch.h> see them; linux/ftrace.h includes this file.
 */
#ifndef _LINUX_FTRACE_COMPAT_H
#define _LINUX_FTRACE_COMPAT_H

#include <linux/execmem.h>
#include <linux/mm.h>
#include <linux/workqueue.h>

#include <asm/ibt.h>

/* include/linux/workqueue.h */
#define system_dfl_wq		system_unbound_wq

/* include/linux/execmem.h: all memory for code is writable and not yet executable. */
static inline void *execmem_alloc_rw(enum execmem_type type, size_t size)
{
	return execmem_alloc(type, size);
}

/* include/linux/mm.h: sparse must not look at what this function locks. */
#define get_locked_pte		__get_locked_pte

/* arch/x86/include/asm/ibt.h */
#define is_endbr(addr)		is_endbr(*(addr))

/* arch/x86/include/asm/smap.h: this kernel does not use LASS. */
static __always_inline void lass_stac(void) { }
static __always_inline void lass_clac(void) { }

/* arch/x86/include/asm/mmu_context.h: the CPUs of an mm are always tracked. */
static inline void set_notrack_mm(struct mm_struct *mm) { }

/* arch/x86/include/asm/preempt.h, current.h */
#define __preempt_count		pcpu_hot.preempt_count
#define current_task		pcpu_hot.current_task

/* include/linux/ftrace.h: &ftrace_ops.ops_func does not get @ip. */
#define ops_func(ops, ip, cmd)	ops_func(ops, cmd)

/* include/linux/ftrace.h: only the graph tracer has subops. */
#define FTRACE_OPS_FL_GRAPH	FTRACE_OPS_FL_SUBOP

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* include/linux/ftrace.h */
static inline int function_graph_enter_regs(unsigned long ret, unsigned long func,
					    unsigned long frame_pointer, unsigned long *retp,
					    struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(func, ret), err;

	if (bit < 0)
		return -EBUSY;
	err = function_graph_enter(ret, func, frame_pointer, retp);
	ftrace_test_recursion_unlock(bit);
	return err;
}
#endif

/* kernel/trace/trace.h: no file shows these times. */
extern u64 ftrace_update_time;
extern u64 ftrace_total_mod_time;

/* kernel/trace/trace.h: all trace arrays share the options of a tracer. */
#define default_flags		flags

/* kernel/trace/trace.h: there is no option prof-text-offset. */
#define trace_get_global_array	top_trace_array
#define TRACE_ITER(option)		TRACE_ITER_##option
#define TRACE_ITER_PROF_TEXT_OFFSET	0

#endif
