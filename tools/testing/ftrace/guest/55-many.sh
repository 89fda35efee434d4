#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Many ops: all on one function; and each on a function of its own, beside a module with many
# functions. With preempt=none a task gives up its CPU only where the code says so. Work that takes
# long must say so.
# boot: preempt=none

. "$(dirname "$0")/tap.sh"
need_module ftmod_many ftmod_functions
M=/sys/module/ftmod_many/parameters
S=/proc/sys/kernel/ftrace_enabled

insmod "$MODULES/ftmod_many.ko" || skip_all "ftmod_many does not load"
works "1,100 ops on one function" write $M/same 1100
is "$(cat $M/call)" 1100 "all are called"
is "$(settled 1 trampolines)" 1 "by one trampoline"
set_to ftmod_many_func set_ftrace_filter
set_to function current_tracer
set_to 1 options/func_stack_trace
record cat $M/call
is "$(trace_lines | sed -n '/<stack trace>/{n;s/^ => //p;q}')" ftmod_many_func "a stack begins with the traced function"
set_to nop current_tracer
set_to 0 options/func_stack_trace
set_to "" set_ftrace_filter
ok "1100 ops go" rmmod ftmod_many

[ ! -e /proc/sys/kernel/watchdog_thresh ] || echo 4 > /proc/sys/kernel/watchdog_thresh
insmod "$MODULES/ftmod_many.ko"
# A kernel without SMP has fewer functions.
many=$(grep -vc ftmod_many "$TRACING/available_filter_functions")
[ "$many" -le 10000 ] || many=10000
works "$many ops of one function each" write $M/each "$many"
at_least "$(wc -l < "$TRACING/enabled_functions")" 9000 "are on their functions"
if switches_off; then
	echo 0 > $S
	is "$(cat "$TRACING/enabled_functions")" "" "ftrace_enabled 0 silences all"
	echo 1 > $S
fi
ok "a module with 20,000 functions comes" insmod "$MODULES/ftmod_functions.ko"
# Sites count here, not records.
set_to 0 tracing_on
set_to function current_tracer
is "$(grep -c ' \[ftmod_functions\]' "$TRACING/enabled_functions")" 20000 "all of them can be traced"
works "a glob is taken out" append "$TRACING/set_ftrace_notrace" 'ftmod_f_*'
is "$(grep -c ' \[ftmod_functions\]' "$TRACING/enabled_functions")" 0 "no function of a glob in notrace is enabled"
set_to "" set_ftrace_notrace
set_to nop current_tracer
ok "ftmod_functions goes" rmmod ftmod_functions
# /proc/kallsyms lists each of their trampolines.
at_least "$(trampolines)" 9000 "each has its trampoline"
ok "ops with a trampoline each go" rmmod ftmod_many
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

done_testing
