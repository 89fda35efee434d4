#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: toggle.sh TIMES SUFFIX
#
# Function tracing of all sites on and off, for guests with other numbers of CPUs.

t=/sys/kernel/tracing

/host/guest/benchio toggle warm_up warm_up 1 $t/current_tracer function nop
/host/guest/benchio toggle "enable_all_$2" "disable_all_$2" "$1" $t/current_tracer function nop
