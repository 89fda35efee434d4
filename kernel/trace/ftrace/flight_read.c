// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the rings of the flight recorder.
 *
 * The ring of a CPU is read from the oldest record to the youngest: first what is left of the lap
 * before, behind the record that is written next; then the current lap, up to there. Of both laps
 * only words with the parity of the lap count. A record with the other parity is reserved and not
 * written yet, or somebody has written it since the reader began.
 *
 * Few records say when. Calls between two times are spread evenly over the time in between. Calls
 * after the last time follow each other as the calls before it did.
 *
 * A time is taken after its record is reserved. If an interrupt comes in between, its records are
 * behind the time in the ring, and are earlier. So a time is not later than the next ones.
 */
#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/math64.h>
#include <linux/percpu.h>

#include "flight.h"
#include "table.h"

/* If so many contexts interrupt each other, each of them may have taken a time late. */
#define TIMES_AHEAD	4

/* So often a ring is copied, if the CPU overwrites all of it meanwhile. */
#define COPIES		4

/* How long to wait until a CPU has no window open. */
#define SETTLES		1000

enum flight_kind {
	FLIGHT_END,
	FLIGHT_SKIP,
	FLIGHT_TIME,
	FLIGHT_SWITCH,
	FLIGHT_CALL,
	FLIGHT_RETURN,
};

struct flight_record {
	u64	word;
	u64	cycles;		/* of a time, or of any record of a timed ring */
};

static unsigned long flight_next_pos(const struct ftrace_flight_cpu *snap)
{
	return (long)snap->next >> 1;
}

/* Bit 31 is 1: sign-extended, it is the address. */
static unsigned long flight_caller(u64 word)
{
	return (long)(s32)((((word >> 32) + 1) >> 1) | FTRACE_FLIGHT_CALL);
}

static enum flight_kind flight_kind(u64 word)
{
	if (word & FTRACE_FLIGHT_CALL)
		return flight_caller(word) == FTRACE_FLIGHT_RETURN ? FLIGHT_RETURN : FLIGHT_CALL;
	return word & FTRACE_FLIGHT_SWITCH ? FLIGHT_SWITCH : FLIGHT_TIME;
}

/* The lowest 31 bits of a word, and as many of those in its upper half that have no other use. */
static u64 flight_low(u64 word)
{
	return word & GENMASK(30, 0);
}

static u64 flight_high(u64 word)
{
	return word >> 33 & GENMASK(29, 0);
}

static u64 flight_time(u64 word)
{
	return flight_high(word) << 31 | flight_low(word);
}

/* The task that runs behind a record, if @pid ran before. */
u32 ftrace_flight_pid_after(u64 word, u32 pid)
{
	return word && flight_kind(word) == FLIGHT_SWITCH ? flight_low(word) : pid;
}

/* Had the last kernel a call site there? It may have had other modules. */
static bool flight_was_site(unsigned long ip)
{
	unsigned long now = ftrace_flight_keep_name(ip);
	struct ftrace_table *t;

	/* All other bits are 1, in code of the kernel as in that of modules. */
	if (!now)
		return flight_low(ip) - flight_low(MODULES_VADDR) < MODULES_END - MODULES_VADDR;
	/* Tables stay meanwhile. */
	guard(preempt_notrace)();
	return ftrace_find_site(now, &t);
}

/**
 * ftrace_flight_plausible - may the last kernel have written a record?
 * @h: what it says of its records
 * @record: the record, whose word is not 0
 * @first: it is the first one of its group
 *
 * Context: Any context.
 * Return: false if something else was written there.
 */
bool ftrace_flight_plausible(const struct ftrace_flight_header *h, const u64 *record, bool first)
{
	u64 word = record[h->timed], time = h->timed ? record[0] : flight_time(word);
	enum flight_kind kind = flight_kind(word);

	if ((h->timed || kind == FLIGHT_TIME) &&
	    time - h->made > h->second * FTRACE_FLIGHT_SECONDS)
		return false;
	switch (kind) {
	case FLIGHT_TIME:
		return true;
	case FLIGHT_SWITCH:
		return !first && flight_low(word) < PID_MAX_LIMIT &&
		       flight_high(word) < PID_MAX_LIMIT;
	default:
		return !first && flight_was_site((long)(s32)word - MCOUNT_INSN_SIZE);
	}
}

