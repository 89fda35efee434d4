#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# set_ftrace_pid and set_ftrace_notrace_pid, with and without following forks.

. "$(dirname "$0")/tap.sh"

P=$TRACING/set_ftrace_pid
N=$TRACING/set_ftrace_notrace_pid

# Two tasks to trace: each makes one call of vfs_read() for every line that is written to its pipe.
mkfifo "$TMP.f1" "$TMP.f2"
serve() {
	while read -r line; do
		[ "$line" != quit ] || exit 0
		# A builtin reads here without a fork.
		read -r line < /proc/version
		if [ "$line" = fork ]; then
			(read -r line < /proc/version)
		fi
		echo served
	done
}
serve < "$TMP.f1" > "$TMP.o1" &
one=$!
serve < "$TMP.f2" > "$TMP.o2" &
two=$!
exec 7> "$TMP.f1" 8> "$TMP.f2"

# Both tasks read a file while recording.
both_read() {
	set_to "" trace
	set_to 1 tracing_on
	echo go >&7
	echo go >&8
	read_bytes 1
	usleep 100000
	set_to 0 tracing_on
}

# Which of our two tasks, and whether anybody else, are in the trace.
seen() {
	trace_lines | sed -n 's/^ *[^ ].*-\([0-9]*\) *\[.*/\1/p' | sort -un |
		awk -v one="$one" -v two="$two" '
			$1 == one { s = s "one " } $1 == two { s = s "two " } $1 != one && $1 != two { other = "other" }
			END { print s other }'
}

is "$(cat "$P")" "no pid" "set_ftrace_pid is empty: no pid"
is "$(cat "$N")" "no pid" "set_ftrace_notrace_pid is empty: no pid"
set_to vfs_read set_ftrace_filter
set_to function current_tracer
both_read
is "$(seen)" "one two other" "without a pid everybody is traced"

works "a pid" write "$P" $one
is "$(cat "$P")" $one "  reads back"
both_read
is "$(seen)" "one " "only that task is traced"
works "another appended" append "$P" "$two
"
is "$(cat "$P")" "$one
$two" "two pids read back, a line each"
both_read
is "$(seen)" "one two " "both are traced"
works "overwritten" write "$P" $two
both_read
is "$(seen)" "two " "  only the other"
set_to "$one $two" set_ftrace_pid
works "a pid not to trace" write "$N" $two
is "$(cat "$N")" $two "  reads back"
both_read
is "$(seen)" "one " "notrace takes one of them away"
set_to "" set_ftrace_pid
is "$(cat "$P")" "no pid" "cleared"
both_read
is "$(seen)" "one other" "notrace alone: everybody else"
set_to "" set_ftrace_notrace_pid
is "$(cat "$N")" "no pid" "cleared too"
both_read
is "$(seen)" "one two other" "  everybody again"

# The pids apply to a tracer that is switched on later too, and to all functions.
set_to nop current_tracer
set_to $one set_ftrace_pid
set_to function current_tracer
both_read
is "$(seen)" "one " "set before the tracer"
set_to "" set_ftrace_pid

# function-fork: children inherit, the dead are forgotten.
cat > "$TMP.child" << 'END'
read -r x < /proc/version
sh -c "read -r x < /proc/version"
:
END
tasks() {
	trace_lines | sed -n 's/^ *[^ ].*-\([0-9]*\) *\[.*/\1/p' | sort -un
}
set_to 1 options/function-fork
is "$(cat "$TRACING/options/function-fork")" 1 "function-fork on"
set_to $$ set_ftrace_pid
record sh "$TMP.child"
# A task leaves the list when the last use of it is over, some time after its end.
tries=0
while tries=$((tries + 1)) && [ $tries -lt 10 ]; do
	cp "$P" "$TMP.pids"
	tasks | grep -vx $$ | grep -qxFf - "$TMP.pids" || break
	usleep 100000
done
at_least "$(tasks | grep -vcx $$)" 2 "children and grandchildren are traced"
is "$(grep -cx $$ "$TMP.pids")" 1 "the parent is still listed"
is "$(tasks | grep -vx $$ | grep -xFf - "$TMP.pids")" "" "tasks that ended are not listed, after a while"
set_to 0 options/function-fork
set_to $$ set_ftrace_pid
record sh "$TMP.child"
is "$(tasks | grep -vx $$)" "" "without function-fork no child is"
set_to 1 options/function-fork
set_to "" set_ftrace_pid
set_to $$ set_ftrace_notrace_pid
record sh "$TMP.child"
unlike "$(trace_lines)" ' sh-[0-9]+ .*' "notrace is inherited too"
set_to 0 options/function-fork
set_to "" set_ftrace_notrace_pid

# Numbers are those of the initial pid namespace, also if another one writes them.
if unshare -p -f true 2> /dev/null; then
	cat > "$TMP.inside" << 'END'
echo $$ > "$1"
echo > "$2"
read -r x < /proc/version
END
	record unshare -p -f sh "$TMP.inside" "$P" "$TRACING/trace"
	is "$(cat "$P")" 1 "a shell in a pid namespace of its own writes the number that it has there"
	is "$(tasks | grep -vx 1)" "" "  and chooses another task, the one with this number in the initial namespace"
	sed -i 's/\$\$/tgid:&/' "$TMP.inside"
	record unshare -p -f sh "$TMP.inside" "$P" "$TRACING/trace"
	is "$(cat "$P")" tgid:1 "the same with the number of a process"
	is "$(tasks | grep -vx 1)" "" "  and its threads"
	set_to "" set_ftrace_pid
else
	skip "no pid namespaces"
fi

echo quit >&7
echo quit >&8
exec 7>&- 8>&-
wait

done_testing
