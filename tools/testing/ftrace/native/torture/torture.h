/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the torture test share.
 *
 * Callers call traced functions. Workers change what these functions call. A view says what an
 * ops must do at this moment: its worker writes the view before and after each change, and a
 * caller reads the view before and after each call.
 */
#ifndef _NATIVE_TORTURE_H
#define _NATIVE_TORTURE_H

#include <linux/ftrace.h>
#include <linux/sched.h>

#include "../shim/native.h"

/*
 * The functions: some of the program, which the compiler has aligned; some of a module that
 * stays, whose sites lie across cache lines and pages; and those of modules that come and go.
 */
#define NR_KERNEL	16
#define NR_PLACED	40
#define NR_FUNCS	(NR_KERNEL + NR_PLACED)
#define NR_MODS		4
#define MOD_FUNCS	8

/* A bit for each function, and one for all functions of a module. */
typedef u64 funcs_t;
#define MOD_BIT(m)	(1ULL << (NR_FUNCS + (m)))
#define ALL_FUNCS	((1ULL << (NR_FUNCS + NR_MODS)) - 1)

/*
 * The ops. Only one ops of a function can change the instruction pointer or be a direct
 * caller, so each of these has functions of its own. A crowd is more ops than a trampoline has
 * slots, on a few functions.
 */
#define NR_PLAIN	16
#define NR_DIRECT	4
#define NR_IPMOD	4
#define NR_CROWD	72
#define FIRST_DIRECT	NR_PLAIN
#define FIRST_IPMOD	(FIRST_DIRECT + NR_DIRECT)
#define FIRST_CROWD	(FIRST_IPMOD + NR_IPMOD)
#define NR_OPS		(FIRST_CROWD + NR_CROWD)

#define PER_OWNER	4
#define OWN_FUNCS(n)	(0xfULL << (NR_KERNEL + PER_OWNER * (n)))
#define CROWD_FUNCS	OWN_FUNCS(9)
/* No other ops is on the functions of the first direct caller, so their sites call it. */
#define LONE_FUNCS	OWN_FUNCS(0)
#define LONE_GLOB	"torture_0[0-3]"

/* These are in the image of the program, so nobody waits when they are removed. */
static inline bool is_static(unsigned int n)
{
	return n < NR_PLAIN && n & 4;
}

/**
 * struct view - what an ops does
 * @ver: odd while the ops is being changed
 * @to_now: of a direct caller: which of its two functions
 * @to_next: the same, if the change succeeds
 * @now: functions that call the ops
 * @next: functions that call the ops if the change succeeds; valid while @ver is odd
 */
struct view {
	u32		ver;
	u8		to_now, to_next;
	funcs_t		now, next;
} ____cacheline_aligned;

extern struct view views[NR_OPS];
/* ->now is not 0 if tracing is switched off. */
extern struct view off_view;

/*
 * For some time, one worker changes a few functions as fast as it can, and callers call only these.
 * Then an instruction that is not written as it must be can be seen.
 */
extern funcs_t torture_focus;

/* How many tasks are in the callback of an ops, or in the function of a direct caller. */
extern atomic_t inside[NR_OPS];

/* What a call did. */
struct frame {
	struct frame	*outer;
	unsigned long	ip;
	funcs_t		bit;			/* of the function */
	const long	*args;
	u64		seq;			/* of the last callback */
	long		result;			/* that an IPMODIFY ops added */
	u8		hits[NR_OPS];
	u8		hits_other[NR_DIRECT];	/* the other function of a direct caller */
};

