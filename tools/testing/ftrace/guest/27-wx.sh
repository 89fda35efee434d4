#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No page of the kernel is writable and executable, also while function tracing changes sites: the kernel walks its page
# tables again and again, while trampolines come and go and all sites change.

. "$(dirname "$0")/tap.sh"

wx=/sys/kernel/debug/check_wx_pages
need $wx

# walks N: how many of N walks find a page that is writable and executable.
walks() {
	bad=0 n=$1
	while [ "$n" -gt 0 ]; do
		grep -q SUCCESS $wx || bad=$((bad + 1))
		n=$((n - 1))
	done
	echo $bad
}

is "$(walks 1)" 0 "nothing is traced: no page is writable and executable"
set_to 'vfs_*' set_ftrace_filter
set_to function current_tracer
is "$(walks 1)" 0 "with a trampoline: none is"

: > "$TMP.changes"
: > "$TMP.tramps"
# One task changes all sites. Another makes and frees trampolines: each instance has ops of its own.
(
	while :; do
		echo > "$TRACING/set_ftrace_filter"
		echo vfs_read > "$TRACING/set_ftrace_filter"
		echo >> "$TMP.changes"
	done
) &
changer=$!
(
	while :; do
		mkdir "$TRACING/instances/wx"
		echo 'vfs_r*' > "$TRACING/instances/wx/set_ftrace_filter"
		echo function > "$TRACING/instances/wx/current_tracer"
		echo nop > "$TRACING/instances/wx/current_tracer"
		rmdir "$TRACING/instances/wx"
		echo >> "$TMP.tramps"
	done
) &
maker=$!
# A slow CPU walks the tables before it has changed a site.
bad=0 tries=0
while [ $tries -lt 40 ] || [ "$(wc -l < "$TMP.changes")" -lt 2 ] || [ "$(wc -l < "$TMP.tramps")" -lt 2 ]; do
	[ $tries -lt 1000 ] || break
	tries=$((tries + 1))
	bad=$((bad + $(walks 1)))
done
is "$bad" 0 "while sites change and trampolines come and go: none is, in $tries walks"
at_least "$(wc -l < "$TMP.changes")" 2 "  and all sites changed meanwhile"
at_least "$(wc -l < "$TMP.tramps")" 2 "  and trampolines were made"
kill $changer $maker
wait $changer $maker 2> /dev/null
set_to nop current_tracer
is "$(walks 1)" 0 "afterwards: none is"

done_testing
