/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What callbacks read without a lock and outside of RCU: the filters of the graph tracer
 * (kernel/trace/ftrace/graph_files.c), and the trace array of an ops (instance.c, pid.c).
 *
 * A filter of the graph tracer is replaced. Then somebody calls ftrace_kill(), and the trace array
 * of an ops is freed while sites still call the ops. The two readers are a task that may be
 * preempted in a trampoline, and a CPU that runs a trampoline where RCU does not watch. The stores
 * of the writer become visible late and in any order, unless a barrier or a wait orders them.
 *
 * ftrace_wait_tramps() ends when each context that was in a trampoline has left the trampoline;
 * removal.pml shows this. So a context in a trampoline is what rcu.pml calls a reader. A variant
 * leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS filter_is_there;		/* no callback uses a filter that was freed */
CLAIMS filter_is_whole;		/* ... or that is not complete */
CLAIMS array_is_there;		/* no callback uses a trace array that was freed */

/* Objects: filters 0 and 1, and the trace array. */
#define FILTER(n)	(n)
#define ARRAY		2
#define GRACE		3
#define OBJECTS		4
#define READERS		2
#define UNWATCHED	1

/* x_w is what the writer wrote, x is what readers see. */
bit filter_w, filter;		/* the filter that the graph tracer has */
bit whole_w, whole;		/* filter 1 is complete */
bit gone_w, gone;		/* the ops has ftrace_gone_array */

inline rcu_stores()
{
	filter = filter_w;
	whole = whole_w;
	gone = gone_w
}

#include "rcu.pml"

#define ftrace_wait_tramps	synchronize_rcu

active proctype stores_become_visible()
{
end:	do
	:: atomic { filter != filter_w -> filter = filter_w }
	:: atomic { whole != whole_w -> whole = whole_w }
	:: atomic { gone != gone_w -> gone = gone_w }
	od
}

inline use_filter()
{
	CLAIM(filter_is_there, !freed[FILTER(f)]);
	CLAIM(filter_is_whole, f == 0 || whole)
}

/* synchronize_rcu() would wait only for contexts that RCU watches. */
inline enter_trampoline()
{
#ifdef NO_WAIT_UNWATCHED
	reading[me] = (me != UNWATCHED)
#else
	rcu_read_lock(me)
#endif
}

active [READERS] proctype callback()
{
	byte me = _pid - 1, o;
	bit f, no_array;

end:	do
	::
		enter_trampoline();
		if
		/* ftrace_graph_addr() */
		:: f = filter;
		   atomic { use_filter() }
		   atomic { use_filter() }
		/* ftrace_pid_func(), and the callback that it calls: each reads ->private */
		:: no_array = gone;
		   if
		   :: !no_array ->
			CLAIM(array_is_there, !freed[ARRAY]);
			no_array = gone;
			if
			:: !no_array -> CLAIM(array_is_there, !freed[ARRAY])
			:: no_array
			fi
		   :: no_array
		   fi
		fi;
		atomic {
			f = 0;
			no_array = 0;
			rcu_read_unlock(me) }
	od
}

active proctype writer()
{
	/* graph_replace(), and then graph_free_old() in a work item */
	whole_w = 1;
	atomic {
#ifndef NO_ASSIGN_FILTER
		rcu_stores();
#endif
		filter_w = 1 }
#ifndef NO_WAIT_FILTER
	ftrace_wait_tramps();
#endif
	freed[FILTER(0)] = 1;

	/* ftrace_free_ftrace_ops() after ftrace_kill() */
	gone_w = 1;
#ifndef NO_WAIT_ARRAY
	ftrace_wait_tramps();
#endif
	freed[ARRAY] = 1
}
