// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of the flight recorder, and what writes to them.
 *
 * A trampoline writes a record with a few instructions and calls nothing (flight_64.S of x86 has
 * them). This file has the same in C. It is used where a class has so many ops that it is walked,
 * and when tasks switch. It also starts groups and laps, which are too rare for a trampoline.
 *
 * A record is reserved by one instruction that adds to a word of the CPU, and is written later. In
 * between the task is in a window. It is not preempted there, so it stays on the CPU. But it may be
 * interrupted, and the interrupt may call more functions than the ring has records. The interrupted
 * task would then write its record among records of a later lap.
 *
 * So a group may not start while an open window can still write into it. Windows are counted for
 * each CPU. If only its own window is open, the context that starts a group knows that all other
 * records are written: from then on the ring has room for a whole lap. In other windows, starting
 * a group uses up this room. When the room is used up, calls are not recorded but counted as lost;
 * see flight_refuse().
 *
 * Therefore a record has one owner from its reservation until it is written. A record that is not
 * written yet has the word of the lap before, whose parity differs. A reader can tell, and need not
 * wait for anybody.
 *
 * The words of a CPU need no lock and no atomic instruction: what interrupts a window closes its
 * own windows when it returns.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cpuhotplug.h>
#include <linux/ftrace.h>
#include <linux/ftrace_flight.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/oom.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "core.h"
#include "flight.h"
#include "guards.h"
#include "wait.h"

/* The number of windows that are open on the CPU, those of all recorders. */
DEFINE_PER_CPU(u32, ftrace_flight_depth);

/* All recorders. A crash dump is read from here. Changed with flight_mutex held. */
LIST_HEAD(ftrace_flights);
static DEFINE_MUTEX(flight_mutex);
/* Copies that readers have, also of recorders that have ended. Changed with flight_mutex held. */
static unsigned int flight_nr_copies;

static_assert(offsetof(struct ftrace_flight_cpu, next) == FTRACE_FLIGHT_NEXT);
static_assert(offsetof(struct ftrace_flight_cpu, off) == FTRACE_FLIGHT_OFF);

/* As tools/tracing/flight-dump.py has them. */
static_assert(offsetof(struct ftrace_flight, list) == 0);
static_assert(offsetof(struct ftrace_flight, cpu) == 16);
static_assert(offsetof(struct ftrace_flight, timed) == 24);
static_assert(offsetof(struct ftrace_flight, name) == 32);
static_assert(offsetof(struct ftrace_flight, start) == 48);
static_assert(offsetof(struct ftrace_flight, stop) == 64);
static_assert(offsetof(struct ftrace_flight_stamp, clock) == 8);
static_assert(offsetof(struct ftrace_flight_cpu, pid) == 12);
static_assert(offsetof(struct ftrace_flight_cpu, stopped) == 16);
static_assert(offsetof(struct ftrace_flight_cpu, base) == 24);
static_assert(offsetof(struct ftrace_flight_cpu, end) == 48);
static_assert(offsetof(struct ftrace_flight_cpu, laps) == 72);
static_assert(offsetof(struct ftrace_flight_cpu, cleared) == 88);
static_assert(offsetof(struct ftrace_flight_cpu, cleared_lap) == 96);

/* The bit of each word that tells the parity. */
static u64 flight_even(u64 next)
{
	return next & 1 ? 0 : FTRACE_FLIGHT_EVEN;
}

/* A word that is not a call: the lower and the upper 31 bits. */
static u64 flight_word(u32 low, u32 high, u64 next)
{
	return (u64)high << 33 | flight_even(next) | low;
}

static u64 flight_time_word(u64 cycles, u64 next)
{
	return flight_word(cycles & GENMASK(30, 0), cycles >> 31 & GENMASK(29, 0), next);
}

/* As in flight_64.S. */
static u64 flight_call_word(unsigned long ip, unsigned long parent_ip, u64 next)
{
	u32 high = 2 * (u32)parent_ip + (next & 1);

	return ((u64)high << 32) + ip + MCOUNT_INSN_SIZE;
}

static void flight_store(bool timed, u64 next, u64 cycles, u64 word)
{
	u64 *slot = (u64 *)((long)next >> 1);

	/* Who finds the word of this lap finds the time of this lap. */
	if (timed)
		WRITE_ONCE(*slot++, cycles);
	barrier();
	WRITE_ONCE(*slot, word);
}

/*
 * Begin the next lap, unless somebody who interrupted us has.
 *
 * Laps do not all go equally far behind the ring. What an older lap has written behind the end of
 * this one would have the parity of the next lap, so it is cleared. Nobody gets there before the
 * next lap ends, and nobody makes a whole lap while our window is open.
 */
static void flight_lap(struct ftrace_flight_cpu __percpu *cpu, u64 next, bool timed)
{
	struct ftrace_flight_cpu *c = this_cpu_ptr(cpu);
	u64 old = this_cpu_read(cpu->next);
	unsigned long end;

	do {
		if ((old ^ next) & 1)
			return;
	} while (!this_cpu_try_cmpxchg(cpu->next, &old, (u64)c->base << 1 | (~next & 1)));

	/*
	 * Not before: an interrupt may have ended the lap instead, farther behind. A reader that
	 * still finds the end of the lap before shows no record twice: the parity tells them apart.
	 */
	end = (long)old >> 1;
	WRITE_ONCE(c->end, end);
	for (u64 *slot = (u64 *)end; slot < (u64 *)c->behind; slot++)
		WRITE_ONCE(*slot, 0);
	/* Two laps later the word for the next record is the same again. */
	this_cpu_write(cpu->quiet, 0);
	this_cpu_write(cpu->kept, 0);
	this_cpu_inc(cpu->laps);
	this_cpu_add(cpu->records, (end - c->base) /
		     (timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD));
}

