/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What asm/ftrace.h declares for some versions only: this is the file for Linux 6.12.
 */
#ifndef _ASM_X86_FTRACE_BASE_H
#define _ASM_X86_FTRACE_BASE_H

/* A site calls a direct caller, and never jumps. */
static __always_inline bool ftrace_is_jmp(unsigned long addr)
{
	return false;
}

static __always_inline unsigned long ftrace_jmp_get(unsigned long addr)
{
	return addr;
}

#endif
