#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# kernel.ftrace_enabled: 0 takes every call out of the kernel at once, 1 puts back what was wanted.
# Linux 7.3 refuses 0.

. "$(dirname "$0")/tap.sh"

S=/proc/sys/kernel/ftrace_enabled
addr=$(sed -n 's/ vfs_read$//p' "$TRACING/available_filter_functions_addrs")

is "$(cat $S)" 1 "ftrace_enabled is 1"
is "$(sysctl -n kernel.ftrace_enabled)" 1 "sysctl reads it"
set_to vfs_read set_ftrace_filter
set_to function current_tracer
record read_bytes 5
is "$(traced)" vfs_read "tracing"
if ! switches_off; then
	fails_with EOPNOTSUPP "0 is refused" write $S 0
	is "$(cat $S)" 1 "a refused 0 does not read back"
	record read_bytes 5
	is "$(traced)" vfs_read "tracing goes on"
	works "1" write $S 1
	fails_with EINVAL "not a number" write $S x
	is "$(cat $S)" 1 "  changes nothing"
	done_testing
fi
works "0" write $S 0
is "$(cat $S)" 0 "  reads back"
record read_bytes 5
is "$(traced)" "" "nothing is traced at 0"
is "$(ftio bytes "$addr" 5)" "$NOP" "the site is a nop"
is "$(cat "$TRACING/current_tracer")" function "the tracer is still chosen"
set_to vfs_write set_ftrace_filter
record read_bytes 5
is "$(traced)" "" "a new filter changes nothing"
works "1" write $S 1
record read_bytes 5
is "$(traced)" vfs_write "tracing with the new filter"
unlike "$(cat "$TRACING/enabled_functions")" '^vfs_read ' "no function of the old filter is enabled"

set_to nop current_tracer
echo 0 > $S
works "a tracer chosen while it is 0" write "$TRACING/current_tracer" function
record read_bytes 5
is "$(traced)" "" "  does not trace"
echo 1 > $S
record read_bytes 5
is "$(traced)" vfs_write "a tracer chosen at 0 traces at 1"
echo 0 > $S
set_to nop current_tracer
echo 1 > $S
is "$(cat "$TRACING/enabled_functions")" "" "a tracer removed while it is 0 does not come back"

fails_with EINVAL "not a number" write $S x
is "$(cat $S)" 1 "  changes nothing"

done_testing
