#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each memory allocation of an operation fails once. Either the operation is refused and nothing has
# changed, or the operation has worked in full without that memory.

. "$(dirname "$0")/tap.sh"

slab=/sys/kernel/debug/failslab
need $slab/ignore-gfp-wait /proc/self/fail-nth
F=$TRACING/set_ftrace_filter

verbose=$(cat $slab/verbose)
echo 0 > $slab/verbose
echo N > $slab/ignore-gfp-wait

# The core may have to report the failure itself, and the tracepoints of the base warn about theirs.
complaints() {
	kernel_log | bad_news | grep -vE 'Call Trace|WARNING: .*kernel/tracepoint.c:'
}

# each_fails NAME STATE RESTORE VERB...: each allocation of VERB fails once. STATE prints what must
# not change, RESTORE undoes a success. No operation here needs MOST allocations.
MOST=1000
CLOSED=
points=0
each_fails() {
	name=$1 state=$2 restore=$3
	shift 3
	before=$($state)
	n=0 refused=0 changed='' lost=''
	while n=$((n + 1)) && [ $n -lt $MOST ]; do
		ftio nth $n "$@" > "$TMP.out" 2>&1
		status=$?
		case $status in
		0)	[ "$($state)" != "$before" ] || lost="$lost $n" ;;
		1)	refused=$((refused + 1))
			[ "$($state)" = "$before" ] || changed="$changed $n:$(cat "$TMP.out")" ;;
		*)	break ;;
		esac
		$restore
	done
	[ "$status" != 4 ] || [ "$($state)" != "$before" ] || lost="$lost last"
	$restore
	[ "$($state)" = "$before" ] || changed="$changed afterwards"
	points=$((points + n - 1))
	[ $MOST -lt 1000 ] || is "$status" 4 "$name: all of its allocations were tried"
	is "$changed" "" "$name: $((n - 1)) allocations; $refused are needed; the operation is refused and nothing changed"
	[ -n "$CLOSED" ] || base_todo is "$lost" "" "  what was not refused was done"
	at_least "$refused" 1 "  a failure was seen"
	is "$(complaints)" "" "  without a complaint"
}

# shellcheck disable=SC2317 # called through each_fails
tracing_state() {
	cat "$TRACING/current_tracer" "$F" "$TRACING/set_ftrace_notrace"
	cut -d'	' -f1 "$TRACING/enabled_functions"
}
# shellcheck disable=SC2317
filter_back() {
	echo vfs_open > "$F"
}
# shellcheck disable=SC2317
tracer_off() {
	echo nop > "$TRACING/current_tracer"
}
# shellcheck disable=SC2317
notrace_back() {
	echo > "$TRACING/set_ftrace_notrace"
}
# shellcheck disable=SC2317
word_back() {
	! grep -q '^vfs_\*:mod:' "$F" || echo '!vfs_*:mod:nosuch' >> "$F"
}
# shellcheck disable=SC2317
commands_back() {
	clear_commands "$TRACING"
}
# shellcheck disable=SC2317
second_back() {
	! grep -q '^vfs_read:' "$F" || echo '!vfs_read:traceoff:0' >> "$F"
}
# shellcheck disable=SC2317
all_on() {
	echo 1 > /proc/sys/kernel/ftrace_enabled
}
# shellcheck disable=SC2317
all_off() {
	echo 0 > /proc/sys/kernel/ftrace_enabled
}
# shellcheck disable=SC2317
pids() {
	cat "$TRACING/set_ftrace_pid"
	tracing_state
}
# shellcheck disable=SC2317
pids_back() {
	echo > "$TRACING/set_ftrace_pid"
}
# shellcheck disable=SC2317
graph_state() {
	cat "$TRACING/set_graph_function"
	tracing_state
}
# shellcheck disable=SC2317
graph_back() {
	echo vfs_open > "$TRACING/set_graph_function"
}
# shellcheck disable=SC2317
option() {
	cat "$TRACING/options/func_stack_trace"
	tracing_state
}
# shellcheck disable=SC2317
option_back() {
	echo 0 > "$TRACING/options/func_stack_trace"
}
# shellcheck disable=SC2317
profiling() {
	cat "$TRACING/function_profile_enabled"
	tracing_state
}
# shellcheck disable=SC2317
profiling_back() {
	echo 0 > "$TRACING/function_profile_enabled"
}
# shellcheck disable=SC2317
module_state() {
	cut -d' ' -f1 /proc/modules
	sed -n '1s/ .*//p' "$TRACING/dyn_ftrace_total_info"
	tracing_state | grep -v ':mod:'
}
# shellcheck disable=SC2317
module_back() {
	[ ! -d /sys/module/ftmod_a ] || rmmod ftmod_a
}
# A filter that waited for the module is used up, also if the module fails to load after that.
# shellcheck disable=SC2317
module_wanted() {
	module_back
	grep -q ':mod:' "$F" || echo '*:mod:ftmod_a' >> "$F"
}
# shellcheck disable=SC2317
direct_back() {
	[ ! -d /sys/module/ftrace_direct ] || rmmod ftrace_direct
}
# shellcheck disable=SC2317
probe_state() {
	cat "$TRACING/dynamic_events" "$TRACING"/events/f/*/enable
	tracing_state
}
# shellcheck disable=SC2317
probes_off() {
	for file in "$TRACING"/events/f/*/enable; do
		echo 0 > "$file"
	done
}
# For other files: the operation changes FILE, and BACK undoes the change.
# shellcheck disable=SC2317
file_state() {
	cat "$FILE"
	tracing_state
}
# shellcheck disable=SC2317
file_back() {
	echo "$BACK" > "$FILE"
}
# shellcheck disable=SC2317
instances() {
	ls "$TRACING/instances"
	cut -d'	' -f1 "$TRACING/enabled_functions"
}
# shellcheck disable=SC2317
no_instance() {
	[ ! -d "$TRACING/instances/f" ] || rmdir "$TRACING/instances/f"
}

