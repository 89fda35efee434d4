#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# Each memory allocation of an operation that failslab can refuse fails once. Either the operation
# is refused and nothing has changed, or the operation has worked in full without that memory. Here
# are operations of which the base does a part; those of the core alone are in native/tests.
#
# shellcheck disable=SC2317 # most functions are called through each_fails

. "$(dirname "$0")/tap.sh"

slab=/sys/kernel/debug/failslab
need $slab/ignore-gfp-wait /proc/self/fail-nth

F=$TRACING/set_ftrace_filter

# The core may have to report the failure itself, and the tracepoints of the base warn about theirs.
complaints() {
	kernel_log | bad_news | grep -vE 'Call Trace|WARNING: .*kernel/tracepoint.c:'
}

# each_fails NAME STATE RESTORE VERB...: each allocation of VERB fails once. STATE prints what must
# not change, RESTORE undoes a success. No operation here needs MOST allocations.
# CLOSED	whether the operation was carried out, nobody can know
# SAID	the operation may be carried out in part, if the kernel log says so in these words
# FREE	the operation itself needs no memory: it is refused as often as one that only opens the file
MOST=1000
CLOSED=
SAID=
FREE=
points=0
each_fails() {
	name=$1 state=$2 restore=$3
	shift 3
	before=$($state)
	ftio "$@" > "$TMP.out" 2>&1
	full=$($state)
	$restore
	n=0 refused=0 changed='' lost='' partly='' degraded=0
	while n=$((n + 1)) && [ $n -lt $MOST ]; do
		[ -z "$SAID" ] || echo "ftrace-test: allocation $points+$n" > /dev/kmsg
		ftio nth $n "$@" > "$TMP.out" 2>&1
		status=$?
		case $status in
		0 | 4)	after=$($state)
			if [ "$after" = "$before" ]; then
				lost="$lost $n"
			elif [ "$after" != "$full" ] && [ -n "$SAID" ] && said; then
				degraded=$((degraded + 1))
			elif [ "$after" != "$full" ]; then
				partly="$partly $n"
			fi ;;
		1)	refused=$((refused + 1))
			[ "$($state)" = "$before" ] || changed="$changed $n:$(cat "$TMP.out")" ;;
		esac
		[ "$status" -le 1 ] || break
		$restore
	done
	$restore
	[ "$($state)" = "$before" ] || changed="$changed afterwards"
	points=$((points + n - 1))
	[ $MOST -lt 1000 ] || is "$status" 4 "$name: all of its allocations were tried"
	is "$changed" "" "$name: $((n - 1)) allocations; $refused are needed; the operation is refused and nothing changed"
	[ -n "$CLOSED" ] || base_todo is "$lost$partly" "" "  what was not refused was done in full"
	[ -z "$SAID" ] || base_todo at_least $degraded 1 "  or in part $degraded times, and the log says so"
	if [ -n "$FREE" ]; then
		base_todo is "$refused" "$FREE" "  the operation itself needs no memory"
	else
		at_least "$refused" 1 "  a failure was seen"
	fi
	is "$(complaints)" "" "  without a complaint"
}

# said: has the kernel said SAID since the operation began?
said() {
	dmesg | sed "1,/ftrace-test: allocation $points+$n\$/d" | grep -qE "$SAID"
}

# idle FILE: how many allocations a write needs that FILE does not understand.
idle() {
	n=0 idle=0
	while n=$((n + 1)) && ftio nth $n write "$1" nosuch > "$TMP.out"; [ $? -le 1 ]; do
		[ "$(cat "$TMP.out")" != ENOMEM ] || idle=$((idle + 1))
	done
	echo $idle
}

# each_shows NAME STATE VERB...: each allocation of VERB fails once. VERB prints something and
# changes nothing. It is refused, or prints as much as with memory.
each_shows() {
	name=$1 state=$2
	shift 2
	before=$($state)
	whole=$(ftio "$@")
	n=0 refused=0 changed='' partly=''
	while n=$((n + 1)) && [ $n -lt 1000 ]; do
		got=$(ftio nth $n "$@" 2> /dev/null)
		status=$?
		case $status in
		0 | 4)	[ "$got" = "$whole" ] || partly="$partly $n:$got" ;;
		1 | 3)	refused=$((refused + 1)) ;;
		esac
		[ "$($state)" = "$before" ] || changed="$changed $n:$got"
		[ "$status" != 4 ] || break
	done
	points=$((points + n - 1))
	is "$status" 4 "$name: all of its allocations were tried"
	is "$changed" "" "$name: $((n - 1)) allocations; $refused are needed; nothing changed"
	base_todo is "$partly" "" "  all is shown, or an error: $whole"
	at_least "$refused" 1 "  a failure was seen"
	is "$(complaints)" "" "  without a complaint"
}

