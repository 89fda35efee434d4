#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Unregister ops while a task is in their callback, or in a trampoline on the way to the callback:
# unregistering waits only for a task in the callback, and afterwards the ops are not called any
# more.

. "$(dirname "$0")/tap.sh"
need_module ftmod_removal ftmod_visit
# A task that is held in a callback must not schedule: it keeps its CPU if nobody can preempt it.
uname -v | grep -qw 'SMP\|PREEMPT.*' || skip_all "the only CPU cannot hold a task in a callback and remove the callback"

P=/sys/module/ftmod_removal/parameters
insmod "$MODULES/ftmod_removal.ko" || skip_all "ftmod_removal does not load"

for name in slot dead callback crowd_slot crowd_dead crowd_callback ipmodify offline again direct fprobe nmi; do
	run_in_module $P "$name"
done
like "$(kernel_log)" 'ftrace: a task is in the callback held_func' "a long wait is told"
is "$(kernel_log | bad_news)" "" "nothing bad in the kernel log so far"
log_mark

# A module that is unloaded while tasks are in its callback.
works "tasks that call a function" write $P/visitors 4
failed=0
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	insmod "$MODULES/ftmod_visit.ko" && sleep 0.05 && rmmod ftmod_visit || failed=$n
done
is "$failed" 0 "a module with a callback in which tasks are comes and goes 20 times"
works "the tasks stop" write $P/visitors 0
is "$(cat "$TRACING/enabled_functions")" "" "nothing is enabled afterwards"

is "$(settled 0 trampolines)" 0 "no trampoline is left"
ok "the module can go" rmmod ftmod_removal

done_testing
