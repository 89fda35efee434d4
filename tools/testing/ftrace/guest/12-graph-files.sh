#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# set_graph_function, set_graph_notrace and max_graph_depth.

. "$(dirname "$0")/tap.sh"
need "$TRACING/set_graph_function"

G=$TRACING/set_graph_function
N=$TRACING/set_graph_notrace
all='#### all functions enabled ####'
none='#### no functions disabled ####'

functions() {
	trace_lines | sed -n 's/.*|  *\([a-z_0-9.]*\)() *[{;].*/\1/p' | sort -u | joined
}

is "$(cat "$G")" "$all" "at first a graph starts anywhere"
is "$(cat "$N")" "$none" "at first a graph leaves nothing out"
works "a name" write "$G" vfs_read
is "$(cat "$G")" vfs_read "  reads back"

set_to function_graph current_tracer
like "$(cat "$TRACING/enabled_functions")" '^vfs_read .*	subops: \{ent:trace_graph_entry.* ret:trace_graph_return.*\}$' \
	"enabled_functions shows who traces it"
record read_bytes 5
like " $(functions) " ' vfs_read ' "the function is graphed"
like "$(trace_lines)" '\|  vfs_read\(\) \{' "the graph has what the function calls"
unlike " $(functions) " ' ksys_read ' "the graph does not have the caller of the function"
works "something left out" write "$N" rw_verify_area
record read_bytes 5
like " $(functions) " ' vfs_read ' "the graph goes on"
unlike " $(functions) " ' rw_verify_area ' "  without it"
set_to "" set_graph_notrace
is "$(cat "$N")" "$none" "an emptied set_graph_notrace leaves nothing out"
set_to 1 max_graph_depth
record read_bytes 5
like "$(trace_lines)" '\|  vfs_read\(\);' "a depth of 1 is that of the function"
unlike "$(trace_lines)" '\|  vfs_read\(\) \{' "a depth of 1 has no call below the function"
set_to 0 max_graph_depth
set_to nop current_tracer

# Two graph tracers, each with its own filter, share one ops on the call sites.
enabled() {
	cut -d' ' -f1 "$TRACING/enabled_functions" | sort | joined
}
set_to "" set_graph_function
set_to vfs_read set_ftrace_filter
mkdir "$TRACING/instances/graph"
set_to vfs_write instances/graph/set_ftrace_filter
set_to function_graph current_tracer
works "a second graph tracer, in an instance" write "$TRACING/instances/graph/current_tracer" function_graph
is "$(enabled)" "vfs_read vfs_write" "  both have their functions"
set_to nop current_tracer
is "$(enabled)" vfs_write "the second goes on alone"
set_to nop instances/graph/current_tracer
rmdir "$TRACING/instances/graph"
set_to "" set_ftrace_filter
set_to vfs_read set_graph_function

# An emptied filter
exec 9> "$G"
exec 9>&-
is "$(cat "$G")" "$all" "overwritten with nothing, a graph starts anywhere"

# The functions of a module leave with the module.
for file in set_graph_function set_graph_notrace; do
	insmod "$MODULES/ftmod_a.ko"
	works "a function of a module" write "$TRACING/$file" "ftmod_a_one vfs_read"
	rmmod ftmod_a
	insmod "$MODULES/ftmod_a.ko"
	base_todo is "$(cat "$TRACING/$file")" vfs_read "  has left $file when its module comes back"
	works "only a function of a module" write "$TRACING/$file" ftmod_a_one
	rmmod ftmod_a
	base_todo is "$(cat "$TRACING/$file")" "" "  leaves with the module, and does not leave all functions"
	works "  and the file can be written" write "$TRACING/$file" vfs_read
	is "$(cat "$TRACING/$file")" vfs_read "  as before"
	set_to "" $file
done

# The profiler
if [ -e "$TRACING/function_profile_enabled" ]; then
	stat=$TRACING/trace_stat/function0
	# A function that only this script calls.
	func=wakeup_flusher_threads
	grep -qx $func "$TRACING/available_filter_functions" || func=iterate_supers
	set_to "vfs_read $func" set_ftrace_filter
	works "the profiler" write "$TRACING/function_profile_enabled" 1
	taskset 1 head -c 1 /proc/version > /dev/null
	taskset 1 sync
	set_to 0 function_profile_enabled
	like "$(cat "$stat")" '^ *vfs_read  *[1-9]' "  counts the function"
	like "$(cat "$stat")" "^ *$func  *1 " "  says how often the function was called"
	if [ -e "$TRACING/options/prof-text-offset" ]; then
		# Of the call site; with IBT an ENDBR is before it.
		at=0x$(awk -v name=$func '$2 == name { print $1; exit }' "$TRACING/available_filter_functions_addrs")
		text=0x$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms)
		works "offsets for names" write "$TRACING/options/prof-text-offset" 1
		like "$(cat "$stat")" "^    _text\\+$(printf '0x%x' $((at - text)))  *1 " "the offset of the call site"
		insmod "$MODULES/ftmod_a.ko"
		set_to ftmod_a_one set_ftrace_filter
		set_to 1 function_profile_enabled
		taskset 1 sh -c 'echo "one 1" > /sys/module/ftmod_a/parameters/call'
		set_to 0 function_profile_enabled
		at=0x$(awk '$2 == "ftmod_a_one" { print $1 }' "$TRACING/available_filter_functions_addrs")
		text=$(cat /sys/module/ftmod_a/sections/.text)
		like "$(cat "$stat")" "^    ftmod_a\\+$(printf '0x%x' $((at - text)))  *1 " "  has the call site of a module"
		set_to 0 options/prof-text-offset
		like "$(cat "$stat")" '^  ftmod_a_one  *1 ' "  has the name of the module's function again"
		rmmod ftmod_a
		set_to "vfs_read $func" set_ftrace_filter
		set_to 1 function_profile_enabled
		taskset 1 sync
		set_to 0 function_profile_enabled
	else
		skip "no prof-text-offset"
	fi
	set_to 1000000000 tracing_thresh
	unlike "$(cat "$stat")" '^ *vfs_read ' "what is faster than tracing_thresh is left out"
	set_to 0 tracing_thresh
	set_to 1 function_profile_enabled
	set_to 0 function_profile_enabled
	unlike "$(cat "$stat")" "^ *$func " "the next run begins without the counts of the last"

	# How long each of two functions takes that sleep, one in the other, in microseconds.
	took() {
		awk -v name="$1" '$1 == name { print int($3) }' "$stat"
	}
	set_to "hrtimer_nanosleep do_nanosleep" set_ftrace_filter
	if [ "$(filter | wc -l)" -eq 2 ]; then
		set_to 1 function_profile_enabled
		taskset 1 usleep 50000
		set_to 0 function_profile_enabled
		at_least "$(took hrtimer_nanosleep)" 50000 "a function's time has that of the functions it calls"
		set_to 0 options/graph-time
		set_to 1 function_profile_enabled
		taskset 1 usleep 50000
		set_to 0 function_profile_enabled
		set_to 1 options/graph-time
		at_least "$(took do_nanosleep)" 50000 "without graph-time: where the time was spent"
		at_least 49999 "$(took hrtimer_nanosleep)" "  not in the function that called it"
	else
		skip "the compiler made one function of two"
	fi
	set_to "" set_ftrace_filter
fi

done_testing
