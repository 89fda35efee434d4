#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Modules without a table of call sites: the calls at the heads of their functions become sites when
# a module is loaded, and nothing that resembles such a call does.
#
# The same functions can be traced as in the same module with its table.

. "$(dirname "$0")/tap.sh"
! grep -qw ftrace_test_base /proc/cmdline || skip_all "the base needs a table"
need_module ftmod_a ftmod_a.bare ftmod_a.stripped ftmod_a.unneeded ftmod_a.nothing ftmod_fail.bare ftmod_friends

A=$TRACING/available_filter_functions
S=/sys/module/ftmod_a/sections
call=/sys/module/ftmod_a/parameters/call
echo 'nest 3' > "$TMP.call"
echo 'edge 3' > "$TMP.edge"
count() {
	sed -n '1s/ .*//p' "$TRACING/dyn_ftrace_total_info"
}

# names [MODULE]: the functions of a module that can be traced, sorted.
names() {
	sed -n "s/[[:space:]]*\[${1:-ftmod_a}\]\$//p" "$A" | sort | joined
}

# sites: the addresses and names of the sites of ftmod_a.
sites() {
	grep '\[ftmod_a\]$' "$TRACING/available_filter_functions_addrs"
}

before=$(count)
insmod "$MODULES/ftmod_a.ko"
ok "a module with a table" [ -e $S/__mcount_loc ]
want=$(names)
like "$want" 'ftmod_a_edge .*ftmod_a_one ' "functions of a module with a table can be traced"
unlike "$(kernel_log)" 'no table of call sites' "calls of a module with a table are not looked for"
rmmod ftmod_a

# Without a table.
ok "load the module without a table" insmod "$MODULES/ftmod_a.bare.ko"
is "$(find $S -name '*mcount*')" "" "a bare module has no table"
is "$(names)" "$want" "the same functions of a bare module can be traced"
like "$(kernel_log)" "ftrace: ftmod_a: no table of call sites, but [0-9]+ calls" "the kernel log says why"
is "$(count)" $((before + $(sites | wc -l))) "dyn_ftrace_total_info counts as many"
is "$(sites | ftio nops)" "all nops" "all are nops"

# Filters, calls, and the way back.
works "a name in set_ftrace_filter" write "$TRACING/set_ftrace_filter" ftmod_a_one
works "a glob with a module" append "$TRACING/set_ftrace_filter" 'ftmod_a_[te]*:mod:ftmod_a'
is "$(filter | sort | joined)" "ftmod_a_edge [ftmod_a] ftmod_a_one [ftmod_a] ftmod_a_two [ftmod_a]" \
	"the filter has the functions"
set_to function current_tracer
is "$(cut -d' ' -f1 "$TRACING/enabled_functions" | sort | joined)" "ftmod_a_edge ftmod_a_one ftmod_a_two" \
	"these functions are enabled"
record cp "$TMP.call" $call
is "$(traced)" "ftmod_a_one ftmod_a_two" "calls are traced"
is "$(trace_lines | grep -c 'ftmod_a_one <-ftmod_a_nest$')" 3 "each once"
record cp "$TMP.edge" $call
is "$(trace_lines | grep -c 'ftmod_a_edge <-')" 3 "calls of a site in two pages are traced"
set_to nop current_tracer
is "$(sites | ftio nops)" "all nops" "all are nops again"
ok "unload" rmmod ftmod_a
is "$(count)" "$before" "sites of an unloaded bare module are gone"
is "$(filter)" "" "functions of an unloaded bare module leave the filter"

# Filters that wait for the module, init text, and unloading while functions are traced.
set_to ':mod:ftmod_a' set_ftrace_filter
set_to function current_tracer
set_to "" trace
set_to 1 tracing_on
ok "load while a filter waits for the module" insmod "$MODULES/ftmod_a.bare.ko"
set_to 0 tracing_on
like " $(traced) " ' ftmod_a_init ftmod_a_setup ' "init functions of a bare module are traced"
unlike " $(names) " ' ftmod_a_(init|setup) ' "init functions of a bare module cannot be traced after init"
like "$(cat /proc/kallsyms)" ' ftmod_a_setup	\[ftmod_a\]$' "init functions of a bare module keep their names for the trace"
is "$(cut -d' ' -f1 "$TRACING/enabled_functions" | sort | joined)" "$want" "all other functions are enabled"
ok "unload while the functions are traced" rmmod ftmod_a
is "$(count) $(cat "$TRACING/enabled_functions")" "$before " "sites of a bare module that went while traced are gone"
set_to nop current_tracer
set_to "" set_ftrace_filter
like "$(insmod "$MODULES/ftmod_fail.bare.ko" 2>&1)" 'No such device' "a module that fails to load"
is "$(count)" "$before" "leaves no site behind"

# strip --strip-debug keeps the symbols of all functions. --strip-unneeded keeps global symbols only:
# of this module, the init and the exit function, and the compiler puts no call into exit functions.
# Without options, strip removes all symbols, and the module cannot be loaded.
ok "load the module after strip --strip-debug" insmod "$MODULES/ftmod_a.stripped.ko"
is "$(names)" "$want" "the same functions of a stripped module can be traced"
rmmod ftmod_a
set_to ':mod:ftmod_a' set_ftrace_filter
set_to function current_tracer
set_to "" trace
set_to 1 tracing_on
ok "load the module after strip --strip-unneeded" insmod "$MODULES/ftmod_a.unneeded.ko"
set_to 0 tracing_on
is "$(traced)" "init_module" "a function that still has a symbol is traced"
is "$(names)" "" "functions without a symbol cannot be traced"
ok "functions without a symbol can be called" cp "$TMP.call" $call
rmmod ftmod_a
set_to nop current_tracer
set_to "" set_ftrace_filter
fails_with ENOEXEC "load the module after strip without options" insmod "$MODULES/ftmod_a.nothing.ko"
is "$(count)" "$before" "no site is left"

# False friends.
ok "load a module with false friends" insmod "$MODULES/ftmod_friends.ko"
like " $(names ftmod_friends) " ' ftmod_friends_true ' "the function of the compiler can be traced"
unlike "$(names ftmod_friends)" 'ftmod_friends_(middle|leaf|other|jump|indirect|label|sizeless|table|data|notrace)' \
	"other functions cannot be traced"
P=/sys/module/ftmod_friends/parameters
run_in_module $P bytes
set_to ':mod:ftmod_friends' set_ftrace_filter
set_to function current_tracer
set_to "" trace
set_to 1 tracing_on
run_in_module $P calls
run_in_module $P bytes
set_to 0 tracing_on
like " $(traced) " ' ftmod_friends_true ' "the function of the compiler is traced"
set_to nop current_tracer
set_to "" set_ftrace_filter
run_in_module $P bytes
rmmod ftmod_friends

done_testing
