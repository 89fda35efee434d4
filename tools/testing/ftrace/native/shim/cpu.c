// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs, tasks, preemption and per-CPU variables: a thread of the host is a CPU that runs one
 * task, and the base of %gs is the offset of its variables, as in the kernel.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/version.h>

#include <asm/paravirt.h>
#include <asm/tlbflush.h>

#include "native.h"
#include "pieces.h"

#define ROOM_SIZE	SZ_1M

extern char __per_cpu_start[], native_percpu_end[], __per_cpu_end[];

/* Behind all per-CPU variables, for alloc_percpu(). */
char room[ROOM_SIZE] __section(".data..percpu..native_room") __aligned(64);

unsigned long __per_cpu_offset[NR_CPUS];

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
DEFINE_PER_CPU_READ_MOSTLY(unsigned long, this_cpu_off);
DEFINE_PER_CPU_ALIGNED(struct pcpu_hot, pcpu_hot);
EXPORT_PER_CPU_SYMBOL(pcpu_hot);
#define task_of(cpu)		per_cpu(pcpu_hot.current_task, cpu)
#define preempt_count_of(cpu)	per_cpu(pcpu_hot.preempt_count, cpu)
#define number_of(cpu)		per_cpu(pcpu_hot.cpu_number, cpu)
#else
DEFINE_PER_CPU_CACHE_HOT(unsigned long, this_cpu_off);
DEFINE_PER_CPU_CACHE_HOT(struct task_struct *, current_task);
DEFINE_PER_CPU_CACHE_HOT(typeof(__preempt_count), __preempt_count);
DEFINE_PER_CPU_CACHE_HOT(int, cpu_number);
#define task_of(cpu)		per_cpu(current_task, cpu)
#define preempt_count_of(cpu)	per_cpu(__preempt_count, cpu)
#define number_of(cpu)		per_cpu(cpu_number, cpu)
#endif

struct cpumask __cpu_possible_mask = { { (1UL << NATIVE_CPUS) - 1 } };
struct cpumask __cpu_online_mask = { { (1UL << NATIVE_ONLINE) - 1 } };
atomic_t __num_online_cpus = ATOMIC_INIT(NATIVE_ONLINE);
const unsigned long cpu_all_bits[BITS_TO_LONGS(NR_CPUS)] = CPU_BITS_ALL;
unsigned int nr_cpu_ids = NATIVE_CPUS;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
unsigned int __num_possible_cpus = NATIVE_CPUS;
#endif
const unsigned long cpu_bit_bitmap[BITS_PER_LONG + 1][BITS_TO_LONGS(NR_CPUS)] = {
	[1] = { 1 << 0 }, { 1 << 1 }, { 1 << 2 }, { 1 << 3 }, { 1 << 4 }, { 1 << 5 }, { 1 << 6 },
	{ 1 << 7 }, { 1 << 8 }, { 1 << 9 }, { 1 << 10 }, { 1 << 11 }, { 1 << 12 }, { 1 << 13 },
	{ 1 << 14 }, { 1 << 15 },
};

unsigned long volatile jiffies;

void native_tick(void)
{
	jiffies++;
}

/* LeakSanitizer follows these pointers, and no offsets. */
static void *areas[NATIVE_CPUS];

void native_percpu_init(void)
{
	unsigned long size = __per_cpu_end - __per_cpu_start;

	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++) {
		char *area;

		areas[cpu] = host_alloc(size + PAGE_SIZE);
		area = PTR_ALIGN((char *)areas[cpu], PAGE_SIZE);
		memcpy(area, __per_cpu_start, size);
		__per_cpu_offset[cpu] = area - __per_cpu_start;
		per_cpu(this_cpu_off, cpu) = __per_cpu_offset[cpu];
		number_of(cpu) = cpu;
	}
}

/* What alloc_percpu() gave. */
static struct native_room given = { .size = ROOM_SIZE };
static unsigned int room_live, room_pieces;

void __percpu *pcpu_alloc_noprof(size_t size, size_t align, bool reserved, gfp_t gfp)
{
	struct native_piece *piece;
	void *p = NULL;

	if (native_alloc_fails(gfp))
		return NULL;
	size = ALIGN(size, max(align, 64UL));
	host_lock();
	piece = native_piece_take(&given, size);
	if (piece) {
		p = room + piece->at;
		room_live += size;
		room_pieces++;
		for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
			memset(p + __per_cpu_offset[cpu], 0, size);
	}
	host_unlock();
	return (void __percpu *)p;
}

void free_percpu(void __percpu *ptr)
{
	struct native_piece *piece;

	if (!ptr)
		return;
	host_lock();
	piece = native_piece_drop(&given, (__force char *)ptr - room);
	if (!piece)
		native_fail("free_percpu() of what alloc_percpu() did not give");
	room_live -= piece->size;
	room_pieces--;
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		memset(per_cpu_ptr(ptr, cpu), 0x6b, piece->size);
	host_unlock();
}

