#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The core under load on this machine's CPUs, for ten seconds; see torture/torture.c. A core
# without one of its waits or broadcasts is seen to fail.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"
native=$root/tools/testing/ftrace/native
build=$("$root/scripts/build-dir")
args=(-C "$native" "SRC=$build/src" "O=$build/native" SANITIZE=)
program=$build/native/plain/native
core=kernel/trace/ftrace
x86=arch/x86/kernel/ftrace

# wrong_core FILE SED-SCRIPT: the program with another version of one of its files, as
# $work/native.
wrong_core()
{
	local file=$build/src/$1 name
	name=$(basename "$1")
	rm -f "$work/native"
	sed "$2" "$file" >"$work/$name"
	! cmp -s "$file" "$work/$name" || return
	# What make would do if the file had changed.
	make -n "${args[@]}" -W "$file" "$program" | grep -v '^make' | sed "
		s|-c $file -o [^ ]*|-I$(dirname "$file") -c $work/$name -o $work/${name%.c}.o|
		s|-MT [^ ]*||
		s|$build/native/plain/src/${1%.c}.o|$work/${name%.c}.o|g
		s|$program|$work/native|g" >"$work/commands"
	(cd "$native" && sh -e "$work/commands") >"$work/log" 2>&1
}

# The program ends with a report of what it did. Most faults are seen after some seconds, the rarest
# after half a minute, as a rule: the program may look for eight times as long.
fails()
{
	ends 3 timeout 300 "$work/native" torture 240 1 && grep -q '^#   worker 0: ' "$work/out"
}

# sees WHAT FILE SED-SCRIPT: the program fails with the wrong core.
sees()
{
	if wrong_core "$2" "$3"; then
		ok "sees $1" fails
	else
		failed "sees $1: no such line, or it does not compile" "$work/log"
	fi
}

ok "builds" make -s "${args[@]}" "$program"
ok "ten seconds" ends 0 "$program" torture 10
for arg in "" 0 x "1 x" "1 1 0" "1 1 5" "1 1 1 1"; do
	# shellcheck disable=SC2086 # some arguments
	ok "wrong usage: $arg" ends 2 "$program" torture $arg
done

# What is waited for.
sees "a callback that is freed under a task" $core/callback.c \
	's/while (callback_has_tasks(cb->count))/while (0)/'
sees "slots that stay on" $core/plan.c 's/left = min(room, cb->nr_slots),/left = 0,/'
sees "a walk into a callback that is removed" $core/callback.c 's/WRITE_ONCE(cb->off, true);/;/'
sees "a task that is counted out too early" $x86/tramp.c \
	'/^	tramp_emit_branch(c, CALL_INSN_OPCODE, (unsigned long)call->func);/{
		N;N;s/\(.*\)\n\(.*left);\)\n\(.*left);\)/\2\n\3\n\1/
	}'
sees "trampolines that are freed under a task" $core/callback.c 's/^	synchronize_rcu_tasks();/;/'
sees "a direct caller that is freed under a task" $core/ops.c \
	'/FTRACE_OPS_FL_OWN_WAIT/s/&& !(ops/\&\& 0 \&\& (ops/'
sees "a patched function that is freed under a task" $core/ops.c \
	's/if (ops->flags & FTRACE_OPS_FL_IPMODIFY ||$/if (/'
# Modules.
sees "sites of a module that is gone" $core/modules.c 's/mod_drop_table(t);/;/'
sees "a module that calls what is freed" $core/modules.c 's/ftrace_plan_clear(t);/;/'
sees "a warning" $core/modules.c 's/^	mod_account(t, -1);/&\n	WARN_ON(1);/'
# The protocol. tests/patch.c looks at it more closely.
sees "a tail that is written last" $x86/patch.c \
	's/window_write(PHASE_HEAD, \(.*PHASE_\)HEAD\], tail/window_write(PHASE_TAIL, \1HEAD], tail/
	s/window_write(PHASE_TAIL, \(.*PHASE_\)TAIL\], int3/window_write(PHASE_HEAD, \1TAIL], int3/'
sees "no broadcasts" $x86/patch.c 's/^	arch_ftrace_sync();/;/'
# shellcheck disable=SC2016 # an operand, not a variable
sees "a CPU that does not serialise on its way in" $x86/sync.c 's/mov %%cr2, %0; mov %0, %%cr2/mov $0, %0/'
sees "CPUs that are looked at before the number changes" $x86/sync.c '/^	atomic_long_inc/d
	s/^	on_each_cpu_cond_mask.*/&\n	atomic_long_inc(\&ftrace_sync_steps);/'
plan
