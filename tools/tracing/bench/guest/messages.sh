#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: messages.sh TIMES GROUPS LOOPS
#
# The hackbench load, TIMES times with function tracing off, or absent; as often with all functions traced for a task that sleeps;
# as often with all functions recorded by the flight recorder, if there is one, and with their returns;
# and as often with all functions traced, also by the graph tracer, where a message takes so long that a part of the LOOPS will do.

t=/sys/kernel/tracing

name=hackbench_none
[ ! -f $t/available_filter_functions ] || name=hackbench_off

# repeat NAME LOOPS
repeat()
{
	i=0
	while [ $i -lt "$times" ]; do
		/host/guest/messages "$1" "$groups" "$2"
		i=$((i + 1))
	done
}

times=$1 groups=$2 loops=$3
/host/guest/messages warm_up "$groups" "$loops"
repeat $name "$loops"
[ $name = hackbench_off ] || exit 0
sleep 100000 &
echo $! >$t/set_ftrace_pid
echo function >$t/current_tracer
repeat hackbench_pid_other $((loops / 2))
echo >$t/set_ftrace_pid
kill $!
if grep -q flight $t/available_tracers; then
	echo flight >$t/current_tracer
	repeat hackbench_flight "$loops"
	echo 1 >$t/options/flight-returns
	repeat hackbench_flight_returns "$loops"
	echo function >$t/current_tracer
fi
repeat hackbench_on $((loops / 4))
if grep -q function_graph $t/available_tracers; then
	echo function_graph >$t/current_tracer
	repeat hackbench_graph $((loops / 8))
fi
