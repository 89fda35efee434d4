#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# After all other scripts: no memory of the core is lost, says kmemleak.

. "$(dirname "$0")/tap.sh"

leaks=/sys/kernel/debug/kmemleak
need $leaks

# An object counts as lost if two scans, some seconds apart, find no pointer to it.
sleep 6
works "kmemleak is still on, and scans" write $leaks scan
sleep 6
works "kmemleak scans a second time" write $leaks scan
cat $leaks > "$TMP.leaks"
is "$(core_leaks "$TMP.leaks")" \
	"" "nothing of the core is lost"
sed 's/^/# /' "$TMP.leaks"

done_testing
