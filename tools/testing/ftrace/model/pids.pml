/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pid filter: lists of tasks, and a verdict on the task of each CPU (kernel/trace/ftrace/pid.c
 * and pid_files.c).
 *
 * A list is written, but the ops cannot be changed, so the write fails. A second list is written,
 * a third list takes its place, and then there is no list. Then the lists no longer follow forks,
 * event_trace_del_tracer() waits, and the trace array is freed. One CPU switches tasks and executes
 * programs, and another CPU forks. The stores of the writer become visible late and in any order,
 * unless a barrier or a wait orders them.
 *
 * The filter is one list. What it says about a task is the number of the list. A hook is in a
 * tracepoint, which tracepoint_synchronize_unregister() waits for. The model does not use that on
 * some versions a tracepoint has preemption off. The switch has interrupts off; a task that executes
 * a program switches them off, or the interrupt of the writer would come between what the hook reads
 * and what it stores.
 *
 * The writer holds pid_mutex, and drops it before it waits. A variant leaves out what a NO_ names,
 * or the wait in call number NO_WAIT_DROP of pid_drop_lists(). In the variant NO_LATE_VERDICT all
 * tasks are traced before the wait.
 */
#include "claim.pml"

CLAIMS list_is_there;		/* no hook looks at a list that was freed */
CLAIMS list_is_whole;		/* ... or that is not complete */
CLAIMS array_is_there;		/* no hook uses a trace array that was freed */
CLAIMS verdict_is_new;		/* after a write, the verdict is that of the new list */
CLAIMS verdict_is_trace;	/* after the last list, it is that all tasks are traced */

/* Objects. Lists are numbered from 1; list 0 is none. */
#define ARRAY		0
#define LISTS		3
#define GRACE		4
#define OBJECTS		5
#define READERS		2
#define SWITCH		0
#define FORK		1

/* Verdicts: the number of a list, or one of these. */
#define IGNORE		(LISTS + 1)	/* FTRACE_PID_IGNORE */
#define TRACE		(LISTS + 2)	/* FTRACE_PID_TRACE */
#define NOTHING		(LISTS + 3)	/* nothing was written */

/* x_w is what the writer wrote, x is what others see. */
byte list_w, list;			/* the list that was published */
bit whole_w[LISTS + 1], whole[LISTS + 1];
byte verdict_w = NOTHING, verdict = TRACE;	/* the CPU writes its verdict, too */

bit hooked, followed = 1;		/* the hooks of the switch and of forks are registered */
bit in_hook[READERS], awaited[READERS];
bit ipi;
byte promised = TRACE;			/* the verdict that functions must find; or NOTHING */

inline rcu_stores()
{
	list = list_w;
	for (i : 1 .. LISTS) {
		whole[i] = whole_w[i]
	}
	i = 0;
	verdict_becomes_visible()
}

inline verdict_becomes_visible()
{
	verdict = (verdict_w == NOTHING -> verdict : verdict_w);
	verdict_w = NOTHING
}

#include "rcu.pml"

active proctype stores_become_visible()
{
end:	do
	:: atomic { list != list_w -> list = list_w }
	:: atomic { whole[1] != whole_w[1] -> whole[1] = whole_w[1] }
	:: atomic { whole[2] != whole_w[2] -> whole[2] = whole_w[2] }
	:: atomic { whole[3] != whole_w[3] -> whole[3] = whole_w[3] }
	:: atomic { verdict_w != NOTHING -> verdict_becomes_visible() }
	od
}

inline look_at(l)
{
	CLAIM(list_is_there, !l || !freed[l]);
	CLAIM(list_is_whole, !l || whole[l])
}

inline leave_hook(hook)
{
	in_hook[hook] = 0;
	awaited[hook] = 0
}

inline pid_check_current()
{
	look_at(list);
	verdict = list;
	ipi = 0
}

