#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: torture.sh SEQUENCE SECONDS
#
# The guest's half of torture: run all workers of the file SEQUENCE at the same time, for SECONDS.
# Then undo what the workers left, and check what is left in the kernel. run-guest does not run this
# script.

# shellcheck disable=SC2317 # functions called through settled() and ok()

SEQUENCE=$1
SECONDS_LONG=$2
. "$(dirname "$0")/tap.sh"
CGROUP=/tmp/cgroup
# Not one of the files that reset() deletes.
BEFORE=/tmp/torture.before
SLAB=/sys/kernel/debug/failslab
LEAKS=/sys/kernel/debug/kmemleak
LIVEPATCH=/sys/kernel/livepatch/livepatch_sample

# What the core keeps in memory while a class, an ops, a trampoline, a filter's lists or a counter
# exist.
core_words() {
	for symbol in by_set dead_dispatches ftrace_ops_registered init_names count_groups first_group; do
		sed -n "s/^\([0-9a-f]*\) [bBdD] $symbol\$/\1/p" /proc/kallsyms > "$TMP.where"
		[ "$(wc -l < "$TMP.where")" = 1 ] || continue
		case $symbol in
		by_set) size=8192 ;;
		first_group) size=32 ;;
		*) size=16 ;;
		esac
		echo "$symbol $(ftio bytes "0x$(cat "$TMP.where")" $size)"
	done
}

# One arena is kept, and need not be the same: then both ends of the list are this arena.
arenas() {
	words=$(ftio bytes "0x$(sed -n 's/^\([0-9a-f]*\) [bBdD] arenas$/\1/p' /proc/kallsyms)" 16)
	[ "$(echo "$words" | cut -d' ' -f1-8)" = "$(echo "$words" | cut -d' ' -f9-16)" ]
}

# How many int3 handlers are looking at a batch, one number for each CPU.
int3_handlers() {
	own=$(sed -n 's/^\(0000000[0-9a-f]*\) [a-zA-Z] handlers$/\1/p' /proc/kallsyms)
	offsets=$(sed -n 's/^\([0-9a-f]*\) [a-zA-Z] __per_cpu_offset$/\1/p' /proc/kallsyms)
	for cpu in 0 1 2 3; do
		words=$(ftio bytes "$(printf '0x%x' $((0x$offsets + 8 * cpu)))" 8)
		offset=$(echo "$words" | awk '{ for (i = 8; i; i--) printf "%s", $i }')
		ftio bytes "$(printf '0x%x' $((0x$offset + 0x$own)))" 4
	done | joined
}

words_differ() {
	core_words > "$TMP.words"
	diff "$BEFORE" "$TMP.words" 2>&1 | wc -l
}

probes_left() {
	cat "$TRACING/dynamic_events" /sys/kernel/debug/kprobes/list 2> /dev/null | wc -l
}

livepatches() {
	[ ! -e "$LIVEPATCH/enabled" ] || echo 0 > "$LIVEPATCH/enabled"
	rmmod livepatch_sample
	find /sys/kernel/livepatch -mindepth 1 | wc -l
}

modules_left() {
	while read -r module _; do
		rmmod "$module"
	done < /proc/modules
	wc -l < /proc/modules
}

# How many workers still run.
workers_left() {
	left=0
	for pid in $pids; do
		[ ! -d "/proc/$pid" ] || left=$((left + 1))
	done
	echo $left
}

mkdir -p $CGROUP
mount -t cgroup2 none $CGROUP
echo +cpu > $CGROUP/cgroup.subtree_control
mkdir -p $CGROUP/t
echo N > $SLAB/ignore-gfp-wait
echo 0 > $SLAB/verbose
# Of the allocations of a worker that "failing 1" was for, one in 140 fails: 5 % of each seventh.
echo Y > $SLAB/task-filter
echo -1 > $SLAB/times
echo 7 > $SLAB/interval
echo 5 > $SLAB/probability
# Linux 6.12 counts the server of fair tasks as a task of its CPU (inc_dl_tasks()). When a CPU goes
# offline, sched_cpu_dying() first looks whether the CPU has other tasks, then stops the server. So
# it warns if the server is queued.
for server in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
	[ ! -e "$server" ] || echo 0 > "$server"
done
[ ! -e /proc/sys/kernel/hung_task_timeout_secs ] || echo 300 > /proc/sys/kernel/hung_task_timeout_secs
echo 100 > "$TRACING/buffer_size_kb"
insmod "$MODULES/ftmod_torture.ko"
[ ! -e "$LEAKS" ] || echo clear > $LEAKS
core_words > "$BEFORE"
is "$(wc -l < "$BEFORE")" 6 "the core's memory can be read"
is "$(all_nops)" "all nops" "all sites are nops before"

