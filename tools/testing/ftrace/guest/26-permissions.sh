#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Who may do what with the files. All files belong to root. A mount option can open the directory
# for others, but not the files.

. "$(dirname "$0")/tap.sh"

modes=
for file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid current_tracer tracing_on \
	trace available_filter_functions available_filter_functions_addrs enabled_functions touched_functions \
	dyn_ftrace_total_info available_tracers; do
	modes="$modes$file $(stat -c %a "$TRACING/$file")
"
done
is "$modes" "set_ftrace_filter 640
set_ftrace_notrace 640
set_ftrace_pid 640
set_ftrace_notrace_pid 640
current_tracer 640
tracing_on 640
trace 640
available_filter_functions 440
available_filter_functions_addrs 440
enabled_functions 440
touched_functions 440
dyn_ftrace_total_info 440
available_tracers 440
" "modes of the files"

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
is "$(cat "$TRACING/current_tracer") $(cat "$TRACING/tracing_on")" "nop 1" "so are the others"

done_testing
