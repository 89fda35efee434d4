#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What failslab cannot refuse: each allocation of per-CPU memory, and each allocation of large
# memory as a whole, fails once. Either the operation is refused and nothing has changed, or the
# operation has worked in full without that memory.

. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/ftrace/guest/failing.sh
. "$(dirname "$0")/failing.sh"
need_module ftmod_refuse
# CPUs are no matter here, and guests with many CPUs have the most to do.
[ ! -e /sys/devices/system/cpu/cpu3 ] || skip_all "runs with fewer CPUs"

insmod "$MODULES/ftmod_refuse.ko" || skip_all "no ops can change where a call goes"
HOW=refuse
echo > "$F"
each_fails "trace all functions" large_state tracer_off write "$TRACING/current_tracer" function
set_to function current_tracer
FREE=$(idle "$TRACING/current_tracer")
each_fails "trace no function any more" large_state tracer_on write "$TRACING/current_tracer" nop
FREE=
FILE=$F BACK=
each_fails "write a glob of many functions while all are traced" large_state file_back write "$F" "*a*
"
set_to nop current_tracer
each_fails "append a glob of many functions" large_state file_back append "$F" "*a*
"
each_shows "read all functions" large_state sum "$TRACING/available_filter_functions"
echo '*a*' > "$F"
each_shows "read a filter of many functions" large_state sum "$F"
each_fails "trace many functions" large_state tracer_off write "$TRACING/current_tracer" function
set_to function current_tracer
each_shows "read the functions that are on" large_state sum "$TRACING/enabled_functions"
FREE=$(idle "$TRACING/current_tracer")
each_fails "trace many functions no more" large_state tracer_on write "$TRACING/current_tracer" nop
FREE=
set_to nop current_tracer
echo > "$F"
each_fails "set a command for many functions" large_state glob_off append "$F" "v*:traceoff
"
if [ -e "$TRACING/set_graph_function" ]; then
	each_fails "trace all functions by the graph tracer" large_state tracer_off write "$TRACING/current_tracer" function_graph
fi
if [ -e "$TRACING/function_profile_enabled" ]; then
	each_fails "switch the profiler on" profiling profiling_back write "$TRACING/function_profile_enabled" 1
fi
if [ -e "$MODULES/ftmod_functions.ko" ]; then
	SAID='ftrace: ftmod_functions: .*not traced'
	# Behind the first allocations are those for the types of the module.
	MOST=25
	each_fails "load a module of many functions" many_state many_back insmod "$MODULES/ftmod_functions.ko"
	set_to function current_tracer
	each_fails "load a module of many functions that are traced" many_state many_back insmod "$MODULES/ftmod_functions.ko"
	MOST=1000
	SAID=
	insmod "$MODULES/ftmod_functions.ko"
	FREE=0
	each_fails "unload a module of many functions that are traced" many_state many_there rmmod ftmod_functions
	FREE=
	set_to nop current_tracer
	many_back
else
	skip "no ftmod_functions.ko"
fi
instance_fresh
each_fails "leave repeats out in an instance" instance_state instance_fresh \
	write "$TRACING/instances/f/options/func-no-repeats" 1
echo nop > "$TRACING/instances/f/current_tracer"
no_instance
each_fails "make an instance" instances no_instance mkdir "$TRACING/instances/f"
if [ -e /sys/kernel/btf/vmlinux ]; then
	attached fentry
	attached multi
else
	skip "no BTF"
fi
if [ -e "$MODULES/ftmod_direct.ko" ] && insmod "$MODULES/ftmod_direct.ko"; then
	direct=all
	each_fails "register a direct caller" direct_state direct_off write "$D/step" all
	direct_on
	each_fails "modify a direct caller" direct_state direct_on write "$D/step" modify
	direct_off
	rmmod ftmod_direct
else
	skip "no ftmod_direct.ko"
fi
if [ -e "$MODULES/ftmod_callback.ko" ]; then
	insmod "$MODULES/ftmod_callback.ko"
	one_more 1
	echo '0 forget' > "$P/step"
else
	skip "no ftmod_callback.ko"
fi
rmmod ftmod_refuse
echo "# $points allocations of large or per-CPU memory failed, one at a time"
is "$(all_nops)" "all nops" "all sites are nops"
is "$(complaints)" "" "nothing bad in the kernel log"
log_mark

done_testing
