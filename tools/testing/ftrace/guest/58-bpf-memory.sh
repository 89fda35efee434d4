#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# Each allocation of per-CPU or large memory fails once while a BPF program is attached: nothing has
# changed then, and the next program is attached. failslab refuses none here: BPF allocates when it
# detaches a program, too, and if that fails, it frees what is still attached.

. "$(dirname "$0")/tap.sh"
need /sys/kernel/btf/vmlinux
need_module ftmod_refuse
insmod "$MODULES/ftmod_refuse.ko" || skip_all "no ops can change where a call goes"
R=/sys/module/ftmod_refuse/parameters

# attach N VERB: the program torturer attaches a BPF program and detaches it, again and again for up
# to a second. The Nth allocation fails. Prints how many are left, and what torturer prints: "@at
# all", how many programs there were, how many were refused. A task keeps its number over an exec.
attach() {
	echo "all $2 0 vfs_read" > "$TMP.lines"
	sh -c "echo $1 > $R/nth; exec torturer $TMP.lines all 1" | tail -n 1 > "$TMP.said"
	echo "$(cat "$R/nth") $(cat "$TMP.said")"
	echo 0 > "$R/nth"
}

# ftmod_refuse has ops of its own.
enabled() {
	sed 's/\(	\| ->\).*//' "$TRACING/enabled_functions"
}

before=$(enabled)
for verb in fentry multi; do
	# shellcheck disable=SC2046 # several words
	set -- $(attach 1000000 $verb)
	most=$(((1000000 - $1) / $4))
	n=0 refused=0 wrong=''
	while [ $n -lt $most ]; do
		n=$((n + 1))
		# shellcheck disable=SC2046 # several words
		set -- $(attach $n $verb)
		# What torturer itself cannot do without ends it.
		[ $# -eq 5 ] || set -- 0 @at all 2 1
		[ "$1" = 0 ] && [ "$5" -le 1 ] && [ "$4" -ge 2 ] || wrong="$wrong $n:$*"
		refused=$((refused + $5))
		[ "$(enabled)" = "$before" ] || wrong="$wrong $n:enabled"
	done
	is "$wrong" "" "attach a BPF program by $verb: $n allocations; $refused are needed; the next is attached"
	at_least $refused 1 "  a failure was seen"
	is "$(kernel_log | bad_news | grep -v 'Call Trace')" "" "  without a complaint"
done
rmmod ftmod_refuse
is "$(all_nops)" "all nops" "all sites are nops"
log_mark

done_testing
