#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The checkers, one check a file. Files of the kernel: checkpatch, kernel-doc, the
# compiler with W=1, sparse and objtool. All other files: perl itself, perlcritic
# and shellcheck.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/host-tap.sh"
cd "$root" || exit 1
build=$(scripts/build-dir)
src=$build/src

# quiet WHAT COMMAND...: the command succeeds and says nothing.
quiet()
{
	local what=$1
	shift
	if "$@" >"$work/out" 2>&1 && [ ! -s "$work/out" ]; then
		passed "$what"
	else
		failed "$what" "$work/out"
	fi
}

ours()
{
	find . \( -path ./build -o -path ./.git \) -prune -o -type f ! -name '*~' ! -name '*.o' "$@" -printf '%P\n' |
		LC_ALL=C sort
}

# ours_there FIND-ARG...: our files of the kernel tree, those for other versions of Linux left out.
ours_there()
{
	local own=patches/${BASE_VERSION:-6.12}

	{
		ours ! -path './patches/*' ! -path './tools/*' "$@"
		[ ! -d "$own/files" ] || (cd "$own/files" && ours "$@")
	} | LC_ALL=C sort -u | if [ -f "$own/without" ]; then grep -vxF -f "$own/without"; else cat; fi
}

# scripts INTERPRETER: our files that start with it. Cases of ftracetest are apart.
scripts()
{
	ours ! -name '*.tc' | while read -r file; do
		head -n 1 "$file" | grep -aq "^#!.*[/ ]$1" && echo "$file"
	done
}

says_license()
{
	head -n 2 "$1" | grep -aq 'SPDX-License-Identifier: GPL-2.0-only' ||
		echo "no SPDX line"
}

perl_compiles()
{
	perl -c "$1" 2>&1 | grep -v ' syntax OK$'
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

perl_critic()
{
	perlcritic --gentle --quiet "$1"
}

# A script that says what it sources is checked together with that file.
check_shell()
{
	if grep -q '# shellcheck source=' "$1"; then
		shellcheck -x "$1"
	else
		shellcheck "$1"
	fi
}

# What checkpatch gets wrong here: there is no MAINTAINERS entry to update and
# no sign-off before a patch is sent; stubs of an interface do not use their
# arguments and for-each macros use theirs twice; arch code includes asm/; boot
# parameters are documented in a .txt file and it reads the .rst; Linux 6.12 has no
# kzalloc_obj(), and takes no const tables of sysctls.
ignored=FILE_PATH_CHANGES,MISSING_SIGN_OFF,MACRO_ARG_UNUSED,MACRO_ARG_REUSE
ignored+=,ARCH_INCLUDE_LINUX,UNDOCUMENTED_SETUP
# An interface that others compile against has the names that it has.
ignored+=,DEFINE_ARCH_HAS,ALLOC_WITH_SIZEOF,CONST_STRUCT
# The commits of Fixes: are those of the base, whose history is not here.
ignored+=,UNKNOWN_COMMIT_ID

# checkpatch ARG...: in the prepared tree, where it finds what it compares with.
checkpatch()
{
	(cd "$src" && perl scripts/checkpatch.pl --strict --terse --no-summary --show-types \
		--ignore "$ignored" "$@")
}

# What runs in the guest: a program has the C library's names and none of the
# kernel's macros, a module makes its functions with macros.
check_program()
{
	local ignored=$ignored

	ignored+=,CAMELCASE,ARRAY_SIZE,EMBEDDED_FUNCTION_NAME,COMPLEX_MACRO
	ignored+=,MULTIPLE_ASSIGNMENTS,VOLATILE,LEADING_SPACE,INCLUDE_LINUX
	# Programs that define what the kernel has.
	ignored+=,PREFER_DEFINED_ATTRIBUTE_MACRO,NEW_TYPEDEFS,MEMORY_BARRIER,BIT_MACRO
	# The shims define what headers of the kernel declare, for two versions.
	ignored+=,AVOID_EXTERNS,UNCOMMENTED_DEFINITION,LINUX_VERSION_CODE
	ignored+=,CONSTANT_COMPARISON,PRINTK_WITHOUT_KERN_LEVEL,MACRO_ARG_PRECEDENCE
	# A macro that is applied to each line of a list ends with a semicolon.
	ignored+=,TRAILING_SEMICOLON,DO_WHILE_MACRO_WITH_TRAILING_SEMICOLON
	checkpatch --max-line-length=130 "$@"
}

# Some patches have no header, because their mail has a text of its own.
check_patch()
{
	local ignored=$ignored,COMMIT_MESSAGE

	checkpatch "$@"
}

kernel_doc()
{
	"$src/scripts/kernel-doc" -none -Werror "$1"
}

# A line of TAP that goes on from the line before says nothing in a log that shows only failures. In
# guest scripts such a description begins with two blanks, see tap.sh.
stand_alone()
{
	! grep -nE "^[^#]*[\"'](and|but|nor|or|so|then|which|it|its|they|their|none|neither) [^\"']*[\"']" "$@"
}

# The sources that the kernel compiles, as objects.
objects()
{
	# trace_args.c needs an option that needs BTF; frames.S is included by others.
	ours_there \( -path './arch/x86/kernel/ftrace/*.[cS]' -o -path './kernel/trace/*.c' \) \
		! -name trace_args.c ! -name frames.S |
		sed 's/\.[cS]$/.o/'
}

# compile DIR: ours alone, with all the compiler, sparse and objtool can say.
compile()
{
	local out=$build/lint object cc=gcc
	local -a wanted=()

	command -v ccache >/dev/null && cc="ccache gcc"
	unset MAKEFLAGS MAKELEVEL MFLAGS
	scripts/build -c lint || return 1
	while read -r object; do
		if objects_wants "$object"; then
			wanted+=("$object")
			rm -f "$out/$object"
		fi
	done < <(objects)
	make -C "$src" O="$out" ARCH=x86_64 CC="$cc" HOSTCC="$cc" "-j$(nproc)" \
		prepare >"$out.log" 2>&1 || { tail -n 15 "$out.log"; return 1; }
	make -C "$src" O="$out" ARCH=x86_64 CC="$cc" HOSTCC="$cc" "-j$(nproc)" -k W=1 C=2 \
		"${wanted[@]}" >>"$out.log" 2>&1 || { tail -n 15 "$out.log"; return 1; }
}

# 32-bit sources have no place in the 64-bit build.
objects_wants()
{
	case $1 in
	*_32.o) return 1 ;;
	esac
}

