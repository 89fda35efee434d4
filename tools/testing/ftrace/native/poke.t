#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The patcher's protocol on this machine's CPUs, for some seconds; see poke/poke.c. Wrong variants of
# the protocol, and wrong patchers, are seen.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"
here=$root/tools/testing/ftrace/native/poke
poke=$work/poke/poke

# silent MAKE-ARG...: the program is built without a warning.
silent()
{
	make -C "$here" "$@" >"$work/make" 2>&1 || { cat "$work/make"; return 1; }
	! grep -E 'warning|error' "$work/make"
}

# A patcher with the lines that the sed script changes, as $work/wrong/poke.
wrong_patcher()
{
	local tree=$work/tree
	rm -rf "$tree" "$work/wrong"
	mkdir -p "$tree/tools/testing/ftrace/native" "$tree/arch/x86/kernel/ftrace" "$tree/include/linux"
	cp -r "$here" "$tree/tools/testing/ftrace/native/"
	cp "$root/arch/x86/kernel/ftrace/insn.h" "$tree/arch/x86/kernel/ftrace/"
	cp "$root"/include/linux/ftrace_arch.h "$tree/include/linux/"
	sed "$1" "$root/arch/x86/kernel/ftrace/patch.c" >"$tree/arch/x86/kernel/ftrace/patch.c"
	! cmp -s "$root/arch/x86/kernel/ftrace/patch.c" "$tree/arch/x86/kernel/ftrace/patch.c" &&
		make -C "$tree/tools/testing/ftrace/native/poke" "O=$work/wrong" >/dev/null 2>&1
}

# sees WHAT SED-SCRIPT: the program fails with the wrong patcher.
sees()
{
	if wrong_patcher "$2"; then
		ok "sees $1" ends 1 "$work/wrong/poke" -t 5 -s 1 real
	else
		failed "sees $1: no such line"
	fi
}

ok "builds, without a warning" silent "O=$work/poke"
ok "needs no other file" sh -c "! readelf -l $poke | grep -q INTERP"
if "$poke" -T -m 0 -t 0.1 real | grep '^1..0 # SKIP'; then
	exit
fi
ok "the real protocol, for 10 seconds" ends 0 "$poke" -t 10 real
ok "without delays, signals, halts and moves" ends 0 "$poke" -t 3 -d none -S -H -M real
ok "more threads than CPUs" ends 0 "$poke" -t 3 -n 8 real
for delay in tail:signal:1:64 synced:sleep:50 trap:yield:1 found:sleep:20:64 call:loop:1000:8 \
	begin:sleep:50 fence:sleep:20:64 search:loop:1000:8; do
	ok "delay $delay" ends 0 "$poke" -t 1 -m 0 -d "$delay" real
done
# A cgroup needs privileges, and a machine that has the controller.
if "$poke" -t 0.1 -m 0 -q 50 -s 1 real 2>&1 | grep -q 'no cgroup can be made'; then
	skipped "throttled" "no cgroup can be made here"
else
	ok "throttled" ends 0 "$poke" -t 5 -q 30 real
fi
ok "no int3 is seen, and head first" ends 0 "$poke" -t 3 -x no-int3 head-first
ok "an idle run does not pass" ends 3 "$poke" -t 0.1 -m 1000000000 real
ok "a wrong variant is no failure" ends 0 "$poke" -t 0.1 no-sync-2
ok "unless -x says so" ends 1 "$poke" -t 0.01 -d none -x no-sync-2
ok "one CPU cannot show anything" ends 4 taskset -c 0 "$poke" -t 0.1 real
for arg in "-t no" "-t 0" "-n 0" "-d int3" "-d int3:loop" "-d int3:loop:x" "-d nowhere:loop:1" "-d int3:wait:1" "-q 0" "-q 100" "-z" "nothing"; do
	# shellcheck disable=SC2086 # an option and its argument
	ok "wrong usage: $arg" ends 2 "$poke" $arg
done
ok "repeats until the protocol fails" ends 3 "$poke" -r -t 0.1 -m 1000000000 real

sees "a tail that is written last" \
	's/window_write(PHASE_HEAD, \(.*PHASE_\)HEAD\], tail/window_write(PHASE_TAIL, \1HEAD], tail/
	s/window_write(PHASE_TAIL, \(.*PHASE_\)TAIL\], int3/window_write(PHASE_HEAD, \1TAIL], int3/'
sees "some sites without int3" 's/WRITE_ONCE(\*byte, INT3_INSN_OPCODE);/if (patch->ip % 3) &/'
sees "a handler that continues at the wrong place" \
	's/int3_emulate_jmp(regs, ip + MCOUNT_INSN_SIZE)/int3_emulate_jmp(regs, ip + 4)/'
sees "a page that is not mapped" 's/if (patch_crosses_page(ip)) {/if (0) {/'
sees "a store without its page tables" 's/prev = use_temporary_mm(ftrace_mm);/prev = NULL;/'
plan
