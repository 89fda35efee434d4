/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The encoding of what is patched: a call site is E8 rel32 (Intel SDM vol. 2A, CALL),
 * E9 rel32 (JMP) or a nop. A site jumps if its target is marked by ftrace_jmp_set() or is
 * the thunk of the site. A slot of a trampoline that is switched off is E8 rel32 or E9 rel32.
 */
#ifndef _X86_KERNEL_FTRACE_INSN_H
#define _X86_KERNEL_FTRACE_INSN_H

#include <linux/ftrace_arch.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/ftrace.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "flight.h"

static __always_inline s32 ftrace_rel32(unsigned long ip, unsigned long target)
{
	return target - (ip + CALL_INSN_SIZE);
}

/* The last four bytes of the instruction. */
static __always_inline u32 ftrace_insn_tail(unsigned long ip, unsigned long target)
{
	if (unlikely(ftrace_is_thunk(target)))
		return ftrace_rel32(ip, ftrace_thunk_of(ip, target));
	if (!target)
		return get_unaligned((const u32 *)(x86_nops[MCOUNT_INSN_SIZE] + 1));
	return ftrace_rel32(ip, ftrace_jmp_get(target));
}

static __always_inline u8 ftrace_insn_head(unsigned long target)
{
	if (!target)
		return x86_nops[MCOUNT_INSN_SIZE][0];
	if (ftrace_is_thunk(target))
		return JMP32_INSN_OPCODE;
	return ftrace_is_jmp(target) ? JMP32_INSN_OPCODE : CALL_INSN_OPCODE;
}

static inline void ftrace_make_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	insn[0] = ftrace_insn_head(target);
	put_unaligned(ftrace_insn_tail(ip, target), (u32 *)(insn + 1));
}

/* For a slot, ->from is the opcode and ->to is the rel32. */
static __always_inline void ftrace_slot_set(struct ftrace_patch *patch, unsigned long ip,
					    u8 opcode, unsigned long target)
{
	*patch = (struct ftrace_patch){ ip, NULL, opcode, ftrace_rel32(ip, target) };
}

static __always_inline u8 ftrace_slot_head(const struct ftrace_patch *patch)
{
	return patch->from;
}

static __always_inline u32 ftrace_slot_tail(const struct ftrace_patch *patch)
{
	return patch->to;
}

#endif
