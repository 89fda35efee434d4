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
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/current.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/page_types.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

#include "flight.h"
#include "frames.S"

	.code64

/*
 * Is the code that follows copied? Other code runs where it is, and has the addresses that are
 * written into a copy.
 */
	.set	copied, 1

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

/* Change a variable of the CPU. */
.macro count insn, var, what
	.if	copied
	\insn	%gs:0
	fix	\what, 4
	.else
	\insn	PER_CPU_VAR(\var)
	.endif
.endm

/* Windows are counted where the task stays on the CPU. */
.macro open_window
#ifdef CONFIG_PREEMPTION
	count	INC_PREEMPT, __preempt_count, FLIGHT_PREEMPT
#endif
	count	incl, ftrace_flight_depth, FLIGHT_DEPTH
.endm

/* Goes on at \closed. */
.macro close_window closed
	count	decl, ftrace_flight_depth, FLIGHT_DEPTH
#ifdef CONFIG_PREEMPTION
	count	DEC_PREEMPT, __preempt_count, FLIGHT_PREEMPT
	jnz	\closed
	resched
#endif
	jmp	\closed
.endm

#ifdef CONFIG_PREEMPT_DYNAMIC
# define RESCHED __SCT__preempt_schedule_notrace
#else
# define RESCHED preempt_schedule_notrace_thunk
#endif

.macro resched
	push_frames
	.if	copied
	call	preempt_schedule_notrace_thunk
	fix	FLIGHT_RESCHED, 4
	.else
	call	RESCHED
	.endif
#ifdef CONFIG_FRAME_POINTER
	movq	16(%rsp), %rbp
	leaq	FRAMES(%rsp), %rsp
#endif
.endm

/* Reserve a record: its address and the parity go to %r10. */
.macro reserve size, first, off, slow, cpu
	.if	copied
	movabsq	$0x1122334455667788, %r11
	fix	FLIGHT_CPU, 8
	.else
	movq	\cpu(%rip), %r11
	.endif
	cmpl	$0, %gs:FTRACE_FLIGHT_OFF(%r11)
	jne	\off
	movl	$(2 * \size), %r10d
	xaddq	%r10, %gs:FTRACE_FLIGHT_NEXT(%r11)
	testl	$\first, %r10d
	jz	\slow
.endm

/*
 * The word of a call goes to \to. The parity is in the carry flag. The return address into the
 * traced function, \site bytes above the stack pointer, is negative, which makes the upper half
 * less by one.
 */
.macro write to, site=0
	movl	(\site + 8)(%rsp), %r11d
	adcl	%r11d, %r11d
	shlq	$32, %r11
	addq	\site(%rsp), %r11
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
	.if	copied
	fix	FLIGHT_GROUP, 4
	.endif
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

/* The slot of the record goes to %r10, and gets the time if \timed is 1. */
.macro take_time timed
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
.endm

/* The end of a window that began at .Lagain\id; goes on at .Lclosed\id. */
.macro end_window slow, id
.Lout\id:
	close_window .Lclosed\id
.Loff\id:
	/* FTRACE_FLIGHT_RESUME is the sign. */
	jns	.Lout\id
	xorl	%r10d, %r10d
.Lgroup\id:
	group	\slow, .Lagain\id, .Lout\id
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
	take_time \timed
	write	(8 * \timed)(%r10)
	end_window \slow, \@
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

#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
/*
 * What thunks call. A thunk belongs to a site that only the recorder wants. The site jumps to it:
 *
 *	pushq	$function		the return address into the traced function
 *	call	ftrace_flight_entry	or another one, by the kind of the thunk
 *	addq	$16, %rsp
 *	call	function		which finds the stack as its caller has left it
 *	pushq	$FTRACE_RETURNING
 *	call	ftrace_flight_exit	puts the caller's address there
 *	ret
 *
 * So each call has its own return, and the CPU predicts all of them. While the function runs, the
 * caller's address is on a stack of the task; ftrace_flight_ret_addr() finds it by the place at
 * which it was. This code is not freed, and belongs to no recorder: &ftrace_flight_returns is that
 * of the one that has returns, or has a ring that is switched off.
 */
	.set	copied, 0

/*
 * The stack. The first two lines are those of a trampoline:
 *
 *	return address of the traced function		16(%rsp)
 *	return address into the traced function		8(%rsp)
 *	return address into the thunk			(%rsp)
 *
 * A task that the guard turns away goes on to the function at once.
 */
.macro entry guarded, name, size, first, slow, timed
SYM_FUNC_START(\guarded)
	ANNOTATE_NOENDBR
	movq	(ftrace_flight_words + 8 * \timed)(%rip), %r11
	cmpl	$FTRACE_FLIGHT_AWAY, %gs:(%r11)
	je	.Lno_room\@
