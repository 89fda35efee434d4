/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder: what the code in trampolines, the core and readers of a crash dump know of
 * a ring and of the words in it.
 *
 * A ring is memory of one CPU, and has slots of 8 bytes. A record is one word; or, in a timed ring,
 * two words: the time stamp counter, then the word that says what happened. Records are in
 * groups. The first record of a group is a time.
 *
 * A lap goes from the first record of the ring to the last one. Laps have parity 0 and 1 in turn,
 * which is in bit 32 of each word, inverted. So a record that is reserved and not yet written can
 * be told: it has the parity of the lap before. The word 0 was never written.
 *
 *	a call		bits 0-31	the return address into the traced function
 *			bits 33-63	the lowest 31 bits of the caller; one less for parity 0
 *	a return	as a call whose caller is FTRACE_FLIGHT_RETURN
 *	a time		bits 0-30	bits 0-30 of the time stamp counter
 *			bits 33-62	bits 31-60 of it
 *	a switch	bits 0-30	the task that runs from now on
 *			bits 33-62	the task that ran before
 *			bit 63		1
 *
 * Bit 31 of the return address and of the caller is 1, because all code of the kernel is in the
 * upper 2 GB. Other words have 0 in bit 31.
 */
#ifndef _LINUX_FTRACE_FLIGHT_H
#define _LINUX_FTRACE_FLIGHT_H

/* Of struct ftrace_flight_cpu, for assembly. */
#define FTRACE_FLIGHT_NEXT	0
#define FTRACE_FLIGHT_OFF	8

/* Bytes of a record, and of a group. The group is a power of 2, and aligned. */
#define FTRACE_FLIGHT_RECORD		8
#define FTRACE_FLIGHT_GROUP		256
#define FTRACE_FLIGHT_TIMED_RECORD	16
#define FTRACE_FLIGHT_TIMED_GROUP	512

/* Of &ftrace_flight_cpu.off: record, but write first when recording has stopped and begun again. */
#define FTRACE_FLIGHT_RESUME		0x80000000

/* The word of a guard with which the task of the CPU is turned away. */
#define FTRACE_FLIGHT_AWAY		-1

/* No code is at the lowest address that a caller could have: the record is one of a return. */
#define FTRACE_FLIGHT_RETURN		0xffffffff80000000

/*
 * The stack of a task on which the callers of recorded functions are is a page, and grows down from
 * its end, where one entry is never used. So the offset of the top is 0 if there is no room left,
 * and as well if there is no stack.
 */
#define FTRACE_RETURN_SP	0
#define FTRACE_RETURN_CALLER	8
#define FTRACE_RETURN_SIZE	16
#define FTRACE_RETURN_FULL	(PAGE_SIZE - FTRACE_RETURN_SIZE)

/* In the place of the caller's address on the stack when the function has returned. */
#define FTRACE_RETURNING	-1

/*
 * The address of a slot is shifted left by one, to make room for the parity. These bits are 0 if
 * the record is the first one of a group.
 */
#define FTRACE_FLIGHT_FIRST		(2 * (FTRACE_FLIGHT_GROUP - FTRACE_FLIGHT_RECORD))
#define FTRACE_FLIGHT_TIMED_FIRST \
	(2 * (FTRACE_FLIGHT_TIMED_GROUP - FTRACE_FLIGHT_TIMED_RECORD))

#ifndef __ASSEMBLY__

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/refcount.h>

/* Bits of a word, as above. */
#define FTRACE_FLIGHT_CALL	BIT_ULL(31)
#define FTRACE_FLIGHT_EVEN	BIT_ULL(32)
#define FTRACE_FLIGHT_SWITCH	BIT_ULL(63)

#define FTRACE_FLIGHT_NOBODY	U32_MAX

struct ftrace_flight_cursor;

/**
 * struct ftrace_flight_cpu - the ring of a CPU; a CPU that has never been online has none
 * @next: where the next record goes: the address, shifted left by one, and the parity of the
 *	lap. Only this CPU writes here.
 * @off: not 0 if nothing is to be recorded, unless it is FTRACE_FLIGHT_RESUME
 * @pid: the task that runs on the CPU; FTRACE_FLIGHT_NOBODY if nobody has looked
 * @stopped: when recording stopped; if it has begun again and the CPU has recorded nothing since,
 *	when it stopped before that. In cycles; 0 if it never has
 * @base: address of the ring; 0 if there is none
 * @last: address behind the ring. A lap ends at the first group from here on.
 * @behind: address behind the records. There is a u32 for each group: the task that ran when the
 *	group began; FTRACE_FLIGHT_NOBODY if later records tell
 * @end: where the lap before has ended; @base if there was none
 * @groups: groups that were begun while a window was open that had been open before
 * @max: when @groups is this, a new group may meet the record of the oldest window
 * @lost: calls that were not recorded because of @max
 * @laps: number of laps that have ended
 * @records: number of records in them
 * @cleared: @next when the ring was cleared
 * @cleared_lap: and the number of the lap
 * @quiet: @next after the last mark or switch
 * @mark: address of the second time behind the last call, if nothing but marks and switches was
 *	recorded since; 0 if there is none
 * @away: address of the word of the switch behind the last call, in the same way
 * @switching: a switch is being recorded, and @pid is not new yet, or just new
 * @dump: where a dump of the trace is
 * @other: the ring that is to take the place of this one; NULL if none is
 * @turns: twice how often one did; odd in the middle of it
 * @forgotten: what @turns is, or will be, with the snapshot that is not shown any more
 * @kept: @next when recording began again, or behind the last return: what is before that is not
 *	taken back
 */
