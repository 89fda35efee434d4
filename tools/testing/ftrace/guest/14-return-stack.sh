#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A probe at the return of a function: the stack goes on behind the function, though the function
# has returned to the code of function tracing.

. "$(dirname "$0")/tap.sh"
need "$TRACING/dynamic_events"
# shellcheck disable=SC2016 # of the kernel, not of the shell
echo 'f:f/ret vfs_read%return bytes=$retval stack=$stack' 2> /dev/null >> "$TRACING/dynamic_events" ||
	skip_all "this kernel has no fprobe events"

E=$TRACING/events/f/ret
echo 'bytes == 7' > "$E/filter"
echo 'stacktrace if bytes == 7' > "$E/trigger"
echo 1 > "$E/enable"
dd if=/dev/zero of=/dev/null bs=7 count=5 2> /dev/null
echo 0 > "$E/enable"
at_least "$(trace_lines | grep -c ': ret: .* bytes=0*x*7 ')" 5 "each return is recorded"
stacks=$(sed -n '/<stack trace>/,/^[^ ]* *[^ ]*-[0-9]/p' "$TRACING/trace")
for caller in ksys_read "$SYSCALL"; do
	at_least "$(echo "$stacks" | grep -Ec "^ => $caller")" 5 "each stack has $caller"
done
# The stack pointer lies in the stack of a task, at a multiple of the word.
is "$(trace_lines | sed -n 's/.*: ret: .* stack=//p' | grep -vEc '^0x[0-9a-f]+[08]$|^[0-9]+$')" 0 \
	"the stack pointer is aligned"
echo '!stacktrace' > "$E/trigger"
echo > "$TRACING/dynamic_events"

done_testing
