// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make every CPU serialise before it executes another call site.
 *
 * Most CPUs are sent an interrupt. A CPU that RCU does not watch (it is idle, or with nohz_full
 * in user mode or in a guest) executes no call site, since the code that runs there is noinstr.
 * Such a CPU is left alone, and serialises when it enters the kernel, or when noinstr code makes
 * RCU watch to report something (warn_rcu_enter()). This is why a change of call sites does not
 * disturb an isolated CPU and does not wake an idle one.
 *
 *	here					a CPU that enters the kernel
 *
 *	write text
 *	ftrace_sync_steps++			ct_state_inc(): RCU watches
 *	(a full barrier)			(a full barrier)
 *	does RCU watch the CPU?			is ftrace_sync_steps another number?
 *	if so, send an interrupt		if so, serialise
 *
 * Either RCU is seen to watch the CPU, or the CPU sees the new number. A number and no flag for
 * each CPU: a CPU that clears its flag may clear what was set for the next change, and leave the
 * kernel again before it is looked at.
 */
#include <linux/atomic.h>
#include <linux/context_tracking_state.h>
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/ftrace_arch.h>
#include <linux/smp.h>

#include <asm/ftrace_sync.h>
#include <asm/special_insns.h>
#include <asm/sync_core.h>

#ifdef CONFIG_FTRACE_SPARES_CPUS
/* How many times all CPUs were to serialise. KVM calls warn_rcu_enter(), so this is exported. */
atomic_long_t ftrace_sync_steps __read_mostly;
EXPORT_SYMBOL_GPL(ftrace_sync_steps);

/* ftrace_sync_steps when this CPU serialised. */
DEFINE_PER_CPU(long, ftrace_synced);
EXPORT_PER_CPU_SYMBOL_GPL(ftrace_synced);

/**
 * ftrace_sync_now - serialise, and remember it
 *
 * sync_core() is not for an NMI: without SERIALIZE it executes an IRET, after which the CPU takes
 * another NMI. MOV to CR2 serialises, too (Intel SDM vol. 3A, "Serializing Instructions"; AMD APM
 * vol. 2, "Serializing Instructions"), and does not leave a guest. CR2 keeps its value, in which a
 * page fault may just have its address; an NMI in between restores what it changes. Old CPUs need
 * the jump.
 *
 * Context: On entry to the kernel, and in NMIs, before tracing is possible. Not on Xen PV.
 */
noinstr void ftrace_sync_now(void)
{
	long steps = raw_atomic_long_read(&ftrace_sync_steps);
	unsigned long tmp;

	if (cpu_feature_enabled(X86_FEATURE_SERIALIZE))
		serialize();
	else
		asm volatile("mov %%cr2, %0; mov %0, %%cr2; jmp 1f; 1:" : "=r" (tmp) : : "memory");
	raw_cpu_write(ftrace_synced, steps);
}
EXPORT_SYMBOL_GPL(ftrace_sync_now);

static bool sync_rcu_watches(int cpu, void *unused)
{
	/*
	 * What the CPU did before it left the kernel is done; pairs with ct_state_inc() in
	 * ct_kernel_exit_state().
	 */
	return ct_rcu_watching_cpu_acquire(cpu) & CT_RCU_WATCHING;
}

static void sync_interrupt(void *unused)
{
	long steps = atomic_long_read(&ftrace_sync_steps);

	sync_core();
	__this_cpu_write(ftrace_synced, steps);
}

static void sync_inside(void)
{
	/* The text is written before; pairs with the serialising in ftrace_sync_now(). */
	smp_mb__before_atomic();
	atomic_long_inc(&ftrace_sync_steps);
	/* The states are read after that; pairs with ct_state_inc() in ct_kernel_enter_state(). */
	smp_mb__after_atomic();
	on_each_cpu_cond_mask(sync_rcu_watches, sync_interrupt, NULL, true, cpu_online_mask);
}
#else
static void sync_inside(void) { }
#endif

static void sync_cpu(void *unused)
{
	sync_core();
}

/*
 * A CPU that RCU watches has serialised when this function returns. On Xen PV, where MOV to CR2 is
 * not allowed, this is every CPU.
 */
void arch_ftrace_sync(void)
{
	lockdep_assert_cpus_held();
	if (IS_ENABLED(CONFIG_FTRACE_SPARES_CPUS) && !cpu_feature_enabled(X86_FEATURE_XENPV))
		sync_inside();
	else
		on_each_cpu(sync_cpu, NULL, 1);
}
