// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of broadcasts that leave CPUs outside the kernel alone. An emulator executes new text
 * at once, so these look at the numbers: whether a CPU was left alone, and whether it serialised
 * on its way into the kernel.
 */
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/irqflags.h>
#include <linux/smp.h>

#include <asm/cpufeature.h>
#include <asm/ftrace_sync.h>
#include <asm/special_insns.h>

static void sync_note(void *number)
{
	*(long *)number = __this_cpu_read(ftrace_synced);
}

/* A broadcast; returns how many of the other CPUs have not serialised, or not when they enter. */
static unsigned int sync_once(unsigned int *spared)
{
	unsigned int wrong = 0, here;
	int cpu;

	/* Nobody else sends a broadcast of the core. */
	guard(mutex)(&ftrace_lock);
	guard(cpus_read_lock)();
	arch_ftrace_sync();
	here = get_cpu();
	for_each_online_cpu(cpu) {
		long steps = atomic_long_read(&ftrace_sync_steps), there = steps - 1;

		if (cpu == here)
			continue;
		*spared += READ_ONCE(*per_cpu_ptr(&ftrace_synced, cpu)) != steps;
		/* The interrupt brings the CPU into the kernel, if it is outside. */
		smp_call_function_single(cpu, sync_note, &there, true);
		wrong += there != steps;
	}
	put_cpu();
	return wrong;
}

static void idle_cpus_serialise_when_they_wake(struct kunit *test)
{
	unsigned int wrong = 0, spared = 0;

	if (num_online_cpus() == 1)
		kunit_skip(test, "the only CPU is inside the kernel");
	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		kunit_skip(test, "on Xen PV all CPUs are interrupted");
	for (int i = 0; i < 200 && (i < 20 || !spared); i++) {
		wrong += sync_once(&spared);
		/* The other CPUs become idle. */
		usleep_range(2000, 4000);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, spared, 0);
}

/* A page fault may have its address in CR2. */
static void serialising_keeps_the_address_of_a_fault(struct kunit *test)
{
	const unsigned long address = PAGE_OFFSET + 0x1234;
	unsigned long before, after;

	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		kunit_skip(test, "Xen PV has no CR2 of its own");
	scoped_guard(irqsave) {
		before = native_read_cr2();
		native_write_cr2(address);
		ftrace_sync_now();
		after = native_read_cr2();
		native_write_cr2(before);
	}
	KUNIT_EXPECT_EQ(test, after, address);
}

static struct kunit_case sync_cases[] = {
	KUNIT_CASE(idle_cpus_serialise_when_they_wake),
	KUNIT_CASE(serialising_keeps_the_address_of_a_fault),
	{ }
};

static struct kunit_suite sync_suite = {
	.name = "ftrace_x86_sync",
	.test_cases = sync_cases,
};

kunit_test_suite(sync_suite);
