// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function tracing on x86: what a call site looks like, and the graph hook.
 *
 * A site holds one 5-byte instruction: until boot the call that the compiler made,
 * then either the recommended 5-byte nop (Intel SDM vol. 2B, NOP; AMD APM vol. 3,
 * NOP), a call (E8 rel32), or a jump (E9 rel32) if a direct caller asks to be jumped to.
 */
#include <linux/ftrace.h>
#include <linux/memory.h>
#include <linux/uaccess.h>

#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/sections.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>

#include "ftrace_base.h"

#ifdef CONFIG_DYNAMIC_FTRACE
#include <linux/ftrace_arch.h>

#include "ftrace_insn.h"

/**
 * arch_ftrace_insn - encode the instruction of a site
 * @ip: address of the site
 * @target: what the site calls, 0 for a nop
 * @buf: where the instruction goes, FTRACE_INSN_MAX bytes
 *
 * Context: Any context.
 * Return: length of the instruction in bytes.
 */
unsigned int arch_ftrace_insn(unsigned long ip, unsigned long target, u8 *buf)
{
	ftrace_make_insn(ip, target, buf);
	return MCOUNT_INSN_SIZE;
}

/**
 * arch_ftrace_site_calls - does a site hold the expected instruction?
 * @ip: address of the site
 * @target: what the site should call, 0 for a nop
 *
 * Context: text_mutex held, so that the bytes do not change meanwhile.
 * Return: true if all bytes of the site are as expected.
 */
bool arch_ftrace_site_calls(unsigned long ip, unsigned long target)
{
	const u8 *site = (const u8 *)ip;

	return site[0] == ftrace_insn_head(target) &&
	       get_unaligned((const u32 *)(site + 1)) == ftrace_insn_tail(ip, target) &&
	       !ftrace_fault_site();
}

/**
 * arch_ftrace_check - do the sites of a batch hold the expected instructions?
 * @batch: the sites, and slots of trampolines
 * @nr: number of sites and slots
 * @targets: the addresses that ->from of a site is an index into; 0 is a nop
 *
 * Context: text_mutex held, so that the bytes do not change meanwhile.
 * Return: number of sites and slots before the first site with unexpected bytes.
 */
unsigned int arch_ftrace_check(const struct ftrace_patch *batch, unsigned int nr,
			       const unsigned long *targets)
{
	unsigned int i = 0;

	/* Only the core writes to slots, so slots are not checked. */
	while (i < nr && (!batch[i].site ||
			  likely(arch_ftrace_site_calls(batch[i].ip, targets[batch[i].from]))))
		i++;
	return i;
}

/**
 * arch_ftrace_reaches - can a call from anywhere in the kernel reach @target?
 * @target: address of a function or trampoline
 *
 * A near call reaches 2 GB in both directions (Intel SDM vol. 2A, CALL). This is the
 * distance between the start of the kernel image and the end of the module area.
 *
 * Context: Any context.
 * Return: true if a call can reach @target.
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
 * After the last site the caller must call arch_ftrace_init_done().
 *
 * Context: Boot with one CPU, or the loading of a module.
 * Return: 0, or -EINVAL, with the site unchanged, if there is no such call.
 */
int arch_ftrace_init_site(unsigned long ip)
{
	/* objtool may have turned the calls into nops at build time. */
	if (IS_ENABLED(CONFIG_FTRACE_MCOUNT_USE_OBJTOOL) && arch_ftrace_site_calls(ip, 0))
		return 0;
	if (!arch_ftrace_site_calls(ip, MCOUNT_ADDR))
		return -EINVAL;
	memcpy((void *)ip, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE);
	return 0;
}

/**
 * arch_ftrace_find_call - find the call that the compiler made at the head of a function
 * @func: address of the function, in module text that does not run yet
 * @size: number of bytes of the function
 *
 * The call is the first instruction, or follows an ENDBR. The kernel may have replaced
 * the ENDBR by a nop when the module was loaded.
 *
 * Context: The loading of a module.
 * Return: address of the call, 0 if the function does not begin with such a call.
 */
unsigned long arch_ftrace_find_call(unsigned long func, unsigned long size)
{
	unsigned long ip = func;

	if (size < MCOUNT_INSN_SIZE)
		return 0;
	if (ftrace_is_endbr(func))
		ip += ENDBR_INSN_SIZE;
	if (size - (ip - func) < MCOUNT_INSN_SIZE || !arch_ftrace_site_calls(ip, MCOUNT_ADDR))
		return 0;
	return ip;
}

/**
 * arch_ftrace_init_done - serialise after all sites of an object became nops
 *
 * This CPU may have prefetched the old instructions (Intel SDM vol. 3A, Handling Self-
 * and Cross-Modifying Code).
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

	/* Paused while the shadow stacks are being set up; see fgraph.c. */
	if (unlikely(ftrace_graph_is_dead() ||
		     atomic_read(&current->tracing_graph_pause)))
		return;

	if (ftrace_graph_enter(ip, parent, fregs))
		*parent = (unsigned long)&return_to_handler;
}
#endif
