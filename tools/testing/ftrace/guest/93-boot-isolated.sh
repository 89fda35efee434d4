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

# in_user_mode CPU: how many of these were sent while it was in no interrupt, nor in a softirq behind one.
in_user_mode() {
	awk -v "cpu=$1" '
		$2 == sprintf("[%03d]", cpu) && / [a-z_]*_entry: / { depth++ }
		$2 == sprintf("[%03d]", cpu) && / [a-z_]*_exit: / && depth { depth-- }
		$0 ~ "csd_queue_cpu: cpu=" cpu " .* func=(sync_interrupt|sync_cpu|do_sync_core)" && !depth { n++ }
		END { print n + 0 }' "$TRACING/instances/isolated/trace"
}

mkdir "$TRACING/instances/isolated"
echo global > "$TRACING/instances/isolated/trace_clock"
echo 'cpu == 1 || cpu == 2' > "$queued/filter"
echo 1 > "$queued/enable"
# A CPU is in the kernel for its timer, too, longer on a busy host. A broadcast that comes then is one more.
echo 1 > "$TRACING/instances/isolated/events/irq_vectors/enable"
echo 1 > "$TRACING/instances/isolated/events/irq/enable"

# The first changes let the tracer get its buffers, which interrupts each CPU.
taskset 2 sh -c 'while :; do :; done' &
user=$!
taskset 4 sh -c 'while :; do :; done' &
other=$!
sleep 1
changes 1
# The best of some rounds, each of some 290 broadcasts. The beginning and the end of an interrupt are
# taken for user mode.
for round in 1 2 3 4 5; do
	changes 3
	all=$(interrupts 2) wrong=$(in_user_mode 1)
	[ "$wrong" -gt $((all / 4)) ] || break
done
echo "# round $round: CPU 1 was interrupted $(interrupts 1) times, $wrong times in user mode, CPU 2 $all times"
echo 0 > "$TRACING/instances/isolated/events/irq_vectors/enable"
echo 0 > "$TRACING/instances/isolated/events/irq/enable"
at_least "$all" 100 "a CPU that is not isolated is interrupted by each broadcast"
base_todo at_least $((all / 4)) "$wrong" "an isolated CPU in user mode is not interrupted"
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
