/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counter of a command that switches tracing, as "traceoff:3"
 * (command_switch_tracing() in kernel/trace/ftrace/probe_commands.c).
 *
 * Two CPUs call a function with the command, and a user switches tracing on again. CPUs that turn
 * tracing off together have turned it off once. The stores of a CPU become visible late, unless a
 * barrier is between them. The model does not use the barriers of tracer_tracing_off().
 *
 * A variant leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS counted_once;		/* what turned tracing off once is not counted twice */

#define CPUS		2
#define CALLS		2	/* of the function, on each CPU */
#define COUNT		3

byte counter = COUNT;
bit tracing = 1;
byte switches;			/* how often tracing was turned off */
bit off_w[CPUS];		/* the CPU has written that tracing is off */
bit busy[CPUS];

inline off_becomes_visible(cpu)
{
	switches = switches + (off_w[cpu] && tracing);
	tracing = tracing && !off_w[cpu];
	off_w[cpu] = 0
}

active [CPUS] proctype stores_become_visible()
{
end:	do
	:: atomic { off_w[_pid] -> off_becomes_visible(_pid) }
	od
}

active [CPUS] proctype calls()
{
	byte me = _pid - CPUS, left, n;
	bit on;

end:	do
	:: atomic { n < CALLS -> n++; busy[me] = 1 }
		/* command_switch_tracing() */
#ifdef NO_ACQUIRE_COUNTER
		on = tracing && !off_w[me];
		left = counter;
#else
		left = counter;
		on = tracing && !off_w[me];
#endif
		if
		:: left && on ->
			off_w[me] = 1;
			/* cmpxchg() */
			atomic {
#ifndef NO_MB_CMPXCHG
				off_becomes_visible(me);
#endif
				counter = (counter == left -> left - 1 : counter) }
		:: else
		fi;
		atomic {
			left = 0;
			on = 0;
			busy[me] = 0 }
	od
}

active proctype user()
{
end:	do
	:: atomic { !tracing -> tracing = 1 }
	od
}

active proctype looks()
{
end:	do
	:: atomic { !busy[0] && !busy[1] && !off_w[0] && !off_w[1] ->
		CLAIM(counted_once, COUNT - counter <= switches) }
	od
}
