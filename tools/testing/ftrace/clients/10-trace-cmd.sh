#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace-cmd: what it records with the function and function_graph tracers, read from its own report.

. "$(dirname "$0")/tap.sh"
dat=$TMP.dat

# trace_cmd_record DESCRIPTION OPTION...: of a cat that reads one file.
trace_cmd_record() {
	what=$1
	shift
	ok "$what" trace-cmd record -q -o "$dat" "$@" cat /proc/version
	report=$(trace-cmd report "$dat" 2> /dev/null)
	functions=$(echo "$report" | sed -n 's/^.* function:  *//p')
}

trace_cmd_record "record -p function -l" -p function -l 'vfs_*'
like "$report" '^ +cat-[0-9]+ .* function: +vfs_read$' "the report has a read of cat's"
is "$(echo "$functions" | grep -v '^vfs_')" "" "record -p function -l: no function that was not asked for"
like "$(trace-cmd report -O parent "$dat" 2> /dev/null)" ' vfs_read <-- ksys_read$' "record -p function -l: the caller of vfs_read"

trace_cmd_record "record -p function -l -n" -p function -l 'vfs_*' -n vfs_open
like "$functions" '^vfs_read$' "record -l -n: functions that are not left out"
unlike "$functions" '^vfs_open$' "record -l -n: not the function that is left out"

trace_cmd_record "record --func-stack" -p function -l vfs_read --func-stack
for frame in vfs_read ksys_read do_syscall_64 entry_SYSCALL_64_after_hwframe; do
	like "$report" "=> $frame " "the stack of a call has $frame"
done

trace_cmd_record "record -p function of all functions" -p function
at_least "$(echo "$functions" | sort -u | wc -l)" 500 "hundreds of functions ran"
like "$functions" '^vfs_read$' "vfs_read among them"

trace_cmd_record "record -p function_graph -g" -p function_graph -g ksys_read --max-graph-depth 2
like "$report" '^ +cat-.* funcgraph_entry: +\|  ksys_read\(\) \{$' "the report has the function that was asked for"
like "$report" '^ +cat-.* funcgraph_entry: +[^ ]? *[0-9.]+ us +\|    vfs_read\(\);$' "record -g: what the function calls, and for how long"
like "$report" '^ +cat-.* funcgraph_exit: .*[0-9.]+ us +\|  \}$' "record -g: where the function returns"
unlike "$report" '\|      [a-z_]' "record -g: no calls below the depth"

trace_cmd_record "record -p function_graph of all functions" -p function_graph
at_least "$(echo "$report" | grep -c funcgraph_exit)" 500 "hundreds of functions returned"

ok "start -p function" trace-cmd start -p function -l 'vfs_*'
is "$(cat "$TRACING/current_tracer")" function "the tracer runs"
like "$(trace-cmd show)" ': vfs_[a-z_]* <-' "show shows its trace"
ok "reset" trace-cmd reset
is "$(cat "$TRACING/current_tracer")" nop "no tracer is left"
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"
is "$(all_nops)" "all nops" "every site is a nop again"

done_testing
