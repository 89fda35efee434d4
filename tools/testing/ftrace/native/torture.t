#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The core under load on this machine's CPUs, for ten seconds; see torture/torture.c. "make mutants" sees
# cores without one of their waits or broadcasts fail.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"
native=$root/tools/testing/ftrace/native
build=$("$root/scripts/build-dir")
args=(-C "$native" "SRC=$build/src" "O=$build/native" SANITIZE=)
program=$build/native/plain/native

ok "builds" make -s "${args[@]}" "$program"
ok "ten seconds" ends 0 "$program" torture 10
for arg in "" 0 x "1 x" "1 1 0" "1 1 5" "1 1 1 1"; do
	# shellcheck disable=SC2086 # some arguments
	ok "wrong usage: $arg" ends 2 "$program" torture $arg
done
plan
