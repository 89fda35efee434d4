/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of the flight recorder on one CPU (kernel/trace/ftrace/flight.c, flight_64.S).
 *
 * A task and an interrupt record calls, each as often as it likes. The interrupt goes on until it
 * returns. On another CPU recording is switched off, and then the ring is read, or freed after a
 * grace period.
 *
 * Laps are counted from 1 to 4, and again from 1. A word is the number of the lap in which it was
 * written; 0 was never written. The reader looks at the parity only. What a record has changes
 * nothing of what contexts do, so one record is watched, which may be any.
 *
 * With TAKE, the watched record is that of a call which returns, and is taken back if it is the last
 * one: a call of the task if TAKE is 0, else of the interrupt. What the record says is whose it is:
 * when somebody has written there, it is another one. To take back other records is as if their
 * calls had not been made. Two laps are enough then. With LIVE, a reader reads while calls and
 * returns are recorded; whose the record is changes nothing of that.
 *
 * A variant leaves out what a NO_ names. GATE_FIRST: a context looks whether recording is off
 * before its window. END_FIRST: where a lap ends is stored before the next lap begins. STORED: a
 * record is taken back by a store. NMI: an NMI hits the interrupt while it gives a record back.
 * Elsewhere an NMI would do nothing that the interrupt does not do to the task.
 */
#include "claim.pml"

CLAIMS own_record;		/* who writes a record has reserved it last */
CLAIMS in_memory;		/* there is memory behind the ring for all who begin a group there */
CLAIMS shown_is_written;	/* what the reader shows was written by who reserved the record last */
CLAIMS shown_is_of_its_lap;	/* what the reader shows was written in the lap that it is shown for */
CLAIMS all_are_shown;		/* what was written in the lap before is shown, if no window is open */
CLAIMS not_freed;		/* nobody writes to a ring that is freed */
CLAIMS stays;			/* what a reader is shown while calls are recorded is not taken back */
CLAIMS one_record;		/* what it is shown has the time of its record */

/*
 * Records of a group, of the ring, and of the memory: each context may begin a group behind the
 * ring. Until the oldest window must be safe, other windows may begin MAX_GROUPS.
 */
#ifdef TAKE
# define GROUP		3
# define MAX_GROUPS	0
#else
# define GROUP		2
#endif
#ifdef NMI
# define CONTEXTS	3
# define MAX_GROUPS	0
#else
# define CONTEXTS	2
# ifndef TAKE
#  define MAX_GROUPS	1
# endif
#endif
#define GROUPS		(CONTEXTS + MAX_GROUPS)
#define RING		(GROUPS * GROUP)
#ifdef NO_BEHIND
# define MEMORY		(RING + GROUP)
#else
# define MEMORY		(RING + CONTEXTS * GROUP)
#endif

byte runs = 3;			/* what the CPU runs: 0 the task, 1 the interrupt, 2 the NMI */
byte next, lap = 1;		/* ftrace_flight_cpu.next: the next record, and the number of the lap */
byte lap_end;			/* where the lap before has ended */
byte depth;			/* windows that are open */
byte groups;			/* begun in other windows than the oldest */
bit off, freed;
bit refusing;			/* the interrupt gives a record back, perhaps with the NMI in it */
byte watched;			/* the record */
byte word, owner;		/* the lap that is in it, and the lap in which it was reserved last */
bit written;			/* by who has reserved it last */
#ifdef TAKE
byte by;			/* the context that has reserved it last */
bit open;			/* it is that of a call that has not returned */
#endif
#ifdef LIVE
byte time;			/* the lap of the time that is in it */
bit lapped;			/* a lap has ended since the reader began */
bit kept;			/* it is before ftrace_flight_cpu.kept, in this lap */
#endif
#ifdef TAKE
# define LAPS		2
#else
# define LAPS		4
#endif

#define NEXT(lap)	(1 + (lap) % LAPS)
#define BEFORE(lap)	(1 + ((lap) + LAPS - 2) % LAPS)

#define STEP(me)	atomic { runs == me ->

/* Write a record. */
inline store(me, at, my_lap)
{
#ifdef LIVE
	STEP(me) time = (at == watched -> my_lap : time) }
#endif
	STEP(me)
#ifdef TAKE
		open = (at == watched -> 0 : open);
#endif
#ifndef LIVE
# ifdef TAKE
		CLAIM(own_record, at != watched || by == me);
# endif
		CLAIM(own_record, at != watched || owner == my_lap);
		CLAIM(not_freed, !freed);
		written = (at == watched -> 1 : written);
#endif
		word = (at == watched -> my_lap : word) }
}

