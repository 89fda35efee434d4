#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# unreached.sh LIST <ERRORS-OF-LD: make a function for each name that the linker does not find. It prints
# its name and ends the program. A name that is a tracepoint becomes a tracepoint that is switched off.
# Any other name that not only files of base-files use must be in LIST.

awk -v list="$(sed 's/#.*//' "$1")" '
	BEGIN { split(list, names); for (i in names) listed[names[i]] = 1; print ".text" }
	match($0, /[^ ]*\.o:/) { user = substr($0, RSTART, RLENGTH - 1) }
	/undefined reference to/ {
		name = $0
		sub(/.*undefined reference to ./, "", name)
		sub(/\047.*/, "", name)
		if (!(name in listed) && name !~ /^__tracepoint_/ && (user !~ /\/src\// || user ~ /\/kernel\/(trace\/)?ftrace\//)) {
			print "native: no shim for " name ", which " user " uses" >"/dev/stderr"
			bad = 1
		} else if (!seen[name]++ && name ~ /^__tracepoint_/) {
			printf "\t.pushsection .bss\n\t.balign 64\n.globl %s\n%s:\t.skip 256\n\t.popsection\n", name, name
		} else if (seen[name] == 1) {
			seen[name]++
			printf ".globl %s\n%s:\n\tmov $1f, %%edi\n\tjmp native_unreached\n", name, name
			printf "\t.pushsection .rodata\n1:\t.asciz \"%s\"\n\t.popsection\n", name
		}
	}
	END { exit bad }' || {
	cat >&2 <<-'EOF'
	native: put the file of the kernel that has the function into base-files, if the file needs
	native: little else; or write a shim in shim/ (stubs.c if the function does nothing here). A
	native: function that no test calls: into unreached.
	EOF
	exit 1
}
