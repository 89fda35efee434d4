#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 4
# boot: ftrace=function ftrace_filter=:mod:ftmod_a ftrace_notrace=ftmod_a_two:mod:ftmod_a ftrace_filter=*:mod:nosuch ftrace_notrace=vfs_read,vfs_write ftrace_notrace=vfs_open ftrace_graph_filter=vfs_read ftrace_graph_filter=vfs_open,vfs_write ftrace_graph_notrace=ksys_read ftrace_graph_notrace=ksys_write
#
# Boot parameters of filters: filters for modules that are loaded later, and parameters that are given
# several times.

KEEP=y
. "$(dirname "$0")/tap.sh"
need_module ftmod_a

is "$(filter | sort | joined)" "*:mod:nosuch :mod:ftmod_a" "ftrace_filter= takes words for modules, twice"
is "$(trace_lines)" "" "nothing is traced before the module is loaded"
is "$(cat "$TRACING/enabled_functions")" "" "because no function is enabled"
is "$(grep -v '^#' "$TRACING/set_ftrace_notrace" | sort | joined)" \
	"ftmod_a_two:mod:ftmod_a vfs_open vfs_read vfs_write" "ftrace_notrace= has functions and words for modules, twice"
is "$(sort "$TRACING/set_graph_function" | joined)" "vfs_open vfs_read vfs_write" "ftrace_graph_filter= is given twice"
is "$(sort "$TRACING/set_graph_notrace" | joined)" "ksys_read ksys_write" "ftrace_graph_notrace= is given twice"

ok "the module is loaded" insmod "$MODULES/ftmod_a.ko"
echo 'nest 2' > "$TMP.call"
cp "$TMP.call" /sys/module/ftmod_a/parameters/call
set_to 0 tracing_on
like " $(traced) " ' ftmod_a_init .*ftmod_a_nest ftmod_a_one ftmod_a_setup ' "functions of the module are traced, also its init functions"
unlike "$(traced)" 'ftmod_a_two' "  less those of notrace"
is "$(traced | tr ' ' '\n' | grep -Evc '^(ftmod_a_.*|call_set)$')" 0 "no functions but those of the module are traced"
like "$(filter)" '^ftmod_a_one \[ftmod_a\]$' "the filter has the functions"
like "$(filter)" '^\*:mod:nosuch$' "the filter still waits for the other module"
is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"
for file in set_graph_function set_graph_notrace; do
	set_to "" $file
done

done_testing
