#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# boot: nohz_full=1 rcu_nocbs=1 isolcpus=1
#
# CPU 1 is isolated, and a task runs there in user mode. Changes of what is traced interrupt it only
# while it is in the kernel for another reason, such as its timer. CPU 2 is not isolated, and gets each
# broadcast. 94-boot-entries.sh has a task that enters the kernel beside changes.

. "$(dirname "$0")/tap.sh"
need /sys/devices/system/cpu/nohz_full /sys/devices/system/cpu/cpu2
grep -qw 1 /sys/devices/system/cpu/nohz_full || skip_all "this kernel has no nohz_full"
F=$TRACING/current_tracer
queued=$TRACING/instances/isolated/events/csd/csd_queue_cpu

# changes N: CPU 0 makes so many changes of all functions.
changes() {
	echo > "$TRACING/instances/isolated/trace"
	for _ in $(seq "$1"); do
		taskset 1 sh -c "echo function > $F; echo nop > $F"
	done
}

# interrupts CPU: how many interrupts for broadcasts of the patcher it has got.
interrupts() {
	grep -cE "csd_queue_cpu: cpu=$1 .* func=(sync_interrupt|sync_cpu|do_sync_core)" "$TRACING/instances/isolated/trace"
}

mkdir "$TRACING/instances/isolated"
echo 'cpu == 1 || cpu == 2' > "$queued/filter"
echo 1 > "$queued/enable"

# The first changes let the tracer get its buffers, which interrupts each CPU.
taskset 2 sh -c 'while :; do :; done' &
user=$!
taskset 4 sh -c 'while :; do :; done' &
other=$!
sleep 1
changes 1
# CPU 1 has 250 timer interrupts a second here, longer ones on a busy host, and a broadcast that comes
# meanwhile is one more: the best of some rounds, each of some 290 broadcasts. If a CPU in user mode
# were interrupted, each of them would.
for _ in 1 2 3 4 5; do
	changes 3
	[ "$(interrupts 1)" -gt $(($(interrupts 2) * 3 / 4)) ] || break
done
echo "# CPU 1 was interrupted $(interrupts 1) times, CPU 2 $(interrupts 2) times"
at_least "$(interrupts 2)" 100 "a CPU that is not isolated is interrupted by each broadcast"
base_todo at_least $(($(interrupts 2) * 3 / 4)) "$(interrupts 1)" "an isolated CPU in user mode is not interrupted"
kill $user $other
wait $user $other 2> /dev/null

# The flight recorder starts, and knows the task of a CPU that has not switched since.
if [ -e "$TRACING/flight_size_kb" ]; then
	taskset 2 sh -c 'while :; do :; done' &
	user=$!
	taskset 4 sh -c 'while :; do :; done' &
	other=$!
	sleep 1
	set_to nop current_tracer
	set_to do_group_exit set_ftrace_filter
	echo > "$TRACING/instances/isolated/trace"
	set_to flight current_tracer
	set_to "" trace
	for cpu in 1 2; do
		is "$(grep -c "csd_queue_cpu: cpu=$cpu .* func=flight" "$TRACING/instances/isolated/trace")" 0 \
			"the flight recorder starts without an interrupt of CPU $cpu"
	done
	kill $user $other
	wait $user $other 2> /dev/null
	at_least "$(grep -c "sh-$user .*: do_group_exit <-" "$TRACING/trace")" 1 "the record has the task that ran all the time"
else
	skip "no flight recorder"
fi

# A task in user mode is chosen. The first write to the file makes the kernel change the text of
# tracepoints, which is another matter.
taskset 2 sh -c 'while :; do :; done' &
user=$!
taskset 4 sh -c 'while :; do :; done' &
other=$!
sleep 1
set_to do_group_exit set_ftrace_filter
set_to function current_tracer
checked() {
	grep -c "csd_queue_cpu: cpu=$1 .* func=pid_check_current" "$TRACING/instances/isolated/trace"
}
spared=0
for _ in 1 2 3 4 5; do
	set_to $$ set_ftrace_pid
	set_to "" trace
	echo > "$TRACING/instances/isolated/trace"
	echo $user >> "$TRACING/set_ftrace_pid"
	[ "$(checked 1)" != 0 ] || spared=$((spared + 1))
done
base_todo at_least "$(checked 2)" 1 "a CPU that is not isolated checks its own task"
at_least $spared 3 "the task of an isolated CPU in user mode is checked without an interrupt"
kill $user $other
wait $user $other 2> /dev/null
at_least "$(grep -c "\-$user .*: do_group_exit <-" "$TRACING/trace")" 1 "the chosen task is traced when it enters the kernel"
is "$(grep -c "\-$other .*: do_group_exit <-" "$TRACING/trace")" 0 "another task is not"

set_to nop current_tracer
echo > "$TRACING/set_ftrace_pid"
set_to "" set_ftrace_filter
echo 0 > "$queued/enable"
rmdir "$TRACING/instances/isolated"
done_testing
