// SPDX-License-Identifier: GPL-2.0-only
/*
 * The base's core as a program: only what the rows of calls.c need. One thread runs, so text is changed
 * by a store, and no other CPU is told.
 */
#include <linux/context_tracking_state.h>
#include <linux/mm.h>
#include <linux/version.h>

#include <asm/text-patching.h>

#include "bench.h"

const char *native_work = "bench";
unsigned int native_fault;
DEFINE_PER_CPU(struct context_tracking, context_tracking);

const char *native_doing(void)
{
	return native_work;
}

int native_main(int argc, char **argv)
{
	unsigned int runs;

	if (argc < 2 || kstrtouint(argv[1], 10, &runs) || !runs)
		runs = BENCH_RUNS;
	native_boot(0, NULL);
	bench_all_calls(runs);
	return 0;
}

static void poke(void *addr, const void *opcode, size_t len)
{
	memcpy(native_text_alias((unsigned long)addr), opcode, len);
	host_sync_cores();
}

void text_poke_early(void *addr, const void *opcode, size_t len)
{
	poke(addr, opcode, len);
}

/* Linux 7.0 has other names. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
void text_poke_bp(void *addr, const void *opcode, size_t len, const void *emulate)
{
	poke(addr, opcode, len);
}

void text_poke_queue(void *addr, const void *opcode, size_t len, const void *emulate)
{
	poke(addr, opcode, len);
}

void text_poke_finish(void)
{
}
#else
void smp_text_poke_single(void *addr, const void *opcode, size_t len, const void *emulate)
{
	poke(addr, opcode, len);
}

void smp_text_poke_batch_add(void *addr, const void *opcode, size_t len, const void *emulate)
{
	poke(addr, opcode, len);
}

void smp_text_poke_batch_finish(void)
{
}
#endif

/* The only operand that depends on where the code is, is written after this. */
void text_poke_apply_relocation(u8 *buf, const u8 * const instr, size_t instrlen, u8 *repl,
				size_t repl_len)
{
}

unsigned long get_free_pages_noprof(gfp_t gfp, unsigned int order)
{
	void *p = host_alloc_aligned(PAGE_SIZE, PAGE_SIZE << order);

	if (p && gfp & __GFP_ZERO)
		memset(p, 0, PAGE_SIZE << order);
	return (unsigned long)p;
}

void smp_call_function(smp_call_func_t func, void *info, int wait)
{
}

/* Of context.c: the CPUs never leave the kernel. */
bool native_kernel_enter(void)
{
	return false;
}

void native_kernel_exit(void)
{
}

void native_kernel_moved(int from)
{
}

bool native_is_inside(int cpu)
{
	return true;
}

bool native_others_are_inside(smp_cond_func_t cond, void *info)
{
	return true;
}

void native_sender_serialised(void)
{
}

/* Of poke.c: there is no window. */
void native_pv_set_pte(pte_t *ptep, pte_t pte)
{
}

/* No signal is sent, and no trap is the core's. */
void native_interrupt(struct host_regs *regs)
{
}

void native_step(struct host_regs *regs)
{
}

int native_trap(struct host_regs *regs)
{
	return 0;
}

int native_privileged(struct host_regs *regs)
{
	return 0;
}

void native_details(void)
{
}
