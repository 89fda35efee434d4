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
works "*:mod:name" write "$F" "*:mod:ftmod_a"
is "$(names)" "$sites" "  the same"
works "glob:mod:name" write "$F" "ftmod_a_t*:mod:ftmod_a"
is "$(names)" "ftmod_a_two" "matches in the module only"
works "name:mod:name" append "$F" "ftmod_a_one:mod:ftmod_a
"
is "$(names)" "ftmod_a_one ftmod_a_two" "  appended"
works "!name:mod:name" append "$F" "!ftmod_a_one:mod:ftmod_a
"
is "$(names)" "ftmod_a_two" "  one removed"
works "a module's function by its plain name" append "$F" "ftmod_a_one
"
is "$(names)" "ftmod_a_one ftmod_a_two" "needs no module"
works "!*:mod:name" append "$F" "!*:mod:ftmod_a
"
is "$(cat "$F")" "#### all functions enabled ####" "  all removed"

works "two modules" write "$F" ":mod:ftmod_a ftmod_cb_one:mod:ftmod_callback"
is "$(names)" "$(echo "$sites ftmod_cb_one" | tr ' ' '\n' | sort | joined)" "the filter has functions of both modules"
works "all but a module" write "$F" "ftmod_a_one ftmod_cb_one ftmod_cb_two"
works "  removed" append "$F" "!*:mod:ftmod_callback
"
is "$(names)" "ftmod_a_one" "  only the other one's are left"

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

works "glob:mod:name before it is loaded" write "$F" "ftmod_a_t*:mod:ftmod_a"
set_to function current_tracer
load ftmod_a
is "$(filter | grep -v : | cut -d' ' -f1)" ftmod_a_two "  takes what matches when it comes"
record cp "$TMP.call" $call
is "$(traced)" ftmod_a_two "what matched is traced, also alone in the module"
set_to nop current_tracer
rmmod ftmod_a
set_to "" set_ftrace_filter
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

# A file that is open while the module goes.
echo ':mod:ftmod_a' > "$F"
load ftmod_a
exec 5>> "$F"
echo '!*' >&5
echo vfs_read >&5
rmmod ftmod_a
exec 5>&-
is "$(cat "$F")" vfs_read "a module goes while its word is in an open file"
load ftmod_a
is "$(names)" "$sites vfs_read" "  the word waits again"
load ftmod_callback
echo ftmod_cb_one >> "$F"
exec 5>> "$F"
echo '!ftmod_a_one' >&5
rmmod ftmod_callback
exec 5>&-
unlike " $(names) " ' ftmod_a_one | ftmod_cb' "another module goes: what was taken out stays out"
rmmod ftmod_a

# Functions that were unloaded, beside a word that waits.
load ftmod_a
echo ftmod_a_one > "$F"
echo '*:mod:nosuch' >> "$F"
rmmod ftmod_a
set_to function current_tracer
echo '!*:mod:nosuch' >> "$F"
is "$(cat "$F" "$TRACING/enabled_functions")" "" "without the word that waited the filter means no function"
set_to nop current_tracer
set_to "" set_ftrace_filter
load ftmod_callback

# A module that never comes, and taking it back.
set_to ':mod:nosuch' set_ftrace_filter
like "$(filter)" ':mod:nosuch$' "a module nobody knows is remembered"
works "a word for an unknown module is taken back" append "$F" "!*:mod:nosuch
"
is "$(cat "$F")" "#### all functions enabled ####" "nothing is left of a word that was taken back"
fails_with EINVAL "a word is taken back only once" append "$F" "!*:mod:nosuch
"
fails_with EINVAL "a function the module has not" append "$F" "nosuch:mod:ftmod_callback
"
fails_with EINVAL "a glob of modules that are not there" append "$F" "*:mod:nosuch*
"
fails_with EINVAL "any module, where none has the function" append "$F" "nosuch:mod:
"
is "$(cat "$F")" "#### all functions enabled ####" "refused words for modules are not remembered"

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
load ftmod_a
works "a function of the kernel beside those of a module" append "$F" vfs_read
rmmod ftmod_a
is "$(names)" vfs_read "  which is left when the module goes"
load ftmod_a
works "the word removed while its module is there" append "$F" "!ftmod_a_t*:mod:ftmod_a
"
is "$(names)" vfs_read "  takes the functions away"
rmmod ftmod_a
is "$(names)" vfs_read "  and does not wait again"
works "a word for a module" write "$F" ":mod:ftmod_a"
load ftmod_a
works "all its functions removed by name" append "$F" "!ftmod_a_*
!call_set
"
is "$(cat "$F")" "#### all functions enabled ####" "  empty the filter"
rmmod ftmod_a
is "$(cat "$F")" "#### all functions enabled ####" "  which stays so"
works "a word for a module" write "$F" ":mod:ftmod_a"
load ftmod_a
works "the filter overwritten" write "$F" vfs_read
rmmod ftmod_a
is "$(filter)" vfs_read "  forgets the word"
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

# Modules that come and go while the file is open.
set_to vfs_rename set_ftrace_filter
set_to function current_tracer
exec 9> "$F"
echo 'ftmod_a_t*:mod:ftmod_a' >&9
load ftmod_a
is "$(filter)" vfs_rename "nothing applies while the file is open"
exec 9>&-
is "$(filter)" "ftmod_a_two [ftmod_a]" "a module that came meanwhile is taken at the close"
is "$(cut -d' ' -f1 "$TRACING/enabled_functions")" ftmod_a_two "a module that came meanwhile is traced at the close"
set_to nop current_tracer
set_to ftmod_a_one set_ftrace_filter
exec 9>> "$F"
echo vfs_read >&9
rmmod ftmod_a
exec 9>&-
is "$(filter)" vfs_read "the functions of one that went meanwhile are not"
load ftmod_a
is "$(filter)" vfs_read "functions that went meanwhile are not in the filter when the module comes again, most likely to the same place"
works "the last function is taken out" append "$F" "!vfs_read
"
is "$(cat "$F")" "#### all functions enabled ####" "a filter emptied by hand means all functions, because none of its functions was unloaded last"
set_to ftmod_a_one set_ftrace_filter
exec 9>> "$F"
echo 'ftmod_a_two' >&9
rmmod ftmod_a
exec 9>&-
is "$(filter)" "" "a filter is empty after all its functions were unloaded"
unlike "$(cat "$F")" 'all functions enabled' "the filter does not come to mean all functions"
works "taking out what is not in it" append "$F" "!vfs_read
"
unlike "$(cat "$F")" 'all functions enabled' "  does not make it so"
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
