#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel without the function tracer: its files are not there, events are.

cd /sys/kernel/tracing || exit 1
cat available_tracers
find . -maxdepth 1 -name '*ftrace_filter' -o -name '*filter_functions' -o -name enabled_functions | wc -l
echo 1 >events/sched/sched_switch/enable
sleep 0.1
echo 0 >events/sched/sched_switch/enable
grep -c sched_switch: trace
dmesg | grep -c 'BUG:\|WARNING:\|Oops'
exit 0
