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
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

struct ftrace_flight;

/* Size in bytes of the largest call site instruction of any architecture. */
#define FTRACE_INSN_MAX		8

/**
 * struct ftrace_site - one call site
 * @off: address of the site, as an offset from the start of its table's text
 * @state: the number of the class of the site, and flags
 */
struct ftrace_site {
	u32	off;
	u32	state;
};

/*
 * Targets of a batch that are no addresses: the site jumps to its thunk, which records the call and
 * the return; of some kind: with the time, and not if the guard of the ops turns the task away.
 */
#define FTRACE_THUNK(kind)	(1UL + (kind))
#define FTRACE_THUNK_TIMED	1
#define FTRACE_THUNK_GUARDED	2
#define FTRACE_NR_THUNKS	4

/**
 * struct ftrace_thunks - the thunks of a table of sites
 * @list: in the architecture's list of all
 * @dead: in the list of those whose table is gone
 * @free: frees them
 * @base: address of the first thunk; they are sorted like the sites
 * @size: bytes of all thunks, with what is left of the last page
 * @nr: number of thunks
 * @kind: that of FTRACE_THUNK()
 */
struct ftrace_thunks {
	struct list_head	list;
	struct list_head	dead;
	struct rcu_work		free;
	unsigned long		base;
	unsigned long		size;
	unsigned int		nr;
	unsigned int		kind;
};

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
 * struct ftrace_batch - a change of call sites
 * @patch: the sites and slots, by ascending address, without duplicates
 * @nr: number of sites and slots
 * @targets: the addresses that ->from and ->to of a site are indexes into; 0 is a nop
 */
struct ftrace_batch {
	const struct ftrace_patch	*patch;
	unsigned int			nr;
	const unsigned long		*targets;
};

/**
 * struct ftrace_count - how many tasks entered a callback, how many left it, and calls it missed
 * @entered: incremented by the trampoline before the call
 * @left: incremented by the trampoline after the call
 * @missed: incremented by the trampoline in place of the call, see &ftrace_call.trylock
 *
 * There is one on each CPU. All counters wrap.
 */
struct ftrace_count {
	unsigned long		entered;
	unsigned long		left;
	unsigned long		missed;
};

/**
 * struct ftrace_guard - a word of the CPU that turns tasks away before a callback
 * @word: the word; there is one on each CPU
 * @skip: the value of the word with which the callback is not called
 * @users: number of references; ftrace_lock held
 * @skipped: the callback knows the word, too, and does nothing but count. So only what runs before
 *	registers are saved looks at the word, and counts here. NULL if the callback does not know
 */
struct ftrace_guard {
	int __percpu		*word;
	int			skip;
	unsigned int		users;
	unsigned long __percpu	*skipped;
};

/**
 * struct ftrace_call - one callback of a trampoline
 * @func: the function to call
 * @ops: the third argument of the function
 * @count: where to count tasks; NULL if nobody waits until no task is in the callback
 * @guard: what turns tasks away, before they are counted; NULL if there is nothing
 * @trylock: @func does nothing if ftrace_test_recursion_trylock() fails. The trampoline may look
 *	first, and then count a call that is missed
 * @flight: where to record the call, instead of calling @func; NULL to call @func
 */
struct ftrace_call {
	ftrace_func_t			func;
	struct ftrace_ops		*ops;
	struct ftrace_count __percpu	*count;
	const struct ftrace_guard	*guard;
	bool				trylock;
	const struct ftrace_flight	*flight;
};

/**
 * struct ftrace_tramp - code between call sites and their callbacks
 * @addr: address of the code
 * @size: size of the code in bytes
 *
 * A trampoline has a slot for each callback, which can be switched off. The slot of a flight
 * recorder has the code that records, and runs before all callbacks.
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

#ifdef CONFIG_DYNAMIC_FTRACE
/* The core holds this lock for all changes of what is traced. */
extern struct mutex ftrace_lock;

/**
 * arch_ftrace_init - prepare the mapping that text is written through
 *
 * Context: Boot, before any site is patched. Patching itself allocates nothing.
 */
void __init arch_ftrace_init(void);

