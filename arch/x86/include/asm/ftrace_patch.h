/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core in kernel/trace/ftrace/ uses of x86, and x86 of this core, beyond
 * what asm/ftrace.h has for both cores.
 */
#ifndef _ASM_X86_FTRACE_PATCH_H
#define _ASM_X86_FTRACE_PATCH_H

struct pt_regs;

#ifdef CONFIG_FTRACE_PATCH

/* As between two slots of a trampoline: ftrace_get_regs() returns NULL again. */
#define arch_ftrace_reset_regs(_fregs)	(arch_ftrace_regs(_fregs)->regs.cs = 0)

/* Templates of the trampolines; arch/x86/kernel/ftrace/entry_{64,32}.S */
void ftrace_caller(void);
extern const char ftrace_caller_keep[], ftrace_caller_again[], ftrace_caller_call[],
	ftrace_caller_tail[], ftrace_caller_end[];
void ftrace_regs_caller(void);
extern const char ftrace_regs_caller_keep[], ftrace_regs_caller_again[],
	ftrace_regs_caller_call[], ftrace_regs_caller_tail[], ftrace_regs_caller_end[];
#ifdef CONFIG_X86_64
/* Counts a call in the call depth, and nothing else. */
extern const char ftrace_account[], ftrace_account_end[];
#endif

int ftrace_int3_handler(struct pt_regs *regs);
unsigned long ftrace_tramp_template_ip(unsigned long ip);

#else

static __always_inline int ftrace_int3_handler(struct pt_regs *regs) { return 0; }

#endif

#endif /* _ASM_X86_FTRACE_PATCH_H */
