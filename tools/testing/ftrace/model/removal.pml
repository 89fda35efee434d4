/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Removal: the counters of a callback, and when an ops, a trampoline and its counters are freed
 * (kernel/trace/ftrace/callback.c, dispatch.c, ops.c and counts.c).
 *
 * An ops is removed. It is called by two trampolines: one that a site calls, and one that no site
 * calls any more but that is not freed yet. Three contexts run the site and the trampolines: a
 * task that may be preempted anywhere and go on on another CPU, the idle task of CPU 1, and an NMI
 * on CPU 0. The idle task may be preempted only before it has entered its loop.
 *
 * patch.pml shows how bytes change. Here a site or slot is one instruction: a CPU executes the old
 * instruction or the new one, until the CPU has answered the broadcast after the change.
 *
 * What other CPUs see of a CPU's stores: first the stores of the callback, then that the task has
 * left. The two counters become visible in any order.
 *
 * DIRECT: a direct caller is removed. The site calls its function, which nobody counts. In this way
 *	everything is freed whose owner calls ftrace_wait_tramps() itself.
 * WALK: the ops is one of many, and the trampolines call ftrace_walk_func() instead of slots. What is
 *	called a trampoline here is the array that the function goes through. A task reads the mark of
 *	the callback, counts itself in and reads the mark again. ftrace_callback_shut() sets the mark.
 * KEPT: with WALK, there is no memory for another array: the site goes on calling.
 * APPEND: with WALK, the ops has joined arrays that are there.
 * A variant leaves out what a NO_ names.
 */
#include "claim.pml"

#define CPUS		2
#ifndef PASSES
#define PASSES		1	/* how often each context runs the site */
#endif

CLAIMS ops_is_there;		/* the callback does not use an ops that was freed */
CLAIMS trampoline_is_there;	/* nobody runs a trampoline that was freed */
CLAIMS slot_is_there;		/* no slot of a freed trampoline is switched off */
CLAIMS counters_are_unused;	/* counters that were given back are even, and nobody uses them */
CLAIMS counting_ends;		/* a call that begins after the broadcast is not counted */
CLAIMS callback_is_written;	/* a task that finds a callback in an array finds all of it */
CLAIMS callback_is_seen;	/* after the wait, all is seen that callbacks have written */

/*
 * The batch of the removal changes the site and the slots. A CPU executes the old instructions
 * before the batch, the new instructions after the CPU has answered the last broadcast, and in
 * between either.
 */
bit patched, synced[CPUS];
bit shut;			/* all CPUs have answered */
bit dead_too;			/* the batch contains the slot of the trampoline DEAD */

/* Trampolines. */
#define NONE		0
#define CALLED		1	/* the site calls it until the batch */
#define DEAD		2	/* no site calls it any more */

#define TASK		0
#define IDLE		1
#define NMI		2
#define CONTEXTS	3
#define NOWHERE		CPUS
byte on[CONTEXTS] = NOWHERE;	/* the CPU that runs the context */
byte in[CONTEXTS];		/* the trampoline that the context is in: CALLED, DEAD, or none */
byte wrote_w[CONTEXTS], wrote[CONTEXTS];	/* written by the callback */

byte entered_w[CPUS], entered[CPUS], left_w[CPUS], left[CPUS];
bit ipi[CPUS], must_switch[CPUS];
bit hold;			/* RCU tasks waits for the task */
bit in_idle_loop;		/* PF_IDLE of the boot CPU's idle task */

bit ftrace_lock;
bit ops = 1, counters = 1;
bit tramp[3] = 1, retired[3];
byte users = 3;			/* of the counters: two slots and the ops */
bit in_array = 1, nr = 1;	/* the callback is written, and the number of callbacks has it */

/* All stores of a CPU so far become visible. */
inline stores(cpu)
{
	entered[cpu] = entered_w[cpu];
	callback_stores(cpu);
	left[cpu] = left_w[cpu]
}

/* A task's stores become visible at the latest when the task leaves the CPU. */
inline callback_stores(cpu)
{
	if :: on[TASK] == cpu -> wrote[TASK] = wrote_w[TASK] :: else fi;
	if
	:: cpu == 0 -> wrote[NMI] = wrote_w[NMI]
	:: cpu == 1 -> wrote[IDLE] = wrote_w[IDLE]
	fi
}

#define NO_NMI(cpu)	(on[NMI] != cpu)
#define BUSY(cpu)	(on[TASK] == cpu || on[IDLE] == cpu)
/* The idle task is not preempted in a trampoline, except before it has entered its loop. */
#define MAY_SWITCH(cpu)	(NO_NMI(cpu) && (on[IDLE] != cpu || !in[IDLE] || !in_idle_loop))

