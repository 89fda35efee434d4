// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function tracing on x86: what a call site looks like, and the graph hook.
 *
 * A site holds one 5-byte instruction: the call that the compiler made until
 * boot, then either the recommended 5-byte nop (Intel SDM vol. 2B, NOP; AMD APM
 * vol. 3, NOP) or a call (E8 rel32).
 */
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>
#include <linux/uaccess.h>

#include <asm/nops.h>
#include <asm/sections.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>

#ifdef CONFIG_DYNAMIC_FTRACE
#include "ftrace_insn.h"

/**
 * arch_ftrace_insn - the instruction of a site
 * @ip: address of the site
 * @target: what it is to call, 0 for a nop
 * @buf: where the instruction goes, FTRACE_INSN_MAX bytes
 *
 * Return: its length in bytes.
 * Context: any.
 */
unsigned int arch_ftrace_insn(unsigned long ip, unsigned long target, u8 *buf)
{
	ftrace_make_insn(ip, target, buf);
	return MCOUNT_INSN_SIZE;
}

/**
 * arch_ftrace_site_calls - does a site hold what its record says?
 * @ip: address of the site
 * @target: what it should call, 0 for a nop
 *
 * Return: true if all its bytes are as they should be.
 * Context: text_mutex held, so that nobody changes them meanwhile.
 */
bool arch_ftrace_site_calls(unsigned long ip, unsigned long target)
{
	const u8 *site = (const u8 *)ip;

	return site[0] == ftrace_insn_head(target) &&
	       get_unaligned((const u32 *)(site + 1)) == ftrace_insn_tail(ip, target);
}

/**
 * arch_ftrace_check - do all sites of a batch hold what their records say?
 * @batch: the sites, and slots of trampolines
 * @nr: how many
 * @targets: what ->from of a site stands for; 0 is a nop
 *
 * Return: how many do, from the first to the one before the first that does not.
 * Context: text_mutex held, so that nobody changes them meanwhile.
 */
unsigned int arch_ftrace_check(const struct ftrace_patch *batch, unsigned int nr,
			       const unsigned long *targets)
{
	unsigned int i = 0;

	/* Nobody but us writes to a slot. */
	while (i < nr && (!batch[i].site ||
			  likely(arch_ftrace_site_calls(batch[i].ip, targets[batch[i].from]))))
		i++;
	return i;
}

/**
 * arch_ftrace_reaches - can a call from anywhere in the kernel reach @target?
 * @target: address of a function or trampoline
 *
 * A near call spans 2 GB either way (Intel SDM vol. 2A, CALL), which is what
 * lies between the start of the kernel image and the end of the module area.
 *
 * Return: true if so.
 * Context: any.
 */
bool arch_ftrace_reaches(unsigned long target)
{
	if (!IS_ENABLED(CONFIG_X86_64))
		return true;
	return target >= __START_KERNEL_map && target < MODULES_END;
}

/**
 * arch_ftrace_init_site - turn the call that the compiler made into a nop
 * @ip: address of the site, in kernel or module text that does not run yet
 *
 * Return: 0, or -EINVAL, with the site untouched, if there is no such call.
 * Context: boot with one CPU, or the loading of a module; ends with
 * arch_ftrace_init_done().
 */
int arch_ftrace_init_site(unsigned long ip)
{
	/* objtool may have made nops of them at build time. */
	if (IS_ENABLED(CONFIG_FTRACE_MCOUNT_USE_OBJTOOL) && arch_ftrace_site_calls(ip, 0))
		return 0;
	if (!arch_ftrace_site_calls(ip, MCOUNT_ADDR))
		return -EINVAL;
	memcpy((void *)ip, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE);
	return 0;
}

/**
 * arch_ftrace_init_done - all sites of an object are nops
 *
 * This CPU may have prefetched what was just written (Intel SDM vol. 3A,
 * Handling Self- and Cross-Modifying Code).
 */
void arch_ftrace_init_done(void)
{
	sync_core();
}

#endif /* CONFIG_DYNAMIC_FTRACE */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * Divert the return of the traced function, whose return address is at the
 * top of its stack, to return_to_handler().
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long *parent = (void *)ftrace_regs_get_stack_pointer(fregs);
	int bit;

	/* Paused while the shadow stacks are being set up; see fgraph.c. */
	if (unlikely(ftrace_graph_is_dead() ||
		     atomic_read(&current->tracing_graph_pause)))
		return;

	bit = ftrace_test_recursion_trylock(ip, *parent);
	if (bit < 0)
		return;
	if (!function_graph_enter(*parent, ip, 0, parent))
		*parent = (unsigned long)&return_to_handler;
	ftrace_test_recursion_unlock(bit);
}
#endif
