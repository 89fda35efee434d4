#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The irqsoff tracer, which uses the function tracer to show what ran while interrupts were off.
# This script runs before the test of the snapshot file: after a snapshot has been taken and freed,
# the latency tracers of 6.12 show an empty trace.

. "$(dirname "$0")/tap.sh"
grep -qw irqsoff "$TRACING/available_tracers" || skip_all "no irqsoff tracer"

max=$TRACING/tracing_max_latency
is "$(cat "$TRACING/options/function-trace")" 1 "function-trace is on"
set_to irqsoff current_tracer
# Some maxima have no function lines: the buffer could not be swapped, or the host took the CPU away
# where the guest calls no function. Then look for another maximum.
tries=0
while tries=$((tries + 1)) && [ $tries -lt 100 ]; do
	set_to 0 tracing_max_latency
	set_to 1 tracing_on
	poke > /dev/null
	set_to 0 tracing_on
	trace=$(cat "$TRACING/trace")
	! echo "$trace" | grep -q ' <-' || break
done
at_least "$(cat "$max")" 1 "a latency was found"
like "$trace" '^# tracer: irqsoff$' "the trace has a header"
like "$trace" '^# latency: [0-9]+ us, #[0-9]+/[0-9]+, CPU#[0-9]+ ' "the header has the latency"
# A mark in place of the blank says that the call took long.
like "$trace" 'us.: [a-zA-Z_0-9.]+ <-[a-zA-Z_0-9.]+$' "the trace has function lines"
set_to nop current_tracer
is "$(cat "$TRACING/enabled_functions")" "" "no function is enabled after irqsoff"

works "function-trace off" write "$TRACING/options/function-trace" 0
set_to 1 tracing_on
set_to irqsoff current_tracer
is "$(cat "$TRACING/enabled_functions")" "" "function-trace off: no function is enabled"
works "function-trace on while it runs" write "$TRACING/options/function-trace" 1
at_least "$(wc -l < "$TRACING/enabled_functions")" 1000 "function-trace on: functions are enabled"
works "function-trace off while it runs" write "$TRACING/options/function-trace" 0
is "$(cat "$TRACING/enabled_functions")" "" "function-trace off again: no function is enabled"
set_to nop current_tracer
set_to 1 options/function-trace

# It takes the global filter.
set_to vfs_read set_ftrace_filter
set_to irqsoff current_tracer
is "$(cut -d' ' -f1,2 "$TRACING/enabled_functions")" "vfs_read (1)" "set_ftrace_filter holds for it"
set_to 0 tracing_max_latency

done_testing