tracing_state() {
	cat "$TRACING/current_tracer" "$F" "$TRACING/set_ftrace_notrace" | sed 's/:count=.*//'
	sed 's/\(	\| ->\).*//' "$TRACING/enabled_functions"
}
filter_back() {
	echo vfs_open > "$F"
}
tracer_off() {
	echo nop > "$TRACING/current_tracer"
}
graph_on() {
	echo function_graph > "$TRACING/current_tracer"
}
commands_back() {
	clear_commands "$TRACING"
}
graph_state() {
	cat "$TRACING/set_graph_function"
	tracing_state
}
graph_back() {
	echo vfs_open > "$TRACING/set_graph_function"
}
option() {
	cat "$TRACING/options/func_stack_trace"
	tracing_state
}
option_back() {
	echo 0 > "$TRACING/options/func_stack_trace"
}
profiling() {
	cat "$TRACING/function_profile_enabled"
	tracing_state
}
profiling_back() {
	echo 0 > "$TRACING/function_profile_enabled"
}
module_state() {
	cut -d' ' -f1 /proc/modules
	sed -n '1s/ .*//p' "$TRACING/dyn_ftrace_total_info"
	tracing_state | grep -v ':mod:'
}
module_back() {
	[ ! -d /sys/module/ftmod_a ] || rmmod ftmod_a
}
# The word stays, and waits again when the module has gone.
module_wanted() {
	module_back
	grep -q ':mod:' "$F" || echo '*:mod:ftmod_a' >> "$F"
}
# The functions of a module leave the filter with the module.
module_there() {
	[ -d /sys/module/ftmod_a ] || insmod "$MODULES/ftmod_a.ko"
	echo 'ftmod_a_*' > "$F"
	echo ftmod_a_one:traceoff >> "$F"
	echo ftmod_a_two:stacktrace:5 >> "$F"
}
sample_back() {
	[ ! -d /sys/module/ftrace_direct ] || rmmod ftrace_direct
}
direct_filter() {
	echo 'ftmod_direct_*' > "$F"
}
# What the direct callers see, and which functions are on.
D=/sys/module/ftmod_direct/parameters
direct_state() {
	cat "$D/calls"
	tracing_state
}
direct_off() {
	[ "$(cat "$D/calls")" = "0 0 right" ] || echo unregister > "$D/step"
}
# direct_on: the direct callers as before, the first of the two trampolines. The variable direct
# says which.
direct_on() {
	case $(cat "$D/calls") in
	0\ 0\ *) echo "$direct" > "$D/step" ;;
	0\ *) echo modify > "$D/step" ;;
	esac
}
probe_state() {
	cat "$TRACING/dynamic_events" "$TRACING"/events/f/*/enable
	tracing_state
}
probes_off() {
	for file in "$TRACING"/events/f/*/enable; do
		echo 0 > "$file"
	done
}
# For other files: the operation changes FILE, and BACK undoes the change.
file_state() {
	cat "$FILE"
	tracing_state
}
file_back() {
	echo "$BACK" > "$FILE"
}
instances() {
	ls "$TRACING/instances"
	sed 's/\(	\| ->\).*//' "$TRACING/enabled_functions"
}
no_instance() {
	[ ! -d "$TRACING/instances/f" ] || rmdir "$TRACING/instances/f"
}
instance_back() {
	[ -d "$TRACING/instances/f" ] || mkdir "$TRACING/instances/f"
}
snapshot_state() {
	sed 's/:count=.*//' "$TRACING/instances/f/set_ftrace_filter"
	sed 's/\(	\| ->\).*//' "$TRACING/enabled_functions"
}
snapshot_back() {
	clear_commands "$TRACING/instances/f"
	echo 0 > "$TRACING/instances/f/snapshot"
}

verbose=$(cat $slab/verbose)
echo 0 > $slab/verbose
echo N > $slab/ignore-gfp-wait

echo vfs_open > "$F"
each_fails "append a name to the filter" tracing_state filter_back append "$F" "vfs_read
"
each_fails "set a command" tracing_state commands_back append "$F" "vfs_read:traceoff:3
"
each_fails "switch the tracer on" tracing_state tracer_off write "$TRACING/current_tracer" function
if [ -e "$TRACING/flight_size_kb" ]; then
	each_fails "switch the flight recorder on" tracing_state tracer_off write "$TRACING/current_tracer" flight
	tracer_off
fi
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
filter_back
if [ -e "$TRACING/set_graph_function" ]; then
	graph_back
	set_to function_graph current_tracer
	each_fails "set a function of the running graph tracer" graph_state graph_back append "$TRACING/set_graph_function" "vfs_read
