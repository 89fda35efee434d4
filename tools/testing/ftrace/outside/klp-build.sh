#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A live patch of the function behind /proc/version comes and goes, in a guest. Each line is "ok" or
# "not ok" and what was looked at.
#
# shellcheck disable=SC2317 # check calls the functions

T=/sys/kernel/tracing
P=/sys/kernel/livepatch/livepatch_version

# check WHAT COMMAND...
check() {
	what=$1
	shift
	if "$@"; then
		echo "ok $what"
	else
		echo "not ok $what"
	fi
}

patched() {
	grep -q '^patched Linux version' /proc/version
}

not_patched() {
	grep -q '^Linux version' /proc/version
}

# The transition ends when each task has left the function.
settled() {
	for _ in $(seq 100); do
		[ "$(cat "$P"/transition)" = 0 ] && return
		sleep 0.1
	done
	return 1
}

unload() {
	echo 0 > "$P"/enabled || return 1
	for _ in $(seq 100); do
		[ -d "$P" ] || break
		sleep 0.1
	done
	rmmod livepatch_version
}

traced() {
	echo > "$T"/trace
	cat /proc/version > /dev/null
	grep -q 'version_proc_show.* <-' "$T"/trace
}

check "no patch at first" not_patched
check "the patch is loaded" insmod /host/modules/livepatch-version.ko
check "the transition ends" settled
check "the function is patched" patched
check "enabled_functions says so" grep -q '^version_proc_show (1) .*I' "$T"/enabled_functions
echo version_proc_show > "$T"/set_ftrace_filter
echo function > "$T"/current_tracer
check "the function is traced and patched" traced
check "the function is still patched" patched
echo nop > "$T"/current_tracer
echo > "$T"/set_ftrace_filter
check "functions of the patch can be traced" grep -q '\[livepatch_version\]' "$T"/available_filter_functions
check "the patch is unloaded" unload
check "no patch at last" not_patched
check "no function is enabled" [ ! -s "$T"/enabled_functions ]
check "nothing in dmesg" sh -c '! dmesg | grep "BUG:\|WARNING:\|Oops"'
exit 0
