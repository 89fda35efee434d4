#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# unreached.sh LIST: make a function for each name of the list. It prints its name and ends the
# program. A name that is a tracepoint becomes a tracepoint that is switched off.

echo '.text'
# shellcheck disable=SC2016 # $1f is of the assembler
sed 's/#.*//; /^[[:space:]]*$/d' "$1" | while read -r name; do
	case $name in
	__tracepoint_*)
		printf '\t.pushsection .bss\n.weak %s\n\t.balign 64\n%s:\t.skip 256\n\t.popsection\n' "$name" "$name"
		continue
		;;
	esac
	printf '.weak %s\n%s:\n\tmov $1f, %%edi\n\tjmp native_unreached\n' "$name" "$name"
	printf '\t.pushsection .rodata\n1:\t.asciz "%s"\n\t.popsection\n' "$name"
done
