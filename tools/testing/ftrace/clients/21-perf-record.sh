#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf record: function calls as events; and complete stacks, also for samples in a callback or in a
# trampoline.

. "$(dirname "$0")/tap.sh"
data=$TMP.data

# Prints a line a sample: its frames from the innermost to the outermost, in the kernel.
stacks() {
	perf script -i "$data" -F ip,sym 2> /dev/null | awk '
	NF < 2 { if (line != "") print line; line = ""; next }
	$1 ~ /^ffff/ { line = line " " $2 }
	END { if (line != "") print line }'
}

# Where a stack of the kernel's may begin.
begins=' (entry_SYSCALL_64_after_hwframe|asm_[a-z_]+|ret_from_fork_asm|secondary_startup_64_no_verify|entry_SYSCALL_64)$'

ok "record -e ftrace:function" perf record -q -o "$data" -g -e ftrace:function --filter 'ip == vfs_read' -- \
	dd if=/dev/zero of=/dev/null bs=1 count=50
stacks > "$TMP.stacks"
at_least "$(grep -c . "$TMP.stacks")" 50 "an event for each of 50 calls"
# Above it may be a trampoline, which this perf has no name for, and what that called.
is "$(grep -Ev '^( [^ ]+){0,2} vfs_read ' "$TMP.stacks")" "" "  of that function alone, at the top of its stack"
is "$(grep -vE "$begins" "$TMP.stacks")" "" "every stack with the function is complete"
at_least "$(grep -c ' vfs_read ksys_read ' "$TMP.stacks")" 50 "the caller is next in the stack"
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"

# What the function tracer calls for each function is where most time goes.
ok "record -g with all functions traced" perf record -q -o "$data" -g --kernel-callchains -e cpu-clock:k -F 997 -- \
	sh -c "echo function > $TRACING/current_tracer; dd if=/dev/zero of=/dev/null bs=1 count=6000"
set_to nop current_tracer
stacks > "$TMP.stacks"
at_least "$(grep -c . "$TMP.stacks")" 50 "perf record of all functions traced has samples"
at_least "$(grep -Ec ' trace_function .* vfs_(read|write) ' "$TMP.stacks")" 1 "some in the tracer below vfs_read or vfs_write"
page=$(perf script -i "$data" -D 2> /dev/null |
	sed -n 's/.* PERF_RECORD_KSYMBOL addr \(.*\)... len .* name ftrace_trampoline$/\1/p')
base_todo like "$page" '^ffffffff[0-9a-f]{5}$' "perf was told the address of the trampoline"
base_todo at_least "$(perf script -i "$data" -F ip,sym 2> /dev/null | grep -Ec "$page... (\[unknown\]|ftrace_trampoline)")" 3 \
	"the trampoline is in the stacks"
is "$(grep -vE "$begins" "$TMP.stacks")" "" "every stack with a trampoline is complete"

# The same with a trampoline that calls several callbacks. One of them is the graph tracer. The code
# that runs when a graphed function returns has no caller any more.
mkdir "$TRACING/instances/ft"
ok "record -g with two callbacks" perf record -q -o "$data" -g --kernel-callchains -e cpu-clock:k -F 997 -- \
	sh -c "echo function_graph > $TRACING/current_tracer
		echo function > $TRACING/instances/ft/current_tracer
		dd if=/dev/zero of=/dev/null bs=1 count=4000"
set_to nop instances/ft/current_tracer
set_to nop current_tracer
rmdir "$TRACING/instances/ft"
stacks | grep -v ' return_to_handler$' > "$TMP.stacks"
at_least "$(grep -c ' trace_function .* ksys_' "$TMP.stacks")" 1 "some samples in one callback"
at_least "$(grep -c ' function_graph_enter.* ksys_' "$TMP.stacks")" 1 "some samples in the other callback"
is "$(grep -vE "$begins" "$TMP.stacks")" "" "every stack with a callback is complete"

done_testing
