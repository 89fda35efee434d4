#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
# boot: stacktrace stacktrace_filter=vfs_*
#
# The stack tracer from boot.

KEEP=y
. "$(dirname "$0")/tap.sh"
need "$TRACING/stack_trace"

is "$(cat /proc/sys/kernel/stack_tracer_enabled)" 1 "stacktrace switches it on"
is "$(grep -vc '^vfs_' "$TRACING/stack_trace_filter")" 0 "stacktrace_filter= is set"
at_least "$(cat "$TRACING/stack_max_size")" 100 "a depth was found"
like "$(cat "$TRACING/stack_trace")" '^ *0\) .* vfs_' "at a function of the filter"

done_testing