/* Look at a record, and go on to the next. */
static enum flight_kind flight_step(const struct ftrace_flight *flight,
				    const struct ftrace_flight_cpu *snap,
				    struct ftrace_flight_place *place, struct flight_record *rec)
{
	unsigned long stop = place->wrapped ? flight_next_pos(snap) : snap->end;
	bool odd = place->wrapped ? snap->next & 1 : ~snap->next & 1;
	const u64 *slot = (const u64 *)place->pos;

	if (place->pos >= stop) {
		if (place->wrapped)
			return FLIGHT_END;
		*place = (struct ftrace_flight_place){ snap->base, true };
		return FLIGHT_SKIP;
	}
	place->pos += flight->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
	rec->word = READ_ONCE(slot[flight->timed]);
	if (!rec->word || odd == !!(rec->word & FTRACE_FLIGHT_EVEN))
		return FLIGHT_SKIP;
	if (flight->timed) {
		/* The word first; pairs with the order of stores in flight_store(). */
		smp_rmb();
		rec->cycles = READ_ONCE(slot[0]);
	} else {
		rec->cycles = flight_time(rec->word);
	}
	return flight_kind(rec->word);
}

/*
 * The task of a record, if nothing is known of those before. A switch says which task it was, or
 * the next group which task runs when it begins, if there is no switch before that.
 */
static u32 flight_first_pid(const struct ftrace_flight *flight,
			    const struct ftrace_flight_cursor *cursor)
{
	unsigned long group = flight->timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP;
	const u32 *pids = (const u32 *)cursor->snap.behind;
	struct ftrace_flight_place place = cursor->place;
	struct flight_record rec;
	enum flight_kind kind;

	do {
		unsigned long at = place.pos - cursor->snap.base;

		kind = flight_step(flight, &cursor->snap, &place, &rec);
		if (kind == FLIGHT_SWITCH)
			return flight_high(rec.word);
		if (kind == FLIGHT_TIME && !(at & (group - 1))) {
			u32 pid;

			/* The word first; pairs with the order of stores in flight_group(). */
			smp_rmb();
			pid = READ_ONCE(pids[at / group]);
			if (pid != FTRACE_FLIGHT_NOBODY)
				return pid;
		}
	} while (kind != FLIGHT_END);
	return cursor->snap.pid;
}

/*
 * What is before that place may be overwritten, if @next is where the CPU records. If calls may be
 * taken back, others may have been written before, up to the last place in the group.
 */
static u64 flight_reach(const struct ftrace_flight *flight, u64 next)
{
	return flight->thresh ? next | FTRACE_FLIGHT_TIMED_FIRST : next;
}

/* The place of the oldest record: behind what was cleared, unless that is overwritten. */
static struct ftrace_flight_place flight_oldest(const struct ftrace_flight *flight,
						const struct ftrace_flight_cpu *snap)
{
	u64 age = ftrace_flight_where(snap).lap - snap->cleared_lap;
	unsigned long cleared = (long)snap->cleared >> 1;
	unsigned long next = (long)flight_reach(flight, snap->next) >> 1;

	if (cleared && (!age || (age == 1 && cleared >= next)))
		return (struct ftrace_flight_place){ cleared, !age };
	return (struct ftrace_flight_place){ next };
}

/* Where a ring ends for a reader: what is behind may be taken back while its CPU records. */
static u64 flight_stays(const struct ftrace_flight_cpu *snap)
{
	u64 group = snap->next & ~(u64)FTRACE_FLIGHT_TIMED_FIRST;

	if ((snap->kept & ~(u64)FTRACE_FLIGHT_TIMED_FIRST) != group)
		return group;
	/* The last return may not be recorded yet. */
	return min(snap->kept, snap->next);
}

/* What is known of a ring, all of it of the same moment. Returns false if there was none. */
static bool flight_snap(const struct ftrace_flight *flight, const struct ftrace_flight_cpu *c,
			struct ftrace_flight_cpu *snap)
{
	u32 turns = READ_ONCE(c->turns);
	struct ftrace_flight_at at, now;

	/* Before all of the ring; pairs with flight_turn(). */
	smp_rmb();
	at = ftrace_flight_where(c);
	/* All of it, between two looks at where the CPU is. */
	smp_rmb();
	/* The CPU may write meanwhile. */
	*snap = data_race(*c);
	/* Who reads while the CPU records knows no end. */
	if (!snap->off)
		snap->stopped = U64_MAX;
	if (!snap->off && flight->thresh)
		snap->next = flight_stays(snap);
	/* As above. */
	smp_rmb();
	now = ftrace_flight_where(c);
	/* As above. */
	smp_rmb();
	return now.lap == at.lap && now.next == at.next && snap->pid == READ_ONCE(c->pid) &&
	       !(turns & 1) && turns == READ_ONCE(c->turns);
}