/*
 * The group that @next begins must wait until the oldest window is closed. The reservation is taken
 * back, so that the next call must begin the group, too. Who has interrupted us since may have
 * records in the group, which are not where they belong then: they are cleared and lost. A group
 * behind that one has begun with right, when the room was not yet used up, and stays.
 */
static void flight_refuse(struct ftrace_flight_cpu __percpu *cpu, u64 next, bool timed)
{
	unsigned int size = timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
	unsigned int group = timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP;
	u64 old = this_cpu_read(cpu->next), lost;

	do {
		/* Another lap, or a later group? The parity is the lowest bit. */
		lost = old - next;
		if (lost & 1 || lost > 2 * group) {
			lost = 2 * size;
			break;
		}
		/* The time stays: who still finds the word finds its time. */
		for (u64 at = next + 2 * size; at < old; at += 2 * size)
			WRITE_ONCE(((u64 *)((long)at >> 1))[timed], 0);
		/* Marks and switches may be among what is cleared. */
		this_cpu_write(cpu->quiet, 0);
		this_cpu_write(cpu->mark, 0);
		this_cpu_write(cpu->away, 0);
	} while (!this_cpu_try_cmpxchg(cpu->next, &old, next));
	this_cpu_add(cpu->lost, lost / (2 * size));
}

/*
 * A reader begins anywhere, and should not have to look for a switch in all of the ring. What an
 * NMI finds in the middle of a switch may be either task's.
 */
static void flight_group_pid(struct ftrace_flight_cpu *c, u64 next, bool timed)
{
	unsigned long at = ((long)next >> 1) - c->base;
	u32 *pids = (u32 *)c->behind;

	WRITE_ONCE(pids[at / (timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP)],
		   c->switching ? FTRACE_FLIGHT_NOBODY : c->pid);
}

static __always_inline bool flight_group(struct ftrace_flight_cpu __percpu *cpu, u64 next,
					 bool timed)
{
	struct ftrace_flight_cpu *c = this_cpu_ptr(cpu);
	bool alone = this_cpu_read(ftrace_flight_depth) == 1;
	u64 cycles;

	if (!alone && c->groups >= c->max) {
		flight_refuse(cpu, next, timed);
		return false;
	}
	flight_group_pid(c, next, timed);
	/* Who finds the time of this lap finds the task of this lap. */
	barrier();
	cycles = get_cycles();
	flight_store(timed, next, cycles, flight_time_word(cycles, next));
	/* Not earlier: until here, our own record was not written. */
	barrier();
	if (alone)
		WRITE_ONCE(c->groups, 0);
	else
		this_cpu_inc(cpu->groups);
	if ((unsigned long)((long)next >> 1) >= c->last)
		flight_lap(cpu, next, timed);
	return true;
}

/*
 * Reserve a record, in a window. Returns false if there is no room. The loop ends: a group has more
 * records than there are contexts that interrupt each other.
 */
static bool flight_reserve(struct ftrace_flight_cpu __percpu *cpu, u64 *next, bool timed)
{
	u64 size = timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
	u64 first = timed ? FTRACE_FLIGHT_TIMED_FIRST : FTRACE_FLIGHT_FIRST;

	do {
		*next = this_cpu_add_return(cpu->next, 2 * size) - 2 * size;
		if (*next & first)
			return true;
	} while (flight_group(cpu, *next, timed));
	return false;
}

static bool flight_write_time(struct ftrace_flight_cpu __percpu *cpu, u64 *next, u64 cycles)
{
	if (!flight_reserve(cpu, next, false))
		return false;
	flight_store(false, *next, cycles, flight_time_word(cycles, *next));
	return true;
}

/* Calls before @cycles, which is now, and those after it have a time in between. Any context. */
static void flight_part(struct ftrace_flight_cpu *c, u64 cycles)
{
	u32 off = 0;

	if (READ_ONCE(c->off))
		return;
	WRITE_ONCE(c->stopped, cycles);
	try_cmpxchg(&c->off, &off, FTRACE_FLIGHT_RESUME);
}

/*
 * Another ring takes the place of that of the CPU, in the only window that is open: so nobody is in
 * the middle of something in the ring, and all records are written. Who interrupts us records
 * nothing.
 */
