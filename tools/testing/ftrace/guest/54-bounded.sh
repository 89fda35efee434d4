#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A change of all sites as another CPU sees it: at most three chunks of sites hold int3. No site
# holds int3 while the patching task is off its CPU because the task is preempted, throttled or
# waiting for its turn. A change of one site costs three broadcasts.

. "$(dirname "$0")/tap.sh"
need /dev/mem /sys/devices/system/cpu/cpu1 "$TRACING/available_filter_functions_addrs"
need_module ftmod_callback

# STRICT_DEVMEM hides the kernel's text from int3watch.
code=$(sed -n 's/^ *\([0-9a-f]*\)-.* : Kernel code$/\1/p' /proc/iomem)
dd if=/dev/mem of=/dev/null bs=4096 count=1 skip=$((0x$code / 4096)) 2>/dev/null ||
	skip_all "/dev/mem does not have the kernel's text"

LIMIT=768
F=$TRACING/current_tracer

# watch DESCRIPTION OPTION...: what int3watch saw.
watch() {
	what=$1
	shift
	if ! seen=$(int3watch "$@" "$F" function nop 2>&1); then
		pass_or_fail 1 "$what: it was watched" "$seen"
		return
	fi
	echo nop > "$F"
	printf '%s\n' "$seen" | sed 's/^/# /'
	max=$(echo "$seen" | sed -n 's/^max //p')
	at_least "$(echo "$seen" | sed -n 's/^scans //p')" 1 "$what: the sites were read"
	at_least "$LIMIT" "${max:-999999}" "$what: $max sites held int3, $LIMIT may"
	is "$(echo "$seen" | sed -n 's/^off_max //p')" 0 "$what: none did while the patching task was off its CPU"
}

# So long may a real-time task spin.
echo -1 > /proc/sys/kernel/sched_rt_runtime_us
watch "preempted by a real-time task" -n 30 -t 30 -s 20
at_least "$(echo "$seen" | sed -n 's/^off_scans //p')" 1 "  and was while the sites were read"
echo 950000 > /proc/sys/kernel/sched_rt_runtime_us

watch "alone" -n 10 -t 20 -i

G=$TMP.cgroup
mkdir "$G"
if mount -t cgroup2 none "$G" 2>/dev/null && echo +cpu > "$G/cgroup.subtree_control" 2>/dev/null &&
   mkdir "$G/patcher" && echo "1000 100000" > "$G/patcher/cpu.max" 2>/dev/null; then
	watch "throttled" -n 1000 -t 10 -i -g "$G/patcher"
	at_least "$(echo "$seen" | sed -n 's/^off_scans //p')" 1 "  and was while the sites were read"
else
	skip "this kernel throttles nobody"
fi
[ ! -d "$G/patcher" ] || rmdir "$G/patcher"
umount "$G" 2>/dev/null
rmdir "$G"

# The number of broadcasts that interrupted CPU 1 while CPU 0 patched. The kernel's own count of
# interrupts is larger: it has the calls that wake a task, and others.
queued=$TRACING/events/csd/csd_queue_cpu
broadcasts() {
	trace_lines | grep -cE 'csd_queue_cpu: cpu=1 .* func=(sync_interrupt|do_sync_core)'
}

# The least number of broadcasts for a change of one site.
least() {
	least=99
	for _ in 1 2 3 4 5; do
		set_to "" trace
		taskset 1 ftio write $P/step '0 register'
		count=$(broadcasts)
		echo '0 unregister' > $P/step
		[ "$count" -ge "$least" ] || least=$count
		sleep 0.1
	done
	echo "$least"
}

insmod "$MODULES/ftmod_callback.ko"
P=/sys/module/ftmod_callback/parameters
echo 'cpu == 1' > "$queued/filter"
echo 1 > "$queued/enable"
echo '0 filter ftmod_cb_one' > $P/step
taskset 2 sh -c 'while :; do :; done' &
busy=$!
is "$(least)" 3 "a change of one site interrupts a busy CPU three times"
kill $busy
wait $busy 2>/dev/null
sleep 1
base_todo is "$(least)" 0 "a change of one site does not interrupt an idle CPU"
echo 0 > "$queued/enable"
echo 0 > "$queued/filter"
echo '0 forget' > $P/step
rmmod ftmod_callback

# While text is written through the window, the window is where user memory was.
blacklist=/sys/kernel/debug/kprobes/blacklist
if [ -e $blacklist ]; then
	like "$(grep -w pipeline_write $blacklist)" pipeline_write "no kprobe may be put on its writer"
	is "$(grep -c '^pipeline_write$' "$TRACING/available_filter_functions")" 0 "nobody traces the writer of the text"
else
	skip "no kprobes in this kernel"
fi

done_testing