"
	FILE=$TRACING/set_graph_notrace BACK=
	each_fails "leave a function out of the running graph tracer" file_state file_back append "$FILE" "vfs_read
"
	each_fails "append a name to the filter of the running graph tracer" tracing_state filter_back append "$F" "vfs_read
"
	FREE=$(idle "$TRACING/current_tracer")
	each_fails "switch the graph tracer off" tracing_state graph_on write "$TRACING/current_tracer" nop
	FREE=
	set_to nop current_tracer
	: > "$TRACING/set_graph_function"
else
	skip "no graph tracer"
fi
if [ -e "$TRACING/set_graph_function" ]; then
	# Two graph tracers. When one of them goes, the other one gets its own functions only. A third
	# user of the functions makes the removal need new classes.
	mkdir "$TRACING/instances/second" "$TRACING/instances/third"
	second=$TRACING/instances/second/current_tracer
	echo 'vfs_write' > "$TRACING/instances/second/set_ftrace_filter"
	echo 'vfs_w*' > "$TRACING/instances/third/set_ftrace_filter"
	echo function > "$TRACING/instances/third/current_tracer"
	set_to vfs_read set_ftrace_filter
	set_to function_graph current_tracer
	n=0 wrong='' kept=0
	while n=$((n + 1)) && [ $n -lt 400 ]; do
		echo function_graph > "$second"
		ftio nth $n write "$second" nop > "$TMP.out" 2>&1
		status=$?
		[ "$(cat "$second")" = nop ] || continue
		! grep -q '^vfs_write (2)' "$TRACING/enabled_functions" || kept=$((kept + 1))
		set_to "" trace
		read_bytes 3
		! trace_lines | grep -q vfs_write || wrong="$wrong $n"
		[ $status -le 1 ] || break
	done
	is "$status" 4 "one of two graph tracers off: $((n - 1)) allocations fail"
	is "$wrong" "" "  the other one traces its own functions only"
	at_least $kept 1 "  also where vfs_write stayed enabled"
	echo function_graph > "$second"
	echo nop > "$second"
	like "$(cat "$TRACING/enabled_functions")" '^vfs_write \(1\)' "  with memory, the next change takes the rest"
	set_to nop current_tracer
	is "$(grep -c trace_graph_entry "$TRACING/enabled_functions")" 0 "  and none is left"
	rmdir "$TRACING/instances/second"
	echo nop > "$TRACING/instances/third/current_tracer"
	rmdir "$TRACING/instances/third"
	is "$(complaints)" "" "  without a complaint"
	filter_back
fi
if [ -e "$TRACING/stack_trace_filter" ]; then
	FILE=$TRACING/stack_trace_filter BACK=
	# The filter changes when the file is closed, and this file of the base cannot refuse a close.
	CLOSED=y
	each_fails "set the filter of the stack tracer" file_state file_back append "$FILE" "vfs_read
"
	CLOSED=
	echo vfs_read > "$FILE"
	FILE=/proc/sys/kernel/stack_tracer_enabled BACK=0
	# The switch of the base does not look at the error of the registration.
	CLOSED=y
	each_fails "switch the stack tracer on" file_state file_back write "$FILE" 1
	CLOSED=
	echo > "$TRACING/stack_trace_filter"
else
	skip "no stack tracer"
fi
set_to function current_tracer
FILE=$TRACING/options/function-fork BACK=0
each_fails "follow the children of pids" file_state file_back write "$FILE" 1
FILE=$TRACING/options/func-no-repeats
each_fails "leave repeats out" file_state file_back write "$FILE" 1
each_fails "set an option of the tracer" option option_back write "$TRACING/options/func_stack_trace" 1
set_to nop current_tracer
if [ -e "$TRACING/function_profile_enabled" ]; then
	each_fails "switch the profiler on" profiling profiling_back write "$TRACING/function_profile_enabled" 1
	set_to 1 function_profile_enabled
	poke
	set_to 0 function_profile_enabled
	each_shows "read the profile" profiling sum "$TRACING/trace_stat/function0"
else
	skip "no function profiler"
fi
if [ -e "$MODULES/ftmod_a.ko" ]; then
	SAID='ftrace: ftmod_a: no memory for its call sites, not traced'
	each_fails "load a module" module_state module_back insmod "$MODULES/ftmod_a.ko"
	module_wanted
	set_to function current_tracer
	SAID='ftrace: ftmod_a: .*(not traced|a filter that waited for it is not applied)'
	each_fails "load a module that is traced" module_state module_wanted insmod "$MODULES/ftmod_a.ko"
	SAID=
	set_to nop current_tracer
	clear_commands "$TRACING"
	module_there
	set_to function current_tracer
	FREE=0
	each_fails "unload a module that is traced and has commands" module_state module_there rmmod ftmod_a
	FREE=
	set_to nop current_tracer
	clear_commands "$TRACING"
	module_back
	echo vfs_open > "$F"
