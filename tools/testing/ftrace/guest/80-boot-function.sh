#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
# boot: ftrace=function ftrace_filter=vfs_read,vfs_wr*,ksys_* ftrace_notrace=ksys_write
#
# The boot parameters ftrace=, ftrace_filter= and ftrace_notrace=.

KEEP=y
. "$(dirname "$0")/tap.sh"

is "$(cat "$TRACING/current_tracer")" function "ftrace=function"
filter=$(filter | tr '\n' ' ')
like " $filter" ' vfs_read ' "ftrace_filter= takes a name"
like " $filter" ' vfs_write ' "ftrace_filter= takes a glob"
unlike " $filter" ' vfs_open ' "ftrace_filter= takes nothing else"
is "$(cat "$TRACING/set_ftrace_notrace")" ksys_write "ftrace_notrace="
set_to 0 tracing_on
like " $(traced) " ' vfs_read ' "functions have been traced since boot"
unlike " $(traced) " ' ksys_write ' "  less those of notrace"
is "$(traced | tr ' ' '\n' | grep -Evc '^(vfs_read|vfs_wr.*|ksys_.*)$')" 0 "no other functions have been traced since boot"
like "$(trace_lines)" '^ *[^ ].*-1 +\[[0-9]{3}\]' "by the first process too"
set_to 1 tracing_on
record read_bytes 5
like " $(traced) " ' ksys_read vfs_read ' "tracing goes on"
works "off" write "$TRACING/current_tracer" nop
is "$(cat "$TRACING/enabled_functions")" "" "leaves nothing enabled"

done_testing
