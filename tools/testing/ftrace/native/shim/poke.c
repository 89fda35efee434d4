// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the patcher needs: the window, whose page tables are real and say which pages of text are
 * mapped to write to, and traps.
 */
#include <linux/ftrace.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include <asm/paravirt.h>
#include <asm/text-patching.h>
#include <asm/ftrace_sync.h>
#include <asm/tlbflush.h>

#include "native.h"

void *text_poke_copy(void *addr, const void *opcode, size_t len)
{
	memcpy(native_text_alias((unsigned long)addr), opcode, len);
	host_sync_cores();
	return addr;
}

void *text_poke_set(void *addr, int c, size_t len)
{
	memset(native_text_alias((unsigned long)addr), c, len);
	host_sync_cores();
	return addr;
}

/* The window. The number of a page is that of the file. A table ends with what is no entry. */
#define WINDOW_TABLES	16
#define WINDOW_PAGES	(WINDOW_TABLES * PTRS_PER_PTE)

struct mm_struct init_mm;
static struct mm_struct window_mm;
static pte_t window_ptes[WINDOW_TABLES][PTRS_PER_PTE + 1];
static pgd_t window_pgd[PTRS_PER_PGD];
static spinlock_t window_lock = __SPIN_LOCK_UNLOCKED(window_lock);
pteval_t __supported_pte_mask = ~0UL;
pteval_t __default_kernel_pte_mask = ~0UL;

static void __attribute__((__constructor__)) window_reserve(void)
{
	host_reserve((void *)PMD_SIZE, WINDOW_PAGES * PAGE_SIZE);
}

static bool window_alloc_fails(void)
{
	static unsigned int nr;

	return ++nr == native_window_fails;
}

struct mm_struct *mm_alloc(void)
{
	if (window_alloc_fails())
		return NULL;
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
	static bool made[WINDOW_TABLES];

	if (mm != &window_mm || n >= WINDOW_PAGES)
		native_fail("page tables of %lx", addr);
	if (!made[n / PTRS_PER_PTE]) {
		if (system_state != SYSTEM_BOOTING)
			native_fail("a page table of the window is made when text is patched");
		if (window_alloc_fails())
			return NULL;
		made[n / PTRS_PER_PTE] = true;
	}
	rcu_read_lock();
	spin_lock(&window_lock);
	*ptl = &window_lock;
	return &window_ptes[n / PTRS_PER_PTE][n % PTRS_PER_PTE];
}

/* The last entry that was cleared and not flushed, + 1. */
static unsigned long stale;

/*
 * A page stays mapped until its entry names another page, as the TLB may keep an entry that is
 * gone. Mapping costs the host more than all else.
 */
static unsigned long maps;

unsigned long native_maps(void)
{
	return maps;
}

void native_pv_set_pte(pte_t *ptep, pte_t pte)
{
	static unsigned long mapped[WINDOW_PAGES];
	unsigned long n = ptep - window_ptes[0], pa = pte.pte & PTE_PFN_MASK;
	void *addr;

	if (n % (PTRS_PER_PTE + 1) == PTRS_PER_PTE)
		native_fail("an entry behind the end of a page table");
	n -= n / (PTRS_PER_PTE + 1);
	if (n >= WINDOW_PAGES || !lock_is_held(&window_lock.dep_map))
		native_fail("a page table entry without its lock");
	addr = (void *)(PMD_SIZE + (n << PAGE_SHIFT));
	if (ptep->pte)
		stale = max(stale, n + 1);
	*ptep = pte;
	maps += !!pte.pte;
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
	/* For other text the kernel has __pa_symbol(). */
	if (!native_is_arena((unsigned long)addr))
		native_fail("vmalloc_to_pfn() of %lx, which was not allocated",
			    (unsigned long)addr);
	return native_text_offset((unsigned long)addr) >> PAGE_SHIFT;
}

/*
 * Which CPU has the window loaded, + 1; how often it was loaded; and how many broadcasts there were at
 * the last write.
 */
static unsigned int loaded;
static unsigned long loads, sent;

unsigned long native_loads(void)
{
	return loads;
}

struct mm_struct *use_temporary_mm(struct mm_struct *mm)
{
	if (!native_irqs_off(raw_smp_processor_id()))
		native_fail("an mm is loaded with interrupts on");
	if (mm != &window_mm || loaded)
		native_fail("not the window, or loaded twice");
	if (stale)
		native_fail("the TLB has an entry of the window that is gone");
	loaded = raw_smp_processor_id() + 1;
	loads++;
	return &init_mm;
}

void unuse_temporary_mm(struct mm_struct *prev)
{
	if (prev != &init_mm || loaded != raw_smp_processor_id() + 1)
		native_fail("not the mm that was loaded before the window");
	loaded = 0;
	sent = native_broadcasts();
	native_text_written();
}

void flush_tlb_mm_range(struct mm_struct *mm, unsigned long start, unsigned long end,
			unsigned int stride_shift, bool freed_tables)
{
	if (mm != &window_mm || loaded)
		native_fail("a flush of another mm, or of one that is loaded");
	if (sent == native_broadcasts())
		native_fail("no broadcast after the last write of text");
	if (start <= PMD_SIZE && end >= PMD_SIZE + stale * PAGE_SIZE)
		stale = 0;
}

/* The next batches may change the same site, but not as often as this. */
#define MAX_LATE	1000

unsigned long native_traps[NATIVE_CPUS], native_late[NATIVE_CPUS];

/*
 * A signal may come when the batch is over, unlike the kernel's exception, for which a broadcast
 * waits. So the instruction is executed again. Nobody reads it: it need not be what trapped.
 */
static bool run_again(unsigned long ip)
{
	static struct {
		unsigned long	ip;
		unsigned int	nr;
	} last[NATIVE_CPUS];
	int cpu = raw_smp_processor_id();

	native_late[cpu]++;
	if (last[cpu].ip != ip)
		last[cpu].nr = 0;
	last[cpu].ip = ip;
	return ++last[cpu].nr < MAX_LATE;
}

#define SYNC_SIZE	256

/* MOV from and to CR2 in ftrace_sync_now(). The second serialises. */
int native_privileged(struct host_regs *host)
{
	static const u8 from_cr2[] = { 0x0f, 0x20 }, to_cr2[] = { 0x0f, 0x22 };
	unsigned long ip = host->ip;

	if (ip - (unsigned long)ftrace_sync_now > SYNC_SIZE)
		return 0;
	ip += (*(u8 *)ip & 0xf0) == 0x40;
	if (memcmp((void *)ip, from_cr2, 2) && memcmp((void *)ip, to_cr2, 2))
		return 0;
	if (!memcmp((void *)ip, to_cr2, 2))
		native_serialise();
	host->ip = ip + 3;
	return 1;
}

int native_trap(struct host_regs *host)
{
	struct pt_regs regs = {
		.ip = host->ip, .sp = host->sp, .flags = host->flags, .cs = __KERNEL_CS,
	};
	bool ours;

	preempt_count_add(HARDIRQ_OFFSET);
	ours = ftrace_int3_handler(&regs);
	preempt_count_sub(HARDIRQ_OFFSET);
	if (ours) {
		native_traps[raw_smp_processor_id()]++;
	} else {
		regs.ip = host->ip - INT3_INSN_SIZE;
		if (!run_again(regs.ip))
			return 0;
	}
	host->ip = regs.ip;
	host->sp = regs.sp;
	return 1;
}
