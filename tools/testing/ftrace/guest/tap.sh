# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What every guest script sources: TAP output, and a reset of the tracing files to their state after
# boot.
#
# The one idea: a script may change any tracing file, because reset() undoes all changes at the
# start and at the end of each script. So scripts run in one boot, in any order, and each script
# finds a fresh kernel. The last check of each script is the kernel log.

TRACING=${TRACING:-/sys/kernel/tracing}
GUEST=$(dirname "$0")
PATH=$GUEST/src:$GUEST/bin:$PATH
MODULES=${MODULES:-/lib/modules}
TMP=/tmp/ft.$$
# The 5-byte nop, the bottom of a system call's stack, and how many digits an address has.
# shellcheck disable=SC2034 # the scripts' own
case $(uname -m) in
x86_64) NOP='0f 1f 44 00 00' SYSCALL=do_syscall_64 DIGITS=16 ;;
*) NOP='3e 8d 74 26 00' SYSCALL='do_(int80_syscall|fast_syscall)_32' DIGITS=8 ;;
esac

tap_count=0
tap_failed=0
tap_planned=
tap_marks=0
tap_head=

# --- checks ---

# pass_or_fail STATUS DESCRIPTION [DETAIL]. A description that begins with two blanks goes on from
# the last one that does not. Each line of TAP says both, so that it can be read alone.
pass_or_fail() {
	tap_count=$((tap_count + 1))
	case $2 in
	"  "*) tap_line="$tap_head: ${2#  }$tap_todo" ;;
	*) tap_head=$2 tap_line=$2$tap_todo ;;
	esac
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $tap_line"
		return 0
	fi
	echo "not ok $tap_count - $tap_line"
	[ -n "$tap_todo" ] || tap_failed=$((tap_failed + 1))
	if [ -n "${3-}" ]; then
		printf '%s\n' "$3" | head -n 20 | sed 's/^/#   /'
	fi
	return 1
}

# ok DESCRIPTION COMMAND...: the command succeeds.
ok() {
	tap_what=$1
	shift
	tap_out=$("$@" 2>&1)
	tap_status=$?
	pass_or_fail "$tap_status" "$tap_what" "status $tap_status: $* $tap_out"
}

# is GOT WANTED DESCRIPTION: the two are the same text.
is() {
	[ "$1" = "$2" ]
	pass_or_fail $? "$3" "got    '$1'
wanted '$2'"
}

# like TEXT REGEX DESCRIPTION: at least one line matches the extended regex. unlike: none does.
like() {
	printf '%s\n' "$1" | grep -Eq -e "$2"
	pass_or_fail $? "$3" "no line matches /$2/ in:
$1"
}

unlike() {
	tap_out=$(printf '%s\n' "$1" | grep -E -e "$2")
	[ -z "$tap_out" ]
	pass_or_fail $? "$3" "matching /$2/:
$tap_out"
}

# at_least GOT MINIMUM DESCRIPTION
at_least() {
	[ "${1:-0}" -ge "$2" ]
	pass_or_fail $? "$3" "got '$1', wanted $2 or more"
}

# fails_with ERRNO DESCRIPTION VERB...: ftio's VERB is refused with exactly that error.
fails_with() {
	tap_want=$1
	tap_what=$2
	shift 2
	tap_out=$(ftio "$@" 2>&1)
	[ "$tap_out" = "$tap_want" ]
	pass_or_fail $? "$tap_what" "got '${tap_out:-no error}', wanted $tap_want from: $*"
}

# works DESCRIPTION VERB...: ftio's VERB is accepted.
works() {
	tap_what=$1
	shift
	tap_out=$(ftio "$@" 2>&1)
	pass_or_fail $? "$tap_what" "got '$tap_out' from: $*"
}

# run_in_module DIR NAME: let the module with the parameters DIR run its test NAME, see
# modules/run.h. Each line of the result is a check or, if the line begins with #, a comment.
run_in_module() {
	works "$2" write "$1/run" "$2"
	tap_found=$tap_count
	while read -r tap_verdict tap_text; do
		case $tap_verdict in
		ok) pass_or_fail 0 "$2: $tap_text" ;;
		not) pass_or_fail 1 "$2: ${tap_text#ok }" ;;
		*) echo "# $tap_text" ;;
		esac
	done < "$1/result"
	[ "$tap_count" -gt "$tap_found" ] || pass_or_fail 1 "$2: the module checks something"
}

