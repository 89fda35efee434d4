// SPDX-License-Identifier: GPL-2.0-only
/* The flight recorder: what its times are on x86, and when the timer interrupts. */
#include <linux/ftrace_arch.h>
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
