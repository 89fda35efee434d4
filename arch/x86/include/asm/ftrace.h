/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function tracing on x86: a site is a 5-byte call or nop (gcc -mfentry), and a
 * callback gets a struct pt_regs that may be only partly filled.
 */
#ifndef _ASM_X86_FTRACE_H
#define _ASM_X86_FTRACE_H

#include <asm/ptrace.h>

#ifdef CONFIG_FUNCTION_TRACER

#ifndef CC_USING_FENTRY
# error "function tracing on x86 needs a compiler with -mfentry"
#endif

#include <asm/ibt.h>

#define MCOUNT_ADDR		((unsigned long)(__fentry__))
#define MCOUNT_INSN_SIZE	5

/* A site is the first instruction of its function, or follows an ENDBR. */
#define FTRACE_MCOUNT_MAX_OFFSET	ENDBR_INSN_SIZE

#define ARCH_SUPPORTS_FTRACE_OPS 1

#ifndef __ASSEMBLER__

struct ftrace_ops;
struct ftrace_regs;

/* linux/ftrace.h uses this in the record of a call site of the other core. */
struct dyn_arch_ftrace {
};

void __fentry__(void);

#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS

#include <linux/ftrace_regs.h>

/* ftrace_caller clears regs->cs, ftrace_regs_caller fills all of regs. */
static __always_inline struct pt_regs *
arch_ftrace_get_regs(struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;

	return regs->cs ? regs : NULL;
}

/* Registers that ftrace_caller does not save and that users of partial registers read. */
#define arch_ftrace_partial_regs(_regs)			\
({							\
	(_regs)->cs = __KERNEL_CS;			\
	(_regs)->flags |= X86_EFLAGS_FIXED;		\
})

/* As between two slots of a trampoline: ftrace_get_regs() returns NULL again. */
#define arch_ftrace_reset_regs(_fregs)	(arch_ftrace_regs(_fregs)->regs.cs = 0)

#define arch_ftrace_fill_perf_regs(_fregs, _to)					\
({										\
	const struct pt_regs *__from = &arch_ftrace_regs(_fregs)->regs;		\
										\
	(_to)->flags = 0;							\
	(_to)->cs = __KERNEL_CS;						\
	(_to)->sp = __from->sp;							\
	(_to)->ip = __from->ip;							\
})

#define ftrace_regs_set_instruction_pointer(_fregs, _ip)	\
	(arch_ftrace_regs(_fregs)->regs.ip = (_ip))

#endif /* CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS */

#include <asm/ftrace_base.h>

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#define ftrace_graph_func ftrace_graph_func
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs);
#endif

/* Templates of the trampolines; arch/x86/kernel/ftrace_{64,32}.S */
void ftrace_caller(void);
extern const char ftrace_caller_keep[], ftrace_caller_again[], ftrace_caller_call[],
	ftrace_caller_tail[], ftrace_caller_end[];
void ftrace_regs_caller(void);
extern const char ftrace_regs_caller_keep[], ftrace_regs_caller_again[],
	ftrace_regs_caller_call[], ftrace_regs_caller_tail[], ftrace_regs_caller_end[];

#ifdef CONFIG_DYNAMIC_FTRACE
int ftrace_int3_handler(struct pt_regs *regs);
unsigned long ftrace_tramp_template_ip(unsigned long ip);
#endif

#endif /* !__ASSEMBLER__ */
#endif /* CONFIG_FUNCTION_TRACER */

#ifndef __ASSEMBLER__

#ifndef CONFIG_DYNAMIC_FTRACE
static __always_inline int ftrace_int3_handler(struct pt_regs *regs) { return 0; }
#endif

/* mark_rodata_ro() calls this; trampolines are always read-only. */
static inline void set_ftrace_ops_ro(void) { }

#define ARCH_HAS_SYSCALL_MATCH_SYM_NAME

/**
 * arch_syscall_match_sym_name - is @sym the function of the system call @name?
 * @sym: symbol: __x64_sys_*, __ia32_sys_*, __do_sys_* or sys_*
 * @name: sys_*
 */
static inline bool arch_syscall_match_sym_name(const char *sym, const char *name)
{
	static const char * const prefix[] = { "__x64_sys", "__ia32_sys", "__do_sys" };
	const char *rest = sym + 3;

	for (int i = 0; i < ARRAY_SIZE(prefix); i++) {
		size_t len = strlen(prefix[i]);

		if (!strncmp(sym, prefix[i], len))
			rest = sym + len;
	}
	return !strcmp(rest, name + 3);
}

#if defined(CONFIG_FTRACE_SYSCALLS) && defined(CONFIG_IA32_EMULATION) && \
	!defined(COMPILE_OFFSETS)
#include <linux/compat.h>

/*
 * The syscall events do not use the system call numbers of 32-bit tasks, so the
 * events ignore such tasks.
 */
#define ARCH_TRACE_IGNORE_COMPAT_SYSCALLS 1
static inline bool arch_trace_is_compat_syscall(struct pt_regs *regs)
{
	return in_32bit_syscall();
}
#endif

#endif /* !__ASSEMBLER__ */

#endif /* _ASM_X86_FTRACE_H */
