# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the scripts source in which an allocation of an operation fails: each allocation of the
# operation once. Either the operation is refused and nothing has changed, or the operation has
# worked in full without that memory. Also what these scripts do alike: the state that must not
# change, and how to undo an operation.

F=$TRACING/set_ftrace_filter

# The core may have to report the failure itself, and the tracepoints of the base warn about theirs.
complaints() {
	kernel_log | bad_news | grep -vE 'Call Trace|WARNING: .*kernel/tracepoint.c:'
}

# each_fails NAME STATE RESTORE VERB...: each allocation of VERB fails once. STATE prints what must
# not change, RESTORE undoes a success. No operation here needs MOST allocations.
# HOW	the verb of ftio: "nth" for what failslab refuses, "refuse" for what ftmod_refuse refuses
# CLOSED	whether the operation was carried out, nobody can know
# SAID	the operation may be carried out in part, if the kernel log says so in these words
# FREE	the operation itself needs no memory: it is refused as often as one that only opens the file
MOST=1000
CLOSED=
SAID=
FREE=
HOW=nth
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
		ftio $HOW $n "$@" > "$TMP.out" 2>&1
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
	while n=$((n + 1)) && ftio $HOW $n write "$1" nosuch > "$TMP.out"; [ $? -le 1 ]; do
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
		got=$(ftio $HOW $n "$@" 2> /dev/null)
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