/* Goes to the oldest record of a CPU. The recorder is switched off or paused. Any context. */
void ftrace_flight_rewind(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			  int cpu)
{
	const struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu);
	unsigned int tries = 0;

	/* The times of all that this reader gets are computed from the same two moments. */
	*cursor = (struct ftrace_flight_cursor){
		.flight = flight,
		/* A dump can come while another reader writes them. */
		.start = data_race(flight->start), .stop = data_race(flight->stop) };
	if (!ftrace_flight_has_ring(c))
		return;
	/* A window that was open before recording was switched off may still write. */
	while (!flight_snap(flight, c, &cursor->snap) && ++tries < 16)
		;
	cursor->place = flight_oldest(flight, &cursor->snap);
	cursor->pid = flight_first_pid(flight, cursor);
}

/*
 * Copy a ring while its CPU may record. What the CPU has overwritten meanwhile counts as cleared.
 * Returns false if that is all.
 */
static bool flight_copy_ring(const struct ftrace_flight *flight, const struct ftrace_flight_cpu *c,
			     struct ftrace_flight_cpu *to)
{
	unsigned long shift = to->base - c->base;
	struct ftrace_flight_cpu snap;
	struct ftrace_flight_at at;
	u64 lap;

	if (!flight_snap(flight, c, &snap))
		return false;
	/*
	 * Backwards: the word of a record before its time, as in flight_step(). The tasks of groups
	 * come after the words; pairs with flight_group().
	 */
	for (u64 *slot = (u64 *)to->behind; slot-- > (u64 *)to->base; ) {
		*slot = READ_ONCE(*(u64 *)((unsigned long)slot - shift));
		if (PAGE_ALIGNED(slot))
			cond_resched();
	}
	/* As above. */
	smp_rmb();
	for (u64 *slot = (u64 *)to->dump; slot-- > (u64 *)to->behind; )
		*slot = READ_ONCE(*(u64 *)((unsigned long)slot - shift));
	/* Then where the CPU is: it writes @next before it writes a record. */
	smp_rmb();
	at = ftrace_flight_where(c);
	at.next = flight_reach(flight, at.next);
	lap = ftrace_flight_where(&snap).lap;
	if (at.lap - lap > 1 || (at.lap != lap && (long)at.next > (long)snap.next))
		return false;
	/* Unless the ring was cleared later. */
	if (at.lap > snap.cleared_lap + 1 ||
	    (at.lap == snap.cleared_lap + 1 && (long)at.next > (long)snap.cleared)) {
		snap.cleared = at.next;
		snap.cleared_lap = at.lap - 1;
	}
	snap.off = 1;
	snap.base = to->base;
	snap.last = to->last;
	snap.behind = to->behind;
	snap.end += shift;
	snap.next += 2 * shift;
	snap.cleared += snap.cleared ? 2 * shift : 0;
	snap.dump = to->dump;
	*to = snap;
	return true;
}

/*
 * The ring of a CPU, or that of its snapshot. A CPU that has made no call since it was asked for a
 * snapshot has not exchanged its rings: then its ring is the snapshot, and the other one is empty.
 */
static bool flight_copy_cpu(const struct ftrace_flight *flight, int cpu, bool snapshot,
			    struct ftrace_flight_cpu *to)
{
	const struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu), *from = c;
	u32 turns = READ_ONCE(c->turns);
	bool asked;

	/* As in flight_snap(). */
	smp_rmb();
	asked = READ_ONCE(c->other);
	if (snapshot && !asked)
		from = per_cpu_ptr(flight->spare->cpu, cpu);
	if (!flight_copy_ring(flight, from, to))
		return false;
	if (snapshot ? c->forgotten == turns + (asked ? 2 : 0) : asked) {
		to->cleared = to->next;
		to->cleared_lap = ftrace_flight_where(to).lap;
	}
	/* As above. */
	smp_rmb();
	return !(turns & 1) && turns == READ_ONCE(c->turns);
}

/*
 * Copies what a recorder has recorded, which goes on meanwhile, or its snapshot; NULL without
 * memory, or if that is in vain. The copy is freed by ftrace_flight_free(). Process context, may
 * sleep; nobody frees the snapshot.
 */
