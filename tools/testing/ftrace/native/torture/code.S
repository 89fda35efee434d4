/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of traced functions, and code that is copied into memory that is freed later. */
#include <linux/linkage.h>

#define PATTERN(n)	$(0x5a000000 + n)

/*
 * long torture_call(unsigned long func, const long *args, bool step)
 *
 * Call a function with six arguments; with @step, a trap follows each instruction. A callback, a
 * direct caller or an interrupt that does not preserve a register ends the program.
 */
SYM_FUNC_START(torture_call)
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdi
	mov	PATTERN(1), %ebx
	mov	PATTERN(2), %ebp
	mov	PATTERN(3), %r12d
	mov	PATTERN(4), %r13d
	mov	PATTERN(5), %r14d
	mov	PATTERN(6), %r15d
	test	%edx, %edx
	jz	1f
	pushf
	orl	$0x100, (%rsp)			/* X86_EFLAGS_TF */
	popf
1:	mov	%rsi, %rax
	mov	(%rax), %rdi
	mov	8(%rax), %rsi
	mov	16(%rax), %rdx
	mov	24(%rax), %rcx
	mov	32(%rax), %r8
	mov	40(%rax), %r9
	call	*(%rsp)
	cmp	PATTERN(1), %rbx
	jne	torture_clobbered
	cmp	PATTERN(2), %rbp
	jne	torture_clobbered
	cmp	PATTERN(3), %r12
	jne	torture_clobbered
	cmp	PATTERN(4), %r13
	jne	torture_clobbered
	cmp	PATTERN(5), %r14
	jne	torture_clobbered
	cmp	PATTERN(6), %r15
	jne	torture_clobbered
	pop	%rdi
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
SYM_FUNC_END(torture_call)

/* A callback, which returns to this code from a function of the program. */
SYM_FUNC_START(torture_callback)
	push	%rbp
	mov	%rsp, %rbp
SYM_INNER_LABEL(torture_callback_call, SYM_L_GLOBAL)
	movabs	$torture_note, %rax
	call	*%rax
	pop	%rbp
	ret
SYM_INNER_LABEL(torture_callback_end, SYM_L_GLOBAL)
SYM_FUNC_END(torture_callback)

/* The function of a direct caller: all registers are as the traced function must find them. */
SYM_FUNC_START(torture_direct)
	push	%rax
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	sub	$8, %rsp
SYM_INNER_LABEL(torture_direct_which, SYM_L_GLOBAL)
	movabs	$0, %rdi
	movabs	$torture_note_direct, %rax
	call	*%rax
	add	$8, %rsp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
	pop	%rax
	ret
SYM_INNER_LABEL(torture_direct_end, SYM_L_GLOBAL)
SYM_FUNC_END(torture_direct)