R=/sys/module/ftmod_refuse/parameters
# shellcheck disable=SC2317 # called through each_fails
tracing_state() {
	cat "$TRACING/current_tracer" "$F" "$TRACING/set_ftrace_notrace" | sed 's/:count=.*//'
	cut -d'	' -f1 "$TRACING/enabled_functions"
}
# shellcheck disable=SC2317
filter_back() {
	echo vfs_open > "$F"
}
# The same, shorter. The order of a filter depends on how much memory there was for its table.
# shellcheck disable=SC2317
large_state() {
	tracing_state | sort | md5sum
}
# shellcheck disable=SC2317
tracer_off() {
	echo nop > "$TRACING/current_tracer"
}
# shellcheck disable=SC2317
tracer_on() {
	echo function > "$TRACING/current_tracer"
}
# shellcheck disable=SC2317
graph_on() {
	echo function_graph > "$TRACING/current_tracer"
}
# attach N VERB: the program torturer attaches a BPF program and detaches it, again and again for up
# to a second. The Nth allocation fails. Prints how many are left, and what torturer prints: "@at
# all", how many programs there were, how many were refused. A task keeps its number over an exec.
attach() {
	echo "all $2 0 vfs_read" > "$TMP.lines"
	sh -c "echo $1 > $R/nth; exec torturer $TMP.lines all 1" | tail -n 1 > "$TMP.said"
	echo "$(cat "$R/nth") $(cat "$TMP.said")"
	echo 0 > "$R/nth"
}
# attached VERB: each allocation that ftmod_refuse can refuse fails once while a program is attached.
# failslab refuses none here: BPF allocates when it detaches a program, too. If that allocation
# fails, BPF frees what is still attached.
attached() {
	before=$(tracing_state)
	# shellcheck disable=SC2046 # several words
	set -- "$1" $(attach 1000000 "$1")
	most=$(((1000000 - $2) / $5))
	n=0 refused=0 wrong=''
	while [ $n -lt $most ]; do
		n=$((n + 1))
		# shellcheck disable=SC2046 # several words
		set -- "$1" $(attach $n "$1")
		# What torturer itself cannot do without ends it.
		[ $# -eq 6 ] || set -- "$1" 0 @at all 2 1
		[ "$2" = 0 ] && [ "$6" -le 1 ] && [ "$5" -ge 2 ] || wrong="$wrong $n:$*"
		refused=$((refused + $6))
		[ "$(tracing_state)" = "$before" ] || wrong="$wrong $n:changed"
	done
	points=$((points + n))
	is "$wrong" "" "attach a BPF program by $1: $n allocations; $refused are needed; nothing changed, the next is attached"
	at_least $refused 1 "  a failure was seen"
	is "$(complaints)" "" "  without a complaint"
}
# shellcheck disable=SC2317
commands_back() {
	clear_commands "$TRACING"
}
# shellcheck disable=SC2317
glob_off() {
	ftio append "$F" '!v*:traceoff
' > /dev/null
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
many_state() {
	cut -d' ' -f1 /proc/modules
	sed -n '1s/ .*//p' "$TRACING/dyn_ftrace_total_info"
	awk '/\[ftmod_functions\]/ { n++ } END { print n, NR }' "$TRACING/enabled_functions"
}
# shellcheck disable=SC2317
many_back() {
	[ ! -d /sys/module/ftmod_functions ] || rmmod ftmod_functions
}
# shellcheck disable=SC2317
many_there() {
	[ -d /sys/module/ftmod_functions ] || insmod "$MODULES/ftmod_functions.ko"
}
# shellcheck disable=SC2317
module_back() {
	[ ! -d /sys/module/ftmod_a ] || rmmod ftmod_a
}
# The word stays, and waits again when the module has gone.
# shellcheck disable=SC2317
module_wanted() {
	module_back
	grep -q ':mod:' "$F" || echo '*:mod:ftmod_a' >> "$F"
}
# The functions of a module leave the filter with the module.
# shellcheck disable=SC2317
module_there() {
	[ -d /sys/module/ftmod_a ] || insmod "$MODULES/ftmod_a.ko"
	echo 'ftmod_a_*' > "$F"
	echo ftmod_a_one:traceoff >> "$F"
	echo ftmod_a_two:stacktrace:5 >> "$F"
}
# shellcheck disable=SC2317
sample_back() {
	[ ! -d /sys/module/ftrace_direct ] || rmmod ftrace_direct
}
# shellcheck disable=SC2317
direct_filter() {
	echo 'ftmod_direct_*' > "$F"
}
# What the direct callers see, and which functions are on.
D=/sys/module/ftmod_direct/parameters
# shellcheck disable=SC2317
direct_state() {
	cat "$D/calls"
	tracing_state
}
# shellcheck disable=SC2317
direct_off() {
	[ "$(cat "$D/calls")" = "0 0 right" ] || echo unregister > "$D/step"
}
# direct_on: the direct callers as before, the first of the two trampolines. The variable direct
# says which.
# shellcheck disable=SC2317,SC2154
direct_on() {
	case $(cat "$D/calls") in
	0\ 0\ *) echo "$direct" > "$D/step" ;;
	0\ *) echo modify > "$D/step" ;;
	esac
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
# shellcheck disable=SC2317,SC2153
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
# shellcheck disable=SC2317
instance_back() {
	[ -d "$TRACING/instances/f" ] || mkdir "$TRACING/instances/f"
}
# shellcheck disable=SC2317
snapshot_state() {
	sed 's/:count=.*//' "$TRACING/instances/f/set_ftrace_filter"
	cut -d'	' -f1 "$TRACING/enabled_functions"
}
# shellcheck disable=SC2317
snapshot_back() {
	clear_commands "$TRACING/instances/f"
	echo 0 > "$TRACING/instances/f/snapshot"
}
# An instance keeps the memory for repeats until the instance goes.
# shellcheck disable=SC2317
instance_fresh() {
	if [ -d "$TRACING/instances/f" ]; then
		echo 0 > "$TRACING/instances/f/options/func-no-repeats"
		echo nop > "$TRACING/instances/f/current_tracer"
		rmdir "$TRACING/instances/f"
	fi
	mkdir "$TRACING/instances/f"
	echo vfs_open > "$TRACING/instances/f/set_ftrace_filter"
	echo function > "$TRACING/instances/f/current_tracer"
}
# shellcheck disable=SC2317
instance_state() {
	cat "$TRACING/instances/f/options/func-no-repeats" "$TRACING/instances/f/current_tracer"
	cut -d'	' -f1 "$TRACING/enabled_functions"
}

P=/sys/module/ftmod_callback/parameters
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
# The counters of a callback are free when no trampoline that calls the callback is left. Until
# then, the next callback needs no memory for its counters.
# shellcheck disable=SC2317
unregister_freed() {
	unregister
	settled "$trampolines" trampolines > /dev/null
}
# shellcheck disable=SC2317
filter_one() {
	echo '0 filter ftmod_cb_one' > "$P/step"
}
# The counters of 64 callbacks are part of the kernel, and the next callback needs memory for its
# counters. Trampolines that are not freed yet hold counters, too.
one_more() {
	# How many trampolines are not of the ops here.
	others=$1
	filter_one
	each_fails "register ops" hits unregister write "$P/step" "0 register"
	plain=$refused
	trampolines=$(settled "$others" trampolines)
	insmod "$MODULES/ftmod_many.ko"
	trampolines=$((trampolines + 1))
	# A callback that goes while these come makes room for one more, until the next 64.
	for more in $((64 - others)) 1 1 1; do
		works "$more ops are registered" write /sys/module/ftmod_many/parameters/same $more
		settled "$trampolines" trampolines > /dev/null
		each_fails "register one more" hits unregister_freed write "$P/step" "0 register"
		[ "$refused" -le "$plain" ] || break
	done
	base_todo at_least "$refused" $((plain + 1)) "  the counters are needed"
	rmmod ftmod_many
}
