/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU exchanges two rings of the flight recorder, because another CPU takes a snapshot
 * (kernel/trace/ftrace/flight.c, flight_read.c). What is in a ring, flight.pml has.
 *
 * A task and an interrupt record calls; the interrupt may hit anywhere. Another CPU clears the ring,
 * asks for a snapshot, twice, and copies the ring meanwhile. A descriptor is two words, which are
 * exchanged one after the other.
 *
 * A variant leaves out what a NO_ names. TWO_LOOKS: a context looks twice whether it is asked.
 */
#include "claim.pml"

CLAIMS own_ring;	/* nobody reserves a record, or has one to write, in the middle of an exchange */
CLAIMS is_taken;	/* a CPU that is asked exchanges the rings at the next call that interrupts none */
CLAIMS one_ring;	/* what is copied is of one ring */

bit runs;		/* what the CPU runs: 0 the task, 1 the interrupt */
bit off;		/* FTRACE_FLIGHT_RESUME */
bit other;		/* there is a ring to exchange for */
bit asking;		/* the other CPU is in ftrace_flight_exchange() */
byte turns, depth;
byte reserved;		/* records that are not written yet */
bit word[2];		/* which ring is in the descriptor of the CPU */

#define STEP(me)	atomic { runs == me ->

/* flight_resume(); lost is 1 if nothing is recorded. */
inline resume(me)
{
	STEP(me) swaps = other }
#ifndef NO_TURNS
	STEP(me) lost = turns % 2 }
#endif
#ifndef NO_ALONE
	STEP(me) lost = lost || (swaps && depth > 1) }
#endif
	if
	:: !lost ->
#ifdef TWO_LOOKS
		STEP(me) swaps = other }
#endif
		if
		:: swaps ->
			STEP(me) turns++ }
#ifndef NO_PART
			STEP(me) off = 1 }
#endif
			STEP(me) swaps = other; other = 0 }
			STEP(me)
				CLAIM(own_ring, !reserved);
				word[0] = (swaps -> !word[0] : word[0]) }
			STEP(me) word[1] = (swaps -> !word[1] : word[1]) }
			STEP(me) turns++; swaps = 0 }
		:: else
		fi;
		STEP(me) off = 0 }
#ifndef NO_AGAIN
		STEP(me) off = (other -> 1 : off) }
#endif
	:: else
	fi;
}

inline call(me)
{
	/* Only then the call is later than the question. */
	STEP(me) depth++; asked = other && !asking && depth == 1 }
	do
	:: true ->
		STEP(me) closed = off }
		if
		:: closed -> resume(me)
		:: else -> break
		fi;
		if
		:: lost -> break
		:: else
		fi
	od;
	if
	:: !lost ->
		STEP(me)
			CLAIM(own_ring, word[0] == word[1]);
			CLAIM(is_taken, !asked || turns != before);
			reserved++ }
		STEP(me) reserved-- }
	:: else
	fi;
	STEP(me) depth--; swaps = 0; lost = 0; closed = 0; asked = 0 }
}

active proctype task()
{
	bit lost, swaps, closed, asked;
	byte before;

end:	do
	:: STEP(0) before = turns }
		call(0); before = 0
	od
}

active proctype interrupt()
{
	bit lost, swaps, closed, asked;
	byte before;

end:	do
	:: atomic { runs == 0 -> runs = 1; before = turns }
		call(1);
		STEP(1) runs = 0; before = 0 }
	od
}

/* ftrace_flight_clear(), ftrace_flight_exchange() */
active proctype asks()
{
	byte times;

	off = 1;
	do
	:: times == 2 -> break
	:: times < 2 ->
		asking = 1;
		other = 1;
		off = 1;
		asking = 0;
		times++
	od
}

/* flight_copy_cpu() */
active proctype reader()
{
	byte t;
	bit a, b;

	t = turns;
	a = word[0];
	b = word[1];
	atomic {
		if
#ifndef NO_LOOK
		:: t % 2 == 0 && t == turns ->
#else
		:: true ->
#endif
			CLAIM(one_ring, a == b)
		:: else
		fi }
}
