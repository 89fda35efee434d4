// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that can be changed while it runs: the text of the program and of trampolines and
 * modules is a file in memory. Its pages are mapped a second time to write to, as the page
 * tables of the window say, which are real.
 */
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/memory.h>
#include <linux/sched/mm.h>
#include <linux/set_memory.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include <asm/paravirt.h>
#include <asm/sections.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "native.h"

/* Where modules and trampolines are: a call reaches all text. */
#define ARENA		0x50000000UL
#define ARENA_SIZE	SZ_16M

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

void native_text_init(void)
{
	unsigned long end = (unsigned long)_etext, init_end = (unsigned long)__init_end;

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

void *text_poke_copy(void *addr, const void *opcode, size_t len)
{
	memcpy(alias + native_text_offset((unsigned long)addr), opcode, len);
	host_sync_cores();
	return addr;
}

void *text_poke_set(void *addr, int c, size_t len)
{
	memset(alias + native_text_offset((unsigned long)addr), c, len);
	host_sync_cores();
	return addr;
}

/* Long enough for a few calls of a function; and how long to wait for that, in rounds. */
#define RUNS_NS		5000
#define MAX_ROUNDS	2000

/* Wait until the task of a CPU has run for some time, if it runs at all. */
static void let_run(int cpu)
{
	unsigned long start;

	if (cpu == raw_smp_processor_id() || !native_cpu_runs(cpu))
		return;
	start = native_run_ns(cpu);
	for (int i = 0; i < MAX_ROUNDS; i++) {
		if (!native_cpu_runs(cpu) || native_run_ns(cpu) - start > RUNS_NS)
			return;
		host_usleep(5);
	}
}

/*
 * The kernel's broadcast waits until each CPU has answered. membarrier() does not wait for a
 * thread that the host does not run, which would never see what is between two broadcasts.
 */
void text_poke_sync(void)
{
	host_sync_cores();
	sync_core();
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		let_run(cpu);
}

void smp_text_poke_sync_each_cpu(void)
{
	text_poke_sync();
}

/* Memory for code. What was freed longest ago is used again first. */
static struct {
	unsigned long	addr;
	size_t		size;
	unsigned long	freed;
} given[ARENA_SIZE >> PAGE_SHIFT];

static unsigned int nr_given;
static unsigned long arena_used, nr_freed;

static unsigned int execmem_pick(size_t size)
{
	unsigned int best = ARRAY_SIZE(given);

	for (unsigned int n = 0; n < nr_given; n++)
		if (given[n].freed && given[n].size == size &&
		    (best == ARRAY_SIZE(given) || given[n].freed < given[best].freed))
			best = n;
	return best;
}

void *execmem_alloc(enum execmem_type type, size_t size)
{
	unsigned int n = ARRAY_SIZE(given);
	void *p = NULL;

	if (native_alloc_fails(GFP_KERNEL))
		return NULL;
	size = PAGE_ALIGN(size);
	host_lock();
	if (arena_used + size <= ARENA_SIZE && nr_given < ARRAY_SIZE(given)) {
		n = nr_given++;
		given[n].addr = ARENA + arena_used;
		given[n].size = size;
		arena_used += size;
	} else {
		n = execmem_pick(size);
	}
	if (n < ARRAY_SIZE(given)) {
		given[n].freed = 0;
		p = host_map((void *)given[n].addr, size, native_text_offset(given[n].addr), 1, 0);
	}
	host_unlock();
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
	unsigned int n = 0;

	host_lock();
	while (n < nr_given && (given[n].addr != (unsigned long)p || given[n].freed))
		n++;
	if (n == nr_given)
		native_fail("execmem_free() of what is not used");
	given[n].freed = ++nr_freed;
	host_forbid(p, given[n].size);
	host_unlock();
}

int set_memory_rox(unsigned long addr, int pages)
{
	return host_map((void *)addr, pages * PAGE_SIZE, native_text_offset(addr), 0, 1) ?
		0 : -ENOMEM;
}

long copy_from_kernel_nofault(void *dst, const void *src, size_t size)
{
	memcpy(dst, src, size);
	return 0;
}

/* The window. Its tables are one array; the number of a page is that of the file. */
#define WINDOW_TABLES	8

struct mm_struct init_mm;
static struct mm_struct window_mm;
static pte_t window_ptes[WINDOW_TABLES * PTRS_PER_PTE];
static pgd_t window_pgd[PTRS_PER_PGD];
static spinlock_t window_lock = __SPIN_LOCK_UNLOCKED(window_lock);
pteval_t __supported_pte_mask = ~0UL;
pteval_t __default_kernel_pte_mask = ~0UL;

struct mm_struct *mm_alloc(void)
{
	window_mm.pgd = window_pgd;
	return &window_mm;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
pte_t *__get_locked_pte(struct mm_struct *mm, unsigned long addr, spinlock_t **ptl)
#else
pte_t *get_locked_pte(struct mm_struct *mm, unsigned long addr, spinlock_t **ptl)
#endif
{
	unsigned long n = (addr - PMD_SIZE) >> PAGE_SHIFT;

	if (mm != &window_mm || n >= ARRAY_SIZE(window_ptes))
		native_fail("page tables of %lx", addr);
	rcu_read_lock();
	spin_lock(&window_lock);
	*ptl = &window_lock;
	return &window_ptes[n];
}

/*
 * A page stays mapped until its entry names another page, as the TLB may keep an entry that is
 * gone. Mapping costs the host more than all else.
 */
void native_pv_set_pte(pte_t *ptep, pte_t pte)
{
	static unsigned long mapped[ARRAY_SIZE(window_ptes)];
	unsigned long n = ptep - window_ptes, pa = pte.pte & PTE_PFN_MASK;
	void *addr = (void *)(PMD_SIZE + (n << PAGE_SHIFT));

	if (n >= ARRAY_SIZE(window_ptes) || !lock_is_held(&window_lock.dep_map))
		native_fail("a page table entry without its lock");
	*ptep = pte;
	if (!pte.pte || mapped[n] == pa + 1)
		return;
	mapped[n] = pa + 1;
	if (!host_map(addr, PAGE_SIZE, pa, 1, 0))
		native_fail("no mapping of the window");
}

unsigned long __phys_addr(unsigned long addr)
{
	return addr;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
unsigned long __phys_addr_symbol(unsigned long addr)
{
	return native_text_offset(addr);
}
#else
/* The text of the program begins at __START_KERNEL_map. */
unsigned long phys_base;
#endif

unsigned long vmalloc_to_pfn(const void *addr)
{
	return native_text_offset((unsigned long)addr) >> PAGE_SHIFT;
}

/* Which page tables a CPU has loaded. */
static unsigned long cr3[NATIVE_CPUS];

unsigned long native_pv_read_cr3(void)
{
	return cr3[raw_smp_processor_id()];
}

void native_pv_write_cr3(unsigned long val)
{
	if (!native_irqs_off(raw_smp_processor_id()))
		native_fail("CR3 is loaded with interrupts on");
	if (val && val != (unsigned long)window_pgd)
		native_fail("CR3 is loaded with %lx", val);
	cr3[raw_smp_processor_id()] = val;
}

void flush_tlb_local(void) { }

int native_trap(struct host_regs *host)
{
	struct pt_regs regs = {
		.ip = host->ip, .sp = host->sp, .flags = host->flags, .cs = __KERNEL_CS,
	};
	bool ours;

	preempt_count_add(HARDIRQ_OFFSET);
	ours = ftrace_int3_handler(&regs);
	preempt_count_sub(HARDIRQ_OFFSET);
	if (!ours) {
		/* The site has changed meanwhile: run what is there now, as the kernel does. */
		if (*(u8 *)(host->ip - INT3_INSN_SIZE) == INT3_INSN_OPCODE)
			return 0;
		regs.ip = host->ip - INT3_INSN_SIZE;
	}
	host->ip = regs.ip;
	host->sp = regs.sp;
	return 1;
}
