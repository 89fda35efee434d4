#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# samples/fprobe: entry and return of one function and of a glob, by an fprobe.

. "$(dirname "$0")/tap.sh"

# It prints on the console at every call, so the function is a rare one.
ok "one function: loads" modprobe fprobe_example symbol=vfs_mkdir
log_mark
mkdir "$TMP.d"
log=$(kernel_log)
like "$log" 'Enter <vfs_mkdir\+0x[0-9a-f]+/' "the fprobe sees the entry"
like "$log" 'Return from <vfs_mkdir\+0x[0-9a-f]+/.* \((do|filename)_mkdirat\+' "the fprobe sees the return, and to where"
like "$log" '  (do|filename)_mkdirat\+' "the stack has its caller"
like "$log" '  entry_SYSCALL_64_after_hwframe\+' "the stack in the fprobe is complete"
like "$(cat "$TRACING/enabled_functions")" '^vfs_mkdir ' "the probed function is enabled"
ok "one function: unloads" rmmod fprobe_example
like "$(kernel_log)" 'fprobe at vfs_mkdir unregistered\. 2 times hit, 0 times missed' "the fprobe was hit twice, and not missed"

ok "a glob: loads" modprobe fprobe_example 'symbol=vfs_*' nosymbol=vfs_write use_trace=1 stackdump=0
set_to "" trace
read_bytes 5
set_to 0 tracing_on
at_least "$(trace_lines | grep -c 'dd-.*Enter <vfs_read+')" 5 "entries are seen"
at_least "$(trace_lines | grep -c 'dd-.*Return from <vfs_read+.*(ksys_read+')" 5 "returns are seen"
unlike "$(trace_lines)" 'Enter <vfs_write\+' "entries of a function that was left out are not seen"
set_to 1 tracing_on
ok "a glob: unloads" rmmod fprobe_example
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"

done_testing
