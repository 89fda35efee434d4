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
#include <linux/llist.h>
#include <linux/mutex.h>

/* Bytes of the largest call site instruction of any architecture. */
#define FTRACE_INSN_MAX		8

/**
 * struct ftrace_patch - one call site of a batch
 * @ip: address of the site
 * @site: its record
 * @from: what it calls now, an index into the batch's targets
 * @to: what it is to call, likewise
 */
struct ftrace_patch {
	unsigned long		ip;
	struct dyn_ftrace	*site;
	u32			from;
	u32			to;
};

/**
 * struct ftrace_call - one callback of a trampoline
 * @func: what to call
 * @ops: what to pass as its third argument
 */
struct ftrace_call {
	ftrace_func_t		func;
	struct ftrace_ops	*ops;
};

/**
 * struct ftrace_tramp - code between call sites and their callbacks
 * @addr: where it is
 * @size: bytes of code
 * @calls: offset of what is generated for the callbacks, where the frame is complete
 * @tail: offset of the code that takes the frame down
 * @regs: saves all registers
 * @free: in the core's list of those that wait to be freed
 */
struct ftrace_tramp {
	unsigned long		addr;
	unsigned int		size;
	unsigned int		calls;
	unsigned int		tail;
	bool			regs;
	struct llist_node	free;
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
					    unsigned long direct, gfp_t gfp);
void arch_ftrace_tramp_free(struct ftrace_tramp *tramp);
const struct ftrace_tramp *arch_ftrace_tramp_find(unsigned long addr);
const struct ftrace_tramp *arch_ftrace_tramp_nth(unsigned int n);
#endif

#endif /* _LINUX_FTRACE_ARCH_H */
