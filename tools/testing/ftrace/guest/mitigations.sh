# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Sourced after tap.sh: checks of the instructions of trampolines. The kernel chose mitigations for
# this CPU at boot, and each mitigation needs certain instructions. The program insns decodes each
# trampoline to its last byte.

# symbol_at ADDRESS: a symbol that begins there.
symbol_at() {
	awk -v addr="$1" '$1 == addr { print $3; exit }' /proc/kallsyms
}

# insns_at ADDRESS SIZE
insns_at() {
	ftio bytes "0x$1" "$2" | insns "$1"
}

# Is a mitigation on? The kernel says so in words.
stuffing() {
	grep -q Stuffing /sys/devices/system/cpu/vulnerabilities/retbleed 2> /dev/null
}

# The return thunk that functions of this kernel jump to, or nothing if they return.
return_thunk() {
	thunk_at=$(awk '$3 == "x86_return_thunk" { print $1; exit }' /proc/kallsyms)
	[ -n "$thunk_at" ] || return 0
	symbol_at "$(ftio bytes "0x$thunk_at" 8 | awk '{ for (i = 8; i; i--) printf "%s", $i }')" | grep -vx __x86_return_thunk
}

has_ibt() {
	zcat /proc/config.gz | grep -q '^CONFIG_X86_KERNEL_IBT=y'
}

# The counter of calls, as ftrace_stub() counts: "shift/7 5 gs:ADDRESS".
depth_counter() {
	insns_at "$(awk '$3 == "ftrace_stub" { print $1; exit }' /proc/kallsyms)" 48 | sed -n 's/.* | \(shift.*\)/\1/p' | head -n 1
}

# check_trampolines TOLD NAME CALLS [LAST]: the trampolines that "ftio pokes" told of in TOLD. Each of
# them calls CALLS callbacks. LAST is the symbol that the last jump goes to, if not the return.
check_trampolines() {
	tramp_name=$2 tramp_calls=$3 tramp_last=${4-}
	echo "$1" | sed -n 's/^symbol \([0-9a-f]*\) \([0-9]*\) ftrace_trampoline$/\1 \2/p' > "$TMP.tramps"
	at_least "$(wc -l < "$TMP.tramps")" 1 "$tramp_name: there is a trampoline"
	while read -r tramp_addr tramp_size; do
		check_trampoline
	done < "$TMP.tramps"
}

check_trampoline() {
	insns_at "$tramp_addr" "$tramp_size" > "$TMP.insns"
	is $? 0 "$tramp_name: each instruction of its $tramp_size bytes is known"
	unlike "$(cat "$TMP.insns")" 'unknown|indirect' "  no call and no jump is indirect"

	tramp_odd=''
	# shellcheck disable=SC2013 # each line is a word
	for tramp_to in $(sed -n 's/.* | call //p' "$TMP.insns"); do
		[ -n "$(symbol_at "$tramp_to")" ] || tramp_odd="$tramp_odd $tramp_to"
	done
	is "$(grep -c '| call' "$TMP.insns")" "$tramp_calls" "  it has $tramp_calls calls"
	is "$tramp_odd" "" "  each to the start of a function"

	tramp_end=$(sed -n 's/.* | \(jmp\|ret\|int3\)/\1/p' "$TMP.insns" | joined)
	tramp_thunk=${tramp_last:-$(return_thunk)}
	if [ -n "$tramp_thunk" ]; then
		like "$tramp_end" '^jmp [0-9a-f]+ int3$' "  it ends with a jump, and int3 behind it; no return"
		is "$(symbol_at "$(sed -n 's/.* | jmp //p' "$TMP.insns")")" "$tramp_thunk" \
			"  the jump goes to $tramp_thunk"
	else
		is "$tramp_end" "ret int3" "  it ends with one return, and int3 behind it"
	fi

	if stuffing; then
		tramp_count=$(sed -n 's/.* | \(shift.*\)/\1/p' "$TMP.insns")
		is "${tramp_count:-none}" "$(depth_counter)" "  it counts its call once, in the counter of the CPU"
		like "$(sed -n 's/.* | \(shift\|call\)[ /].*/\1/p' "$TMP.insns" | head -n 1)" shift "  before it calls"
	else
		unlike "$(cat "$TMP.insns")" 'shift' "  it does not count calls"
	fi

	# Nothing calls a trampoline indirectly. Linux 6.12 has an ENDBR there like in each function
	# of assembler code.
	if has_ibt && insns_at "$(awk '$3 == "ftrace_caller" { print $1; exit }' /proc/kallsyms)" 8 |
		head -n 1 | grep -Eq '\| (endbr64|nop)$'; then
		like "$(head -n 1 "$TMP.insns")" '\| (endbr64|nop)$' "  it begins with the place of ENDBR"
	fi
}

# Trampolines of all kinds.
check_kinds() {
	set_to vfs_read set_ftrace_filter
	check_trampolines "$(ftio pokes "$TRACING/current_tracer" function)" "one callback of the kernel" 1
	set_to nop current_tracer

	if insmod "$MODULES/ftmod_callback.ko" 2> /dev/null; then
		P=/sys/module/ftmod_callback/parameters/step
		for ops in 0 1 2; do
			echo "$ops filter ftmod_cb_one" > $P
		done
		echo '2 flags 4' > $P
		check_trampolines "$(ftio pokes $P '0 register')" "a callback with counters" 1
		check_trampolines "$(ftio pokes $P '1 register')" "two callbacks" 2
		check_trampolines "$(ftio pokes $P '2 register')" "three callbacks, with all registers" 3
		rmmod ftmod_callback
	else
		skip "no ftmod_callback.ko"
	fi

	if insmod "$MODULES/ftrace-direct.ko" 2> /dev/null; then
		set_to wake_up_process set_ftrace_filter
		check_trampolines "$(ftio pokes "$TRACING/current_tracer" function)" "a callback and a direct caller" 1 my_tramp
		set_to nop current_tracer
		rmmod ftrace-direct
	else
		skip "no ftrace-direct.ko"
	fi
	set_to "" set_ftrace_filter
}

# The mitigations of this boot: trampolines of all kinds, and then all functions traced.
check_tracing() {
	check_kinds
	set_to function current_tracer
	record read_bytes 5
	like " $(traced) " ' vfs_read ' "tracing all functions works"
	set_to nop current_tracer
	is "$(all_nops)" "all nops" "all sites are nops"
	is "$(dmesg | bad_news)" "" "nothing bad in the log since boot"
}
