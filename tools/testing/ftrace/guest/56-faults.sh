#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each comparison of a call site's bytes finds them wrong once (CONFIG_FTRACE_CORE_FAULTS). Either the
# operation is refused and nothing has changed, or the operation has worked for all other sites. In
# both cases that one site is listed as failed, and the next operation works.

. "$(dirname "$0")/tap.sh"
need /sys/kernel/debug/fail_ftrace_site /proc/self/fail-nth
need_module ftmod_a ftmod_callback

F=$TRACING/set_ftrace_filter
E=$TRACING/enabled_functions
slab=/sys/kernel/debug/failslab
ftmod=$MODULES/ftmod_a.ko

complaints() {
	kernel_log | bad_news
}

# What must not change. The failed site is counted apart; in ftmod_callback it is the only site that
# is used, and had an ops before.
state() {
	cat "$TRACING/current_tracer" "$F"
	grep -vE 'failed:|\[ftmod_callback\]' "$E" | sed 's/[ 	].*//'
}

# next_works: another function can be traced at the same time, in an instance of its own.
next_works() {
	mkdir "$TRACING/instances/next"
	echo vfs_read > "$TRACING/instances/next/set_ftrace_filter"
	echo function > "$TRACING/instances/next/current_tracer"
	read_bytes 5
	echo 0 > "$TRACING/instances/next/tracing_on"
	trace_lines_in "$TRACING/instances/next" | grep -c ': vfs_read <-'
	echo nop > "$TRACING/instances/next/current_tracer"
	rmdir "$TRACING/instances/next"
}

# each_check NAME BEFORE VERB...: each comparison of VERB fails once. A module that is loaded again has
# no failed sites, so each round begins with BEFORE, which loads the module. With INIT, the site may
# belong to init text, which is gone when the module is loaded. MODULE has the functions.
points=0
INIT=
MODULE=ftmod_a
each_check() {
	name=$1 before=$2
	shift 2
	n=0 refused=0 worked=0 listed=0 changed='' unlisted='' stuck=''
	while n=$((n + 1)) && [ $n -lt 100 ]; do
		$before
		old=$(state)
		ftio nth $n "$@" > "$TMP.out" 2>&1
		status=$?
		[ $status -le 1 ] || break
		points=$((points + 1))
		case $status in
		0)	worked=$((worked + 1)) ;;
		1)	refused=$((refused + 1))
			[ "$(state)" = "$old" ] || changed="$changed $n:$(cat "$TMP.out")" ;;
		esac
		case $(grep -c "\[$MODULE\].*failed:" "$E") in
		1)	listed=$((listed + 1)) ;;
		0)	unlisted="$unlisted $n" ;;
		*)	unlisted="$unlisted $n:more" ;;
		esac
		echo 1 > /proc/sys/kernel/ftrace_enabled
		[ "$(next_works)" -ge 5 ] || stuck="$stuck $n"
		echo nop > "$TRACING/current_tracer"
		echo > "$F"
	done
	echo nop > "$TRACING/current_tracer"
	echo > "$F"
	is "$status $((n > 1))" "4 1" "$name: each of $((n - 1)) comparisons fails; $refused refusals, $worked do without the site"
	is "$changed" "" "  what is refused changes nothing"
	if [ -n "$INIT" ]; then
		unlike "$unlisted" more "  at most one site is listed as failed"
	else
		is "$unlisted" "" "  the site is listed as failed, and no other site"
	fi
	is "$stuck" "" "  the next operation works"
	is "$(complaints)" "" "  without a complaint"
}

