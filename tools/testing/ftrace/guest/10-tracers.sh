#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# current_tracer: the function tracer and nop, what a trace looks like, which writes are refused.

. "$(dirname "$0")/tap.sh"

like "$(cat "$TRACING/available_tracers")" '(^| )function( |$)' "available_tracers has function"
like "$(cat "$TRACING/available_tracers")" '(^| )nop( |$)' "available_tracers has nop"
is "$(cat "$TRACING/current_tracer")" nop "nop to begin with"

set_to 'vfs_read vfs_write' set_ftrace_filter
works "switch function on" write "$TRACING/current_tracer" function
is "$(cat "$TRACING/current_tracer")" function "current_tracer reads back function"
record read_bytes 20
is "$(traced)" "vfs_read vfs_write" "the trace holds the functions asked for and no others"

trace=$(cat "$TRACING/trace")
like "$(echo "$trace" | sed -n 1p)" '^# tracer: function$' "header: the tracer"
like "$(echo "$trace" | sed -n 3p)" '^# entries-in-buffer/entries-written: [0-9]+/[0-9]+ +#P:[0-9]+$' "header: the counts"
like "$trace" '^#           TASK-PID +CPU# +\|\|\|\|\|  TIMESTAMP  FUNCTION$' "header: the columns"
line='^ *[^ ].*-[0-9]+ +\[[0-9]{3}\] [^ ]{5} +[0-9]+\.[0-9]{6}: vfs_(read|write) <-[a-zA-Z_0-9.]+$'
is "$(trace_lines | grep -Evc "$line")" 0 "every line is: task-pid [cpu] flags time: function <-caller"
like "$(trace_lines)" ' dd-[0-9]+ .*: vfs_read <-ksys_read$' "task and caller are right"
at_least "$(trace_lines | grep -c ' dd-[0-9]* .*vfs_read <-')" 20 "20 reads leave 20 lines or more"

times=$(trace_lines | sed -n 's/.* \([0-9]*\)\.\([0-9]\{6\}\): .*/\1\2/p')
is "$(echo "$times" | sort -n)" "$times" "in the order of time"

works "back to nop" write "$TRACING/current_tracer" nop
record read_bytes 20
is "$(trace_lines)" "" "nop records nothing"

set_to function current_tracer
set_to 0 tracing_on
set_to "" trace
read_bytes 20
is "$(traced)" "" "tracing_on 0 records nothing"
is "$(cat "$TRACING/tracing_on")" 0 "tracing_on reads back 0"
set_to 1 tracing_on
read_bytes 5
is "$(traced)" "vfs_read vfs_write" "tracing_on 1 records again"

# A pipe reader gets the same lines and takes them away.
set_to 0 tracing_on
lines=$(trace_lines | wc -l)
timeout 2 cat "$TRACING/trace_pipe" > "$TMP.pipe"
is "$(grep -c 'vfs_[a-z]* <-' "$TMP.pipe")" "$lines" "trace_pipe hands out the same lines"
is "$(trace_lines)" "" "lines that trace_pipe handed out are gone from trace"
set_to 1 tracing_on

fails_with EINVAL "an unknown tracer" write "$TRACING/current_tracer" nosuch
is "$(cat "$TRACING/current_tracer")" function "an unknown tracer changes nothing"
fails_with EINVAL "a tracer's name and more" write "$TRACING/current_tracer" "function x"
fails_with EINVAL "a tracer's name much too long" write "$TRACING/current_tracer" "$(printf '%0300d' 0)"
is "$(cat "$TRACING/current_tracer")" function "a refused tracer leaves the function tracer"

# The default filter: everything.
set_to nop current_tracer
set_to "" set_ftrace_filter
set_to function current_tracer
record poke
at_least "$(traced | wc -w)" 100 "without a filter many functions are traced"
set_to nop current_tracer
is "$(grep -c . "$TRACING/enabled_functions")" 0 "no function is enabled after a switch to nop"

# Also through debugfs.
if [ -e /sys/kernel/debug/tracing/trace ]; then
	echo vfs_read > /sys/kernel/debug/tracing/set_ftrace_filter
	echo function > /sys/kernel/debug/tracing/current_tracer
	record read_bytes 5
	is "$(traced)" vfs_read "driven through /sys/kernel/debug/tracing"
	is "$(grep -v '^#' /sys/kernel/debug/tracing/trace)" "$(trace_lines)" "/sys/kernel/debug/tracing shows the same trace"
else
	skip "no /sys/kernel/debug/tracing"
fi

done_testing
