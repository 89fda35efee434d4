#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# set_ftrace_filter and set_ftrace_notrace: names, globs, lists, appending, removing, numbers, and
# what is refused.

. "$(dirname "$0")/tap.sh"

F=$TRACING/set_ftrace_filter
N=$TRACING/set_ftrace_notrace
avail=$TMP.avail
grep -v ' ' "$TRACING/available_filter_functions" > "$avail"

# matching REGEX: what grep finds in the list of all functions.
matching() {
	grep -E "$1" "$avail" | sort
}

filtered() {
	filter | grep -v ' ' | sort
}

is "$(cat "$F")" '#### all functions enabled ####' "an empty filter reads: all functions enabled"
is "$(cat "$N")" '#### no functions disabled ####' "an empty notrace reads: no functions disabled"

works "an exact name" write "$F" vfs_read
is "$(cat "$F")" vfs_read "an exact name reads back as itself"
works "appending" append "$F" "vfs_write
"
is "$(filtered)" "vfs_read
vfs_write" "appending keeps what was there"
works "several names in a write" write "$F" "vfs_read  vfs_open
	vfs_write
"
is "$(filtered)" "vfs_open
vfs_read
vfs_write" "separated by blanks, tabs, newlines"
works "!name" append "$F" "!vfs_open
"
is "$(filtered)" "vfs_read
vfs_write" "!name takes one out"
set_to "" set_ftrace_filter
is "$(cat "$F")" '#### all functions enabled ####' "an empty line clears"
set_to vfs_read set_ftrace_filter
: > "$F"
is "$(cat "$F")" '#### all functions enabled ####' "opening with truncation clears"

# glob, and the regular expression that means the same
while read -r glob regex what; do
	echo "$glob" > "$F"
	is "$(filtered)" "$(matching "$regex")" "$what: $glob"
	at_least "$(filtered | wc -l)" 1 "  which is something"
done << 'END'
vfs_* ^vfs_ prefix
*_open _open$ suffix
*vfs_read vfs_read$ suffix_or_whole
*sched* sched anywhere
vfs_[rw]* ^vfs_[rw] a_set
END
echo '*' > "$F"
is "$(filtered)" "$(sort "$avail")" "everything: *"

# What is set while the tracer runs takes effect at once.
set_to vfs_read set_ftrace_filter
set_to function current_tracer
record read_bytes 10
is "$(traced)" vfs_read "tracing one function"
set_to vfs_write set_ftrace_filter
record read_bytes 10
is "$(traced)" vfs_write "a new filter while tracing replaces the old one"
echo vfs_read >> "$F"
record read_bytes 10
is "$(traced)" "vfs_read vfs_write" "an appended one joins it"
echo '!vfs_write' >> "$F"
record read_bytes 10
is "$(traced)" "vfs_read" "a removed one leaves"

# notrace wins over the filter.
set_to 'vfs_*' set_ftrace_filter
works "set_ftrace_notrace" write "$N" vfs_read
is "$(cat "$N")" vfs_read "  reads back"
record read_bytes 10
like " $(traced) " ' vfs_write ' "what the filter has and notrace has not is traced"
unlike " $(traced) " ' vfs_read ' "what both have is not"
unlike "$(cat "$TRACING/enabled_functions")" '^vfs_read ' "what both have is not enabled"
set_to "" set_ftrace_notrace
is "$(cat "$N")" '#### no functions disabled ####' "an empty line clears notrace"
set_to nop current_tracer

# notrace alone, set before the tracer starts.
set_to "" set_ftrace_filter
set_to vfs_read set_ftrace_notrace
set_to function current_tracer
like "$(cut -d' ' -f1 "$TRACING/enabled_functions")" '^vfs_write$' "notrace alone: all functions are enabled"
unlike "$(cut -d' ' -f1 "$TRACING/enabled_functions")" '^vfs_read$' "notrace alone: the function in notrace is not enabled"
set_to nop current_tracer
set_to "" set_ftrace_notrace

# A change takes effect when the file is closed, as a whole.
set_to vfs_read set_ftrace_filter
set_to function current_tracer
exec 5>> "$F"
echo vfs_open >&5
echo 'vfs_w*' >&5
is "$(cat "$F")" vfs_read "while the file is open nothing changes"
is "$(cut -d' ' -f1 "$TRACING/enabled_functions")" vfs_read "  nor is it enabled"
exec 5>&-
is "$(filtered)" "$(matching '^vfs_(read|open|w.*)$')" "what was written applies when the file is closed"
is "$(cut -d' ' -f1 "$TRACING/enabled_functions" | sort)" "$(filtered)" "  and is enabled"
set_to nop current_tracer

# By number: the line in available_filter_functions.
set_to "" set_ftrace_filter
fifth=$(sed -n 5p "$TRACING/available_filter_functions" | cut -d' ' -f1)
works "a number" write "$F" 5
is "$(filter | cut -d' ' -f1)" "$fifth" "5 is the fifth line of available_filter_functions"

set_to "" set_ftrace_filter
works "pwrite() to a file that is only written" pwrite "$F" "vfs_read
"
is "$(filter)" vfs_read "  counts"

# Refused words. They are appended, so the filter must stay the same. native/tests has all of them.
set_to 'vfs_read vfs_open' set_ftrace_filter
before=$(cat "$F")
long=$(printf '%02000d' 0)
fails_with EINVAL "an unknown name" append "$F" "nosuch_function
"
fails_with EINVAL "a word much too long" append "$F" "$long
"
fails_with EINVAL "an address that is no function" append "$F" "0xffffffff00000000
"
is "$(cat "$F")" "$before" "after all this the filter is what it was"

# A word can be as long as the longest printed symbol, and can have some wildcards as well.
case $(uname -m) in
x86_64) longest=669 ;;
*) longest=653 ;;
esac
stars=$(printf "%$((longest - 8))s" '' | tr ' ' '*')
works "a word of $longest characters" write "$F" "vfs_rea${stars}d"
is "$(cat "$F")" "vfs_read" "  is taken"
fails_with EINVAL "one more is too many" append "$F" "vfs_rea*${stars}d"
set_to "" set_ftrace_filter

done_testing
