/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The function profiler: when a CPU counts, and when its records are reset
 * (kernel/trace/ftrace/profile.c).
 *
 * The profiler is switched on and off, then on with an error, and on again. A CPU has one record. A task and an NMI on
 * this CPU call a function each, and count the call if the record is or becomes that of their
 * function. The stores of the CPU that switches the profiler become visible late and in any
 * order, unless a barrier or a grace period orders them.
 *
 * The writer holds profile_mutex. A variant leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS records_are_there;	/* no CPU counts before it has records */
CLAIMS record_is_right;		/* a call counts in the record of its function */

/* The objects are only there to be waited for: records are never freed. */
#define GRACE		0
#define OBJECTS		1
#define READERS		2
#define TASK		0
#define NMI		1

/* x_w is what the writer wrote, x is what the CPU sees. */
bit profiling_w, profiling;
bit records_w, records;		/* the CPU has its records, and knows how many */
bit reset_w;			/* the writer has written zeros into the record */

#define FUNCTION(context)	((context) + 1)
byte ip;			/* the function of the record; 0: none */
byte counted;			/* the function whose calls were counted in it; 0: none */
bit in_nmi;

inline record_becomes_zero()
{
	ip = (reset_w -> 0 : ip);
	counted = (reset_w -> 0 : counted);
	reset_w = 0
}

inline rcu_stores()
{
	profiling = profiling_w;
	records = records_w;
	record_becomes_zero()
}

#include "rcu.pml"

active proctype stores_become_visible()
{
end:	do
	:: atomic { profiling != profiling_w -> profiling = profiling_w }
	:: atomic { records != records_w -> records = records_w }
	:: atomic { reset_w -> record_becomes_zero() }
	od
}

/* The context is not interrupted by the NMI, or is the NMI. */
#define RUNS	(in_nmi == me)

/* ftrace_profile_hit() */
active [READERS] proctype hits()
{
	byte me = _pid - 1, taken, o;
	bit on, there;

end:	do
	:: atomic { (me == NMI || RUNS) ->
		in_nmi = me;
#ifndef NO_IRQS_OFF
		rcu_read_lock(me)
#endif
		}
		/* profile_this() */
#ifdef NO_ACQUIRE_PROFILING
		atomic { RUNS -> there = records }
		atomic { RUNS -> on = profiling }
#else
		atomic { RUNS -> on = profiling }
		atomic { RUNS -> there = records }
#endif
		if
		:: on ->
			/* profile_find_record() */
			atomic { RUNS -> CLAIM(records_are_there, there); taken = ip }
			if
			:: !taken ->
				/* cmpxchg_local() */
				atomic { RUNS ->
#ifndef NO_CMPXCHG
					taken = ip;
#endif
					if
					:: !taken -> ip = FUNCTION(me); taken = ip
					:: else
					fi }
			:: taken
			fi;
			atomic { RUNS ->
				if
				:: taken == FUNCTION(me) ->
					CLAIM(record_is_right, ip == taken);
					CLAIM(record_is_right, !counted || counted == taken);
					counted = taken
				:: else
				fi }
		:: !on
		fi;
		atomic { RUNS ->
			on = 0;
			there = 0;
			taken = 0;
#ifndef NO_IRQS_OFF
			rcu_read_unlock(me);
#endif
			in_nmi = 0 }
	od
}

inline switch_on()
{
	/* profile_reset() */
	reset_w = records_w;
	records_w = 1;
	atomic {
#ifndef NO_RELEASE_PROFILING
		rcu_stores();
#endif
		profiling_w = 1 }
}

inline switch_off(n)
{
	profiling_w = 0;
#ifdef NO_WAIT_OFF
	if
	:: n != NO_WAIT_OFF -> synchronize_rcu()
	:: else
	fi
#else
	synchronize_rcu()
#endif
}

active proctype writer()
{
	switch_on();
	switch_off(1);
	switch_on();
	/* An error of profile_start(). */
	switch_off(2);
	switch_on()
}
