#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Which tasks the function tracer traces: processes with all their threads, tasks that are chosen while
# they run, CPUs that tracing_cpumask leaves out. Trampolines turn all other tasks away.

. "$(dirname "$0")/tap.sh"

P=$TRACING/set_ftrace_pid
threads=$(command -v threads)

mkfifo "$TMP.in" "$TMP.out"
"$threads" < "$TMP.in" > "$TMP.out" &
exec 7> "$TMP.in" 8< "$TMP.out"

# tell COMMAND: let the process do it, and print its answer.
tell() {
	echo "$1" >&7
	read -r tap_answer <&8
	echo "$tap_answer"
}

# pids_in DIR: the tasks in the trace, each once.
pids_in() {
	trace_lines_in "$1" | sed -n 's/^ *[^ ].*-\([0-9]*\) *\[.*/\1/p' | sort -un | joined
}

# look: all threads of the process, and this shell, make calls while recording.
look() {
	set_to "" trace
	set_to 1 tracing_on
	tell call > /dev/null
	set_to 0 tracing_on
}

# only PID...: "only these" if the trace has these tasks and no others.
only() {
	found=$(pids_in "$TRACING")
	[ "$found" = "$(printf '%s\n' "$@" | sort -n | joined)" ] && echo "only these" || echo "$found"
}

read -r leader <&8
one=$(tell thread)
two=$(tell thread)
set_to vfs_read set_ftrace_filter
set_to function current_tracer

# A process with all its threads.
base_todo works "a process" write "$P" "tgid:$leader"
base_todo is "$(cat "$P")" "tgid:$leader" "  reads back as it was written"
look
base_todo is "$(only "$leader" "$one" "$two")" "only these" "all its threads are traced"
three=$(tell thread)
look
base_todo is "$(only "$leader" "$one" "$two" "$three")" "only these" "a thread that is started later is traced"
set_to "" set_ftrace_pid

# fork, exec and exit.
set_to "tgid:$leader" set_ftrace_pid
set_to 0 options/function-fork
set_to "" trace
set_to 1 tracing_on
child=$(tell fork)
set_to 0 tracing_on
unlike " $(pids_in "$TRACING") " " $child " "without function-fork a child process is not traced"
set_to 1 options/function-fork
set_to "" trace
set_to 1 tracing_on
child=$(tell fork)
set_to 0 tracing_on
base_todo like " $(pids_in "$TRACING") " " $child " "with function-fork it is"
# shellcheck disable=SC2317 # called by settled
listed() {
	grep -cx "tgid:$child" "$P"
}
is "$(settled 0 listed)" 0 "a child leaves the list when it has ended"
base_todo is "$(cat "$P")" "tgid:$leader" "the parent stays"
set_to 0 options/function-fork

# The thread gets the number of the process. Its calls are traced at once.
set_to "" trace
set_to 1 tracing_on
is "$(tell exec)" "$leader" "a thread executes a program, as the process"
set_to 0 tracing_on
base_todo is "$(cat "$P")" "tgid:$leader" "the process is still listed"
four=$(tell thread)
look
base_todo is "$(only "$leader" "$four")" "only these" "the process is traced, with a new thread"
set_to "" set_ftrace_pid

# Numbers are those of the initial pid namespace, also if another one writes them.
if unshare -p -f true 2> /dev/null; then
	cat > "$TMP.inside" << 'END'
echo $$ > "$1"
echo > "$2"
read -r x < /proc/version
END
	record unshare -p -f sh "$TMP.inside" "$P" "$TRACING/trace"
	is "$(cat "$P")" 1 "a shell in a pid namespace of its own writes the number that it has there"
	is "$(pids_in "$TRACING" | sed 's/^1$//')" "" "  and chooses another task, the one with this number in the initial namespace"
	sed -i 's/\$\$/tgid:&/' "$TMP.inside"
	record unshare -p -f sh "$TMP.inside" "$P" "$TRACING/trace"
	base_todo is "$(cat "$P")" tgid:1 "the same with the number of a process"
	is "$(pids_in "$TRACING" | sed 's/^1$//')" "" "  and its threads"
	set_to "" set_ftrace_pid
