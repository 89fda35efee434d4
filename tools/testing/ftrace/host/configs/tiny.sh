#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The smallest kernel with DYNAMIC_FTRACE: all functions on and off, one by name, and a trace of it.

cd /sys/kernel/tracing || exit 1
cat current_tracer
wc -l <available_filter_functions
echo function >current_tracer && echo nop >current_tracer && echo toggled
echo vfs_write >set_ftrace_filter
echo function >current_tracer
echo >/tmp/file
echo 0 >tracing_on
grep -c 'vfs_write <-' trace
grep -v '^#' trace | grep -vc 'vfs_write <-'
echo nop >current_tracer
dmesg | grep -c 'BUG:\|WARNING:\|Oops'
exit 0
