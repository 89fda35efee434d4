#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The flight recorder: what the tracer records is what the function tracer records of the same calls;
# its files; and who stops it.

. "$(dirname "$0")/tap.sh"

need "$TRACING/flight_size_kb"

# The calls of our own task, without times and names of the task.
ours() {
	sed -n "s/^.*-$$ *\[[0-9]*\] [^ ]* *[0-9.]*: //p" "$1"
}

# calls FILE: of a trace file with addresses, as "pages" shows them.
calls() {
	sed -n 's/^ *.*-\([0-9]*\) *\[[^ ]* [^ ]* *\([0-9.]*\): .* <\([0-9a-f]*\)> <-.* <\([0-9a-f]*\)>$/\2 \1 \3 <-\4/p
		s/^ *.*-\([0-9]*\) *\[[^ ]* [^ ]* *\([0-9.]*\): tracing_mark_write.*: 0*later$/\2 \1 event 5/p' "$1"
}

OTHER=$TRACING/instances/other
mkdir "$OTHER"
# One ring would fit. More than the whole memory for a ring, vmalloc() itself refuses.
if [ -d /sys/devices/system/cpu/cpu1 ]; then
	set_to "$(awk '$1 == "MemTotal:" { print ($2 > 1398101 ? 1048576 : int($2 / 4) * 3) }' /proc/meminfo)" flight_size_kb
	fails_with ENOMEM "rings larger than the memory are refused" write "$TRACING/current_tracer" flight
	unlike "$(kernel_log)" 'oom-kill|Out of memory' "  and nobody is killed for them"
	set_to 1024 flight_size_kb
else
	skip "one CPU only"
fi

set_to "vfs_* ksys_*" set_ftrace_filter
set_to 0 tracing_on
set_to 0 instances/other/tracing_on
echo "vfs_* ksys_*" > "$OTHER/set_ftrace_filter"
works "the tracer starts" write "$TRACING/current_tracer" flight
works "the function tracer starts in an instance" write "$OTHER/current_tracer" function
fails_with EBUSY "the size stays while the tracer runs" write "$TRACING/flight_size_kb" 2048
fails_with EINVAL "a clock that is not computed from the time stamp counter is refused" \
	write "$TRACING/trace_clock" mono
works "x86-tsc is accepted" write "$TRACING/trace_clock" x86-tsc
works "the clock local" write "$TRACING/trace_clock" local

set_to 1 tracing_on
set_to 1 instances/other/tracing_on
i=0
# The shell reads byte by byte. More calls would not fit into the ring buffer of the function tracer.
while [ $i -lt 10 ]; do
	read -r _ < /proc/version
	i=$((i + 1))
done
set_to 0 instances/other/tracing_on
set_to 0 tracing_on

ours "$TRACING/trace" > "$TMP.flight"
ours "$OTHER/trace" > "$TMP.function"
at_least "$(grep -c '^vfs_read <-ksys_read' "$TMP.flight")" 200 "each read is recorded"
# The recorder was switched on earlier, and off later.
awk 'NR == FNR { want[n++] = $0; next }
	{ got[m++] = $0 }
	END {
		for (first = 0; first + n <= m; first++) {
			for (i = 0; i < n && got[first + i] == want[i]; i++)
				;
			if (i == n) {
				print "same"
				exit
			}
		}
		print n " calls are not among the " m
	}' "$TMP.function" "$TMP.flight" > "$TMP.same"
is "$(cat "$TMP.same")" same "the function tracer records the same calls, in the same order"
is "$(trace_lines | sed 's/.* \([0-9]*\)\.\([0-9]*\): .*/\1\2/' | sort -nc 2>&1)" "" "times do not go back"
like "$(head -n 1 "$TRACING/trace")" "^# tracer: flight$" "the header has the name of the tracer"
is "$(md5sum < "$TRACING/trace")" "$(md5sum < "$TRACING/trace")" "reading does not remove anything"
like "$(cat "$TRACING/per_cpu/cpu0/stats")" "^flight lost: 0$" "the stats"

# Who reads does not stop it, and gets what was recorded before.
exec 5< "$TRACING/trace"
set_to "" trace
set_to 1 tracing_on
read_bytes 10
set_to 0 tracing_on
cat <&5 > "$TMP.before"
exec 5<&-
is "$(ours "$TMP.before" | diff - "$TMP.flight")" "" "who has opened trace reads what was there"
at_least "$(trace_lines | grep -c 'vfs_read <-')" 10 "  and does not stop the recorder"
set_to 1 tracing_on
taskset 1 sh -c 'read -r _ < /proc/self/stat'
pages -w "$TRACING/per_cpu/cpu0/trace_pipe_raw" > "$TMP.followed" &
follower=$!
# shellcheck disable=SC2016 # the other shell expands it
taskset 1 sh -c 'i=0; while [ $i -lt 20 ]; do read -r _ < /proc/self/stat; sleep 0.05; i=$((i + 1)); done; read -r _ < /proc/self/stat'
at_least "$(grep -c ' <-' "$TMP.followed")" 100 "who reads trace_pipe_raw follows the CPU"
set_to 0 tracing_on
wait $follower
set_to 1 options/sym-addr
is "$(calls "$TRACING/per_cpu/cpu0/trace" | diff - "$TMP.followed" | grep -c '^<')" 0 "  up to the last call"
set_to 0 options/sym-addr

# trace_pipe has events and markers only.
set_to 1 tracing_on
echo marked > "$TRACING/trace_marker"
set_to 0 tracing_on
is "$(sed 's/.*: //' "$TRACING/trace_pipe")" marked "trace_pipe has events without calls"

# Who stops it.
set_to "" trace
is "$(trace_lines | wc -l)" 0 "writing to trace clears it"
set_to "vfs_read:traceoff" set_ftrace_filter
set_to "vfs_read vfs_write" set_ftrace_filter
set_to 1 tracing_on
read_bytes 1
is "$(cat "$TRACING/tracing_on")" 0 "traceoff switches tracing off"
before=$(trace_lines | wc -l)
read_bytes 10
is "$(trace_lines | wc -l)" "$before" "nothing is recorded after traceoff"
echo "!vfs_read:traceoff" >> "$TRACING/set_ftrace_filter"

# A snapshot has what was recorded before, and recording goes on.
set_to nop current_tracer
if [ -e "$TRACING/snapshot" ]; then
	for timed in 0 1; do
		set_to $timed options/flight-time
		set_to flight current_tracer
		set_to 1 tracing_on
		read_bytes 5
		works "flight-time $timed: a snapshot is taken" write "$TRACING/snapshot" 1
		like "$(grep -v '^#' "$TRACING/snapshot")" 'vfs_read <-' "  and has the calls before"
		read_bytes 100
		at_least "$(trace_lines | grep -c 'vfs_read <-')" 100 "  recording goes on"
		is "$(md5sum < "$TRACING/snapshot")" "$(md5sum < "$TRACING/snapshot")" "  the snapshot stays"
		before=$(grep -c 'vfs_read <-' "$TRACING/snapshot")
		works "  another one" write "$TRACING/snapshot" 1
		at_least "$(grep -c 'vfs_read <-' "$TRACING/snapshot")" $((before + 90)) "  has the later calls"
		set_to 2 snapshot
		is "$(grep -vc '^#' "$TRACING/snapshot")" 0 "  and is forgotten"
		set_to nop current_tracer
		set_to 0 snapshot
	done
	set_to 0 options/flight-time
	echo __x64_sys_sync:snapshot:1 >> "$TRACING/set_ftrace_filter"
	set_to flight current_tracer
	read_bytes 5
	sync
	read_bytes 100
	set_to 0 tracing_on
	taken=$(grep -c 'vfs_read <-' "$TRACING/snapshot")
	at_least "$taken" 5 "a command takes one"
	at_least 99 "$taken" "  and the later calls are not in it"
	set_to nop current_tracer
	echo '!__x64_sys_sync:snapshot:0' >> "$TRACING/set_ftrace_filter"
	set_to 0 snapshot
else
	skip "no snapshots"
fi

# A snapshot of before the tracer can be read.
set_to vfs_read set_ftrace_filter
raw=$TRACING/per_cpu/cpu0/snapshot_raw
if [ -e "$raw" ]; then
	set_to function current_tracer
	set_to 1 tracing_on
	taskset 1 sh -c 'read -r _ < /proc/version'
	set_to 1 snapshot
	set_to flight current_tracer
	like "$(cat "$TRACING/snapshot")" '^# +TASK-PID.*FUNCTION$' "a snapshot has its header"
	like "$(cat "$TRACING/snapshot")" 'vfs_read <-' "a snapshot has the calls of the tracer before"
	exec 9< "$raw"
	set_to "" trace
	taskset 1 sh -c 'read -r _ < /proc/version'
	set_to 0 tracing_on
	exec 9<&-
	like "$(cat "$TRACING/per_cpu/cpu0/trace")" 'vfs_read <-' "recording goes on while the pages of a snapshot are read"
	set_to 0 snapshot
	set_to nop current_tracer
else
	skip "no snapshots"
fi

# Who has begun to read goes on with the times that were known then.
set_to "" set_ftrace_filter
set_to flight current_tracer
set_to "" trace
set_to 1 tracing_on
read_bytes 300
set_to 0 tracing_on
exec 5< "$TRACING/trace"
dd bs=4096 count=2 <&5 > "$TMP.begin" 2> /dev/null
set_to "" trace
cat <&5 > "$TMP.rest"
exec 5<&-
sed -n 's/.* \([0-9]*\)\.\([0-9]*\): .*/\1\2/p' "$TMP.rest" > "$TMP.times"
at_least "$(wc -l < "$TMP.times")" 300 "who has begun to read a trace that is cleared reads on"
at_least "$(sort -u "$TMP.times" | wc -l)" 30 "  with the times of the calls"
is "$(sort -nc "$TMP.times" 2>&1)" "" "  which do not go back"
set_to nop current_tracer

# All functions; the rings wrap.
set_to nop instances/other/current_tracer
set_to "" set_ftrace_filter
set_to 64 flight_size_kb
for timed in 0 1; do
	set_to $timed options/flight-time
	set_to flight current_tracer
	set_to "" trace
	set_to 1 tracing_on
	read_bytes 300
	set_to 0 tracing_on
	cat "$TRACING/trace" > "$TMP.all"
	at_least "$(grep -vc '^#' "$TMP.all")" 3000 "flight-time $timed: a full ring is shown"
	like "$(cat "$TRACING"/per_cpu/cpu*/stats)" "^flight overrun: [1-9]" "older records were overwritten"
	is "$(sed -n 's/.* \([0-9]*\)\.\([0-9]*\): .*/\1\2/p' "$TMP.all" | sort -nc 2>&1)" "" "times do not go back"
	is "$(grep -v '^#' "$TMP.all" | grep -vcE '\] [a-zA-Z.]{3}[0-9a-f.]{2} +[0-9.]+: [a-zA-Z_]')" 0 "each line has a function"
	is "$(grep -v '^#' "$TMP.all" | grep -c '0x')" 0 "and known addresses"
	set_to nop current_tracer
done
set_to 0 options/flight-time
set_to 1024 flight_size_kb

set_to vfs_read set_ftrace_filter
set_to flight current_tracer
# An event has an exact time, calls have those of the times around them. A call writes each event.
set_to vfs_write set_ftrace_filter
set_to x86-tsc trace_clock
set_to "" trace
set_to 1 tracing_on
i=0
while [ $i -lt 30 ]; do
	echo "mark $i" > "$TRACING/trace_marker"
	i=$((i + 1))
done
set_to 0 tracing_on
is "$(ours "$TRACING/trace" | sed -n "s/^vfs_write <-.*/call/p; s/^tracing_mark_write: mark //p" | sed -n "/^0\$/,/^29\$/p" | joined)" \
	"$({ echo 0; i=1; while [ $i -lt 30 ]; do echo call; echo $i; i=$((i + 1)); done; } | joined)" \
	"each call is shown on the right side of events"
set_to vfs_read set_ftrace_filter
set_to local trace_clock
set_to "" trace

# A thread that executes a program takes the number of its process, without a switch.
mkfifo "$TMP.in" "$TMP.out"
"$(command -v threads)" < "$TMP.in" > "$TMP.out" &
exec 7> "$TMP.in" 8< "$TMP.out"
read -r leader <&8
echo thread >&7
read -r _ <&8
set_to finalize_exec set_ftrace_filter
set_to 1 tracing_on
echo exec >&7
read -r _ <&8
set_to 0 tracing_on
is "$(trace_lines | sed -n 's/^ *\([^ ]*\) .*: finalize_exec <-.*/\1/p')" "threads-$leader" \
	"a thread that executes a program has its new number"
echo quit >&7
exec 7>&- 8>&-
set_to vfs_read set_ftrace_filter
set_to "" trace

# The same calls and events, in pages of the ring buffer: more than a page, and a time that needs an
# event of its own.
set_to "vfs_* ksys_*" set_ftrace_filter
set_to 1 tracing_on
# shellcheck disable=SC2016
taskset 1 sh -c 'i=0; while [ $i -lt 3 ]; do read -r _ < /proc/version; i=$((i + 1)); done; echo later > "$1"; sleep 0.3
	read -r _ < /proc/version' sh "$TRACING/trace_marker"
set_to 0 tracing_on
set_to 1 options/sym-addr
calls "$TRACING/per_cpu/cpu0/trace" > "$TMP.want"
fails_with ENODEV "trace_pipe_raw cannot be mapped" map "$TRACING/per_cpu/cpu0/trace_pipe_raw"
pages "$TRACING/per_cpu/cpu0/trace_pipe_raw" > "$TMP.read"
pages -s "$TRACING/per_cpu/cpu0/trace_pipe_raw" > "$TMP.spliced"
at_least "$(grep -c ' <-' "$TMP.want")" 500 "the trace of a CPU has more calls than a page"
is "$(diff "$TMP.want" "$TMP.read")" "" "trace_pipe_raw has the same calls and events, with the same times"
is "$(diff "$TMP.spliced" "$TMP.read" | grep '^[<>]' | grep -v ' event 5$')" "" "a second reader, who splices, finds the calls again"
like "$(cat "$TMP.want")" ' event 5$' "one is an event"

# Events that do not fit into a page any more, with a call behind each.
set_to "" trace
set_to vfs_write set_ftrace_filter
set_to 1 tracing_on
# shellcheck disable=SC2016
taskset 1 sh -c 'i=0; while [ $i -lt 20 ]; do printf "%0700dlater\n" 0 > "$1"; i=$((i + 1)); done' sh "$TRACING/trace_marker"
set_to 0 tracing_on
calls "$TRACING/per_cpu/cpu0/trace" > "$TMP.want"
pages "$TRACING/per_cpu/cpu0/trace_pipe_raw" > "$TMP.read"
at_least "$(grep -c ' event 5$' "$TMP.want")" 20 "events fill pages"
is "$(diff "$TMP.want" "$TMP.read")" "" "trace_pipe_raw has the calls behind an event that begins a page"
set_to 0 options/sym-addr
set_to vfs_read set_ftrace_filter

# The records of one CPU are cleared.
if [ -e "$TRACING/per_cpu/cpu1" ]; then
	set_to 1 tracing_on
	taskset 1 sh -c 'read -r _ < /proc/version'
	taskset 2 sh -c 'read -r _ < /proc/version'
	set_to 0 tracing_on
	echo > "$TRACING/per_cpu/cpu1/trace"
	is "$(trace_lines | grep -c '\[001\].*vfs_read <-')" 0 "the records of a CPU are cleared"
	at_least "$(trace_lines | grep -c '\[000\].*vfs_read <-')" 1 "those of another CPU stay"
else
	skip "one CPU only"
fi
set_to nop current_tracer

if [ -e "$MODULES/ftmod_many.ko" ] && insmod "$MODULES/ftmod_many.ko"; then
	M=/sys/module/ftmod_many/parameters
	echo 1 > $M/same
	set_to ftmod_many_func set_ftrace_filter
	# The text of a recorded call goes.
	set_to flight current_tracer
	set_to 1 tracing_on
	cat $M/call > /dev/null
	set_to 0 tracing_on
	rmmod ftmod_many
	is "$(trace_lines | sed 's/.*: //')" "unloaded_module <-unloaded_module" \
		"a call of a module that is gone is shown, without the names of what is there now"
	set_to nop current_tracer
else
	skip "no ftmod_many.ko"
fi
set_to "" set_ftrace_filter

# A CPU leaves and comes back.
cpu=/sys/devices/system/cpu/cpu1/online
if [ -e $cpu ]; then
	set_to vfs_read set_ftrace_filter
	set_to flight current_tracer
	set_to 1 tracing_on
	taskset 2 sh -c 'read -r _ < /proc/version'
	echo 0 > $cpu
	before=$(trace_lines | grep -c '\[001\].*vfs_read <-')
	at_least "$before" 1 "records of a CPU that is offline are shown"
	echo 1 > $cpu
	taskset 2 sh -c 'read -r _ < /proc/version'
	at_least "$(trace_lines | grep -c '\[001\].*vfs_read <-')" $((before + 1)) "a CPU that is back records"
	set_to nop current_tracer
	set_to "" set_ftrace_filter
else
	skip "no CPU can leave"
fi

rmdir "$OTHER"

set_to 1 tracing_on
is "$(trace_lines | wc -l)" 0 "nothing is left"
done_testing