else
	skip "no pid namespaces"
fi

# A task that runs all the time is chosen and left out: the change counts when the write returns.
set_to "" trace
again dd if=/dev/zero of=/dev/null bs=1 count=500
busy=$!
late=0
missed=0
for i in 1 2 3 4; do
	set_to 1 options/function-fork
	set_to $busy set_ftrace_pid
	set_to 1 tracing_on
	usleep 100000
	[ -n "$(trace_lines | head -n 1)" ] || missed=$((missed + 1))
	set_to 0 options/function-fork
	set_to $$ set_ftrace_pid
	set_to "" trace
	usleep 20000
	set_to 0 tracing_on
	late=$((late + $(trace_lines | grep -vc -e "-$$ ")))
done
is "$missed" 0 "$i times chosen while it runs"
is "$late" 0 "no call after it was left out"
: > "$TMP.stop"
wait $busy
rm "$TMP.stop"
set_to "" set_ftrace_pid

# CPUs that tracing_cpumask leaves out.
last=$(($(nproc) - 1))
if [ "$last" -gt 0 ]; then
	all=$(cat "$TRACING/tracing_cpumask")
	# on_each: the shell makes calls on each CPU. cpus: those that are in the trace.
	# shellcheck disable=SC2317 # called by record
	on_each() {
		for mask in 1 $((1 << last)) $(((1 << (last + 1)) - 1)); do
			taskset -p "$mask" $$
			read_bytes 3
		done
	}
	cpus() {
		trace_lines | sed -n 's/.* \[\([0-9]*\)\] .*/\1/p' | sort -un | joined
	}
	record on_each
	like " $(cpus) " " 000 (.* )?$(printf %03d "$last") " "all CPUs are traced"
	set_to "$(printf %x $((1 << last)))" tracing_cpumask
	record on_each
	is "$(cpus)" "$(printf %03d "$last")" "  one of them"
	set_to "$all" tracing_cpumask
	record on_each
	like " $(cpus) " " 000 (.* )?$(printf %03d "$last") " "  all again"
else
	skip "one CPU only"
fi

# A CPU that comes back.
cpu=/sys/devices/system/cpu/cpu$last/online
if [ "$last" -gt 0 ] && [ -e "$cpu" ]; then
	echo 0 > "$cpu"
	set_to "$leader" set_ftrace_pid
	echo 1 > "$cpu"
	for pid in "$leader" "$four"; do
		taskset -p $((1 << last)) "$pid" > /dev/null
	done
	look
	is "$(only "$leader")" "only these" "a CPU that was away when the pid was set"
else
	skip "no CPU can leave"
fi

# The graph tracer turns tasks away, unless another of its users wants them.
if grep -qw function_graph "$TRACING/available_tracers" && [ -e "$TRACING/function_profile_enabled" ]; then
	# graph_pids: the tasks whose entries are in the trace. Beside another user fgraph.c also passes
	# on returns that were not asked for.
	graph_pids() {
		sed -n '/}/d; s/^.* [^ ]*-\([0-9]*\) *|.*vfs_read.*/\1/p' "$TRACING/trace" | sort -un | joined
	}
	set_to "$leader" set_ftrace_pid
	set_to function_graph current_tracer
	set_to 1 options/funcgraph-proc
	look
	is "$(graph_pids)" "$leader" "the graph tracer traces the chosen task only"
	set_to 1 function_profile_enabled
	look
	is "$(graph_pids)" "$leader" "beside the profiler it traces the chosen task only"
	set_to 0 function_profile_enabled
	set_to "" set_ftrace_pid
	set_to 0 options/funcgraph-proc
	set_to nop current_tracer
else
	skip "no graph tracer, or no profiler"
fi

echo quit >&7
exec 7>&- 8<&-
wait
done_testing
