// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs outside the kernel. They execute no call site, and a broadcast leaves them alone. In the
 * torture test a caller leaves the kernel between two calls; the code of a worker has no call
 * sites, so a worker is inside only in its interrupts.
 *
 * membarrier() makes all threads serialise. So it is called only if a CPU is inside; else the CPUs
 * have nothing but what they do on their way in. A CPU seldom shows that it did nothing. So each
 * way in is checked: it serialises if a broadcast has left the CPU alone before it.
 */
#include <linux/context_tracking_state.h>
#include <linux/percpu.h>

#include <asm/ftrace_sync.h>

#include "native.h"

DEFINE_PER_CPU(struct context_tracking, context_tracking);

/* How often text was written, and how often before a CPU has serialised. */
static unsigned long nr_writes;
static DEFINE_PER_CPU(unsigned long, serialised);

unsigned long native_spared, native_serialised[NATIVE_CPUS];

/* For the last entries of each CPU: how often text was written before the CPU had serialised. */
#define KEPT	256
#define ENTRY(state)	((unsigned int)(state) / (2 * CT_RCU_WATCHING))
static struct {
	unsigned int	nr;
	unsigned long	serialised[KEPT];
} entries[NATIVE_CPUS];

/* The last broadcast that has left a CPU alone, and the entry that comes next. */
static struct {
	unsigned int	entry;
	unsigned long	writes;
} left_alone[NATIVE_CPUS];

/*
 * The CPU enters the kernel, or an interrupt comes there. Returns true if it was outside. As
 * ct_kernel_enter_state() and ct_nmi_enter() do it.
 */
bool native_kernel_enter(void)
{
	atomic_t *state = &raw_cpu_ptr(&context_tracking)->state;
	bool outside = !(atomic_read(state) & CT_RCU_WATCHING);
	int cpu = raw_smp_processor_id();
	unsigned int entry;

	if (outside)
		entry = ENTRY(atomic_add_return(CT_RCU_WATCHING, state));
	ftrace_sync_entry();
	if (!outside)
		return false;
	WRITE_ONCE(entries[cpu].serialised[entry % KEPT], raw_cpu_read(serialised));
	/* Pairs with the load in check_entry(). */
	smp_store_release(&entries[cpu].nr, entry + 1);
	return true;
}

void native_kernel_exit(void)
{
	atomic_add_return(CT_RCU_WATCHING, &raw_cpu_ptr(&context_tracking)->state);
}

bool native_is_inside(int cpu)
{
	return atomic_read(per_cpu_ptr(&context_tracking.state, cpu)) & CT_RCU_WATCHING;
}

/* The current task went on as another CPU. */
void native_kernel_moved(int from)
{
	if (!native_is_inside(from))
		return;
	native_kernel_enter();
	atomic_add_return(CT_RCU_WATCHING, per_cpu_ptr(&context_tracking.state, from));
}

/* The CPU serialises, in a trap. */
void native_serialise(void)
{
	/* Pairs with the store in native_text_written(). */
	unsigned long nr = smp_load_acquire(&nr_writes);

	host_serialise();
	raw_cpu_write(serialised, nr);
	native_serialised[raw_smp_processor_id()]++;
}

static void check_entry(int cpu)
{
	unsigned int entry = left_alone[cpu].entry;
	/* Pairs with the store in native_kernel_enter(). */
	unsigned int nr = smp_load_acquire(&entries[cpu].nr);
	unsigned long got;

	if (!left_alone[cpu].writes || nr == entry)
		return;
	got = READ_ONCE(entries[cpu].serialised[entry % KEPT]);
	/* Another entry may take its place at any time. */
	smp_rmb();
	if (READ_ONCE(entries[cpu].nr) - entry < KEPT && got < left_alone[cpu].writes)
		native_fail("CPU %d was left alone after write %lu of text, and has serialised after %lu",
			    cpu, left_alone[cpu].writes, got);
	left_alone[cpu].writes = 0;
}

/* Pieces of text were written, with ftrace_lock held. */
void native_text_written(void)
{
	/* Pairs with the load in native_serialise(). */
	smp_store_release(&nr_writes, nr_writes + 1);
}

/* A broadcast begins. Is there another CPU that it does not leave alone? */
bool native_others_are_inside(smp_cond_func_t cond, void *info)
{
	bool inside = false;

	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++) {
		atomic_t *state = per_cpu_ptr(&context_tracking.state, cpu);
		int before = atomic_read(state);

		if (cpu == raw_smp_processor_id())
			continue;
		check_entry(cpu);
		if (cond(cpu, info)) {
			inside = true;
		} else if (atomic_read(state) == before) {
			left_alone[cpu].entry = ENTRY(before);
			left_alone[cpu].writes = nr_writes;
		}
	}
	native_spared += !inside;
	return inside;
}

/* The CPU that sends a broadcast has serialised. */
void native_sender_serialised(void)
{
	raw_cpu_write(serialised, nr_writes);
}
