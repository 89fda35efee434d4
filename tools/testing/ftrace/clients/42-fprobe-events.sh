#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fprobe events: what they see, and what it takes to make and to enable one.

. "$(dirname "$0")/tap.sh"
need "$TRACING/dynamic_events"
! linux_6 || skip_all "Linux 6.12 walks through all symbols"

# define EVENT FUNCTION
define() {
	echo "f:fprobes/$1 $2" >> "$TRACING/dynamic_events"
}

forget() {
	: > "$TRACING/dynamic_events"
}

on() {
	set_to 1 events/fprobes/enable
}

off() {
	set_to 0 events/fprobes/enable
}

probe() {
	define probed "$1"
	on
	off
}

# walks COMMAND...: how often does the kernel walk through all its symbols meanwhile?
walks() {
	set_to kallsyms_on_each_symbol set_ftrace_filter
	set_to function current_tracer
	record "$@"
	trace_lines | grep -c ': kallsyms_on_each_symbol <-'
	# This empties the trace.
	forget
	set_to nop current_tracer
	set_to "" set_ftrace_filter
	set_to 1 tracing_on
}

for name in vfs_read vfs_write; do
	ok "an event is made for $name" define "$name" "$name"
done
on
read_bytes 3
off
like "$(trace_lines)" ': vfs_read: \(vfs_read' "an event sees its function"
like "$(trace_lines)" ': vfs_write: \(vfs_write' "  and another one"
set_to "" trace
read_bytes 3
is "$(trace_lines)" "" "events that are disabled see nothing"
ok "events are deleted" forget

ok "a pattern makes one event" define glob 'vfs_*'
on
read_bytes 3
off
like "$(trace_lines)" ': glob: \(vfs_read' "  of one function"
like "$(trace_lines)" ': glob: \(vfs_write' "  and of another"
forget
for name in vfs_reader 'vfs_reader?' '[v]fs_writer'; do
	ok "no function is '$name'" sh -c "! echo 'f:fprobes/none $name' >> $TRACING/dynamic_events"
done

# Several functions with one name: each is probed.
grep -v '[ .]' "$TRACING/available_filter_functions" | sort | uniq -d > "$TMP.twice"
name=$(head -n 1 "$TMP.twice")
named() {
	cut -d ' ' -f 1 "$TRACING/$1" | grep -cFx "$name"
}
define twice "$name"
on
is "$(named enabled_functions)" "$(named available_filter_functions)" \
	"a name probes all its functions ($name)"
off
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"
forget

# Handlers run while their event is disabled, deleted, and its memory is another's.
again read_bytes 20
for round in 1 2 3 4 5 6 7 8; do
	define "read$round" vfs_read
	define "return$round" vfs_read%return
	probe vfs_write
	forget
done
stop_all
is "$(cat "$TRACING/dynamic_events")" "" "events come and go while their functions are called"

is "$(walks probe vfs_read)" 0 "a name is not compared with all symbols"
at_least "$(walks probe 'vfs_rea*')" 1 "a pattern is"

done_testing
