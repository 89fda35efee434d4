// SPDX-License-Identifier: GPL-2.0-only
/* The flight recorder: what its times are on x86, and when the timer interrupts. */
#include <linux/delay.h>
#include <linux/ftrace_arch.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>

#include <asm/trace/irq_vectors.h>
#include <asm/trace_clock.h>
#include <asm/tsc.h>

/**
 * arch_ftrace_cycles_usable - do the time stamp counters of all CPUs show the same time?
 *
 * Context: Process context.
 * Return: true if get_cycles() of different CPUs can be compared.
 */
bool arch_ftrace_cycles_usable(void)
{
	return boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable();
}

/**
 * arch_ftrace_clock_is_cycles - is a trace clock get_cycles()?
 * @clock: the clock
 *
 * Context: Any context.
 * Return: true if it is.
 */
bool arch_ftrace_clock_is_cycles(u64 (*clock)(void))
{
	return clock == trace_clock_x86_tsc;
}

/* How fast the time stamp counter is. In a virtual machine the kernel may not have found out. */
static unsigned int flight_khz(void)
{
	static unsigned int khz;
	u64 cycles, ns;

	if (tsc_khz || khz)
		return tsc_khz ?: khz;
	ns = ktime_get_raw_ns();
	cycles = get_cycles();
	msleep(20);
	cycles = get_cycles() - cycles;
	ns = ktime_get_raw_ns() - ns;
	khz = div64_u64(cycles * USEC_PER_SEC, ns + !ns);
	return khz;
}

/**
 * arch_ftrace_cycles_of - how far get_cycles() goes in a time
 * @ns: nanoseconds
 *
 * Context: Process context, may sleep. trace_types_lock held.
 * Return: the number of cycles.
 */
u64 arch_ftrace_cycles_of(unsigned long ns)
{
	return ns ? mul_u64_u32_div(ns, flight_khz(), USEC_PER_SEC) : 0;
}

/**
 * arch_ftrace_watch_timer - call a probe when the timer of a CPU interrupts, and when that ends
 * @probe: the probe
 * @data: its first argument
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error of the tracepoints.
 */
int arch_ftrace_watch_timer(void (*probe)(void *data, int vector), void *data)
{
	int ret = register_trace_local_timer_entry(probe, data);

	if (ret)
		return ret;
	ret = register_trace_local_timer_exit(probe, data);
	if (ret)
		unregister_trace_local_timer_entry(probe, data);
	return ret;
}

/**
 * arch_ftrace_unwatch_timer - undo arch_ftrace_watch_timer()
 * @probe: the probe
 * @data: its first argument
 *
 * The probe may still run, until the next grace period of tracepoints.
 *
 * Context: Process context, may sleep.
 */
void arch_ftrace_unwatch_timer(void (*probe)(void *data, int vector), void *data)
{
	unregister_trace_local_timer_exit(probe, data);
	unregister_trace_local_timer_entry(probe, data);
}
