#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# Who may do what with the files. Modes and owners are those of the base, which the file "modes"
# records. All files belong to root. A mount option can open the directory
# for others, but not the files.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/modes.sh"

# The files that are not in the record belong to options that the recorded kernel does not have.
modes > "$TMP.modes"
awk '/^#/ { next } NR == FNR { base[$4] = $0; next } !($4 in base) { print "# no record of the base: " $0; next }
	base[$4] != $0 { print $0 ", on the base " base[$4] }' "$(dirname "$0")/modes" "$TMP.modes" > "$TMP.differ"
grep '^#' "$TMP.differ"
is "$(grep -v '^#' "$TMP.differ")" "" "modes and owners of the files are those of the base"
at_least "$(($(wc -l < "$TMP.modes") - $(grep -c '^#' "$TMP.differ")))" 100 "  compared"
for file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid available_filter_functions \
	available_filter_functions_addrs enabled_functions touched_functions dyn_ftrace_total_info; do
	like "$(cat "$TMP.modes")" "^[0-7]* 0 0 \./$file\$" "  among them $file"
done

set_to vfs_read set_ftrace_filter
fails_with EACCES "an unprivileged user cannot get at the directory" nobody read "$TRACING/set_ftrace_filter"
mount -o remount,mode=755 "$TRACING"
for file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid current_tracer tracing_on; do
	fails_with EACCES "an unprivileged user cannot write $file" nobody write "$TRACING/$file" 1
	fails_with EACCES "  nor append" nobody append "$TRACING/$file" 1
	fails_with EACCES "  nor read" nobody read "$TRACING/$file"
done
for file in available_filter_functions available_filter_functions_addrs enabled_functions touched_functions \
	dyn_ftrace_total_info trace; do
	fails_with EACCES "an unprivileged user cannot read $file" nobody read "$TRACING/$file"
done
fails_with EACCES "an unprivileged user makes no instance" nobody mkdir "$TRACING/instances/x"
mount -o remount,mode=700 "$TRACING"
fails_with EACCES "an unprivileged user cannot set kernel.ftrace_enabled" nobody write /proc/sys/kernel/ftrace_enabled 0
is "$(cat "$TRACING/set_ftrace_filter")" vfs_read "the filter is what root made it"
is "$(cat "$TRACING/current_tracer") $(cat "$TRACING/tracing_on")" "nop 1" "the tracer and tracing_on are what root made them"

done_testing
