#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
# boot: lockdown=integrity
#
# A locked down kernel. With "integrity", tracing of functions is not restricted. With
# "confidentiality", most files of the tracer cannot be opened; two files that show what is traced
# can still be read. A function that is traced already stays traced. The errors are those of the
# base.

KEEP=y
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/lockdown.sh"

like "$(cat $lock)" '\[integrity\]' "the lockdown is integrity"
set_to vfs_read set_ftrace_filter
set_to function current_tracer
record read_bytes 5
is "$(traced)" vfs_read "integrity: a function is traced"
set_to nop current_tracer
is "$(all_nops)" "all nops" "  and its site becomes a nop again"
for file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid set_graph_function set_graph_notrace; do
	works "  $file can be read" read "$TRACING/$file"
	works "  and written" open a "$TRACING/$file"
done
for file in available_filter_functions available_filter_functions_addrs enabled_functions touched_functions \
	dyn_ftrace_total_info; do
	works "  $file can be read" read "$TRACING/$file"
done
if [ -e "$MODULES/ftmod_a.ko" ]; then
	unlike "$(insmod "$MODULES/ftmod_a.ko" 2>&1; cat /proc/modules)" '^ftmod_a ' "  a module without signature cannot be loaded"
	unlike "$(cat "$TRACING/available_filter_functions")" 'ftmod_a' "  and leaves no sites"
else
	skip "no ftmod_a.ko"
fi
set_to function current_tracer

echo confidentiality > $lock
like "$(cat $lock)" '\[confidentiality\]' "the lockdown is confidentiality"
while read -r error file; do
	[ -e "$TRACING/$file" ] || continue
	fails_with "$error" "confidentiality: $file cannot be opened" read "$TRACING/$file"
done <<'END'
ENODEV set_ftrace_filter
ENODEV set_ftrace_notrace
EPERM set_ftrace_pid
EPERM set_ftrace_notrace_pid
EPERM set_graph_function
EPERM set_graph_notrace
EPERM available_filter_functions
EPERM available_filter_functions_addrs
EPERM dyn_ftrace_total_info
EPERM function_profile_enabled
EPERM flight_size_kb
ENODEV stack_trace_filter
EPERM current_tracer
EPERM tracing_on
EPERM trace
END
fails_with ENODEV "  nor written: set_ftrace_filter" append "$TRACING/set_ftrace_filter" vfs_write
fails_with EPERM "  nor written: current_tracer" write "$TRACING/current_tracer" nop
fails_with EPERM "  nor written: set_graph_function" write "$TRACING/set_graph_function" vfs_write
like "$(cat "$TRACING/enabled_functions")" '^vfs_read ' "  enabled_functions shows what is traced"
like "$(cat "$TRACING/touched_functions")" '^vfs_read ' "  touched_functions shows what was"
is "$(wc -l < "$TRACING/enabled_functions")" 1 "  nothing has changed"
if switches_off; then
	echo 0 > /proc/sys/kernel/ftrace_enabled
	is "$(cat "$TRACING/enabled_functions")" "" "  kernel.ftrace_enabled switches tracing off"
	echo 1 > /proc/sys/kernel/ftrace_enabled
fi
like "$(cat "$TRACING/enabled_functions")" '^vfs_read ' "  tracing is still on"

done_testing
