#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# bpftrace: BPF programs on kprobes, on many functions at once (kprobe.multi), and on BPF
# trampolines (fentry, fexit).

. "$(dirname "$0")/tap.sh"

# script PROGRAM: the output of PROGRAM. Meanwhile a dd, whose pid is cpid, reads 50 bytes one by
# one.
script() {
	bpftrace -e "$1" -c '/usr/bin/dd if=/dev/zero of=/dev/null bs=1 count=50' 2> "$TMP.err" | grep -v '^$'
	sed 's/^/# /' "$TMP.err"
}

# value OUTPUT NAME: of a map.
value() {
	echo "$1" | sed -n "s/^@$2: //p"
}

out=$(script 'kprobe:vfs_read /pid == cpid/ { @calls = count(); @bytes = sum(arg2); @[kstack] = count(); }')
at_least "$(value "$out" calls)" 50 "kprobe: every call"
at_least "$(value "$out" bytes)" 50 "kprobe: the arguments"
for frame in vfs_read ksys_read do_syscall_64 entry_SYSCALL_64_after_hwframe; do
	like "$out" "^ +$frame\+" "kprobe: the stack has $frame"
done

out=$(script 'kretprobe:vfs_read /pid == cpid/ { @calls = count(); @bytes = sum(retval); }')
at_least "$(value "$out" calls)" 50 "kretprobe: every return"
at_least "$(value "$out" bytes)" 50 "kretprobe: the return values"

out=$(script 'kprobe:vfs_* /pid == cpid/ { @[func] = count(); }')
at_least "$(value "$out" '\[vfs_read\]')" 50 "kprobe on many: every call of one"
at_least "$(value "$out" '\[vfs_write\]')" 50 "  of another"
is "$(echo "$out" | sed -n 's/^@\[\(.*\)\]:.*/\1/p' | grep -v '^vfs_')" "" "kprobe on many: no function that was not asked for"
like "$(bpftrace --info 2>&1)" 'kprobe_multi: yes' "  by kprobe.multi"

# What a program calls may have the program, too. It does not run there, and that is counted.
cat > "$TMP.missed" << 'END'
/usr/bin/dd if=/dev/zero of=/dev/null bs=1 count=50
cat /proc/$PPID/fdinfo/*
END
bpftrace -e 'kprobe:vfs_read, kprobe:*rcu_read_*lock, kprobe:*htab_*update* { @[func] = count(); }' \
	-c "/bin/sh $TMP.missed" > "$TMP.out" 2> "$TMP.err"
at_least "$(value "$(cat "$TMP.out")" '\[vfs_read\]')" 50 "kprobe on what a program calls: every call that it does not make"
at_least "$(awk '/^recursion_misses:/ { sum += $2 } END { print sum }' "$TMP.out")" 50 "  those that the program makes are missed"

out=$(script 'kfunc:vfs_read /pid == cpid/ { @calls = count(); @bytes = sum(args->count); @[kstack] = count(); }')
at_least "$(value "$out" calls)" 50 "kfunc: every call"
at_least "$(value "$out" bytes)" 50 "kfunc: the arguments"
for frame in ksys_read do_syscall_64 entry_SYSCALL_64_after_hwframe; do
	like "$out" "^ +$frame\+" "kfunc: the stack has $frame"
done

out=$(script 'kretfunc:vfs_read /pid == cpid/ { @calls = count(); @bytes = sum(retval); }')
at_least "$(value "$out" calls)" 50 "kretfunc: every return"
at_least "$(value "$out" bytes)" 50 "kretfunc: the return values"

# A kprobe that may change the instruction pointer, and is not the first one of this kind: BPF is
# asked to share the function.
cat > "$TMP.kprobe" << 'END'
modprobe ftmod_kprobe || exit
/usr/bin/dd if=/dev/zero of=/dev/null bs=1 count=50 2> /dev/null
echo "kprobe: $(cat /sys/module/ftmod_kprobe/parameters/hits)"
exec rmmod ftmod_kprobe
END
for probe in kfunc kretfunc; do
	bpftrace -e "$probe:vfs_read { @calls = count(); }" -c "/bin/sh $TMP.kprobe" > "$TMP.out" 2>&1
	at_least "$(sed -n 's/^kprobe: //p' "$TMP.out")" 50 "a second kprobe with a post_handler beside $probe sees every call"
	at_least "$(value "$(cat "$TMP.out")" calls)" 50 "  and so does $probe"
done

# All of them, and the function tracer, on one function.
set_to vfs_read set_ftrace_filter
set_to function current_tracer
set_to "" trace
out=$(script 'kprobe:vfs_read /pid == cpid/ { @a = count(); } kfunc:vfs_read /pid == cpid/ { @b = count(); }
	kretfunc:vfs_read /pid == cpid/ { @c = count(); } kretprobe:vfs_read /pid == cpid/ { @d = count(); }')
for probe in a b c d; do
	at_least "$(value "$out" "$probe")" 50 "all at once: probe $probe sees every call"
done
at_least "$(trace_lines | grep -c 'dd-.*: vfs_read <-')" 50 "all at once: the function tracer sees every call"
set_to nop current_tracer
is "$(cat "$TRACING/enabled_functions")" "" "no function is left enabled"

done_testing