SYM_INNER_LABEL(\name, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	open_window
.Lagain\@:
	reserve	\size, \first, .Loff\@, .Lgroup\@, (ftrace_flight_returns + 8 * \timed)
	take_time \timed
	write	(8 * \timed)(%r10), 8
	end_window \slow, \@

	/*
	 * An interrupt pushes above what is reserved, and finds that it is not complete: the place
	 * of an entry that was used is 0.
	 */
.Lclosed\@:
	movq	PER_CPU_VAR(current_task), %r10
	movq	TASK_flight_returns(%r10), %r11
	testl	$FTRACE_RETURN_FULL, %r11d
	jz	.Lno_room\@
	subq	$FTRACE_RETURN_SIZE, TASK_flight_returns(%r10)
	movl	16(%rsp), %r10d
	movl	%r10d, (FTRACE_RETURN_CALLER - FTRACE_RETURN_SIZE)(%r11)
	leaq	16(%rsp), %r10
	movq	%r10, (FTRACE_RETURN_SP - FTRACE_RETURN_SIZE)(%r11)
	RET

	/* On to the function, which returns to its caller: the return is not recorded. */
.Lno_room\@:
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(\guarded)
_ASM_NOKPROBE(\guarded)
_ASM_NOKPROBE(\name)
.endm

/*
 * The place for the caller's address is 8(%rsp). %rax and %rdx are live, and what a function keeps.
 * The word of a return is that of a call whose caller is 0; the sign of the return address into the
 * traced function, which the thunk begins with, makes the upper half less by one.
 */
.macro exit name, size, first, slow, timed
SYM_FUNC_START(\name)
	ANNOTATE_NOENDBR
	open_window
.Lagain\@:
	.if	\timed
	cmpq	$0, ftrace_flight_thresh(%rip)
	jne	.Llook\@
.Lrecord\@:
	.endif
	reserve	\size, \first, .Loff\@, .Lgroup\@, (ftrace_flight_returns + 8 * \timed)
	.if	\timed
	movq	%rax, %r8
	movq	%rdx, %r9
	rdtsc
	shlq	$32, %rdx
	orq	%rax, %rdx
	.endif
	sarq	%r10
	.if	\timed
	movq	%rdx, (%r10)
	movq	%r9, %rdx
	movq	%r8, %rax
	.endif
	sbbq	%r11, %r11
	shlq	$32, %r11
	movq	(%rsp), %rcx
	movslq	(THUNK_SITE - THUNK_EXITED)(%rcx), %rcx
	subq	%r11, %rcx
	movq	%rcx, (8 * \timed)(%r10)
	end_window \slow, \@

	.if	\timed
.Llook\@:
	pushq	%rax
	pushq	%rdx
	movq	16(%rsp), %rdi
	movslq	(THUNK_SITE - THUNK_EXITED)(%rdi), %rdi
	call	ftrace_flight_take_back
	testb	%al, %al
	popq	%rdx
	popq	%rax
	jz	.Lrecord\@
	jmp	.Lout\@
	.endif

	/* Some code does not return to where it was called from; what it has left is dropped. */
.Ldrop\@:
	pushq	%rax
	pushq	%rdx
	movq	%r9, %rdi
	call	ftrace_flight_drop_returns
	popq	%rdx
	popq	%rax
.Lclosed\@:
	movq	PER_CPU_VAR(current_task), %r10
	movq	TASK_flight_returns(%r10), %r11
	leaq	8(%rsp), %r9
	cmpq	%r9, FTRACE_RETURN_SP(%r11)
	jne	.Ldrop\@
	movslq	FTRACE_RETURN_CALLER(%r11), %r9
	movq	%r9, 8(%rsp)
	movq	$0, FTRACE_RETURN_SP(%r11)
	addq	$FTRACE_RETURN_SIZE, TASK_flight_returns(%r10)
	RET
SYM_FUNC_END(\name)
_ASM_NOKPROBE(\name)
.endm

entry ftrace_flight_guarded_entry, ftrace_flight_entry, FTRACE_FLIGHT_RECORD, FTRACE_FLIGHT_FIRST, \
	ftrace_flight_slow, 0
exit ftrace_flight_exit, FTRACE_FLIGHT_RECORD, FTRACE_FLIGHT_FIRST, ftrace_flight_slow, 0
entry ftrace_flight_guarded_timed_entry, ftrace_flight_timed_entry, FTRACE_FLIGHT_TIMED_RECORD, \
	FTRACE_FLIGHT_TIMED_FIRST, ftrace_flight_slow_timed, 1
exit ftrace_flight_timed_exit, FTRACE_FLIGHT_TIMED_RECORD, FTRACE_FLIGHT_TIMED_FIRST, \
	ftrace_flight_slow_timed, 1

/* The layout of a thunk where the caller's address is not on the stack; never runs. */
SYM_CODE_START(ftrace_flight_unknown)
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR
	ud2
SYM_CODE_END(ftrace_flight_unknown)
#endif
