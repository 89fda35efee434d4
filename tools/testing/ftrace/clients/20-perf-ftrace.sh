#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf ftrace, which works the files in tracefs as a person would.

. "$(dirname "$0")/tap.sh"

# The kernel learns the name of a task when the task is switched out. Before that, the trace calls the
# task <...>, or perf if it was switched out before its exec. So the task sleeps before it reads.
# shellcheck disable=SC2016 # for the inner shell to expand
out=$(perf ftrace trace -t function -T 'vfs_*' -- \
	sh -c 'sleep 0.1; read -r line < /proc/version; echo "$line" >&2' 2> "$TMP.err")
like "$out" 'sh-[0-9]+ .*: vfs_read <-ksys_read$' "trace -T: a read of the shell's, and its caller"
is "$(echo "$out" | sed -n 's/^.*: \([^ ]*\) <-.*$/\1/p' | grep -v '^vfs_')" "" "trace -T: no function that was not asked for"
# On its standard output it could be in the middle of a line of perf's.
like "$(cat "$TMP.err")" '^Linux version' "trace -T: what the command printed"

out=$(perf ftrace trace -G ksys_read --graph-opts depth=2 -- cat /proc/version 2> "$TMP.err")
like "$out" '\|  ksys_read\(\) \{$' "trace -G: the function that was asked for"
like "$out" '[0-9.]+ us +\|    vfs_read\(\);$' "trace -G: what the function calls, and for how long"
unlike "$out" '\|      [a-z_]' "trace -G: no calls below the depth"

out=$(perf ftrace latency -T vfs_read -- dd if=/dev/zero of=/dev/null bs=1 count=100 2> "$TMP.err")
like "$out" 'DURATION .* COUNT ' "latency: a histogram"
at_least "$(echo "$out" | awk -F'|' 'NF > 2 { n += $2 } END { print n }')" 100 "that counts all calls"

is "$(cat "$TRACING/current_tracer")" nop "no tracer is left"
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"

done_testing
