#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: clients.sh TIMES [PART]...
#
# What tools do to attach to functions, and to detach: BPF programs, fprobes, trace events, filters, TIMES times; and what a call
# costs with an empty BPF program. "_all" is all functions that have a name of their own. The parts are functions
# below, which say so.

t=/sys/kernel/tracing
probe=/sys/module/bench_fprobe/parameters
list=$t/available_filter_functions_addrs
io=/host/guest/benchio
attach=/host/guest/attach
times=$1
shift

# fprobes NAME COMMAND: the module times itself.
fprobes()
{
	echo "$2" >$probe/run || exit 1
	read -r ticks ns <$probe/result
	echo "$1 100 $ticks $ns $ticks"
}

# passed NAME COUNT COMMAND...: benchio says what it takes, and the same as NAME_passed, for the time with all waits.
passed()
{
	name=$1 n=$2 verb=$3
	shift 3
	line=$($io "$verb" "$name" "$@") || exit 1
	echo "$name $n ${line#* * }"
	echo "${name}_passed $n ${line#* * }"
}

# probed: functions that can have a kprobe. To try them takes long.
probed()
{
	[ -s /tmp/probes ] || $attach list 1000 $list >/tmp/probes || exit 1
}

# events TYPE NAME COUNT: a trace event for each function. First it is enabled in its files, then as perf does.
events()
{
	system=/sys/kernel/tracing/events/$2
	awk -v "n=$3" -v "event=$1:$2/" 'NR % int(total / n) == 0 && ++taken <= n { print event $2 " " $2 what }' \
		total=1000 what="$4" /tmp/probes >/tmp/events
	passed "create_$2_$3" "$3" file $t/dynamic_events /tmp/events
	passed "enable_$2_$3" "$3" write 1 "$system/enable" 1
	passed "disable_$2_$3" "$3" write 1 "$system/enable" 0
	# shellcheck disable=SC2046 # one argument each
	$attach perf "$2_$3" $(cat "$system"/*/id) || exit 1
	passed "delete_$2_$3" "$3" write 1 $t/dynamic_events ''
	sleep 1
}

# calls NAME KIND COUNT: of a function with the program, which is on so many others.
calls()
{
	$attach hold "$2" "$3" $list bench_target $io run "$1" 10000 "call 10000" || exit 1
}

insmod /host/modules/bench_fprobe.ko || exit 1
awk 'NF == 2 && $2 !~ /[.]/ { print $2 }' $list | sort | uniq -u >/tmp/functions
n_functions=$(wc -l </tmp/functions)
names=$(awk -v "step=$((n_functions / 100))" 'NR % step == 0 && ++taken <= 100 { print $1 }' /tmp/functions | tr '\n' ' ')
echo "$names" >$probe/names || exit 1
awk -v "step=$((n_functions / 1000))" 'NR % step == 0 && ++taken <= 1000 { print $1 }' /tmp/functions >/tmp/names

# Part: many functions at once.
links()
{
	fprobes fprobe_attach_100 attach
	fprobes fprobe_detach_100 detach
	for how in names addrs; do
		$attach multi kprobe_multi_${how}_1 kprobe $how 1 $list
		$attach multi kprobe_multi_${how}_1000 kprobe $how 1000 $list
		$attach multi kprobe_multi_${how}_all kprobe $how 0 $list
	done
	$attach glob kprobe_multi_glob kprobe 'vfs_*' $list
	$attach multi kprobe_session_1000 session names 1000 $list
	$attach multi kprobe_session_all session names 0 $list
	$attach multi fentry_multi_1000 fentry ids 1000 $list
	$attach multi fexit_multi_1000 fexit ids 1000 $list
}

# Part: one function after the other.
each()
{
	$attach each kprobe_multi_each_1000 kprobe 1000 $list
	if [ -e /sys/kernel/btf/vmlinux ]; then
		$attach each fentry_1000 fentry 1000 $list
		$attach each fexit_1000 fexit 1000 $list
	fi
	probed
	$attach kprobes perf_kprobe_1000 kprobe /tmp/probes
	$attach kprobes perf_kretprobe_1000 kretprobe /tmp/probes
}

# Part: trace events.
probes()
{
	probed
	events f fevent 1
	events f fevent 100
	events f fevent 1000
	events f freturn 100 %return
	events p kevent 100
	events p kevent 1000
	events r kreturn 100
	passed create_glob 1 write 1 $t/dynamic_events 'f:glob/glob vfs_*
'
	passed enable_glob 1 write 1 $t/events/glob/enable 1
	passed disable_glob 1 write 1 $t/events/glob/enable 0
	passed delete_glob 1 write 1 $t/dynamic_events ''
}

# Part: filters.
filters()
{
	$io append filter_append_1000 $t/set_ftrace_filter /tmp/names 1000
	echo >$t/set_ftrace_filter
	$io names graph_function_1000 $t/set_graph_function /tmp/names 1000
	$io toggle graph_1000_on graph_1000_off 1 $t/current_tracer function_graph nop
	echo >$t/set_graph_function
}

# Part: calls, with interrupts off.
cost()
{
	insmod /host/modules/bench_ftrace.ko || exit 1
	calls call_kprobe_multi kprobe none
	calls call_kprobe_multi_all kprobe 0
	calls call_kretprobe_multi kretprobe none
	calls call_kprobe_session session none
	calls call_kprobe_session_all session 0
	rmmod bench_ftrace
}

[ $# -gt 0 ] || set -- links each probes filters cost
i=0
while [ $i -lt "$times" ]; do
	for part; do
		$part
	done
	i=$((i + 1))
done