printf 'vfs_open\nvfs_read\nvfs_w*\n' > "$F"
all_three=$(filter | joined)
echo vfs_open > "$F"
each_fails "append a name to the filter" tracing_state filter_back append "$F" "vfs_read
"
# The second of two words either counts in full or not at all.
n=0 partly=''
while n=$((n + 1)) && [ $n -lt 400 ]; do
	filter_back
	ftio nth $n append "$F" "vfs_read
vfs_w*
" > /dev/null 2>&1
	status=$?
	case $(filter | tr '\n' ' ') in
	'vfs_open ' | 'vfs_read vfs_open ' | 'vfs_open vfs_read ' | "$all_three ") ;;
	*) partly="$partly $n" ;;
	esac
	[ $status -le 1 ] || break
done
at_least $n 20 "two words, the second a glob: $((n - 1)) allocations fail"
is "$partly" "" "  and it counts in full or not at all"
filter_back
each_fails "append to notrace" tracing_state notrace_back append "$TRACING/set_ftrace_notrace" "vfs_read
"
echo '*:mod:nosuch' >> "$F"
each_fails "append a word that waits for a module" tracing_state word_back append "$F" "vfs_*:mod:nosuch
"
echo '!*:mod:nosuch' >> "$F"
each_fails "set a command" tracing_state commands_back append "$F" "vfs_read:traceoff:3
"
each_fails "switch the tracer on" tracing_state tracer_off write "$TRACING/current_tracer" function
set_to function current_tracer
each_fails "append a name while tracing" tracing_state filter_back append "$F" "vfs_read
"
each_fails "set a command while tracing" tracing_state commands_back append "$F" "vfs_read:stacktrace
"
if switches_off; then
	each_fails "switch all ops off" tracing_state all_on write /proc/sys/kernel/ftrace_enabled 0
	all_off
	each_fails "switch all ops on" tracing_state all_off write /proc/sys/kernel/ftrace_enabled 1
	all_on
fi
set_to nop current_tracer
each_fails "switch the graph tracer on" tracing_state tracer_off write "$TRACING/current_tracer" function_graph
base_todo works "  with memory the graph tracer starts" write "$TRACING/current_tracer" function_graph
tracer_off
graph_back
each_fails "set a function of the graph tracer" graph_state graph_back append "$TRACING/set_graph_function" "vfs_read
"
: > "$TRACING/set_graph_function"
FILE=$TRACING/set_graph_notrace BACK=
each_fails "set a function that the graph tracer leaves out" file_state file_back append "$FILE" "vfs_read
"
FILE=$F BACK="vfs_open vfs_read"
file_back
each_fails "take a name out of the filter" file_state file_back append "$F" "!vfs_read
"
set_to function current_tracer
each_fails "take a name out while tracing" file_state file_back append "$F" "!vfs_read
"
set_to nop current_tracer
filter_back
if [ -e "$TRACING/stack_trace_filter" ]; then
	FILE=$TRACING/stack_trace_filter BACK=
	# The filter changes when the file is closed, and this file of the base cannot refuse a close.
	CLOSED=y
	each_fails "set the filter of the stack tracer" file_state file_back append "$FILE" "vfs_read
"
	CLOSED=
	echo vfs_read > "$FILE"
	FILE=/proc/sys/kernel/stack_tracer_enabled BACK=0
	each_fails "switch the stack tracer on" file_state file_back write "$FILE" 1
	echo > "$TRACING/stack_trace_filter"
else
	skip "no stack tracer"
fi
FILE=$TRACING/set_ftrace_notrace_pid BACK=
each_fails "set a pid that is not traced" file_state file_back append "$FILE" 1
each_fails "set a pid" pids pids_back append "$TRACING/set_ftrace_pid" 1
set_to function current_tracer
each_fails "set a pid while tracing" pids pids_back append "$TRACING/set_ftrace_pid" 1
FILE=$TRACING/options/function-fork BACK=0
each_fails "follow the children of pids" file_state file_back write "$FILE" 1
FILE=$TRACING/options/func-no-repeats
each_fails "leave repeats out" file_state file_back write "$FILE" 1
each_fails "set an option of the tracer" option option_back write "$TRACING/options/func_stack_trace" 1
set_to nop current_tracer
if [ -e "$TRACING/function_profile_enabled" ]; then
	each_fails "switch the profiler on" profiling profiling_back write "$TRACING/function_profile_enabled" 1
