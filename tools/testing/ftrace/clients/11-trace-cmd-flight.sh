#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace-cmd and the flight recorder: extract writes what the file trace shows, and record follows the
# recorder while a command runs.

. "$(dirname "$0")/tap.sh"
grep -qw flight "$TRACING/available_tracers" || skip_all "this kernel has no flight recorder"
dat=$TMP.dat

# calls: "CPU TIME CALLED <-CALLER" of each call in a trace or in a report, sorted.
calls() {
	sed -n 's/^.*\[\([0-9]*\)\] [^ ]* *\([0-9.]*\): \([a-z_0-9]*\) <-\([a-z_0-9]*\)$/\1 \2 \3 <-\4/p
		s/^.*\[\([0-9]*\)\] *\([0-9.]*\): function: *\([a-z_0-9]*\) <-- \([a-z_0-9]*\)$/\1 \2 \3 <-\4/p' |
		sort
}

ok "start" trace-cmd start -p flight -l 'vfs_*' -l 'ksys_*' -e sched:sched_switch
cat /proc/version > /dev/null
sleep 0.3
cat /proc/version > /dev/null
ok "stop" trace-cmd stop
trace-cmd show > "$TMP.show"
ok "extract" trace-cmd extract -o "$dat"
trace-cmd report -O parent "$dat" > "$TMP.report" 2> "$TMP.said"
is "$(grep -v '^ *$' "$TMP.said")" "" "report finds nothing wrong with the file"
calls < "$TMP.show" > "$TMP.want"
at_least "$(grep -c 'vfs_read <-ksys_read' "$TMP.want")" 4 "the trace has reads"
is "$(calls < "$TMP.report" | diff "$TMP.want" -)" "" "extract writes the calls of the trace, with CPU, time and caller"
like "$(cat "$TMP.report")" 'sched_switch:' "the report has the events, too"
ok "reset" trace-cmd reset
is "$(cat "$TRACING/current_tracer")" nop "no tracer is left"
rm -f "$dat"

ok "record" trace-cmd record -p flight -l 'vfs_*' -l 'ksys_*' -e sched:sched_switch -o "$dat" \
	cat /proc/version /proc/version /proc/version
trace-cmd report -O parent "$dat" > "$TMP.report" 2> "$TMP.said"
is "$(grep -v '^ *$' "$TMP.said")" "" "report finds nothing wrong with what was recorded"
at_least "$(grep '^ *cat-' "$TMP.report" | calls | grep -c 'vfs_read <-ksys_read')" 6 "the command's reads were recorded"
like "$(cat "$TMP.report")" 'sched_switch:' "events were recorded, too"
ok "reset" trace-cmd reset
rm -f "$dat"

# The file is read while it is written: by pages that are full, and by the last one.
for timed in 0 1; do
	[ -e "$TRACING/options/flight-returns" ] || break
	set_to $timed options/flight-time
	set_to 1 options/flight-returns
	ok "record with returns, flight-time $timed" trace-cmd record -p flight -o "$dat" head -n 1 /proc/version
	trace-cmd report "$dat" > "$TMP.report" 2> "$TMP.said"
	is "$(grep -v '^ *$' "$TMP.said")" "" "report finds nothing wrong with it"
	like "$(sed -n '/^ *head-/s/.* funcgraph_[a-z]*: .*|//p' "$TMP.report" | tr '\n' '~')" \
		'~( *)ksys_read\(\) \{~(\1  [^~]*~)*\1  vfs_read\(\) \{~(\1   [^~]*~)*\1  \}~' "the report is a tree"
	like "$(cat "$TMP.report")" 'funcgraph_exit: .* us .*\|' "durations are shown"
	ok "reset" trace-cmd reset
	rm -f "$dat"
done
set_to 0 options/flight-returns
set_to 0 options/flight-time

done_testing
