#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Instances: each has its own tracer, filter, pids, commands and buffer; mkdir makes an instance,
# rmdir removes it.

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

works "mkdir" mkdir "$a"
works "another" mkdir "$b"
fails_with EEXIST "mkdir of the same name again" mkdir "$a"
is "$(cat "$a/current_tracer") $(cat "$a/set_ftrace_filter")" "nop #### all functions enabled ####" "a new one is empty"
like "$(cat "$a/available_tracers")" '(^| )function( |$)' "a new instance has the function tracer"

echo vfs_read > "$a/set_ftrace_filter"
echo vfs_write > "$b/set_ftrace_filter"
set_to vfs_open set_ftrace_filter
for dir in "$a" "$b" "$TRACING"; do
	echo function > "$dir/current_tracer"
done
poke > /dev/null
read_bytes 10
is "$(traced_in "$a") $(traced_in "$b") $(traced)" "vfs_read vfs_write vfs_open" "three tracers, each with its own filter"
is "$(filter_in "$a") $(filter_in "$b") $(filter)" "vfs_read vfs_write vfs_open" "each filter reads back"
line='^ *[^ ].*-[0-9]+ +\[[0-9]{3}\] [^ ]{5} +[0-9]+\.[0-9]{6}: vfs_read <-[a-zA-Z_0-9.]+$'
is "$(trace_lines_in "$a" | grep -Evc "$line")" 0 "an instance's trace has the same form"

echo nop > "$b/current_tracer"
read_anew
is "$(traced_in "$a") $(traced_in "$b")" "vfs_read " "one stopped, the other goes on"

echo 0 > "$a/tracing_on"
: > "$a/trace"
read_bytes 10
is "$(traced_in "$a")" "" "an instance has a tracing_on of its own"
echo 1 > "$a/tracing_on"

# the same function in two
echo vfs_read > "$b/set_ftrace_filter"
echo function > "$b/current_tracer"
: > "$a/trace"
read_bytes 10
is "$(traced_in "$a") $(traced_in "$b")" "vfs_read vfs_read" "the same function in two instances"

# pids
echo 1 > "$a/set_ftrace_pid"
read_anew
is "$(traced_in "$a") $(traced_in "$b")" " vfs_read" "an instance has pids of its own"
echo > "$a/set_ftrace_pid"

# options
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

# commands
echo 'vfs_write:traceoff:1' >> "$a/set_ftrace_filter"
is "$(filter_in "$a" | grep :) $(filter_in "$b" | grep :)" "vfs_write:traceoff:count=1 " "an instance has commands of its own"
read_bytes 1
is "$(cat "$a/tracing_on")$(cat "$b/tracing_on")$(cat "$TRACING/tracing_on")" 011 "a command acts on its instance alone"
echo '!vfs_write:traceoff:0' >> "$a/set_ftrace_filter"
echo 1 > "$a/tracing_on"

# notrace
echo 'vfs_*' > "$a/set_ftrace_filter"
echo vfs_read > "$a/set_ftrace_notrace"
read_anew
unlike " $(traced_in "$a") " ' vfs_read ' "an instance has a notrace of its own"
is "$(traced_in "$b")" vfs_read "notrace of one instance does not touch the other"

# removing
exec 5< "$a/trace_pipe"
fails_with EBUSY "rmdir with a reader in it" rmdir "$a"
exec 5<&-
exec 5>> "$a/set_ftrace_filter"
fails_with EBUSY "rmdir with a writer of its filter" rmdir "$a"
exec 5>&-
echo 'vfs_write:traceoff' >> "$a/set_ftrace_filter"
works "rmdir while its tracer runs and a command is set" rmdir "$a"
is "$(ls "$I")" b "the removed instance is gone"
like "$(cat "$TRACING/enabled_functions")" '^vfs_read \(1\)' "functions of the removed instance are given back"
unlike "$(cat "$TRACING/enabled_functions")" '^vfs_write ' "the function of the removed instance's command is given back"
: > "$b/trace"
read_bytes 10
is "$(traced_in "$b")" vfs_read "the other instance goes on"
fails_with ENOENT "rmdir again" rmdir "$a"
echo nop > "$b/current_tracer"
works "rmdir" rmdir "$b"

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

# many
for i in 1 2 3 4 5 6; do
	mkdir "$I/n$i"
	echo 'vfs_read' > "$I/n$i/set_ftrace_filter"
	echo function > "$I/n$i/current_tracer"
done
like "$(cat "$TRACING/enabled_functions")" '^vfs_read \(6\)' "six instances on a function"
read_bytes 10
for i in 1 2 3 4 5 6; do
	[ "$(traced_in "$I/n$i")" = vfs_read ] || break
done
is "$i" 6 "all six see it"
rmdir "$I"/n?
set_to nop current_tracer
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

done_testing