/**
 * arch_ftrace_init_site - turn the call that the compiler made into a nop
 * @ip: address of the site, in text that is writable and does not run yet
 *
 * Context: Boot with one CPU, or the loading of a module. arch_ftrace_init_done() follows.
 * Return: 0, or -EINVAL, with the site unchanged, if there is no such call.
 */
int arch_ftrace_init_site(unsigned long ip);

/**
 * arch_ftrace_find_call - find the call that the compiler made at the head of a function
 * @func: address of the function, in module text that does not run yet
 * @size: number of bytes of the function
 *
 * The bytes alone must leave no doubt.
 *
 * Context: The loading of a module.
 * Return: address of the call, 0 if the function does not begin with such a call.
 */
unsigned long arch_ftrace_find_call(unsigned long func, unsigned long size);

/**
 * arch_ftrace_init_done - all sites of an object have become nops
 *
 * Context: As arch_ftrace_init_site(). Flush or serialise what this CPU may have prefetched.
 */
void arch_ftrace_init_done(void);

/**
 * arch_ftrace_site_calls - does a site hold the expected instruction?
 * @ip: address of the site
 * @target: what the site should call, 0 for a nop
 *
 * Context: text_mutex held, so that the bytes do not change meanwhile.
 * Return: true if all bytes of the site are as expected.
 */
bool arch_ftrace_site_calls(unsigned long ip, unsigned long target);

/**
 * arch_ftrace_check - do the sites of a batch hold the expected instructions?
 * @batch: the sites, and slots of trampolines
 *
 * Context: text_mutex held, so that the bytes do not change meanwhile.
 * Return: number of sites and slots before the first site with unexpected bytes.
 */
unsigned int arch_ftrace_check(const struct ftrace_batch *batch);

/**
 * arch_ftrace_insn - encode the instruction of a site
 * @ip: address of the site
 * @target: what the site calls, 0 for a nop
 * @buf: where the instruction goes, FTRACE_INSN_MAX bytes
 *
 * Context: Any context.
 * Return: length of the instruction in bytes.
 */
unsigned int arch_ftrace_insn(unsigned long ip, unsigned long target, u8 *buf);

/**
 * arch_ftrace_reaches - can a call from anywhere in the kernel or a module reach @target?
 * @target: address of the function of a direct caller; trampolines are placed within reach
 *
 * Context: Any context.
 * Return: true if a call can reach @target.
 */
bool arch_ftrace_reaches(unsigned long target);

/**
 * arch_ftrace_patch - make each site of a batch call its new target
 * @batch: the sites and slots
 *
 * The caller has compared the bytes of every site with those of its ->from. This cannot fail.
 * When it returns, every CPU executes the new instructions. Changes are reported to
 * perf_event_text_poke().
 *
 * Context: Process context, may sleep. cpus_read_lock() and text_mutex held: a CPU that comes
 *	up meanwhile would miss a broadcast.
 */
void arch_ftrace_patch(const struct ftrace_batch *batch);

/**
 * arch_ftrace_sync - make each CPU execute a full barrier before it executes a site again
 *
 * Context: Process context, may sleep. cpus_read_lock() held.
 */
void arch_ftrace_sync(void);
#ifdef CONFIG_FTRACE_FLIGHT
bool arch_ftrace_cycles_usable(void);
bool arch_ftrace_clock_is_cycles(u64 (*clock)(void));
u64 arch_ftrace_cycles_of(unsigned long ns);
int arch_ftrace_watch_timer(void (*probe)(void *data, int vector), void *data);
void arch_ftrace_unwatch_timer(void (*probe)(void *data, int vector), void *data);
#endif

/**
 * arch_ftrace_tramp_make - build a trampoline
 * @calls: the callbacks, in the order in which they are called
 * @nr: number of callbacks
 * @regs: save all registers, not only those of arguments
 * @direct: where to jump at the end, 0 for the traced function
 *
 * A callback with counters is counted before and after its call. The slots have the numbers of
 * the callbacks; the jump to @direct has the next number.
 *
 * Context: Process context, may sleep. ftrace_lock held, text_mutex not held.
 * Return: the trampoline, NULL if there is no memory or it would be too large.
 */
