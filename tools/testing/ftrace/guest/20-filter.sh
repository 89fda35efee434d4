#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 1
#
# set_ftrace_filter and set_ftrace_notrace as a shell writes them, and what is traced then.

. "$(dirname "$0")/tap.sh"

F=$TRACING/set_ftrace_filter
avail=$TMP.avail
grep -v ' ' "$TRACING/available_filter_functions" > "$avail"

filtered() {
	filter | grep -v ' ' | sort
}

works "several names in a write" write "$F" "vfs_read  vfs_open
	vfs_write
"
works "!name" append "$F" "!vfs_open
"
is "$(filtered | joined)" "vfs_read vfs_write" "names are added and taken out"
: > "$F"
is "$(cat "$F")" '#### all functions enabled ####' "opening with truncation clears"
works "pwrite() to a file that is only written" pwrite "$F" "vfs_read
"
is "$(filter)" vfs_read "  counts"
for glob in 'vfs_*' '*_open' '*sched*' 'vfs_[rw]*'; do
	echo "$glob" > "$F"
	regex=$(echo "^$glob\$" | sed 's/\*/.*/g')
	is "$(filtered)" "$(grep -E "$regex" "$avail" | sort)" "a glob names all that grep finds: $glob"
done
fails_with EINVAL "an unknown name" append "$F" "nosuch_function
"

# What is set while the tracer runs takes effect at once.
set_to vfs_read set_ftrace_filter
set_to function current_tracer
record read_bytes 10
is "$(traced)" vfs_read "tracing one function"
set_to vfs_write set_ftrace_filter
record read_bytes 10
is "$(traced)" vfs_write "a new filter while tracing replaces the old one"
set_to 'vfs_*' set_ftrace_filter
set_to vfs_read set_ftrace_notrace
record read_bytes 10
like " $(traced) " ' vfs_write ' "what the filter has and notrace has not is traced"
unlike " $(traced) " ' vfs_read ' "what both have is not"
set_to "" set_ftrace_filter
is "$(grep -c '^vfs_read ' "$TRACING/enabled_functions")" 0 "notrace alone: the function is not enabled"
is "$(wc -l < "$TRACING/enabled_functions")" $(($(wc -l < "$TRACING/available_filter_functions") - 1)) "  all others are"
set_to nop current_tracer
set_to "" set_ftrace_notrace

# A word can be as long as the longest printed symbol, and can have some wildcards as well.
case $(uname -m) in
x86_64) longest=669 ;;
*) longest=653 ;;
esac
stars=$(printf "%$((longest - 8))s" '' | tr ' ' '*')
works "a word of $longest characters" write "$F" "vfs_rea${stars}d"
is "$(cat "$F")" "vfs_read" "  is taken"
fails_with EINVAL "one more is too many" append "$F" "vfs_rea*${stars}d"

done_testing
