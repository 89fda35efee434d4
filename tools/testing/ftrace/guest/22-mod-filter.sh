#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Words and commands for functions of modules, while modules are loaded, go, and fail to load.

. "$(dirname "$0")/tap.sh"
need_module ftmod_a ftmod_fail ftmod_fail_plain

F=$TRACING/set_ftrace_filter
call=/sys/module/ftmod_a/parameters/call
echo 'nest 2' > "$TMP.call"

load() {
	insmod "$MODULES/$1.ko"
}

# not loaded yet
works ":mod:name before it is loaded" write "$F" ":mod:ftmod_a"
like "$(filter)" '^\*?:mod:ftmod_a$' "  reads back as it was written"
set_to function current_tracer
set_to 1 tracing_on
set_to "" trace
load ftmod_a
cp "$TMP.call" $call
set_to 0 tracing_on
like " $(traced) " ' call_set ftmod_a_.*nest ftmod_a_one .*ftmod_a_two ' "functions of a module are traced once it is loaded"
like " $(traced) " ' ftmod_a_init .*ftmod_a_setup ' "functions of the module's __init are traced"
like "$(trace_lines)" ': ftmod_a_two <-ftmod_a_nest$' "  with callers in it"
unlike "$(cat "$TRACING/available_filter_functions")" '^ftmod_a_(init|setup) ' "functions of the module's __init leave the list after init"
sites=$(sed -n 's/ \[ftmod_a\]$//p' "$TRACING/available_filter_functions" | sort | joined)
is "$(filter | sed -n 's/ \[ftmod_a\]$//p' | sort | joined)" "$sites" "the filter holds all functions of the module"
rmmod ftmod_a
is "$(cat "$F" "$TRACING/enabled_functions")" "" "an unloaded module's functions leave the filter"
set_to nop current_tracer
set_to "" set_ftrace_filter

# A command goes with the module: it would act on what is loaded to that place next. So does what the
# command holds.
load ftmod_a
for command in ftmod_a_one:traceoff:5 vfs_rename:traceoff:5 ftmod_a_t*:enable_event:sched:sched_switch; do
	works "$command" append "$F" "$command
"
done
is "$(cat "$TRACING/events/sched/sched_switch/enable")" '0*' "  the event waits for its function"
rmmod ftmod_a
base_todo is "$(filter)" vfs_rename:traceoff:count=5 "  they go with the module, others stay"
base_todo is "$(cat "$TRACING/events/sched/sched_switch/enable")" 0 "  the event waits no longer"
clear_commands "$TRACING"
raw=$TRACING/per_cpu/cpu0/trace_pipe_raw
if [ -e "$TRACING/snapshot" ] && ftio map "$raw" > /dev/null; then
	load ftmod_a
	works "a snapshot at a function of a module" append "$F" "ftmod_a_*:snapshot
"
	fails_with EBUSY "  the ring buffer cannot be mapped" map "$raw"
	rmmod ftmod_a
	base_todo works "  until the module goes" map "$raw"
	set_to 0 snapshot
else
	skip "no ring buffer that can be mapped"
fi

# A module that fails to load: the trace has its names, and the next load is traced.
works "a word for a module that fails to load" write "$F" ":mod:ftmod_fail"
set_to function current_tracer
for time in first second; do
	record insmod "$MODULES/ftmod_fail.ko"
	base_todo like "$(trace_lines)" ': ftmod_fail_one <-ftmod_fail_init$' "the $time try is traced, with names"
	base_todo is "$(filter | sed 's/^\*//')" ":mod:ftmod_fail" "  the word waits again"
done
base_todo is "$(grep -c ' ftmod_fail_one	' /proc/kallsyms)" 1 "the names are kept once"
set_to :mod:ftmod_fail_plain set_ftrace_filter
record insmod "$MODULES/ftmod_fail_plain.ko"
base_todo like "$(trace_lines)" ': ftmod_plain_one <-ftmod_fail_init$' "init functions are traced, of a module without init text, too"
set_to nop current_tracer
set_to "" set_ftrace_filter

# A module that is being unloaded and has lost its sites.
# shellcheck disable=SC2317 # called through settled
sites_of_a() {
	grep -c '\[ftmod_a\]$' "$TRACING/available_filter_functions"
}

insmod "$MODULES/ftmod_a.ko" linger=4000
rmmod ftmod_a &
is "$(settled 0 sites_of_a)" 0 "a module that is being unloaded has no sites"
like "$(cat /proc/modules)" '^ftmod_a .* Unloading ' "  and is still there"
base_todo works "  a word for it" write "$F" "ftmod_a_one:mod:ftmod_a"
base_todo is "$(filter)" "ftmod_a_one:mod:ftmod_a" "  waits for the next one"
wait
load ftmod_a
base_todo is "$(filter)" "ftmod_a_one [ftmod_a]" "  which gets it"
set_to "" set_ftrace_filter
rmmod ftmod_a

# The file is read while the functions of its commands go.
again cat "$F"
for _ in 1 2 3; do
	insmod "$MODULES/ftmod_functions.ko"
	echo 'ftmod_f_*:enable_event:sched:sched_switch' >> "$F"
	rmmod ftmod_functions
done
stop_all
base_todo is "$(filter)" "" "commands go while they are read"
is "$(cat "$TRACING/events/sched/sched_switch/enable")" 0 "  and so does what they do"

done_testing
