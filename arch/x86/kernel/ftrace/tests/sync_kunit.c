// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of broadcasts that leave CPUs outside the kernel alone. An emulator executes new text
 * at once, so these look at the numbers: whether a CPU was left alone, and whether it serialised
 * on its way into the kernel.
 */
#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/context_tracking.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/ftrace_arch.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

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

/* What this CPU calls outside the kernel: all calls, and those before it has serialised. */
static struct {
	int		cpu;		/* the CPU outside, or -1 */
	unsigned int	calls;
	unsigned int	early;
	unsigned long	ip;		/* of the first early one */
} sync_outside = { .cpu = -1 };

static void sync_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	if (raw_smp_processor_id() != READ_ONCE(sync_outside.cpu))
		return;
	sync_outside.calls++;
	if (raw_cpu_read(ftrace_synced) == raw_atomic_long_read(&ftrace_sync_steps))
		return;
	if (!sync_outside.early++)
		sync_outside.ip = ip;
}

static struct ftrace_ops sync_ops = { .func = sync_call };

/*
 * RCU does not watch this CPU any more, as if it were idle, and a broadcast leaves it alone. An
 * exception counts in @nmi_nesting: the first makes RCU watch, and its end is the end of that.
 */
static __always_inline unsigned long sync_leave(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	raw_cpu_write(context_tracking.nmi_nesting, 0);
	ct_state_inc(CT_RCU_WATCHING);
	raw_cpu_write(ftrace_synced, raw_cpu_read(ftrace_synced) - 1);
	WRITE_ONCE(sync_outside.cpu, raw_smp_processor_id());
	return flags;
}

static __always_inline void sync_return(unsigned long flags)
{
	WRITE_ONCE(sync_outside.cpu, -1);
	ct_state_inc(CT_RCU_WATCHING);
	raw_cpu_write(context_tracking.nmi_nesting, CT_NESTING_IRQ_NONIDLE);
	ftrace_sync_entry();
	raw_local_irq_restore(flags);
}

static noinstr void sync_warn(void)
{
	unsigned long flags = sync_leave();

	WARN(true, "a warning where RCU does not watch\n");
	sync_return(flags);
}

static noinstr void sync_fault(void)
{
	unsigned long flags = sync_leave(), value;

	/* Nothing is mapped at the end of the address space. */
	__get_kernel_nofault(&value, (void *)-sizeof(value), unsigned long, fault);
fault:
	sync_return(flags);
}

/* The warnings of sync_warn() come once and have come: all but the first line is left out. */
static void sync_quiet(void)
{
	unsigned long start = (unsigned long)sync_warn, size, offset;

	if (!kallsyms_lookup_size_offset(start, &size, &offset))
		return;
	for (unsigned long ip = start; ip < start + size; ip++) {
		struct bug_entry *bug = find_bug(ip);

		if (bug)
			bug->flags |= BUGFLAG_ONCE | BUGFLAG_DONE;
	}
}

static void sync_check_outside(struct kunit *test, void (*report)(void))
{
	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		kunit_skip(test, "on Xen PV all CPUs are interrupted");
	sync_outside.calls = 0;
	sync_outside.early = 0;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&sync_ops), 0);
	/* Nobody else sends a broadcast of the core. */
	scoped_guard(mutex, &ftrace_lock)
		report();
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&sync_ops), 0);
	KUNIT_EXPECT_GT(test, sync_outside.calls, 0);
	KUNIT_EXPECT_EQ_MSG(test, sync_outside.early, 0, "%ps was the first",
			    (void *)sync_outside.ip);
}

static void warnings_serialise_first(struct kunit *test)
{
	sync_quiet();
	sync_check_outside(test, sync_warn);
}

static void exceptions_serialise_first(struct kunit *test)
{
	sync_check_outside(test, sync_fault);
}

static struct kunit_case sync_cases[] = {
	KUNIT_CASE(idle_cpus_serialise_when_they_wake),
	KUNIT_CASE(serialising_keeps_the_address_of_a_fault),
	KUNIT_CASE(warnings_serialise_first),
	KUNIT_CASE(exceptions_serialise_first),
	{ }
};

static struct kunit_suite sync_suite = {
	.name = "ftrace_x86_sync",
	.test_cases = sync_cases,
};

kunit_test_suite(sync_suite);
