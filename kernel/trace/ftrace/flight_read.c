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
#include <linux/ftrace_flight.h>
#include <linux/math64.h>
#include <linux/percpu.h>

#include "flight.h"

/* If so many contexts interrupt each other, each of them may have taken a time late. */
#define TIMES_AHEAD	4

enum flight_kind {
	FLIGHT_END,
	FLIGHT_SKIP,
	FLIGHT_TIME,
	FLIGHT_SWITCH,
	FLIGHT_CALL,
};

struct flight_record {
	u64	word;
	u64	cycles;		/* of a time, or of any record of a timed ring */
};

static unsigned long flight_next_pos(const struct ftrace_flight_cpu *snap)
{
	return (long)snap->next >> 1;
}

static enum flight_kind flight_kind(u64 word)
{
	if (word & FTRACE_FLIGHT_CALL)
		return FLIGHT_CALL;
	return word & FTRACE_FLIGHT_SWITCH ? FLIGHT_SWITCH : FLIGHT_TIME;
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
		rec->cycles = (rec->word >> 33 & GENMASK(29, 0)) << 31 |
			      (rec->word & GENMASK(30, 0));
	}
	return flight_kind(rec->word);
}

/*
 * The task of the oldest record. A switch says which task it was, or the next group which task runs
 * when it begins, if there is no switch before that.
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
			return rec.word >> 33 & GENMASK(29, 0);
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

/* The place of the oldest record: behind what was cleared, unless that is overwritten. */
static struct ftrace_flight_place flight_oldest(const struct ftrace_flight_cpu *snap)
{
	u64 lap = snap->laps + ((snap->laps ^ snap->next) & 1), age = lap - snap->cleared_lap;
	unsigned long cleared = (long)snap->cleared >> 1, next = flight_next_pos(snap);

	if (cleared && (!age || (age == 1 && cleared >= next)))
		return (struct ftrace_flight_place){ cleared, !age };
	return (struct ftrace_flight_place){ next };
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
	do {
		/* The CPU may write meanwhile; then the word is another one below. */
		cursor->snap = data_race(*c);
		/* All of the ring, between the two times that we read the word. */
		smp_rmb();
	} while ((cursor->snap.next != READ_ONCE(c->next) ||
		  cursor->snap.pid != READ_ONCE(c->pid)) && ++tries < 16);
	cursor->place = flight_oldest(&cursor->snap);
	/* Who reads while the CPU records knows no end. */
	if (!cursor->snap.off)
		cursor->snap.stopped = U64_MAX;
	cursor->pid = flight_first_pid(flight, cursor);
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
		calls += kind == FLIGHT_CALL;
	} while (kind != FLIGHT_END && kind != FLIGHT_TIME);

	if (kind == FLIGHT_TIME)
		limit = flight_time_of(flight, cursor, place, rec.cycles);
	else
		limit = min(cursor->time + (calls + 1) * cursor->step,
			    cursor->snap.stopped);
	limit = max(limit, cursor->time);
	cursor->step = div_u64(limit - cursor->time, calls + 1);
	cursor->ahead = true;
}

/*
 * Gets the next call of a CPU, after ftrace_flight_rewind(); false if there is none. Any context.
 */
bool ftrace_flight_next(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			struct ftrace_flight_call *call)
{
	struct flight_record rec;
	enum flight_kind kind;

	for (;;) {
		kind = flight_step(flight, &cursor->snap, &cursor->place, &rec);
		if (kind == FLIGHT_END)
			return false;
		if (kind == FLIGHT_SKIP)
			continue;
		if (flight->timed || kind == FLIGHT_TIME) {
			cursor->time = max(cursor->time, flight_time_of(flight, cursor,
									cursor->place, rec.cycles));
			cursor->ahead = false;
		} else if (kind == FLIGHT_CALL && cursor->time) {
			if (!cursor->ahead)
				flight_look_ahead(flight, cursor);
			cursor->time += cursor->step;
		}
		if (kind == FLIGHT_SWITCH)
			cursor->pid = rec.word & GENMASK(30, 0);
		/* What is older than the oldest time is not shown. */
		if (kind == FLIGHT_CALL && cursor->time)
			break;
	}

	/* Bit 31 of both is 1: sign-extended, they are the addresses. */
	call->ip = (long)(s32)rec.word - MCOUNT_INSN_SIZE;
	call->parent_ip = (long)(s32)((((rec.word >> 32) + 1) >> 1) | FTRACE_FLIGHT_CALL);
	call->pid = cursor->pid;
	call->time = cursor->time;
	return true;
}
