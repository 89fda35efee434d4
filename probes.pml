/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands on functions, and the values that a command has for its functions
 * (kernel/trace/ftrace/probes.c and mapper.c).
 *
 * A command is set on functions 1, 2 and 3. Their values are in one chain of the mapper. A value
 * points to data, as that of an event does, and the data is freed as soon as the value has left
 * the chain. Function 3 loses the command, and then the text of function 2 is freed. Then somebody
 * calls ftrace_kill(), and the trace array of the command is freed while function 1 still calls
 * the command. One reader calls the functions, and may be preempted in the trampoline. Another
 * reader lists the commands. The stores of the writer become visible late and in any order, unless
 * a barrier, a lock, a broadcast or a wait orders them.
 *
 * The writer holds probe_mutex. A variant leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS value_is_there;		/* no reader uses a value that was freed */
CLAIMS value_is_whole;		/* ... or that is not complete */
CLAIMS data_is_there;		/* no reader uses data that was freed */
CLAIMS array_is_there;		/* no command uses a trace array that was freed */

/* Objects. Functions are numbered from 1. Value 0 is the head of the chain, and its end. */
#define FUNCTIONS	3
#define ARRAY		0
#define VALUE(f)	(f)
#define DATA(f)		(FUNCTIONS + (f))
#define GRACE		7
#define OBJECTS		8
#define READERS		2
#define HIT		0
#define SHOW		1

/* x_w is what the writer wrote, x is what readers see. */
byte next_w[FUNCTIONS + 1], next[FUNCTIONS + 1];	/* the chain */
bit whole_w[FUNCTIONS + 1], whole[FUNCTIONS + 1];
bit array_w = 1, array = 1;	/* the command has a trace array */

bit calls[FUNCTIONS + 1];	/* the site of the function calls the command */
bit listed[FUNCTIONS + 1];	/* the function is in the filter of the command; ftrace_lock */
bit ftrace_lock;
byte running;			/* the function that is called, and whose trampoline runs */
bit awaited;

inline rcu_stores()
{
	for (i : 0 .. FUNCTIONS) {
		next[i] = next_w[i];
		whole[i] = whole_w[i]
	}
	i = 0;
	array = array_w
}

#include "rcu.pml"

active [FUNCTIONS + 1] proctype becomes_visible()
{
end:	do
	:: atomic { next[_pid] != next_w[_pid] -> next[_pid] = next_w[_pid] }
	:: atomic { whole[_pid] != whole_w[_pid] -> whole[_pid] = whole_w[_pid] }
	:: atomic { !_pid && array != array_w -> array = array_w }
	od
}

/* mapper_find(), and the use of the value */
inline use_value(function)
{
	do
	:: atomic { value != function ->
		CLAIM(value_is_there, !value || !freed[VALUE(value)]);
		value = next[value];
		if
		:: value ->
			CLAIM(value_is_there, !freed[VALUE(value)]);
			CLAIM(value_is_whole, whole[value])
		:: else -> break
		fi }
	:: value == function ->
		CLAIM(data_is_there, !freed[DATA(function)]);
		break
	od
}

/* probe_hit(), in the functions that have the command */
active proctype hits()
{
	byte value, o;
	bit tr;

end:	do
	::
		atomic {
			if
			:: calls[1] -> running = 1
			:: calls[2] -> running = 2
			:: calls[3] -> running = 3
			fi }
#ifndef NO_PREEMPT_OFF
		rcu_read_lock(HIT);
#endif
		tr = array;
		if
		:: tr ->
			use_value(running);
			CLAIM(array_is_there, !freed[ARRAY])
		:: !tr
		fi;
		atomic {
			value = 0;
			tr = 0;
#ifndef NO_PREEMPT_OFF
			rcu_read_unlock(HIT);
#endif
			running = 0;
			awaited = 0 }
	od
}

/* ftrace_probe_show(), in a reader of set_ftrace_filter */
active proctype shows()
{
	byte function, value, o;

end:	do
	::
		atomic { !ftrace_lock ->
			if
			:: listed[1] -> function = 1
			:: listed[2] -> function = 2
			:: listed[3] -> function = 3
			fi;
			ftrace_lock = 1;
#ifndef NO_RCU_SHOW
			rcu_read_lock(SHOW)
#endif
		}
		use_value(function);
		atomic {
			function = 0;
			value = 0;
#ifndef NO_RCU_SHOW
			rcu_read_unlock(SHOW);
#endif
			ftrace_lock = 0 }
	od
}

/* probe_add_functions(): ftrace_func_mapper_add_ip(), and then probe_set_functions() */
inline add(f)
{
	whole_w[f] = 1;
	next_w[f] = next_w[0];
	atomic {
#ifndef NO_ASSIGN_VALUE
		rcu_stores();
#endif
		next_w[0] = f }
	atomic { !ftrace_lock -> rcu_stores(); listed[f] = 1; calls[f] = 1 }
}

/* event_enable_free(): ftrace_func_mapper_remove_ip(), and then kfree() of the data */
inline free(f)
{
	next_w[0] = next_w[f];
#ifdef NO_GRACE_VALUE
	freed[VALUE(f)] = 1;
#else
	free_rcu(VALUE(f));
#endif
	freed[DATA(f)] = 1
}

/*
 * Until each task has left the callback that the task was in, or was on its way to; removal.pml
 * shows this. The functions that stay have another ops, and are not waited for: the model waits for
 * them, too, but they end.
 */
inline ftrace_ops_stop_wait()
{
	atomic { rcu_stores(); awaited = (running > 0) }
	!awaited
}

active proctype writer()
{
	byte i;

	add(1);
	add(2);
	add(3);

	/* probe_shrink() */
	atomic { !ftrace_lock -> rcu_stores(); listed[3] = 0; calls[3] = 0 }
#ifdef NO_WAIT_TRAMPOLINE
	synchronize_rcu();
#else
#ifndef NO_WAIT_HIT
	ftrace_ops_stop_wait();
#endif
#endif
	free(3);

	/* probe_forget_text(): no task is in the text, nor will be. */
	atomic { running != 2 -> calls[2] = 0 }
#ifdef NO_LIST_FIRST
	free(2);
#endif
	atomic { !ftrace_lock -> rcu_stores(); listed[2] = 0 }
#ifndef NO_LIST_FIRST
	free(2);
#endif

	/* clear_ftrace_function_probes() after ftrace_kill() */
	array_w = 0;
#ifndef NO_WAIT_KILLED
	synchronize_rcu();
#endif
	freed[ARRAY] = 1
}
