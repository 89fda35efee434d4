#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The helpers of the tests: what is wrong must fail, or the results of all other scripts mean
# nothing.

. "$(dirname "$0")/tap.sh"

mkdir "$TMP"
cp -r "$GUEST/tap.sh" "$TMP"
mkdir "$TMP/bin"
cp "$(command -v ftio)" "$TMP/bin"

# script LINE...: what a script of these lines prints, and its status.
script() {
	{
		# shellcheck disable=SC2016 # for the script to expand
		echo '. "$(dirname "$0")/tap.sh"'
		printf '%s\n' "$@"
	} > "$TMP/script.sh"
	sh "$TMP/script.sh" 2>&1
	echo "status $?"
}

is "$(script 'is a a good' done_testing)" "ok 1 - good
ok 2 - nothing bad in the kernel log
1..2
status 0" "a good script"
like "$(script 'is a a first' 'is a b "  second"' 'is a a "  third"')" '^ok 3 - first: third$' "a description of two parts"
like "$(script 'is a b bad' done_testing)" '^not ok 1 - bad$' "is: a difference"
like "$(script 'is a b bad' done_testing)" '^status 1$' "  and its status"
like "$(script 'like abc "^b" bad' done_testing)" '^not ok 1' "like: no match"
like "$(script 'unlike abc b bad' done_testing)" '^not ok 1' "unlike: a match"
like "$(script 'ok bad false' done_testing)" '^not ok 1' "ok: a failing command"
like "$(script 'at_least 1 2 bad' done_testing)" '^not ok 1' "at_least: less"
like "$(script 'works bad write /nosuch/file x' done_testing)" '^not ok 1' "works: an error"
like "$(script 'fails_with EINVAL bad write /nosuch/file x' done_testing)" '^not ok 1' "fails_with: another error"
like "$(script 'fails_with EINVAL bad write /dev/null x' done_testing)" '^not ok 1' "fails_with: no error"
# module LINE...: what run_in_module prints for a result of these lines. A directory takes the place
# of the module.
module() {
	mkdir "$TMP/module"
	: > "$TMP/module/run"
	printf '%s\n' "$@" > "$TMP/module/result"
	script "run_in_module $TMP/module test" done_testing | sed '/nothing bad/,$d'
	rm -r "$TMP/module"
}
is "$(module 'ok one' 'not ok two' '# ten sites')" "ok 1 - test
ok 2 - test: one
not ok 3 - test: two
# ten sites" "run_in_module: a check for each verdict"
like "$(module '# ten sites')" '^not ok 2' "run_in_module: no check"
like "$(script "run_in_module $TMP/nosuch test" done_testing)" '^not ok 1' "run_in_module: no such test"
like "$(script 'is a a good' 'exit 0')" '^Bail out!' "an end before the plan"
like "$(script 'echo "WARNING: at nothing" > /dev/kmsg' done_testing)" '^not ok 1 - nothing bad' "a warning in the log"
like "$(script 'echo "BUG: nothing" > /dev/kmsg' log_mark done_testing)" '^ok 1' "  but not behind a mark"
log_mark

# shellcheck disable=SC2317 # called by again and by settled
tick() {
	echo tick >> "$TMP/ticks"
}
# shellcheck disable=SC2317
left() {
	tick
	echo $((5 - $(wc -l < "$TMP/ticks")))
}
is "$(settled 3 left) $(wc -l < "$TMP/ticks")" "3 2" "settled: waits for a number that goes down, and no longer"
again tick
until [ "$(wc -l < "$TMP/ticks")" -gt 5 ]; do
	usleep 1000
done
stop_all
ticks=$(wc -l < "$TMP/ticks")
usleep 100000
is "$(wc -l < "$TMP/ticks")" "$ticks" "again: goes on until stop_all"
is "$(printf 'a b\nc\n' | joined)" "a b c" "joined"

# ftio nops finds a site that is none, and believes in no empty list.
set_to vfs_read set_ftrace_filter
set_to function current_tracer
sites=$TMP/sites
grep -E ' (vfs_read|vfs_write|vfs_open)$' "$TRACING/available_filter_functions_addrs" > "$sites"
like "$(ftio nops < "$sites")" '^vfs_read e8 ' "a site that is a call"
is "$(ftio nops < "$sites" | wc -l)" 1 "only one of three sites is a call"
is "$(all_nops)" "all nops" "all others are nops"
set_to nop current_tracer
is "$(ftio nops < "$sites")" "all nops" "a nop again"
is "$(ftio nops < /dev/null)" "" "no sites are not all nops"

done_testing