struct ftrace_flight *ftrace_flight_copy(const struct ftrace_flight *flight, bool snapshot,
					 int which)
{
	const struct ftrace_flight *of = snapshot ? flight->spare : flight;
	struct ftrace_flight *copy = ftrace_flight_alike(of, which);
	int cpu;

	if (!copy)
		return NULL;
	/* Written when recording is switched on or off. */
	copy->start = data_race(flight->start);
	/* As above. */
	copy->stop = data_race(of->stop);
	copy->since = of->since;
	copy->other = of->other;
	for_each_possible_cpu(cpu) {
		struct ftrace_flight_cpu *to = per_cpu_ptr(copy->cpu, cpu);
		unsigned int tries = 0;

		if (!to->base)
			continue;
		while (!flight_copy_cpu(flight, cpu, snapshot, to)) {
			if (++tries < COPIES)
				continue;
			ftrace_flight_free(copy);
			return NULL;
		}
	}
	return copy;
}

/*
 * Goes on to what a CPU has recorded since. Returns false if that is nothing. All records up to
 * there are written, because no window was open then. A window that opens now has later records.
 */
static bool flight_go_on(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor)
{
	const struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cursor->cpu);
	struct ftrace_flight_cpu now, *snap = &cursor->snap;
	struct ftrace_flight_place oldest;
	unsigned int tries = 0;
	bool lost;
	u64 age;

	if (!ftrace_flight_has_ring(c))
		return false;
	/* Nor in the middle of flight_lap(). A window closes after its record is written. */
	while (!flight_snap(flight, c, &now) || ((now.laps ^ now.next) & 1) ||
	       READ_ONCE(per_cpu(ftrace_flight_depth, cursor->cpu))) {
		if (++tries > SETTLES)
			return false;
		cpu_relax();
	}
	/* The records after the look at the windows. */
	smp_rmb();
	if (now.turns == snap->turns && now.laps == snap->laps && now.next == snap->next &&
	    now.off == snap->off && now.cleared == snap->cleared)
		return false;
	age = now.laps - snap->laps + !cursor->place.wrapped;
	cursor->place.wrapped = !age;
	oldest = flight_oldest(flight, &now);
	lost = now.turns != snap->turns || age > 1 || cursor->place.wrapped < oldest.wrapped ||
	       (cursor->place.wrapped == oldest.wrapped && cursor->place.pos < oldest.pos);
	cursor->missed |= lost && snap->base;
	cursor->snap = now;
	cursor->ahead = false;
	if (lost) {
		cursor->place = oldest;
		cursor->pid = flight_first_pid(flight, cursor);
	}
	return true;
}

/* Goes to the oldest record of a CPU, and later on to what the CPU records. Any context. */
void ftrace_flight_follow(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			  int cpu)
{
	*cursor = (struct ftrace_flight_cursor){
		.flight = flight, .cpu = cpu, .follows = true,
		/* No ring is known yet. */
		.snap.turns = U32_MAX,
		/* As in ftrace_flight_rewind(). */
		.start = data_race(flight->start), .stop = data_race(flight->stop) };
}

/*
 * The time of a record at @place, which has taken @time: it is not later than the next ones, nor
 * than the stop.
 */
static u64 flight_time_of(const struct ftrace_flight *flight,
			  const struct ftrace_flight_cursor *cursor,
			  struct ftrace_flight_place place, u64 time)
{
	struct flight_record rec;
	enum flight_kind kind;
	unsigned int n = 0;

	time = min(time, cursor->snap.stopped);
	do {
		kind = flight_step(flight, &cursor->snap, &place, &rec);
		if (kind == FLIGHT_TIME || (flight->timed && kind > FLIGHT_SKIP)) {
			time = min(time, rec.cycles);
			n++;
		}
	} while (kind != FLIGHT_END && n < TIMES_AHEAD);
	return time;
}

/* Spread the calls up to the next time; one of them is already behind us. */
static void flight_look_ahead(const struct ftrace_flight *flight,
			      struct ftrace_flight_cursor *cursor)
{
	struct ftrace_flight_place place = cursor->place;
	struct flight_record rec;
	unsigned int calls = 1;
	enum flight_kind kind;
	u64 limit;

	do {
		kind = flight_step(flight, &cursor->snap, &place, &rec);
		calls += kind >= FLIGHT_CALL;
	} while (kind != FLIGHT_END && kind != FLIGHT_TIME);

	if (kind == FLIGHT_TIME)
		limit = flight_time_of(flight, cursor, place, rec.cycles);
	else
		limit = min(cursor->time + (calls + 1) * cursor->step,
			    cursor->snap.stopped);
	cursor->open = kind == FLIGHT_END;
	cursor->until = kind == FLIGHT_TIME ? limit : cursor->snap.stopped;
	limit = max(limit, cursor->time);
	cursor->step = div_u64(limit - cursor->time, calls + 1);
	cursor->ahead = true;
}