proctype runs_contexts(byte cpu)
{
end:	do
	/* The broadcast: the CPU serialises. */
	:: atomic { ipi[cpu] && NO_NMI(cpu) ->
		stores(cpu);
		synced[cpu] = 1;
		ipi[cpu] = 0 }
	/* Stores become visible. */
	:: atomic { entered[cpu] != entered_w[cpu] -> entered[cpu] = entered_w[cpu] }
	:: atomic { left[cpu] != left_w[cpu] ->
#ifndef NO_STORE_ORDER
#ifdef WALK
		entered[cpu] = entered_w[cpu];
#endif
		callback_stores(cpu);
#endif
		left[cpu] = left_w[cpu] }
	/* The scheduler: the context stops, another starts. A switch has a full barrier. */
	:: atomic { MAY_SWITCH(cpu) && (BUSY(cpu) || must_switch[cpu]) ->
		stores(cpu);
		if :: on[TASK] == cpu -> on[TASK] = NOWHERE :: else fi;
		if :: on[IDLE] == cpu -> on[IDLE] = NOWHERE :: else fi;
		must_switch[cpu] = 0 }
	:: atomic { !BUSY(cpu) && on[TASK] == NOWHERE -> on[TASK] = cpu }
	:: atomic { cpu == 1 && !BUSY(cpu) && on[IDLE] == NOWHERE -> on[IDLE] = cpu }
	od
}

/* The context is on a CPU, and is not interrupted by an NMI. */
#define RUNS	(on[me] != NOWHERE && (me == NMI || NO_NMI(on[me])))

/* Is the old instruction executed? */
inline fetch()
{
	if
	:: !patched || !synced[on[me]] || (in[me] == DEAD && !dead_too) -> old = 1
	:: patched && (in[me] != DEAD || dead_too) -> old = 0
	fi
}

proctype context(byte me)
{
	byte passes;
	bit old, late;

	if
	:: in[me] -> goto inside
	:: !in[me]
	fi;
outside:
end:	do
	/* A task sleeps, and the idle task enters its loop. */
	:: atomic { me == TASK && hold -> hold = 0 }
	:: atomic { me == IDLE && !in_idle_loop -> in_idle_loop = 1 }
	:: atomic { me == NMI && passes < PASSES -> on[NMI] = 0; break }
	:: me != NMI && passes < PASSES && RUNS -> break
	od;
	atomic { RUNS ->
		passes++;
		late = shut;
#ifdef KEPT
		old = 1;
#else
		fetch();
#endif
		if
		:: old -> in[me] = CALLED
		:: else
		fi }
	if
	:: !old -> goto returns
	:: old
	fi;

inside:
#ifdef WALK
#ifdef APPEND
	atomic { RUNS ->
		CLAIM(trampoline_is_there, tramp[in[me]]);
		old = nr }
	if
	:: !old -> goto leaves
	:: old
	fi;
	atomic { RUNS -> CLAIM(callback_is_written, in_array) }
#endif
	/* Read the mark, count in, read the mark again, count out in any case. */
#ifndef NO_LOOK_FIRST
	atomic { RUNS ->
		CLAIM(trampoline_is_there, tramp[in[me]]);
		fetch() }
	if
	:: !old -> goto leaves
	:: old
	fi;
#endif
	atomic { RUNS ->
		CLAIM(trampoline_is_there, tramp[in[me]]);
		CLAIM(counters_are_unused, counters);
		CLAIM(counting_ends, !late);
		entered_w[on[me]]++ }
#ifndef NO_COUNT_FIRST
	atomic { RUNS -> fetch() }
#endif
	if
	:: old ->
		atomic { RUNS ->
			CLAIM(ops_is_there, ops);
			wrote_w[me]++ }
	:: !old
	fi;
	atomic { RUNS ->
		CLAIM(counters_are_unused, counters);
		left_w[on[me]]++ }
#elif !defined(DIRECT)
	atomic { RUNS ->
		CLAIM(trampoline_is_there, tramp[in[me]]);
		fetch();
		if
		:: old ->
			CLAIM(counters_are_unused, counters);
			CLAIM(counting_ends, !late);
			entered_w[on[me]]++
		:: else
		fi }
	if
	:: old ->
		atomic { RUNS ->
			CLAIM(ops_is_there, ops);
			wrote_w[me]++ }
		atomic { RUNS ->
			CLAIM(ops_is_there, ops);
			CLAIM(counters_are_unused, counters);
			left_w[on[me]]++ }
	:: !old
	fi;
#endif
#ifdef WALK
leaves:
#endif
	atomic { RUNS ->
		CLAIM(trampoline_is_there, tramp[in[me]]);
		in[me] = 0 }
returns:
	atomic {
		old = 0;
		late = 0;
		if
		:: me == NMI -> on[NMI] = NOWHERE
		:: else
		fi }
	goto outside
}

inline lock()
{
	atomic { !ftrace_lock -> ftrace_lock = 1 }
}

inline unlock()
{
	ftrace_lock = 0
}

inline ftrace_wait_tramps()
{
#ifndef NO_WAIT_BOOT_IDLE
	in_idle_loop;
#endif
#ifndef NO_WAIT_RCU
	/* Each CPU was outside of code that cannot be preempted. */
	atomic {
		must_switch[0] = 1;
		must_switch[1] = 1 }
	!must_switch[0] && !must_switch[1];
#endif
#ifndef NO_WAIT_TASKS
	/* Each task, except idle tasks, sleeps or is in user space. */
#ifdef WITH_TASK
	hold = 1;
#endif
	!hold;
#endif
}

