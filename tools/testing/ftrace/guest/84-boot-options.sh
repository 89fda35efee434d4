#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
# boot: ftrace=function trace_options=func_stack_trace ftrace_filter=vfs_read
#
# An option of the tracer at boot. The option changes the callback before there are workqueues, and
# before the kernel knows its CPU.

KEEP=y
. "$(dirname "$0")/tap.sh"

is "$(cat "$TRACING/current_tracer")" function "ftrace=function"
is "$(cat "$TRACING/options/func_stack_trace")" 1 "trace_options=func_stack_trace"
set_to 0 tracing_on
like "$(cat "$TRACING/trace")" '<stack trace>' "stacks have been traced since boot"
like "$(cat "$TRACING/trace")" '^ => vfs_read$' "  of the function"
set_to nop current_tracer
is "$(settled 0 trampolines)" 0 "no trampoline is left behind"

done_testing
