#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
# boot: lockdown=confidentiality ftrace_filter=vfs_read
#
# A kernel that is locked down from boot has no files of the tracer, and boots without a complaint.

KEEP=y
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/lockdown.sh"

like "$(cat $lock)" '\[confidentiality\]' "the lockdown is confidentiality"
is "$(ls "$TRACING")" "" "tracefs is empty"
like "$(dmesg)" 'ftrace: [0-9]* call sites' "the call sites are nops"
# The startup tests of kprobe events want the lookup of a file.
is "$(dmesg | bad_news | grep -v 'kprobe_trace_self_tests_init\|Call Trace')" "" "nothing else bad in the log since boot"

done_testing