pids=
echo "@start"
# The host is the worker that injects NMIs.
workers=$(sed -n "s| .*||p" "$SEQUENCE" | grep -v "^nmi$" | sort -u)
for worker in $workers; do
	(
		# The patcher is a task that is throttled.
		case $worker in
		toggle | filter) sh -c "echo \$PPID > $CGROUP/t/cgroup.procs" ;;
		esac
		# The first victim, if memory is short.
		echo 1000 > /proc/self/oom_score_adj
		exec torturer "$SEQUENCE" "$worker" "$SECONDS_LONG"
	) &
	pids="$pids $!"
done
tries=0
while [ "$(workers_left)" -gt 0 ] && [ $tries -lt $((SECONDS_LONG + 5)) ]; do
	tries=$((tries + 1))
	sleep 1
done
echo max > $CGROUP/t/cpu.max
tries=0
while [ "$(workers_left)" -gt 0 ] && [ $tries -lt 180 ]; do
	tries=$((tries + 1))
	sleep 1
done
echo "@stop"
is "$(workers_left)" 0 "all workers come to their end" || {
	for pid in $pids; do
		[ ! -d "/proc/$pid" ] || sed "s/^/# $pid /" "/proc/$pid/stack"
	done
	echo w > /proc/sysrq-trigger
	echo "1..$tap_count"
	exit 1
}
dead=0
for pid in $pids; do
	wait "$pid" || dead=$((dead + 1))
done
is $dead 0 "no worker gave up"
nmis=$(cat /sys/module/ftmod_torture/parameters/nmis)
! grep -q '^nmi ' "$SEQUENCE" || at_least "$nmis" 1 "NMIs came: $nmis"

# Undo what the workers left.
for cpu in /sys/devices/system/cpu/cpu*/online; do
	echo 1 > "$cpu"
done 2> /dev/null
echo Y > $SLAB/ignore-gfp-wait
echo 0 > $SLAB/probability
[ ! -e /proc/sys/kernel/sched_schedstats ] || echo 0 > /proc/sys/kernel/sched_schedstats
[ ! -e /sys/kernel/debug/sched/preempt ] || echo full > /sys/kernel/debug/sched/preempt
for file in set_graph_function set_graph_notrace; do
	: > "$TRACING/$file"
done
set_to 0 max_graph_depth
[ ! -e "$TRACING/function_profile_enabled" ] || set_to 0 function_profile_enabled
reset
[ ! -e "$TRACING/dynamic_events" ] || : > "$TRACING/dynamic_events"

is "$(settled 0 livepatches 2> /dev/null)" 0 "no livepatch is left"
is "$(settled 0 modules_left 2> /dev/null)" 0 "no module is left: nothing holds one"
is "$(settled 0 probes_left)" 0 "no kprobe is left"
is "$(cat "$TRACING/enabled_functions")" "" "no function is enabled"
is "$(all_nops)" "all nops" "all sites are nops, byte by byte"
is "$(settled 0 trampolines)" 0 "no trampoline is left"
is "$(filter)$(grep -v '^#' "$TRACING/set_ftrace_notrace")" "" "no filter entry is left"
is "$(settled 0 words_differ)" 0 "no class, no ops and no counter is left, says the core's memory" ||
	diff "$BEFORE" "$TMP.words" | cut -c1-200 | sed 's/^/# /'
ok "no arena is left but one" arenas
is "$(int3_handlers)" "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" "no int3 handler is counted"
echo vfs_read > "$TRACING/set_ftrace_filter"
set_to function current_tracer
record read_bytes 10
is "$(traced)" vfs_read "the next operation works"
reset
if [ -e $LEAKS ]; then
	# An object counts as lost if two scans find no pointer to it.
	sleep 6
	echo scan > $LEAKS
	sleep 6
	echo scan > $LEAKS
	# The samples of direct callers set a filter, and if they are then refused, for example because
	# BPF has the function, they go without ftrace_free_filter().
	awk -v RS='unreferenced object' '
		NR > 1 && !(/ ftrace_set_filter_ip\+/ && / do_init_module\+/) { printf "%s%s", RS, $0 }
	' $LEAKS > "$TMP.leaks"
	is "$(core_leaks "$TMP.leaks")" \
		"" "nothing of the core is lost"
	sed 's/^/# /' "$TMP.leaks" | head -n 100
else
	skip "nothing of the core is lost: no $LEAKS"
fi
# The tracepoints of the base warn if they get no memory.
is "$(kernel_log | bad_news | grep -vE 'Call Trace|WARNING: .* at [^ ]*kernel/tracepoint.c:')" "" "no warning"
log_mark
done_testing
