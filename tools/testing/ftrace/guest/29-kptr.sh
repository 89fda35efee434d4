#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# kptr_restrict: who sees the addresses of trampolines in /proc/kallsyms. The table is true on the
# base, too.

. "$(dirname "$0")/tap.sh"
kptr=/proc/sys/kernel/kptr_restrict
paranoid=/proc/sys/kernel/perf_event_paranoid
need $kptr $paranoid /proc/kallsyms

# addresses USER: are the addresses of trampolines shown to USER?
addresses() {
	su "$1" -c "grep ' t ftrace_trampoline' /proc/kallsyms" | cut -d' ' -f1 | sed 's/^0*$/hidden/; /hidden/!s/.*/shown/' | sort -u
}

kptr_before=$(cat $kptr)
paranoid_before=$(cat $paranoid)
set_to vfs_read set_ftrace_filter
set_to function current_tracer
table='2 0 shown hidden
2 1 shown hidden
2 2 hidden hidden
1 0 shown shown
1 1 shown hidden
1 2 hidden hidden'
while read -r perf level root nobody; do
	echo "$perf" > $paranoid
	echo "$level" > $kptr
	is "$(addresses root)" "$root" "kptr_restrict $level, perf_event_paranoid $perf: for root the address is $root"
	is "$(addresses nobody)" "$nobody" "  for others $nobody"
done <<END
$table
END
base_todo unlike "$(cat "$TRACING/enabled_functions")" '[0-9a-f]{8}' "enabled_functions has names and no addresses"
like "$(grep ' vfs_read$' "$TRACING/available_filter_functions_addrs")" '^[c-f][0-9a-f]{7,15} vfs_read$' \
	"available_filter_functions_addrs has addresses, and only root may read the file"
echo "$kptr_before" > $kptr
echo "$paranoid_before" > $paranoid

done_testing
