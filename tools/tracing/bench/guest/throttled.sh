#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The most int3 that are seen while the patcher has used up its millisecond of CPU in a tenth of a second: a line of
# "name count value value value". The CPUs have to run side by side.

t=/sys/kernel/tracing
group=/tmp/cgroup/patcher

mkdir /tmp/cgroup
mount -t cgroup2 none /tmp/cgroup || exit 1
echo +cpu >/tmp/cgroup/cgroup.subtree_control
mkdir $group
echo "1000 100000" >$group/cpu.max || exit 1
/host/guest/benchio toggle warm_up warm_up 1 $t/current_tracer function nop
/host/guest/int3watch -i -g $group -n 1000 -t 15 $t/current_tracer function nop >/tmp/watch || exit 1
sed 's/^/# /' /tmp/watch
max=$(sed -n 's/^off_max //p' /tmp/watch)
grep -q '^off_scans 0$' /tmp/watch || echo "int3_throttled 1 $max $max $max"
