#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# patches/audited has a line for each fix of the base's changelog that could matter, and the tests
# that it names exist. patches/watched has looks at the whole base. And that scripts/audited and
# scripts/watched see what they are for.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../host-tap.sh"
cd "$root" || exit 1
build=$(scripts/build-dir)
version=${BASE_VERSION:-6.12}

# known WORD: something that can be run, or planted.
known()
{
	local tests=tools/testing

	[ -e "$tests/ftrace/$1" ] || [ -e "$tests/ftrace/guest/$1" ] || [ -e "$tests/ftrace/model/$1" ] ||
		grep -q "^$1: " "$tests"/ftrace/mutants/*.faults || compgen -G "$tests/ftrace/*/$1" >/dev/null ||
		compgen -G "$tests/ftrace/*/*/$1" >/dev/null ||
		[ -n "$(find "$build/base-src/$tests/selftests/ftrace" -name "$1")" ] ||
		grep -rqE "(KUNIT_)?CASE[A-Z_]*\($1\)" kernel/trace/ftrace arch/x86 patches/*/files \
			"$tests/ftrace/native/tests"
}

tests_exist()
{
	local bad=0

	for word in $(grep -v '^#' patches/audited | cut -f5 | grep -vx -- - | tr ' ' '\n' | sort -u); do
		known "$word" || { echo "no such test: $word"; bad=1; }
	done
	return $bad
}

# says WHAT LINE COMMAND...: COMMAND fails and prints LINE.
says()
{
	local what=$1 line=$2
	shift 2
	if "$@" >"$work/out" 2>&1; then
		failed "$what: fails" "$work/out"
	elif ! grep -qxF -- "$line" "$work/out"; then
		failed "$what: says so" "$work/out"
	else
		passed "$what"
	fi
}

# The changelog of the package that the base is from.
changelog=/usr/share/doc/linux-source-$version/changelog.Debian.gz
grep -q '^/usr/src/' "$build/base.id" || changelog=$build/linux-source-$version.changelog.gz
if [ -f "$changelog" ]; then
	ok "each fix of the package has a line" scripts/audited "$changelog"
else
	count=$((count + 1))
	echo "ok $count - each fix of the package has a line # SKIP $changelog is not there"
fi
ok "the tests that patches/audited names exist" tests_exist
ok "somebody has looked at all that is watched" scripts/watched check "$build/base-src"

# A repository and a changelog made here.
mkdir -p "$work/repo"/{scripts,patches,build/debian-kernels}
cp scripts/audited scripts/watched "$work/repo/scripts"
list=$work/repo/patches/audited
log=$work/changelog
cat >"$log" <<'EOT'
linux-6.12 (6.12.9-1~deb12u1) bookworm-security; urgency=high

  * Rebuild for bookworm

linux (6.12.9-1) trixie-security; urgency=high

  * New upstream stable update:
    https://www.kernel.org/pub/linux/kernel/v6.x/ChangeLog-6.12.8
    - [amd64] x86/mm: Fix one thing (CVE-2026-1)
    - KVM: x86/mmu: Fix another
    - perf ftrace: Fix a tool
    https://www.kernel.org/pub/linux/kernel/v6.x/ChangeLog-6.12.9
    - net: Fix something
    - ftrace: Fix what takes a long
      line to say (Closes: #1)

  [ Somebody ]
  * kallsyms: Fix of the package's own

 -- Somebody <somebody@example.org>  Sat, 14 Nov 2026 13:56:01 +0100

linux (6.11.9-1) unstable; urgency=medium

  * New upstream stable update:
    https://www.kernel.org/pub/linux/kernel/v6.x/ChangeLog-6.11.9
    - ftrace: Fix what is in the base
EOT
line()
{
	printf '%s\t%s\tno\twhy\t-\n' "$@"
}

line 6.12.8 'x86/mm: Fix one thing' >"$list"
says "a subject of two lines without a line is seen" \
	"nobody has looked at 6.12.9: ftrace: Fix what takes a long line to say" "$work/repo/scripts/audited" "$log"
says "what the package fixes by itself is seen" \
	"nobody has looked at 6.12.9: kallsyms: Fix of the package's own" "$work/repo/scripts/audited" "$log"
ok "nothing else is seen" test "$(wc -l <"$work/out")" = 2
line 6.12.9 'ftrace: Fix what takes a long line to say' >>"$list"
line 6.12.9 "kallsyms: Fix of the package's own" >>"$list"
ok "with a line for each nothing is missing" "$work/repo/scripts/audited" "$log"
line 6.12.9 'ftrace: Fix what nobody has fixed' >>"$list"
says "a line without a fix is seen" "the changelog has no such subject: 6.12.9: ftrace: Fix what nobody has fixed" \
	"$work/repo/scripts/audited" "$log"
sed -i '$d' "$list"
printf '6.12.8\tsubject\tyes\twhy\t-\n' >"$list"
says "a fault that is mended needs a test" "audited: $list:1: says not which test" "$work/repo/scripts/audited" "$log"

# Two trees made here. A function is watched, and the rest of its file is not.
watched=$work/repo/patches/watched
old=$work/repo/build/debian-kernels/6.12.8
new=$work/repo/build/debian-kernels/6.12.9
mkdir -p "$old" "$new"
printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 8\n' >"$old/Makefile"
cat >"$old/large.c" <<'EOT'
static int other(void)
{
	return first(0);
}

static struct thing *
first(int a,
      int b)
{
	if (a) {
		b++;
	}
	return second(b);
}

int second(int b);
#define third(x) \
	(x)
struct fourth {
	int	a;
};
SYM_FUNC_START(fifth)
	ret
SYM_FUNC_END(fifth)
EOT
cp "$old"/* "$new"
sed -i 's/= 8/= 9/' "$new/Makefile"
printf '# comment\n' >"$watched"
for name in first third fourth fifth; do
	printf 'large.c %s\t6.12.y\n' "$name" >>"$watched"
done
says "what nobody has looked at is named" "nobody has looked at large.c first, which is another than in 6.12.y" \
	"$work/repo/scripts/watched" check "$old"
ok "after a look" "$work/repo/scripts/watched" add "$old"
ok "nothing is named after a look" "$work/repo/scripts/watched" check "$old"
sed -i 's/first(0)/first(1)/; s/int second/long second/' "$new/large.c"
ok "the rest of the file can change" "$work/repo/scripts/watched" check "$new"
# Each of them: what, and an edit that changes only it.
for edit in 'first b[+][+] b--' 'third (x)$ y' 'fourth a; b;' 'fifth ret$ nop'; do
	read -r name from to <<<"$edit"
	cp "$new/large.c" "$work/large.c"
	sed -i "s/^\(	.*\)$from/\1$to/" "$new/large.c"
	says "a change of $name is seen" "nobody has looked at large.c $name, which is another than in 6.12.8" \
		"$work/repo/scripts/watched" check "$new"
	[ "$name" = fifth ] || cp "$work/large.c" "$new/large.c"
done
plan
