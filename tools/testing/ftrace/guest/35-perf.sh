#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf: the event ftrace:function, which each task can count with its own filter; and the events
# about changed text and about new and freed trampolines, which a decoder of processor traces needs.

. "$(dirname "$0")/tap.sh"
need "$TRACING/events/ftrace/function/id" /proc/sys/kernel/perf_event_paranoid

id=$(cat "$TRACING/events/ftrace/function/id")
is "$(ftio perf "$id" 'ip == vfs_read')" 10 "ten reads are counted"
is "$(ftio perf "$id" 'ip == vfs_read,vfs_write')" 10 "  with a list"
is "$(ftio perf "$id" 'ip == vfs_rea*')" 10 "  with a glob"
is "$(ftio perf "$id" 'ip == vfs_rename')" 0 "a function that is not called"
is "$(ftio perf "$id" 'ip == vfs_* && ip != vfs_read')" 0 "  less one: nothing"
is "$(ftio perf "$id" 'ip == nosuch')" EINVAL "an unknown function"
is "$(ftio perf "$id" 'ip < vfs_read')" EINVAL "an operator that makes no sense"
set_to vfs_read set_ftrace_filter
set_to function current_tracer
set_to "" trace
is "$(ftio perf "$id" 'ip == vfs_read')" 10 "beside the function tracer"
at_least "$(trace_lines | grep -c 'ftio-.*: vfs_read')" 10 "beside perf: the function tracer sees the calls"
set_to nop current_tracer
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

addr=$(sed -n 's/ vfs_read$//p' "$TRACING/available_filter_functions_addrs")
on=$(ftio pokes "$TRACING/current_tracer" function)
like "$on" "^poke $addr $NOP > e8 .. .. .. ..\$" "a text poke event for a site that is switched on"
is "$(echo "$on" | sed -n "s/^poke $addr .* > //p")" "$(ftio bytes "0x$addr" 5)" "the event has the bytes of the site"
tramp=$(echo "$on" | sed -n 's/^symbol \([0-9a-f]*\) [0-9]* ftrace_trampoline$/\1/p')
like "$on" "^poke ${tramp:-none} [0-9]* bytes\$" "the trampoline has a symbol and its text an event"
like "$(cat /proc/kallsyms)" "^${tramp:-none} t ftrace_trampoline" "the symbol is that of kallsyms"
off=$(ftio pokes "$TRACING/current_tracer" nop)
like "$off" "^poke $addr e8 .. .. .. .. > $NOP\$" "a text poke event for a site that is switched off"
set_to "" set_ftrace_filter
on=$(ftio pokes "$TRACING/current_tracer" function)
is "$(echo "$on" | grep -c " $NOP > e8 ")" "$(wc -l < "$TRACING/available_filter_functions")" "an event for every site of all"
set_to nop current_tracer

# A trampoline with as many slots as it can have.
if insmod "$MODULES/ftmod_many.ko" 2>/dev/null; then
	M=/sys/module/ftmod_many/parameters
	ok "63 ops on one function" ftio write $M/same 63
	told=$(ftio pokes $M/same 1)
	size=$(echo "$told" | sed -n 's/^symbol [0-9a-f]* \([0-9]*\) ftrace_trampoline$/\1/p')
	at_least "${size:-0}" 1000 "the trampoline of 64 has a slot for each: $size bytes"
	is "$(echo "$told" | awk '$1 == "poke" && $4 == "bytes" { n += $3 } END { print n }')" "$size" \
		"perf is told of all its text"
	ok "ftmod_many goes" rmmod ftmod_many
else
	skip "no ftmod_many"
fi

# Each event has an ops of its own, on all functions until it has the filter. More ops than a
# trampoline has slots are on one function.
is "$(ftio perf "$id" 'ip == vfs_read' 100)" 1000 "100 events at the same time"
is "$(settled 0 trampolines)" 0 "nothing of them is left"
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled"

done_testing
