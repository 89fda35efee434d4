// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thunks: the code that a site jumps to if its calls and returns are recorded. See flight_64.S.
 *
 * The thunks of a table of sites are made together and are never changed. They are not freed before
 * the text of the table is, because a task may sleep in a function for long and then returns to its
 * thunk.
 */
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/rculist.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <asm/nospec-branch.h>

#include "flight.h"
#include "insn.h"

/* Changed with ftrace_lock held, read in any context. */
static LIST_HEAD(all_thunks);

bool arch_ftrace_thunks_usable(void)
{
	/* Calls are counted, and thunks do not. */
	return !cpu_feature_enabled(X86_FEATURE_CALL_DEPTH);
}

static u8 *thunk_branch(u8 *at, u8 opcode, unsigned long to)
{
	__text_gen_insn(at, opcode, at, (void *)to, CALL_INSN_SIZE);
	return at + CALL_INSN_SIZE;
}

static u8 *thunk_bytes(u8 *at, const void *bytes, unsigned int len)
{
	return (u8 *)memcpy(at, bytes, len) + len;
}

/* What thunks call first, by their kinds. */
static void (* const thunk_entries[FTRACE_NR_THUNKS])(void) = {
	ftrace_flight_entry,
	ftrace_flight_timed_entry,
	ftrace_flight_guarded_entry,
	ftrace_flight_guarded_timed_entry,
};

/* @function is the return address into the function. */
static void thunk_write(u8 *at, unsigned long function, unsigned int kind)
{
	bool timed = kind & FTRACE_THUNK_TIMED;

	*at++ = 0x68;					/* pushq $function */
	put_unaligned((u32)function, (u32 *)at);
	at += sizeof(u32);
	at = thunk_branch(at, CALL_INSN_OPCODE, (unsigned long)thunk_entries[kind]);
	at = thunk_bytes(at, "\x48\x83\xc4\x10", 4);	/* addq $16, %rsp */
	at = thunk_branch(at, CALL_INSN_OPCODE, function);
	at = thunk_bytes(at, "\x6a\xff", 2);		/* pushq $FTRACE_RETURNING */
	at = thunk_branch(at, CALL_INSN_OPCODE,
			  (unsigned long)(timed ? ftrace_flight_timed_exit : ftrace_flight_exit));
	if (cpu_wants_rethunk())
		thunk_branch(at, JMP32_INSN_OPCODE, (unsigned long)x86_return_thunk);
	else
		*at = RET_INSN_OPCODE;
}

static void thunks_free(struct work_struct *work)
{
	struct ftrace_thunks *thunks = container_of(to_rcu_work(work), struct ftrace_thunks, free);

	execmem_free((void *)thunks->base);
	kfree(thunks);
}

struct ftrace_thunks *arch_ftrace_thunks_make(unsigned long start, const struct ftrace_site *sites,
					      unsigned int nr, unsigned int kind)
{
	struct ftrace_thunks *thunks __free(kfree) = kzalloc(sizeof(*thunks), GFP_KERNEL);
	u8 *mem;

	lockdep_assert_held(&ftrace_lock);
	if (!thunks)
		return NULL;
	thunks->size = PAGE_ALIGN(nr * THUNK_SIZE);
	mem = execmem_alloc_rw(EXECMEM_FTRACE, thunks->size);
	if (!mem)
		return NULL;
	memset(mem, INT3_INSN_OPCODE, thunks->size);
	for (unsigned int i = 0; i < nr; i++)
		thunk_write(mem + i * THUNK_SIZE, start + sites[i].off + MCOUNT_INSN_SIZE, kind);
	if (set_memory_rox((unsigned long)mem, thunks->size >> PAGE_SHIFT)) {
		execmem_free(mem);
		return NULL;
	}
	thunks->base = (unsigned long)mem;
	thunks->nr = nr;
	thunks->kind = kind;
	INIT_RCU_WORK(&thunks->free, thunks_free);
	list_add_rcu(&thunks->list, &all_thunks);
	return no_free_ptr(thunks);
}

void arch_ftrace_thunks_free(struct ftrace_thunks *thunks)
{
	lockdep_assert_held(&ftrace_lock);
	/* An unwinder may be looking at them. */
	list_del_rcu(&thunks->list);
	queue_rcu_work(system_dfl_wq, &thunks->free);
}

/* The return address into the function of a thunk. */
static unsigned long thunk_function(unsigned long thunk)
{
	return (long)get_unaligned((const s32 *)(thunk + THUNK_SITE));
}

/* The thunk of the site at @ip, 0 if it has none. */
static unsigned long thunk_search(const struct ftrace_thunks *thunks, unsigned long ip)
{
	unsigned int from = 0, to = thunks->nr;

	while (from < to) {
		unsigned int mid = from + (to - from) / 2;
		unsigned long thunk = thunks->base + mid * THUNK_SIZE;
		unsigned long site = thunk_function(thunk) - MCOUNT_INSN_SIZE;

		if (site == ip)
			return thunk;
		if (site < ip)
			from = mid + 1;
		else
			to = mid;
	}
	return 0;
}

/*
 * Where a site jumps to whose target is a thunk. A module may have been where another one was whose
 * thunks are not freed yet: those of the new one are found first. Any context.
 */
unsigned long ftrace_thunk_of(unsigned long ip, unsigned long target)
{
	const struct ftrace_thunks *thunks;

	guard(preempt_notrace)();
	list_for_each_entry_rcu(thunks, &all_thunks, list, true) {
		unsigned long thunk = 0;

		if (FTRACE_THUNK(thunks->kind) == target)
			thunk = thunk_search(thunks, ip);
		if (thunk)
			return thunk;
	}
	return 0;
}

static const u8 *thunk_find(unsigned long addr)
{
	const struct ftrace_thunks *thunks;

	list_for_each_entry_rcu(thunks, &all_thunks, list, true)
		if (addr - thunks->base < thunks->size)
			return (const u8 *)(addr & ~(THUNK_SIZE - 1UL));
	return NULL;
}

unsigned long arch_ftrace_thunk_function(unsigned long addr, bool returns)
{
	const u8 *thunk;

	guard(preempt_notrace)();
	thunk = thunk_find(addr);
	if (!thunk || (returns && addr != (unsigned long)thunk + THUNK_RETURNED))
		return 0;
	return thunk_function((unsigned long)thunk);
}

unsigned long arch_ftrace_thunk_nr(unsigned long offset)
{
	return offset / THUNK_SIZE;
}

/*
 * As ftrace_tramp_template_ip(). Before a thunk has pushed the address into the function, the stack
 * does not say that the function is about to run, so the first instruction is unknown, too.
 */
unsigned long ftrace_thunk_template_ip(unsigned long ip)
{
	unsigned int at = ip % THUNK_SIZE;

	if (!arch_ftrace_thunk_function(ip, false))
		return 0;
	if (at < THUNK_SITE + sizeof(u32) ||
	    (at >= THUNK_ENTERED + 4 && at < THUNK_RETURNED + 2))
		return (unsigned long)ftrace_flight_unknown;
	return (unsigned long)ftrace_caller;
}
