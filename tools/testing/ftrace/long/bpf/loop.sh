#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: loop.sh SECONDS DEADLINE [stuck]
#
# The guest's half of bpf-loop: lines that begin with "ok" or "not ok", and comments.

# A task that sleeps for 30 s and cannot be killed is reported on the console.
echo 30 >/proc/sys/kernel/hung_task_timeout_secs
echo -1 >/proc/sys/kernel/hung_task_warnings
echo 1 >/proc/sys/kernel/sysrq
dmesg -n 8
dmesg -c >/dev/null
uname -r | sed 's/^/# Linux /'

status=0
/host/bpf/bpfloop "$@" 2>&1 || status=$?
[ "$status" -ne 3 ] || exit 3

dmesg | grep -E 'WARNING|BUG|Oops|blocked for more|detected stalls|to be removed|rcu_tasks' >/tmp/reports
if [ -s /tmp/reports ]; then
	status=1
	echo "not ok the kernel log has no report"
	head -n 20 /tmp/reports | sed 's/^/# /'
else
	echo "ok the kernel log has no report"
fi
# What is freed behind everybody's back needs grace periods.
i=0
while [ -s /sys/kernel/tracing/enabled_functions ] && [ $i -lt 30 ]; do
	sleep 1
	i=$((i + 1))
done
if [ -s /sys/kernel/tracing/enabled_functions ]; then
	status=1
	echo "not ok no function is left enabled"
	head -n 20 /sys/kernel/tracing/enabled_functions | sed 's/^/# /'
else
	echo "ok no function is left enabled"
fi
exit "$status"
