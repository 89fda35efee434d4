#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Instances: what each traces, and their removal while somebody uses them.

. "$(dirname "$0")/tap.sh"

I=$TRACING/instances
a=$I/a
b=$I/b

# read_anew: the traces of both instances have only the calls of this function.
read_anew() {
	: > "$a/trace"
	: > "$b/trace"
	read_bytes 10
}

mkdir "$a" "$b"
echo vfs_read > "$a/set_ftrace_filter"
echo 'vfs_read vfs_write' > "$b/set_ftrace_filter"
set_to vfs_open set_ftrace_filter
for dir in "$a" "$b" "$TRACING"; do
	echo function > "$dir/current_tracer"
done
poke > /dev/null
read_anew
is "$(traced_in "$a"), $(traced_in "$b"), $(traced)" "vfs_read, vfs_read vfs_write, vfs_open" "three tracers, each with its own filter"
echo 1 > "$a/set_ftrace_pid"
read_anew
is "$(traced_in "$a"), $(traced_in "$b")" ", vfs_read vfs_write" "an instance has pids of its own"
echo > "$a/set_ftrace_pid"

echo 1 > "$a/options/func_stack_trace"
read_anew
like "$(trace_lines_in "$a")" '<stack trace>' "options work in their instance"
unlike "$(trace_lines_in "$b")" '<stack trace>' "options do not work in another instance"
# On Linux 6.12 the instances share the options, and a tracer looks at them when it starts.
shared=0
! linux_6 || shared=1
echo nop > "$b/current_tracer"
echo function > "$b/current_tracer"
read_anew
is "$(trace_lines_in "$b" | grep -c -m 1 '<stack trace>') $(cat "$b/options/func_stack_trace")" "$shared $shared" \
	"or, on Linux 6.12, in a tracer that starts later"
echo 0 > "$a/options/func_stack_trace"

echo 'vfs_write:traceoff:1' >> "$a/set_ftrace_filter"
read_bytes 1
is "$(cat "$a/tracing_on")$(cat "$b/tracing_on")$(cat "$TRACING/tracing_on")" 011 "a command acts on its instance alone"

# removing
exec 5< "$a/trace_pipe"
fails_with EBUSY "rmdir with a reader in it" rmdir "$a"
exec 5<&-
exec 5>> "$a/set_ftrace_filter"
fails_with EBUSY "rmdir with a writer of its filter" rmdir "$a"
exec 5>&-
works "rmdir while its tracer runs and a command is set" rmdir "$a"
: > "$b/trace"
read_bytes 10
is "$(traced_in "$b")" "vfs_read vfs_write" "the other instance goes on"
echo nop > "$b/current_tracer"
works "rmdir" rmdir "$b"
set_to nop current_tracer
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

# Files of an instance that is about to go.
n=0
while [ $n -lt 200 ]; do
	cat "$I/race/set_ftrace_filter" "$I/race/set_ftrace_notrace" >/dev/null 2>&1
	n=$((n + 1))
done &
reader=$!
n=0
while kill -0 $reader 2>/dev/null && mkdir "$I/race"; do
	until rmdir "$I/race" 2>/dev/null; do :; done
	n=$((n + 1))
done
wait $reader
at_least "$n" 10 "an instance comes and goes while its files are opened"

done_testing
