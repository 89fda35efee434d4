#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The mails that scripts/make-series writes: git am applies each series to a clean base, with no other
# series than it needs and after the series before it, the result of all is the prepared tree byte for byte, checkpatch finds
# no error, and each mail has a maintainer. Also what make-series refuses.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../host-tap.sh"
cd "$root" || exit 1
build=$(scripts/build-dir)
base=$build/base-src
src=$build/src
version=${BASE_VERSION:-6.12}
mails=$work/mails
sender='A Tester <tester@example.org>'
export GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=tester@example.org

# The files that the mails touch.
touched()
{
	cat "$mails"/*/*.patch | sed -n 's,^\(---\|+++\) [ab]/,,p' | LC_ALL=C sort -u
}

# The base, as far as the mails touch it, as a git tree.
make_tree()
{
	mkdir -p "$work/tree"
	{ echo Makefile; touched; } | (cd "$base" && while read -r file; do
		[ ! -f "$file" ] || cp --parents "$file" "$work/tree"
	done)
	git -C "$work/tree" init -q
	git -C "$work/tree" add -A -f
	git -C "$work/tree" commit -q --author "$sender" -m base
	git -C "$work/tree" tag base
}

# base_commit BASE-TREE ARG...: of mails that are made with a repository of their own.
base_commit()
{
	local tree=$1
	shift
	scripts/make-series -g "$work/git" "$@" "$tree" "$work/based" >&2 &&
		sed -n 's/^base-commit: //p' "$work"/based/*/*.patch | sort -u
}

# stands_on COMMIT BASE-TREE ARG...
stands_on()
{
	local wanted=$1
	shift
	echo "wanted $wanted"
	[ "$(base_commit "$@")" = "$wanted" ]
}

# git_am SERIES...: on the base.
git_am()
{
	git -C "$work/tree" checkout -q --detach base || return 1
	for series; do
		# The first is the cover letter.
		set -- "$mails/$series"/*.patch
		git -C "$work/tree" am -q --whitespace=error "${@:2}" || return 1
	done
}

# needs SERIES: it, behind those that it is on.
needs()
{
	local on

	on=$(sed -n "s/^series $1 on //p" patches/commits)
	[ -z "$on" ] || needs "$on"
	echo "$1"
}

# What the series changes, as prepare-kernel has done it.
changed()
{
	{
		cat "$src/.ftrace-series/laid"
		(cd "$src/.ftrace-series/pc" && find . -mindepth 2 -type f -printf '%P\n') |
			sed -n 's,^[^/]*\.patch/,,p'
		(cd "$src/.ftrace-series/replaced" && find . -type f -printf '%P\n')
	} | grep -v '^\.timestamp$' | LC_ALL=C sort -u
}

same_files()
{
	diff <(touched) <(changed)
}

same_bytes()
{
	local bad=0

	while read -r file; do
		cmp "$work/tree/$file" "$src/$file" || bad=1
		[ "$(stat -c %a "$work/tree/$file")" = "$(stat -c %a "$src/$file")" ] ||
			{ echo "$file: mode"; bad=1; }
	done < <(changed)
	return $bad
}

# What checkpatch gets wrong: see lint.t.
ignored=FILE_PATH_CHANGES,MACRO_ARG_UNUSED,MACRO_ARG_REUSE,ARCH_INCLUDE_LINUX,UNDOCUMENTED_SETUP,DEFINE_ARCH_HAS
ignored+=,ALLOC_WITH_SIZEOF,CONST_STRUCT,UNKNOWN_COMMIT_ID
checkpatch()
{
	local ignored=$ignored

	# A program has names of libraries, and a signal handler.
	if grep -q '^+++ b/tools/.*\.[ch]$' "$1"; then
		ignored+=,CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO,VOLATILE
	fi
	(cd "$src" && perl scripts/checkpatch.pl --strict --terse --no-summary --show-types \
		--ignore "$ignored" "$1") 2>&1
}

has_maintainer()
{
	(cd "$src" && perl scripts/get_maintainer.pl --no-git --no-git-fallback --no-rolestats --no-l --m "$1") 2>&1
}

# Of one series.
threaded()
{
	local id

	id=$(sed -n 's/^Message-I[Dd]: //p' "$mails/$1"/0000-*.patch)
	[ -n "$id" ] && ! grep -LF "In-Reply-To: $id" "$mails/$1"/*.patch | grep -v /0000- | grep .
}

signed_off()
{
	! grep -LxF "Signed-off-by: $sender" "${patches[@]}" | grep .
}

cover_is_whole()
{
	! grep -n '\*\*\*' "$mails/$1"/0000-*.patch &&
		grep -q "^Subject: \[PATCH $version 00*/[0-9]*\] [a-z/0-9]*: [A-Z]" "$mails/$1"/0000-*.patch
}

