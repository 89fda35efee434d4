#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bystanders.sh
#
# What changes do to CPUs that have nothing to do with them: CPU 0 makes 20 changes of all functions, and registers and
# unregisters an ops for one function 100 times. CPU 1 is isolated and in user mode, CPU 2 is idle. Counted are their
# function-call interrupts, and the context switches of CPU 1.

t=/sys/kernel/tracing
io=/host/guest/benchio

say()
{
	echo "$1 1 $2 $2 $2"
}

# calls CPU: its function-call interrupts so far.
calls()
{
	awk -v cpu="$1" '$1 == "CAL:" { print $(cpu + 2) }' /proc/interrupts
}

changes()
{
	i=0
	while [ $i -lt "$1" ]; do
		echo function >$t/current_tracer
		echo nop >$t/current_tracer
		i=$((i + 1))
	done
}

insmod /host/modules/bench_ftrace.ko || exit 1
$io tell "prepare 0 1 target"
taskset 2 sh -c 'while :; do :; done' &
# CPU 2 has nothing to do: kernel threads that may run anywhere run on CPU 0.
for task in $$ /proc/[0-9]*; do
	taskset -p 1 "${task#/proc/}" >/dev/null 2>&1
done
echo 1 >/sys/devices/virtual/workqueue/cpumask
mkdir $t/instances/bystanders
echo 'cpu == 1' >$t/instances/bystanders/events/sched/sched_switch/filter

# The first change makes the buffers of each CPU.
changes 1
sleep 0.1
echo 1 >$t/instances/bystanders/events/sched/sched_switch/enable
isolated=$(calls 1) idle=$(calls 2)
changes 10
i=0
while [ $i -lt 100 ]; do
	$io tell "register 0 1"
	$io tell "unregister 0 1"
	i=$((i + 1))
done
say ipis_isolated $(($(calls 1) - isolated))
say ipis_idle $(($(calls 2) - idle))
echo 0 >$t/instances/bystanders/tracing_on
say switches_isolated "$(grep -c sched_switch: $t/instances/bystanders/trace)"
