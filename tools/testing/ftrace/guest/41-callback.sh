#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The in-kernel API: ops, filters and flags, called through the module ftmod_callback.

. "$(dirname "$0")/tap.sh"
need_module ftmod_callback

P=/sys/module/ftmod_callback/parameters
insmod "$MODULES/ftmod_callback.ko" || skip_all "ftmod_callback does not load"

step() {
	works "$1" write $P/step "$2"
}

refuses() {
	fails_with "$1" "$2" write $P/step "$3"
}

# hits WANTED DESCRIPTION: the module calls ftmod_cb_one once and ftmod_cb_two twice. WANTED is how
# often each of the four ops was called.
hits() {
	echo '0 call' > $P/step
	is "$(cat $P/hits)" "$1" "$2"
}

forget() {
	for n; do
		works "  unregister $n" write $P/step "$n unregister"
		works "  forget $n" write $P/step "$n forget"
	done
}

E=$TRACING/enabled_functions

# A filter
step "a filter" "0 filter ftmod_cb_one"
step "register" "0 register"
like "$(cat "$E")" '^ftmod_cb_one \[ftmod_callback\] \(1\)' "enabled_functions lists it"
hits "1 0 0 0" "only its function is seen"
step "a filter changed while registered" "0 filter ftmod_cb_two"
hits "2 0 0 0" "  takes effect"
step "  appended" "0 append ftmod_cb_one"
hits "3 0 0 0" "both"
step "unregister" "0 unregister"
is "$(cat "$E")" "" "nothing is enabled"
hits "0 0 0 0" "nothing is seen"
step "forget" "0 forget"

# the global filter
step "ops with the global filter" "0 global"
set_to ftmod_cb_two set_ftrace_filter
step "register" "0 register"
hits "2 0 0 0" "  follow set_ftrace_filter"
set_to ftmod_cb_one set_ftrace_filter
hits "1 0 0 0" "  follow changes of set_ftrace_filter"
works "unregister" write $P/step "0 unregister"
set_to "" set_ftrace_filter
works "forget" write $P/step "0 forget"

# flags
SAVE_REGS=4 RECURSION=10 RCU=4000 PERMANENT=10000
for flags in $SAVE_REGS $RECURSION $RCU 14; do
	step "flags 0x$flags" "0 flags $flags"
	step "  filter" "0 filter ftmod_cb_one"
	step "  register" "0 register"
	hits "1 0 0 0" "  is called"
	forget 0
done

# IPMODIFY: one on a function, and never on all.
both=1004 # IPMODIFY and SAVE_REGS
step "IPMODIFY" "0 flags $both"
step "  filter" "0 filter ftmod_cb_one"
step "  register" "0 register"
like "$(cat "$E")" '^ftmod_cb_one \[ftmod_callback\] \(1\) R I' "shows as R I"
step "a second" "1 flags $both"
step "  filter on the same function" "1 filter ftmod_cb_one"
refuses EBUSY "  register" "1 register"
hits "1 0 0 0" "  the first is as it was"
forget 0
step "  forget 1" "1 forget"
step "IPMODIFY" "0 flags $both"
step "  with an empty filter" "0 all"
refuses EINVAL "  register" "0 register"
step "  forget" "0 forget"

# PERMANENT and kernel.ftrace_enabled
if switches_off; then
	S=/proc/sys/kernel/ftrace_enabled
	step "ops" "0 filter ftmod_cb_one"
	step "  register" "0 register"
	echo 0 > $S
	hits "0 0 0 0" "ftrace_enabled 0 silences them"
	step "PERMANENT" "1 flags $PERMANENT"
	step "  filter" "1 filter ftmod_cb_one"
	refuses EBUSY "  register while it is 0" "1 register"
	echo 1 > $S
	hits "1 0 0 0" "  back with 1"
	step "  register while it is 1" "1 register"
	fails_with EBUSY "ftrace_enabled cannot be set to 0 with a permanent ops" write $S 0
	is "$(cat $S)" 1 "ftrace_enabled stays 1"
	hits "1 1 0 0" "each of two is called while it is 1"
	forget 0 1
	works "afterwards it can" write $S 0
	echo 1 > $S
fi

# A trampoline in the middle of a recorded stack is shown as a mark, also if several ops share the
# trampoline.
step "a callback that calls a function" "0 nested"
step "  filter" "0 filter ftmod_cb_two"
step "  register" "0 register"
step "a callback beside one that calls a function" "1 filter ftmod_cb_two"
step "  register" "1 register"
set_to ftmod_cb_one set_ftrace_filter
set_to 1 options/func_stack_trace
set_to function current_tracer
set_to "" trace
echo '0 call' > $P/step
set_to 0 tracing_on
trace=$(cat "$TRACING/trace")
like "$trace" '^ => \[FTRACE TRAMPOLINE\]$' "a shared trampoline is marked in a stack"
unlike "$trace" '^ => (0x|ftrace_trampoline)' "a shared trampoline is not in a stack as an address"
set_to 1 tracing_on
set_to nop current_tracer
set_to 0 options/func_stack_trace
set_to "" set_ftrace_filter
forget 0 1

# Tests inside the module.
for name in regs partial ipmodify recursion stack; do
	run_in_module $P "$name"
done
is "$(cat "$E")" "" "nothing is enabled afterwards"

# Registering twice is the caller's bug: an error, and maybe a warning.
is "$(kernel_log | bad_news)" "" "nothing bad in the kernel log so far"
step "ops" "0 filter ftmod_cb_one"
step "  register" "0 register"
refuses EBUSY "  register again" "0 register"
hits "1 0 0 0" "  it is called once"
step "  unregister" "0 unregister"
refuses EBUSY "  unregister again" "0 unregister"
hits "0 0 0 0" "  nothing is called"
echo '0 forget' > $P/step
log_mark

done_testing
