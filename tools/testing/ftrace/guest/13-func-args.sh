#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# The option func-args of the function tracer: the trace has the arguments of each call, with the
# names and types that BTF knows.

. "$(dirname "$0")/tap.sh"
need "$TRACING/options/func-args"

opt=$TRACING/options/func-args
hex='0x[0-9a-f]+'
case $(uname -m) in
x86_64) offset=24 ;;
*) offset=16 ;;
esac
like "$(cat "$TRACING/events/ftrace/function/format")" \
	"^	field:unsigned long args\[\];	offset:$offset;	size:0;	signed:0;\$" "the format of the event has the arguments"

set_to "vfs_read ksys_read" set_ftrace_filter
set_to function current_tracer
like "$(cat "$TRACING/trace_options")" '^nofunc-args$' "trace_options lists func-args, off"
record read_bytes 3
unlike "$(trace_lines)" '[()]' "without the option, calls have no arguments"
works "func-args on" write "$opt" 1
like "$(cat "$TRACING/enabled_functions")" 'function_args_hit' "the callback changes"
record read_bytes 3
trace=$(trace_lines)
is "$(echo "$trace" | grep -Ec ": ksys_read\(fd=0x0, buf=$hex, count=0x1\) <-")" 3 "integers and pointers are in hexadecimal"
is "$(echo "$trace" | grep -Ec ": vfs_read\(file=$hex, buf=$hex, count=0x1, pos=$hex\) <-ksys_read\$")" 3 \
	"the caller is behind the arguments"
is "$(echo "$trace" | sed -n 's/.* ksys_read(.*buf=\(0x[0-9a-f]*\),.*/\1/p' | uniq | joined)" \
	"$(echo "$trace" | sed -n 's/.* vfs_read(.*buf=\(0x[0-9a-f]*\),.*/\1/p' | uniq | joined)" "caller and callee got the same buffer"

# Other options, and what was recorded before. Another call ends a row of repeats.
# shellcheck disable=SC2317 # called by record
row_of_reads() {
	taskset 1 sh -c "dd if=/dev/zero of=/dev/null bs=1 count=50; cat /proc/version"
}
set_to "vfs_read vfs_open" set_ftrace_filter
for options in func_stack_trace func-no-repeats 'func_stack_trace func-no-repeats'; do
	for option in $options; do
		works "with $option" write "$TRACING/options/$option" 1
	done
	record row_of_reads
	like "$(trace_lines)" "vfs_read\(file=$hex, .*\) <-ksys_read\$" "  calls have arguments"
	case $options in
	*stack*) like "$(trace_lines)" '^ => ksys_read$' "  and stacks" ;;
	*) like "$(trace_lines)" 'vfs_read <-ksys_read \(repeats:' "  and repeats are counted" ;;
	esac
	for option in $options; do
		set_to 0 "options/$option"
	done
done
record read_bytes 3
set_to 0 options/func-args
like "$(trace_lines)" "vfs_read\(file=$hex" "recorded arguments stay if the option is switched off"
record read_bytes 3
like "$(trace_lines)" ': vfs_read <-ksys_read$' "new calls have no arguments after the option is switched off"
set_to nop current_tracer
set_to 1 options/func-args
set_to function current_tracer
record read_bytes 3
like "$(trace_lines)" "vfs_read\(file=$hex" "an option that is set before the tracer starts is used"

# With interrupts off, BTF cannot be asked, but Linux 7.3 does.
arguments="file=$hex, buf=$hex, count=$hex, pos=$hex"
! linux_6 || arguments=
echo 'vfs_write:dump:1' >> "$TRACING/set_ftrace_filter"
set_to 1 tracing_on
echo text > "$TMP.text"
read_bytes 1
set_to nop current_tracer
like "$(kernel_log)" "vfs_read\($arguments\) <-ksys_read" "a dump of the buffer has ${arguments:+the }${arguments:-no }arguments"
set_to 0 options/func-args

done_testing
