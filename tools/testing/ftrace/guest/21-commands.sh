#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# The commands of set_ftrace_filter that act on what only a kernel has: stacks, snapshots, events.

. "$(dirname "$0")/tap.sh"

F=$TRACING/set_ftrace_filter
alone='#### all functions enabled ####'

# sets COMMAND EXPECTED: the command is taken and reads back so.
sets() {
	works "$1" append "$F" "$1
"
	is "$(filter | sort)" "$2" "  reads back $2"
}

# removes COMMAND: it is gone afterwards, the function is a nop again.
removes() {
	works "$1" append "$F" "$1
"
	is "$(cat "$F")$(cat "$TRACING/enabled_functions")" "$alone" "  takes it away"
}

# A function that only this script calls: sync(2) on a file system with nothing to do.
func=wakeup_flusher_threads
grep -qx $func "$TRACING/available_filter_functions" || func=iterate_supers

# Beside the tracer of another function.
set_to vfs_open set_ftrace_filter
set_to function current_tracer
works "a command with a count" append "$F" "$func:traceoff:1
"
sync
is "$(cat "$TRACING/tracing_on") $(filter | joined)" "0 vfs_open $func:traceoff:count=0" "a call uses it up"
set_to 1 tracing_on
sync
is "$(cat "$TRACING/tracing_on")" 1 "  and the next does nothing"
echo "!$func:traceoff:0" >> "$F"
record poke
is "$(traced)" vfs_open "the tracer goes on with its own filter"
set_to nop current_tracer
set_to "" set_ftrace_filter
set_to 1 tracing_on

set_to "" trace
sets "$func:stacktrace:1" "$func:stacktrace:count=1"
sync
sync
trace=$(trace_lines)
is "$(echo "$trace" | grep -c '<stack trace>')" 1 "one stack for a count of 1"
like "$trace" "^ => $func\$" "  it holds the function"
like "$trace" "^ => $SYSCALL\$" "  and the system call"
removes "!$func:stacktrace:0"

# dump puts the ring buffer on the console.
set_to "" trace
echo "written before the dump" > "$TRACING/trace_marker"
sets "$func:dump" "$func:dump:count=1"
sync
like "$(kernel_log)" "written before the dump" "dump writes to the kernel log"
removes "!$func:dump:0"
set_to 1 tracing_on
log_mark

# While the command can swap the ring buffer, the buffer cannot be mapped.
raw=$TRACING/per_cpu/cpu0/trace_pipe_raw
if [ -e "$TRACING/snapshot" ]; then
	base_todo works "snapshot for two functions" append "$F" "vfs_rea[dl]*:snapshot:5
"
	filter | sed 's/:snapshot.*//' > "$TMP.armed"
	while read -r name; do
		fails_with EBUSY "  with the command on $name the buffer cannot be mapped" map "$raw"
		works "  !$name" append "$F" "!$name:snapshot:5
"
	done < "$TMP.armed"
	base_todo works "  without a function, it can" map "$raw"
	base_todo is "$(kernel_log | bad_news)" "" "  without a complaint"
	sets "$func:snapshot:1" "$func:snapshot:count=1"
	set_to "" trace
	echo "before the snapshot" > "$TRACING/trace_marker"
	sync
	echo "after the snapshot" > "$TRACING/trace_marker"
	sync
	snapshot=$(cat "$TRACING/snapshot")
	like "$snapshot" 'before the snapshot' "the snapshot holds what came before"
	unlike "$snapshot" 'after the snapshot' "the snapshot does not hold what came after"
	removes "!$func:snapshot:0"
	set_to 0 snapshot
else
	skip "no snapshot"
fi

# enable_event and disable_event
event=sched:sched_switch
enable=$TRACING/events/sched/sched_switch/enable
sets "$func:enable_event:$event:1" "$func:enable_event:$event:count=1"
is "$(cat "$enable")" '0*' "the event is enabled, but soft-disabled"
sync
is "$(cat "$enable")" '1*' "enable_event enables when the function is called"
removes "!$func:enable_event:$event:0"
set_to 1 events/sched/sched_switch/enable
sets "$func:disable_event:$event" "$func:disable_event:$event:unlimited"
sync
is "$(cat "$enable")" '0*' "disable_event soft-disables when the function is called"
removes "!$func:disable_event:$event"
set_to 0 events/sched/sched_switch/enable

done_testing