struct ftrace_flight_cpu {
	u64		next;
	u32		off;
	u32		pid;
	u64		stopped;
	unsigned long	base;
	unsigned long	last;
	unsigned long	behind;
	unsigned long	end;
	u32		groups;
	u32		max;
	u64		lost;
	u64		laps;
	u64		records;
	u64		cleared;
	u64		cleared_lap;
	u64		quiet;
	unsigned long	mark;
	unsigned long	away;
	bool		switching;
	struct ftrace_flight_cursor *dump;
	struct ftrace_flight_cpu *other;
	u32		turns;
	u32		forgotten;
	u64		kept;
};

/**
 * struct ftrace_flight_stamp - one moment on two clocks
 * @cycles: the time stamp counter
 * @clock: the trace clock
 */
struct ftrace_flight_stamp {
	u64	cycles;
	u64	clock;
};

/**
 * struct ftrace_flight - a flight recorder: a ring on each CPU
 * @list: in ftrace_flights
 * @cpu: the rings
 * @timed: each record has a time of its own
 * @returns: returns are recorded, too
 * @name: name of the trace array; NULL for the top level one
 * @users: the tracer while it runs, trampolines, and readers
 * @off: bit 0: the trace array is switched off; and twice the number of readers
 * @start: when recording began
 * @stop: when recording stopped the last time
 * @size: bytes of a ring
 * @node: makes rings of CPUs that come online
 * @dead: in the list of those that nobody uses any more
 * @reader: the last one who has paused it, by name and number
 * @spare: other rings, with the last snapshot; NULL if there was none
 * @of: whose @spare it is, or was
 * @thresh: calls that return within so many cycles are taken back; 0 if none is
 * @persistent: the rings are in memory that outlives the kernel, see flight_keep.c
 * @last: it is that of the last kernel, and records nothing
 * @made: no record is older, in cycles
 * @since: what is older was cleared by the last kernel, in cycles
 * @other: groups of records of the last kernel to which something else was written
 * @guard: of the trace array, for thunks
 */
struct ftrace_flight {
	struct list_head			list;
	struct ftrace_flight_cpu __percpu	*cpu;
	bool					timed;
	bool					returns;
	const char				*name;
	refcount_t				users;
	atomic_t				off;
	struct ftrace_flight_stamp		start;
	struct ftrace_flight_stamp		stop;
	unsigned long				size;
	struct hlist_node			node;
	struct llist_node			dead;
	char					reader[32];
	struct ftrace_flight			*spare;
	struct ftrace_flight			*of;
	u64					thresh;
	bool					persistent;
	bool					last;
	u64					made;
	u64					since;
	unsigned int				other;
	struct ftrace_guard			*guard;
};

extern struct list_head ftrace_flights;
DECLARE_PER_CPU(u32, ftrace_flight_depth);

bool ftrace_flight_slow(struct ftrace_flight_cpu __percpu *cpu, u64 next);
bool ftrace_flight_slow_timed(struct ftrace_flight_cpu __percpu *cpu, u64 next);

/**
 * struct ftrace_return - a function that returns to its thunk
 * @sp: where the caller's address was on the stack; 0 while the entry is not complete
 * @caller: the caller's address, of which the upper half is all ones
 * @unused: room
 */
struct ftrace_return {
	unsigned long	sp;
	s32		caller;
	u32		unused;
};

struct task_struct;

#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
extern struct ftrace_flight_cpu __percpu *ftrace_flight_returns[];
extern int __percpu *ftrace_flight_words[];
extern u64 ftrace_flight_thresh;

bool ftrace_flight_take_back(unsigned long function);
void ftrace_flight_drop_returns(unsigned long sp);
void ftrace_flight_init_task(struct task_struct *task);
void ftrace_flight_exit_task(struct task_struct *task);
unsigned long ftrace_flight_ret_addr(struct task_struct *task, unsigned long *at,
				     unsigned long addr, unsigned long *addr_p);
#else
static inline void ftrace_flight_init_task(struct task_struct *task) { }
static inline void ftrace_flight_exit_task(struct task_struct *task) { }

static inline unsigned long ftrace_flight_ret_addr(struct task_struct *task, unsigned long *at,
						   unsigned long addr, unsigned long *addr_p)
{
	return addr;
}
#endif

#endif /* __ASSEMBLY__ */
#endif /* _LINUX_FTRACE_FLIGHT_H */
