#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: main.sh TIMES
#
# Everything that one guest with 2 CPUs can measure, TIMES times: lines of "name count ticks ns cpu". Where guest
# time counts instructions, once is enough.

times=$1
here=/host/guest
modules=/host/modules
t=/sys/kernel/tracing
io=$here/benchio

say()
{
	echo "$1 1 $2 $2 $2"
}

# repeat COMMAND...
repeat()
{
	i=0
	while [ $i -lt "$times" ]; do
		"$@"
		i=$((i + 1))
	done
}

sites()
{
	sed -n 's/^\([0-9]*\) .*/\1/p' $t/dyn_ftrace_total_info
}

# passed NAME COUNT COMMAND: once more as NAME_passed, with the time that passed, where that is not what NAME stands for.
passed()
{
	line=$($io run "$@")
	echo "$line"
	echo "${1}_passed ${line#* }"
}

# The first ops on a kernel where nothing is traced, and the last.
register_one()
{
	$io run register_one 1 "register 0 1"
	passed unregister_one 1 "unregister 0 1"
}

calls()
{
	repeat $io run "$1" 10000 "call 10000"
}

# with NAME COUNT HOW ELSEWHERE: calls with so many ops on the site and on another.
with()
{
	$io tell "prepare 100 $4 other"
	$io tell "register 100 $4"
	$io tell "prepare 0 $2 target $3"
	$io tell "register 0 $2"
	calls "$1"
	$io tell "unregister 0 $2"
	$io tell "unregister 100 $4"
}

# recorded NAME [OPTION]...: calls that the flight recorder records with these options.
recorded()
{
	name=$1
	shift
	for option; do
		echo 1 >"$t/options/$option"
	done
	echo flight >$t/current_tracer
	calls "$name"
	echo nop >$t/current_tracer
	for option; do
		echo 0 >"$t/options/$option"
	done
}

# thousand NAME VERB UNDO-NAME UNDO-VERB HOW: each ops on its own function. A single one waits for grace periods when it
# goes, so on a real clock it is the same in fewer of them.
thousand()
{
	n=1000
	[ "$times" -eq 1 ] || n=10
	$io tell "prepare 0 1 each"
	$io tell "register 0 1"
	$io tell "prepare 1 $n each $5"
	i=0
	while [ $i -lt "$times" ]; do
		$io run "$1" $n "$2 1 $n"
		passed "$3" $n "$4 1 $n"
		i=$((i + 1))
	done
	$io tell "unregister 0 1"
}

# crowd NAME COUNT WHERE: many ops, as perf makes one for each task, on the same functions. The first ops are not what is
# measured. On a real clock fewer ops will do.
crowd()
{
	n=$2
	[ "$times" -eq 1 ] || n=$((n / 10))
	$io tell "prepare 0 $((n + 2)) $3"
	$io tell "register $n 2"
	i=0
	while [ $i -lt "$times" ]; do
		$io run "register_$1" "$n" "register 0 $n"
		[ "$3 $n" != "target 1000" ] || $io run call_1000ops 100 "call 100"
		$io run "unregister_$1" "$n" "unregister 0 $n"
		i=$((i + 1))
	done
	$io tell "unregister $n 2"
}

insmod $modules/bench_ftrace.ko || exit 1
n=$(sites)
say sites "$n"
say site_table_pages "$(sed -n 's/.*pages:\([0-9]*\).*/\1/p' $t/dyn_ftrace_total_info)"

# The first time sizes the ring buffer and is not what is measured.
$io toggle warm_up warm_up 1 $t/current_tracer function nop
$io toggle enable_all disable_all "$times" $t/current_tracer function nop
flight=$(grep -w flight $t/available_tracers)
if [ "$flight" ]; then
	$io toggle enable_flight disable_flight "$times" $t/current_tracer flight nop
	echo 1 >$t/options/flight-returns
	$io toggle enable_flight_returns disable_flight_returns "$times" $t/current_tracer flight nop
	echo 0 >$t/options/flight-returns
fi

$io tell "prepare 0 1 each"
repeat register_one

