#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/vm/guest with an emulator that ends as soon as it is started: the caller
# must not wait for a guest that never ran.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"

cat >"$work/qemu-system-x86_64" <<'EOS'
#!/bin/sh
[ "$1" = --version ] && echo "QEMU emulator version 7.2.0" && exit
echo "no memory" >&2
exit 1
EOS
chmod +x "$work/qemu-system-x86_64"
touch "$work/bzImage"

status=0
PATH=$work:$PATH VM_ACCEL=tcg timeout 60 "$root/tools/vm/guest" -k "$work/bzImage" \
	/bin/true >"$work/said" 2>&1 || status=$?
echo "status $status" >>"$work/said"

# says WHAT LINE
says()
{
	if grep -qxF "$2" "$work/said"; then
		passed "$1"
	else
		failed "$1" "$work/said"
	fi
}

says "the status is that of a guest that died" "status 125"
says "the message is that of a guest that died" "guest: died before the script ended (qemu status 1)"
says "the emulator's own message is there" "no memory"
plan