# shellcheck disable=SC2317 # called through each_check
fresh() {
	[ ! -d /sys/module/ftmod_a ] || rmmod ftmod_a
}
# shellcheck disable=SC2317 # called through each_check
loaded() {
	fresh
	insmod "$ftmod"
}
# shellcheck disable=SC2317 # called through each_check
named() {
	loaded
	echo ftmod_a_one > "$F"
}
# shellcheck disable=SC2317 # called through each_check
globbed() {
	loaded
	echo 'ftmod_a_*' > "$F"
}
# shellcheck disable=SC2317 # called through each_check
named_on() {
	named
	echo function > "$TRACING/current_tracer"
}
# shellcheck disable=SC2317 # called through each_check
glob_on() {
	globbed
	echo function > "$TRACING/current_tracer"
}
# shellcheck disable=SC2317 # called through each_check
instance() {
	echo nop > "$I/current_tracer"
	loaded
	echo 'ftmod_a_*' > "$I/set_ftrace_filter"
}
# ops_of FLAGS: the first ops of the module wants a function.
# shellcheck disable=SC2317 # called through each_check
ops_of() {
	[ ! -d /sys/module/ftmod_callback ] || rmmod ftmod_callback
	insmod "$MODULES/ftmod_callback.ko"
	echo "0 flags $1" > "$P/step"
	echo '0 filter ftmod_cb_one' > "$P/step"
}
# shellcheck disable=SC2317 # called through each_check
redirects() {
	ops_of 1004 # IPMODIFY and SAVE_REGS
}
# shellcheck disable=SC2317 # called through each_check
second() {
	ops_of 0
	echo '0 register' > "$P/step"
	echo '1 filter ftmod_cb_one' > "$P/step"
}
# shellcheck disable=SC2317 # called through each_check
wanted() {
	fresh
	echo '*:mod:ftmod_a' > "$F"
	echo function > "$TRACING/current_tracer"
}

# Only the comparisons count for fail-nth, and they do not fail by chance. Allocations of caches that
# nobody has chosen do not count.
[ ! -e $slab ] || echo Y > $slab/cache-filter
echo 0 > /sys/kernel/debug/fail_ftrace_site/times
echo 100 > /sys/kernel/debug/fail_ftrace_site/probability
loaded
sites=$(grep -c '\[ftmod_a\]$' "$TRACING/available_filter_functions_addrs")
INIT=y
each_check "load a module" fresh insmod "$ftmod"
is "$listed" $((2 * sites)) "  listed: after two comparisons for each of $sites sites that are not in init text"
is "$refused" 0 "  a bad site does not keep the module from loading"
each_check "load a module that is traced" wanted insmod "$ftmod"
is "$listed" $((3 * sites)) "  listed: after three comparisons for each of these sites"
is "$refused" 0 "  a bad site does not keep the module from loading"
INIT=
each_check "trace a function by name" named write "$TRACING/current_tracer" function
is "$refused $worked" "1 0" "  which is refused"
each_check "trace functions by a glob" globbed write "$TRACING/current_tracer" function
is "$refused" 0 "  which works for the others"
at_least "$worked" 4 "  of several"
each_check "name another function while tracing" named_on append "$F" "ftmod_a_nest
"
is "$refused $worked" "1 0" "  which is refused"
each_check "take a name out while tracing" glob_on write "$F" "ftmod_a_one
"
is "$refused" 0 "  which works"
each_check "switch off" glob_on write "$TRACING/current_tracer" nop
is "$refused" 0 "  which works"
if switches_off; then
	each_check "switch all ops off" glob_on write /proc/sys/kernel/ftrace_enabled 0
	at_least $worked 4 "  which works for the others"
	echo 1 > /proc/sys/kernel/ftrace_enabled
fi
each_check "trace functions by the graph tracer" globbed write "$TRACING/current_tracer" function_graph
is "$refused" 0 "  which works for the others"
I=$TRACING/instances/own
mkdir "$I"
each_check "trace functions in an instance" instance write "$I/current_tracer" function
is "$refused" 0 "  which works for the others"
echo nop > "$I/current_tracer"
rmdir "$I"
P=/sys/module/ftmod_callback/parameters
MODULE=ftmod_callback
each_check "register an ops with IPMODIFY" redirects write "$P/step" "0 register"
is "$refused $worked" "1 0" "  which is refused"
each_check "register a second ops on a function" second write "$P/step" "1 register"
is "$refused $worked" "1 0" "  which is refused"
rmmod ftmod_callback
MODULE=ftmod_a
echo "# $points points were tried"
echo 0 > /sys/kernel/debug/fail_ftrace_site/probability
[ ! -e $slab ] || echo N > $slab/cache-filter
fresh
is "$(all_nops)" "all nops" "all sites are nops"

done_testing
