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
fault=$root/tools/testing/ftrace/mutants/fault

# wrong_core FAULT: the program with a planted fault, as $work/native.
wrong_core()
{
	local file copy=$work/tree name
	file=$("$fault" show "$1" | head -n 1)
	name=$(basename "$file" .c)
	rm -f "$work/native"
	mkdir -p "$copy/$(dirname "$file")"
	cp "$build/src/$file" "$copy/$file"
	"$fault" plant "$1" "$copy" || return
	# What make would do if the file had changed.
	make -n "${args[@]}" -W "$build/src/$file" "$program" | grep -v '^make' | sed "
		s|-c $build/src/$file -o [^ ]*|-I$(dirname "$build/src/$file") -c $copy/$file -o $work/$name.o|
		s|-MT [^ ]*||
		s|$build/native/plain/src/${file%.c}.o|$work/$name.o|g
		s|$program|$work/native|g" >"$work/commands"
	(cd "$native" && sh -e "$work/commands") >"$work/log" 2>&1
}

# The program ends with a report of what it did. Most faults are seen after some seconds, the rarest
# after half a minute, as a rule: the program may look for eight times as long.
fails()
{
	ends 3 timeout 300 "$work/native" torture 240 1 && grep -q '^#   worker 0: ' "$work/out"
}

ok "builds" make -s "${args[@]}" "$program"
ok "ten seconds" ends 0 "$program" torture 10
for arg in "" 0 x "1 x" "1 1 0" "1 1 5" "1 1 1 1"; do
	# shellcheck disable=SC2086 # some arguments
	ok "wrong usage: $arg" ends 2 "$program" torture $arg
done

for name in callback-no-wait caller-dead-slots-on caller-no-tasks-wait direct-no-wait ipmodify-no-wait \
	patch-no-broadcast sync-no-entry sync-step-late; do
	if wrong_core $name; then
		ok "sees $name" fails
	else
		failed "sees $name: it does not compile" "$work/log"
	fi
done
plan
