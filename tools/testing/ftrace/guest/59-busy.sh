#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Beside a task that does not sleep, for which RCU tasks waits: no write to a control file waits for
# it, nor does anybody else for the locks of such a write.

. "$(dirname "$0")/tap.sh"
need_module ftmod_spin ftmod_a

F=$TRACING/set_ftrace_filter
spinning=/sys/module/ftmod_spin/parameters/spinning

is_busy() {
	base_todo is "$(cat $spinning)" Y "  $1 while the task is busy"
}

echo 'vfs_read:traceoff' >> "$F"
echo 'vfs_write:traceoff' >> "$F"
for name in vfs_read vfs_write; do
	echo "$name:enable_event:sched:sched_switch" >> "$F"
done
mkdir "$TRACING/instances/busy"
echo 1 > "$TRACING/instances/busy/set_ftrace_pid"
ok "a task that does not sleep" insmod "$MODULES/ftmod_spin.ko"
is_busy "  there it is,"

if [ -e "$TRACING/set_graph_function" ]; then
	for word in vfs_read vfs_write ''; do
		works "set_graph_function '$word'" write "$TRACING/set_graph_function" "$word"
		works "set_graph_notrace '$word'" write "$TRACING/set_graph_notrace" "$word"
	done
	is_busy "written"
fi
works "a command from one of two functions" append "$F" "!vfs_write:traceoff
"
is_busy "removed"
works "the command of an event from one of two functions" append "$F" "!vfs_write:enable_event:sched:sched_switch
"
is_busy "removed"
works "the command of an event from the last function" append "$F" "!vfs_read:enable_event:sched:sched_switch
"
is_busy "removed"
works "an event" write "$TRACING/events/sched/sched_wakeup/enable" 1
works "a pid" write "$TRACING/set_ftrace_pid" 1
works "no pid" write "$TRACING/set_ftrace_pid" ""
is_busy "set and removed"
ok "a module" insmod "$MODULES/ftmod_a.ko"
works "a function of it" write "$F" ftmod_a_one
ok "no module" rmmod ftmod_a
is_busy "loaded and unloaded"
ok "no instance" rmdir "$TRACING/instances/busy"
is_busy "removed"

rmmod ftmod_spin
[ ! -e "$TRACING/set_graph_function" ] || : > "$TRACING/set_graph_function"
done_testing
