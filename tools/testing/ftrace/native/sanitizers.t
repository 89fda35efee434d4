#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The native program with each sanitizer: its suites, and some random operations.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"
build=$("$root/scripts/build-dir")

for sanitizer in address thread; do
	ok "passes with the $sanitizer sanitizer" make -s "-j$(nproc)" -C "$root/tools/testing/ftrace/native" \
		"SRC=$build/src" "O=$build/native" "SANITIZE=$sanitizer" ROUNDS=5 check
done
plan