/* flight_refuse() */
inline refuse(me)
{
	STEP(me) refusing = 1; old = next; mine = lap }
	do
	:: begun || mine != my_lap || old - at > GROUP -> break
	:: !begun && mine == my_lap && old - at <= GROUP ->
#ifndef NO_ERASE
		STEP(me)
			word = (watched > at && watched < old -> 0 : word) }
#endif
		STEP(me)
			begun = (next == old && lap == mine);
			next = (begun -> at : next);
#ifndef LIVE
			written = (begun && at == watched -> 1 : written);
#endif
			old = next; mine = lap }
	od;
	STEP(me) refusing = me - 1; begun = 0; old = 0; mine = 0 }
}

/* flight_lap() */
inline end_lap(me)
{
	do
	:: begun || mine != my_lap -> break
	:: !begun && mine == my_lap ->
		STEP(me) old = next; mine = lap }
#ifdef END_FIRST
		STEP(me) lap_end = (mine == my_lap -> old : lap_end) }
#endif
		/* cmpxchg() */
		STEP(me)
			begun = next == old && mine == my_lap && lap == my_lap;
			next = (begun -> 0 : next);
#ifdef LIVE
			lapped = lapped || begun;
			kept = kept && !begun;
#endif
			lap = (begun -> NEXT(my_lap) : lap) }
	od;
#if !defined(END_FIRST) && !defined(LIVE)
	STEP(me) lap_end = (begun -> old : lap_end) }
#endif
#ifndef NO_CLEAR
	/* The next lap may need more of the memory behind the ring than this one. */
	STEP(me) word = (begun && watched >= old -> 0 : word) }
#endif
	begun = 0; old = 0; mine = 0
}

#ifdef LIVE
/* What is recorded next is a return, and what is before it stays. */
inline keep(me)
{
	STEP(me) old = next + !(next % GROUP); mine = lap }
	STEP(me) kept = lap == mine && watched <= old; old = 0; mine = 0 }
}
#endif

/* A call of a traced function, or its return, to the end of its window. If it cannot be recorded, refused is 1. */
inline call(me)
{
#ifdef GATE_FIRST
	STEP(me) closed = off }
	STEP(me) depth++ }
#else
	STEP(me) depth++ }
#endif
	do
	:: true ->
#ifndef GATE_FIRST
		STEP(me) closed = off }
#endif
		if
		:: closed -> break
		:: else
		fi;
#ifdef LIVE
		if
		:: keep(me)
		:: true
		fi;
#endif
		STEP(me)
			at = next; my_lap = lap; next++;
#ifndef LIVE
# ifdef TAKE
			by = (at == watched -> me : by);
# endif
			owner = (at == watched -> my_lap : owner);
			written = (at == watched -> 0 : written);
#endif
			CLAIM(in_memory, at < MEMORY) }
		if
		:: at % GROUP ->
			store(me, at, my_lap);
#ifdef TAKE
			if
			:: me == TAKE && at == watched ->
				STEP(me) open = word == my_lap }
			:: true
			fi;
#endif
			break
		:: else
		fi;
		/* flight_group() */
		STEP(me)
#ifdef NO_DEPTH
			alone = 1
#else
			alone = (depth == 1)
#endif
		}
		STEP(me) refused = (!alone && groups >= MAX_GROUPS) }
		if
		:: refused -> break
		:: else
		fi;
		store(me, at, my_lap);
		STEP(me)
			groups = (alone -> 0 : groups + 1) }
		if
		:: at >= RING ->
			mine = my_lap;
			end_lap(me)
		:: else
		fi
	od;
}

/* ftrace_flight_take_back() */
inline return_from(me)
{
	STEP(me) depth++; closed = off }
	if
	:: !closed ->
		STEP(me)
			old = next; mine = lap;
#ifndef NO_KEPT
# ifdef LIVE
			open = open && !kept;
# endif
#endif
			begun = watched == next - 1 && open && word == lap }
		if
		:: begun ->
#ifndef NO_TAKEN
			STEP(me)
# ifndef LIVE
				CLAIM(own_record, by == me && owner == mine && written);
# endif
				word = 0 }
#endif
			/* cmpxchg() */
			STEP(me)
#ifndef STORED
				begun = next == old && lap == mine;
#endif
				CLAIM(own_record, !begun || (next == watched + 1 && lap == mine));
				next = (begun -> watched : next) }
#ifndef NO_BACK
			STEP(me)
# ifndef LIVE
				CLAIM(own_record, begun || (by == me && owner == mine && written));
# endif
				word = (begun -> word : mine) }
