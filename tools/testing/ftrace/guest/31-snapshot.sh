#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The snapshot file with the function tracer running.

. "$(dirname "$0")/tap.sh"
need "$TRACING/snapshot"

set_to vfs_read set_ftrace_filter
set_to function current_tracer
record read_bytes 10
works "take a snapshot" write "$TRACING/snapshot" 1
snap=$(grep -v '^#' "$TRACING/snapshot")
at_least "$(echo "$snap" | grep -c 'vfs_read <-ksys_read')" 10 "the snapshot holds the trace"
is "$(trace_lines)" "" "the buffer was swapped for an empty one"
set_to vfs_write set_ftrace_filter
record read_bytes 10
is "$(traced)" vfs_write "tracing goes on beside it"
is "$(grep -v '^#' "$TRACING/snapshot")" "$snap" "the snapshot stays"
works "clear it" write "$TRACING/snapshot" 2
is "$(grep -v '^#' "$TRACING/snapshot")" "" "a cleared snapshot is empty"
works "free it" write "$TRACING/snapshot" 0
like "$(cat "$TRACING/snapshot")" '^# \* Snapshot is freed \*$' "a freed snapshot says so"
fails_with EINVAL "not a number" write "$TRACING/snapshot" x

done_testing
