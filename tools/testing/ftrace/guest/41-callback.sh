#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The in-kernel API as a module uses it: ops and filters, what callbacks see, stacks. The KUnit suites
# say the rest; this script also runs on the base, which has none of them.

. "$(dirname "$0")/tap.sh"
need_module ftmod_callback

P=/sys/module/ftmod_callback/parameters
E=$TRACING/enabled_functions
insmod "$MODULES/ftmod_callback.ko" || skip_all "ftmod_callback does not load"

step() {
	works "$1" write $P/step "$2"
}

# hits WANTED DESCRIPTION: the module calls ftmod_cb_one once and ftmod_cb_two twice. WANTED is how
# often each of the four ops was called.
hits() {
	echo '0 call' > $P/step
	is "$(cat $P/hits)" "$1" "$2"
}

step "a filter" "0 filter ftmod_cb_one"
step "register" "0 register"
like "$(cat "$E")" '^ftmod_cb_one \[ftmod_callback\] \(1\)' "enabled_functions lists it"
hits "1 0 0 0" "only its function is seen"
step "a filter changed while registered" "0 filter ftmod_cb_two"
hits "2 0 0 0" "  takes effect"
fails_with EBUSY "registering again is refused" write $P/step "0 register"
step "unregister" "0 unregister"
hits "0 0 0 0" "nothing is seen"
fails_with EBUSY "unregistering again is refused" write $P/step "0 unregister"
log_mark
step "forget" "0 forget"

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
set_to nop current_tracer
for n in 0 1; do
	echo "$n unregister" > $P/step
	echo "$n forget" > $P/step
done

# Tests inside the module.
for name in regs recursion stack; do
	run_in_module $P "$name"
done
base_todo run_in_module $P fprobe
is "$(cat "$E")" "" "nothing is enabled afterwards"

done_testing
