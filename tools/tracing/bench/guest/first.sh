#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: first.sh TIMES
#
# How long it takes to get the first line of "trace", with 100,000 calls of each CPU in full rings: those of the function tracer,
# and of the flight recorder if there is one. A guest with 4 CPUs.

t=/sys/kernel/tracing
run=/sys/module/bench_ftrace/parameters/run

# fill TRACER: 150,000 calls on each CPU. The header says how many of all are still there.
fill()
{
	echo "$1" >$t/current_tracer
	for cpu in 0 1 2 3; do
		taskset $((1 << cpu)) sh -c "echo 'call 150000' >$run"
	done
	kept=$(sed -n '/-written:/ { s/.*-written: *\([0-9]*\).*/\1/p; q }' $t/trace)
	[ "$kept" -ge 400000 ] || {
		echo "$1: only $kept calls" >&2
		exit 1
	}
}

insmod /host/modules/bench_ftrace.ko || exit 1
echo bench_target >$t/set_ftrace_filter
# 32 bytes a call.
echo 3300 >$t/buffer_size_kb
fill function
/host/guest/benchio first trace_first "$1" $t/trace
echo nop >$t/current_tracer
if grep -qw flight $t/available_tracers; then
	echo 860 >$t/flight_size_kb
	fill flight
	/host/guest/benchio first flight_first "$1" $t/trace
	echo nop >$t/current_tracer
fi