# base_todo CHECK...: a promise of this core that the unmodified base does not make. When the
# scripts run on the base, with ftrace_test_base on the kernel's command line, the check is marked
# as TODO.
tap_todo=
base_todo() {
	! grep -qw ftrace_test_base /proc/cmdline || tap_todo=" # TODO not promised by the base"
	"$@"
	tap_todo=
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP $1"
}

# skip_all REASON: nothing in this script can run here.
skip_all() {
	tap_planned=1
	echo "1..0 # SKIP $1"
	exit 0
}

# need FILE...: skip the script where the kernel was built without what makes these files.
need() {
	for tap_file; do
		[ -e "$tap_file" ] || skip_all "no $tap_file"
	done
}

# need_module NAME...
need_module() {
	for tap_file; do
		[ -e "$MODULES/$tap_file.ko" ] || skip_all "no $MODULES/$tap_file.ko"
	done
}

done_testing() {
	reset
	log=$(kernel_log | bad_news)
	is "$log" "" "nothing bad in the kernel log"
	tap_planned=1
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# --- the kernel log ---

# A script that causes a warning on purpose checks the warning itself and then calls log_mark.
log_mark() {
	tap_marks=$((tap_marks + 1))
	tap_mark="ftrace-test: $0 $$ $tap_marks."
	echo "$tap_mark" > /dev/kmsg
}

# What the kernel said since the last mark. All of it if the mark has been pushed out.
kernel_log() {
	dmesg > "$TMP.log"
	if grep -Fq "$tap_mark" "$TMP.log"; then
		sed "1,\\|$tap_mark|d" "$TMP.log"
	else
		cat "$TMP.log"
	fi
	rm -f "$TMP.log"
}

bad_news() {
	grep -E 'WARNING:|BUG:|BUG at|Oops|general protection|Kernel panic|ftrace bug|ftrace failed|Call Trace|detected stall|blocked for more|lockdep is turned off|suspicious RCU|UBSAN:|KASAN:|KCSAN:' |
		grep -v 'Unreliable Call'
}

# core_leaks FILE: of the lost objects that kmemleak lists in FILE, the lines that name a function of
# the core.
core_leaks() {
	grep -A 24 '^unreferenced object' "$1" |
		grep -E '\b(arch_)?(ftrace|plan|class|callback|pending|filter|mapper|probe|pid|hash|count|names|mod|table|tramp|arena|direct|graph|profile|subops|ops|set|listing|heads)_'
}

# --- the tracing files ---

# set_to TEXT FILE: quiet overwrite inside the tracing directory.
set_to() {
	echo "$1" > "$TRACING/$2"
}

# Commands in set_ftrace_filter are removed one function at a time. Any count removes a command with
# a count.
clear_commands() {
	grep -v '^#' "$1/set_ftrace_filter" | sed -n '/:mod:/d; s/:unlimited$//p; s/:count=[0-9]*$/:0/p' > "$TMP.commands"
	while read -r tap_command; do
		echo "!$tap_command" >> "$1/set_ftrace_filter"
	done < "$TMP.commands"
}

# linux_6: is the base Linux 6.12, not 7.3?
linux_6() {
	case $(uname -r) in
	6.*) ;;
	*) return 1 ;;
	esac
}

# switches_off: does kernel.ftrace_enabled switch tracing off? Linux 7.3 refuses 0.
switches_off() {
	linux_6
}

reset_dir() {
	echo nop > "$1/current_tracer"
	clear_commands "$1"
	for tap_file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid; do
		: > "$1/$tap_file"
	done
	echo 0 > "$1/events/enable"
	for tap_file in func_stack_trace func-no-repeats function-fork; do
		[ ! -e "$1/options/$tap_file" ] || echo 0 > "$1/options/$tap_file"
	done
	# The trace can hold the functions that read the trace. The read ends only if tracing pauses
	# meanwhile.
	echo 1 > "$1/options/pause-on-trace"
	echo 1 > "$1/tracing_on"
	: > "$1/trace"
	[ ! -e "$1/snapshot" ] || echo 0 > "$1/snapshot"
}

