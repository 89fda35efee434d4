#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# samples/ftrace: direct callers, which the site itself calls, alone, beside the function tracer,
# and changed while they are in use; and many ops on one function.

. "$(dirname "$0")/tap.sh"

# run_sample NAME REGEX [SECONDS]: load the sample, work, unload the sample; the trace matches
# REGEX. Sets $enabled and $lines, the trace.
run_sample() {
	set_to "" trace
	ok "$1: loads" modprobe "$1"
	enabled=$(cat "$TRACING/enabled_functions")
	sleep "${3:-0.3}"
	poke > /dev/null
	lines=$(trace_lines)
	like "$lines" "$2" "$1: its function is called"
	ok "$1: unloads" rmmod "$1"
	is "$(cat "$TRACING/enabled_functions")" "" "$1: no function is left enabled"
}

waking=': my_direct_func: waking up [a-z_/0-9:.-]+-[0-9]+$'
fault=': my_direct_func: handle mm fault vma=[0-9a-f]+ address=[0-9a-f]+ flags=[0-9a-f]+ '

run_sample ftrace-direct "$waking"
like "$enabled" '^wake_up_process \([0-9]+\) .*D' "ftrace-direct: it is listed as a direct caller"
run_sample ftrace-direct-too "$fault"
like "$enabled" '^handle_mm_fault \([0-9]+\) .*D' "ftrace-direct-too: it is listed as a direct caller"
run_sample ftrace-direct-multi ': my_direct_func: ip ffffffff[0-9a-f]+$'
is "$(echo "$enabled" | grep -o '^[a-z_]*' | sort | tr '\n' ' ')" "schedule wake_up_process " \
	"ftrace-direct-multi: two functions"
run_sample ftrace-direct-modify ': my_direct_func1: my direct func1$' 5
like "$lines" ': my_direct_func2: my direct func2$' "ftrace-direct-modify: then the other one is"
run_sample ftrace-direct-multi-modify ': my_direct_func1: my direct func1 ip ffffffff' 5
like "$lines" ': my_direct_func2: my direct func2 ip ffffffff' "ftrace-direct-multi-modify: then the other one is"

# Beside the function tracer the site's trampoline calls both.
set_to 'wake_up_process handle_mm_fault' set_ftrace_filter
set_to function current_tracer
set_to "" trace
ok "beside the function tracer: loads" modprobe ftrace-direct
poke > /dev/null
sleep 0.3
like "$(trace_lines)" "$waking" "beside the function tracer: the direct function is called"
like "$(trace_lines)" ': wake_up_process <-' "beside the function tracer: the function is traced"
ok "a second one" modprobe ftrace-direct-too
set_to "" trace
poke > /dev/null
like "$(trace_lines)" "$fault" "the second direct function is called"
like "$(trace_lines)" ': handle_mm_fault <-' "beside two direct callers: the function is traced"
set_to nop current_tracer
set_to "" trace
poke > /dev/null
like "$(trace_lines)" "$fault" "without the tracer it still is"
ok "the first unloads" rmmod ftrace-direct
ok "the second unloads" rmmod ftrace-direct-too
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"
is "$(all_nops)" "all nops" "every site is a nop again"

# The sample never stays: it measures in its init function and fails.
for args in "nr_ops_relevant=1" "nr_ops_relevant=10 nr_ops_irrelevant=10" "nr_ops_relevant=3 save_regs=1" \
	"nr_ops_relevant=2 assist_recursion=1 assist_rcu=1"; do
	log_mark
	# shellcheck disable=SC2086 # words
	modprobe ftrace-ops nr_function_calls=1000 check_count=1 $args 2> /dev/null
	like "$(kernel_log)" 'Attempted 1000 calls to tracee_relevant' "ftrace-ops $args: ran"
	unlike "$(kernel_log)" 'Counter called' "ftrace-ops $args: every ops was called each time, or never"
done

done_testing