/* The CPU that switches tasks: one step after the other, and functions of the tasks in between. */
active proctype cpu()
{
	byte l, o;

end:	do
	/* pid_check_next() and pid_check_exec() */
	:: atomic { hooked -> in_hook[SWITCH] = 1; rcu_read_lock(SWITCH) }
		l = list;
#ifdef NO_IRQS_OFF
		atomic { if :: ipi -> pid_check_current() :: skip fi }
#endif
		atomic { look_at(l); CLAIM(array_is_there, !freed[ARRAY]); verdict = l }
		atomic { l = 0; rcu_read_unlock(SWITCH); leave_hook(SWITCH) }
	:: atomic { ipi -> pid_check_current() }
	/* ftrace_pid_func() */
	:: atomic { promised == TRACE -> CLAIM(verdict_is_trace, verdict == TRACE) }
	:: atomic { promised < IGNORE -> CLAIM(verdict_is_new, verdict == promised) }
	od
}

/* pid_follow_fork() */
active proctype forks()
{
	byte l, o;

end:	do
	:: atomic { followed -> in_hook[FORK] = 1 }
		/* pid_follow() */
#ifndef NO_PREEMPT_OFF
		rcu_read_lock(FORK);
#endif
		atomic { CLAIM(array_is_there, !freed[ARRAY]); l = list }
		atomic { look_at(l) }
		atomic {
			l = 0;
#ifndef NO_PREEMPT_OFF
			rcu_read_unlock(FORK);
#endif
			leave_hook(FORK) }
	od
}

inline tracepoint_synchronize_unregister()
{
	atomic {
		rcu_stores();
		awaited[SWITCH] = in_hook[SWITCH];
		awaited[FORK] = in_hook[FORK] }
	!awaited[SWITCH] && !awaited[FORK]
}

/* ftrace_pid_hook() and ftrace_pid_set_all() */
inline pid_begin()
{
	hooked = 1;
	verdict_w = IGNORE
}

inline ftrace_pid_publish(l)
{
	whole_w[l] = 1;
	atomic {
#ifndef NO_ASSIGN_LIST
		rcu_stores();
#endif
		list_w = l }
}

/* on_each_cpu() */
inline ftrace_pid_check()
{
	atomic {
#ifndef NO_MB_CHECK
		rcu_stores();
#endif
#ifndef NO_CHECK
		ipi = 1
#endif
	}
#ifndef NO_WAIT_CHECK
	!ipi
#endif
}

inline wait(n)
{
#ifdef NO_WAIT_DROP
	if
	:: n != NO_WAIT_DROP -> synchronize_rcu()
	:: else
	fi
#else
	synchronize_rcu()
#endif
}

/* pid_drop_lists() of list l, after a write that leaves no list */
inline drop_last(n, l)
{
	hooked = 0;
#ifdef NO_LATE_VERDICT
	verdict_w = TRACE;
	wait(n);
	freed[l] = 1
#else
	wait(n);
	freed[l] = 1;
	verdict_w = TRACE
#endif
}

active proctype writer()
{
	byte i;

	/* pid_set_lists(), with an error of pid_update_ops() */
	promised = NOTHING;
	pid_begin();
	ftrace_pid_publish(1);
	ftrace_pid_check();
	ftrace_pid_publish(0);
	drop_last(1, 1);
	atomic { verdict_w == NOTHING -> promised = TRACE }

	/* The first list. */
	promised = NOTHING;
	pid_begin();
	ftrace_pid_publish(2);
	ftrace_pid_check();
	promised = 2;

	/* Another list. */
	promised = NOTHING;
	ftrace_pid_publish(3);
	ftrace_pid_check();
	promised = 3;
	wait(2);
	freed[2] = 1;

	/* No list. */
	promised = NOTHING;
	ftrace_pid_publish(0);
	drop_last(3, 3);
	atomic { verdict_w == NOTHING -> promised = TRACE }

	/* ftrace_pid_follow_fork(), and then event_trace_del_tracer() */
	followed = 0;
#ifndef NO_WAIT_FOLLOW
	tracepoint_synchronize_unregister();
#endif
	freed[ARRAY] = 1
}
