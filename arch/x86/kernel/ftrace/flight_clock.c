// SPDX-License-Identifier: GPL-2.0-only
/* The flight recorder: what its times are on x86. */
#include <linux/ftrace_arch.h>
#include <linux/trace_clock.h>

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
