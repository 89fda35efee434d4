#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# BPF programs with one link to many functions (tracing_multi). All of them are functions of one
# ops, which has an address to call for each: alone, beside other links, and beside the function
# tracer.

. "$(dirname "$0")/tap.sh"

multi=$GUEST/bpfmulti
dd='dd if=/dev/zero of=/dev/null bs=1 count=50'
case $(uname -r) in
6.*) skip_all "Linux before 7.2 has no such links" ;;
esac

# during FUNCTION...: run dd with a link to the functions. Sets $out, the calls that it counted, and
# $enabled, what enabled_functions said meanwhile.
during() {
	out=$("$multi" "$@" -- sh -c "cat $TRACING/enabled_functions > $TMP.enabled; $dd" 2> "$TMP.err")
	enabled=$(cat "$TMP.enabled")
}

# calls NAME: how many calls a link counted.
calls() {
	echo "$out" | sed -n "s/^$1 //p"
}

# gone WHAT: nothing is left of it.
gone() {
	is "$(cat "$TRACING/enabled_functions")" "" "$1: no function is left enabled"
}

during vfs_read vfs_write
at_least "$(calls vfs_read)" 50 "a link to two functions: every call of the first"
at_least "$(calls vfs_write)" 50 "a link to two functions: every call of the second"
is "$(echo "$enabled" | sed -n 's/^\([a-z_]*\) ([0-9]*) .*D.*/\1/p' | sort | tr '\n' ' ')" "vfs_read vfs_write " \
	"a link to two functions: the list shows direct callers on both"
gone "a link to two functions"
during -x vfs_read vfs_write
at_least "$(calls vfs_read)" 50 "at the return: every call of the first"
at_least "$(calls vfs_write)" 50 "at the return: every call of the second"
gone "at the return"

# One function gets another address to call, two get their first one.
# shellcheck disable=SC2086 # words
out=$("$multi" vfs_read vfs_write -- "$multi" -x vfs_read ksys_read ksys_write -- $dd 2> /dev/null)
is "$(echo "$out" | awk '$2 >= 50 { print $1 }' | sort | tr '\n' ' ')" \
	"ksys_read ksys_write vfs_read vfs_read vfs_write " "two links that share a function: every call, for both"
gone "two links"

# Other BPF programs are functions of the same ops.
set_to 'vfs_read vfs_write ksys_read' set_ftrace_filter
set_to function current_tracer
set_to "" trace
bpftrace -e 'kfunc:vfs_read, kfunc:ksys_read /comm == "dd"/ { @[probe] = count(); }' \
	-c "$multi vfs_read vfs_write -- $dd" > "$TMP.out" 2> /dev/null
out=$(cat "$TMP.out")
at_least "$(calls vfs_read)" 50 "beside bpftrace and the function tracer: every call of the first"
at_least "$(calls vfs_write)" 50 "beside bpftrace and the function tracer: every call of the second"
for f in vfs_read ksys_read; do
	at_least "$(echo "$out" | sed -n "s/^@\[.*$f\]: //p")" 50 "bpftrace sees every call of $f"
done
for f in vfs_read vfs_write ksys_read; do
	at_least "$(trace_lines | grep -c "dd-.*: $f <-")" 50 "the function tracer sees every call of $f"
done
set_to nop current_tracer
gone "all of them"

# What the kernel refuses changes nothing.
"$multi" vfs_read vfs_read -- touch "$TMP.ran" 2> "$TMP.err"
is "$?" 3 "a function twice is refused"
ok "a direct caller of somebody else loads" modprobe ftrace-direct
"$multi" vfs_read wake_up_process vfs_write -- touch "$TMP.ran" 2> "$TMP.err"
is "$?" 3 "a function with another direct caller is refused"
like "$(cat "$TMP.err")" 'Invalid argument' "the error is EINVAL"
ok "the command did not run" test ! -e "$TMP.ran"
is "$(sed -n 's/^\([a-z_]*\) .*/\1/p' "$TRACING/enabled_functions")" wake_up_process "no function got the refused program"
during vfs_read vfs_write
at_least "$(calls vfs_read)" 50 "a link without the function that has a direct caller works"
ok "the direct caller of somebody else goes" rmmod ftrace-direct
gone "a refused link"

# Each allocation of memory fails once. each_fails WHAT: makes a link to two functions.
slab=/sys/kernel/debug/failslab
each_fails() {
	before=$(cat "$TRACING/enabled_functions")
	n=0 refused=0 changed=''
	status=0
	while [ $status -ne 4 ] && n=$((n + 1)) && [ $n -lt 500 ]; do
		"$multi" -f $n vfs_read vfs_write -- true > /dev/null 2>&1
		status=$?
		[ $status -ne 3 ] || refused=$((refused + 1))
		[ "$(cat "$TRACING/enabled_functions")" = "$before" ] || changed="$changed $n"
	done
	is "$status" 4 "$1: each of $((n - 1)) allocations failed once"
	at_least "$refused" 5 "a link was refused $refused times"
	is "$changed" "" "$1: refused links changed nothing"
}
if [ -e $slab/ignore-gfp-wait ]; then
	verbose=$(cat $slab/verbose)
	echo 0 > $slab/verbose
	echo N > $slab/ignore-gfp-wait
	each_fails "a link to two functions"
	"$multi" vfs_read -- sleep 1000 > /dev/null 2>&1 &
	holder=$!
	until grep -q vfs_read "$TRACING/enabled_functions"; do sleep 0.1; done
	each_fails "one of them has a link"
	pkill -P $holder
	wait $holder
	echo Y > $slab/ignore-gfp-wait
	echo "$verbose" > $slab/verbose
	gone "links that were refused"
else
	skip "no failslab"
fi

# The names that several functions have are left out.
sed 's/ .*//' "$TRACING/available_filter_functions" | sort | uniq -u | awk 'NR % 8 == 0' | head -n 1500 > "$TMP.many"
# shellcheck disable=SC2046 # words
during -s vfs_read $(grep -vx vfs_read "$TMP.many")
many=$(echo "$out" | wc -l)
at_least "$many" 500 "a link to many functions"
is "$(echo "$enabled" | grep -c ' .*D')" "$many" "each of them is listed"
at_least "$(calls vfs_read)" 50 "every call of one of them"
gone "many functions"
is "$(all_nops)" "all nops" "every site is a nop again"

done_testing
