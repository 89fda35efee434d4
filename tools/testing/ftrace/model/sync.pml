/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Broadcasts that leave CPUs outside the kernel alone (arch/x86/kernel/ftrace/sync.c).
 *
 * The other models have a broadcast in which each CPU serialises and all its stores become visible.
 * This one shows that a CPU outside the kernel, which is not interrupted, makes no difference: it
 * executes nothing between the broadcast and its entry to the kernel, and serialises there.
 *
 * CPU 0 writes text, and sends a broadcast after that, STEPS times. CPU 1 leaves and enters the
 * kernel, and an NMI hits it anywhere. Text is a number: that of the broadcast before which it was
 * written. CPU 1 fetches text at any time, also outside, and executes what it has fetched at any
 * later time, until it serialises.
 *
 * x_w is what a CPU has written, x is what the other one sees.
 *
 * Outside, CPU 1 may warn: it makes RCU watch, prints, which executes text, and goes on outside.
 *
 * A variant leaves out what a NO_ names. FLAG: a flag for CPU 1 in place of the numbers.
 * HOOK_FIRST: CPU 1 looks before RCU watches it. CALL_FIRST: a warning calls a function with a site
 * before it makes RCU watch.
 */
#include "claim.pml"

#define STEPS		3

CLAIMS text_is_new;		/* no text is executed that is older than the last broadcast */
CLAIMS stores_are_seen;		/* after a broadcast, all is seen that CPU 1 wrote before it */
CLAIMS serialises_once;		/* an entry serialises only if there was a broadcast */

byte text_w, text;		/* written by CPU 0 */
byte steps_w, steps;		/* ftrace_sync_steps; with FLAG: the flag */
byte asked;			/* broadcasts that have begun */
byte done;			/* broadcasts that have ended */
byte count_w, count;		/* written by CPU 1 inside the kernel */

bit watched = 1;		/* RCU watches CPU 1 */
bit ipi, irqs_off, in_nmi;	/* of CPU 1 */
byte got;			/* text that CPU 1 has fetched */
byte synced;			/* ftrace_synced of CPU 1 */
byte steps_then;		/* the number at which CPU 1 last serialised */
bit nested;			/* an NMI or so came: a context may serialise once more than it must */

/* The stores of CPU 0 become visible in any order. */
active proctype stores_become_visible()
{
end:	do
	:: atomic { text != text_w -> text = text_w }
	:: atomic { steps != steps_w -> steps = steps_w }
	:: atomic { count != count_w -> count = count_w }
	od
}

/* CPU 1 fetches. */
active proctype fetches()
{
end:	do
	:: atomic { got != text -> got = text }
	od
}

/* What is fetched after this is what is visible now. */
inline serialise()
{
	got = text;
	count = count_w
}

/* ftrace_sync_entry(), ftrace_sync_now(): what was read stays in "seen". */
inline sync_entry(runs)
{
	atomic { runs -> seen = steps }
	if
#ifdef FLAG
	:: runs && seen ->
		atomic { runs -> serialise() }
		atomic { runs -> steps = 0; steps_w = 0 }
	:: runs && !seen
#else
	:: runs && seen != synced ->
		atomic { runs ->
			CLAIM(serialises_once, nested || steps != steps_then);
			serialise() }
		atomic { runs ->
			steps_then = seen;
#ifndef NO_REMEMBER
			synced = seen
#endif
			}
	:: runs && seen == synced
#endif
	fi
}

#define EXECUTES	CLAIM(text_is_new, got >= done)

/* The interrupt of a broadcast. It also comes if the CPU has left the kernel meanwhile. */
active proctype interrupts()
{
end:	do
	:: atomic { !in_nmi && !irqs_off && ipi -> serialise(); steps_then = steps; synced = steps; ipi = 0 }
	od
}

active proctype task()
{
	byte seen;

end:	do
	/* In the kernel. */
	:: atomic { !in_nmi -> EXECUTES }
	:: atomic { !in_nmi && count_w < 2 -> count_w++ }
	/* Leave the kernel, and come back. */
	:: atomic { !in_nmi -> watched = 0;
#ifndef NO_MB_EXIT
		count = count_w
#endif
		}
		/* warn_rcu_enter(), printk() and warn_rcu_exit(), with interrupts off or on. */
		if
		:: irqs_off = 1
		:: nested = 1
		:: goto enters
		fi;
#ifdef CALL_FIRST
		atomic { !in_nmi -> EXECUTES }
#endif
		atomic { !in_nmi -> watched = 1 }
#ifndef NO_WARN_ENTRY
		sync_entry(!in_nmi);
#endif
		atomic { !in_nmi -> EXECUTES }
		atomic { !in_nmi -> watched = 0; count = count_w; irqs_off = 0; seen = 0 }
enters:
		atomic { !in_nmi -> irqs_off = 1 }
#ifdef HOOK_FIRST
		sync_entry(!in_nmi);
		atomic { !in_nmi -> watched = 1 }
#else
		atomic { !in_nmi -> watched = 1 }
#ifndef NO_ENTRY
		sync_entry(!in_nmi);
#endif
#endif
		atomic { !in_nmi -> irqs_off = 0; seen = 0 }
	od
}

active proctype nmi()
{
	byte seen;
	bit before;

end:	do
	:: atomic { !in_nmi -> in_nmi = 1; nested = 1; before = watched; watched = 1 }
#ifdef NO_NMI_HOOK
		if
		:: !before -> sync_entry(true)
		:: before
		fi;
#else
#ifndef NO_ENTRY
		sync_entry(true);
#endif
#endif
		atomic { EXECUTES }
		atomic { count = count_w; watched = before; before = 0; seen = 0; in_nmi = 0 }
	od
}

active proctype patcher()
{
	bit inside;
	byte wrote;

	do
	:: asked < STEPS ->
		text_w = asked + 1;
		wrote = count_w;
#ifdef NO_STEP_FIRST
		inside = watched;
#endif
		atomic {
#ifndef NO_MB_TEXT
			text = text_w;
#endif
			asked++;
#ifdef FLAG
			steps_w = 1
#else
			steps_w = asked
#endif
		}
#ifndef NO_MB_STEPS
		atomic { text = text_w; steps = steps_w }
#endif
#ifndef NO_STEP_FIRST
		inside = watched;
#endif
		if
		:: inside -> ipi = 1; !ipi
		:: !inside
		fi;
		atomic {
			CLAIM(stores_are_seen, count >= wrote);
			done = asked;
			inside = 0;
			wrote = 0 }
	:: else -> break
	od
}
