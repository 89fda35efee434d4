#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The perf event ftrace:function: a counter for each task that asks, with a filter of its own.

. "$(dirname "$0")/tap.sh"
need "$TRACING/events/ftrace/function/id" /proc/sys/kernel/perf_event_paranoid

id=$(cat "$TRACING/events/ftrace/function/id")
is "$(ftio perf "$id" 'ip == vfs_read')" 10 "ten reads are counted"
is "$(ftio perf "$id" 'ip == vfs_read,vfs_write')" 10 "with a list"
is "$(ftio perf "$id" 'ip == vfs_rea*')" 10 "with a glob"
is "$(ftio perf "$id" 'ip == vfs_rename')" 0 "a function that is not called"
is "$(ftio perf "$id" 'ip == vfs_* && ip != vfs_read')" 0 "less one: nothing"
is "$(ftio perf "$id" 'ip == nosuch')" EINVAL "an unknown function"
is "$(ftio perf "$id" 'ip < vfs_read')" EINVAL "an operator that makes no sense"
set_to vfs_read set_ftrace_filter
set_to function current_tracer
set_to "" trace
is "$(ftio perf "$id" 'ip == vfs_read')" 10 "beside the function tracer"
at_least "$(trace_lines | grep -c 'ftio-.*: vfs_read')" 10 "which sees them too"
set_to nop current_tracer
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

done_testing
