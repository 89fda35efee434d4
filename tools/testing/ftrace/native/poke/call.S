/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unsigned int call_site(struct frame *frame, unsigned long ip)
 *
 * Call a site. Returns the sum of the numbers of the functions that the site reached, 0 for
 * none, or ~0 if a signal handler sent the thread to call_recover, with the frame in %rdi.
 * The first member of the frame is the stack pointer to return with.
 */
	.text
	.globl	call_site, call_recover
	.type	call_site, @function
	.p2align 6
call_site:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rdi)
	xor	%r14d, %r14d
	call	*%rsi
	mov	%r14d, %eax
1:	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

call_recover:
	mov	(%rdi), %rsp
	mov	$~0, %eax
	jmp	1b
	.size	call_site, . - call_site

	.section .note.GNU-stack, "", @progbits
