#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# The graph tracer and the profiler with functions that call each other, and that sleep.

. "$(dirname "$0")/tap.sh"
need "$TRACING/set_graph_function"

functions() {
	trace_lines | sed -n 's/.*|  *\([a-z_0-9.]*\)() *[{;].*/\1/p' | sort -u | joined
}

set_to vfs_read set_graph_function
set_to rw_verify_area set_graph_notrace
set_to function_graph current_tracer
like "$(cat "$TRACING/enabled_functions")" '^vfs_read .*	subops: \{ent:trace_graph_entry.* ret:trace_graph_return.*\}$' \
	"enabled_functions shows who traces it"
record read_bytes 5
like "$(trace_lines)" '\|  vfs_read\(\) \{' "the graph has what the function calls"
unlike " $(functions) " ' (ksys_read|rw_verify_area) ' "not its caller, nor what was left out"
set_to 1 max_graph_depth
record read_bytes 5
like "$(trace_lines)" '\|  vfs_read\(\);' "a depth of 1 is that of the function"
set_to 0 max_graph_depth
set_to nop current_tracer
set_to "" set_graph_function
set_to "" set_graph_notrace

# Two graph tracers, each with its own filter, share one ops on the call sites.
set_to vfs_read set_ftrace_filter
mkdir "$TRACING/instances/graph"
set_to vfs_write instances/graph/set_ftrace_filter
set_to function_graph current_tracer
works "a second graph tracer, in an instance" write "$TRACING/instances/graph/current_tracer" function_graph
set_to nop current_tracer
is "$(cut -d' ' -f1 "$TRACING/enabled_functions")" vfs_write "the second goes on alone"
rmdir "$TRACING/instances/graph"

[ -e "$TRACING/function_profile_enabled" ] || done_testing
stat=$TRACING/trace_stat/function0
# A function that only this script calls.
func=wakeup_flusher_threads
grep -qx $func "$TRACING/available_filter_functions" || func=iterate_supers

# at: where the call site of a function lies behind an address. With IBT an ENDBR is before it.
at() {
	addr=0x$(awk -v name="$1" '$2 == name { print $1; exit }' "$TRACING/available_filter_functions_addrs")
	printf '0x%x' $((addr - $2))
}
profiled() {
	set_to 1 function_profile_enabled
	taskset 1 "$@"
	set_to 0 function_profile_enabled
}
set_to $func set_ftrace_filter
profiled sync
like "$(cat "$stat")" "^ *$func  *1 " "the profiler says how often the function was called"
if [ -e "$TRACING/options/prof-text-offset" ]; then
	works "offsets for names" write "$TRACING/options/prof-text-offset" 1
	like "$(cat "$stat")" "^    _text\\+$(at $func 0x"$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms)")  *1 " \
		"  the offset of the call site"
	insmod "$MODULES/ftmod_a.ko"
	set_to ftmod_a_one set_ftrace_filter
	profiled sh -c 'echo "one 1" > /sys/module/ftmod_a/parameters/call'
	like "$(cat "$stat")" "^    ftmod_a\\+$(at ftmod_a_one "$(cat /sys/module/ftmod_a/sections/.text)")  *1 " \
		"  that of a module"
	set_to 0 options/prof-text-offset
	rmmod ftmod_a
fi

# How long each of two functions takes that sleep, one in the other, in microseconds.
took() {
	awk -v name="$1" '$1 == name { print int($3) }' "$stat"
}
set_to "hrtimer_nanosleep do_nanosleep" set_ftrace_filter
if [ "$(filter | wc -l)" -eq 2 ]; then
	profiled usleep 50000
	at_least "$(took hrtimer_nanosleep)" 50000 "a function's time has that of the functions it calls"
	set_to 0 options/graph-time
	profiled usleep 50000
	set_to 1 options/graph-time
	at_least "$(took do_nanosleep)" 50000 "without graph-time: where the time was spent"
	at_least 49999 "$(took hrtimer_nanosleep)" "  not in the function that called it"
else
	skip "the compiler made one function of two"
fi

done_testing
