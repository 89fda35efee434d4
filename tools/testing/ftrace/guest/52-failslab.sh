#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# Each memory allocation of an operation that failslab can refuse fails once. Either the operation
# is refused and nothing has changed, or the operation has worked in full without that memory. Here
# are operations of which code outside the core does a part; native/tests has all others.
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
# SAID	the operation may be carried out in part, if the kernel log says so in these words
# FREE	the operation itself needs no memory: it is refused as often as one that only opens the file
MOST=1000
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
	base_todo is "$lost$partly" "" "  what was not refused was done in full"
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
probe_state() {
	cat "$TRACING/dynamic_events" "$TRACING"/events/f/*/enable
	tracing_state
}
probes_off() {
	for file in "$TRACING"/events/f/*/enable; do
		echo 0 > "$file"
	done
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
each_fails "switch the graph tracer on" tracing_state tracer_off write "$TRACING/current_tracer" function_graph
base_todo works "  with memory the graph tracer starts" write "$TRACING/current_tracer" function_graph
tracer_off
if [ -e "$TRACING/set_graph_function" ]; then
	set_to function_graph current_tracer
	each_fails "append a name to the filter of the running graph tracer" tracing_state filter_back append "$F" "vfs_read
"
	FREE=$(idle "$TRACING/current_tracer")
	each_fails "switch the graph tracer off" tracing_state graph_on write "$TRACING/current_tracer" nop
	FREE=
	set_to nop current_tracer
else
	skip "no graph tracer"
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
