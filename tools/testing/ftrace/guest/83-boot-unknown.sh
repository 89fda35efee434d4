#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
# boot: ftrace_filter=nosuch_function,vfs_read ftrace=nosuch_tracer ftrace_notrace=nosuch_*
#
# Boot parameters that name nothing: the kernel boots, and takes what it knows.

KEEP=y
. "$(dirname "$0")/tap.sh"

is "$(cat "$TRACING/current_tracer")" nop "an unknown tracer: none"
is "$(cat "$TRACING/set_ftrace_filter")" vfs_read "an unknown function does not hide a known one"
is "$(cat "$TRACING/set_ftrace_notrace")" '#### no functions disabled ####' "a glob without a match leaves ftrace_notrace= empty"
is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"

done_testing
