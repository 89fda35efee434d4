#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of guest.t: takes snapshots, and prints them and the trace.

H=/host/programs
T=/sys/kernel/tracing/instances/flight

# show_file NAME
show_file() {
	echo "begin $1"
	base64 "/tmp/$1"
	echo end
}

$H/flight start --size 1 -F vfs_read -F 'ksys_re*'
i=0
while [ $i -lt 5 ]; do
	read -r _ < /proc/version
	i=$((i + 1))
done
echo 0 > $T/tracing_on
$H/flight snapshot -o /tmp/few
sed -n 's/^.*-\([0-9]*\) *\[\([0-9]*\)\] [^ ]* *\([0-9.]*\): \([^ ]* <-[^ ]*\)$/trace \1 \2 \3 \4/p' $T/trace
show_file few

$H/flight start --size 8 --time
# shellcheck disable=SC2012 # this is to make calls
ls -l /proc | head -n 3 > /dev/null
$H/flight snapshot --last 4000 -o /tmp/all
show_file all

# A ring that is overwritten all the time.
$H/flight start --size 1
while :; do read -r _ < /proc/version; done &
sleep 1
$H/flight snapshot -o /tmp/busy
kill $!
$H/flight show --flat /tmp/busy | sed -n 's/^.*\[\([0-9]*\)\].*/\1/p' | sort | uniq -c |
	sort -rn | sed -n 's/^ *\([0-9]*\) .*/busy \1/p;q'
echo "recording $(cat $T/tracing_on)"

$H/flight start --size 8 --time --returns
# shellcheck disable=SC2012 # as above
ls -l /proc | head -n 3 > /dev/null
$H/flight snapshot --last 4000 -o /tmp/returns
show_file returns

$H/flight start --size 8 --slower 10000
# shellcheck disable=SC2012 # as above
ls -l /proc | head -n 3 > /dev/null
sleep 0.05
$H/flight snapshot -o /tmp/slower
show_file slower
echo "threshold $(cat /sys/kernel/tracing/tracing_thresh)"
$H/flight start --size 8 --time

$H/flight snapshot --trigger __x64_sys_sync --last 100 -o /tmp/trigger &
sleep 1
sync
wait
show_file trigger
$H/flight status
sh $H/cases.sh
$H/flight start --cpu 1
echo "one CPU $(cat $T/tracing_cpumask)"
$H/flight start
echo "all CPUs $(cat $T/tracing_cpumask)"
echo 0 > $T/tracing_on
timeout 20 $H/flight snapshot --trigger __x64_sys_sync -o /tmp/off
echo "while off $?"
$H/flight start
timeout 20 $H/flight snapshot --trigger no_such_function -o /tmp/off
echo "no trigger $?"
timeout 20 $H/flight snapshot --event sched:no_such_event -o /tmp/off
echo "no event $?"
$H/flight stop
$H/flight start -F no_such_function
echo "no function $?"
$H/flight status
