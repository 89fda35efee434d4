/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an architecture gives the function tracing core.
 *
 * The core decides what each call site is to call; the architecture knows how
 * an instruction is changed while other CPUs run it, and how to build the code
 * between a site and the callbacks. They meet in the functions declared here.
 */
#ifndef _LINUX_FTRACE_ARCH_H
#define _LINUX_FTRACE_ARCH_H

#include <linux/ftrace.h>
#include <linux/mutex.h>

struct ftrace_site;

/* Bytes of the largest call site instruction of any architecture. */
#define FTRACE_INSN_MAX		8

/**
 * struct ftrace_patch - one call site of a batch, or one slot of a trampoline
 * @ip: address of what is changed
 * @site: its record; NULL for a slot
 * @from: what a site calls now, an index into the batch's targets
 * @to: what a site is to call, likewise
 *
 * For a slot @from and @to are what arch_ftrace_tramp_off() put there.
 */
struct ftrace_patch {
	unsigned long		ip;
	struct ftrace_site	*site;
	u32			from;
	u32			to;
};

/**
 * struct ftrace_count - how often a callback was entered, and how often left
 * @entered: counted up by the trampoline before the call
 * @left: counted up by the trampoline after it
 *
 * On each CPU. Both wrap round.
 */
struct ftrace_count {
	unsigned long		entered;
	unsigned long		left;
};

/**
 * struct ftrace_call - one callback of a trampoline
 * @func: what to call
 * @ops: what to pass as its third argument
 * @count: where to count; NULL if nobody will wait until no task is in it
 */
struct ftrace_call {
	ftrace_func_t			func;
	struct ftrace_ops		*ops;
	struct ftrace_count __percpu	*count;
};

/**
 * struct ftrace_tramp - code between call sites and their callbacks
 * @addr: where it is
 * @size: bytes of code
 *
 * For each callback it has a slot, which can be switched off.
 */
struct ftrace_tramp {
	unsigned long		addr;
	unsigned int		size;
};

#ifdef CONFIG_DYNAMIC_FTRACE
/* Held by the core for all changes of what is traced. */
extern struct mutex ftrace_lock;

void __init arch_ftrace_init(void);
int arch_ftrace_init_site(unsigned long ip);
void arch_ftrace_init_done(void);
bool arch_ftrace_site_calls(unsigned long ip, unsigned long target);
unsigned int arch_ftrace_check(const struct ftrace_patch *batch, unsigned int nr,
			       const unsigned long *targets);
unsigned int arch_ftrace_insn(unsigned long ip, unsigned long target, u8 *buf);
bool arch_ftrace_reaches(unsigned long target);
void arch_ftrace_patch(const struct ftrace_patch *batch, unsigned int nr,
		       const unsigned long *targets);

struct ftrace_tramp *arch_ftrace_tramp_make(const struct ftrace_call *calls,
					    unsigned int nr, bool regs,
					    unsigned long direct);
void arch_ftrace_tramp_off(const struct ftrace_tramp *tramp, unsigned int n,
			   struct ftrace_patch *patch);
void arch_ftrace_tramp_free(struct ftrace_tramp *tramp);
const struct ftrace_tramp *arch_ftrace_tramp_find(unsigned long addr);
const struct ftrace_tramp *arch_ftrace_tramp_nth(unsigned int n);
#endif

#endif /* _LINUX_FTRACE_ARCH_H */
