#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
# boot: stacktrace stacktrace_filter=vfs_* ftrace_graph_filter=do_group_exit
#
# The stack tracer from boot, and a filter of the graph tracer at which the startup tests find nothing.

KEEP=y
. "$(dirname "$0")/tap.sh"
need "$TRACING/stack_trace"

is "$(cat /proc/sys/kernel/stack_tracer_enabled)" 1 "stacktrace switches it on"
is "$(grep -vc '^vfs_' "$TRACING/stack_trace_filter")" 0 "stacktrace_filter= is set"
at_least "$(cat "$TRACING/stack_max_size")" 100 "a depth was found"
like "$(cat "$TRACING/stack_trace")" '^ *0\) .* vfs_' "at a function of the filter"
if [ -e "$TRACING/set_graph_function" ]; then
	is "$(cat "$TRACING/set_graph_function")" do_group_exit "ftrace_graph_filter= is set"
	is "$(dmesg | bad_news)" "" "  and no startup test fails with it"
else
	skip "no graph tracer"
fi

done_testing
