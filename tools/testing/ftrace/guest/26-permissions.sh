#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# Who may do what with the files of the function tracer. A mount option can open the directory for
# others, but not the files.

. "$(dirname "$0")/tap.sh"

# modes MODE FILE...: mode and owners of files, as on the base. What a kernel does not have is left out.
modes() {
	mode=$1
	shift
	for file; do
		[ ! -e "$TRACING/$file" ] || is "$(stat -c '%a %u %g' "$TRACING/$file")" "$mode 0 0" "mode and owners of $file"
	done
}

mkdir "$TRACING/instances/modes"
for dir in . instances/modes; do
	modes 640 $dir/set_ftrace_filter $dir/set_ftrace_notrace $dir/set_ftrace_pid $dir/set_ftrace_notrace_pid \
		$dir/current_tracer $dir/options/func_stack_trace $dir/options/func-no-repeats $dir/options/function-fork
done
rmdir "$TRACING/instances/modes"
modes 640 set_graph_function set_graph_notrace max_graph_depth function_profile_enabled stack_trace_filter \
	trace_stat/function0
modes 440 available_filter_functions available_filter_functions_addrs enabled_functions touched_functions \
	dyn_ftrace_total_info stack_trace
modes 750 trace_stat

set_to vfs_read set_ftrace_filter
fails_with EACCES "an unprivileged user cannot get at the directory" nobody read "$TRACING/set_ftrace_filter"
mount -o remount,mode=755 "$TRACING"
for file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid current_tracer tracing_on; do
	fails_with EACCES "an unprivileged user cannot write $file" nobody write "$TRACING/$file" 1
	fails_with EACCES "  nor append" nobody append "$TRACING/$file" 1
	fails_with EACCES "  nor read" nobody read "$TRACING/$file"
done
for file in available_filter_functions available_filter_functions_addrs enabled_functions touched_functions \
	dyn_ftrace_total_info trace; do
	fails_with EACCES "an unprivileged user cannot read $file" nobody read "$TRACING/$file"
done
fails_with EACCES "an unprivileged user makes no instance" nobody mkdir "$TRACING/instances/x"
mount -o remount,mode=700 "$TRACING"
fails_with EACCES "an unprivileged user cannot set kernel.ftrace_enabled" nobody write /proc/sys/kernel/ftrace_enabled 0
is "$(cat "$TRACING/set_ftrace_filter")" vfs_read "the filter is what root made it"
is "$(cat "$TRACING/current_tracer") $(cat "$TRACING/tracing_on")" "nop 1" "the tracer and tracing_on are what root made them"

done_testing
