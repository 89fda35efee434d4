#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The function tracer: what a trace looks like, and its stacks.

. "$(dirname "$0")/tap.sh"

works "pwrite() to a file that is only written" pwrite "$TRACING/set_ftrace_filter" "vfs_read
"
echo vfs_write >> "$TRACING/set_ftrace_filter"
works "switch function on" write "$TRACING/current_tracer" function
record read_bytes 20
is "$(traced)" "vfs_read vfs_write" "the trace holds the functions asked for and no others"
line='^ *[^ ].*-[0-9]+ +\[[0-9]{3}\] [^ ]{5} +[0-9]+\.[0-9]{6}: vfs_(read|write) <-[a-zA-Z_0-9.]+$'
is "$(trace_lines | grep -Evc "$line")" 0 "every line is: task-pid [cpu] flags time: function <-caller"
like "$(trace_lines)" ' dd-[0-9]+ .*: vfs_read <-ksys_read$' "task and caller are right"
at_least "$(trace_lines | grep -c ' dd-[0-9]* .*vfs_read <-')" 20 "20 reads leave 20 lines or more"

set_to 0 tracing_on
set_to "" trace
read_bytes 20
is "$(traced)" "" "tracing_on 0 records nothing"
works "back to nop" write "$TRACING/current_tracer" nop
record read_bytes 20
is "$(trace_lines)" "" "nop records nothing"

# stack_is WHAT: a stack begins with the traced function. FTRACE TRAMPOLINE would be the trampoline.
stack_is() {
	stack=$(trace_lines | sed -n '/<stack trace>/,$p' | sed -n '2,20p')
	is "$(echo "$stack" | sed -n '1,2s/^ => //p' | joined)" "vfs_read ksys_read" "a stack begins with the traced function and its caller$1"
	like "$stack" "^ => $SYSCALL\$" "a stack goes on to the system call$1"
}
set_to vfs_read set_ftrace_filter
set_to 1 options/func_stack_trace
set_to function current_tracer
record read_bytes 5
stack_is ""
echo $$ > "$TRACING/set_ftrace_pid"
set_to 1 options/function-fork
record read_bytes 5
stack_is ", with a list of pids"
set_to 1 options/func-no-repeats
set_to "" set_ftrace_pid
record read_bytes 50
stack_is ", where repeats are left out"
set_to nop current_tracer
set_to 0 options/func_stack_trace

# The default filter: everything.
set_to "" set_ftrace_filter
set_to function current_tracer
record poke
at_least "$(traced | wc -w)" 100 "without a filter many functions are traced"
set_to nop current_tracer
is "$(grep -c . "$TRACING/enabled_functions")" 0 "no function is enabled after a switch to nop"

done_testing
