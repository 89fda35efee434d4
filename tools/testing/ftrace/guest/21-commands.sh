#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# The commands of set_ftrace_filter, func:command[:count]: what they do, how they read back, how
# they are removed.

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
	is "$(cat "$F")" "$alone" "  takes it away"
	is "$(cat "$TRACING/enabled_functions")" "" "  and leaves no function enabled"
}

# traceon and traceoff
for cmd in traceoff traceon; do
	want=$([ $cmd = traceoff ] && echo 0 || echo 1)
	echo $((1 - want)) > "$TRACING/tracing_on"
	sets "vfs_read:$cmd" "vfs_read:$cmd:unlimited"
	like "$(cat "$TRACING/enabled_functions")" '^vfs_read \(1\)' "  the function is enabled"
	is "$(head -n 1 "$F")" "$alone" "  below the line for an empty filter"
	read_bytes 1
	is "$(cat "$TRACING/tracing_on")" "$want" "  and works"
	echo $((1 - want)) > "$TRACING/tracing_on"
	read_bytes 1
	is "$(cat "$TRACING/tracing_on")" "$want" "  every time"
	removes "!vfs_read:$cmd"
	echo $((1 - want)) > "$TRACING/tracing_on"
	read_bytes 1
	is "$(cat "$TRACING/tracing_on")" $((1 - want)) "  not any more"
done

# A function that only this script calls: sync(2) on a file system with nothing to do.
func=wakeup_flusher_threads
grep -qx $func "$TRACING/available_filter_functions" || func=iterate_supers

# counts
set_to 1 tracing_on
sets "$func:traceoff:2" "$func:traceoff:count=2"
sync
is "$(cat "$TRACING/tracing_on") $(filter)" "0 $func:traceoff:count=1" "the first call uses one up"
set_to 1 tracing_on
sync
is "$(cat "$TRACING/tracing_on") $(filter)" "0 $func:traceoff:count=0" "the second the other"
set_to 1 tracing_on
sync
is "$(cat "$TRACING/tracing_on")" 1 "a command with a count does nothing once the count is used up"
removes "!$func:traceoff:0"

# stacktrace
set_to "" trace
sets "$func:stacktrace:1" "$func:stacktrace:count=1"
sync
sync
trace=$(trace_lines)
is "$(echo "$trace" | grep -c '<stack trace>')" 1 "one stack for a count of 1"
like "$trace" "^ => $func\$" "  it holds the function"
like "$trace" "^ => $SYSCALL\$" "  and the system call"
removes "!$func:stacktrace:0"
set_to "" trace
sets "$func:stacktrace" "$func:stacktrace:unlimited"
sync
sync
is "$(trace_lines | grep -c '<stack trace>')" 2 "two stacks without a count"
removes "!$func:stacktrace"

# dump and cpudump put the ring buffer on the console.
dumps() {
	kernel_log | grep -c 'Dumping ftrace buffer:'
}
set_to "" trace
echo "written before the dump" > "$TRACING/trace_marker"
sets "$func:dump" "$func:dump:count=1"
sync
is "$(dumps)" 1 "dump writes to the kernel log"
sync
is "$(dumps) $(filter)" "1 $func:dump:count=0" "  once only"
removes "!$func:dump:0"
set_to 1 tracing_on
sets "$func:cpudump" "$func:cpudump:unlimited"
sync
is "$(dumps)" 2 "cpudump writes to the kernel log"
removes "!$func:cpudump"
set_to 1 tracing_on
like "$(kernel_log)" "written before the dump" "what was in the buffer"
log_mark

# snapshot
# While the command can swap the ring buffer, the buffer cannot be mapped.
raw=$TRACING/per_cpu/cpu0/trace_pipe_raw
if [ -e "$TRACING/snapshot" ]; then
	works "a buffer that is not swapped can be mapped" map "$raw"
	for count in '' ':5'; do
		base_todo works "snapshot$count for two functions" append "$F" "vfs_rea[dl]*:snapshot$count
"
		two=$(filter | wc -l)
		at_least "$two" 2 "  two or more"
		works "  and for one more" append "$F" "vfs_write:snapshot$count
"
		fails_with EBUSY "  the buffer cannot be mapped" map "$raw"
		filter | sed 's/:snapshot.*//' > "$TMP.armed"
		while read -r name; do
			fails_with EBUSY "  with the command on $name, neither" map "$raw"
			works "  !$name" append "$F" "!$name:snapshot$count
"
		done < "$TMP.armed"
		base_todo works "  without a function, it can" map "$raw"
	done
	base_todo is "$(kernel_log | bad_news)" "" "  without a complaint"
	set_to 1 tracing_on
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
	sets "$func:snapshot" "$func:snapshot:unlimited"
	removes "!$func:snapshot"
	set_to 0 snapshot
else
	skip "no snapshot"
fi

# enable_event and disable_event
event=sched:sched_switch
enable=$TRACING/events/sched/sched_switch/enable
sets "$func:enable_event:$event" "$func:enable_event:$event:unlimited"
is "$(cat "$enable")" '0*' "the event is enabled, but soft-disabled"
sync
is "$(cat "$enable")" '1*' "enable_event enables when the function is called"
removes "!$func:enable_event:$event"
sets "$func:enable_event:$event:1" "$func:enable_event:$event:count=1"
sync
is "$(cat "$enable")" '1*' "  with a count"
removes "!$func:enable_event:$event:0"
set_to 1 events/sched/sched_switch/enable
sets "$func:disable_event:$event" "$func:disable_event:$event:unlimited"
is "$(cat "$enable")" '1*' "disable_event waits"
sync
is "$(cat "$enable")" '0*' "disable_event soft-disables when the function is called"
removes "!$func:disable_event:$event"
set_to 0 events/sched/sched_switch/enable

# Several commands, and a filter beside them.
set_to vfs_open set_ftrace_filter
works "a command on a function" append "$F" "vfs_read:stacktrace
"
works "another command on the same function" append "$F" "vfs_read:traceoff
"
is "$(sort "$F")" "vfs_open
vfs_read:stacktrace:unlimited
vfs_read:traceoff:unlimited" "a filter and two commands side by side"
set_to "" set_ftrace_filter
echo '!vfs_read:stacktrace' >> "$F"
is "$(filter)" "vfs_read:traceoff:unlimited" "  one removed, the other stays"
removes '!vfs_read:traceoff'

# Commands with the function tracer running on another function.
set_to vfs_open set_ftrace_filter
set_to function current_tracer
echo 'vfs_read:traceoff:1' >> "$F"
set_to 1 tracing_on
read_bytes 1
is "$(cat "$TRACING/tracing_on")" 0 "traceoff while the tracer runs"
echo '!vfs_read:traceoff:0' >> "$F"
record poke
is "$(traced)" vfs_open "the tracer goes on with its own filter"
set_to nop current_tracer
set_to "" set_ftrace_filter

fails_with EINVAL "enable_event with an unknown event" append "$F" "vfs_read:enable_event:sched:nosuch
"
is "$(cat "$F")" "$alone" "after all this nothing is set"
is "$(cat "$TRACING/enabled_functions")" "" "after all this nothing is enabled"

done_testing
