#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# An ops is taken off a function while there is no memory at all: those that stay need a trampoline of their own, the
# memory for trampolines is full, and nothing more is to be had. One piece of it is kept for this.

. "$(dirname "$0")/tap.sh"
need_module ftmod_fill
slab=/sys/kernel/debug/failslab
need $slab/task-filter /proc/self/make-it-fail

# A piece has 64 KiB.
pieces() {
	grep -c ' arena_make+' /proc/vmallocinfo
}
trampolines() {
	grep -c ' t ftrace_trampoline' /proc/kallsyms
}

insmod "$MODULES/ftmod_fill.ko"
M=/sys/module/ftmod_fill/parameters
first=ftmod_fill_1000

# The tracer first, so that the others have never been alone on the function.
set_to $first set_ftrace_filter
set_to function current_tracer
works "ops of all functions" write $M/common 60
works "one more on the function that is traced" write $M/more 1
# What came and went meanwhile gives its room back.
tries=0
while [ "$(trampolines)" -gt 2 ] && [ $tries -lt 20 ]; do
	tries=$((tries + 1))
	sleep 1
done
is "$(trampolines)" 2 "a trampoline for it, one for all the others"

started=$(pieces)
while [ "$(pieces)" -eq "$started" ] && echo 1 > $M/more; do
	:
done
full=$((started + 1))
is "$(pieces)" $full "ops of other functions take more memory for trampolines"
works "one more" write $M/more 1
size=$(cat $M/size)
works "and as many as there is room for now, at $size bytes" write $M/more $((65536 / size - 2))
is "$(pieces)" $full "they fit"

exec 3> "$TRACING/current_tracer" 4> /proc/self/make-it-fail
verbose=$(cat $slab/verbose)
echo 0 > $slab/verbose
echo N > $slab/ignore-gfp-wait
echo Y > $slab/task-filter
echo -1 > $slab/times
echo 100 > $slab/probability
echo 1 >&4
if echo nop >&3; then went=yes; else went=no; fi
echo 0 >&4
exec 3>&- 4>&-
echo 0 > $slab/probability
echo 1 > $slab/times
echo N > $slab/task-filter
echo Y > $slab/ignore-gfp-wait
echo "$verbose" > $slab/verbose

is "$went" yes "the tracer goes without any memory"
# The allocator may say that it has none.
is "$(kernel_log | bad_news | grep -v 'Call Trace')" "" "and without a complaint"
log_mark
is "$(cat "$TRACING/current_tracer")" nop "and is gone"
like "$(cat "$TRACING/enabled_functions")" "^$first \\[ftmod_fill\\] \\(61\\)" "the ops are alone on its function"
is "$(cat $M/call)" 1 "and called as before"
is "$(pieces)" $full "no more memory was taken than there was"
works "the next" write $M/more 1
is "$(pieces)" $full "has room in the piece that was kept"

ok "all can go" rmmod ftmod_fill
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

done_testing
