#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
#
# usage: 57-fuzz.sh [SEED [WRITES [ROUND]]]
#
# Valid, nearly valid and hostile words in the control files, first from one process, then from 8
# at once while a module comes and goes. See src/ftfuzz.c. long/fuzz runs for long. A failure
# names its seed and round: with "57-fuzz.sh SEED 100 ROUND" both parts run this round alone.

. "$(dirname "$0")/tap.sh"
need_module ftmod_a

seed=${1:-1}
writes=${2:-800}
first=${3:-0}

# fuzz WHAT ARG...: ftfuzz fails if something is wrong.
# shellcheck disable=SC2317 # called through base_todo
fuzz() {
	what=$1
	shift
	said=$(ftfuzz "$@" 2>&1)
	pass_or_fail $? "$what" "$said" && echo "# $said"
	is "$(cat "$TRACING/enabled_functions")" "" "  then no function is enabled"
	is "$(all_nops)" "all nops" "  and all sites are nops"
}

echo "# seed $seed"
insmod "$MODULES/ftmod_a.ko"
base_todo fuzz "one process" alone "$TRACING" "$seed" "$first" $((first + (writes + 99) / 100))

while [ ! -e "$TMP.stop" ]; do
	rmmod ftmod_a
	usleep 50000
	insmod "$MODULES/ftmod_a.ko"
	usleep 200000
done &
base_todo fuzz "8 processes at once" together "$TRACING" "$seed" "$first" \
	$((first + (writes + 799) / 800)) 8
: > "$TMP.stop"
wait

done_testing
