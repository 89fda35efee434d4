/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry code of function tracing, 64-bit.
 *
 * ftrace_caller and ftrace_regs_caller never run at their own addresses:
 * tramp.c builds trampolines from these templates. So the stack layout of a
 * trampoline is one that objtool has checked and that the ORC unwinder knows. A
 * template has five parts, each named by the label at its start:
 *
 *	(start)	save registers, load the first two arguments of a callback
 *	_keep	store the second argument, used again for the next callback
 *	_again	load both again, and reset what the previous callback may have changed
 *	_call	the call; each callback gets a call of its own
 *	_tail	restore registers
 *	_end	return, or jump to a direct caller
 *
 * The stack while callbacks run, from the top:
 *
 *	return address of the traced function		CALLER
 *	return address into the traced function		SITE
 *	the frame pointer, two frames, with CONFIG_FRAME_POINTER
 *	flags (ftrace_regs_caller)			FLAGS
 *	second argument, kept until the next callback	PARENT
 *	struct pt_regs					%rsp
 */
#include <linux/export.h>
#include <linux/cfi_types.h>
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace.h>
#include <asm/unwind_hints.h>

#include "frames.S"

	.code64
	.section .text, "ax"

#ifdef CONFIG_FRAME_POINTER
# define RETURN_FRAME	(2 * 8)
#else
# define RETURN_FRAME	8
#endif

#define REGS_SIZE	(SS + 8)
#define PARENT		REGS_SIZE
#define FLAGS		(REGS_SIZE + 8)
#define SITE		(FLAGS + 8 + FRAMES)
#define CALLER		(SITE + 8)
/* The %rbp of the traced function. */
#define FRAME_BP	(FLAGS + 8 + 2 * 8)

