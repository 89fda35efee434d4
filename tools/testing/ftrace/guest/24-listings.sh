#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# The read-only files: available_filter_functions and _addrs, enabled_functions, touched_functions,
# dyn_ftrace_total_info, and what the kernel log said at boot.

. "$(dirname "$0")/tap.sh"

A=$TRACING/available_filter_functions
E=$TRACING/enabled_functions
syms=$TMP.syms
cp "$A" "$TMP.avail"
cp "${A}_addrs" "$TMP.addrs"
grep -i ' [tw] ' /proc/kallsyms > "$syms"

# available_filter_functions
lines=$(wc -l < "$TMP.avail")
at_least "$lines" 1000 "available_filter_functions lists functions"
is "$(grep -Evc '^[A-Za-z_.][A-Za-z0-9_.]*( \[[a-z0-9_]+\])?$' "$TMP.avail")" 0 "each line is: name, or: name [module]"
for func in vfs_read vfs_write schedule ksys_read; do
	is "$(grep -cx $func "$TMP.avail")" 1 "$func is listed once"
done
unknown=$(awk 'NR == FNR { known[$3] = 1; next } !($1 in known)' "$syms" "$TMP.avail" | grep -v '^__ftrace_invalid_address__')
is "$unknown" "" "every name is in /proc/kallsyms"
is "$(grep -Ec '^(ftrace_int3_handler|poke_int3_handler|exc_int3|exc_nmi|ftrace_caller|asm_exc_int3)$' "$TMP.avail")" 0 \
	"what the patcher itself runs through is not listed"

