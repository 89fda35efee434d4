#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# Each comparison of a call site's bytes finds them wrong once (CONFIG_FTRACE_CORE_FAULTS). Either
# the operation is refused and nothing has changed, or the operation has worked for all other sites.
# In both cases that one site is listed as failed, and the next operation works.

# shellcheck disable=SC2317 # most functions are called through each_check

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

# each_check NAME BEFORE VERB...: each comparison of VERB fails once. A module that is loaded again
# has no failed sites, so each round begins with BEFORE, which loads the module. With INIT, the site
# may belong to init text, which is gone when the module is loaded. MODULE has the functions.
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

fresh() {
	[ ! -d /sys/module/ftmod_a ] || rmmod ftmod_a
}
loaded() {
	fresh
	insmod "$ftmod"
}
command_on() {
	clear_commands "$TRACING"
	named_on
	echo ftmod_a_two:traceoff >> "$F"
}
no_command() {
	clear_commands "$TRACING"
	named
}
# direct_of WHAT: a direct caller of WHAT, or none.
direct_of() {
	[ ! -d /sys/module/ftmod_direct ] || rmmod ftmod_direct
	insmod "$MODULES/ftmod_direct.ko"
	[ -z "$1" ] || echo "$1" > "$D/step"
}
no_direct() {
	direct_of ''
}
direct_one() {
	direct_of one
}
direct_all() {
	direct_of all
}
# An event keeps the module.
no_event() {
	[ ! -e "$TRACING/events/f/e/enable" ] || echo 0 > "$TRACING/events/f/e/enable"
	echo > "$TRACING/dynamic_events"
	loaded
}
kprobe_event() {
	no_event
	echo 'p:f/e ftmod_a_one' >> "$TRACING/dynamic_events"
}
fprobe_event() {
	no_event
	echo 'f:f/e ftmod_a_one' >> "$TRACING/dynamic_events"
}
stack_filter() {
	echo 0 > "$STACK"
	loaded
	echo ftmod_a_one > "$TRACING/stack_trace_filter"
}
stack_on() {
	stack_filter
	echo 1 > "$STACK"
}
no_profile() {
	echo 0 > "$TRACING/function_profile_enabled"
	globbed
}
profile_on() {
	no_profile
	echo 1 > "$TRACING/function_profile_enabled"
}
# A patch leaves when no task is in the old or the new function.
L=/sys/kernel/livepatch/ftmod_patch
no_patch() {
	[ ! -e "$L/enabled" ] || echo 0 > "$L/enabled"
	while [ -d /sys/module/ftmod_patch ] && ! rmmod ftmod_patch 2> /dev/null; do
		usleep 20000
	done
	loaded
}
named() {
	loaded
	echo ftmod_a_one > "$F"
}
globbed() {
	loaded
	echo 'ftmod_a_*' > "$F"
}
named_on() {
	named
	echo function > "$TRACING/current_tracer"
}
glob_on() {
	globbed
	echo function > "$TRACING/current_tracer"
}
instance() {
	echo nop > "$I/current_tracer"
	loaded
	echo 'ftmod_a_*' > "$I/set_ftrace_filter"
}
# ops_of FLAGS: the first ops of the module wants a function.
ops_of() {
	[ ! -d /sys/module/ftmod_callback ] || rmmod ftmod_callback
	insmod "$MODULES/ftmod_callback.ko"
	echo "0 flags $1" > "$P/step"
	echo '0 filter ftmod_cb_one' > "$P/step"
}
redirects() {
	ops_of 1004 # IPMODIFY and SAVE_REGS
}
second() {
	ops_of 0
	echo '0 register' > "$P/step"
	echo '1 filter ftmod_cb_one' > "$P/step"
}
wanted() {
	fresh
	echo '*:mod:ftmod_a' > "$F"
	echo function > "$TRACING/current_tracer"
}

