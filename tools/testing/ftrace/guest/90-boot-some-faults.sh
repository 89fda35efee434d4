#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
# boot: fail_ftrace_site=1,1,3000,-1 log_buf_len=1M trace_event=initcall:initcall_level
#
# At boot the bytes of one call site in a hundred are wrong, taken at random: they are reported, and
# all others work. An event is on, because this switches the startup tests off: they change all sites
# many times, and each time more sites would fail.

KEEP=y
. "$(dirname "$0")/tap.sh"
faults=/sys/kernel/debug/fail_ftrace_site
need $faults

echo 0 > $faults/probability
sites=$(grep -vc '\]$' "$TRACING/available_filter_functions")
failed=$(grep -c 'failed:' "$TRACING/enabled_functions")
at_least "$failed" 10 "many call sites have failed"
# The bytes of a site are compared several times.
at_least $((sites / 15)) "$failed" "most of $sites have not"
# Wrong bytes are reported when a call site becomes a nop. Then the same bytes are compared once more,
# and not reported again.
at_least "$(dmesg | grep -cE 'no call for tracing here|it can not be traced')" $((failed / 3)) "failed sites are reported"
set_to 0 tracing_on
set_to function current_tracer
at_least "$(grep -vc 'failed:' "$TRACING/enabled_functions")" $((sites - failed)) "all other functions can be traced" ||
	awk 'NR == FNR { n[$1]++; next } { n[$1]-- } END { for (name in n) if (n[name]) print "# " name " is not on" }' \
		"$TRACING/available_filter_functions" "$TRACING/enabled_functions"
set_to nop current_tracer
set_to 1 tracing_on
is "$(all_nops)" "all nops" "all other sites are nops"
is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"

done_testing
