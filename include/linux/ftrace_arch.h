/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between the function tracing core and an architecture.
 *
 * The core decides what each call site calls. The architecture knows how to change
 * an instruction while other CPUs run it, and how to build the code between a site
 * and the callbacks. The functions declared here are the interface between the two.
 */
#ifndef _LINUX_FTRACE_ARCH_H
#define _LINUX_FTRACE_ARCH_H

#include <linux/ftrace.h>
#include <linux/mutex.h>

struct ftrace_site;

/* Size in bytes of the largest call site instruction of any architecture. */
#define FTRACE_INSN_MAX		8

/**
 * struct ftrace_patch - one call site of a batch, or one slot of a trampoline
 * @ip: address of the bytes to change
 * @site: the record of the site; NULL for a slot
 * @from: what a site calls now, as an index into the targets of the batch
 * @to: what a site must call, as an index into the targets of the batch
 *
 * For a slot, arch_ftrace_tramp_off() sets @from and @to. If ftrace_is_jmp() is true of a
 * target, the site jumps to ftrace_jmp_get() of the target and does not call it.
 */
struct ftrace_patch {
	unsigned long		ip;
	struct ftrace_site	*site;
	u32			from;
	u32			to;
};

/**
 * struct ftrace_count - how many tasks entered a callback, and how many left it
 * @entered: incremented by the trampoline before the call
 * @left: incremented by the trampoline after the call
 *
 * There is one on each CPU. Both counters wrap.
 */
struct ftrace_count {
	unsigned long		entered;
	unsigned long		left;
};

/**
 * struct ftrace_call - one callback of a trampoline
 * @func: the function to call
 * @ops: the third argument of the function
 * @count: where to count tasks; NULL if nobody waits until no task is in the callback
 */
struct ftrace_call {
	ftrace_func_t			func;
	struct ftrace_ops		*ops;
	struct ftrace_count __percpu	*count;
};

/**
 * struct ftrace_tramp - code between call sites and their callbacks
 * @addr: address of the code
 * @size: size of the code in bytes
 *
 * A trampoline has a slot for each callback, which can be switched off.
 */
struct ftrace_tramp {
	unsigned long		addr;
	unsigned int		size;
};

/*
 * Undo what arch_ftrace_partial_regs() and the like did to registers that a trampoline has
 * not saved, before the next callback gets them.
 */
#ifndef arch_ftrace_reset_regs
#define arch_ftrace_reset_regs(fregs)	((void)(fregs))
#endif

#ifdef CONFIG_FTRACE_CORE_FAULTS
bool ftrace_fault_site(void);
#else
static inline bool ftrace_fault_site(void) { return false; }
#endif

#ifdef CONFIG_DYNAMIC_FTRACE
/* The core holds this lock for all changes of what is traced. */
extern struct mutex ftrace_lock;

void __init arch_ftrace_init(void);
int arch_ftrace_init_site(unsigned long ip);
unsigned long arch_ftrace_find_call(unsigned long func, unsigned long size);
void arch_ftrace_init_done(void);
bool arch_ftrace_site_calls(unsigned long ip, unsigned long target);
unsigned int arch_ftrace_check(const struct ftrace_patch *batch, unsigned int nr,
			       const unsigned long *targets);
unsigned int arch_ftrace_insn(unsigned long ip, unsigned long target, u8 *buf);
bool arch_ftrace_reaches(unsigned long target);
void arch_ftrace_patch(const struct ftrace_patch *batch, unsigned int nr,
		       const unsigned long *targets);
void arch_ftrace_sync(void);

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