# Only the comparisons count for fail-nth, and they do not fail by chance. Allocations of caches
# that nobody has chosen do not count.
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
each_check "unregister an ops" second write "$P/step" "0 unregister"
is "$refused $worked" "0 1" "  which works"
rmmod ftmod_callback
MODULE=ftmod_a
each_check "set a command" no_command append "$F" "ftmod_a_two:traceoff
"
is "$refused $worked" "1 0" "  which is refused"
each_check "take a command off" command_on append "$F" "!ftmod_a_two:traceoff
"
is "$refused $worked" "0 1" "  which works"
clear_commands "$TRACING"
# The sites of a module become nops before its text goes; a site with other bytes goes as it is.
n=0 status=0 left=''
while [ "$status" -eq 0 ] && [ $n -lt 20 ]; do
	n=$((n + 1))
	named_on
	ftio nth $n rmmod ftmod_a > "$TMP.out" 2>&1
	status=$?
	left=$left$(cat "$E")
	[ ! -d /sys/module/ftmod_a ] || left="$left $n: the module stays"
	echo nop > "$TRACING/current_tracer"
done
is "$status $((n > 1))" "4 1" "unload a module that is traced: each of $((n - 1)) comparisons fails, and the module goes"
is "$left" "" "  and nothing of it is left"
is "$(complaints)" "" "  without a complaint"
if [ -e "$MODULES/ftmod_direct.ko" ]; then
	D=/sys/module/ftmod_direct/parameters
	MODULE=ftmod_direct
	each_check "register a direct caller" no_direct write "$D/step" one
	is "$refused $worked" "1 0" "  which is refused"
	each_check "register a direct caller of three functions" no_direct write "$D/step" all
	is "$refused $worked" "3 0" "  which is refused"
	# A function whose bytes are wrong goes on calling the old trampoline, if it calls any.
	each_check "modify a direct caller" direct_one write "$D/step" modify
	is "$refused $worked" "0 1" "  which does without the function"
	each_check "modify a direct caller of three functions" direct_all write "$D/step" modify
	is "$refused $worked" "0 3" "  which works for the others"
	each_check "unregister a direct caller" direct_all write "$D/step" unregister
	is "$refused $worked" "0 3" "  which works"
	rmmod ftmod_direct
	MODULE=ftmod_a
else
	skip "no ftmod_direct.ko"
fi
for probe in p f; do
	loaded
	if ! ftio append "$TRACING/dynamic_events" "$probe:f/e ftmod_a_one
" > /dev/null; then
		skip "no event \"$probe\""
		continue
	fi
	case $probe in
	p) before=kprobe_event ;;
	f) before=fprobe_event ;;
	esac
	# Linux 6.12 changes the function of an fprobe when the event is made.
	if [ $probe = f ] && linux_6; then
		each_check "make an event \"$probe\"" no_event append "$TRACING/dynamic_events" "f:f/e ftmod_a_one
"
	else
		each_check "switch an event \"$probe\" on" "$before" write "$TRACING/events/f/e/enable" 1
	fi
	is "$refused $worked" "1 0" "  which is refused"
	no_event
done
STACK=/proc/sys/kernel/stack_tracer_enabled
if [ -e $STACK ]; then
	each_check "switch the stack tracer on" stack_filter write $STACK 1
	# The switch of the base does not look at the error of the registration.
	is "$refused $worked" "0 1" "  which does without the function"
	each_check "name another function of the stack tracer" stack_on append "$TRACING/stack_trace_filter" "ftmod_a_nest
"
	each_check "switch the stack tracer off" stack_on write $STACK 0
	is "$refused $worked" "0 1" "  which works"
	echo 0 > $STACK
	echo > "$TRACING/stack_trace_filter"
else
	skip "no stack tracer"
fi
if [ -e "$TRACING/function_profile_enabled" ]; then
	each_check "switch the profiler on" no_profile write "$TRACING/function_profile_enabled" 1
	is "$refused" 0 "  which works for the others"
	each_check "switch the profiler off" profile_on write "$TRACING/function_profile_enabled" 0
	is "$refused" 0 "  which works"
	echo 0 > "$TRACING/function_profile_enabled"
else
	skip "no profiler"
fi
if [ -e "$MODULES/ftmod_patch.ko" ]; then
	# The functions of the livepatch itself are compared, too.
	INIT=y
	each_check "load a livepatch" no_patch insmod "$MODULES/ftmod_patch.ko"
	is "$refused $listed" "1 1" "  which is refused if the function is bad that it patches"
	INIT=
	no_patch
else
	skip "no ftmod_patch.ko"
fi
echo "# $points points were tried"
echo 0 > /sys/kernel/debug/fail_ftrace_site/probability
[ ! -e $slab ] || echo N > $slab/cache-filter
fresh
is "$(all_nops)" "all nops" "all sites are nops"

done_testing
