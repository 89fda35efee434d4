#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The function tracer's own options: func_stack_trace and func-no-repeats.

. "$(dirname "$0")/tap.sh"

opt=$TRACING/options
set_to vfs_read set_ftrace_filter
set_to function current_tracer

like "$(cat "$TRACING/trace_options")" '^nofunc_stack_trace$' "trace_options lists func_stack_trace, off"
like "$(cat "$TRACING/trace_options")" '^nofunc-no-repeats$' "trace_options lists func-no-repeats, off"
is "$(cat "$opt/func_stack_trace")" 0 "options/func_stack_trace reads 0"

works "func_stack_trace on" write "$opt/func_stack_trace" 1
is "$(cat "$opt/func_stack_trace")" 1 "func_stack_trace reads back 1"
like "$(cat "$TRACING/trace_options")" '^func_stack_trace$' "trace_options shows it on"
record read_bytes 5
trace=$(trace_lines)
like "$trace" '<stack trace>$' "there are stack traces"
# stack_is WHAT: a stack begins with the traced function. FTRACE TRAMPOLINE would be the trampoline.
stack_is() {
	trace=$(trace_lines)
	stack=$(echo "$trace" | sed -n '/<stack trace>/,$p' | sed -n '2,20p')
	is "$(echo "$stack" | sed -n '1s/^ => //p')" vfs_read "a stack begins with the traced function$1"
	is "$(echo "$stack" | sed -n '2s/^ => //p')" ksys_read "a stack has the caller next$1"
	like "$stack" "^ => $SYSCALL\$" "a stack goes on to the system call$1"
}
stack_is ""
echo $$ > "$TRACING/set_ftrace_pid"
set_to 1 options/function-fork
record read_bytes 5
stack_is ", with a list of pids"
set_to 0 options/function-fork
set_to "" set_ftrace_pid

works "func_stack_trace off through trace_options" write "$TRACING/trace_options" nofunc_stack_trace
record read_bytes 5
unlike "$(trace_lines)" '<stack trace>' "no stack traces any more"

# Repeats are written out when another call ends the row of them, on the same CPU.
# shellcheck disable=SC2317 # called by record
row_of_reads() {
	taskset 1 sh -c "dd if=/dev/zero of=/dev/null bs=1 count=$1; cat /proc/version"
}
works "func-no-repeats on" write "$opt/func-no-repeats" 1
set_to "vfs_read vfs_open" set_ftrace_filter
record row_of_reads 500
trace=$(trace_lines)
repeats=$(echo "$trace" | sed -n 's/.*vfs_read <-ksys_read (repeats: \([0-9]*\), last_ts: *[0-9.]*)$/\1/p' |
	awk '{ n += $1 } END { print n + 0 }')
at_least "$repeats" 300 "repeats are counted: function <-caller (repeats: N, last_ts: T)"
at_least 200 "$(echo "$trace" | wc -l)" "repeats take few lines"
works "both options at once" write "$opt/func_stack_trace" 1
record row_of_reads 50
like "$(trace_lines)" '<stack trace>$' "stacks with both options on"
works "func_stack_trace off" write "$opt/func_stack_trace" 0
set_to cmdline_proc_show set_ftrace_filter
set_to 0 tracing_on
set_to "" trace
taskset 1 sh -c "cat /proc/cmdline /proc/cmdline /proc/cmdline; echo 1 > $TRACING/tracing_on; cat /proc/cmdline" > /dev/null
is "$(trace_lines | grep -c 'cmdline_proc_show <-')" 1 "calls while nothing is recorded are no repeats"
unlike "$(trace_lines)" 'repeats:' "calls while nothing is recorded are not counted"
set_to "vfs_read vfs_open" set_ftrace_filter
works "func-no-repeats off" write "$opt/func-no-repeats" 0
works "func_stack_trace off" write "$opt/func_stack_trace" 0
record read_bytes 50
unlike "$(trace_lines)" 'repeats:' "no repeats any more"
at_least "$(trace_lines | grep -c 'vfs_read <-')" 50 "every call has its line again"

fails_with EINVAL "an option takes 0 or 1" write "$opt/func_stack_trace" 2
fails_with EINVAL "an option takes a number" write "$opt/func-no-repeats" x
fails_with EINVAL "an unknown option" write "$TRACING/trace_options" nosuch
is "$(cat "$opt/func_stack_trace")$(cat "$opt/func-no-repeats")" 00 "refused writes change nothing"

# Options stay through a change of tracer.
set_to 1 options/func_stack_trace
set_to nop current_tracer
set_to function current_tracer
is "$(cat "$opt/func_stack_trace")" 1 "an option outlives nop"
set_to vfs_read set_ftrace_filter
record read_bytes 5
like "$(trace_lines)" '<stack trace>$' "an option works after nop"

done_testing