/* A run goes on until it has so many of these for each second that it was asked for. */
#define COUNTS(c)						\
	c(calls,		1000)				\
	c(steady,		1000)	/* nothing changed */	\
	c(during,		10)	/* an ops was changing */ \
	c(old,			5)	/* and did what it did before */ \
	c(new,			5)	/* and did what it does then */	\
	c(unsure,		0)	/* two changes in one call */ \
	c(module_calls,		50)				\
	c(traps,		10)	/* of sites and slots */ \
	c(late,			0)	/* traps of a batch that was over */ \
	c(interrupts,		10)				\
	c(in_trampolines,	1)	/* that hit a trampoline or a stub */ \
	c(halts,		1)				\
	c(moves,		1)	/* to another CPU, of a task in a trampoline */ \
	c(nested,		5)	/* calls of traced functions in callbacks */ \
	c(entries,		50)	/* into the kernel */	\
	c(serialised,		1)	/* on their way in */	\
	c(spared,		1)	/* broadcasts with all CPUs outside */ \
	c(registered,		5)				\
	c(removed,		5)				\
	c(waited,		1)	/* a task was in the callback */ \
	c(filters,		5)				\
	c(directs,		1)				\
	c(modified,		20)				\
	c(bursts,		0)	/* of modifying */	\
	c(ipmodified,		1)				\
	c(crowds,		0)				\
	c(loads,		1)				\
	c(unloads,		1)				\
	c(failed_loads,		0)				\
	c(no_memory,		1)				\
	c(switches,		0)	/* of all tracing */

struct counts {
#define COUNT(name, least)	unsigned long name;
	COUNTS(COUNT)
#undef COUNT
};

/* A thread that calls or acts. The thread has two CPUs, and runs on one of them. */
struct torturer {
	struct task_struct	task;
	struct host_thread	*thread;
	struct frame		*frame;
	int			cpus[2];
	bool			ready;		/* takes interrupts */
	unsigned int		depth;		/* of calls in callbacks */
	unsigned int		steps;		/* until an interrupt, in trampolines */
	unsigned int		max_steps;	/* anywhere */
	unsigned int		users[NR_MODS];	/* calls of functions of the module */
	u64			random;
	struct counts		counts;

	/* Of a worker: what the report of a crash prints. */
	const char		*what;
	int			which;
	funcs_t			funcs;
	int			ret;
};

/* The callers come first, then the workers. */
#define MAX_CALLERS	4
#define NR_WORKERS	5
#define MAX_TORTURERS	(MAX_CALLERS + NR_WORKERS)
extern struct torturer torturers[MAX_TORTURERS];
extern unsigned int nr_torturers;
extern bool torture_stop;

static inline struct torturer *torturer(void)
{
	return container_of(current, struct torturer, task);
}

static inline unsigned int rnd(unsigned int below)
{
	struct torturer *me = torturer();

	/* Of a task and of what interrupts the task: any number will do. */
	me->random = me->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (me->random >> 33) % below;
}

static inline bool one_in(unsigned int n)
{
	return !rnd(n);
}

/* call.c */
void torture_call_any(struct torturer *me);
void torture_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs);
void torture_note_ipmodify(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs);
void torture_note_direct(unsigned long which);

/* act.c: what a worker does until the test ends. Then all is as it was before. */
void torture_act_even(struct torturer *me);
void torture_act_odd(struct torturer *me);
void torture_act_picky(struct torturer *me);
void torture_act_crowd(struct torturer *me);
void torture_pause(unsigned long us);
void torture_doing(const char *what, int which, funcs_t funcs);
void torture_may_fail(void);
unsigned long torture_ipmod_ip(unsigned int n);
long torture_ipmod_result(unsigned int n);

/* module.c */
unsigned long torture_func_ip(unsigned int f);
void torture_func_name(unsigned int f, char *name);
long torture_func_result(unsigned int f, const long *args);
unsigned long torture_module_enter(struct torturer *me, unsigned int m, unsigned int n,
				   long *result, const long *args);
bool torture_module_is_partly(unsigned int m);
void torture_module_leave(struct torturer *me, unsigned int m);
void torture_module_make(void);
void torture_act_module(struct torturer *me);
void torture_emit_sum(u8 *buf, s32 add);

/* code.S */
long torture_call(unsigned long func, const long *args, bool step);
extern const u8 torture_callback[], torture_callback_call[], torture_callback_end[];
extern const u8 torture_direct[], torture_direct_which[], torture_direct_end[];

#endif
