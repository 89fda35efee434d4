#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
# boot: spectre_v2=retpoline,generic retbleed=force,stuff
#
# The instructions of trampolines with retpolines, return thunks and call depth tracking.

KEEP=y
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mitigations.sh"
need /proc/config.gz "$TRACING/events/ftrace/function/id"
stuffing || skip_all "no CONFIG_MITIGATION_CALL_DEPTH_TRACKING"

like "$(cat /sys/devices/system/cpu/vulnerabilities/spectre_v2)" 'Retpolines' "retpolines are on"
is "$(return_thunk)" call_depth_return_thunk "functions jump to the return thunk"
like "$(depth_counter)" '^shift/7 5 gs:' "calls are counted"
check_tracing

done_testing
