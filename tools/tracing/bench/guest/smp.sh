#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What changes of all sites do to the other CPU: lines of "name count value value value". The CPUs have to run side by side.

t=/sys/kernel/tracing
watch=/host/guest/int3watch
io=/host/guest/benchio

# say NAME VALUE [COUNT]
say()
{
	echo "$1 ${3:-1} $2 $2 $2"
}

# of WORD: its value in what int3watch printed.
of()
{
	sed -n "s/^$1 //p" /tmp/watch
}

$io toggle warm_up warm_up 1 $t/current_tracer function nop

$watch -n 20 $t/current_tracer function nop >/tmp/watch || exit 1
sed 's/^/# /' /tmp/watch
say int3_sites_max "$(of max)"
say site_seconds "$(of site_us)" "$(of changes)"

$watch -s 30 -n 1000 -t 15 $t/current_tracer function nop >/tmp/watch || exit 1
sed 's/^/# /' /tmp/watch
[ "$(of off_scans)" -eq 0 ] || say int3_off_cpu "$(of off_max)"

$watch -l -s 30 -n 60 $t/current_tracer function nop >/tmp/watch || exit 1
sed 's/^/# /' /tmp/watch
say stat_traced "$(of idle_median)"
say stat_traced_slow "$(of idle_slow)"
say stat_spin "$(of spin_median)"
say stat_spin_slow "$(of spin_slow)"
