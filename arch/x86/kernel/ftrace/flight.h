/* SPDX-License-Identifier: GPL-2.0-only */
/* The templates in flight_64.S, and what is written into their copies. */
#ifndef _X86_KERNEL_FTRACE_FLIGHT_H
#define _X86_KERNEL_FTRACE_FLIGHT_H

#define FLIGHT_DEPTH	0	/* 4 bytes: the per-CPU variable ftrace_flight_depth */
#define FLIGHT_PREEMPT	1	/* 4 bytes: the per-CPU preemption count */
#define FLIGHT_CPU	2	/* 8 bytes: the per-CPU struct ftrace_flight_cpu */
#define FLIGHT_RESCHED	3	/* 4 bytes: a call of the scheduler, relative */
#define FLIGHT_GROUP	4	/* 4 bytes: a call of ftrace_flight_slow() or the like, relative */

/* Of a thunk: where things are. */
#define THUNK_SITE	1	/* the return address into the traced function, 4 bytes */
#define THUNK_ENTERED	10	/* ftrace_flight_entry() returns to here, */
#define THUNK_RETURNED	19	/* the traced function, */
#define THUNK_EXITED	26	/* and ftrace_flight_exit() */
#define THUNK_SIZE	32

#ifndef __ASSEMBLY__

/* A place in a copy that is written. */
struct flight_fix {
	u16	at;	/* offset of the bytes */
	u16	what;	/* what is written there, as above */
};

/* A template, and the places that are written. */
struct flight_code {
	const char		*start, *end;
	const struct flight_fix	*fix, *fix_end;
};

/* flight_64.S */
void ftrace_flight_code(void);
void ftrace_flight_timed_code(void);
extern const char ftrace_flight_code_end[], ftrace_flight_timed_code_end[];
extern const struct flight_fix ftrace_flight_fixes[], ftrace_flight_fixes_end[];
extern const struct flight_fix ftrace_flight_timed_fixes[], ftrace_flight_timed_fixes_end[];

/* thunks.c */
unsigned long ftrace_thunk_of(unsigned long ip, unsigned long target);
unsigned long ftrace_thunk_template_ip(unsigned long ip);

/* flight_64.S */
void ftrace_flight_entry(void);
void ftrace_flight_exit(void);
void ftrace_flight_timed_entry(void);
void ftrace_flight_guarded_entry(void);
void ftrace_flight_guarded_timed_entry(void);
void ftrace_flight_timed_exit(void);
void ftrace_flight_unknown(void);

#endif
#endif
