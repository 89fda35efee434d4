#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Take ops off a function while there is no memory at all: neither for the trampoline that the
# remaining ops would need, nor for the list of changes. The removed ops are not called any more,
# and the remaining ops are called as before.

. "$(dirname "$0")/tap.sh"
need_module ftmod_fill
slab=/sys/kernel/debug/failslab
need $slab/task-filter /proc/self/make-it-fail

# A piece has 64 KiB. Who asks for it depends on what the compiler has made one function. Where
# memory for code comes from a cache of the kernel, pieces cannot be seen.
pieces() {
	grep -Ec ' (arena_make|granules_get|arch_ftrace_tramp_make)\+' /proc/vmallocinfo
}

# pieces_are NUMBER WANTED DESCRIPTION
pieces_are() {
	if [ "$started" -gt 0 ]; then
		is "$@"
	else
		skip "$3: pieces cannot be seen"
	fi
}

# another: register one more ops of one function; the distance of its trampoline from the last.
another() {
	echo 1 > $M/more && cat $M/size
}

# next_piece DISTANCE: was memory taken for the trampoline that lies so far from the last? A hole
# that others left in the piece makes a distance of its own.
next_piece() {
	[ -n "$1" ] || return 0
	if [ "$started" -gt 0 ]; then
		[ "$(pieces)" -gt "$started" ]
	else
		[ "$1" != "$size" ]
	fi
}

insmod "$MODULES/ftmod_fill.ko"
M=/sys/module/ftmod_fill/parameters
first=ftmod_fill_1000

# The tracers first, so that the others have never been alone on the function.
mkdir "$TRACING/instances/second"
for dir in "$TRACING" "$TRACING/instances/second"; do
	echo $first > "$dir/set_ftrace_filter"
	echo function > "$dir/current_tracer"
done
works "ops of all functions" write $M/common 60
works "one more on the function that is traced" write $M/more 1
# What came and went meanwhile gives its room back.
is "$(settled 2 trampolines)" 2 "a trampoline for it, one for all the others"

started=$(pieces)
another > /dev/null
size=$(another)
while [ "$size" != "$(another)" ]; do
	size=$(another)
done
until next_piece "$(another)"; do
	:
done
pieces_are "$(pieces)" $((started + 1)) "ops of other functions take more memory for trampolines"
is "$(another)" "$size" "one more is in the next piece"
works "as many ops more as there is room for, at $size bytes" write $M/more $((65536 / size - 2))
full=$(pieces)

# without DIR: the tracer of DIR goes without any memory.
without() {
	exec 3> "$1/current_tracer" 4> /proc/self/make-it-fail
	echo 1 >&4
	if echo nop >&3; then went=yes; else went=no; fi
	echo 0 >&4
	exec 3>&- 4>&-
}
take_memory() {
	verbose=$(cat $slab/verbose)
	echo 0 > $slab/verbose
	echo N > $slab/ignore-gfp-wait
	echo Y > $slab/task-filter
	echo -1 > $slab/times
	echo 100 > $slab/probability
}
give_memory() {
	echo 0 > $slab/probability
	echo 1 > $slab/times
	echo N > $slab/task-filter
	echo Y > $slab/ignore-gfp-wait
	echo "$verbose" > $slab/verbose
}
take_memory
without "$TRACING"
one=$went
without "$TRACING/instances/second"
two=$went
give_memory

is "$one $two" "yes yes" "two tracers go, one after the other, without any memory"
# The allocator may say that it has none.
is "$(kernel_log | bad_news | grep -v 'Call Trace')" "" "two tracers go without a complaint"
log_mark
is "$(cat "$TRACING/current_tracer" "$TRACING/instances/second/current_tracer")" "nop
nop" "two tracers are gone"
like "$(cat "$TRACING/enabled_functions")" "^$first \\[ftmod_fill\\] \\(61\\)" "the ops are alone on its function"
set_to "" trace
is "$(cat $M/call)" 1 "the ops are called as before"
is "$(trace_lines | grep -c $first)" 0 "a tracer that has gone is not called"
pieces_are "$(pieces)" "$full" "no memory was taken for it"
works "with memory the next ops comes" write $M/more 1
is "$(cat $M/call)" 1 "the next ops is called"
rmdir "$TRACING/instances/second"

ok "all can go" rmmod ftmod_fill
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"
pieces_are "$(settled 1 pieces)" 1 "the memory for trampolines is given back, all but a piece for the next"

# Without memory, sites are changed in small groups.
set_to 'vfs_*' set_ftrace_filter
at_least "$(filter | wc -l)" 65 "a tracer has more functions than a group"
set_to function current_tracer
take_memory
without "$TRACING"
give_memory
is "$went" yes "the tracer goes without any memory"
is "$(cat "$TRACING/enabled_functions")" "" "from all of its functions"
is "$(all_nops)" "all nops" "each site is a nop again"

# So many ops on a function that one slot calls all of them: the array cannot be made anew.
if insmod "$MODULES/ftmod_many.ko" 2>/dev/null; then
	M=/sys/module/ftmod_many/parameters
	works "35 ops on a function" write $M/same 35
	set_to ftmod_many_func set_ftrace_filter
	set_to function current_tracer
	works "a tracer, and 35 more" write $M/same 35
	take_memory
	without "$TRACING"
	give_memory
	is "$went" yes "a tracer among 70 ops goes without any memory"
	set_to "" trace
	is "$(cat $M/call)" 70 "the ops are called as before"
	is "$(trace_lines | grep -c ftmod_many_func)" 0 "the tracer that has gone is not called"
	works "with memory the next ops comes" write $M/same 1
	is "$(cat $M/call)" 71 "all 71 ops are called"
	ok "ftmod_many goes" rmmod ftmod_many
	is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"
	set_to "" set_ftrace_filter
else
	skip "no ftmod_many"
fi

is "$(kernel_log | bad_news | grep -v 'Call Trace')" "" "no complaint about refused memory"
log_mark

done_testing
