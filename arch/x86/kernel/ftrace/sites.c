// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function tracing on x86: what a call site looks like, and the graph hook.
 *
 * A site holds one 5-byte instruction: until boot the call that the compiler made,
 * then either the recommended 5-byte nop (Intel SDM vol. 2B, NOP; AMD APM vol. 3,
 * NOP), a call (E8 rel32), or a jump (E9 rel32) if a direct caller asks to be jumped to.
 */
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/uaccess.h>

#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/sections.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>

#include "insn.h"

unsigned int arch_ftrace_insn(unsigned long ip, unsigned long target, u8 *buf)
{
	ftrace_make_insn(ip, target, buf);
	return MCOUNT_INSN_SIZE;
}

bool arch_ftrace_site_calls(unsigned long ip, unsigned long target)
{
	const u8 *site = (const u8 *)ip;

	return site[0] == ftrace_insn_head(target) &&
	       get_unaligned((const u32 *)(site + 1)) == ftrace_insn_tail(ip, target);
}

unsigned int arch_ftrace_check(const struct ftrace_batch *batch)
{
	unsigned int i;

	for (i = 0; i < batch->nr; i++) {
		const struct ftrace_patch *patch = &batch->patch[i];

		/* Only the core writes to slots, so slots are not checked. */
		if (patch->site &&
		    unlikely(!arch_ftrace_site_calls(patch->ip, batch->targets[patch->from])))
			break;
	}
	return i;
}

/*
 * A near call reaches 2 GB in both directions (Intel SDM vol. 2A, CALL). This is the distance
 * between the start of the kernel image and the end of the module area.
 */
bool arch_ftrace_reaches(unsigned long target)
{
	if (!IS_ENABLED(CONFIG_X86_64))
		return true;
	return target >= __START_KERNEL_map && target < MODULES_END;
}

int arch_ftrace_init_site(unsigned long ip)
{
	unsigned long fentry = MCOUNT_ADDR;

	/* The compiler would subtract from it, and objtool wants no address next to a function. */
	OPTIMIZER_HIDE_VAR(fentry);
	/* objtool may have turned the calls into nops at build time. */
	if (IS_ENABLED(CONFIG_FTRACE_MCOUNT_USE_OBJTOOL) && arch_ftrace_site_calls(ip, 0))
		return 0;
	if (!arch_ftrace_site_calls(ip, fentry))
		return -EINVAL;
	memcpy((void *)ip, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE);
	return 0;
}

/*
 * The call is the first instruction, or follows an ENDBR, which the kernel may have replaced by a
 * nop when the module was loaded.
 */
unsigned long arch_ftrace_find_call(unsigned long func, unsigned long size)
{
	unsigned long ip = func;

	if (size < MCOUNT_INSN_SIZE)
		return 0;
	if (is_endbr((u32 *)func))
		ip += ENDBR_INSN_SIZE;
	if (size - (ip - func) < MCOUNT_INSN_SIZE || !arch_ftrace_site_calls(ip, MCOUNT_ADDR))
		return 0;
	return ip;
}

/*
 * This CPU may have prefetched the old instructions (Intel SDM vol. 3A, Handling Self- and
 * Cross-Modifying Code).
 */
void arch_ftrace_init_done(void)
{
	sync_core();
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * Divert the return of the traced function, whose return address is at the
 * top of its stack, to return_to_handler().
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long *parent = (void *)ftrace_regs_get_stack_pointer(fregs);

	/* Paused while the shadow stacks are being set up; see fgraph.c. */
	if (unlikely(ftrace_graph_is_dead() ||
		     atomic_read(&current->tracing_graph_pause)))
		return;

	if (!function_graph_enter_regs(*parent, ip, 0, parent, fregs))
		*parent = (unsigned long)&return_to_handler;
}
#endif
