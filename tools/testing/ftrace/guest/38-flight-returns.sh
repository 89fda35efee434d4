#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The flight recorder with returns: a function that is recorded returns through code of its own, and
# its caller's address is not on the stack. Stacks are shown as if it were.

. "$(dirname "$0")/tap.sh"

need "$TRACING/flight_size_kb" "$TRACING/options/pause-on-trace"
set_to flight current_tracer
echo 1 2> /dev/null > "$TRACING/options/flight-returns" || skip_all "no returns on this kernel"
set_to nop current_tracer

# stack_of PID: the functions in its stack.
stack_of() {
	sed 's/^\[<[^>]*>\] //; s/+.*//' "/proc/$1/stack"
}

# A task that sleeps in many functions, each called through a thunk or not.
sleeper() {
	sleep 1000 &
	pid=$!
	while ! grep -q nanosleep "/proc/$pid/stack"; do
		:
	done
}

set_to 0 options/flight-returns
sleeper
want=$(stack_of $pid)
kill $pid
like "$want" "^$SYSCALL$" "a task that sleeps has a stack"
for timed in 0 1; do
	set_to $timed options/flight-time
	set_to 1 options/flight-returns
	works "flight-time $timed: calls and returns of all functions" write "$TRACING/current_tracer" flight
	sleeper
	is "$(stack_of $pid)" "$want" "a task that sleeps in functions that return to thunks has the same stack"
	like "$(head -n 2000 "$TRACING/trace")" ' us +\| .*\(\);$' "calls are shown with durations"
	if [ -w /proc/sysrq-trigger ]; then
		for key in l t w; do
			echo $key > /proc/sysrq-trigger
		done
		# A CPU may be in the code that records: its caller is a thunk, which has no name.
		unlike "$(dmesg | awk '/\]  0xf/ && records { next }
			/\] RIP: |\]  [^?<]/ { records = /[: ]ftrace_flight_/ }
			1')" '\]  0xf' \
			"  so have tasks in the kernel log"
		log_mark
	fi
	set_to nop current_tracer
	is "$(stack_of $pid)" "$want" "  also when the recorder has stopped"
	# The text that they return through is still there.
	set_to flight current_tracer
	set_to nop current_tracer
	kill $pid
	wait $pid 2> /dev/null
	ok "  and it returns" [ ! -d /proc/$pid ]
done

# The tree.
for timed in 0 1; do
	set_to $timed options/flight-time
	echo 'ksys_read vfs_read' > "$TRACING/set_ftrace_filter"
	set_to flight current_tracer
	read_bytes 3
	[ ! -e "$TRACING/snapshot" ] || set_to 1 snapshot
	read_bytes 3
	set_to 0 tracing_on
	for file in trace snapshot; do
		[ -e "$TRACING/$file" ] || continue
		like "$(sed -n 's/.*|  //p' "$TRACING/$file" | tr -s ' \n' ' ')" \
			'ksys_read\(\) \{ (/\* [^ ]* \*/ )?vfs_read\(\); \} /\* ksys_read' \
			"flight-time $timed, $file: a call has what it has called"
	done
	set_to 1 tracing_on
	set_to nop current_tracer
	[ ! -e "$TRACING/snapshot" ] || set_to 0 snapshot
	echo > "$TRACING/set_ftrace_filter"
done

# Only some tasks.
echo 'ksys_read vfs_read' > "$TRACING/set_ftrace_filter"
echo $$ > "$TRACING/set_ftrace_pid"
set_to flight current_tracer
read_bytes 3
read -r _ < /proc/version
set_to 0 tracing_on
trace=$(cat "$TRACING/trace")
like "$trace" "-$$ .*\| +vfs_read\(\);" "set_ftrace_pid: calls of the task have returns"
is "$(echo "$trace" | grep '_read' | grep -vc -e "-$$ ")" 0 "  other tasks are not recorded"
set_to 1 tracing_on
set_to nop current_tracer
echo > "$TRACING/set_ftrace_pid"
echo > "$TRACING/set_ftrace_filter"