#endif
		:: else
		fi
	:: else
	fi;
	STEP(me) open = 0; old = 0; begun = 0 }
}

inline close_window(me)
{
	STEP(me) depth--; at = 0; my_lap = 0; alone = 0; closed = 0; mine = 0; refused = 0 }
}

active proctype task()
{
	byte at, my_lap, old, mine;
	bit alone, closed, begun, refused;

end:	do
	:: call(0); close_window(0)
#if defined(TAKE) && TAKE == 0
	:: open -> return_from(0); close_window(0)
#endif
	od
}

active proctype interrupt()
{
	byte at, my_lap, old, mine;
	bit alone, closed, begun, refused;

end:	do
	:: atomic { runs == 0 -> runs = 1 }
		do
		:: call(1);
#ifndef NO_SET_BACK
			if
			:: refused -> refuse(1)
			:: else
			fi;
#endif
			close_window(1)
#if defined(TAKE) && TAKE == 1
		:: open -> return_from(1); close_window(1)
		:: STEP(1) runs = 0; open = 0; break }
#else
		:: STEP(1) runs = 0; break }
#endif
		od
	od
}

#ifdef NMI
active proctype nmi()
{
	byte at, my_lap, old, mine;
	bit alone, closed, begun, refused;

end:	do
	:: atomic { runs == 1 && refusing -> runs = 2 }
		do
		:: call(2);
			if
			:: refused -> refuse(2)
			:: else
			fi;
			close_window(2)
		:: STEP(2) runs = 1; break }
		od
	od
}
#endif

/* Recording is switched off. Then the ring is read, or freed after a grace period. */
active proctype other()
{
	byte p_lap, e;
#ifdef LIVE
	byte t;
	bit shown;
#else
	byte p;
	bit quiet;
#endif

#ifdef TAKE
	/* The last record of a group is not taken back. */
	if
	:: watched = 1
	:: watched = RING + 1
# ifndef LIVE
	:: watched = GROUP + 1
	:: watched = RING + GROUP + 1
# endif
	fi;
#else
	select (watched: 0 .. MEMORY - 1);
#endif
	runs = 0;
#ifdef LIVE
	/* flight_snap() */
	atomic {
		lapped = 0; p_lap = lap;
#ifdef NO_HIDDEN
		shown = watched < next
#else
		shown = watched < next - next % GROUP || (kept && watched < next)
#endif
	}
	e = word;
	t = time;
	atomic {
		if
		:: !lapped && shown && e == p_lap ->
			/* In a window it may be about to be written again. */
			CLAIM(stays, word == e || (!word && depth))
		/* flight_reach() */
#ifdef NO_REACHES
		:: !lapped && e && watched >= next && e != p_lap ->
#else
		:: !lapped && e && watched >= next - next % GROUP + GROUP - 1 && e != p_lap ->
#endif
			CLAIM(one_record, t == e)
		:: else
		fi
	}
#else
	off = 1;
	if
	:: true ->
		quiet = !depth;
		/* ftrace_flight_rewind(): the words are copied in any order. */
		do
		:: true ->
			if
			:: atomic { p = next; p_lap = lap } e = lap_end
			:: e = lap_end; atomic { p = next; p_lap = lap }
			fi;
			if
			:: atomic { p == next && p_lap == lap -> break }
			:: atomic { p != next || p_lap != lap -> skip }
			fi
		od;
		/* flight_step() */
		atomic {
			if
#ifdef NO_PARITY
			:: watched < p && word ->
#else
			:: watched < p && word && word % 2 == p_lap % 2 ->
#endif
				CLAIM(shown_is_of_its_lap, word == p_lap);
				CLAIM(shown_is_written, written || owner != p_lap)
#ifdef NO_PARITY
			:: watched >= p && watched < e && word ->
#else
			:: watched >= p && watched < e && word && word % 2 != p_lap % 2 ->
#endif
				CLAIM(shown_is_of_its_lap, word == BEFORE(p_lap));
				CLAIM(shown_is_written, written || owner != BEFORE(p_lap))
			:: quiet && watched >= p && watched >= e && written ->
				CLAIM(all_are_shown, word != BEFORE(p_lap) || owner != word)
#ifdef TAKE
			:: quiet && watched < p && written && owner == p_lap ->
				CLAIM(all_are_shown, word == owner)
#endif
			:: else
			fi }
#ifndef TAKE
	:: true ->
# ifndef NO_GRACE
		/* A window is a reader of RCU. */
		atomic { !depth -> freed = 1 }
# else
		freed = 1
# endif
#endif
	fi
#endif
}
