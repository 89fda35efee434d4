/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames of a trampoline, for assembly; 64 bit. */

/* Bytes on the stack. */
#ifdef CONFIG_FRAME_POINTER
# define FRAMES	(5 * 8)
#else
# define FRAMES	0
#endif

/*
 * The frame pointer unwinder goes from the callback to a frame that returns into the
 * traced function, and from there to a frame that returns into its caller, as if the
 * traced function had set up its own frame. If that caller is the entry code, the
 * unwinder recognises the last frame of a task by these five words; see
 * is_last_ftrace_frame().
 */
.macro push_frames
#ifdef CONFIG_FRAME_POINTER
	pushq	%rbp
	pushq	16(%rsp)
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	24(%rsp)
	pushq	%rbp
	movq	%rsp, %rbp
#endif
.endm