struct ftrace_tramp *arch_ftrace_tramp_make(const struct ftrace_call *calls,
					    unsigned int nr, bool regs,
					    unsigned long direct);

/**
 * arch_ftrace_tramp_off - the patch that switches a slot of a trampoline off
 * @tramp: the trampoline
 * @n: number of the slot, which is on
 * @patch: where to put the patch for arch_ftrace_patch(). After it, no task counts itself in
 *
 * Context: ftrace_lock held.
 */
void arch_ftrace_tramp_off(const struct ftrace_tramp *tramp, unsigned int n,
			   struct ftrace_patch *patch);

/**
 * arch_ftrace_tramp_free - free a trampoline
 * @tramp: the trampoline; no task is in it or will enter it
 *
 * Context: Process context, may sleep. ftrace_lock held.
 */
void arch_ftrace_tramp_free(struct ftrace_tramp *tramp);

/**
 * arch_ftrace_tramp_find - find the trampoline at an address
 * @addr: any address
 *
 * Context: Any context, preemption off.
 * Return: the trampoline, which stays while preemption is off, where RCU is watching; NULL if
 *	there is none.
 */
const struct ftrace_tramp *arch_ftrace_tramp_find(unsigned long addr);

/**
 * arch_ftrace_tramp_nth - get a trampoline by its number, for /proc/kallsyms
 * @n: number of the trampoline, from 0
 *
 * Context: Any context, preemption off.
 * Return: the trampoline, which stays while preemption is off; NULL if there are no more.
 */
const struct ftrace_tramp *arch_ftrace_tramp_nth(unsigned int n);
#endif

/* Is a target of a batch the thunk of the site? */
static __always_inline bool ftrace_is_thunk(unsigned long target)
{
	return IS_ENABLED(CONFIG_FTRACE_FLIGHT_RETURNS) && target - 1 < FTRACE_NR_THUNKS;
}

#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
/**
 * arch_ftrace_thunks_make - make a thunk for each site of a table
 * @start: address of the text
 * @sites: the sites
 * @nr: number of sites
 * @kind: that of FTRACE_THUNK()
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: the thunks, NULL if there is no memory.
 */
struct ftrace_thunks *arch_ftrace_thunks_make(unsigned long start, const struct ftrace_site *sites,
					      unsigned int nr, unsigned int kind);

/**
 * arch_ftrace_thunks_free - free thunks
 * @thunks: the thunks; no task is in them or will return to them
 *
 * Context: Process context, may sleep. ftrace_lock held.
 */
void arch_ftrace_thunks_free(struct ftrace_thunks *thunks);

/**
 * arch_ftrace_thunk_function - find the function of a thunk
 * @addr: any address
 * @returns: the function returns to @addr
 *
 * Context: Any context.
 * Return: the return address into the traced function; 0 if @addr is in no thunk, or if @returns
 *	is true and the function returns to another address.
 */
unsigned long arch_ftrace_thunk_function(unsigned long addr, bool returns);

/**
 * arch_ftrace_thunk_nr - which thunk of a table is it?
 * @offset: from the first thunk of the table to any byte of the thunk
 *
 * Context: Any context.
 * Return: its number, from 0.
 */
unsigned long arch_ftrace_thunk_nr(unsigned long offset);

/**
 * arch_ftrace_thunks_usable - may sites jump to thunks?
 *
 * Context: Any context.
 * Return: true if they may.
 */
bool arch_ftrace_thunks_usable(void);
#endif

/* As arch_ftrace_thunk_nr(); nobody asks if there are no thunks. */
static inline unsigned long ftrace_thunk_nr(unsigned long offset)
{
#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
	return arch_ftrace_thunk_nr(offset);
#else
	return 0;
#endif
}

/* As arch_ftrace_thunk_function(); 0 if there are no thunks. */
static inline unsigned long ftrace_thunk_function(unsigned long addr, bool returns)
{
#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
	return arch_ftrace_thunk_function(addr, returns);
#else
	return 0;
#endif
}

#endif /* _LINUX_FTRACE_ARCH_H */