.macro save_args
	movq	%rdi, RDI(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%r9, R9(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%r8, R8(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rax, RAX(%rsp)
#ifdef CONFIG_FRAME_POINTER
	movq	FRAME_BP(%rsp), %rdi
	movq	%rdi, RBP(%rsp)
#else
	movq	%rbp, RBP(%rsp)
#endif
	movq	$0, ORIG_RAX(%rsp)
	leaq	CALLER(%rsp), %rdi
	movq	%rdi, RSP(%rsp)
	movq	CALLER(%rsp), %rsi
	movq	SITE(%rsp), %rdi
	movq	%rdi, RIP(%rsp)
	subq	$MCOUNT_INSN_SIZE, %rdi
.endm

.macro again
	movq	SITE(%rsp), %rdi
	subq	$MCOUNT_INSN_SIZE, %rdi
	movq	PARENT(%rsp), %rsi
.endm

/*
 * A callback may have changed the instruction pointer and the arguments. A callback that
 * gets all registers may have changed these; any other callback keeps %rbp, as functions do.
 */
.macro restore_args
	movq	RIP(%rsp), %rax
	movq	%rax, SITE(%rsp)
	movq	RDI(%rsp), %rdi
	movq	R9(%rsp), %r9
	movq	RSI(%rsp), %rsi
	movq	R8(%rsp), %r8
	movq	RDX(%rsp), %rdx
	movq	RAX(%rsp), %rax
	movq	RCX(%rsp), %rcx
.endm

.macro do_nothing
	CALL_DEPTH_ACCOUNT
	RET
.endm

/* The compiler emits calls of __fentry__(); each listed call becomes a nop before it runs. */
SYM_FUNC_START(__fentry__)
	ANNOTATE_NOENDBR
	do_nothing
SYM_FUNC_END(__fentry__)
EXPORT_SYMBOL(__fentry__)

/* Callbacks, and a direct caller, that do nothing. */
SYM_TYPED_FUNC_START(ftrace_stub)
	do_nothing
SYM_FUNC_END(ftrace_stub)

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
SYM_FUNC_START(ftrace_stub_direct_tramp)
	ANNOTATE_NOENDBR
	do_nothing
SYM_FUNC_END(ftrace_stub_direct_tramp)
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_TYPED_FUNC_START(ftrace_stub_graph)
	do_nothing
SYM_FUNC_END(ftrace_stub_graph)
#endif

/* A part of trampolines that return without callbacks; never runs at its own address. */
SYM_FUNC_START(ftrace_account)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
SYM_INNER_LABEL(ftrace_account_end, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RET
SYM_FUNC_END(ftrace_account)

SYM_FUNC_START(ftrace_caller)
	ANNOTATE_NOENDBR
	push_frames
	subq	$(FLAGS + 8), %rsp
	CALL_DEPTH_ACCOUNT
	save_args
	movq	$0, CS(%rsp)
SYM_INNER_LABEL(ftrace_caller_keep, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	movq	%rsi, PARENT(%rsp)
SYM_INNER_LABEL(ftrace_caller_again, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	again
	movq	$0, CS(%rsp)
SYM_INNER_LABEL(ftrace_caller_call, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	call	ftrace_stub
SYM_INNER_LABEL(ftrace_caller_tail, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
#ifdef CONFIG_FRAME_POINTER
	movq	RBP(%rsp), %rbp
#endif
	restore_args
	addq	$SITE, %rsp
SYM_INNER_LABEL(ftrace_caller_end, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
#ifndef CONFIG_FRAME_POINTER
	/* objtool expects that a stored %rbp is restored; this one was stored for callbacks. */
	UNWIND_HINT_FUNC
#endif
	RET
SYM_FUNC_END(ftrace_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_caller)

SYM_FUNC_START(ftrace_regs_caller)
	ANNOTATE_NOENDBR
	push_frames
	pushfq
	subq	$FLAGS, %rsp
	CALL_DEPTH_ACCOUNT
	movq	%rbx, RBX(%rsp)
	movq	%r10, R10(%rsp)
	movq	%r11, R11(%rsp)
	movq	%r12, R12(%rsp)
	movq	%r13, R13(%rsp)
	movq	%r14, R14(%rsp)
	movq	%r15, R15(%rsp)
	save_args
	movq	FLAGS(%rsp), %rcx
	movq	%rcx, EFLAGS(%rsp)
	movq	$__KERNEL_DS, SS(%rsp)
	movq	$__KERNEL_CS, CS(%rsp)
SYM_INNER_LABEL(ftrace_regs_caller_keep, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	movq	%rsi, PARENT(%rsp)
SYM_INNER_LABEL(ftrace_regs_caller_again, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	again
SYM_INNER_LABEL(ftrace_regs_caller_call, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	call	ftrace_stub
SYM_INNER_LABEL(ftrace_regs_caller_tail, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	movq	EFLAGS(%rsp), %rax
	movq	%rax, FLAGS(%rsp)
	movq	R15(%rsp), %r15
	movq	R14(%rsp), %r14
	movq	R13(%rsp), %r13
	movq	R12(%rsp), %r12
	movq	R11(%rsp), %r11
	movq	R10(%rsp), %r10
	movq	RBX(%rsp), %rbx
	movq	RBP(%rsp), %rbp
	restore_args
	addq	$FLAGS, %rsp
	popfq
#ifdef CONFIG_FRAME_POINTER
	leaq	FRAMES(%rsp), %rsp
#endif
SYM_INNER_LABEL(ftrace_regs_caller_end, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RET
SYM_FUNC_END(ftrace_regs_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_regs_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * A function whose return is traced returns to here; its return address is already
 * off the stack. Only the return value is live, and the frame pointer and the stack
 * pointer, which the callback may read.
 *
 * The return address is put back, so an unwinder finds what it finds while the function
 * runs. The bytes of the old one may be gone: an interrupt may have used the stack.
 */
SYM_CODE_START(return_to_handler)
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR

	pushq	$return_to_handler
	UNWIND_HINT_FUNC
#ifdef CONFIG_FRAME_POINTER
	/* The frame of the function that has returned: its return address is the one above. */
	pushq	%rbp
#endif
	leaq	-REGS_SIZE(%rsp), %rsp
	movq	%rbp, RBP(%rsp)
#ifdef CONFIG_FRAME_POINTER
	leaq	REGS_SIZE(%rsp), %rbp
#endif
	movq	%rdx, RDX(%rsp)
	movq	%rax, RAX(%rsp)
	/* The stack pointer as the function left it. */
	leaq	REGS_SIZE + RETURN_FRAME(%rsp), %rax
	movq	%rax, RSP(%rsp)
	/* Not all registers are saved; see arch_ftrace_get_regs(). */
	movq	$0, CS(%rsp)
	movq	%rsp, %rdi
	call	ftrace_return_to_handler
	movq	%rax, %rdi
	movq	RDX(%rsp), %rdx
	movq	RAX(%rsp), %rax
#ifdef CONFIG_FRAME_POINTER
	movq	(%rbp), %rbp
#endif
	leaq	REGS_SIZE + RETURN_FRAME(%rsp), %rsp
	/* Between the call and the store below, the stack has no address of the caller. */
	UNWIND_HINT_UNDEFINED

	/*
	 * Not an indirect jump, because the target has no ENDBR, and because only a
	 * call paired with the return keeps the return stack buffer balanced.
	 */
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lto_caller
	int3
.Lto_caller:
	movq	%rdi, (%rsp)
	ALTERNATIVE __stringify(RET), \
		    __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
SYM_CODE_END(return_to_handler)
#endif
