/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry code of function tracing, 32-bit.
 *
 * ftrace_caller and ftrace_regs_caller are templates that tramp.c builds
 * trampolines from. Their parts are those of entry_64.S.
 *
 * A callback gets three arguments in registers (-mregparm=3) and the fourth on the
 * stack, in a slot that the callback may overwrite. So the slot is written again for
 * each callback. The stack while callbacks run, from the top:
 *
 *	return address of the traced function		CALLER
 *	return address into the traced function		SITE
 *	the frame pointer, two frames, with CONFIG_FRAME_POINTER
 *	flags (ftrace_regs_caller)			FLAGS
 *	second argument, kept until the next callback	PARENT
 *	struct pt_regs					REGS
 *	fourth argument					%esp
 */
#include <linux/export.h>
#include <linux/cfi_types.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm-offsets.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>

	.section .text, "ax"

#ifdef CONFIG_FRAME_POINTER
# define FRAMES		(5 * 4)
#else
# define FRAMES		0
#endif

#define REGS		4
#define REGS_SIZE	(PT_OLDSS + 4)
#define PARENT		(REGS + REGS_SIZE)
#define FLAGS		(PARENT + 4)
#define SITE		(FLAGS + 4 + FRAMES)
#define CALLER		(SITE + 4)
/* The %ebp of the traced function. */
#define FRAME_BP	(FLAGS + 4 + 2 * 4)

/* See entry_64.S. */
.macro push_frames
#ifdef CONFIG_FRAME_POINTER
	pushl	%ebp
	pushl	8(%esp)
	pushl	%ebp
	movl	%esp, %ebp
	pushl	12(%esp)
	pushl	%ebp
	movl	%esp, %ebp
#endif
.endm

.macro save_args
	movl	%eax, REGS+PT_EAX(%esp)
	movl	%edx, REGS+PT_EDX(%esp)
	movl	%ecx, REGS+PT_ECX(%esp)
#ifdef CONFIG_FRAME_POINTER
	movl	FRAME_BP(%esp), %eax
	movl	%eax, REGS+PT_EBP(%esp)
#else
	movl	%ebp, REGS+PT_EBP(%esp)
#endif
	movl	$0, REGS+PT_ORIG_EAX(%esp)
	leal	CALLER(%esp), %eax
	movl	%eax, REGS+PT_OLDESP(%esp)
	leal	REGS(%esp), %eax
	movl	%eax, (%esp)
	movl	CALLER(%esp), %edx
	movl	SITE(%esp), %eax
	movl	%eax, REGS+PT_EIP(%esp)
	subl	$MCOUNT_INSN_SIZE, %eax
.endm

.macro again
	leal	REGS(%esp), %eax
	movl	%eax, (%esp)
	movl	SITE(%esp), %eax
	subl	$MCOUNT_INSN_SIZE, %eax
	movl	PARENT(%esp), %edx
.endm

/* A callback may have changed the instruction pointer and the arguments. */
.macro restore_args
	movl	REGS+PT_EIP(%esp), %eax
	movl	%eax, SITE(%esp)
	movl	REGS+PT_EBP(%esp), %ebp
	movl	REGS+PT_ECX(%esp), %ecx
	movl	REGS+PT_EDX(%esp), %edx
	movl	REGS+PT_EAX(%esp), %eax
.endm

/* The compiler emits calls of __fentry__(); each listed call becomes a nop before it runs. */
SYM_FUNC_START(__fentry__)
	RET
SYM_FUNC_END(__fentry__)
EXPORT_SYMBOL(__fentry__)

/* Callbacks, and a direct caller, that do nothing. */
SYM_TYPED_FUNC_START(ftrace_stub)
	RET
SYM_FUNC_END(ftrace_stub)

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
SYM_FUNC_START(ftrace_stub_direct_tramp)
	RET
SYM_FUNC_END(ftrace_stub_direct_tramp)
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_TYPED_FUNC_START(ftrace_stub_graph)
	RET
SYM_FUNC_END(ftrace_stub_graph)
#endif

SYM_FUNC_START(ftrace_caller)
	push_frames
	subl	$(FLAGS + 4), %esp
	save_args
	movl	$0, REGS+PT_CS(%esp)
