#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's own tests at boot: the startup test of each tracer, and the KUnit suites about probes
# and tracing.

. "$(dirname "$0")/tap.sh"

# The verdict ends the line that names the test. If the test prints lines, it ends a later line.
log=$(dmesg)
tests=$(echo "$log" | grep -E '\] Testing (tracer |dynamic ftrace|ftrace |fgraph |multiple fgraph)' | grep -v ': OK$')
is "$(echo "$log" | grep -c 'PASSED$')" "$(echo "$tests" | wc -l)" "every startup test says PASSED"
unlike "$log" 'FAILED!' "no startup test says FAILED"
for tracer in function function_graph irqsoff preemptoff preemptirqsoff wakeup wakeup_rt wakeup_dl; do
	like "$tests" "Testing tracer $tracer: PASSED$" "$tracer passed"
done
like "$log" 'Testing ftrace filter: OK$' "the filter of events passed"
# Its verdict comes later than its name, and another message may come between the two.
like "$(echo "$log" | sed -n '/Testing kprobe tracing: /,$p' | grep -m 1 -E '(tracing: |\] )(OK|NG)')" 'OK$' \
	"the events of kprobes passed"

for suite in kprobes_test fprobe_test; do
	results=$(cat /sys/kernel/debug/kunit/$suite/results)
	like "$results" "^ok [0-9]+ $suite" "KUnit $suite passes"
	at_least "$(echo "$results" | grep -Ec '^    ok [0-9]+ ')" 3 "KUnit $suite has tests"
	unlike "$results" '^ *not ok|# SKIP' "each test of KUnit $suite passed"
done

done_testing