static void flight_turn(struct ftrace_flight_cpu *c)
{
	struct ftrace_flight_cpu *o;

	WRITE_ONCE(c->turns, c->turns + 1);
	/* An interrupt may have resumed. From now on none does. */
	flight_part(c, get_cycles());
	/* Pairs with flight_snap() and others that read @turns. */
	smp_wmb();
	o = xchg(&c->other, NULL);
	if (o) {
		swap(c->next, o->next);
		swap(c->base, o->base);
		swap(c->last, o->last);
		swap(c->behind, o->behind);
		swap(c->end, o->end);
		swap(c->groups, o->groups);
		swap(c->max, o->max);
		swap(c->laps, o->laps);
		swap(c->records, o->records);
		swap(c->dump, o->dump);
		o->cleared = c->cleared;
		o->cleared_lap = c->cleared_lap;
		o->stopped = c->stopped;
		o->pid = c->pid;
		/* What an older snapshot has left. */
		c->cleared = c->next;
		c->cleared_lap = c->laps;
		c->quiet = 0;
		c->mark = 0;
		c->away = 0;
		c->stopped = 0;
		c->dump->place.pos = 0;
	}
	/* As above. */
	smp_wmb();
	WRITE_ONCE(c->turns, c->turns + 1);
}

/*
 * Recording has stopped and begun again: write both times behind the last call. Only then do calls
 * follow, also those of an NMI, which does the same if it comes in between. Somebody may stop it
 * again meanwhile. Returns false if there is no room.
 *
 * If the CPU gets another ring, it gets it here. Until then nothing is recorded: what is in the
 * ring is the snapshot. So calls are lost in a window that has interrupted another one.
 */
static bool flight_resume(struct ftrace_flight_cpu __percpu *cpu, bool timed)
{
	struct ftrace_flight_cpu *c = this_cpu_ptr(cpu);
	/* One look: somebody may ask meanwhile. */
	bool asked = READ_ONCE(c->other);
	u32 off = FTRACE_FLIGHT_RESUME;
	u64 stopped, next;

	if (READ_ONCE(c->turns) & 1 || (asked && this_cpu_read(ftrace_flight_depth) != 1)) {
		this_cpu_inc(cpu->lost);
		return false;
	}
	if (asked)
		flight_turn(c);
	stopped = this_cpu_read(cpu->stopped);
	if (!timed && stopped && !flight_write_time(cpu, &next, stopped))
		return false;
	/* A new group begins with the time. */
	if (!timed && (this_cpu_read(cpu->next) & FTRACE_FLIGHT_FIRST) &&
	    !flight_write_time(cpu, &next, get_cycles()))
		return false;
	/* What readers have found while nothing was recorded stays. */
	WRITE_ONCE(c->kept, READ_ONCE(c->next));
	try_cmpxchg(&c->off, &off, 0);
	/* Pairs with ftrace_flight_exchange(): one of both finds what the other has written. */
	smp_mb();
	if (READ_ONCE(c->other))
		flight_part(c, get_cycles());
	return true;
}

/*
 * Both begin a group of records, of which @next is the first, as reserved in
 * &ftrace_flight_cpu.next; or, if @next is 0, recording again. They return true if the caller can
 * go on to reserve a record, if recording is not off; false if its call cannot be recorded. Called
 * by trampolines, in any context, in a window.
 */
bool ftrace_flight_slow(struct ftrace_flight_cpu __percpu *cpu, u64 next)
{
	return next ? flight_group(cpu, next, false) : flight_resume(cpu, false);
}

bool ftrace_flight_slow_timed(struct ftrace_flight_cpu __percpu *cpu, u64 next)
{
	return next ? flight_group(cpu, next, true) : flight_resume(cpu, true);
}

#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
/*
 * A function returns: was it quick, and was nothing recorded since its call? Then the call is taken
 * back, and the return is not recorded. @function is the return address into it. Called by
 * ftrace_flight_timed_exit() in a window, in any context.
 *
 * The last record is the call if it says the same: what a task has recorded elsewhere, or before
 * others ran, is before a switch. What another window has reserved and not yet written does not say
 * so, because what is taken back is cleared first. If an interrupt has recorded something by then,
 * the call stays.
 *
 * A trampoline may have recorded a call of the function by itself, from the same place, if the site
 * got other ops meanwhile. Its return is not known. Then that call is taken back, and the caller's
 * stays: nobody sees the difference.
 *
 * The last record of a group is not taken back, nor the first one, which is a time. So a group that
 * has begun stays.
 */
bool ftrace_flight_take_back(unsigned long function)
{
	struct ftrace_flight_cpu __percpu *cpu = READ_ONCE(ftrace_flight_returns[true]);
	const struct ftrace_return *entry = (void *)current->flight_returns;
	struct ftrace_flight_cpu *c = this_cpu_ptr(cpu);
	u64 next = READ_ONCE(c->next), last = next - 2 * FTRACE_FLIGHT_TIMED_RECORD;
	u64 *slot = (u64 *)((long)last >> 1), word;

	if (READ_ONCE(c->off))
		return false;
	/* Without room for another entry, what the function has called has no returns. */
	if (!(next & FTRACE_FLIGHT_TIMED_FIRST) || next == READ_ONCE(c->kept) ||
	    !((unsigned long)entry & FTRACE_RETURN_FULL))
		goto keep;
	word = flight_call_word(function - MCOUNT_INSN_SIZE, entry->caller, last);
	if (READ_ONCE(slot[1]) != word || get_cycles() - slot[0] >= READ_ONCE(ftrace_flight_thresh))
		goto keep;
	WRITE_ONCE(slot[1], 0);
	if (this_cpu_try_cmpxchg(cpu->next, &next, last))
		return true;
	WRITE_ONCE(slot[1], word);
keep:
	/* The return comes next, perhaps behind the time of a group. All up to it stays. */
	next = READ_ONCE(c->next);
	if (!(next & FTRACE_FLIGHT_TIMED_FIRST))
		next += 2 * FTRACE_FLIGHT_TIMED_RECORD;
	WRITE_ONCE(c->kept, next + 2 * FTRACE_FLIGHT_TIMED_RECORD);
	return false;
}

