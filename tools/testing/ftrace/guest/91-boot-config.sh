#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
# boot: bootconfig
# bootconfig: ftrace.ftrace.filters = "ftmod_a_one:mod:ftmod_a"
# bootconfig: ftrace.instance.later.ftrace.filters = "ftmod_a_*:mod:ftmod_a", "!nosuch:mod:nosuch", "vfs_read:traceoff"
# bootconfig: ftrace.instance.later.ftrace.notraces = "ftmod_a_two:mod:ftmod_a"
# bootconfig: ftrace.instance.both.ftrace.filters = "vfs_read", "*:mod:ftmod_b", "a*:mod:nosuch", "nosuch_function"
# bootconfig: ftrace.instance.undone.ftrace.filters = "vfs_read", "*:mod:ftmod_b", "!*:mod:ftmod_b", "!vfs_read"
#
# Filters that the kernel itself sets, from a bootconfig: also for modules that are loaded later.

KEEP=y
. "$(dirname "$0")/tap.sh"
need_module ftmod_a
grep -q '^ftrace' /proc/bootconfig 2> /dev/null || skip_all "no bootconfig"
cd "$TRACING/instances" || exit 1

words() {
	grep -v '^#' "$1" | sort | joined
}

is "$(words "$TRACING/set_ftrace_filter")" "ftmod_a_one:mod:ftmod_a" "a filter of the top trace array waits"
is "$(words later/set_ftrace_filter)" "ftmod_a_*:mod:ftmod_a" "a filter waits for a module"
is "$(words later/set_ftrace_notrace)" "ftmod_a_two:mod:ftmod_a" "what is left out waits for a module"
set_to function instances/later/current_tracer
is "$(grep -vc '^#' later/trace)" 0 "nothing is traced before the module is loaded"
is "$(cat "$TRACING/enabled_functions")" "" "because no function is enabled"
is "$(words both/set_ftrace_filter)" "*:mod:ftmod_b a*:mod:nosuch vfs_read" "a function and two modules"
is "$(words undone/set_ftrace_filter)" "" "a word that waits can be removed"
like "$(cat undone/set_ftrace_filter)" "^#### all functions enabled ####$" "all functions are traced after the word is removed"
for word in '!nosuch:mod:nosuch' vfs_read:traceoff nosuch_function; do
	is "$(dmesg | grep -cF "Failed to add $word to ftrace filter")" 1 "refused: $word"
done

ok "the module is loaded" insmod "$MODULES/ftmod_a.ko"
echo 'nest 2' > "$TMP.call"
cp "$TMP.call" /sys/module/ftmod_a/parameters/call
set_to 0 instances/later/tracing_on
like "$(cat later/trace)" ' ftmod_a_one ' "functions of the module are traced"
unlike "$(cat later/trace)" ' ftmod_a_two ' "  less those of notrace"
like "$(words later/set_ftrace_filter)" '^ftmod_a_.* \[ftmod_a\]' "the filter has the functions"
unlike "$(words later/set_ftrace_filter)" ':mod:' "the filter no longer waits"
like "$(words "$TRACING/set_ftrace_filter")" '^ftmod_a_one \[ftmod_a\]$' "the filter of the top trace array has the functions"
ok "the module is unloaded" rmmod ftmod_a
is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"
echo > "$TRACING/set_ftrace_filter"
set_to nop instances/later/current_tracer
for name in later both undone; do
	rmdir $name
done

done_testing