/* Is the next record the first one of a group? */
static bool flight_is_first(const struct ftrace_flight *flight,
			    const struct ftrace_flight_cursor *cursor)
{
	unsigned long group = flight->timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP;

	return !((cursor->place.pos - cursor->snap.base) & (group - 1));
}

static bool flight_next(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			struct ftrace_flight_call *call)
{
	struct flight_record rec;
	enum flight_kind kind;

	for (;;) {
		bool first = flight_is_first(flight, cursor), wrapped = cursor->place.wrapped;

		rec.word = FTRACE_FLIGHT_CALL;
		kind = flight_step(flight, &cursor->snap, &cursor->place, &rec);
		if (kind == FLIGHT_END)
			return false;
		/* Something else was written to this group, or to the last ones of a lap. */
		cursor->gap |= flight->other && ((first && !rec.word) ||
						 wrapped != cursor->place.wrapped);
		if (kind == FLIGHT_SKIP)
			continue;
		if (cursor->gap && first) {
			cursor->pid = flight_first_pid(flight, cursor);
			cursor->gap = false;
		}
		if (flight->timed || kind == FLIGHT_TIME) {
			cursor->time = max(cursor->time, flight_time_of(flight, cursor,
									cursor->place, rec.cycles));
			cursor->since = cursor->time;
			cursor->until = cursor->time;
			cursor->ahead = false;
		} else if (kind >= FLIGHT_CALL && cursor->time) {
			if (!cursor->ahead)
				flight_look_ahead(flight, cursor);
			cursor->time += cursor->step;
		}
		cursor->pid = ftrace_flight_pid_after(rec.word, cursor->pid);
		/*
		 * Nothing older than the oldest time is shown, or that the last kernel cleared:
		 * then two times are before the next call.
		 */
		if (kind >= FLIGHT_CALL && cursor->time && cursor->since >= flight->since)
			break;
	}

	call->ip = (long)(s32)rec.word - MCOUNT_INSN_SIZE;
	call->parent_ip = kind == FLIGHT_CALL ? flight_caller(rec.word) : 0;
	/* A tail call by a function that has a thunk itself. */
	if (call->parent_ip && !flight->last)
		call->parent_ip = ftrace_thunk_function(call->parent_ip, true) ?: call->parent_ip;
	call->pid = cursor->pid;
	call->time = cursor->time;
	call->early = cursor->since;
	call->late = cursor->until;
	return true;
}

/*
 * Is what a reader who follows a CPU has not read yet in a ring that another one has replaced? It
 * may be freed after a grace period that begins then.
 */
static bool flight_replaced(const struct ftrace_flight *flight,
			    const struct ftrace_flight_cursor *cursor)
{
	return READ_ONCE(per_cpu_ptr(flight->cpu, cursor->cpu)->turns) != cursor->snap.turns;
}

/* Has the CPU overwritten what a reader who follows it has read from @cursor on? */
static bool flight_overtaken(const struct ftrace_flight *flight,
			     const struct ftrace_flight_cursor *cursor)
{
	const struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cursor->cpu);
	struct ftrace_flight_at at;
	u64 age;

	/* The records first: the CPU writes @next before it writes a record. */
	smp_rmb();
	at = ftrace_flight_where(c);
	at.next = flight_reach(flight, at.next);
	age = at.lap - cursor->snap.laps + !cursor->place.wrapped;
	return age > 1 || (age && cursor->place.pos < (unsigned long)((long)at.next >> 1)) ||
	       flight_replaced(flight, cursor);
}

/*
 * Gets the next call of a CPU, after ftrace_flight_rewind() or ftrace_flight_follow(); false if
 * there is none. Any context.
 */
bool ftrace_flight_next(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			struct ftrace_flight_call *call)
{
	if (!cursor->follows)
		return flight_next(flight, cursor, call);
	guard(rcu)();
	do {
		struct ftrace_flight_cursor before = *cursor;
		bool found = !flight_replaced(flight, cursor) && flight_next(flight, cursor, call);
		bool overtaken = flight_overtaken(flight, &before);

		/* While recording goes on, calls wait for the time behind them. */
		if (found && !overtaken && (!cursor->open || cursor->snap.off))
			return true;
		/* What is behind the last call may be changed in place, see flight_quiet(). */
		*cursor = before;
	} while (flight_go_on(flight, cursor));
	return false;
}
