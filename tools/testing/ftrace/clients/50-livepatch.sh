#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# samples/livepatch: a patched /proc/cmdline, and back.

. "$(dirname "$0")/tap.sh"
patch=/sys/kernel/livepatch/livepatch_sample

wait_for_transition() {
	for _ in $(seq 100); do
		[ "$(cat $patch/transition 2> /dev/null || echo 0)" = 1 ] || return
		sleep 0.1
	done
}

before=$(cat /proc/cmdline)
like "$before" 'console=ttyS0' "the command line is the kernel's own"
ok "the patch loads" modprobe livepatch-sample
wait_for_transition
is "$(cat $patch/enabled)" 1 "the patch is enabled"
is "$(cat /proc/cmdline)" "this has been live patched" "the patched function is called"
like "$(cat "$TRACING/enabled_functions")" '^cmdline_proc_show \(1\) .*I .*klp_ftrace_handler' "enabled_functions lists the patched function as modified"

set_to cmdline_proc_show set_ftrace_filter
set_to function current_tracer
set_to "" trace
is "$(cat /proc/cmdline)" "this has been live patched" "beside the function tracer: the patched function is called"
like "$(trace_lines)" 'cat-.*: cmdline_proc_show <-seq_read_iter' "beside the function tracer: the call is traced"
set_to nop current_tracer
is "$(cat /proc/cmdline)" "this has been live patched" "after the function tracer: the patched function is called"

# BPF attaches one program, then the next. Its code for both must return to the patched function.
cat > "$TMP.return" << 'END'
exec bpftrace -e 'kretfunc:cmdline_proc_show { @returns = count(); }' -c '/usr/bin/cat /proc/cmdline'
END
bpftrace -e 'kfunc:cmdline_proc_show { @entries = count(); }' -c "/bin/sh $TMP.return" > "$TMP.bpf" 2>&1
like "$(cat "$TMP.bpf")" '^this has been live patched$' "beside programs of BPF at the entry and the return: the patched function is called"
for at in entries returns; do
	like "$(cat "$TMP.bpf")" "^@$at: [1-9]" "programs of BPF on the patched function count its $at"
done

echo 0 > $patch/enabled
wait_for_transition
is "$(cat /proc/cmdline)" "$before" "disabled: the old function"
for _ in $(seq 50); do
	rmmod livepatch_sample 2> /dev/null && break
	sleep 0.1
done
ok "the patch is unloaded" test ! -d /sys/module/livepatch_sample
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"
is "$(all_nops)" "all nops" "every site is a nop again"

done_testing
