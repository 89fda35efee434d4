/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What asm/ftrace.h declares for some versions only: this is the file for Linux 7.3.
 */
#ifndef _ASM_X86_FTRACE_BASE_H
#define _ASM_X86_FTRACE_BASE_H

#include <asm/ibt.h>

/* A site is the first instruction of its function, or follows an ENDBR. */
static inline unsigned long arch_ftrace_get_symaddr(unsigned long ip)
{
	bool behind = is_endbr((u32 *)(ip - ENDBR_INSN_SIZE));

	return behind ? ip - ENDBR_INSN_SIZE : ip;
}

#define ftrace_get_symaddr(ip)	arch_ftrace_get_symaddr(ip)

#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
#include <linux/ftrace_regs.h>

/* The traced function has not changed its stack yet. */
static __always_inline unsigned long ftrace_regs_get_return_address(struct ftrace_regs *fregs)
{
	return *(unsigned long *)ftrace_regs_get_stack_pointer(fregs);
}
#endif

#endif