SYM_INNER_LABEL(ftrace_caller_keep, SYM_L_GLOBAL)
	movl	%edx, PARENT(%esp)
SYM_INNER_LABEL(ftrace_caller_again, SYM_L_GLOBAL)
	again
	movl	$0, REGS+PT_CS(%esp)
SYM_INNER_LABEL(ftrace_caller_call, SYM_L_GLOBAL)
	call	ftrace_stub
SYM_INNER_LABEL(ftrace_caller_tail, SYM_L_GLOBAL)
	restore_args
	addl	$SITE, %esp
SYM_INNER_LABEL(ftrace_caller_end, SYM_L_GLOBAL)
	RET
SYM_FUNC_END(ftrace_caller)

SYM_FUNC_START(ftrace_regs_caller)
	push_frames
	pushfl
	subl	$FLAGS, %esp
	movl	%ebx, REGS+PT_EBX(%esp)
	movl	%esi, REGS+PT_ESI(%esp)
	movl	%edi, REGS+PT_EDI(%esp)
	save_args
	movl	FLAGS(%esp), %ecx
	movl	%ecx, REGS+PT_EFLAGS(%esp)
	movl	$__USER_DS, REGS+PT_DS(%esp)
	movl	$__USER_DS, REGS+PT_ES(%esp)
	movl	$__KERNEL_PERCPU, REGS+PT_FS(%esp)
	movl	$0, REGS+PT_GS(%esp)
	movl	$__KERNEL_DS, REGS+PT_OLDSS(%esp)
	movl	$__KERNEL_CS, REGS+PT_CS(%esp)
SYM_INNER_LABEL(ftrace_regs_caller_keep, SYM_L_GLOBAL)
	movl	%edx, PARENT(%esp)
SYM_INNER_LABEL(ftrace_regs_caller_again, SYM_L_GLOBAL)
	again
SYM_INNER_LABEL(ftrace_regs_caller_call, SYM_L_GLOBAL)
	call	ftrace_stub
SYM_INNER_LABEL(ftrace_regs_caller_tail, SYM_L_GLOBAL)
	movl	REGS+PT_EFLAGS(%esp), %eax
	movl	%eax, FLAGS(%esp)
	movl	REGS+PT_EDI(%esp), %edi
	movl	REGS+PT_ESI(%esp), %esi
	movl	REGS+PT_EBX(%esp), %ebx
	restore_args
	addl	$FLAGS, %esp
	popfl
#ifdef CONFIG_FRAME_POINTER
	leal	FRAMES(%esp), %esp
#endif
SYM_INNER_LABEL(ftrace_regs_caller_end, SYM_L_GLOBAL)
	RET
SYM_FUNC_END(ftrace_regs_caller)

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * A function whose return is traced returns to here; its return address is already
 * off the stack. Only the return value is live, and the frame pointer, which the
 * callback may read.
 */
SYM_CODE_START(return_to_handler)
	/*
	 * The frame that the function had when it was called, for unwinding: the return address
	 * stands where it stood, which is where ftrace_graph_ret_addr() expects it.
	 */
	pushl	$return_to_handler
	pushl	%ebp
	movl	%esp, %ebp
	leal	-REGS_SIZE(%esp), %esp
	movl	%eax, PT_EAX(%esp)
	movl	%edx, PT_EDX(%esp)
	movl	(%ebp), %ecx
	movl	%ecx, PT_EBP(%esp)
	/* The stack pointer as the function left it. */
	leal	8(%ebp), %ecx
	movl	%ecx, PT_OLDESP(%esp)
	/* Not all registers are saved; see arch_ftrace_get_regs(). */
	movl	$0, PT_CS(%esp)
	movl	%esp, %eax
	call	ftrace_return_to_handler
	movl	%eax, %ecx
	movl	PT_EDX(%esp), %edx
	movl	PT_EAX(%esp), %eax
	leal	8(%ebp), %esp
	movl	(%ebp), %ebp
	JMP_NOSPEC ecx
SYM_CODE_END(return_to_handler)
#endif