# says MAIL: its message, and the lines that it adds.
says()
{
	awk -v name="${1#"$mails"/}" '
		!body { body = /^$/; next }
		/^-- $/ { exit }
		/^---$/ { diff = 1 }
		!diff || /^\+/ { print name ": " $0 }' "$1"
}

# Who reads the mails, or the kernel with the series, has only the kernel: no other version of the
# series, and none of our scripts.
speaks_of_the_kernel()
{
	local mail words='\<Linux [0-9]|\<(6\.12|7\.3|6\.1[0-9])\>|\<[0-9][0-9]-[a-z-]+\.sh\>'

	words+='|\<make (run|check|lint|model|native|bench|torture)|tools/testing/ftrace/|tools/vm/'
	words+='|tools/tracing/bench|prepare-kernel|make-series|repository of the series'
	for mail in "${patches[@]}"; do
		says "$mail"
	done | grep -E "$words" && return 1
	says "${patches[0]}" | grep -q .
}

# sources COMMIT: the objects that the files of the core make.
sources()
{
	git -C "$work/tree" ls-tree --name-only "$1" kernel/trace/ftrace/ | sed -n 's,.*/\(.*\)\.c$,\1.o,p' | LC_ALL=C sort
}

# objects COMMIT: those in the Makefile of the core.
objects()
{
	git -C "$work/tree" show "$1:kernel/trace/ftrace/Makefile" | sed -n 's/^obj-.*+=//p' | tr ' ' '\n' |
		grep '\.o$' | LC_ALL=C sort
}

builds_what_is_there()
{
	local commit

	for commit in $(git -C "$work/tree" rev-list base..HEAD); do
		git -C "$work/tree" cat-file -e "$commit:kernel/trace/ftrace/Makefile" 2>/dev/null || continue
		diff <(sources "$commit") <(objects "$commit") ||
			{ git -C "$work/tree" log -1 --oneline "$commit"; return 1; }
	done
	[ "$(sources HEAD | wc -l)" -gt 20 ]
}

# Nobody builds the core before x86 chooses it, but long/series-bisect compiles it then.
includes_what_is_there()
{
	local commit

	for commit in $(git -C "$work/tree" rev-list base..HEAD); do
		LC_ALL=C comm -23 \
			<(git -C "$work/tree" grep -hoE '^#include "[a-z_]+\.h"' "$commit" -- \
				':(glob)kernel/trace/ftrace/*.[ch]' | sed 's/.*"\(.*\)"/\1/' | LC_ALL=C sort -u) \
			<(git -C "$work/tree" ls-tree --name-only "$commit" kernel/trace/ftrace/ |
				sed 's,.*/,,' | LC_ALL=C sort) | grep . &&
			{ git -C "$work/tree" log -1 --oneline "$commit"; return 1; }
	done
	[ "$(sources HEAD | wc -l)" -gt 20 ]
}