while read -r file; do
	quiet "license: $file" says_license "$file"
done < <(ours ! -name series ! -name results ! -name check-all.results ! -name commits ! -name replaced ! -name needs ! -name without ! -path './patches/*messages/*' ! -name README ! -name packages ! -name .gitignore ! -name '*.patch' ! -name '*.md' ! -name '*.png')

while read -r file; do
	quiet "checkpatch: $file" checkpatch --file "$file"
done < <(ours_there -name '*.[chS]')
while read -r file; do
	quiet "checkpatch: $file" check_program --file "$root/$file"
done < <(ours -name '*.[chS]' -path './tools/*')
while read -r file; do
	quiet "checkpatch: $file" check_patch "$root/$file"
done < <(ours -path './patches/*.patch')
quiet "patches/commits names every patch, and no other" diff \
	<(awk '$1 == "patch" { print $2 }' patches/commits | LC_ALL=C sort) \
	<(ours -path './patches/*.patch' ! -path './patches/layers/*' | sed 's,.*/,,' | LC_ALL=C sort -u)

while read -r file; do
	quiet "kernel-doc: $file" kernel_doc "$src/$file"
done < <(ours_there -name '*.[chS]')

quiet "compile: W=1 C=2" compile
while read -r object; do
	source=${object%.o}
	# shellcheck disable=SC2016 # a program of awk's
	quiet "compile: $object" awk -v name="$source." 'index($0, name) && /warning|error/' \
		"$build/lint.log"
done < <(objects)
# The sources see less of struct module then.
ok "compile: a kernel without modules" scripts/build -o lint-tiny \
	-t "kernel/trace/ftrace/ arch/x86/kernel/ftrace/" tiny
quiet "each file calls only files above it in the document" tools/testing/ftrace/map-check \
	Documentation/trace/ftrace-core.rst "$build"/lint/kernel/trace/ftrace/[a-z]*.o \
	"$build"/lint/arch/x86/kernel/ftrace/*.o
quiet "no wait for a grace period that lockdep cannot see" tools/testing/ftrace/waits \
	kernel/trace/ftrace/*.[ch] patches/*/files/kernel/trace/ftrace/*.[ch] arch/x86/kernel/ftrace/*.[ch]
quiet "lockdep checks who holds ftrace_lock" tools/testing/ftrace/held \
	kernel/trace/ftrace/*.c \
	patches/*/files/kernel/trace/ftrace/*.c arch/x86/kernel/ftrace/*.c
quiet "compile: headers" awk \
	'/(include\/linux|asm)\/ftrace(_arch|_patch)?\.h:[0-9]+.*(warning|error)/' "$build/lint.log"
built=''
for config in small full tiny nofunc i386; do
	[ -f "$build/$config.log" ] || continue
	built=y
	quiet "build: no warning in the last build of $config" \
		awk '/[Ww]arning:|WARNING:/' "$build/$config.log"
done
[ -n "$built" ] || echo "ok $((++count)) # SKIP no kernel with the series has been built"

while read -r file; do
	quiet "perl -c: $file" perl_compiles "$file"
	quiet "perlcritic: $file" perl_critic "$file"
done < <(scripts perl; ours -name '*.pm')
while read -r file; do
	quiet "shellcheck: $file" check_shell "$file"
done < <(scripts '\(ba\)\?sh')
# ftracetest's own cases have words that are to be split, and cd into tracefs without a look.
while read -r file; do
	quiet "shellcheck: $file" shellcheck -e SC2086,SC2164,SC2002 "$file"
done < <(ours -name '*.tc')

mapfile -t tests < <(ours -path './tools/testing/ftrace/*' \( -name '*.sh' -o -name '*.t' -o -path '*/modules/*.c' \))
quiet "each check has a description that can be read alone" stand_alone "${tests[@]}"

quiet "sphinx: no warning that the base's documents do not have" tools/testing/ftrace/sphinx-check "$src"
plan