else
	skip "no ftmod_a.ko"
fi
if [ -e "$MODULES/ftrace-direct.ko" ]; then
	SAID='ftrace: ftrace_direct: .*not traced'
	each_fails "load a module with a direct caller" module_state sample_back insmod "$MODULES/ftrace-direct.ko"
	SAID=
else
	skip "no ftrace-direct.ko"
fi
if [ -e "$MODULES/ftmod_direct.ko" ] && insmod "$MODULES/ftmod_direct.ko"; then
	for direct in one all; do
		each_fails "register a direct caller of $direct" direct_state direct_off write "$D/step" $direct
		direct_on
		each_fails "modify a direct caller of $direct" direct_state direct_on write "$D/step" modify
		FREE=$(idle "$D/step")
		each_fails "unregister a direct caller of $direct" direct_state direct_on write "$D/step" unregister
		FREE=
		direct_off
	done
	echo 'ftmod_direct_*' > "$F"
	set_to function current_tracer
	each_fails "register a direct caller of traced functions" direct_state direct_off write "$D/step" all
	direct_on
	each_fails "modify a direct caller of traced functions" direct_state direct_on write "$D/step" modify
	each_fails "trace more functions beside a direct caller" direct_state direct_filter append "$F" "vfs_read
"
	FREE=$(idle "$D/step")
	each_fails "unregister a direct caller of traced functions" direct_state direct_on write "$D/step" unregister
	FREE=
	set_to nop current_tracer
	each_fails "trace functions of a direct caller" direct_state tracer_off write "$TRACING/current_tracer" function
	direct_off
	rmmod ftmod_direct
	filter_back
else
	skip "no ftmod_direct.ko"
fi
L=/sys/kernel/livepatch/livepatch_sample
patched() {
	ls /sys/kernel/livepatch
	grep -v ^Mem /proc/cmdline
	module_state
}
# A patch leaves when no task is in the old or the new function.
patch_back() {
	[ ! -e "$L/enabled" ] || echo 0 > "$L/enabled"
	while [ -d /sys/module/livepatch_sample ] && ! rmmod livepatch_sample 2> /dev/null; do
		usleep 20000
	done
}
if [ -e "$MODULES/livepatch-sample.ko" ]; then
	SAID='ftrace: livepatch_sample: .*not traced'
	each_fails "load a livepatch" patched patch_back insmod "$MODULES/livepatch-sample.ko"
	SAID=
else
	skip "no livepatch-sample.ko"
fi
if [ -e "$TRACING/events/ftrace/function/id" ]; then
	id=$(cat "$TRACING/events/ftrace/function/id")
	each_shows "count a function with perf" tracing_state perf "$id" "ip == vfs_rea* && ip != vfs_readv"
else
	skip "no event of perf"
fi
if [ -e "$TRACING/dynamic_events" ] && echo 'p:f/kp vfs_read' >> "$TRACING/dynamic_events" &&
	echo 'f:f/fp vfs_write' >> "$TRACING/dynamic_events"; then
	each_fails "switch a kprobe on" probe_state probes_off write "$TRACING/events/f/kp/enable" 1
	each_fails "switch an fprobe on" probe_state probes_off write "$TRACING/events/f/fp/enable" 1
	echo > "$TRACING/dynamic_events"
else
	skip "no kprobe or fprobe events"
fi
E=$TRACING/events/sched/sched_switch/enable
event_state() {
	cat "$E"
	tracing_state
}
# Each command that is left keeps the event.
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
mkdir "$TRACING/instances/f"
each_fails "remove an instance" instances instance_back rmdir "$TRACING/instances/f"
if [ -e "$TRACING/snapshot" ]; then
	# The fewer pages a snapshot has, the fewer allocations it makes.
	echo 4 > "$TRACING/instances/f/buffer_size_kb"
	each_fails "set a command for a snapshot" snapshot_state snapshot_back \
		append "$TRACING/instances/f/set_ftrace_filter" "vfs_read:snapshot:3
"
else
	skip "no snapshot"
fi
no_instance

echo "# $points allocations failed, one at a time"
echo Y > $slab/ignore-gfp-wait
echo "$verbose" > $slab/verbose
is "$(all_nops)" "all nops" "all sites are nops"
is "$(complaints)" "" "nothing bad in the kernel log"
log_mark

done_testing