/*
 * Entries that are left of what did not return, such as functions from which the machine was
 * suspended, are taken off until the one for @sp is the first. Called by ftrace_flight_exit(). Any
 * context.
 */
void ftrace_flight_drop_returns(unsigned long sp)
{
	struct ftrace_return *entry = (void *)current->flight_returns;

	for (; entry->sp != sp; entry++) {
		/* Nobody knows where to go on. */
		if (!ftrace_return_in_use(entry))
			panic("flight: no caller for the return at %lx\n", sp);
		entry->sp = 0;
		WRITE_ONCE(current->flight_returns, (unsigned long)(entry + 1));
	}
}
#endif

static void flight_window_open(void)
{
	preempt_disable_notrace();
	this_cpu_inc(ftrace_flight_depth);
}

static void flight_window_close(void)
{
	this_cpu_dec(ftrace_flight_depth);
	preempt_enable_notrace();
}

/* Is a call to be recorded? In its window. */
static bool flight_records(struct ftrace_flight_cpu __percpu *cpu, bool timed)
{
	u32 off;

	while ((off = this_cpu_read(cpu->off)))
		if (off != FTRACE_FLIGHT_RESUME || !flight_resume(cpu, timed))
			return false;
	return true;
}

/*
 * Records a call. Trampolines do not call this function, see struct ftrace_call; the array of a
 * class with many ops does. Any context.
 */
void ftrace_flight_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	/* NULL: the tracer is switched off. The array keeps the recorder. */
	const struct ftrace_flight *flight = READ_ONCE(op->flight);
	u64 next;

	if (!flight)
		return;
	flight_window_open();
	if (flight_records(flight->cpu, flight->timed) &&
	    flight_reserve(flight->cpu, &next, flight->timed))
		flight_store(flight->timed, next, get_cycles(),
			     flight_call_word(ip, parent_ip, next));
	flight_window_close();
}

/*
 * Marks and switches must not push calls out of the ring. Behind a call there is a time, when the
 * calls before it have ended; then another one, when the calls behind it may begin; and a switch.
 * While no call comes, later marks and switches change the last two in place, which the window
 * keeps as it keeps its own record.
 *
 * Is nothing else behind the last mark or switch? An interrupt that has recorded something since
 * has changed @next, so what a context stores below after that is not found here; if the
 * reservation was given back, flight_refuse() has seen to it.
 */
static bool flight_quiet(struct ftrace_flight_cpu *c)
{
	if (READ_ONCE(c->next) == READ_ONCE(c->quiet))
		return true;
	WRITE_ONCE(c->mark, 0);
	WRITE_ONCE(c->away, 0);
	return false;
}

/* A mark or a switch was written at @next; if it may be changed, @mark or @away has it. */
static void flight_now_quiet(struct ftrace_flight_cpu *c, u64 next, bool timed)
{
	u64 size = timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;

	/* Not earlier than @mark and @away. */
	barrier();
	WRITE_ONCE(c->quiet, next + 2 * size);
}

/* In a window, and recording is on. A CPU that has not begun again has recorded no call since. */
static void flight_mark(struct ftrace_flight_cpu __percpu *cpu)
{
	struct ftrace_flight_cpu *c = this_cpu_ptr(cpu);
	u64 cycles = get_cycles(), next;
	bool quiet = flight_quiet(c);
	u64 *slot = (u64 *)READ_ONCE(c->mark);

	if (slot) {
		WRITE_ONCE(*slot, flight_time_word(cycles, !(*slot & FTRACE_FLIGHT_EVEN)));
	} else if (flight_write_time(cpu, &next, cycles)) {
		if (quiet)
			WRITE_ONCE(c->mark, (long)next >> 1);
		flight_now_quiet(c, next, false);
	}
}

/*
 * Records the time, unless each record has one: calls before and after are not shown on the other
 * side of this time. Any context.
 */
void ftrace_flight_mark(struct ftrace_flight *flight)
{
	if (flight->timed)
		return;
	flight_window_open();
	if (!this_cpu_read(flight->cpu->off))
		flight_mark(flight->cpu);
	flight_window_close();
}

/*
 * Records that a task runs from now on, and which one ran before; also while recording is off, so
 * that calls before keep their task and calls after have theirs. Returns false if nothing but marks
 * was recorded since the last switch. Preemption off.
 */
