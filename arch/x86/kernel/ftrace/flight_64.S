/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that records a call in the flight recorder.
 *
 * These are templates, as in entry_64.S: tramp.c copies one of them to the start of a trampoline,
 * and writes what only the copy knows where the table of the template says. So the stack layout of
 * a copy is one that objtool has checked, and that the ORC unwinder knows.
 *
 * The window is between the increments and the decrements. In the window the task is not preempted,
 * so the record is reserved and written on one CPU. What interrupts the window closes its own
 * windows before it returns. flight_group() relies on both.
 *
 * A call is recorded before registers are saved, so the code may change flags, %r10 and %r11 only:
 * a function does not expect these from its caller, nor its caller from the function.
 *
 * The stack:
 *
 *	return address of the traced function		8(%rsp)
 *	return address into the traced function		(%rsp)
 */
#include <linux/ftrace_flight.h>
#include <linux/linkage.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

#include "flight.h"
#include "frames.S"

	.code64

/* The last @size bytes before here are written into the copy. */
.macro fix what, size
.Lfix\@:
	.pushsection .rodata.ftrace_flight, "a"
	.short	.Lfix\@ - \size - .Lstart
	.short	\what
	.popsection
.endm

#ifdef CONFIG_HAS_SEPARATE_PREEMPT_RESCHED_BITS
# define INC_PREEMPT	incq
# define DEC_PREEMPT	decq
#else
# define INC_PREEMPT	incl
# define DEC_PREEMPT	decl
#endif

/* Windows are counted where the task stays on the CPU. */
.macro open_window
#ifdef CONFIG_PREEMPTION
	INC_PREEMPT %gs:0
	fix	FLIGHT_PREEMPT, 4
#endif
	incl	%gs:0
	fix	FLIGHT_DEPTH, 4
.endm

/* Goes on at \closed. */
.macro close_window closed
	decl	%gs:0
	fix	FLIGHT_DEPTH, 4
#ifdef CONFIG_PREEMPTION
	DEC_PREEMPT %gs:0
	fix	FLIGHT_PREEMPT, 4
	jnz	\closed
	resched
#endif
	jmp	\closed
.endm

.macro resched
	push_frames
	call	preempt_schedule_notrace_thunk
	fix	FLIGHT_RESCHED, 4
#ifdef CONFIG_FRAME_POINTER
	movq	16(%rsp), %rbp
	leaq	FRAMES(%rsp), %rsp
#endif
.endm

/* Reserve a record: its address and the parity go to %r10. */
.macro reserve size, first, off, slow
	movabsq	$0x1122334455667788, %r11
	fix	FLIGHT_CPU, 8
	cmpl	$0, %gs:FTRACE_FLIGHT_OFF(%r11)
	jne	\off
	movl	$(2 * \size), %r10d
	xaddq	%r10, %gs:FTRACE_FLIGHT_NEXT(%r11)
	testl	$\first, %r10d
	jz	\slow
.endm

/*
 * The word of a call goes to \to. The parity is in the carry flag. The return address into the
 * traced function is negative, which makes the upper half less by one.
 */
.macro write to
	movl	8(%rsp), %r11d
	adcl	%r11d, %r11d
	shlq	$32, %r11
	addq	(%rsp), %r11
	movq	%r11, \to
.endm

/* Begin a group: the record in %r10 is the first one of a group. Or begin again, if that is 0. */
.macro group func, again, out
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	movq	%r11, %rdi
	movq	%r10, %rsi
	call	\func
	fix	FLIGHT_GROUP, 4
	testb	%al, %al
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	jnz	\again
	jmp	\out
.endm

/*
 * \name\()_code is a template, and \name\()_fixes what is written into its copies. A record of
 * \size bytes has a time if \timed is 1. The time is written first: who finds the word of this lap
 * then finds the time of this lap, too.
 */
.macro template name, size, first, slow, timed
	.pushsection .rodata.ftrace_flight, "a"
SYM_DATA_START(\name\()_fixes)
	.popsection

	.text
SYM_FUNC_START(\name\()_code)
	ANNOTATE_NOENDBR
	.set	.Lstart, \name\()_code
	open_window
.Lagain\@:
	reserve	\size, \first, .Loff\@, .Lgroup\@
	.if	\timed
	pushq	%rax
	pushq	%rdx
	rdtsc
	shlq	$32, %rdx
	orq	%rax, %rdx
	.endif
	sarq	%r10
	.if	\timed
	movq	%rdx, (%r10)
	popq	%rdx
	popq	%rax
	.endif
	write	(8 * \timed)(%r10)
.Lout\@:
	close_window .Lclosed\@
.Loff\@:
	/* FTRACE_FLIGHT_RESUME is the sign. */
	jns	.Lout\@
	xorl	%r10d, %r10d
.Lgroup\@:
	group	\slow, .Lagain\@, .Lout\@
.Lclosed\@:
SYM_INNER_LABEL(\name\()_code_end, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RET
SYM_FUNC_END(\name\()_code)
STACK_FRAME_NON_STANDARD_FP(\name\()_code)

	.pushsection .rodata.ftrace_flight, "a"
SYM_DATA_END_LABEL(\name\()_fixes, SYM_L_GLOBAL, \name\()_fixes_end)
	.popsection
.endm

template ftrace_flight, FTRACE_FLIGHT_RECORD, FTRACE_FLIGHT_FIRST, ftrace_flight_slow, 0
template ftrace_flight_timed, FTRACE_FLIGHT_TIMED_RECORD, FTRACE_FLIGHT_TIMED_FIRST, \
	ftrace_flight_slow_timed, 1