$io read avail_read "$times" $t/available_filter_functions
$io write filter_glob "$times" $t/set_ftrace_filter '*lock*
' '
'
$io write filter_clear "$times" $t/set_ftrace_filter '
' 'vfs_read
'
awk 'NR % 15 == 0 { print $1 }' $t/available_filter_functions >/tmp/names
$io names filter_1000_names $t/set_ftrace_filter /tmp/names 1000
echo >$t/set_ftrace_filter

with call_off 0 "" 0
with call_1op 1 "" 0
with call_1op_regs 1 regs 0
with call_1op_recursion 1 recursion 0
with call_2ops 2 "" 0
with call_8ops 8 "" 0
with call_1op_32_elsewhere 1 "" 32
with call_2ops_32_elsewhere 2 "" 32

echo bench_target >$t/set_ftrace_filter
echo function >$t/current_tracer
calls trace_event
# Another task is traced than the one that calls, and another CPU than that of the calls.
sleep 1000 &
echo $! >$t/set_ftrace_pid
calls call_pid_other
echo >$t/set_ftrace_pid
kill $!
cpus=$(cat $t/tracing_cpumask)
echo 2 >$t/tracing_cpumask
calls call_cpumask_other
echo "$cpus" >$t/tracing_cpumask
echo nop >$t/current_tracer
if grep -q function_graph $t/available_tracers; then
	echo function_graph >$t/current_tracer
	calls graph_event
	sleep 1000 &
	echo $! >$t/set_ftrace_pid
	calls graph_pid_other
	echo >$t/set_ftrace_pid
	kill $!
	echo nop >$t/current_tracer
fi
if [ "$flight" ]; then
	recorded flight_event
	recorded flight_event_time flight-time
	recorded flight_call_return flight-returns
	recorded flight_call_return_time flight-returns flight-time
fi
echo >$t/set_ftrace_filter

crowd same_1000 1000 target
crowd all_100 100 all
thousand register_1000 register unregister_1000 unregister ''
thousand direct_1000 direct undirect_1000 undirect "direct own"

# What follows is counted once, and means nothing where an emulator's own scheduling is in the figures.
[ "$times" -eq 1 ] || exit 0

# An ops that has a trampoline gets all functions: only the patching, not what the tracer sets up besides. Counted are the
# broadcasts that are queued for CPU 1, which is not idle. A SCHED_FIFO task is not asked to give up its CPU at a tick; a
# change that is asked to empties its pipeline first, with two more broadcasts.
$io tell "prepare 0 1 target"
$io tell "register 0 1"
echo 1 >$t/events/csd/csd_queue_cpu/enable
echo >$t/trace
taskset 2 sh -c 'while :; do :; done' &
busy=$!
sleep 0.1
$io urge "all 0 1"
echo 0 >$t/tracing_on
kill $busy
say sync_rounds "$(grep -c 'cpu=1 .*func=\(do_sync_core\|sync_interrupt\)' $t/trace)"
echo 0 >$t/events/csd/csd_queue_cpu/enable
echo 1 >$t/tracing_on
$io tell "unregister 0 1"

# With nothing recorded, or the timer's own functions take up the time between two of its ticks.
echo 0 >$t/tracing_on
$io tell "late on 29000"
sleep 0.1
$io run irqs_off_idle 1 "late off"
$io tell "late on 29000"
$io toggle warm_up warm_up 3 $t/current_tracer function nop
$io run irqs_off_max 1 "late off"
# The emulator runs its CPUs in turn, from one timer's tick to the next. At 50000 the base did not come back once.
$io tell "late on 200000"
$io stall cpu_stall_idle 0 $t/current_tracer function nop
$io stall cpu_stall_max 1 $t/current_tracer function nop
$io tell "late off"
echo 1 >$t/tracing_on

# Neither kernel says how long it took in the same words, but both print the same before and after it.
dmesg | awk '
	{ time = $0; sub(/^\[ */, "", time); sub(/\].*/, "", time) }
	/SLUB: HWalign/ { from = time }
	/rcu: Preemptible hierarchical/ { ns = (time - from) * 1e9; printf "boot_convert 1 %d %d %d\n", ns, ns, ns }'
