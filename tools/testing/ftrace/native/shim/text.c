// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that can be changed while it runs: the text of the program and of trampolines and
 * modules is a file in memory, which is mapped to run, and a second time to write to.
 */
#include <linux/context_tracking_state.h>
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/unaligned.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>
#include <asm/text-patching.h>

#include "native.h"
#include "pieces.h"

/* Where modules and trampolines are, see native.lds: a call reaches all text. */
extern char native_arena_start[], native_arena_end[];
#define ARENA		((unsigned long)native_arena_start)
#define ARENA_SIZE	SZ_32M

static unsigned long text_start, text_size;
static char *alias;

unsigned long native_text_offset(unsigned long addr)
{
	if (addr - text_start < text_size)
		return addr - text_start;
	if (addr - ARENA >= ARENA_SIZE)
		native_fail("%lx is not text", addr);
	return text_size + addr - ARENA;
}

char *native_text_alias(unsigned long addr)
{
	return alias + native_text_offset(addr);
}

bool native_is_arena(unsigned long addr)
{
	return addr - ARENA < ARENA_SIZE;
}

void native_text_init(void)
{
	unsigned long end = (unsigned long)_etext, init_end = (unsigned long)__init_end;

	if (native_arena_end - native_arena_start != ARENA_SIZE)
		native_fail("native.lds has another size of the arena");
	host_forbid(native_arena_start, ARENA_SIZE);
	text_start = (unsigned long)_stext & PAGE_MASK;
	text_size = PAGE_ALIGN(max(end, init_end)) - text_start;
	if (host_text_create(text_size + ARENA_SIZE))
		native_fail("no memory for text");
	host_text_copy(0, (void *)text_start, text_size);
	alias = host_map(NULL, text_size + ARENA_SIZE, 0, 1, 0);
	/* The kernel's text is writable until it has booted. */
	if (!alias || !host_map((void *)text_start, text_size, 0, 1, 1))
		native_fail("no mapping of text");
}

void native_text_done(void)
{
	host_map((void *)text_start, text_size, 0, 0, 1);
}

/* No code is called any more. LeakSanitizer reads all memory of the program. */
void native_text_end(void)
{
	host_map((void *)ARENA, ARENA_SIZE, native_text_offset(ARENA), 0, 0);
}

/* Long enough for a few calls of a function; and how long to wait for that, in rounds. */
#define RUNS_NS		5000
#define MAX_ROUNDS	2000

/* Wait until the task of a CPU has run for some time, if it runs at all. */
static void let_run(int cpu)
{
	unsigned long start;

	if (cpu == raw_smp_processor_id() || !native_is_inside(cpu) || !native_cpu_runs(cpu))
		return;
	start = native_run_ns(cpu);
	for (int i = 0; i < MAX_ROUNDS; i++) {
		if (!native_cpu_runs(cpu) || native_run_ns(cpu) - start > RUNS_NS)
			return;
		host_usleep(5);
	}
}

bool native_broadcast_waits = true;

static atomic_long_t broadcasts;
void (*native_at_broadcast)(void);

unsigned long native_broadcasts(void)
{
	return atomic_long_read(&broadcasts);
}

/*
 * A broadcast. The kernel's waits until each CPU has answered. membarrier() does not wait for a
 * thread that the host does not run, which would never see what is between two broadcasts.
 */
void on_each_cpu_cond_mask(smp_cond_func_t cond, smp_call_func_t func, void *info, bool wait,
			   const struct cpumask *mask)
{
	unsigned long flags;

	atomic_long_inc(&broadcasts);
	if (native_at_broadcast)
		native_at_broadcast();
	if (!cond || native_others_are_inside(cond, info))
		host_sync_cores();
	local_irq_save(flags);
	func(info);
	native_sender_serialised();
	local_irq_restore(flags);
	if (!READ_ONCE(native_broadcast_waits))
		return;
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		let_run(cpu);
}

/* Memory for code. */
static struct native_room given = { .size = ARENA_SIZE };

void *execmem_alloc(enum execmem_type type, size_t size)
{
	struct native_piece *piece;
	unsigned long addr;
	void *p = NULL;

	if (native_alloc_fails(GFP_KERNEL))
		return NULL;
	size = PAGE_ALIGN(size);
	host_lock();
	piece = native_piece_take(&given, size);
	if (piece) {
		addr = ARENA + piece->at;
		p = host_map((void *)addr, size, native_text_offset(addr), 1, 0);
	}
	host_unlock();
	/* As in the kernel, nobody knows what was there before: here, no traps. */
	if (p)
		memset(p, 0, size);
	return p;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
void *execmem_alloc_rw(enum execmem_type type, size_t size)
{
	return execmem_alloc(type, size);
}
#endif

/* Code that still runs there, or calls it, crashes. */
void execmem_free(void *p)
{
	struct native_piece *piece;

	host_lock();
	piece = native_piece_drop(&given, (unsigned long)p - ARENA);
	if (!piece)
		native_fail("execmem_free() of what is not used");
	host_forbid(p, piece->size);
	host_unlock();
}

unsigned int native_nr_execmem(void)
{
	unsigned int nr = 0;

	host_lock();
	for (unsigned int n = 0; n < given.nr; n++)
		nr += !given.pieces[n].freed;
	host_unlock();
	return nr;
}

int set_memory_rox(unsigned long addr, int pages)
{
	if (native_alloc_fails(GFP_KERNEL))
		return -ENOMEM;
	return host_map((void *)addr, pages * PAGE_SIZE, native_text_offset(addr), 0, 1) ?
		0 : -ENOMEM;
}

/* A static call goes through a jump, which is all that changes here. */
void __static_call_update(struct static_call_key *key, void *tramp, void *func)
{
	unsigned long at = (unsigned long)tramp;

	WRITE_ONCE(key->func, func);
	put_unaligned((u32)((unsigned long)func - at - 5), (u32 *)(native_text_alias(at) + 1));
	*native_text_alias(at) = JMP32_INSN_OPCODE;
	host_sync_cores();
}

long copy_from_kernel_nofault(void *dst, const void *src, size_t size)
{
	memcpy(dst, src, size);
	return 0;
}
