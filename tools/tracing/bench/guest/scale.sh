#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What changes with the number of call sites: that of the kernel alone, then with one and with two modules of
# 20,000 functions, if they are there. Lines of "name@sites count ticks ns cpu".

here=/host/guest
t=/sys/kernel/tracing
io=$here/benchio

measure()
{
	n=$(sed -n 's/^\([0-9]*\) .*/\1/p' $t/dyn_ftrace_total_info)
	# Once more, to have caches and trace buffers as they will be.
	$io toggle warm_up warm_up 1 $t/current_tracer function nop
	$io toggle "enable_all@$n" "disable_all@$n" 1 $t/current_tracer function nop
	echo kernel_clone >$t/set_ftrace_filter
	$io toggle "register_one@$n" "unregister_one@$n" 1 $t/current_tracer function nop
	echo >$t/set_ftrace_filter
	line=$($io read avail_read 1 $t/available_filter_functions)
	echo "avail_read@$n ${line#* }"
}

measure
first=y
for m in /host/modules/bench_many_*.ko; do
	[ -f "$m" ] || break
	$io load "load_module@$n" "$m"
	measure
	[ -z "$first" ] || echo "avail_read_module ${line#* }"
	first=''
done