/* ftrace_callback_put(), and ftrace_count_put() */
inline put()
{
	atomic {
		users--;
		if
		:: !users ->
			CLAIM(counters_are_unused, entered_w[0] + entered_w[1] == left_w[0] + left_w[1]);
			counters = 0
		:: else
		fi }
}

/* dispatch_free_dead(): takes all trampolines that were retired, and waits once for all of them. */
proctype work()
{
	bit mine[3];
	byte t;

end:	do
	:: atomic { !ftrace_lock && (retired[CALLED] || retired[DEAD]) ->
		for (t : CALLED .. DEAD) {
			mine[t] = retired[t];
			retired[t] = 0
		}
		t = CALLED }
		ftrace_wait_tramps();
		do
		:: t <= DEAD && mine[t] ->
			/* dispatch_free() */
#ifndef NO_LOCK_FREE
			lock();
#endif
			tramp[t] = 0;
			put();
#ifndef NO_LOCK_FREE
			unlock();
#endif
			mine[t] = 0;
			t++
		:: t <= DEAD && !mine[t] -> t++
		:: else -> break
		od;
		t = 0
	od
}

/* The batch, and its last broadcast. */
inline patch()
{
	atomic {
#ifdef WALK
		dead_too = 1;	/* both arrays lead to the mark */
#elif !defined(DIRECT)
		CLAIM(slot_is_there, !dead || tramp[DEAD]);
		dead_too = dead;
#endif
		patched = 1;
#ifndef NO_BROADCAST
		ipi[0] = 1;
		ipi[1] = 1
#endif
	}
	!ipi[0] && !ipi[1];
#ifndef NO_BROADCAST
	shut = 1
#endif
}

/* ftrace_callback_drain() */
inline wait_callback()
{
#ifdef NO_MB_WAIT
	atomic {
		seen[TASK] = wrote[TASK];
		seen[IDLE] = wrote[IDLE];
		seen[NMI] = wrote[NMI] }
#endif
#ifdef WALK
	do
	:: sum = 0;
#ifdef NO_LEFT_FIRST
	   sum = entered[0];
	   sum = sum + entered[1];
#endif
	   gone = left[0];
	   gone = gone + left[1];
#ifndef NO_LEFT_FIRST
	   sum = entered[0];
	   sum = sum + entered[1];
#endif
	   if
	   :: gone == sum -> break
	   :: else -> gone = 0
	   fi
	od;
#else
	/* After the batch no task enters, and this sum stays. */
	sum = entered[0];
	sum = sum + entered[1];
	do
	:: gone = left[0];
	   gone = gone + left[1];
	   if
	   :: gone == sum -> break
	   :: else -> gone = 0
	   fi
	od;
#endif
	atomic {
#ifndef NO_MB_WAIT
		seen[TASK] = wrote[TASK];
		seen[IDLE] = wrote[IDLE];
		seen[NMI] = wrote[NMI];
#endif
		CLAIM(callback_is_seen, seen[TASK] == wrote_w[TASK]);
		CLAIM(callback_is_seen, seen[IDLE] == wrote_w[IDLE]);
		CLAIM(callback_is_seen, seen[NMI] == wrote_w[NMI]);
		sum = 0;
		gone = 0 }
}

/* unregister_ftrace_function(), unregister_ftrace_direct() */
proctype unregisters()
{
	byte sum, gone, seen[CONTEXTS];
	bit dead;

	lock();
#ifdef APPEND
	/* walk_add() */
#ifdef NO_ENTRY_FIRST
	nr = 1;
#endif
	in_array = 1;
	nr = 1;
#endif
#ifndef NO_DEAD_SLOTS
	dead = tramp[DEAD];
#endif
	patch();
#if !defined(DIRECT) && !defined(KEPT)
	retired[CALLED] = 1;
#endif
	unlock();

#ifdef DIRECT
#ifndef NO_WAIT_DIRECT
	ftrace_wait_tramps();
#endif
	tramp[CALLED] = 0
#else
#ifdef NO_WAIT_COUNTERS
	users = 1;
	put();
#endif
#ifndef NO_WAIT_CALLBACK
	wait_callback();
#endif
	ops = 0;
	lock();
	put();
	unlock()
#endif
}

init {
	atomic {
#ifdef APPEND
		in_array = 0;
		nr = 0;
#endif
#ifndef DIRECT
		retired[DEAD] = 1;
		run work();
#endif
#ifdef WITH_TASK
#ifndef DIRECT
		if :: in[TASK] = DEAD :: skip fi;
#endif
		run context(TASK);
#endif
#ifdef WITH_IDLE
#ifndef DIRECT
		if :: in[IDLE] = DEAD :: skip fi;
#endif
		run context(IDLE);
#else
		in_idle_loop = 1;
#endif
#ifdef WITH_NMI
		run context(NMI);
#endif
		run runs_contexts(0);
		run runs_contexts(1);
		run unregisters()
	}
}
