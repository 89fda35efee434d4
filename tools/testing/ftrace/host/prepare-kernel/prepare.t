#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/prepare-kernel on a small repository and small trees made here: what
# it does, what it refuses, and that a refusal or --undo leaves no trace.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../host-tap.sh"
repo=$work/repo
tree=$work/linux

# refuses WHAT MESSAGE ARG...: fails, says MESSAGE, changes nothing.
refuses()
{
	local what=$1 message=$2 before
	shift 2
	before=$(fingerprint)
	if "$repo/scripts/prepare-kernel" "$@" >"$work/out" 2>&1; then
		failed "refuses $what"
	elif ! grep -q "^prepare-kernel: .*$message" "$work/out"; then
		failed "refuses $what: says why" "$work/out"
	elif [ "$(fingerprint)" != "$before" ]; then
		failed "refuses $what: tree untouched"
	else
		passed "refuses $what"
	fi
	cp "$work/out" "$work/refusal"
}

# Names, types, modes, contents and times of all that is in the tree.
fingerprint()
{
	(cd "$tree" && find . -printf '%p %y %m %l\n' | LC_ALL=C sort
	 find . -type f -printf '%p %T@\n' | LC_ALL=C sort
	 find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
}

# The same without times: a patched file is a new file.
contents()
{
	(cd "$tree" && find . -printf '%p %y %m %l\n' | LC_ALL=C sort
	 find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
}

is_text()
{
	[ "$(cat "$1")" = "$2" ] || { cat "$1"; return 1; }
}

same()
{
	diff <(echo "$1") <(echo "$2")
}

prepare()
{
	"$repo/scripts/prepare-kernel" "$@"
}

make_tree()
{
	rm -rf "$tree"
	mkdir -p "$tree"/{arch/x86/kernel,include/linux,kernel/trace,scripts,init}
	printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 9\n' >"$tree/Makefile"
	echo base >"$tree/arch/x86/kernel/ftrace.c"
	echo 'struct ftrace_ops {' >"$tree/include/linux/ftrace.h"
	printf '#!/usr/bin/perl\n' >"$tree/scripts/recordmcount.pl"
	chmod 755 "$tree/scripts/recordmcount.pl"
	printf 'one\ntwo\nthree\n' >"$tree/init/main.c"
	printf 'alpha\nbeta\n' >"$tree/kernel/trace/Makefile"
	# A quilt series of the user's own.
	mkdir -p "$tree/patches" "$tree/.pc"
	echo mine.patch >"$tree/patches/series"
	find "$tree" -type f -exec touch -d '2020-01-01' {} +
}

make_repo()
{
	rm -rf "$repo"
	mkdir -p "$repo"/{scripts,patches/{6.12,7.3},kernel/trace/ftrace,arch/x86/kernel,include/linux,tools/vm}
	cp "$root"/scripts/{prepare-kernel,Series.pm,watched} "$repo/scripts/"
	echo ours >"$repo/include/linux/ftrace_arch.h"
	echo ours >"$repo/arch/x86/kernel/ftrace.c"
	echo core >"$repo/kernel/trace/ftrace/core.c"
	echo config >"$repo/Kconfig"
	echo vm >"$repo/tools/vm/guest"
	echo top >"$repo/Makefile"
	cat >"$repo/patches/a.patch" <<-'EOF'
	From: somebody
	Subject: a

	--- a/init/main.c
	+++ b/init/main.c
	@@ -1,3 +1,3 @@
	 one
	-two
	+TWO
	 three
	EOF
	cat >"$repo/patches/b.patch" <<-'EOF'
	--- a/kernel/trace/Makefile
	+++ b/kernel/trace/Makefile
	@@ -1,2 +1,3 @@
	 alpha
	 beta
	+obj-y += ftrace/
	EOF
	printf '# comment\nseries all\na\n\tfile\tKconfig\n\tpatch\ta.patch\n\tpatch\tb.patch\n' >"$repo/patches/commits"
	{
		echo '# comment'
		echo base | sha256sum | sed 's,-$,arch/x86/kernel/ftrace.c,'
		echo another | sha256sum | sed 's,-$,arch/x86/kernel/ftrace.c,'
	} >"$repo/patches/replaced"
	printf '# comment\ninclude/linux/ftrace.h\tstruct ftrace_ops {\n' >"$repo/patches/needs"
	printf 'init/main.c\t6.12.9\t%.16s\n' "$(printf 'one\ntwo\nthree\n' | sha256sum)" >"$repo/patches/watched"
}

make_repo
make_tree
original=$(contents)
times=$(fingerprint)

ok "--check says yes" prepare --check "$tree"
ok "of what was looked at, nothing has changed" same "$(cat "$work/out")" "$tree: the series applies"
ok "--check changes nothing" same "$times" "$(fingerprint)"
ok "prepares a 6.12 tree" prepare "$tree"
cp "$work/out" "$work/said"
ok "says how many files it replaced" grep -q 'replaced   1 files' "$work/said"
ok "says how many patches it pushed" grep -q 'patched    2 patches' "$work/said"
ok "ours is in the place of a replaced file" is_text "$tree/arch/x86/kernel/ftrace.c" ours
ok "a file of the base stays" is_text "$tree/include/linux/ftrace.h" 'struct ftrace_ops {'
ok "a new file is there" is_text "$tree/kernel/trace/ftrace/core.c" core
ok "Kconfig goes to the core" is_text "$tree/kernel/trace/ftrace/Kconfig" config
ok "tools/vm stays out" test ! -e "$tree/tools/vm"
ok "scripts/prepare-kernel stays out" test ! -e "$tree/scripts/prepare-kernel"
ok "the first patch is in" grep -qx TWO "$tree/init/main.c"
ok "the last patch is in" grep -qx 'obj-y += ftrace/' "$tree/kernel/trace/Makefile"
ok "the user's own quilt series is untouched" is_text "$tree/patches/series" mine.patch
refuses "a prepared tree" "already prepared" "$tree"
refuses "--check of a prepared tree" "already prepared" --check "$tree"
echo edited >"$tree/kernel/trace/ftrace/core.c"
refuses "to undo over an edit" "edited since" --undo "$tree"
echo core >"$tree/kernel/trace/ftrace/core.c"
echo object >"$tree/kernel/trace/ftrace/core.o"
rm "$tree/kernel/trace/ftrace/core.o"
echo more >>"$tree/init/main.c"
cp "$tree/init/main.c" "$work/main.c"
if prepare --undo "$tree" >/dev/null 2>&1 || ! cmp -s "$tree/init/main.c" "$work/main.c"; then
	failed "keeps an edit of a patched file"
else
	passed "keeps an edit of a patched file"
fi
sed -i '$d' "$tree/init/main.c"
ok "--undo" prepare --undo "$tree"
ok "is byte for byte" same "$original" "$(contents)"
refuses "to undo what is not prepared" "not prepared" --undo "$tree"
refuses "to sync what is not prepared" "not prepared" --sync "$tree"

sed -i 's/^PATCHLEVEL = 12/PATCHLEVEL = 11/' "$tree/Makefile"
refuses "Linux 6.11" "Linux 6.11, but the series is for 6.12 and 7.3" "$tree"

# Fixes that ours may lack, and a base that cannot work.
make_tree
echo fixed >"$tree/arch/x86/kernel/ftrace.c"
refuses "another version of a file that it replaces" "arch/x86/kernel/ftrace.c: not the version" "$tree"
refuses "--check of such a tree" "arch/x86/kernel/ftrace.c: not the version" --check "$tree"
ok "--force takes such a tree" prepare --force "$tree"
cp "$work/out" "$work/said"
ok "--force names the file" grep -qx 'arch/x86/kernel/ftrace.c: replaced all the same' "$work/said"
ok "--undo brings back the version that --force replaced" prepare --undo "$tree"
ok "--undo leaves the file as it was" is_text "$tree/arch/x86/kernel/ftrace.c" fixed
make_tree
echo another >"$tree/arch/x86/kernel/ftrace.c"
ok "takes each version that it knows" prepare --check "$tree"
rm "$tree/arch/x86/kernel/ftrace.c"
refuses "a tree without a file that it replaces" "arch/x86/kernel/ftrace.c: not the version" "$tree"
make_tree
echo 'struct ftrace_operations {' >"$tree/include/linux/ftrace.h"
refuses "a tree that lacks what it needs" "include/linux/ftrace.h lacks what the series needs: struct ftrace_ops {" "$tree"
make_tree
echo theirs >"$tree/include/linux/ftrace_arch.h"
refuses "to write over a file that it does not know" "has include/linux/ftrace_arch.h, which is not in" "$tree"

make_tree
echo four >>"$tree/init/main.c"
ok "--check takes a tree that nobody has looked at" prepare --check "$tree"
cp "$work/out" "$work/said"
ok "--check says that nobody has looked" grep -qx 'nobody has looked at init/main.c, which is another than in 6.12.9' "$work/said"

make_tree
echo other >"$tree/init/main.c"
refuses "a tree on which the first patch fails" "a patch does not apply" "$tree"
make_tree
echo other >"$tree/kernel/trace/Makefile"
refuses "a tree on which the last patch fails" "a patch does not apply" "$tree"
refuses "--check of such a tree" "a patch does not apply" --check "$tree"
# Three lines: file, hunk, log.
ok "says which file" grep -qx '  file  kernel/trace/Makefile, in patches/b.patch' "$work/refusal"
ok "says which hunk" grep -qx '  hunk  #1 at 1' "$work/refusal"
ok "says where the log is" test -s "$(sed -n 's/^  log   //p' "$work/refusal")"
make_tree
printf '\tpatch\tc.patch\n' >>"$repo/patches/commits"
refuses "a series with a patch missing" "c.patch, which is not there" "$tree"
make_repo
refuses "a directory without a kernel" "not a Linux source tree" "$work"
refuses "a directory that does not exist" "no such directory" "$work/none"

# --sync touches what changed and nothing else.
make_tree
prepare "$tree" >/dev/null
find "$tree" -path "$tree/.ftrace-series" -prune -o -type f -exec touch -d '2021-01-01' {} +
times=$(fingerprint)
ok "--sync with nothing changed" prepare --sync "$tree"
ok "changes nothing" same "$(grep -v ftrace-series <<<"$times")" \
	"$(fingerprint | grep -v ftrace-series)"
echo core2 >"$repo/kernel/trace/ftrace/core.c"
echo new >"$repo/kernel/trace/ftrace/new.c"
rm "$repo/include/linux/ftrace_arch.h"
sed -i 's/TWO/zwei/' "$repo/patches/a.patch"
ok "--sync" prepare --sync "$tree"
ok "takes a changed file" is_text "$tree/kernel/trace/ftrace/core.c" core2
ok "takes a new file" is_text "$tree/kernel/trace/ftrace/new.c" new
ok "drops a file that is gone" test ! -e "$tree/include/linux/ftrace_arch.h"
ok "takes a changed patch" grep -qx zwei "$tree/init/main.c"
ok "leaves other files' times alone" \
	test "$(stat -c %y "$tree/kernel/trace/Makefile" "$tree/kernel/trace/ftrace/Kconfig" |
		grep -c ^2021)" = 2
sed -i 's/^-two/-gone/' "$repo/patches/a.patch"
if prepare --sync "$tree" >/dev/null 2>&1 || ! grep -qx zwei "$tree/init/main.c"; then
	failed "--sync with a patch that fails keeps the old ones"
else
	passed "--sync with a patch that fails keeps the old ones"
fi
ok "--undo after --sync" prepare --undo "$tree"
ok "is byte for byte again" same "$original" "$(contents)"

# Two versions of Linux: a patch, a file and a need can be for one version alone.
make_repo
make_tree
mkdir -p "$repo"/patches/{6.12,7.3}/files/kernel/trace/ftrace
sed 's/TWO/deux/' "$repo/patches/a.patch" >"$repo/patches/7.3/a.patch"
mv "$repo/patches/b.patch" "$repo/patches/6.12/b.patch"
echo old >"$repo/patches/6.12/files/kernel/trace/ftrace/base.h"
echo new >"$repo/patches/7.3/files/kernel/trace/ftrace/base.h"
echo old >"$repo/patches/6.12/files/kernel/trace/ftrace/core.c"
echo new >"$repo/kernel/trace/ftrace/new.c"
printf '# A reason.\nkernel/trace/ftrace/new.c\n' >"$repo/patches/6.12/without"
printf 'obj-y += core.o new.o\nifdef CONFIG_NEW\nobj-y += new.o\nendif\n' >"$repo/kernel/trace/ftrace/Makefile"
printf '\tobjects\tkernel/trace/ftrace/Makefile\n' >>"$repo/patches/commits"
printf 'init/main.c\tthree\n' >"$repo/patches/7.3/needs"
ok "prepares a 6.12 tree, of two versions" prepare "$tree"
ok "prepares 6.12 with the patch of all versions" grep -qx TWO "$tree/init/main.c"
ok "prepares 6.12 with the patch of its own" grep -qx 'obj-y += ftrace/' "$tree/kernel/trace/Makefile"
ok "prepares 6.12 with the file of its own" is_text "$tree/kernel/trace/ftrace/base.h" old
ok "prepares 6.12 with its file in the place of the common one" is_text "$tree/kernel/trace/ftrace/core.c" old
ok "prepares 6.12 without the file that it has no use for" test ! -e "$tree/kernel/trace/ftrace/new.c"
ok "prepares 6.12 with a Makefile without its object" is_text "$tree/kernel/trace/ftrace/Makefile" 'obj-y += core.o'
prepare --sync "$tree" >"$work/said"
ok "--sync of it changes nothing" test ! -s "$work/said"
ok "--undo of a 6.12 tree of two versions" prepare --undo "$tree"
ok "is byte for byte what it was" same "$original" "$(contents)"
sed -i 's/^VERSION = 6/VERSION = 7/; s/^PATCHLEVEL = 12/PATCHLEVEL = 3/' "$tree/Makefile"
ok "prepares a 7.3 tree" prepare "$tree"
cp "$work/out" "$work/said"
ok "says its version" grep -q 'Linux 7.3.9$' "$work/said"
ok "prepares 7.3 without the patch of 6.12" grep -q 'patched    1 patches' "$work/said"
ok "prepares 7.3 with the patch in place of the common one" grep -qx deux "$tree/init/main.c"
ok "prepares 7.3 with the file of its own" is_text "$tree/kernel/trace/ftrace/base.h" new
ok "prepares 7.3 with the common files" is_text "$tree/kernel/trace/ftrace/new.c" new
ok "prepares 7.3 with the whole Makefile" cmp "$repo/kernel/trace/ftrace/Makefile" "$tree/kernel/trace/ftrace/Makefile"
ok "--undo of a 7.3 tree" prepare --undo "$tree"
echo other >"$tree/init/main.c"
refuses "a tree that lacks what only 7.3 needs" "init/main.c lacks what the series needs: three" "$tree"
printf 'three\n' >"$tree/init/main.c"
refuses "a tree on which the patch of 7.3 fails" "a patch does not apply" "$tree"
ok "says whose patch" grep -qx '  file  init/main.c, in patches/7.3/a.patch' "$work/refusal"

# A branch of a git repository: in a work tree of its own.
make_repo
make_tree
git -C "$tree" init -q -b main
git -C "$tree" add -A -f
git -C "$tree" -c user.name=t -c user.email=t@example.org commit -q -m base
ok "prepares a branch" prepare "$tree#main" "$work/branch"
ok "prepares a branch in a work tree" is_text "$work/branch/arch/x86/kernel/ftrace.c" ours
ok "a branch leaves the repository alone" git -C "$tree" diff --quiet
refuses "a directory that is there" "already there" "$tree#main" "$work/branch"
refuses "a branch that does not exist" "no such branch" "$tree#none" "$work/other"
echo fixed >"$tree/arch/x86/kernel/ftrace.c"
git -C "$tree" -c user.name=t -c user.email=t@example.org commit -q -a -m fixed
if prepare "$tree#main" "$work/other" >"$work/out" 2>&1 || [ -e "$work/other" ] ||
   git -C "$tree" worktree list | grep -q /other; then
	failed "a refused branch leaves no work tree"
else
	passed "a refused branch leaves no work tree"
fi
rm -rf "$tree/.git"

# A failure half way: one of the places to write is not a directory.
make_repo
make_tree
echo file >"$tree/kernel/trace/ftrace"
before=$(contents)
if prepare "$tree" >"$work/out" 2>&1 || ! same "$before" "$(contents)" >>"$work/out"; then
	failed "a failure half way is undone" "$work/out"
else
	passed "a failure half way is undone"
fi
plan
