#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: messages.sh TIMES GROUPS LOOPS
#
# The hackbench load, TIMES times with function tracing off, or absent, and once with it on.

t=/sys/kernel/tracing

name=hackbench_none
[ ! -f $t/available_filter_functions ] || name=hackbench_off
/host/guest/messages warm_up "$2" "$3"
i=0
while [ $i -lt "$1" ]; do
	/host/guest/messages $name "$2" "$3"
	i=$((i + 1))
done
[ $name = hackbench_off ] || exit 0
echo function >$t/current_tracer
/host/guest/messages hackbench_on "$2" "$3"