bool ftrace_flight_switch(struct ftrace_flight *flight, u32 prev, u32 next)
{
	struct ftrace_flight_cpu *c = this_cpu_ptr(flight->cpu);
	u64 *slot;
	u64 at;

	if (!ftrace_flight_has_ring(c))
		return false;
	ftrace_flight_mark(flight);
	flight_window_open();
	WRITE_ONCE(c->switching, true);
	slot = flight_quiet(c) ? (u64 *)READ_ONCE(c->away) : NULL;
	if (slot) {
		WRITE_ONCE(*slot, (*slot & ~GENMASK_ULL(30, 0)) | next);
	} else if (flight_reserve(flight->cpu, &at, flight->timed)) {
		flight_store(flight->timed, at, get_cycles(),
			     FTRACE_FLIGHT_SWITCH | flight_word(next, prev, at));
		WRITE_ONCE(c->away, ((long)at >> 1) + 8 * flight->timed);
		flight_now_quiet(c, at, flight->timed);
	}
	/* A reader that finds the new task finds the record, if it reads calls of the old one. */
	barrier();
	WRITE_ONCE(c->pid, next);
	/* An NMI that finds no switch going on is behind the record, and finds the new task. */
	barrier();
	WRITE_ONCE(c->switching, false);
	flight_window_close();
	return !slot;
}

/*
 * Tell a CPU whether to record. When it begins again, it writes when it has stopped, at its next
 * call. If it has made no call since it was told to begin, it has stopped before that.
 */
static void flight_tell_cpu(struct ftrace_flight *flight, int cpu, u32 off)
{
	struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu);
	u32 old = READ_ONCE(c->off), new;

	if (!ftrace_flight_has_ring(c))
		return;
	/* The next dump begins with the oldest call. */
	if (!off)
		c->dump->place.pos = 0;
	do {
		new = off || !old ? off : FTRACE_FLIGHT_RESUME;
		/* Before: who finds that it has stopped finds when. */
		if (new && !old)
			WRITE_ONCE(c->stopped, get_cycles());
	} while (!try_cmpxchg(&c->off, &old, new));
}

/*
 * Tell all CPUs whether to record. Several contexts may do so at the same time, and each goes on
 * until it has told what is the case.
 */
static void flight_tell(struct ftrace_flight *flight)
{
	int off, cpu;

	do {
		off = atomic_read(&flight->off);
		for_each_possible_cpu(cpu)
			flight_tell_cpu(flight, cpu, off);
		/* Pairs with this barrier in the other context: one of both looks last. */
		smp_mb();
	} while (off != atomic_read(&flight->off));
}

/* Switches recording off, or on again. Begins and ends with a full barrier. Any context. */
void ftrace_flight_off(struct ftrace_flight *flight, bool off)
{
	if (off)
		atomic_fetch_or(1, &flight->off);
	else
		atomic_fetch_andnot(1, &flight->off);
	flight_tell(flight);
}

/* Stops recording when a reader comes; undone when the reader goes. Any context. */
void ftrace_flight_pause(struct ftrace_flight *flight, bool pause)
{
	atomic_add(pause ? 2 : -2, &flight->off);
	flight_tell(flight);
}

/*
 * Let a CPU go on in the other ring from its next call on: what it has recorded until now is the
 * snapshot. Any context, with preemption off.
 */
void ftrace_flight_exchange(struct ftrace_flight *flight, int cpu)
{
	struct ftrace_flight *spare = READ_ONCE(flight->spare);
	struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu), *o;

	if (!spare)
		return;
	o = per_cpu_ptr(spare->cpu, cpu);
	if (!ftrace_flight_has_ring(c) || !ftrace_flight_has_ring(o))
		return;
	WRITE_ONCE(c->other, o);
	/* Pairs with flight_resume(). */
	smp_mb();
	flight_part(c, get_cycles());
}

/* Where a CPU records, which may be this one or another. Any context. */
struct ftrace_flight_at ftrace_flight_where(const struct ftrace_flight_cpu *c)
{
	struct ftrace_flight_at at;

	do {
		at.lap = READ_ONCE(c->laps);
		/* @next between two looks at @laps: the CPU writes @next first. */
		smp_rmb();
		at.next = READ_ONCE(c->next);
		/* As above. */
		smp_rmb();
	} while (at.lap != READ_ONCE(c->laps));
	/* In the middle of flight_lap(), only @next is of the new lap. */
	at.lap += (at.lap ^ at.next) & 1;
	return at;
}

/*
 * Forgets what a CPU has recorded. Calls that it makes from now on follow a time, as when recording
 * was off. Process context, on any CPU.
 */
void ftrace_flight_clear(struct ftrace_flight *flight, int cpu)
{
	struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu);
	struct ftrace_flight_at at;
	u32 turns;

	do {
		/* What is there belongs to a snapshot, and nothing was recorded since. */
		if (READ_ONCE(c->other))
			return;
		turns = READ_ONCE(c->turns);
		at = ftrace_flight_where(c);
		c->cleared = at.next;
		c->cleared_lap = at.lap;
		/* Not earlier: what the CPU writes for it must be behind this place. */
		smp_mb();
	} while (turns & 1 || turns != READ_ONCE(c->turns));
	flight_part(c, get_cycles());
}

/* Forgets the last snapshot of a CPU. Process context. */
void ftrace_flight_forget(struct ftrace_flight *flight, int cpu)
{
	struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu);
	u32 turns;

	do {
		turns = READ_ONCE(c->turns);
		/* Pairs with flight_turn(). */
		smp_rmb();
		c->forgotten = turns + (READ_ONCE(c->other) ? 2 : 0);
		/* As above. */
		smp_rmb();
	} while (turns & 1 || turns != READ_ONCE(c->turns));
}

