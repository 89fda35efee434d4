#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What "make bench" measures in cycles: the base's core and this one are programs with the same rows.
# Only a few calls, so the figures say nothing.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"
build=$("$root/scripts/build-dir")

# rows CORE: the names of the rows of one core that both can have.
rows()
{
	awk -v core="# $1" '/^# the / { on = $0 == core } on && /^cycles *call_/ && !/guard|flight/ { print $2 }' "$work/rows"
}

same_rows()
{
	rows "the base" >"$work/base"
	rows "the series" >"$work/ours"
	[ "$(wc -l <"$work/base")" -ge 8 ] && diff "$work/base" "$work/ours"
}

ok "both cores are measured" ends 0 make -s "-j$(nproc)" -C "$root/tools/testing/ftrace/native" \
	"SRC=$build/src" "O=$build/native" SANITIZE= RUNS=3 bench
cp "$work/out" "$work/rows"
ok "with the same rows" same_rows
plan
