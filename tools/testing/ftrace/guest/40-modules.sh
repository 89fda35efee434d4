#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Modules that load, unload and fail to load while everything is traced.

. "$(dirname "$0")/tap.sh"
need_module ftmod_a ftmod_fail ftmod_callback

echo 'nest 3' > "$TMP.call"
echo 'edge 3' > "$TMP.edge"
echo 'brim 3' > "$TMP.brim"
call=/sys/module/ftmod_a/parameters/call
count() {
	sed -n '1s/ .*//p' "$TRACING/dyn_ftrace_total_info"
}

before=$(count)
# Only functions of modules are traced, because that is quick. All of them are traced, so sites must
# be switched on when a module is loaded.
set_to '*:mod:ftmod_a' set_ftrace_filter
echo '*:mod:ftmod_fail' >> "$TRACING/set_ftrace_filter"
set_to function current_tracer
set_to "" trace
ok "load while tracing" insmod "$MODULES/ftmod_a.ko"
set_to 0 tracing_on
like " $(traced) " ' ftmod_a_init ftmod_a_setup ' "init functions are traced"
like "$(cat /proc/kallsyms)" ' ftmod_a_setup	\[ftmod_a\]$' "init functions keep their names for the trace"
set_to 1 tracing_on
record cp "$TMP.call" $call
is "$(trace_lines | grep -c 'ftmod_a_one <-ftmod_a_nest$')" 3 "calls are, with their callers"
addrs=''
for across in edge:ffd brim:ffc; do
	name=${across%:*}
	addr=$(sed -n "s/ ftmod_a_$name .*//p" "$TRACING/available_filter_functions_addrs")
	addrs="$addrs $addr"
	like "$addr" "${across#*:}\$" "the site of ftmod_a_$name lies in two pages"
	record cp "$TMP.$name" $call
	is "$(trace_lines | grep -c "ftmod_a_$name <-")" 3 "calls of ftmod_a_$name are traced"
	like "$(ftio bytes "$addr" 5)" '^e8 ' "the site of ftmod_a_$name is a call"
done
set_to nop current_tracer
for addr in $addrs; do
	is "$(ftio bytes "$addr" 5)" "$NOP" "the site of ftmod_a_$name is a nop afterwards"
done
set_to function current_tracer
set_to 1 tracing_on
ok "unload while tracing" rmmod ftmod_a
set_to 0 tracing_on
is "$(count)" "$before" "sites of a module that went while tracing are gone"
unlike "$(cat "$TRACING/enabled_functions")" 'ftmod_a' "no function of a module that went while tracing is enabled"
unlike "$(cat /proc/kallsyms)" 'ftmod_a_' "init functions have no name any more"

set_to "" trace
set_to 1 tracing_on
tap_out=$(insmod "$MODULES/ftmod_fail.ko" 2>&1)
like "$tap_out" 'No such device' "a module that fails to load"
set_to 0 tracing_on
# Nobody keeps the names of a module that never came to be: maybe addresses only.
at_least "$(trace_lines | grep -c ' <-')" 2 "  is traced while it tries"
is "$(count)" "$before" "a module that fails to load leaves no site"
set_to nop current_tracer

# A class goes with its last site, even if a module took the site away, and its trampoline a while later.
is "$(settled 0 trampolines)" 0 "no trampoline is left"

# Loading and unloading while somebody else switches tracing on and off.
# shellcheck disable=SC2317 # called by again
toggle() {
	set_to function current_tracer
	set_to nop current_tracer
}
set_to 'vfs_* ftmod_*' set_ftrace_filter 2> /dev/null || set_to 'vfs_*' set_ftrace_filter
again toggle
loads=0
for i in 1 2 3 4 5 6; do
	insmod "$MODULES/ftmod_a.ko" && cp "$TMP.call" $call
	insmod "$MODULES/ftmod_callback.ko"
	insmod "$MODULES/ftmod_fail.ko" 2> /dev/null
	rmmod ftmod_callback && rmmod ftmod_a && loads=$i
done
stop_all
is "$loads" 6 "six times in and out beside toggling"
set_to nop current_tracer
is "$(count)" "$before" "as many sites as at the start"
is "$(cat "$TRACING/enabled_functions")" "" "no function is enabled after six rounds"
is "$(all_nops)" "all nops" "all nops"

done_testing
