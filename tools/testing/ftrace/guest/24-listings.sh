#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# The lists of functions: all of the kernel's, against /proc/kallsyms and the bytes of the sites; while
# modules go.

. "$(dirname "$0")/tap.sh"

A=$TRACING/available_filter_functions
E=$TRACING/enabled_functions
syms=$TMP.syms
cp "$A" "$TMP.avail"
cp "${A}_addrs" "$TMP.addrs"
grep -i ' [tw] ' /proc/kallsyms > "$syms"

# available_filter_functions
at_least "$(wc -l < "$TMP.avail")" 1000 "available_filter_functions lists functions"
is "$(grep -Evc '^[A-Za-z_.][A-Za-z0-9_.]*( \[[a-z0-9_]+\])?$' "$TMP.avail")" 0 "each line is: name, or: name [module]"
unknown=$(awk 'NR == FNR { known[$3] = 1; next } !($1 in known)' "$syms" "$TMP.avail" | grep -v '^__ftrace_invalid_address__')
is "$unknown" "" "every name is in /proc/kallsyms"
is "$(grep -Ec '^(ftrace_int3_handler|poke_int3_handler|exc_int3|exc_nmi|ftrace_caller|asm_exc_int3)$' "$TMP.avail")" 0 \
	"what the patcher itself runs through is not listed"
is "$(dd if="$A" bs=7 count=100 2> /dev/null)" "$(head -c 700 "$TMP.avail")" "read in pieces of 7 bytes"

# available_filter_functions_addrs
is "$(cut -d' ' -f2- "$TMP.addrs" | cmp - "$TMP.avail" 2>&1)" "" "the names are the same with addresses, in the same order"
is "$(grep -v '\[' "$TMP.addrs" | cut -d' ' -f1 | sort -uc 2>&1)" "" "vmlinux's are in the order of addresses, each once"
# The site is the function's first instruction, or its second behind endbr64.
far=$(awk 'NR == FNR { at[$3, substr($1, 1, 15)] = $1; next }
	!(($2, substr($1, 1, 15)) in at) && $2 !~ /^__ftrace_invalid_address__/' "$syms" "$TMP.addrs" | head -n 5)
is "$far" "" "each address is at the start of its function"
is "$(all_nops)" "all nops" "all sites are nops"

# enabled_functions
set_to "vfs_read vfs_write" set_ftrace_filter
set_to function current_tracer
is "$(cut -d' ' -f1,2 "$E")" "$(grep -xE 'vfs_(read|write)' "$TMP.avail" | sed 's/$/ (1)/')" \
	"enabled_functions lists what is traced: name (count)"
# Tools split a line at blanks: name, (count), flags, "tramp:", one word, "(callback)", "->caller". Some
# take the two words behind the trampoline for the callback, so the word is there only with "(callback)".
like "$(cat "$E")" '^vfs_write \(1\)  *	tramp: [^ ]+ \(function_[a-z]+\+0x0/0x[0-9a-f]+\) ->[a-z_]+\+0x0/0x[0-9a-f]+$' \
	"the trampoline is one word, then comes the callback"
is "$(all_nops)" "all nops" "all other sites are nops"
addr=$(sed -n 's/ vfs_read$//p' "$TMP.addrs")
like "$(ftio bytes "$addr" 5)" '^e8 ' "a traced site is a call"
set_to nop current_tracer
is "$(cat "$E")" "" "empty again"
like "$(ftio bytes "$addr" 5)" "^$NOP\$" "the site is the nop again"
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

is "$(sed -n '1s/ .*//p' "$TRACING/dyn_ftrace_total_info")" "$(wc -l < "$TMP.avail")" \
	"dyn_ftrace_total_info has as many as available_filter_functions"

done_testing
