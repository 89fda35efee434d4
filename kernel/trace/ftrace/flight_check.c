// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is what the last kernel has recorded still there?
 *
 * Memory that a reset leaves alone is not memory that nobody writes to before the next kernel runs:
 * firmware uses some of it. Recording must not take longer for that, so there are no checksums. But
 * most of what others write is not what a kernel can have recorded. A group of records in which
 * something else is found is cleared, as if it had never been written.
 */
#include <linux/cpumask.h>
#include <linux/ftrace_flight.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "flight.h"

/*
 * Some records of a group may not be written, and some may be times without a call between:
 * contexts interrupt each other, and one of them for good.
 */
#define SOME	8

enum check_group {
	GROUP_EMPTY,
	GROUP_WHOLE,
	GROUP_PART,		/* the last one of a lap */
	GROUP_OTHER,
};

static unsigned long group_size(const struct ftrace_flight_header *h)
{
	return h->timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP;
}

static unsigned int group_records(const struct ftrace_flight_header *h)
{
	return group_size(h) / (h->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD);
}

static enum check_group check_records(const struct ftrace_flight_header *h, const u64 *group)
{
	unsigned int written = 0, times = 0, nr = group_records(h);

	for (unsigned int i = 0; i < nr; i++) {
		const u64 *record = group + i * (h->timed + 1);

		if (!record[h->timed])
			continue;
		times++;
		if (record[h->timed] & (FTRACE_FLIGHT_CALL | FTRACE_FLIGHT_SWITCH))
			times = 0;
		if (times > SOME || !ftrace_flight_plausible(h, record, !i))
			return GROUP_OTHER;
		written++;
	}
	if (!written)
		return GROUP_EMPTY;
	if (!group[h->timed])
		return GROUP_OTHER;
	return written + SOME >= nr ? GROUP_WHOLE : GROUP_PART;
}

/* Can a lap have ended in a group of which a part is written, if this is the next one? */
static bool check_ends(const struct ftrace_flight_header *h, const u64 *group, const u64 *next)
{
	/* If the lap before has left records behind the last one, calls were taken back. */
	return !next[h->timed] || (next[h->timed] ^ group[h->timed]) & FTRACE_FLIGHT_EVEN;
}

/* Returns the number of groups of a ring in which something else was written. They are cleared. */
static unsigned int check_ring(const struct ftrace_flight_header *h, void *ring)
{
	unsigned long size = group_size(h), groups = ftrace_flight_groups(h->ring, h->timed);
	unsigned int other = 0, empty = 0;
	bool odd = false;
	u64 *part = NULL;

	for (unsigned long i = 0; i < groups; i++) {
		u64 *group = ring + i * size;
		enum check_group kind = check_records(h, group);

		if (part && !check_ends(h, part, group)) {
			memset(part, 0, size);
			other++;
		}
		part = kind == GROUP_PART ? group : NULL;
		if (kind == GROUP_OTHER) {
			memset(group, 0, size);
			other++;
		} else if (kind == GROUP_EMPTY) {
			empty++;
		} else {
			/* Somebody has cleared those between it and the group before. */
			other += empty;
			empty = 0;
			odd |= !(group[h->timed] & FTRACE_FLIGHT_EVEN);
		}
		cond_resched();
	}
	/* The first lap of a CPU is an even one. Later, the lap before goes on to the end. */
	if (odd && empty > FTRACE_FLIGHT_OVERRUN)
		other += empty - FTRACE_FLIGHT_OVERRUN;
	return other;
}

/*
 * Do the tasks of groups follow from the switches in the groups before? All groups are records.
 * Where a lap ends they need not follow, but then there is a switch behind them.
 */
static bool check_pids(const struct ftrace_flight_header *h, const void *ring, const u32 *pids)
{
	unsigned long groups = ftrace_flight_groups(h->ring, h->timed);
	u32 pid = FTRACE_FLIGHT_NOBODY;

	for (unsigned long i = 0; i < groups; i++) {
		const u64 *group = ring + i * group_size(h);
		u32 here = pids[i];

		if (!group[h->timed])
			break;
		if (pid != FTRACE_FLIGHT_NOBODY && pid != here && here != FTRACE_FLIGHT_NOBODY)
			return false;
		pid = here;
		for (unsigned int n = 0; n < group_records(h); n++)
			pid = ftrace_flight_pid_after(group[n * (h->timed + 1) + h->timed], pid);
		cond_resched();
	}
	return true;
}

/**
 * ftrace_flight_check_last - clear what is no record of the last kernel
 *
 * Context: Process context, may sleep. trace_types_lock held. ftrace_flight_found() is true of some
 *	trace array, and no recorder has its rings in the memory.
 * Return: the number of groups of records in which something else was written.
 */
unsigned int ftrace_flight_check_last(void)
{
	const struct ftrace_flight_header *h = ftrace_flight_keep_header();
	unsigned long groups = ftrace_flight_groups(h->ring, h->timed);
	unsigned int other = 0, others;
	int cpu;

	lockdep_assert_held(&trace_types_lock);
	for_each_possible_cpu(cpu) {
		void *ring = ftrace_flight_keep_ring(cpu);
		u32 *pids = ring + groups * group_size(h);

		others = check_ring(h, ring);
		other += others;
		/* Switches tell the tasks, too. */
		if (others || !check_pids(h, ring, pids))
			memset32(pids, FTRACE_FLIGHT_NOBODY, groups);
	}
	return other;
}