# available_filter_functions_addrs
is "$(wc -l < "$TMP.addrs")" "$lines" "available_filter_functions_addrs has as many lines"
is "$(grep -Evc "^[0-9a-f]{$DIGITS} [^ ]+( \\[[a-z0-9_]+\\])?\$" "$TMP.addrs")" 0 "each is: address name"
is "$(cut -d' ' -f2- "$TMP.addrs" | cmp - "$TMP.avail" 2>&1)" "" "the names are the same, in the same order"
is "$(grep -v '\[' "$TMP.addrs" | cut -d' ' -f1 | sort -c 2>&1)" "" "vmlinux's are in the order of addresses"
is "$(cut -d' ' -f1 "$TMP.addrs" | sort | uniq -d)" "" "no address is there twice"
# The site is the function's first instruction, or its second behind endbr64.
far=$(awk 'NR == FNR { at[$3, substr($1, 1, 15)] = $1; next }
	!(($2, substr($1, 1, 15)) in at) && $2 !~ /^__ftrace_invalid_address__/' "$syms" "$TMP.addrs" | head -n 5)
is "$far" "" "each address is at the start of its function"
is "$(all_nops)" "all nops" "all sites are nops"

# enabled_functions
is "$(cat "$E")" "" "enabled_functions is empty"
set_to "vfs_read vfs_write" set_ftrace_filter
set_to function current_tracer
is "$(cut -d' ' -f1,2 "$E")" "$(grep -xE 'vfs_(read|write)' "$TMP.avail" | sed 's/$/ (1)/')" \
	"enabled_functions lists what is traced: name (count)"
is "$(all_nops)" "all nops" "all other sites are nops"
addr=$(sed -n 's/ vfs_read$//p' "$TMP.addrs")
like "$(ftio bytes "$addr" 5)" '^e8 ' "a traced site is a call"
mkdir "$TRACING/instances/a"
echo vfs_read > "$TRACING/instances/a/set_ftrace_filter"
echo function > "$TRACING/instances/a/current_tracer"
like "$(cat "$E")" '^vfs_read \(2\)' "a function that two trace has the count 2"
like "$(cat "$E")" '^vfs_write \(1\)' "a function that one traces has the count 1"
# Tools split a line at blanks: name, (count), flags, "tramp:", one word, "(callback)", "->caller". Some
# take the two words behind the trampoline for the callback, so the word is there only with "(callback)".
like "$(cat "$E")" '^vfs_write \(1\)  *	tramp: [^ ]+ \(function_[a-z]+\+0x0/0x[0-9a-f]+\) ->[a-z_]+\+0x0/0x[0-9a-f]+$' \
	"the trampoline is one word, then comes the callback"
like "$(cat "$E")" '^vfs_read \(2\)  *->function_[a-z]+\+0x0/0x[0-9a-f]+ ->function_[a-z]+\+' \
	"two callbacks: both of them, and no trampoline"
echo nop > "$TRACING/instances/a/current_tracer"
rmdir "$TRACING/instances/a"
like "$(cat "$E")" '^vfs_read \(1\)' "the count is 1 again when one of two has gone"
set_to nop current_tracer
is "$(cat "$E")" "" "empty again"
like "$(ftio bytes "$addr" 5)" "^$NOP\$" "the site is the nop again"

# touched_functions
touched=$(cut -d' ' -f1 "$TRACING/touched_functions")
like "$touched" '^vfs_read$' "touched_functions remembers vfs_read"
like "$touched" '^vfs_write$' "touched_functions remembers vfs_write"
set_to "" set_ftrace_filter

# A module that goes in the middle of a listing of its functions.
if insmod "$MODULES/ftmod_functions.ko" 2> /dev/null; then
	exec 9< "$A"
	like "$(grep -m 1 ' \[ftmod_functions\]$' <&9)" . "a listing of all functions gets to a module"
	ok "a listing of all functions lets the module go" timeout 30 rmmod ftmod_functions
	is "$(grep -c ' \[ftmod_functions\]$' <&9)" 0 "a listing of all functions ends without those of the module"
	exec 9<&-
	insmod "$MODULES/ftmod_functions.ko"
	set_to ':mod:ftmod_functions' set_ftrace_filter
	exec 9< "$TRACING/set_ftrace_filter"
	read -r first <&9
	like "$first" ' \[ftmod_functions\]$' "a listing of a module begins"
	rmmod ftmod_functions
	at_least 10000 "$(cat <&9 | wc -l)" "a listing of a module ends when the module goes"
	exec 9<&-
	set_to "" set_ftrace_filter
else
	skip "no ftmod_functions"
fi

# The name of a traced function is kept when its init text is freed, and ends where the function ends.
set_to ':mod:ftmod_initname' set_ftrace_filter
set_to function current_tracer
if insmod "$MODULES/ftmod_initname.ko" 2> /dev/null; then
	like "$(cat /sys/module/ftmod_initname/parameters/names)" \
		'^ftmod_in_traced\+0x0/0x[0-9a-f]+ \[ftmod_initname[^]]*\] (0x)?[0-9a-f]{8,16}$' \
		"a freed init function keeps its name, and lends it to no other"
	rmmod ftmod_initname
else
	skip "no ftmod_initname"
fi
set_to nop current_tracer
set_to "" set_ftrace_filter

# dyn_ftrace_total_info
info=$(cat "$TRACING/dyn_ftrace_total_info")
like "$info" '^[0-9]+ pages: *[0-9]+ groups: *[0-9]+' "dyn_ftrace_total_info: N pages:P groups: G"
is "$(echo "$info" | sed -n '1s/ .*//p')" "$lines" "dyn_ftrace_total_info has as many as available_filter_functions"
# The clock of the guest can stand still during boot.
if ! linux_6; then
	like "$info" '^ftrace boot update time = [0-9]+ \(ns\)$' "on Linux 7.3, the time that boot took for the call sites"
	like "$info" '^ftrace module total update time = [0-9]+ \(ns\)$' "  and that modules took"
fi

# read-only, for root too
for file in available_filter_functions available_filter_functions_addrs enabled_functions touched_functions \
	dyn_ftrace_total_info available_tracers; do
	works "$file is read" read "$TRACING/$file"
	# Root opens anything, but there is nothing to write with.
	tap_out=$(ftio write "$TRACING/$file" x)
	like "$tap_out" '^E(INVAL|ACCES|BADF)$' "$file is not written"
done

# seeking and short reads
is "$(dd if="$A" bs=7 count=100 2> /dev/null)" "$(head -c 700 "$TMP.avail")" "read in pieces of 7 bytes"
is "$(dd if="$A" bs=4096 2> /dev/null | cmp - "$TMP.avail" 2>&1)" "" "read in pieces of 4096 bytes"

set_to vfs_read set_ftrace_filter
set_to function current_tracer
like "$(cat "$TRACING/enabled_functions")" '^vfs_read ' "a traced function is listed"
unlike "$(cat "$TRACING/enabled_functions")" 'subops' "without subops, which only the graph tracer has"
set_to nop current_tracer

done_testing