unsigned long native_percpu_live(void)
{
	return READ_ONCE(room_pieces);
}

unsigned long pcpu_nr_pages(void)
{
	return DIV_ROUND_UP(room_live, PAGE_SIZE) * NATIVE_CPUS;
}

/* Only variables of the kernel image: not what alloc_percpu() gave. */
bool is_kernel_percpu_address(unsigned long addr)
{
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++) {
		unsigned long at = addr - __per_cpu_offset[cpu];

		if (at >= (unsigned long)__per_cpu_start && at < (unsigned long)native_percpu_end)
			return true;
	}
	return false;
}

int native_preempt_count(int cpu)
{
	return preempt_count_of(cpu) & ~PREEMPT_NEED_RESCHED;
}

/* Interrupts are only a flag: nothing interrupts a thread but int3. */
static bool irqs_off[NATIVE_CPUS];

bool native_irqs_off(int cpu)
{
	return READ_ONCE(irqs_off[cpu]);
}

unsigned long native_pv_save_fl(void)
{
	return irqs_off[raw_smp_processor_id()] ? 0 : X86_EFLAGS_IF;
}

void native_pv_irq_disable(void)
{
	WRITE_ONCE(irqs_off[raw_smp_processor_id()], true);
}

void native_pv_irq_enable(void)
{
	WRITE_ONCE(irqs_off[raw_smp_processor_id()], false);
}

void preempt_count_add(int val)
{
	__preempt_count_add(val);
}

void preempt_count_sub(int val)
{
	if (native_preempt_count(raw_smp_processor_id()) < val)
		native_fail("preempt_enable() without preempt_disable()");
	__preempt_count_sub(val);
}

/* A thread never changes its CPU, but the kernel's would. */
static void check_stays(const char *prefix, const char *what)
{
	int cpu = raw_smp_processor_id();

	if (!native_preempt_count(cpu) && !irqs_off[cpu])
		native_fail("%s%s() while the task can be preempted", prefix, what);
}

unsigned int debug_smp_processor_id(void)
{
	check_stays("", "smp_processor_id");
	return raw_smp_processor_id();
}

void __this_cpu_preempt_check(const char *op)
{
	check_stays("__this_cpu_", op);
}

void (*native_offers)(const char *file);

void __might_resched(const char *file, int line, unsigned int offsets)
{
	void (*offers)(const char *file) = READ_ONCE(native_offers);
	int cpu = raw_smp_processor_id();

	if (native_preempt_count(cpu) || irqs_off[cpu] || current->rcu_read_lock_nesting)
		native_fail("sleeps in atomic context at %s:%d", file, line);
	if (offers)
		offers(file);
}

void __might_sleep(const char *file, int line)
{
	__might_resched(file, line, 0);
}

struct task_struct *native_task(int cpu)
{
	return smp_load_acquire(&task_of(cpu));
}

struct task_struct *cpu_curr_snapshot(int cpu)
{
	static struct task_struct idle = { .comm = "swapper" };

	return native_task(cpu) ?: &idle;
}

/* The clocks of the threads. */
static int clocks[NATIVE_CPUS];

unsigned long native_run_ns(int cpu)
{
	return host_run_ns(clocks[cpu]);
}

/* The calling thread of the host becomes a CPU. */
void native_cpu_begin(struct task_struct *task, int cpu)
{
	host_lock();
	if (task_of(cpu))
		native_fail("CPU %d already runs a task", cpu);
	host_set_gs(__per_cpu_offset[cpu]);
	preempt_count_of(cpu) = PREEMPT_NEED_RESCHED;
	irqs_off[cpu] = false;
	clocks[cpu] = host_own_clock();
	smp_store_release(&task_of(cpu), task);
	host_unlock();
	native_kernel_enter();
}

void native_cpu_move(int to)
{
	int from = raw_smp_processor_id();
	struct task_struct *task = current;

	host_lock();
	if (task_of(to) || native_preempt_count(from) || irqs_off[from])
		native_fail("a task cannot go from CPU %d to CPU %d", from, to);
	preempt_count_of(to) = PREEMPT_NEED_RESCHED;
	irqs_off[to] = false;
	clocks[to] = clocks[from];
	smp_store_release(&task_of(to), task);
	host_set_gs(__per_cpu_offset[to]);
	smp_store_release(&task_of(from), NULL);
	host_unlock();
	native_kernel_moved(from);
}

void native_cpu_end(void)
{
	int cpu = raw_smp_processor_id();

	if (native_preempt_count(cpu) || irqs_off[cpu] || current->rcu_read_lock_nesting ||
	    current->lockdep_depth)
		native_fail("a task ends in atomic context, or holds a lock");
	if (native_is_inside(cpu))
		native_kernel_exit();
	host_lock();
	smp_store_release(&task_of(cpu), NULL);
	host_unlock();
}
