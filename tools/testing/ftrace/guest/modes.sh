# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Sourced by 26-permissions.sh and run by update-modes: modes and owners of the files in tracefs.

# modes: "MODE UID GID PATH" of each file, without the events, and of one CPU only.
modes() {
	mkdir "$TRACING/instances/modes"
	(
		cd "$TRACING" || exit
		find . -name events -prune -o -path '*/per_cpu/cpu[1-9]*' -prune -o -exec stat -c '%a %u %g %n' {} +
	) | sort -k 4
	rmdir "$TRACING/instances/modes"
}
