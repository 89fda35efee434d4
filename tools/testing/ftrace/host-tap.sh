# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# TAP for tests that run on the host. A test sources this file. The file sets $root to the
# repository and $work to a directory that is deleted at the end.

# shellcheck disable=SC2034 # for the test that sources this file
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

# passed WHAT, failed WHAT [FILE]: the verdict of a check; FILE is what to show of it.
passed()
{
	count=$((count + 1))
	echo "ok $count - $1"
}

failed()
{
	count=$((count + 1))
	echo "not ok $count - $1"
	[ -z "${2:-}" ] || head -n 30 "$2" | sed 's/^/# /'
}

# skipped WHAT WHY
skipped()
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# ok WHAT COMMAND...: the command succeeds. What it says is in $work/out.
ok()
{
	local what=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		passed "$what"
	else
		failed "$what" "$work/out"
	fi
}

# ends STATUS COMMAND...: the command ends with this status.
ends()
{
	local status want=$1
	shift
	"$@"
	status=$?
	[ "$status" -eq "$want" ] || { echo "status $status, not $want"; return 1; }
}

plan()
{
	echo "1..$count"
}
