#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# CPUs that leave and come back while sites are patched, and one that was away meanwhile.

. "$(dirname "$0")/tap.sh"

last=$(($(nproc) - 1))
cpu=/sys/devices/system/cpu/cpu$last
[ "$last" -gt 0 ] || skip_all "one CPU only"
need $cpu/online

# shellcheck disable=SC2317 # called by again
plug() {
	echo 0 > "$cpu/online"
	echo 1 > "$cpu/online"
}
set_to '*a*' set_ftrace_filter
again plug
failed=0
for i in 1 2 3 4 5 6; do
	set_to function current_tracer || failed=$((failed + 1))
	set_to nop current_tracer || failed=$((failed + 1))
done
stop_all
is "$failed" 0 "$i times on and off while a CPU comes and goes"
is "$(all_nops)" "all nops" "all sites are nops"

works "a CPU leaves" write $cpu/online 0
set_to 'vfs_read vfs_write' set_ftrace_filter
works "tracing goes on without it" write "$TRACING/current_tracer" function
works "the CPU comes back" write $cpu/online 1
set_to "" trace
set_to 1 tracing_on
taskset -p $((1 << last)) $$ > /dev/null
read_bytes 10
set_to 0 tracing_on
is "$(traced)" "vfs_read vfs_write" "the CPU traces what was chosen while it was away"
like "$(trace_lines)" "$(printf '\\[%03d\\]' "$last")" "on that CPU"
taskset -p $(((1 << (last + 1)) - 1)) $$ > /dev/null
set_to nop current_tracer

done_testing
