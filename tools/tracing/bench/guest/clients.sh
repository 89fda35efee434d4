#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: clients.sh TIMES
#
# Clients of function tracing that come and go one by one, TIMES times.

t=/sys/kernel/tracing
probe=/sys/module/bench_fprobe/parameters
times=$1

awk 'NF == 1 && !/[.]/ { print $1 }' $t/available_filter_functions >/tmp/functions

# fprobes NAME COMMAND: the module times itself.
fprobes()
{
	echo "$2" >$probe/run || exit 1
	read -r ticks ns <$probe/result
	echo "$1 100 $ticks $ns $ticks"
}

insmod /host/modules/bench_fprobe.ko || exit 1
n=$(wc -l </tmp/functions)
names=$(awk -v "step=$((n / 100))" 'NR % step == 0 && ++taken <= 100 { print $1 }' /tmp/functions | tr '\n' ' ')
echo "$names" >$probe/names || exit 1
i=0
while [ $i -lt "$times" ]; do
	/host/guest/bpf bpf_attach_500 bpf_detach_500 500 /tmp/functions || exit 1
	fprobes fprobe_attach_100 attach
	fprobes fprobe_detach_100 detach
	i=$((i + 1))
done
