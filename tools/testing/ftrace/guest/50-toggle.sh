#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Switch the tracer of all functions on and off, 20 times, while all CPUs are under load. Then every
# site must be a nop again, byte for byte, and the kernel log must have no complaint.

# shellcheck disable=SC2317 # functions called through load()

. "$(dirname "$0")/tap.sh"

# load COMMAND: the pauses leave an emulated CPU some time for the toggling.
load() {
	"$@"
	usleep 5000
}
forks() {
	(exit 0)
	sh -c :
}
copies() {
	dd if=/dev/zero of="$TMP.dd" bs=4096 count=16
}
finds() {
	find /proc/sys/kernel
}
pipes() {
	echo x | cat
}

is "$(all_nops)" "all nops" "all sites are nops before"
for command in forks copies finds pipes; do
	again load $command
done

failed=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	set_to function current_tracer || failed=$((failed + 1))
	[ "$i" -gt 1 ] || on=$(wc -l < "$TRACING/enabled_functions")
	# A few rounds that record are enough; the callbacks take most of an emulated CPU's time.
	[ "$i" -ne 3 ] || set_to 0 tracing_on
	set_to nop current_tracer || failed=$((failed + 1))
done
stop_all
is "$failed" 0 "20 times on and off"
is "$on" "$(wc -l < "$TRACING/available_filter_functions")" "on means every function"
is "$(cat "$TRACING/enabled_functions")" "" "no function is enabled"
is "$(all_nops)" "all nops" "all sites are nops after"
is "$(kernel_log | bad_news)" "" "the kernel did not complain"

# A trampoline goes with its class, and a class goes with its last site.
is "$(settled 0 trampolines)" 0 "no trampoline is left"

done_testing
