#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The instructions of trampolines, with the mitigations that the kernel chose for this CPU.

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/mitigations.sh"
need /proc/config.gz "$TRACING/events/ftrace/function/id"
[ "$(uname -m)" = x86_64 ] || skip_all "insns knows 64-bit code only"

check_kinds

# What is left of a trampoline that was freed.
set_to vfs_read set_ftrace_filter
told=$(ftio pokes "$TRACING/current_tracer" function | sed -n 's/^symbol \([0-9a-f]*\) \([0-9]*\) ftrace_trampoline$/\1 \2/p')
at_least "${told#* }" 20 "a trampoline of ${told#* } bytes"
set_to nop current_tracer
is "$(settled 0 trampolines)" 0 "  is freed"
is "$(ftio bytes "0x${told% *}" "${told#* }" | tr ' ' '\n' | sort -u)" cc "  and all its bytes are int3"
set_to "" set_ftrace_filter

# A site that is traced leaves the ENDBR before it alone.
site=$(sed -n 's/ vfs_read$//p' "$TRACING/available_filter_functions_addrs")
entry=$(awk '$3 == "vfs_read" { print $1; exit }' /proc/kallsyms)
if has_ibt; then
	before=$(ftio bytes "0x$entry" 9)
	is "$(ftio bytes "0x$site" 5)" "${before#?? ?? ?? ?? }" "the site is behind 4 bytes"
	like "$before" '^(f3 0f 1e fa|66 0f 1f 00|0f 1f 40 d6) ' "the 4 bytes are ENDBR, or its nop if nobody takes the address"
	set_to vfs_read set_ftrace_filter
	set_to function current_tracer
	is "$(ftio bytes "0x$entry" 4)" "$(echo "$before" | cut -c1-11)" "  also while the function is traced"
	set_to nop current_tracer
else
	is "$site" "$entry" "the site is at the start of the function"
fi

done_testing
