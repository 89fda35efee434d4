#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's half of ../host/vm/boot-memory.t: an allocation failed at boot. What does not work must
# have been said, and all other things must work. run-guest does not run this script.

KEEP=y
. "$(dirname "$0")/tap.sh"

# said WHAT: is it in the kernel log?
said() {
	dmesg | grep -qF "$1"
}

# parameter NAME: its value.
parameter() {
	tr ' ' '\n' < /proc/cmdline | sed -n "s/^$1=//p"
}

# filter_of FILE: its words.
filter_of() {
	grep -v '^#' "$TRACING/$1"
}

# words_of PARAMETER FILE: each word of the parameter is in the file, or the log says that there was
# no memory. If even the set of all words had none, the log has all the words. If the change of the
# filter had none, the log has the first. Of a word for a module, the log has the name of the
# function.
words_of() {
	words=$(parameter "$1")
	! said "no memory for \`$words'" || return 0
	! said "no memory for \`${words%%,*}'" || return 0
	for word in $(echo "$words" | tr ',' ' '); do
		said "no memory for \`$word'" || said "no memory for \`${word%%:mod:*}'" ||
			like "$(filter_of "$2")" "^$(echo "$word" | sed 's/\*/.*/g')" "$2 has $word"
	done
}

set_to 0 tracing_on
if said 'no memory for the call sites, no function can be traced'; then
	for file in set_ftrace_filter enabled_functions available_filter_functions; do
		fails_with ENODEV "function tracing is off for good: $file" read "$TRACING/$file"
	done
	fails_with ENODEV "  no filter is taken" write "$TRACING/set_ftrace_filter" "vfs_open
"
	fails_with ENODEV "  and no tracer starts" write "$TRACING/current_tracer" function
	is "$(cat "$TRACING/current_tracer")" nop "no tracer runs"
	# There is nothing that could be reset.
	reset() {
		:
	}
else
	tracer=$(cat "$TRACING/current_tracer")
	wanted=$(parameter ftrace)
	like "$tracer" "^($wanted|nop)\$" "the tracer runs, or it does not: $tracer"
	if [ "$wanted" = function ]; then
		said "boot parameter: no memory for \`vfs_read'" ||
			is "$(filter)" vfs_read "the filter is the one of the boot parameter"
		if [ "$tracer $(filter)" = "function vfs_read" ]; then
			is "$(cut -d' ' -f1 "$TRACING/enabled_functions")" vfs_read "the function of the filter is enabled"
		fi
	else
		words_of ftrace_filter set_ftrace_filter
		words_of ftrace_notrace set_ftrace_notrace
		words_of ftrace_graph_filter set_graph_function
		words_of stacktrace_filter stack_trace_filter
		# Without its filter, the stack tracer has all functions.
		if [ "$tracer $(filter_of stack_trace_filter)" = "function_graph vfs_rename" ] &&
			filter_of set_ftrace_filter | grep -qx vfs_read; then
			is "$(cut -d' ' -f1 "$TRACING/enabled_functions" | sort | joined)" "vfs_read vfs_rename" \
				"the functions of the filters are enabled"
		fi
		echo 0 > /proc/sys/kernel/stack_tracer_enabled
		clear_commands "$TRACING"
		for file in set_ftrace_filter set_ftrace_notrace set_graph_function stack_trace_filter; do
			set_to "" $file
		done
	fi
	set_to nop current_tracer
	is "$(cat "$TRACING/enabled_functions")" "" "no function is enabled without a tracer"
	set_to "vfs_open vfs_read" set_ftrace_filter
	works "with memory the tracer starts" write "$TRACING/current_tracer" function
	set_to 1 tracing_on
	record read_bytes 5
	is "$(traced)" "vfs_open vfs_read" "  and traces"
	set_to nop current_tracer
	is "$(all_nops)" "all nops" "all sites are nops"
fi
# register_tracer() of Linux 7.3 warns if the tracer of the boot parameter does not start. The slab
# allocator prints a call trace if there is no memory for the cache of shadow stacks.
log=$(dmesg | sed -e '/WARNING: .* at register_tracer+/,/---[[] end trace/d' \
	-e '/__kmem_cache_create_args(fgraph_stack) failed with error -12/,/<\/TASK>/d')
is "$(echo "$log" | bad_news)" "" "nothing bad in the log since boot"

done_testing
