#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# boot: nohz_full=1 rcu_nocbs=1 isolcpus=1
#
# A task on an isolated CPU enters the kernel again and again while all functions change. Changes leave
# the CPU alone while the task is in user mode. Each system call must then call what is traced.

. "$(dirname "$0")/tap.sh"
need "$TRACING/function_profile_enabled" /sys/devices/system/cpu/nohz_full /sys/devices/system/cpu/cpu1
grep -qw 1 /sys/devices/system/cpu/nohz_full || skip_all "this kernel has no nohz_full"
enters=$(command -v enters)
changes=6
I=$TRACING/instances/entries
getppid=$(grep -m1 -E '^(__[a-z0-9]+_)?sys_getppid$' "$TRACING/available_filter_functions")

mkdir "$I"
set_to "$getppid" set_ftrace_filter
set_to 1 function_profile_enabled
taskset 2 "$enters" > "$TMP.calls" &
task=$!
for _ in $(seq $changes); do
	taskset 1 sh -c "echo function > $I/current_tracer; echo nop > $I/current_tracer"
done
kill $task
wait $task
is $? 0 "the task goes on beside the changes"
set_to 0 function_profile_enabled
calls=$(cat "$TMP.calls")
echo "# $((2 * changes)) changes of all functions beside $calls system calls"
at_least "$calls" 1000 "system calls beside the changes"
is "$(awk -v f="$getppid" '$1 == f { print $2 }' "$TRACING/trace_stat/function1")" "$calls" \
	"each system call is counted once"

rm -f "$TMP.calls"
set_to "" set_ftrace_filter
rmdir "$I"
done_testing
