/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arenas of trampolines, which are looked up without a lock (arch/x86/kernel/ftrace/tramp.c).
 *
 * Two trampolines fill the first arena, so the third gets a new arena. Then trampolines are freed,
 * the new arena with its only trampoline, and granules are used again. One reader looks up an
 * address, another asks for trampoline number n. The stores of the writer become visible late and
 * in any order, unless a barrier or a grace period orders them.
 *
 * The writer holds ftrace_lock. A variant leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS arena_is_there;		/* no reader uses an arena that was freed */
CLAIMS arena_is_whole;		/* ... or that is not complete */
CLAIMS tramp_is_there;		/* the same for the struct of a trampoline */
CLAIMS tramp_is_whole;
CLAIMS granule_is_there;	/* a reader stays in the owners of the arena */

/* Objects: trampolines 1 to 4, and the second arena. */
#define ARENA		0
#define TRAMPS		4
#define OBJECTS		5
#define READERS		2
#define FINDER		0
#define COUNTER		1

#define GRANULES	2	/* of an arena; each trampoline takes one */
#define AT(arena, granule)	((arena) * GRANULES + (granule))

/* x_w is what the writer wrote, x is what readers see. */
byte owner_w[2 * GRANULES], owner[2 * GRANULES];	/* 0: none */
bit first_w[2 * GRANULES], first[2 * GRANULES];
bit built_w[OBJECTS], built[OBJECTS];
bit listed_w, listed;		/* the second arena is in the list */

inline rcu_stores()
{
	for (i : 0 .. 2 * GRANULES - 1) {
		owner[i] = owner_w[i];
		first[i] = first_w[i]
	}
	for (i : 0 .. OBJECTS - 1) {
		built[i] = built_w[i]
	}
	i = 0;
	listed = listed_w
}

#include "rcu.pml"

active [2 * GRANULES] proctype granule_becomes_visible()
{
end:	do
	:: atomic { owner[_pid] != owner_w[_pid] -> owner[_pid] = owner_w[_pid] }
	:: atomic { first[_pid] != first_w[_pid] -> first[_pid] = first_w[_pid] }
	od
}

active [OBJECTS] proctype object_becomes_visible()
{
	byte me = _pid - 2 * GRANULES;

end:	do
	:: atomic { built[me] != built_w[me] -> built[me] = built_w[me] }
	:: atomic { me == ARENA && listed != listed_w -> listed = listed_w }
	od
}

inline lock(r)
{
#ifndef NO_PREEMPT_OFF
	rcu_read_lock(r)
#else
	skip
#endif
}

inline unlock(r)
{
	atomic {
		arena = 0;
		t = 0;
#ifndef NO_PREEMPT_OFF
		rcu_read_unlock(r)
#endif
	}
}

/* What a reader does with what it found. */
inline use_tramp()
{
	atomic {
		if
		:: t ->
			CLAIM(tramp_is_there, !freed[t]);
			CLAIM(tramp_is_whole, built[t])
		:: else
		fi }
}

inline use_arena()
{
	CLAIM(arena_is_there, !arena || !freed[ARENA]);
	CLAIM(arena_is_whole, !arena || built[ARENA])
}

/*
 * arch_ftrace_tramp_find(). The address lies in the second granule of the first arena, or in the
 * first granule of the second arena.
 */
active proctype finds()
{
	byte t, o, arena;

end:	do
	::
		lock(FINDER);
		if
		:: arena = 0
		:: listed -> arena = 1
		fi;
		atomic {
			use_arena();
			t = owner[AT(arena, 1 - arena)] }
		use_tramp();
		unlock(FINDER)
	od
}

#define WEIGHT(arena)	(first[AT(arena, 0)] + first[AT(arena, 1)])

/* arch_ftrace_tramp_nth() */
active proctype asks_for_nth()
{
	byte t, o, arena, n, at;

end:	do
	::
		lock(COUNTER);
		select(n : 0 .. TRAMPS - 1);
next:		atomic {
			use_arena();
			if
			:: n < WEIGHT(arena) -> goto found
			:: n >= WEIGHT(arena) -> n = n - WEIGHT(arena)
			fi }
		if
		:: !arena && listed -> arena = 1; goto next
		:: arena || !listed -> goto none
		fi;
found:		atomic {
			use_arena();
			/* find_nth_bit() */
			if
			:: n == 0 && first[AT(arena, 0)] -> at = 0
			:: n == first[AT(arena, 0)] && first[AT(arena, 1)] -> at = 1
			:: else -> at = GRANULES
			fi }
		if
#ifndef NO_CHECK_NTH
		:: at == GRANULES
		:: at < GRANULES ->
#else
		:: true ->
#endif
			atomic {
				use_arena();
				CLAIM(granule_is_there, at < GRANULES);
				t = owner[AT(arena, at)] }
			use_tramp()
		fi;
none:		at = 0;
		n = 0;
		unlock(COUNTER)
	od
}

/* arch_ftrace_tramp_make() */
inline make(tramp, a, granule)
{
	built_w[tramp] = 1;
	atomic {
#ifndef NO_MB_POKE
		/* text_poke_copy() takes text_mutex, which is a full barrier on x86. */
		rcu_stores();
#endif
		owner_w[AT(a, granule)] = tramp }
	first_w[AT(a, granule)] = 1
}

/* arch_ftrace_tramp_free() */
inline disown(a, granule)
{
	owner_w[AT(a, granule)] = 0;
	first_w[AT(a, granule)] = 0
}

inline free_arena()
{
	listed_w = 0;
#ifdef NO_GRACE_ARENA
	freed[ARENA] = 1
#else
	free_rcu(ARENA)
#endif
}

inline free_tramp(tramp)
{
#ifdef NO_GRACE_TRAMP
	freed[tramp] = 1
#else
	free_rcu(tramp)
#endif
}

active proctype writer()
{
	byte i;

	make(1, 0, 0);
	make(2, 0, 1);
	/* arena_make() */
	built_w[ARENA] = 1;
	atomic {
#ifndef NO_ASSIGN_ARENA
		rcu_stores();
#endif
		listed_w = 1 }
	make(3, 1, 0);
	disown(0, 1);
	free_tramp(2);
	disown(1, 0);
	free_arena();
	free_tramp(3);
	make(4, 0, 1)
}
