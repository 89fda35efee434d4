#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/vm/guest with an emulator that ends as soon as it is started: nobody is
# to wait for a guest that never was.

set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/qemu-system-x86_64" <<'EOF'
#!/bin/sh
[ "$1" = --version ] && echo "QEMU emulator version 7.2.0" && exit
echo "no memory" >&2
exit 1
EOF
chmod +x "$work/qemu-system-x86_64"
touch "$work/bzImage"

echo 1..3
status=0
PATH=$work:$PATH VM_ACCEL=tcg timeout 60 "$root/tools/vm/guest" -k "$work/bzImage" \
	/bin/true >"$work/out" 2>"$work/err" || status=$?
check()
{
	if grep -qxF -- "$3" <<<"$4"; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		echo "# ${4//$'\n'/$'\n# '}"
	fi
}
check 1 "the status of a guest that died" 125 "$status"
check 2 "told as such" "guest: died before the script ended (qemu status 1)" "$(cat "$work/err")"
check 3 "with the emulator's own words" "no memory" "$(cat "$work/err")"