/*
 * Text of modules that was freed. Another module may come to the same place. Calls from before must
 * not be shown with its names.
 */
static struct flight_gone {
	unsigned long	start;
	unsigned long	end;
	u64		cycles;	/* when it was freed */
	bool		named;	/* kallsyms.c keeps the names */
} flight_gone[256];
static unsigned int flight_nr_gone;
/* What was freed until then may be no longer in the table. */
static u64 flight_forgotten;

/* Its name is shown in place of a name that is gone. */
static noinline void unloaded_module(void)
{
}

static struct flight_gone *flight_gone_slot(unsigned long start, unsigned long end, bool named)
{
	struct flight_gone *oldest;

	for (unsigned int i = 0; i < ARRAY_SIZE(flight_gone); i++) {
		struct flight_gone *gone = &flight_gone[i];

		/* What was there before is gone, too. */
		if (gone->start == start && gone->end == end && !gone->named && !named)
			return gone;
	}
	oldest = &flight_gone[flight_nr_gone++ % ARRAY_SIZE(flight_gone)];
	WRITE_ONCE(flight_forgotten, max(flight_forgotten, oldest->cycles));
	return oldest;
}

/* Divides the calls that were recorded from those to come. flight_mutex held. */
static u64 flight_now(void)
{
	struct ftrace_flight *flight;
	u64 now = get_cycles();
	int cpu;

	list_for_each_entry(flight, &ftrace_flights, list)
		for_each_possible_cpu(cpu)
			flight_part(per_cpu_ptr(flight->cpu, cpu), now);
	return now;
}

/**
 * ftrace_flight_now - divide the calls that were recorded from those to come
 *
 * Context: Process context, may sleep. Takes flight_mutex.
 * Return: a time in cycles. The former have earlier times, also where times are computed, and the
 *	latter have later ones.
 */
u64 ftrace_flight_now(void)
{
	guard(mutex)(&flight_mutex);
	return flight_now();
}

/**
 * ftrace_flight_text_gone - text of a module is about to be freed
 * @start: first address of the text; no code of it runs any more
 * @end: first address after the text
 * @named: kallsyms.c keeps names of functions in it
 *
 * Context: Process context, may sleep. Takes flight_mutex.
 */
void ftrace_flight_text_gone(unsigned long start, unsigned long end, bool named)
{
	struct flight_gone *gone;
	u64 now;

	guard(mutex)(&flight_mutex);
	if (start == end || (list_empty(&ftrace_flights) && !flight_nr_copies))
		return;
	/* Calls of this text have earlier times, those of later text at this place later ones. */
	now = flight_now();
	gone = flight_gone_slot(start, end, named);
	/* Before the slot changes; pairs with ftrace_flight_name(). */
	smp_wmb();
	WRITE_ONCE(gone->start, start);
	WRITE_ONCE(gone->end, end);
	WRITE_ONCE(gone->named, named);
	WRITE_ONCE(gone->cycles, now);
}

/*
 * What kallsyms may be asked for the name of @addr, if a call that was made at @cycles has this
 * address: the same, or that of a name which says that the module was unloaded. Any context.
 */
unsigned long ftrace_flight_name(unsigned long addr, u64 cycles)
{
	bool old = false, named = true;
	unsigned int covers = 0;

	if (addr < MODULES_VADDR || addr >= MODULES_END)
		return addr;
	for (unsigned int i = 0; i < ARRAY_SIZE(flight_gone); i++) {
		const struct flight_gone *gone = &flight_gone[i];

		if (addr < READ_ONCE(gone->start) || addr >= READ_ONCE(gone->end))
			continue;
		covers++;
		old |= cycles <= READ_ONCE(gone->cycles);
		named &= READ_ONCE(gone->named);
	}
	/* After the table; pairs with ftrace_flight_text_gone(). */
	smp_rmb();
	if (cycles > READ_ONCE(flight_forgotten)) {
		if (!old)
			return addr;
		/* The names that are kept are its own if nothing else has come to its place. */
		if (named && covers == 1 && !is_module_text_address(addr))
			return addr;
	}
	return (unsigned long)unloaded_module;
}

static int flight_ring_make(struct ftrace_flight *flight, int cpu)
{
	unsigned long group = flight->timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP;
	struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu);
	unsigned long groups = ftrace_flight_groups(flight->size, flight->timed);
	void *ring = flight->persistent ? ftrace_flight_keep_ring(cpu) :
		     vzalloc_node(ftrace_flight_room(flight->size, flight->timed),
				  cpu_to_node(cpu));

	if (!ring)
		return -ENOMEM;
	c->last = (unsigned long)ring + flight->size;
	c->behind = (unsigned long)ring + groups * group;
	c->dump = (void *)c->behind + ftrace_flight_pids_size(groups);
	c->end = (unsigned long)ring;
	c->next = (u64)(unsigned long)ring << 1;
	c->pid = FTRACE_FLIGHT_NOBODY;
	c->max = flight->size / group - FTRACE_FLIGHT_OVERRUN;
	if (flight->persistent && flight->last)
		ftrace_flight_keep_find_ring(flight, c, (unsigned long)ring);
	/* All of the above; pairs with ftrace_flight_has_ring(). */
	smp_store_release(&c->base, (unsigned long)ring);
	return 0;
}