# Only slow calls, with their callers. A threshold of 10 s is too much for a read on any host.
set_to 1 options/flight-time
echo 'ksys_read vfs_read' > "$TRACING/set_ftrace_filter"
set_to flight current_tracer
for thresh in 0 10000000; do
	set_to $thresh tracing_thresh
	read_bytes 1000
	set_to 0 tracing_on
	records=$(awk '/^flight (records|overrun)/ { n += $3 } END { print n }' "$TRACING"/per_cpu/cpu*/stats)
	set_to 1 tracing_on
	if [ $thresh = 0 ]; then
		ok "1,000 reads are recorded with their returns" [ "$records" -ge 4000 ]
	else
		ok "tracing_thresh: quick calls are taken back" [ "$records" -lt 400 ]
	fi
done
echo > "$TRACING/set_ftrace_filter"
set_to 10000 tracing_thresh
sleep 0.05
trace=$(cat "$TRACING/trace")
like "$trace" '[0-9]{5}[0-9.]* us +\| +\} /\* hrtimer_nanosleep' "  a sleep of 50 ms stays, and is shown at once"
like "$trace" '[0-9]{5}[0-9.]* us +\| +\} /\* __x64_sys_[a-z_]*nanosleep' "  the caller of a slow call stays"
set_to 0 tracing_thresh
set_to nop current_tracer

# Start and stop, forks and exits, modules and other tracers, at the same time.
while :; do
	sh -c 'cat /proc/self/stat /proc/self/maps' > /dev/null
	ls -R /proc/self > /dev/null 2>&1
done &
worker=$!
i=0
while [ $i -lt 6 ]; do
	set_to $((i % 2)) options/flight-time
	set_to flight current_tracer
	if [ -e "$MODULES/ftmod_a.ko" ]; then
		insmod "$MODULES/ftmod_a.ko"
		rmmod ftmod_a
	fi
	[ $i != 3 ] || [ ! -w /sys/devices/system/cpu/cpu1/online ] || {
		echo 0 > /sys/devices/system/cpu/cpu1/online
		echo 1 > /sys/devices/system/cpu/cpu1/online
	}
	set_to nop current_tracer
	i=$((i + 1))
done
kill $worker
wait $worker 2> /dev/null

# tree_of TASK: its calls and returns, as both tracers show them.
tree_of() {
	sed -n "/[ -]$1-[0-9]/s/^[^|]*| *//p" "$TRACING/trace" | sed 's, /\* <-.*,,; s,^\(.*\)();$,\1() {\n} /* \1 */,'
}

# The graph tracer shows the same calls of the same program. The first run fills the kernel's caches.
if grep -qw function_graph "$TRACING/available_tracers"; then
	echo 'vfs_* ksys_* path_* do_filp_open link_path_walk* walk_component dput lookup_* d_* seq_* proc_*' > "$TRACING/set_ftrace_filter"
	for tracer in nop function_graph flight; do
		set_to $tracer current_tracer
		if [ $tracer = function_graph ]; then
			set_to 1 options/funcgraph-proc
			set_to 1 options/funcgraph-tail
			set_to 0 options/funcgraph-duration
		fi
		cat /proc/version /proc/self/status /no_such_file > /dev/null 2>&1
		set_to 0 tracing_on
		tree_of cat > /tmp/tree.$tracer
		set_to nop current_tracer
		set_to 1 tracing_on
	done
	echo > "$TRACING/set_ftrace_filter"
	at_least "$(wc -l < /tmp/tree.flight)" 50 "the tree of a program has many lines"
	is "$(diff /tmp/tree.function_graph /tmp/tree.flight)" "" "  all of which the graph tracer shows"
fi

# The graph tracer and a probe at the return share functions with the recorder, and come and go.
mkdir "$TRACING/instances/graph"
set_to flight current_tracer
if grep -qw function_graph "$TRACING/instances/graph/available_tracers"; then
	echo 'vfs_*' > "$TRACING/instances/graph/set_ftrace_filter"
	echo function_graph > "$TRACING/instances/graph/current_tracer"
	read_bytes 100
	like "$(cat "$TRACING/instances/graph/trace")" 'vfs_read' "the graph tracer shares functions"
	echo nop > "$TRACING/instances/graph/current_tracer"
fi
if [ -e "$TRACING/kprobe_events" ]; then
	echo 'r:back ksys_read' > "$TRACING/kprobe_events"
	set_to 1 events/kprobes/back/enable
	read_bytes 100
	set_to 0 events/kprobes/back/enable
	like "$(cat "$TRACING/trace")" 'back: .*ksys_read' "a probe at the return shares a function"
	echo > "$TRACING/kprobe_events"
fi
set_to nop current_tracer
set_to 0 options/flight-returns
set_to 0 options/flight-time

done_testing
