#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
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
check_tracing

done_testing
