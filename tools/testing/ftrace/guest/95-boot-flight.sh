#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# boot: ftrace=flight
#
# The flight recorder runs from boot on, and a dump of the trace has its calls.

# Before the tracing files are as after boot.
booted=$(cat /sys/kernel/tracing/current_tracer)
trace=$(head -n 100 /sys/kernel/tracing/trace)

. "$(dirname "$0")/tap.sh"
grep -qw flight "$TRACING/available_tracers" || skip_all "this kernel has no flight recorder"

is "$booted" flight "the tracer of the command line runs"
like "$trace" ' [a-zA-Z0-9_]+ <-[a-zA-Z0-9_]+' "calls since boot are in the trace"

# Few calls, so that the dump is short.
set_to vfs_read set_ftrace_filter
set_to flight current_tracer
set_to 1 tracing_on
taskset 1 sh -c 'read -r _ < /proc/version'
set_to 0 tracing_on
like "$(cat "$TRACING/per_cpu/cpu0/trace")" 'vfs_read <-' "the trace of a CPU has its calls"
set_to 1 tracing_on
dmesg -c > /dev/null
echo z > /proc/sysrq-trigger
dump=$(dmesg)
like "$dump" "Dumping ftrace buffer" "the trace is dumped"
like "$dump" "vfs_read <-" "the dump has a recorded call"

# All dumps have one iterator, in which the graph tracer leaves something.
if grep -qw function_graph "$TRACING/available_tracers"; then
	for tracer in function_graph flight; do
		set_to $tracer current_tracer
		set_to 1 tracing_on
		taskset 1 sh -c 'read -r _ < /proc/version'
		dmesg -c > /dev/null
		echo z > /proc/sysrq-trigger
		like "$(dmesg)" "vfs_read(\(\)| <-)" "a dump has the calls of $tracer"
	done
else
	skip "no graph tracer"
fi
set_to nop current_tracer
set_to "" set_ftrace_filter
set_to 1 tracing_on
dmesg -c > /dev/null
done_testing