# refuses WHAT MESSAGE COMMAND...: COMMAND changes the table of a copy of the repository; then
# make-series fails with MESSAGE.
refuses()
{
	local what=$1 message=$2
	shift 2
	rm -rf "$work/repo"
	mkdir "$work/repo"
	cp -r arch include kernel Documentation scripts patches Kconfig "$work/repo"
	mkdir -p "$work/repo/tools/testing"
	cp -r tools/testing/selftests "$work/repo/tools/testing"
	cp -r --parents tools/tracing/flight tools/tracing/flight-dump.py "$work/repo"
	(cd "$work/repo" && "$@")
	if "$work/repo/scripts/make-series" "$base" "$work/refused" >"$work/out" 2>&1; then
		failed "refuses $what"
	elif ! grep -q "^make-series: .*$message" "$work/out" || [ -e "$work/refused" ]; then
		failed "refuses $what: says why, writes nothing" "$work/out"
	else
		passed "refuses $what"
	fi
}

ok "make-series" scripts/make-series -s "$sender" "$base" "$mails"
mapfile -t all < <(sed -n 's/^series \([^ ]*\).*/\1/p' patches/commits)
patches=()
for mail in "$mails"/*/*.patch; do
	[[ $mail = */0000-* ]] || patches+=("$mail")
done
make_tree
for series in "${all[@]}"; do
	mapfile -t needed < <(needs "$series")
	ok "git am takes the mails of $series" git_am "${needed[@]}"
	ok "the mails of $series are one thread" threaded "$series"
	ok "the cover letter of $series has a subject and a text" cover_is_whole "$series"
