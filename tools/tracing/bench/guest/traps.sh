#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Ten changes of all sites while CPU 1 is in the kernel all the time, between two marks in the emulator's log of exceptions.

t=/sys/kernel/tracing
io=/host/guest/benchio

$io toggle warm_up warm_up 1 $t/current_tracer function nop
# Only the patching: nothing recorded.
echo 0 >$t/tracing_on
$io stats 1 &
load=$!
sleep 0.5
$io mark
$io toggle on off 5 $t/current_tracer function nop >/dev/null
$io mark
kill $load
