#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Writes to one open filter file at the same time, through io_uring and with write(2), and pwrite(2).

. "$(dirname "$0")/tap.sh"

F=$TRACING/set_ftrace_filter

# A word that is refused was mixed with a word of another thread: each of them alone is accepted.
at_once() {
	out=$(uring "$1" 5 50 vfs_read 't*' '!t*' vfs_write '!vfs_read' '!vfs_write' schedule)
	case $out in
	*implemented* | *permitted*)
		skip "no io_uring: $out"
		return ;;
	esac
	like "$out" '^writes [0-9]+ refused 0$' "$2: no word is mixed with another"
	is "$(grep -vxc '[a-zA-Z0-9_.]*\|#.*' "$1")" 0 "  and the filter has names"
	: > "$1"
}
at_once "$F" "set_ftrace_filter"
at_once "$TRACING/set_ftrace_notrace" "set_ftrace_notrace"
[ ! -e "$TRACING/stack_trace_filter" ] || at_once "$TRACING/stack_trace_filter" "stack_trace_filter"

works "pwrite() to a file that is only written" pwrite "$F" "vfs_read
"
is "$(filter)" vfs_read "  counts"
fails_with EINVAL "a word that is refused" pwrite "$F" "nosuch
"
is "$(filter)" vfs_read "  changes nothing"

done_testing