reset() {
	for tap_file in /sys/devices/system/cpu/cpu*/online; do
		[ ! -e "$tap_file" ] || [ "$(cat "$tap_file")" = 1 ] || echo 1 > "$tap_file"
	done
	echo 1 > /proc/sys/kernel/ftrace_enabled
	[ ! -e /proc/sys/kernel/stack_tracer_enabled ] || echo 0 > /proc/sys/kernel/stack_tracer_enabled
	for tap_instance in "$TRACING"/instances/*/; do
		[ -d "$tap_instance" ] || continue
		reset_dir "$tap_instance"
		rmdir "$tap_instance"
	done
	reset_dir "$TRACING"
	[ ! -e "$TRACING/options/function-trace" ] || set_to 1 options/function-trace
	for tap_file in ftmod_a ftmod_fail ftmod_callback ftmod_many ftmod_functions ftmod_friends ftmod_spin; do
		[ ! -d /sys/module/$tap_file ] || rmmod $tap_file
	done
	rm -rf "$TMP" "$TMP".*
}

# joined: the lines of stdin as one line.
joined() {
	tr '\n' ' ' | sed 's/ $//'
}

# filter: what set_ftrace_filter holds, without its comments. trace_lines: the trace without its
# header. traced: the traced functions, each once, sorted, on one line: "vfs_open vfs_read". The
# functions ..._in do the same for an instance.
filter_in() {
	grep -v '^#' "$1/set_ftrace_filter"
}

trace_lines_in() {
	grep -v '^#' "$1/trace"
}

traced_in() {
	trace_lines_in "$1" | sed -n 's/^.*: \([^ :]*\) <-.*$/\1/p' | sort -u | joined
}

filter() {
	filter_in "$TRACING"
}

trace_lines() {
	trace_lines_in "$TRACING"
}

traced() {
	traced_in "$TRACING"
}

# record COMMAND...: run it with an empty trace buffer, and stop recording behind it.
record() {
	set_to "" trace
	set_to 1 tracing_on
	"$@" > /dev/null 2>&1
	set_to 0 tracing_on
}

# read_bytes N: N calls of vfs_read() and N of vfs_write() by one task. poke: calls of many
# functions in fs/.
read_bytes() {
	dd if=/dev/zero of=/dev/null bs=1 count="$1" 2> /dev/null
}

poke() {
	mkdir "$TMP.d" && echo text > "$TMP.d/f" && cat "$TMP.d/f" && ls -l "$TMP.d" && rm -r "$TMP.d"
}

# again COMMAND...: start a task that runs COMMAND again and again, until stop_all. The output is
# lost.
again() {
	while [ ! -e "$TMP.stop" ]; do
		"$@" > /dev/null 2>&1
	done &
}

stop_all() {
	: > "$TMP.stop"
	wait
	rm "$TMP.stop"
}

# trampolines: how many there are. A trampoline is freed some time after its last use.
trampolines() {
	grep -c ' t ftrace_trampoline' /proc/kallsyms
}

# settled MOST COMMAND...: print the number that COMMAND prints, as soon as the number is at most
# MOST, or after a minute.
settled() {
	tap_most=$1 tap_tries=0
	shift
	while tap_number=$("$@") && [ "$tap_number" -gt "$tap_most" ] && [ $tap_tries -lt 60 ]; do
		tap_tries=$((tap_tries + 1))
		sleep 1
	done
	echo "$tap_number"
}

# Print "all nops" if every site that is not enabled is a nop, or else the sites that are not.
all_nops() {
	: > "$TMP.used"
	cut -d' ' -f1 "$TRACING/enabled_functions" > "$TMP.used"
	awk -v used="$TMP.used" 'BEGIN { while ((getline name < used) > 0) skip[name] = 1 } !($2 in skip)' \
		"$TRACING/available_filter_functions_addrs" | ftio nops
}

# --- start ---

# Busybox has usleep, coreutils do not.
command -v usleep > /dev/null || usleep() {
	sleep "$(awk "BEGIN { print $1 / 1000000 }")"
}

tap_end() {
	[ -n "$tap_planned" ] || echo "Bail out! $0 ended before its plan"
	reset > /dev/null 2>&1
}

command -v ftio > /dev/null || {
	echo "Bail out! ftio is not built: make -C src"
	exit 1
}
[ -e "$TRACING/trace" ] || mount -t tracefs nodev "$TRACING"
trap tap_end EXIT
log_mark
# A script that looks at what the boot parameters did sets KEEP first.
[ -n "${KEEP-}" ] || reset
