#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# boot: ftrace=flight trace_options=flight-time trace_flight_size=512K maxcpus=1
#
# The flight recorder runs from boot on, with its option and size, also on a CPU that comes later, and
# a dump of the trace has its calls.

rings() {
	grep -c ' flight_' /proc/vmallocinfo
}

# Before the tracing files are as after boot, and all CPUs are online.
booted=$(cat /sys/kernel/tracing/current_tracer)
trace=$(head -n 100 /sys/kernel/tracing/trace)
cpu=/sys/devices/system/cpu/cpu1
if [ -e $cpu/online ]; then
	# Rings of KUnit suites that have run at boot are freed after grace periods.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		first=$(rings)
		[ "$first" -gt 1 ] || break
		sleep 0.5
	done
	echo 1 > $cpu/online
	second=$(rings)
	other=$(head -n 100 /sys/kernel/tracing/per_cpu/cpu1/trace)
fi

. "$(dirname "$0")/tap.sh"
grep -qw flight "$TRACING/available_tracers" || skip_all "this kernel has no flight recorder"

is "$booted" flight "the tracer of the command line runs"
like "$trace" ' [a-zA-Z0-9_]+ <-[a-zA-Z0-9_]+' "calls since boot are in the trace"
like "$trace" '^# times .* times of calls are exact$' "  with the times that the command line asks for"
is "$(cat "$TRACING/flight_size_kb")" 512 "  in rings of the size that it asks for"
set_to 0 options/flight-time

is "$(grep -h '^ *not ok' /sys/kernel/debug/kunit/*/results 2> /dev/null)" "" "no KUnit case failed meanwhile"

if [ -e $cpu/online ]; then
	is "$first" 1 "no ring for a CPU that has not been online"
	is "$second" 2 "  when it comes it gets one"
	like "$other" ' \[001\] .* [a-zA-Z0-9_]+ <-[a-zA-Z0-9_]+' "  where its calls are"
	unlike "$other" '-4294967295 |--1 ' "  each of which has a task"
	is "$(settled 0 rings)" 0 "rings are freed"
	set_to flight current_tracer
	all=$(rings)
	works "the CPU leaves" write $cpu/online 0
	works "  and comes back" write $cpu/online 1
	is "$(rings)" "$all" "  to its ring"
	set_to nop current_tracer
else
	skip "one CPU only"
fi

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