/*
 * A CPU comes online; or a recorder is made, and the CPU is online. Without memory no recorder is
 * made, but the CPU comes, and records nothing. The ring stays when the CPU goes.
 */
static int flight_cpu_up(unsigned int cpu, struct hlist_node *node)
{
	struct ftrace_flight *flight = hlist_entry(node, struct ftrace_flight, node);

	if (!cpu_online(cpu))
		ftrace_flight_reset_idle(cpu);
	if (ftrace_flight_has_ring(per_cpu_ptr(flight->cpu, cpu)))
		return 0;
	if (flight_ring_make(flight, cpu)) {
		if (!cpu_online(cpu))
			pr_warn("flight: no memory to record what CPU %u does\n", cpu);
		return cpu_online(cpu) ? -ENOMEM : 0;
	}
	if (flight->spare && flight_ring_make(flight->spare, cpu))
		pr_warn("flight: no memory for snapshots of CPU %u\n", cpu);
	/* Who has told the others meanwhile has not found this ring; pairs with flight_tell(). */
	smp_mb();
	flight_tell(flight);
	return 0;
}

/* A state of CPU hotplug, or an error. */
static int flight_hotplug __ro_after_init;

static int __init flight_hotplug_init(void)
{
	flight_hotplug = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "trace/flight:prepare",
						 flight_cpu_up, NULL);
	return 0;
}
early_initcall(flight_hotplug_init);

/* A ring for each CPU that has one in @like, if it is @which. */
static int flight_rings_like(struct ftrace_flight *flight, const struct ftrace_flight *like,
			     int which)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if ((which == RING_BUFFER_ALL_CPUS || which == cpu) &&
		    ftrace_flight_has_ring(per_cpu_ptr(like->cpu, cpu)) &&
		    flight_ring_make(flight, cpu))
			return -ENOMEM;
	return 0;
}

/*
 * As for pages of the ring buffer: what is clearly too much is refused, and if a task must be
 * killed for memory, it is this one.
 */
static int flight_rings_make(struct ftrace_flight *flight, const struct ftrace_flight *like,
			     int which)
{
	unsigned int cpus = which == RING_BUFFER_ALL_CPUS ? num_online_cpus() : 1;
	unsigned long pages = flight->size / PAGE_SIZE * cpus;
	bool task = current->mm;
	int ret;

	if (flight_hotplug < 0 || (!flight->persistent && si_mem_available() < (long)pages))
		return -ENOMEM;
	if (task)
		set_current_oom_origin();
	ret = like ? flight_rings_like(flight, like, which) :
		     cpuhp_state_add_instance(flight_hotplug, &flight->node);
	if (task)
		clear_current_oom_origin();
	return ret;
}

static void flight_free(struct ftrace_flight *flight)
{
	int cpu;

	if (flight->spare)
		ftrace_flight_free(flight->spare);
	if (flight->cpu && !flight->persistent)
		for_each_possible_cpu(cpu)
			vfree((void *)per_cpu_ptr(flight->cpu, cpu)->base);
	ftrace_flight_keep_drop(flight);
	ftrace_guard_free(flight->guard);
	free_percpu(flight->cpu);
	kfree(flight->name);
	kfree(flight);
}

/* Recorders whose last trampoline is gone, and rings for snapshots that nobody wants any more. */
static LLIST_HEAD(dead_flights);

/* CPUs that have not begun to go on in these rings do not begin any more. */
static void flight_ask_not(const struct ftrace_flight *spare)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ftrace_flight_cpu *c = per_cpu_ptr(spare->of->cpu, cpu);

		cmpxchg(&c->other, per_cpu_ptr(spare->cpu, cpu), NULL);
	}
}

/* Probes of tracepoints may still run. */
static void flight_free_dead(struct work_struct *work)
{
	struct llist_node *dead = llist_del_all(&dead_flights);
	struct ftrace_flight *flight, *next;
	bool spares = false, guards = false;

	ftrace_assert_may_wait();
	tracepoint_synchronize_unregister();
	/*
	 * Who switches tracing off, who takes a snapshot, and the ring buffer, look at it with
	 * preemption off.
	 */
	synchronize_rcu();
	llist_for_each_entry(flight, dead, dead) {
		if (flight->of) {
			flight_ask_not(flight);
			spares = true;
		}
		guards |= !!flight->guard;
	}
	/* Those in thunks may still look at the words: as for tasks in trampolines. */
	if (guards)
		synchronize_rcu_tasks();
	/* Those who have begun an exchange. */
	if (spares)
		synchronize_rcu();
	llist_for_each_entry_safe(flight, next, dead, dead) {
		if (flight->of) {
			/* Somebody may be copying a ring that was exchanged late. */
			guard(mutex)(&trace_types_lock);
			ftrace_flight_free(flight);
			continue;
		}
		scoped_guard(mutex, &flight_mutex)
			list_del(&flight->list);
		cpuhp_state_remove_instance_nocalls(flight_hotplug, &flight->node);
		flight_free(flight);
	}
}

static DECLARE_WORK(flight_free_work, flight_free_dead);

static void flight_bury(struct ftrace_flight *flight)
{
	llist_add(&flight->dead, &dead_flights);
	queue_work(system_dfl_wq, &flight_free_work);
}

