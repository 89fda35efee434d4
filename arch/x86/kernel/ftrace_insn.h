/* SPDX-License-Identifier: GPL-2.0-only */
/* The encoding of a call site: E8 rel32 (Intel SDM vol. 2A, CALL) or a nop. */
#ifndef _X86_KERNEL_FTRACE_INSN_H
#define _X86_KERNEL_FTRACE_INSN_H

#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/ftrace.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

static __always_inline s32 ftrace_rel32(unsigned long ip, unsigned long target)
{
	return target - (ip + CALL_INSN_SIZE);
}

static inline void ftrace_make_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	if (!target) {
		memcpy(insn, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE);
		return;
	}
	insn[0] = CALL_INSN_OPCODE;
	put_unaligned(ftrace_rel32(ip, target), (s32 *)(insn + 1));
}

#endif
