#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/vm/guest with an emulator that ends as soon as it is started, and with one that never ends:
# the caller must not wait for a guest that will not answer.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../host-tap.sh"

cat >"$work/qemu-system-x86_64" <<'EOS'
#!/bin/sh
[ "$1" = --version ] && echo "QEMU emulator version 7.2.0" && exit
echo "no memory" >&2
[ ! -e "$(dirname "$0")/hangs" ] || exec sleep 1000
exit 1
EOS
chmod +x "$work/qemu-system-x86_64"
touch "$work/bzImage"

# boot SECONDS [OPTION]...: with this time limit. What the program says, and its status.
boot()
{
	local status=0

	PATH=$work:$PATH VM_ACCEL=tcg timeout 300 "$root/tools/vm/guest" -k "$work/bzImage" -t "$@" \
		/bin/true >"$work/said" 2>&1 || status=$?
	echo "status $status" >>"$work/said"
}

# says WHAT LINE
says()
{
	if grep -qxF "$2" "$work/said"; then
		passed "$1"
	else
		failed "$1" "$work/said"
	fi
}

boot 200
says "the status is that of a guest that died" "status 125"
says "the message is that of a guest that died" "guest: died before the script ended (qemu status 1)"
says "the emulator's own message is there" "no memory"
boot 200 -B "$work/nosuch"
says "a missing bootconfig is refused" "guest: no bootconfig $work/nosuch"
boot 200 -B /dev/null
says "what is no file is refused" "guest: no bootconfig /dev/null"
touch "$work/config"
boot 200 -B "$work/config"
says "a bootconfig is refused for a kernel without its source" \
	"guest: a bootconfig needs the source of the kernel: no $work/bzImage/source/tools/bootconfig"
touch "$work/hangs"
boot 2
says "the status is 125 if the guest never ends" "status 125"
says "the message is that of a guest that never ends" "guest: no end in 2 s, stopped"
plan
