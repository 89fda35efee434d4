#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# func:mod:module in set_ftrace_filter and set_ftrace_notrace, for modules that are loaded and for
# modules that are loaded later.

. "$(dirname "$0")/tap.sh"
need_module ftmod_a ftmod_callback

F=$TRACING/set_ftrace_filter
N=$TRACING/set_ftrace_notrace
call=/sys/module/ftmod_a/parameters/call

load() {
	insmod "$MODULES/$1.ko"
}

names() {
	filter | cut -d' ' -f1 | sort | joined
}

mod_sites() {
	sed -n "s/ \[$1\]\$//p" "$TRACING/available_filter_functions" | sort | joined
}

# loaded
load ftmod_a
load ftmod_callback
sites=$(mod_sites ftmod_a)
like " $sites " ' ftmod_a_nest ftmod_a_one .*ftmod_a_two ' "the module's functions can be traced"
works ":mod:name" write "$F" ":mod:ftmod_a"
is "$(names)" "$sites" "all functions of the module, and no others"
is "$(filter | grep -vc '^ftmod_a_[a-z]* \[ftmod_a\]$\|^call_set \[ftmod_a\]$')" 0 "each reads back as: name [module]"
works "glob:mod:name" write "$F" "ftmod_a_t*:mod:ftmod_a"
is "$(names)" "ftmod_a_two" "matches in the module only"
set_to function current_tracer
set_to ':mod:ftmod_a' set_ftrace_filter
echo 'nest 2' > "$TMP.call"
record cp "$TMP.call" $call
is "$(traced)" "call_set ftmod_a_nest ftmod_a_one ftmod_a_two" "tracing a module"
like "$(trace_lines)" ': ftmod_a_two <-ftmod_a_nest$' "  with callers in it"
works "the module in notrace" write "$N" "ftmod_a_o*:mod:ftmod_a"
record cp "$TMP.call" $call
is "$(traced)" "call_set ftmod_a_nest ftmod_a_two" "  less what notrace has"
set_to "" set_ftrace_notrace
rmmod ftmod_a
is "$(names)" "" "an unloaded module's functions leave the filter"
unlike "$(cat "$F")" 'all functions enabled' "a filter whose functions are all unloaded does not mean all functions"
is "$(cat "$TRACING/enabled_functions")" "" "no function is enabled after the module is unloaded"
is "$(mod_sites ftmod_a)" "" "the list of functions has none of an unloaded module"

# not loaded yet
set_to nop current_tracer
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
unlike "$(cat "$TRACING/available_filter_functions")" '^ftmod_a_(init|setup) ' "functions of the module's __init leave the list after init"
like "$(cat "$F")" '^ftmod_a_nest \[ftmod_a\]$' "the filter holds the functions"
rmmod ftmod_a
set_to nop current_tracer

works "notrace before it is loaded" write "$N" "ftmod_a_t*:mod:ftmod_a"
set_to function current_tracer
set_to ':mod:ftmod_a' set_ftrace_filter
load ftmod_a
record cp "$TMP.call" $call
is "$(traced)" "call_set ftmod_a_nest ftmod_a_one" "  is kept"
rmmod ftmod_a
set_to nop current_tracer
set_to "" set_ftrace_notrace
set_to "" set_ftrace_filter

# A module most likely comes back to the place that it left.
for file in set_ftrace_filter set_ftrace_notrace; do
	load ftmod_a
	works "a function of a module" write "$TRACING/$file" ftmod_a_one
	rmmod ftmod_a
	load ftmod_a
	is "$(grep -v '^#' "$TRACING/$file")" "" "  has left $file when its module comes back"
	rmmod ftmod_a
	set_to "" $file
done

# A command goes with the module, too, and would act on what is loaded to that place next.
load ftmod_a
for command in ftmod_a_one:traceoff:5 vfs_rename:traceoff:5 ftmod_a_one:stacktrace \
	ftmod_a_t*:enable_event:sched:sched_switch; do
	works "$command" append "$F" "$command
"
done
is "$(cat "$TRACING/events/sched/sched_switch/enable")" '0*' "  the event waits for its function"
set_to 1 tracing_on
echo 'one 1' > $call
is "$(cat "$TRACING/tracing_on")" 0 "  the command acts"
rmmod ftmod_a
base_todo is "$(filter)" vfs_rename:traceoff:count=5 "  they go with the module, others stay"
base_todo is "$(cat "$TRACING/events/sched/sched_switch/enable")" 0 "  the event waits no longer"
load ftmod_a
set_to 1 tracing_on
echo 'one 1' > $call
base_todo is "$(cat "$TRACING/tracing_on")" 1 "  the module comes back without them"
base_todo is "$(cut -d' ' -f1 "$TRACING/enabled_functions")" vfs_rename "  and is not traced"
rmmod ftmod_a
clear_commands "$TRACING"
is "$(filter)" "" "  the last command is removed"

# So does what the command holds: the snapshot buffer is armed no longer.
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

# A word that waited waits again when its module goes, and when its module fails to load.
works "a word for a module" write "$F" "ftmod_a_t*:mod:ftmod_a"
set_to function current_tracer
for time in first second third; do
	load ftmod_a
	base_todo is "$(filter)" "ftmod_a_two [ftmod_a]" "the $time load gets it"
	record cp "$TMP.call" $call
	base_todo is "$(traced)" ftmod_a_two "  and is traced"
	rmmod ftmod_a
	is "$(cat "$F")" "" "  and the filter is empty when it goes"
done
set_to nop current_tracer
set_to "" set_ftrace_filter

# A module that fails to load: the trace has its names, and the next load is traced.
if [ -e "$MODULES/ftmod_fail.ko" ]; then
	works "a word for a module that fails to load" write "$F" ":mod:ftmod_fail"
	set_to function current_tracer
	for time in first second; do
		record insmod "$MODULES/ftmod_fail.ko"
		base_todo like " $(traced) " ' ftmod_fail_init ftmod_fail_one ' "the $time try is traced, with names"
		base_todo like "$(trace_lines)" ': ftmod_fail_one <-ftmod_fail_init$' "  also of the caller"
		base_todo is "$(filter | sed 's/^\*//')" ":mod:ftmod_fail" "  the word waits again"
	done
	base_todo is "$(grep -c ' ftmod_fail_one	' /proc/kallsyms)" 1 "the names are kept once"
	set_to :mod:ftmod_fail_plain set_ftrace_filter
	record insmod "$MODULES/ftmod_fail_plain.ko"
	base_todo like "$(trace_lines)" ': ftmod_plain_one <-ftmod_fail_init$' "init functions are traced, of a module without init text, too"
	set_to nop current_tracer
	set_to "" set_ftrace_filter
else
	skip "no module that fails to load"
fi

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
