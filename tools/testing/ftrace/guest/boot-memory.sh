#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of ../vm/boot-memory.t: an allocation failed at boot, with the parameters
# ftrace=function ftrace_filter=vfs_read. What does not work must have been said, and all other
# things must work. run-guest does not run this script.

KEEP=y
. "$(dirname "$0")/tap.sh"

# said WHAT: is it in the kernel log?
said() {
	dmesg | grep -qF "$1"
}

set_to 0 tracing_on
if said 'no memory for the call sites, no function can be traced'; then
	for file in set_ftrace_filter enabled_functions available_filter_functions; do
		fails_with ENODEV "function tracing is off for good: $file" read "$TRACING/$file"
	done
	fails_with ENODEV "  no filter is taken" write "$TRACING/set_ftrace_filter" "vfs_open
"
	fails_with ENODEV "  and no tracer starts" write "$TRACING/current_tracer" function
	is "$(cat "$TRACING/current_tracer")" nop "no tracer runs"
	# There is nothing that could be reset.
	reset() {
		:
	}
else
	said "boot parameter: no memory for \`vfs_read'" ||
		is "$(filter)" vfs_read "the filter is the one of the boot parameter"
	tracer=$(cat "$TRACING/current_tracer")
	like "$tracer" '^(function|nop)$' "the tracer runs, or it does not: $tracer"
	if [ "$tracer $(filter)" = "function vfs_read" ]; then
		is "$(cut -d' ' -f1 "$TRACING/enabled_functions")" vfs_read "the function of the filter is enabled"
	fi
	set_to nop current_tracer
	is "$(cat "$TRACING/enabled_functions")" "" "no function is enabled without a tracer"
	set_to "vfs_open vfs_read" set_ftrace_filter
	works "with memory the tracer starts" write "$TRACING/current_tracer" function
	set_to 1 tracing_on
	record read_bytes 5
	is "$(traced)" "vfs_open vfs_read" "  and traces"
	set_to nop current_tracer
	is "$(all_nops)" "all nops" "all sites are nops"
fi
# register_tracer() of Linux 7.3 warns if the tracer of the boot parameter does not start.
log=$(dmesg | sed '/WARNING: .* at register_tracer+/,/---[[] end trace/d')
is "$(echo "$log" | bad_news)" "" "nothing bad in the log since boot"

done_testing
