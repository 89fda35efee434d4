#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fprobe events: what they see, what it takes to make and to enable one, and how often those wait
# who disable, close and remove many, also of kprobe events.

. "$(dirname "$0")/tap.sh"
need "$TRACING/dynamic_events"
calls=$TRACING/instances/calls
ten='vfs_read vfs_write vfs_open vfs_fstat vfs_getattr
	vfs_mkdir vfs_rmdir vfs_unlink vfs_symlink vfs_link'

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

# calls FUNCTION COMMAND...: how often does the kernel call it meanwhile, and in its workers soon
# after? In an instance, because to remove an event empties the trace.
calls() {
	mkdir "$calls"
	echo "$1" > "$calls/set_ftrace_filter"
	echo function > "$calls/current_tracer"
	shift
	"$@" > /dev/null 2>&1
	sleep 1
	echo 0 > "$calls/tracing_on"
	trace_lines_in "$calls" | grep -c ' <-'
	rmdir "$calls"
}

# few NUMBER MOST DESCRIPTION
few() {
	is "$(($1 > $2 ? $1 : 0))" 0 "$3"
}

for name in $ten; do
	echo "p:kprobes/$name $name"
done > "$TRACING/dynamic_events"
# Perf closes them when it exits.
few "$(calls synchronize_srcu perf stat -e 'kprobes:*' -- true)" 6 \
	"the exit of a process with ten kprobe events waits for all at once"
few "$(calls synchronize_rcu forget)" 5 "kprobe events are removed with one wait for all"
if linux_6; then
	done_testing
fi

for name in $ten; do
	define "$name" "$name"
done
on
few "$(calls synchronize_rcu off)" 5 "fprobe events are disabled without a wait for each"
few "$(calls synchronize_rcu forget)" 5 "  and removed"

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

# The symbols of a module are sorted after some look-ups.
ok "a module loads" modprobe ftmod_a
name=ftmod_a_one
found=0
for round in $(seq 20); do
	define module "$name"
	on
	found=$((found + $(named enabled_functions)))
	off
	forget
done
is "$found" 20 "  each time a function of it is found by its name"
ok "  it unloads" rmmod ftmod_a

define one vfs_read
define two vfs_read
on
base_todo like "$(cat "$TRACING/enabled_functions")" '^vfs_read \(2\)' "each fprobe has an ops of its own"
set_to 0 events/fprobes/one/enable
set_to "" trace
read_bytes 3
unlike "$(trace_lines)" ': one: ' "  one that goes is not called"
like "$(trace_lines)" ': two: \(vfs_read' "  and the other one is"
off
forget

# The functions of a module leave when it goes, and an event with no function left is not one of all.
ok "a module loads" modprobe ftmod_a
define module 'ftmod_a_*'
define mixed '*_one'
on
before=$(wc -l < "$TRACING/enabled_functions")
at_least "$(grep -c '^ftmod_a_' "$TRACING/enabled_functions")" 5 "  its functions are enabled"
gone=$(grep -c '^ftmod_a_' "$TRACING/enabled_functions")
ok "the module goes" rmmod ftmod_a
is "$(wc -l < "$TRACING/enabled_functions")" $((before - gone)) "  exactly its functions leave"
ok "the module comes back" modprobe ftmod_a
unlike "$(cat "$TRACING/enabled_functions")" '^ftmod_a_' "  without the events"
off
on
is "$(wc -l < "$TRACING/enabled_functions")" "$before" "  until they are enabled again"
rmmod ftmod_a
off
is "$(cat "$TRACING/enabled_functions")" "" "no function of the events is left enabled"
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

is "$(calls kallsyms_on_each_symbol probe vfs_read)" 0 "a name is not compared with all symbols"
forget
is "$(calls module_kallsyms_on_each_symbol probe vfs_read)" 0 "  nor with those of modules"
forget
at_least "$(calls kallsyms_on_each_symbol probe 'vfs_rea*')" 1 "a pattern is"
forget

done_testing