/**
 * ftrace_flight_wait - wait until the recorders that nobody uses any more are freed
 *
 * Context: Process context, may sleep. No lock of ftrace_assert_may_wait() held.
 */
void ftrace_flight_wait(void)
{
	ftrace_assert_may_wait();
	flush_work(&flight_free_work);
}

static struct ftrace_flight *flight_make(unsigned long size, const char *name, bool timed,
					 const struct ftrace_flight *like, int which, bool last)
{
	struct ftrace_flight *flight = kzalloc(sizeof(*flight), GFP_KERNEL);
	int cpu;

	if (!flight)
		return NULL;
	flight->timed = timed;
	flight->size = size;
	flight->last = last;
	flight->made = get_cycles();
	INIT_LIST_HEAD(&flight->list);
	refcount_set(&flight->users, 1);
	atomic_set(&flight->off, 1);
	flight->cpu = alloc_percpu(struct ftrace_flight_cpu);
	flight->name = kstrdup(name, GFP_KERNEL);
	if (!flight->cpu || (name && !flight->name))
		goto fail;
	/* Also without a ring. */
	for_each_possible_cpu(cpu)
		per_cpu_ptr(flight->cpu, cpu)->off = 1;
	if ((!like && ftrace_flight_keep_take(flight)) || flight_rings_make(flight, like, which))
		goto fail;
	return flight;

fail:
	flight_free(flight);
	return NULL;
}

/*
 * Makes a recorder, which is switched off, with rings of @size bytes, a multiple of the page size.
 * @name is that of the trace array, NULL for the top level one. Returns it with one reference;
 * NULL without memory.
 */
struct ftrace_flight *ftrace_flight_make(unsigned long size, const char *name, bool timed)
{
	struct ftrace_flight *flight = flight_make(size, name, timed, NULL, RING_BUFFER_ALL_CPUS,
						   false);

	if (!flight)
		return NULL;
	scoped_guard(mutex, &flight_mutex)
		list_add(&flight->list, &ftrace_flights);
	return flight;
}

/*
 * The same for what the last kernel has recorded. In a crash dump it would have the names of this
 * kernel, so it is not in the list.
 */
struct ftrace_flight *ftrace_flight_make_last(const char *name)
{
	return flight_make(0, name, false, NULL, RING_BUFFER_ALL_CPUS, true);
}

/*
 * Makes a recorder with rings as large as those of another one, in which nobody records: for one
 * CPU, or for RING_BUFFER_ALL_CPUS. NULL without memory. Process context, may sleep.
 */
struct ftrace_flight *ftrace_flight_alike(const struct ftrace_flight *flight, int which)
{
	struct ftrace_flight *copy = flight_make(flight->size, flight->name, flight->timed, flight,
						 which, flight->last);

	if (!copy)
		return NULL;
	guard(mutex)(&flight_mutex);
	flight_nr_copies++;
	return copy;
}

/* Frees what ftrace_flight_alike() has made. Process context, may sleep. */
void ftrace_flight_free(struct ftrace_flight *copy)
{
	scoped_guard(mutex, &flight_mutex)
		flight_nr_copies--;
	flight_free(copy);
}

/**
 * ftrace_flight_get - get a reference to a recorder
 * @flight: the recorder; NULL is allowed
 *
 * Context: Any context.
 * Return: @flight.
 */
struct ftrace_flight *ftrace_flight_get(struct ftrace_flight *flight)
{
	if (flight)
		refcount_inc(&flight->users);
	return flight;
}

/**
 * ftrace_flight_put - drop a reference to a recorder
 * @flight: the recorder; NULL is allowed
 *
 * Context: Any context.
 */
void ftrace_flight_put(struct ftrace_flight *flight)
{
	if (flight && refcount_dec_and_test(&flight->users))
		flight_bury(flight);
}

/*
 * Makes the rings for snapshots. 0, -ENOMEM, or -EBUSY if there can be none. Process context, may
 * sleep.
 */
int ftrace_flight_make_spare(struct ftrace_flight *flight)
{
	struct ftrace_flight *spare;

	/* The rings would change places. */
	if (flight->persistent)
		return -EBUSY;
	/* CPUs that come later get theirs from flight_cpu_up(). */
	guard(cpus_read_lock)();
	spare = ftrace_flight_alike(flight, RING_BUFFER_ALL_CPUS);
	if (!spare)
		return -ENOMEM;
	spare->of = flight;
	/* All of it; pairs with the dependency in ftrace_flight_exchange(). */
	smp_store_release(&flight->spare, spare);
	return 0;
}

/* Gives them up. Process context, may sleep; trace_types_lock held. */
void ftrace_flight_free_spare(struct ftrace_flight *flight)
{
	struct ftrace_flight *spare = flight->spare;

	lockdep_assert_held(&trace_types_lock);
	if (!spare)
		return;
	/* flight_cpu_up() makes no rings for it any more. */
	scoped_guard(cpus_read_lock)
		WRITE_ONCE(flight->spare, NULL);
	/* Once more when those who have looked at it before are done. */
	flight_ask_not(spare);
	/* @flight is not freed before: who holds trace_types_lock uses it. */
	flight_bury(spare);
}
