#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of ../host/vm/flight-dump.t: recorders, which have stopped; then nothing happens.
# run-guest does not run this script.

T=/sys/kernel/tracing

mkdir $T/instances/other
for array in $T $T/instances/other; do
	echo 0 > "$array/tracing_on"
	echo "vfs_read ksys_read" > "$array/set_ftrace_filter"
	echo 64 > "$array/flight_size_kb"
done
echo 1 > $T/instances/other/options/flight-time
for array in $T $T/instances/other; do
	echo flight > "$array/current_tracer"
	echo 1 > "$array/tracing_on"
done
# One of a module.
mkdir $T/instances/module
if insmod /host/guest/modules/ftmod_a.ko; then
	echo "ftmod_a_*" > $T/instances/module/set_ftrace_filter
	echo flight > $T/instances/module/current_tracer
	echo nest 3 > /sys/module/ftmod_a/parameters/call
fi
# Another one, with returns, of functions that no other one wants, and a task that is in them.
mkdir $T/instances/returns
if [ -e $T/instances/returns/options/flight-returns ]; then
	echo "vfs_write ksys_write __x64_sys_write" > $T/instances/returns/set_ftrace_filter
	echo 1 > $T/instances/returns/options/flight-returns
	echo flight > $T/instances/returns/current_tracer
	# shellcheck disable=SC2216 # nobody reads, so it waits
	dd if=/dev/zero bs=4096 2> /dev/null | sleep 1000 &
fi
# The rings wrap, and one of them goes through more than one task.
i=0
while [ $i -lt 100 ]; do
	read -r _ < /proc/version
	[ $((i % 20)) -gt 0 ] || cat /proc/version > /dev/null
	i=$((i + 1))
done
for array in "$T" "$T"/instances/*; do
	echo 0 > "$array/tracing_on"
done
# The first switch behind the last call of a CPU is recorded, in place of the oldest call.
sleep 1
for array in $T/instances/other $T; do
	grep -v '^#' "$array/trace" | sed "s,^,${array##*/}: ,"
done
echo ready
sleep 1000