else
	skip "no function profiler"
fi
if [ -e "$MODULES/ftmod_a.ko" ]; then
	each_fails "load a module" module_state module_back insmod "$MODULES/ftmod_a.ko"
	module_wanted
	set_to function current_tracer
	each_fails "load a module that is traced" module_state module_wanted insmod "$MODULES/ftmod_a.ko"
	set_to nop current_tracer
	clear_commands "$TRACING"
	echo vfs_open > "$F"
else
	skip "no ftmod_a.ko"
fi
if [ -e "$MODULES/ftrace-direct.ko" ]; then
	each_fails "register a direct caller" module_state direct_back insmod "$MODULES/ftrace-direct.ko"
else
	skip "no ftrace-direct.ko"
fi
if [ -e "$TRACING/dynamic_events" ] && echo 'p:f/kp vfs_read' >> "$TRACING/dynamic_events" &&
	echo 'f:f/fp vfs_write' >> "$TRACING/dynamic_events"; then
	each_fails "switch a kprobe on" probe_state probes_off write "$TRACING/events/f/kp/enable" 1
	each_fails "switch an fprobe on" probe_state probes_off write "$TRACING/events/f/fp/enable" 1
	echo > "$TRACING/dynamic_events"
else
	skip "no kprobe or fprobe events"
fi
echo vfs_rename:traceoff:3 >> "$F"
each_fails "set a command beside another" tracing_state second_back append "$F" "vfs_read:traceoff:3
"
works "  with memory it is set" append "$F" "vfs_read:traceoff:3
"
commands_back
E=$TRACING/events/sched/sched_switch/enable
# shellcheck disable=SC2317
event_state() {
	cat "$E"
	tracing_state
}
# Each command that is left keeps the event.
# shellcheck disable=SC2317
event_back() {
	commands_back
	[ "$(cat "$E")" = 0 ] || kept=yes
	echo vfs_rename:enable_event:sched:sched_switch >> "$F"
}
kept=no
event_back
each_fails "set a command for an event beside another" event_state event_back append "$F" "vfs_link:enable_event:sched:sched_switch
"
is "$kept" no "  and no event is kept for a function that did not get the command"
commands_back
# Behind the first hundreds are those for the files of each event.
MOST=300
each_fails "make an instance" instances no_instance mkdir "$TRACING/instances/f"
MOST=1000

if [ -e "$MODULES/ftmod_callback.ko" ]; then
	P=/sys/module/ftmod_callback/parameters
	insmod "$MODULES/ftmod_callback.ko"
	# shellcheck disable=SC2317
	hits() {
		echo '0 call' > "$P/step"
		cat "$P/hits"
		cut -d'	' -f1 "$TRACING/enabled_functions"
	}
	# shellcheck disable=SC2317
	unregister() {
		! grep -q ftmod_cb_one "$TRACING/enabled_functions" || echo '0 unregister' > "$P/step"
	}
	# shellcheck disable=SC2317
	filter_one() {
		echo '0 filter ftmod_cb_one' > "$P/step"
	}
	filter_one
	each_fails "register ops" hits unregister write "$P/step" "0 register"
	plain=$refused
	echo '0 register' > "$P/step"
	each_fails "change the filter of registered ops" hits filter_one write "$P/step" "0 filter ftmod_cb_two"
	echo '0 unregister' > "$P/step"
	filter_one
	# The counters of 64 callbacks are part of the kernel, and the next callback needs memory for its counters. Trampolines
	# that are not freed yet hold counters, too.
	settled 0 trampolines > /dev/null
	insmod "$MODULES/ftmod_many.ko"
	# The counters of a callback are free when no trampoline that calls the callback is left. Until
	# then, the next callback needs no memory for its counters.
	# shellcheck disable=SC2317
	unregister_freed() {
		unregister
		settled 1 trampolines > /dev/null
	}
	# A callback that goes while these come makes room for one more, until the next 64.
	for total in 64 128 192; do
		works "64 ops are registered" write /sys/module/ftmod_many/parameters/same 64
		settled 1 trampolines > /dev/null
		each_fails "register one more than $total ops" hits unregister_freed write "$P/step" "0 register"
		[ "$refused" -le "$plain" ] || break
	done
	base_todo at_least "$refused" $((plain + 1)) "  the counters are needed"
	rmmod ftmod_many
	echo '0 forget' > "$P/step"
else
	skip "no ftmod_callback.ko"
fi

echo "# $points allocations failed, one at a time"
echo Y > $slab/ignore-gfp-wait
echo "$verbose" > $slab/verbose
is "$(all_nops)" "all nops" "all sites are nops"
is "$(complaints)" "" "nothing bad in the kernel log"
log_mark

done_testing
