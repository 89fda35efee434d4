# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Sourced after tap.sh: a kernel that can be locked down. A lockdown lasts until the next boot, so the
# script must have a boot of its own.

lock=/sys/kernel/security/lockdown
[ -e $lock ] || mount -t securityfs nodev /sys/kernel/security
need $lock

# The files of the tracer cannot be written then.
reset() {
	:
}