done
ok "git am takes all mails, one series after the other" git_am "${all[@]}"
ok "the mails touch the files that prepare-kernel changes" same_files
ok "the mails leave the prepared tree" same_bytes
ok "each commit builds the files of the core that are there" builds_what_is_there
ok "each commit has the headers that the files of the core include" includes_what_is_there
ok "the sender signs off" signed_off
ok "no mail speaks of a version of Linux or of what is not in the kernel tree" speaks_of_the_kernel
# The two programs take a second each.
checks=$work/checks
mkdir "$checks"
# checked MAIL: where the answers go.
checked()
{
	local series=${1%/*}

	echo "$checks/${series##*/}-${1##*/}"
}
for mail in "${patches[@]}"; do
	[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
	{
		checkpatch "$mail" >"$(checked "$mail").checkpatch"
		has_maintainer "$mail" >"$(checked "$mail").maintainer"
	} &
done
wait
says_nothing()
{
	cat "$1"
	[ ! -s "$1" ]
}
for mail in "${patches[@]}"; do
	ok "checkpatch: ${mail#"$mails"/}" says_nothing "$(checked "$mail").checkpatch"
	ok "get_maintainer: ${mail#"$mails"/}" grep @ "$(checked "$mail").maintainer"
done

# edit PERL: the table of commits.
edit()
{
	perl -0pi -e "$1" patches/commits
}

last=$(sed -n 's/^[a-z][^ ]*$/&/p' patches/commits | tail -n 1)
refuses "a file that is taken twice" "taken twice: file arch/x86/kernel/ftrace/patch.c" \
	edit 's,\z,\tfile\tarch/x86/kernel/ftrace/patch.c\n,'
refuses "a file that is never taken" "never taken: file kernel/trace/ftrace/table.c" edit 's,\tfile\t\S*/table\.c\n,,'
refuses "a patch that is never taken" "never taken: patch bpf-own-wait.patch" edit 's,\tpatch\tbpf-own-wait\S*\n,,'
refuses "a file that is not there" "takes what is not there: file kernel/none.c" edit 's,\z,\tfile\tkernel/none.c\n,'
refuses "a layer that is never taken" "never taken: layer flight" edit 's,\tlayer\tflight\n,,'
refuses "a layer that does not come off" "patches/layers/flight.patch does not come off" \
	sed -i s/flight_fix/flight_mend/ arch/x86/kernel/ftrace/tramp.c
refuses "an unknown word" "takes what is not there: hunk kernel/none.c" edit 's,\z,\thunk\tkernel/none.c\n,'
refuses "a commit without a message" "commit last has no message" edit 's,\z,\nlast\n,'
refuses "a commit that takes nothing" "commit nothing changes nothing" edit 's,\z,\nnothing\n\n    Nothing\n,'
refuses "a series without a cover letter" "series core has no patches/messages/cover-core.txt" \
	rm patches/messages/cover-core.txt
refuses "a series without commits" "series none has no commits" \
	sh -c 'echo "series none" >>patches/commits; echo >patches/messages/cover-none.txt'
refuses "a mail that is too large" "commit kbuild-recordmcount has [0-9]* lines of code, more than 500" \
	edit 's,kbuild-recordmcount\n\tlarge.*\n,kbuild-recordmcount\n,'
refuses "a header that no mail has" "ftrace-x86-int3.patch has a header" \
	sed -i '1i ftrace/x86: Do this\n\nWhy.\n\n---' "patches/$version/ftrace-x86-int3.patch"
refuses "a Fixes: of another form" "commit $last: not of the form Fixes:" edit 's,\z,\n    Fixes: 1234 (subject)\n,'
refuses "a Cc: without an address" "commit $last: no mail address" edit 's,\z,\n    Cc: somebody\n,'
refuses "a line that is none" "what is this.* hunk" edit 's,\z,  hunk\n,'
# A patch of a line that a later patch brings.
early()
{
	cat >patches/early.patch <<-'EOF'
		x86: Change a line

		Why.

		---

		--- a/arch/x86/Kconfig
		+++ b/arch/x86/Kconfig
		@@ -1,1 +1,1 @@
		-	select HAVE_FTRACE_PATCH
		+	select HAVE_FTRACE_PATCH	if X86_64
	EOF
	# shellcheck disable=SC2016 # of perl
	edit 's,^x86-switch\n,early\n\tpatch\tearly.patch\n\n$&,m'
}
refuses "patches in an order in which they do not apply" "does not apply in the order" early

# What the mails stand on, with the files that they touch for a base.
git -C "$work/tree" worktree add -q --detach "$work/git-base" base
cp -r "$work/git-base" "$work/plain"
rm "$work/plain/.git"
imported=$(base_commit "$work/plain" 2>"$work/out")
ok "an unpacked tree gets a base-commit of its own" test -n "$imported"
ok "an unpacked tree gets the same base-commit again" stands_on "$imported" "$work/plain"
echo fix >>"$work/plain/kernel/trace/Kconfig"
ok "a base of the same version with other contents is another commit" \
	sh -c "[ $(base_commit "$work/plain" 2>/dev/null) != $imported ]"
cp "$work/git-base/kernel/trace/Kconfig" "$work/plain/kernel/trace/Kconfig"
ok "a tree from git stands on the commit that it was taken from" \
	stands_on "$(git -C "$work/tree" rev-parse base)" "$work/plain" -c "$work/tree#base"
ok "another commit than the tree's is not used" stands_on "$imported" "$work/plain" -c "$work/tree#HEAD"
ok "the repository of the base gets no ref" \
	sh -c "! git -C '$work/tree' for-each-ref | grep -v 'refs/tags/base$\|refs/heads/\(main\|master\)$'"
ok "refuses a commit that is not there" sh -c "! scripts/make-series -g '$work/git' -c '$work/tree#none' '$work/plain' '$work/based'"
ok "asks for comments on a later version" scripts/make-series --rfc -v 3 "$base" "$work/rfc"
subjects=$(sed -n 's/^Subject: \(\[[^]]*\]\).*/\1/p' "$work"/rfc/*/*.patch | sed 's,[0-9]*/[0-9]*,N,' | sort -u)
ok "each subject asks for comments on a later version" test "$subjects" = "[RFC PATCH $version v3 N]"
ok "refuses a version that is no number" sh -c "! scripts/make-series -v x '$base' '$work/refused'"
ok "refuses a sender without a mail address" sh -c "! scripts/make-series -s Tester '$base' '$work/refused'"
plan
