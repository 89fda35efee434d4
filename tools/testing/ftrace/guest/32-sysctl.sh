#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# kernel.ftrace_enabled: 0 takes every call out of the kernel at once, 1 puts back what was wanted.
# Linux 7.3 refuses 0.

. "$(dirname "$0")/tap.sh"

S=/proc/sys/kernel/ftrace_enabled
addr=$(sed -n 's/ vfs_read$//p' "$TRACING/available_filter_functions_addrs")

set_to vfs_read set_ftrace_filter
set_to function current_tracer
fails_with EINVAL "not a number" write $S x
is "$(cat $S)" 1 "  changes nothing"
if switches_off; then
	works "0" write $S 0
	is "$(cat $S)" 0 "  reads back"
	record read_bytes 5
	is "$(traced)" "" "nothing is traced at 0"
	is "$(ftio bytes "$addr" 5)" "$NOP" "the site is a nop"
else
	fails_with EOPNOTSUPP "0 is refused" write $S 0
	is "$(cat $S)" 1 "a refused 0 does not read back"
fi
works "1" write $S 1
record read_bytes 5
is "$(traced)" vfs_read "tracing goes on"

done_testing
