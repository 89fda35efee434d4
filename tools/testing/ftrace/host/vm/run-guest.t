#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run-guest with scripts that end in all the ways in which a script can end, on the kernel of
# FTRACE_KERNEL: each script that does not end well has a failed check, and the scripts behind it
# run all the same.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../host-tap.sh"
kernel=${FTRACE_KERNEL:-}
[ -f "$kernel/arch/x86/boot/bzImage" ] || { echo "1..0 # SKIP FTRACE_KERNEL names no kernel"; exit 0; }
busybox=busybox
if grep -q '^CONFIG_X86_32=y' "$kernel/.config"; then
	busybox=$root/build/vm/busybox-i386
fi
tap=$work/tap

# script NAME: for the guest, from stdin.
mkdir "$work/guest"
script()
{
	cat >"$work/guest/$1.sh"
}

script 10-good <<'EOS'
echo "ok 1 - good"
echo "1..1"
EOS
script 20-panic <<'EOS'
echo "ok 1 - before"
echo "not ok 2 - later # TODO"
echo c >/proc/sysrq-trigger
echo "1..2"
EOS
script 30-behind-panic <<'EOS'
echo "ok 1 - good"
printf "1..1"
EOS
script 50-no-plan <<'EOS'
echo "ok 1 - before"
EOS
script 51-short-plan <<'EOS'
echo "ok 1 - before"
echo "1..2"
EOS
script 52-bail-out <<'EOS'
echo "Bail out! no reason"
EOS
script 53-status <<'EOS'
echo "ok 1 - before"
echo "1..1"
exit 3
EOS
script 54-failed <<'EOS'
echo "not ok 1 - failed"
echo "1..1"
exit 1
EOS

# run ARG...: run-guest, with the scripts from above.
run()
{
	"$root/tools/testing/ftrace/run-guest" -k "$kernel" -g "$work/guest" -b "$busybox" "$@" >"$work/out" 2>&1
}

script 60-boot <<'EOS'
# boot: loglevel=8
echo "ok 1 - good"
echo "1..1"
EOS
run -o "$tap"
script 40-hang <<'EOS'
sleep 1000
EOS
# A log is that of the last run that wrote it.
mv "$tap/console-cpus2.log" "$work/first.log"
run -o "$tap" -t 2 40-hang.sh
# The second process of timeout is the one that kills.
script 41-hang-on <<'EOS'
for process in /proc/[0-9]*; do
	! grep -q ^timeout $process/cmdline || kill -9 ${process#/proc/}
done
sleep 1000
EOS
run -o "$tap" -t 2 41-hang-on.sh 10-good.sh

run -o "$work/none" 10-god.sh
mv "$work/out" "$work/refused"
ok "a script that does not exist is named" grep -F "run-guest: 10-god.sh: not in $work/guest" "$work/refused"
ok "  and no guest starts" test ! -e "$work/none"

# verdict NAME PASSED FAILED: what run-tests says about a script.
verdict()
{
	local said

	"$root/tools/testing/ftrace/run-tests" "$tap/$1-cpus2.tap" >"$work/out" 2>&1
	said=$(tail -n 1 "$work/out")
	if [ "$said" = "$2 passed, $3 failed" ]; then
		passed "$1: $said"
	else
		failed "$1: $2 passed, $3 failed" "$work/out"
	fi
}

# has NAME TEXT: the record of a script has a line with TEXT.
has()
{
	ok "$1: '$2'" grep -F -- "$2" "$tap/$1-cpus2.tap"
}

# A plan that is missing is a failure of its own.
verdict boot 3 0
verdict 10-good.sh 1 0
verdict 20-panic.sh 1 3
has 20-panic.sh "not ok - 20-panic.sh: the guest died"
has 20-panic.sh "Kernel panic - not syncing: sysrq triggered crash"
verdict 30-behind-panic.sh 1 0
verdict 40-hang.sh 0 2
has 40-hang.sh "not ok - 40-hang.sh ended with status 137"
verdict 41-hang-on.sh 0 2
has 41-hang-on.sh "not even SIGKILL ends it"
has 41-hang-on.sh "not ok - 41-hang-on.sh: the guest died"
ok "the blocked tasks are on the console" grep -q "sysrq: Show Blocked State" "$tap/console-cpus2.log.41-hang-on.sh"
verdict 50-no-plan.sh 1 1
verdict 51-short-plan.sh 1 1
verdict 52-bail-out.sh 0 2
has 52-bail-out.sh "# gave up: no reason"
verdict 53-status.sh 1 2
has 53-status.sh "not ok - 53-status.sh ended with status 3"
verdict 54-failed.sh 0 1
verdict run-guest 1 0
verdict 60-boot.sh 1 0
ok "the log of the console is beside the records" test -s "$tap/console-cpus2.log"
ok "the log of the first boot stays" grep -qw "Run /init" "$work/first.log"
ok "the log of a guest that died stays" grep -q sysrq "$tap/console-cpus2.log.20-panic.sh"
ok "a boot with arguments has its own log" grep -q "Command line.* loglevel=8" "$tap/console-cpus2-2.log"

# A run-guest that dies: here because a record cannot be written.
mkdir -p "$work/lost/10-good.sh-cpus1.tap"
if run -o "$work/lost" -c 1 10-good.sh; then
	failed "a record that cannot be written is an error" "$work/out"
else
	passed "a record that cannot be written is an error"
fi
ok "a run-guest that dies has failed" grep -x "not ok 1 - run-guest came to its end" "$work/lost/run-guest-cpus1.tap"
plan
