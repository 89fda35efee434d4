#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# perf_event_paranoid: which perf events of function tracing an unprivileged user may open. The table
# is true on the base, too.

. "$(dirname "$0")/tap.sh"
paranoid=/proc/sys/kernel/perf_event_paranoid
need "$TRACING/events/ftrace/function/id" $paranoid

before=$(cat $paranoid)
id=$(cat "$TRACING/events/ftrace/function/id")
while read -r level function text; do
	echo "$level" > $paranoid
	is "$(ftio nobody perf "$id" 'ip == vfs_read')" "$function" "perf_event_paranoid $level: ftrace:function gives $function"
	is "$(ftio perf "$id" 'ip == vfs_read')" 10 "  root counts ten calls"
	[ "$text" = - ] || is "$(ftio nobody pokes /dev/null x)" "$text" "  changes of text give $text"
done <<END
3 EACCES EACCES
2 EACCES EACCES
1 EPERM -
0 EPERM -
-1 10
END
echo "$before" > $paranoid
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

done_testing
