/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of functions whose init text was freed, which kallsyms reads without a lock
 * (kernel/trace/ftrace/kallsyms.c).
 *
 * The names of two functions of a module are put into the list. The module is unloaded: the names
 * leave the list and are freed, and then the module itself, whose name the readers print. The
 * stores of the writer become visible late and in any order, unless a barrier or a grace period
 * orders them.
 *
 * The writer holds ftrace_lock. A variant leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS name_is_there;		/* no reader uses a name that was freed */
CLAIMS name_is_whole;		/* ... or that is not complete */
CLAIMS module_is_there;		/* no reader uses a module that was freed */

/* Objects. Name 0 is the head of the list, and the end of the list. */
#define MODULE		0
#define NAMES		2
#define OBJECTS		3
#define READERS		2

/* x_w is what the writer wrote, x is what readers see. */
byte next_w[NAMES + 1], next[NAMES + 1];
bit whole_w[NAMES + 1], whole[NAMES + 1];

inline rcu_stores()
{
	for (i : 0 .. NAMES) {
		next[i] = next_w[i];
		whole[i] = whole_w[i]
	}
	i = 0
}

#include "rcu.pml"

active [NAMES + 1] proctype becomes_visible()
{
end:	do
	:: atomic { next[_pid] != next_w[_pid] -> next[_pid] = next_w[_pid] }
	:: atomic { whole[_pid] != whole_w[_pid] -> whole[_pid] = whole_w[_pid] }
	od
}

/* ftrace_mod_address_lookup() */
active [READERS] proctype reader()
{
	byte me = _pid - (NAMES + 1), name, o;

end:	do
	::
#ifndef NO_PREEMPT_OFF
		rcu_read_lock(me);
#endif
		do
		:: atomic {
			CLAIM(name_is_there, !name || !freed[name]);
			name = next[name];
			if
			:: name ->
				CLAIM(name_is_there, !freed[name]);
				CLAIM(name_is_whole, whole[name])
			:: else -> break
			fi }
		:: name -> CLAIM(module_is_there, !freed[MODULE])
		od;
#ifndef NO_PREEMPT_OFF
		rcu_read_unlock(me)
#endif
	od
}

inline add(name)
{
	whole_w[name] = 1;
	atomic {
#ifndef NO_ASSIGN_NAME
		rcu_stores();
#endif
		next_w[name - 1] = name }
}

inline del(name)
{
	next_w[0] = next_w[name];
#ifdef NO_GRACE_NAME
	freed[name] = 1
#else
	free_rcu(name)
#endif
}

active proctype writer()
{
	byte i;

	/* ftrace_save_init_names() */
	add(1);
	add(2);
	/* ftrace_drop_init_names() */
	del(1);
	del(2);
	/* free_module() calls synchronize_rcu() before it frees the module. */
#ifdef NO_GRACE_MODULE
	freed[MODULE] = 1
#else
	free_rcu(MODULE)
#endif
}
