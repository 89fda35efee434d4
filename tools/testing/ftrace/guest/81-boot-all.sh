#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# boot: ftrace=function
#
# Trace all functions from the first moment, through the start of the other CPUs and the freeing of
# init memory.

KEEP=y
. "$(dirname "$0")/tap.sh"

set_to 0 tracing_on
is "$(cat "$TRACING/current_tracer")" function "ftrace=function"
is "$(cat "$TRACING/set_ftrace_filter")" '#### all functions enabled ####' "no filter"
at_least "$(wc -l < "$TRACING/enabled_functions")" 1000 "every function is enabled"
is "$(cat /sys/devices/system/cpu/online)" "$(cat /sys/devices/system/cpu/present)" "all CPUs came up"
at_least "$(dmesg | grep -cE 'Freeing unused kernel image|unmapping init')" 1 "init memory was freed"
works "off" write "$TRACING/current_tracer" nop
is "$(cat "$TRACING/enabled_functions")" "" "leaves nothing enabled"
is "$(all_nops)" "all nops" "all sites are nops"
is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"
is "$(grep -h '^ *not ok' /sys/kernel/debug/kunit/*/results 2> /dev/null)" "" \
	"no KUnit case failed while all functions were traced"

done_testing
