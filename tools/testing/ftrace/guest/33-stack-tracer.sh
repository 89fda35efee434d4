#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The stack tracer: the deepest kernel stack seen, found by hooking functions.

. "$(dirname "$0")/tap.sh"
need "$TRACING/stack_trace" /proc/sys/kernel/stack_tracer_enabled

S=/proc/sys/kernel/stack_tracer_enabled
F=$TRACING/stack_trace_filter

is "$(cat $S)" 0 "off"
set_to 0 stack_max_size
works "a filter" write "$F" "vfs_*"
like "$(cat "$F")" '^vfs_read$' "  reads back"
unlike "$(cat "$F")" '^ksys_read$' "the filter holds nothing else"
works "on" write $S 1
is "$(cut -d' ' -f1 "$TRACING/enabled_functions" | grep -vc '^vfs_')" 0 "the functions of the filter are enabled"
poke > /dev/null
read_bytes 10
works "off" write $S 0
at_least "$(cat "$TRACING/stack_max_size")" 100 "stack_max_size has a size"
trace=$(cat "$TRACING/stack_trace")
like "$trace" '^ +Depth +Size +Location +\([0-9]+ entries\)$' "stack_trace has its header"
like "$trace" '^ *[0-9]+\) +[0-9]+ +[0-9]+ +[a-zA-Z_0-9.]+\+0x[0-9a-f]+/0x[0-9a-f]+' "stack_trace has lines: depth size function"
like "$trace" '^ *0\) .* vfs_[a-z_]+\+' "the first is one of the filter"
like "$trace" " $SYSCALL\\+" "the stack goes to the system call"
is "$(cat "$TRACING/enabled_functions")" "" "off leaves nothing enabled"
set_to "" stack_trace_filter
is "$(cat "$F")" '#### all functions enabled ####' "the filter is cleared"

# Everything, beside the function tracer.
set_to 0 stack_max_size
set_to vfs_read set_ftrace_filter
set_to function current_tracer
works "on, without a filter" write $S 1
record poke
at_least "$(wc -l < "$TRACING/enabled_functions")" 1000 "every function is enabled"
is "$(traced)" vfs_read "the function tracer keeps its own filter"
works "off" write $S 0
is "$(cut -d' ' -f1,2 "$TRACING/enabled_functions")" "vfs_read (1)" "only the tracer's function is left"
fails_with EINVAL "not a number" write $S x

done_testing
