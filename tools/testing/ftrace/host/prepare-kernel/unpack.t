#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/unpack-base with small bases made here: a tarball, a directory, a branch. When the base
# changes, both trees follow, and only files with other contents get new time stamps.

set -u
# The bases here are of 6.12.
unset BASE_VERSION

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../host-tap.sh"
repo=$work/repo
base=$work/linux-6.12
build=$work/build

unpack()
{
	"$repo/scripts/unpack-base" "$1" "$build"
}

git_in()
{
	git -C "$base" -c user.name=t -c user.email=t@example.org "$@"
}

mkdir -p "$repo"/{scripts,patches/6.12,kernel/trace/ftrace} "$base/kernel/trace"
cp "$root"/scripts/{prepare-kernel,Series.pm,unpack-base} "$repo/scripts"
cp "$root/scripts/progress" "$repo/scripts"
echo core >"$repo/kernel/trace/ftrace/core.c"
: >"$repo/patches/commits"
printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 9\n' >"$base/Makefile"
echo base >"$base/kernel/trace/ftrace.c"
echo one >"$base/one.c"
echo two >"$base/two.c"
tar -C "$work" -cJf "$work/base.tar.xz" linux-6.12
tar -C "$work" -czf "$work/base.tar.gz" linux-6.12

ok "unpacks a tarball" unpack "$work/base.tar.xz"
ok "unpacks to base-src" grep -qx one "$build/base-src/one.c"
ok "unpacks to src, with the series" grep -qx core "$build/src/kernel/trace/ftrace/core.c"
find "$build/base-src" "$build/src" -name '*.c' -exec touch -d 2020-01-01 {} +
ok "once more changes nothing" unpack "$work/base.tar.xz"
ok "once more changes no time stamp" test "$(stat -c %Y "$build/src/one.c")" = "$(date -d 2020-01-01 +%s)"

echo fixed >"$base/two.c"
rm "$base/one.c"
echo three >"$base/three.c"
tar -C "$work" -cJf "$work/base.tar.xz" linux-6.12
touch -d 2030-01-01 "$work/base.tar.xz"
ok "follows an updated package" unpack "$work/base.tar.xz"
ok "base-src has the fix" grep -qx fixed "$build/base-src/two.c"
ok "src has the fix" grep -qx fixed "$build/src/two.c"
ok "src has the new file" grep -qx three "$build/src/three.c"
ok "src lost the file that is gone" test ! -e "$build/src/one.c"
ok "src still has the series" grep -qx core "$build/src/kernel/trace/ftrace/core.c"
ok "what did not change keeps its time" \
	test "$(stat -c %Y "$build/src/kernel/trace/ftrace.c")" = "$(date -d 2020-01-01 +%s)"
ok "what changed is newer" test "$(stat -c %Y "$build/src/two.c")" -gt "$(date -d 2020-01-01 +%s)"

ok "takes a tarball of gzip" unpack "$work/base.tar.gz"
ok "follows to a tarball of gzip" grep -qx one "$build/src/one.c"
ok "takes a directory" unpack "$base"
ok "has the contents of a directory" grep -qx three "$build/src/three.c"
git_in init -q -b main
git_in add -A
git_in commit -q -m base
git_in checkout -q -b stable
echo stable >"$base/two.c"
git_in commit -q -a -m fix
git_in checkout -q main
ok "takes a branch" unpack "$base#stable"
ok "has the contents of a branch" grep -qx stable "$build/src/two.c"
ok "without git's own" test ! -e "$build/src/.git"
before=$(cat "$build/src/two.c")
ok "refuses what is not there" sh -c "! '$repo/scripts/unpack-base' '$work/none.tar.xz' '$build'"
other_version()
{
	! BASE_VERSION=7.3 unpack "$base#main" && BASE_VERSION=7.3 unpack "$base#main" 2>&1 |
		grep -q 'Linux 6.12, but BASE_VERSION is 7.3'
}
ok "refuses another version than BASE_VERSION" other_version
ok "refuses what is no kernel" sh -c "! '$repo/scripts/unpack-base' '$work/repo' '$build'"
ok "leaves the trees if it refuses" grep -qx "$before" "$build/src/two.c"
plan
