/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters, which the graph tracer reads without a lock: hash.c, wants.c and filter.c of
 * kernel/trace/ftrace/.
 *
 * A filter with one function is replaced by a filter with a function of a module. Then the text of
 * the module is freed, and its function leaves the filter. A filter without functions means all
 * functions, unless it has a flag. So the filter gets the flag before it loses the function. The
 * stores of the writer become visible late and in any order, unless a barrier or a grace period
 * orders them.
 *
 * The writer holds ftrace_lock. A reader reads the count before the flag; see ftrace_hash_empty().
 * A variant leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS filter_is_there;		/* no reader uses a filter that was freed */
CLAIMS filter_is_whole;		/* ... or that is not complete */
CLAIMS entry_is_there;		/* no reader uses an entry that was freed */
CLAIMS not_all_functions;	/* no reader takes the filter for one without functions */

/* Objects: filters 0 and 1, each with one entry. */
#define ENTRY(filter)	(2 + (filter))
#define OBJECTS		4
#define READERS		2

/* x_w is what the writer wrote, x is what readers see. */
bit filter_w, filter;				/* the filter that the ops has */
bit whole_w[2], whole[2];			/* its memory is complete */
bit linked_w[2] = 1, linked[2] = 1;		/* the entry is in its bucket */
bit count_w[2] = 1, count[2] = 1;
bit flag_w, flag;				/* FTRACE_HASH_FL_MOD of filter 1 */

inline rcu_stores()
{
	filter = filter_w;
	whole[1] = whole_w[1];
	linked[1] = linked_w[1];
	count[1] = count_w[1];
	flag = flag_w
}

#include "rcu.pml"

active proctype stores_become_visible()
{
end:	do
	:: atomic { filter != filter_w -> filter = filter_w }
	:: atomic { whole[1] != whole_w[1] -> whole[1] = whole_w[1] }
	:: atomic { linked[1] != linked_w[1] -> linked[1] = linked_w[1] }
	:: atomic { count[1] != count_w[1] -> count[1] = count_w[1] }
	:: atomic { flag != flag_w -> flag = flag_w }
	od
}

inline use_filter()
{
	CLAIM(filter_is_there, !freed[f]);
	CLAIM(filter_is_whole, f == 0 || whole[f])
}

/* ftrace_hash_wants() */
active [READERS] proctype reader()
{
	byte me = _pid - 1, o;
	bit f, some, entry;

end:	do
	::
#ifndef NO_PREEMPT_OFF
		rcu_read_lock(me);
#endif
		f = filter;
		/* ftrace_hash_empty() */
		atomic { use_filter(); some = count[f] }
		if
		:: some
		:: !some -> atomic { use_filter(); CLAIM(not_all_functions, f == 1 && flag) }
		fi;
		/* ftrace_lookup_ip() */
		atomic { use_filter(); entry = linked[f] }
		atomic {
			if
			:: entry -> CLAIM(entry_is_there, !freed[ENTRY(f)])
			:: else
			fi;
			f = 0;
			some = 0;
			entry = 0;
#ifndef NO_PREEMPT_OFF
			rcu_read_unlock(me)
#endif
		}
	od
}

active proctype writer()
{
	/* ftrace_ops_update_hash() */
	whole_w[1] = 1;
	atomic {
#ifndef NO_ASSIGN_FILTER
		rcu_stores();
#endif
		filter_w = 1 }
#ifdef NO_GRACE_FILTER
	freed[0] = 1;
	freed[ENTRY(0)] = 1;
#else
	free_rcu(0);
	free_rcu(ENTRY(0));
#endif

	/* filter_forget_range() */
	flag_w = 1;
#ifndef NO_WMB_FLAG
	atomic { rcu_stores() }
#endif
	linked_w[1] = 0;
	count_w[1] = 0;
#ifdef NO_GRACE_ENTRY
	freed[ENTRY(1)] = 1
#else
	free_rcu(ENTRY(1))
#endif
}
