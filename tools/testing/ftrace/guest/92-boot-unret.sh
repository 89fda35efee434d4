#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# boot: retbleed=force,unret
#
# The instructions of trampolines with the return thunk of AMD CPUs.

KEEP=y
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mitigations.sh"
need /proc/config.gz "$TRACING/events/ftrace/function/id"
grep -q 'untrained return thunk' /sys/devices/system/cpu/vulnerabilities/retbleed 2> /dev/null ||
	skip_all "no CONFIG_MITIGATION_UNRET_ENTRY"

is "$(return_thunk)" retbleed_return_thunk "functions jump to the return thunk"
check_kinds
set_to function current_tracer
record read_bytes 5
like " $(traced) " ' vfs_read ' "tracing all functions works"
set_to nop current_tracer
is "$(all_nops)" "all nops" "all sites are nops"
is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"

done_testing
