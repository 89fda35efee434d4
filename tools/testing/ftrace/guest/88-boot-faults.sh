#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
# boot: fail_ftrace_site=1,100,3000,1
#
# At boot the bytes of one call site are wrong: the site is reported, and everything else works.

KEEP=y
. "$(dirname "$0")/tap.sh"
need /sys/kernel/debug/fail_ftrace_site

is "$(cat /sys/kernel/debug/fail_ftrace_site/times)" 0 "one comparison has failed"
is "$(dmesg | grep -c 'no call for tracing here')" 1 "one site is reported"
is "$(grep -c 'failed:' "$TRACING/enabled_functions")" 1 "one site is listed as failed"
failed=$(sed -n 's/ .*failed:.*//p' "$TRACING/enabled_functions")
sites=$(grep -vc '\]$' "$TRACING/available_filter_functions")
set_to 0 tracing_on
set_to "$failed" set_ftrace_filter
fails_with EINVAL "to trace this function by name is refused" write "$TRACING/current_tracer" function
is "$(cat "$TRACING/current_tracer")" nop "  and nothing is traced"
set_to "" set_ftrace_filter
set_to function current_tracer
at_least "$(grep -vc 'failed:' "$TRACING/enabled_functions")" $((sites - 1)) "all other functions can be traced"
set_to nop current_tracer
set_to 1 tracing_on
is "$(all_nops)" "all nops" "all other sites are nops"
is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"

done_testing
