// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the flight recorder: each call is in the ring once, in order, with its task and
 * caller; and a task that is held between the reservation of a record and its store never writes
 * among records of a later lap.
 *
 * Cases that read make calls of addresses that are not code, and number them. The kernel's code
 * is in the upper 2 GB, as the numbers are; the code of the program for native tests is not.
 */
#include <linux/ftrace_arch.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "../core.h"
#include "../flight.h"
#include "ftrace_kunit.h"

#define SIZE		SZ_16K
/* The records of a lap, with those that are times. */
#define LAP		(SIZE / FTRACE_FLIGHT_RECORD)
#define IP(n)		(0xffffffff81000000UL + (n))
#define CALLER(n)	(0xffffffffc0000000UL + (n))
/* Where modules can be and none is. */
#define MODULE(n)	(MODULES_END - PAGE_SIZE + (n))

static void flight_put_action(void *flight)
{
	ftrace_flight_put(flight);
}

static void flight_unpin(void *unused)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* A recorder that is off, and a task that stays on a CPU. */
static struct ftrace_flight *flight_new_off(struct kunit *test, bool timed)
{
	struct ftrace_flight *flight = ftrace_flight_make(SIZE, NULL, timed);

	KUNIT_ASSERT_NOT_NULL(test, flight);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, flight_put_action, flight), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, flight_unpin, NULL), 0);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	return flight;
}

/* The same, and it records. */
static struct ftrace_flight *flight_new(struct kunit *test, bool timed)
{
	struct ftrace_flight *flight = flight_new_off(test, timed);

	ftrace_flight_off(flight, false);
	return flight;
}

static struct ftrace_flight_cpu *flight_here(struct ftrace_flight *flight)
{
	return per_cpu_ptr(flight->cpu, 0);
}

/* Calls with the numbers @first to @end - 1. */
static void flight_calls(struct ftrace_flight *flight, unsigned int first, unsigned int end)
{
	struct ftrace_ops ops = { .flight = flight };

	for (unsigned int n = first; n < end; n++)
		ftrace_flight_func(IP(n), CALLER(n), &ops, NULL);
}

static void flight_stopped(struct ftrace_flight *flight)
{
	ftrace_flight_off(flight, true);
	flight->stop.cycles = get_cycles();
}

/*
 * What the ring has: "@first-@last" for each run of calls whose numbers follow each other. A call
 * whose caller is that of another one, or a time that goes back, ends the list.
 */
static const char *flight_list(struct ftrace_flight *flight)
{
	static char list[256];
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	unsigned long first = 0, last = 0;
	u64 time = 0;
	int len = 0;

	list[0] = '\0';
	ftrace_flight_rewind(flight, &cursor, 0);
	while (ftrace_flight_next(flight, &cursor, &call)) {
		if (call.parent_ip - CALLER(0) != call.ip - IP(0))
			return "wrong caller";
		if (call.time < time)
			return "time goes back";
		if (call.time > flight->stop.cycles)
			return "time of the future";
		time = call.time;
		if (call.ip != last + 1) {
			if (first)
				len += scnprintf(list + len, sizeof(list) - len, "%lu-%lu ",
						 first - IP(0), last - IP(0));
			first = call.ip;
		}
		last = call.ip;
	}
	if (first)
		scnprintf(list + len, sizeof(list) - len, "%lu-%lu", first - IP(0), last - IP(0));
	return list;
}

/* The first and the last call of a ring that has one run of calls. */
static void flight_run(struct kunit *test, struct ftrace_flight *flight, unsigned int *first,
		       unsigned int *last)
{
	const char *list = flight_list(flight);
	int nr = sscanf(list, "%u-%u", first, last);

	KUNIT_EXPECT_NULL_MSG(test, strchr(list, ' '), "more than one run: %s", list);
	KUNIT_ASSERT_EQ_MSG(test, nr, 2, "%s", list);
}

static void flight_laps(struct kunit *test, bool timed, unsigned int lap)
{
	struct ftrace_flight *flight = flight_new(test, timed);
	unsigned int first, last, n = 0;

	KUNIT_EXPECT_STREQ(test, flight_list(flight), "");
	/* Odd steps: the end is at each place of a group, in laps of both parities. */
	for (unsigned int step = 1; n < 7 * lap; step += 2) {
		flight_calls(flight, n, n + step);
		n += step;
		flight_stopped(flight);
		flight_run(test, flight, &first, &last);
		KUNIT_EXPECT_EQ(test, last, n - 1);
		/* All but times, and the oldest group of which a part is gone. */
		KUNIT_EXPECT_LE(test, first, n < lap / 2 ? 0 : n - min(n, lap - lap / 8));
		ftrace_flight_off(flight, false);
	}
}

static void each_call_is_there_once(struct kunit *test)
{
	flight_laps(test, false, LAP);
}

static void each_call_has_a_time(struct kunit *test)
{
	flight_laps(test, true, LAP / 2);
}

/* A new recorder is off until it is switched on, even if a reader has paused it before. */
static void new_recorders_are_off(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new_off(test, false);

	flight_calls(flight, 1, 4);
	ftrace_flight_pause(flight, true);
	ftrace_flight_pause(flight, false);
	flight_calls(flight, 10, 14);
	flight_stopped(flight);
	KUNIT_EXPECT_STREQ(test, flight_list(flight), "");
}

static void nothing_is_recorded_while_off(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);

	/* An ops without a recorder, when the tracer has just ended. */
	flight_calls(NULL, 50, 54);
	flight_calls(flight, 1, 4);
	ftrace_flight_pause(flight, true);
	flight_calls(flight, 10, 14);
	ftrace_flight_pause(flight, true);
	ftrace_flight_off(flight, true);
	ftrace_flight_pause(flight, false);
	flight_calls(flight, 20, 24);
	ftrace_flight_pause(flight, false);
	flight_calls(flight, 30, 34);
	ftrace_flight_off(flight, false);
	flight_calls(flight, 40, 44);
	flight_stopped(flight);
	KUNIT_EXPECT_STREQ(test, flight_list(flight), "1-3 40-43");
}

/*
 * A window is open, its record is reserved. An interrupt makes @calls calls before the record is
 * written. Calls before and after are there, too.
 */
static void flight_hold(struct kunit *test, unsigned int before, unsigned int calls)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cpu *c = flight_here(flight);
	unsigned int first, last;
	unsigned int end = before + 1 + calls;
	u64 next, found;

	flight_calls(flight, 0, before);
	preempt_disable();
	this_cpu_inc(ftrace_flight_depth);
	/* Not the first record of a group: each call before has left behind one like this. */
	next = c->next;
	c->next += 2 * FTRACE_FLIGHT_RECORD;
	flight_calls(flight, before + 1, end);
	found = *(u64 *)((long)next >> 1);
	*(u64 *)((long)next >> 1) =
		((u64)(u32)(2 * (u32)CALLER(before) + (next & 1)) << 32) + IP(before) +
		MCOUNT_INSN_SIZE;
	this_cpu_dec(ftrace_flight_depth);
	preempt_enable();

	KUNIT_EXPECT_EQ(test, found >> 32 & 1, before < LAP - LAP / 8 ? 0 : next & 1);
	flight_stopped(flight);
	flight_run(test, flight, &first, &last);
	/* What was not lost follows the record of the window, which is still there. */
	KUNIT_EXPECT_LE(test, first, before);
	KUNIT_EXPECT_EQ(test, last, end - 1 - (unsigned int)c->lost);
	KUNIT_EXPECT_EQ(test, !!c->lost, calls > LAP);
	/* Then there is room again. */
	ftrace_flight_off(flight, false);
	flight_calls(flight, 2 * end, 2 * end + LAP);
	flight_stopped(flight);
	flight_run(test, flight, &first, &last);
	KUNIT_EXPECT_EQ(test, last, 2 * end + LAP - 1);
}

static void a_window_keeps_its_record(struct kunit *test)
{
	flight_hold(test, 5, 100);
	flight_hold(test, 5, 3 * LAP);
	flight_hold(test, 5, 4 * LAP);
	flight_hold(test, LAP - 200, 2 * LAP);
	flight_hold(test, LAP + 200, 1000 * LAP);
}

/* A window is open with a record that is not written. Calls use up the room but @left groups. */
static u64 flight_use_up(struct ftrace_flight *flight, unsigned int left)
{
	struct ftrace_flight_cpu *c = flight_here(flight);
	unsigned int n = 1000;
	u64 held;

	flight_calls(flight, 0, 5);
	preempt_disable();
	this_cpu_inc(ftrace_flight_depth);
	held = c->next;
	c->next += 2 * FTRACE_FLIGHT_RECORD;
	while (c->groups < c->max - left || c->next & FTRACE_FLIGHT_FIRST) {
		flight_calls(flight, n, n + 1);
		n++;
	}
	return held;
}

/* The window of flight_use_up() is closed. */
static void flight_close(u64 held)
{
	*(u64 *)((long)held >> 1) =
		((u64)(u32)(2 * (u32)CALLER(999) + (held & 1)) << 32) + IP(999) + MCOUNT_INSN_SIZE;
	this_cpu_dec(ftrace_flight_depth);
	preempt_enable();
}

/* A context begins a group, and another one makes calls before that is done. */
static bool flight_begins(struct ftrace_flight *flight, unsigned int first, unsigned int calls)
{
	struct ftrace_flight_cpu *c = flight_here(flight);
	u64 next = c->next;
	bool ret;

	this_cpu_inc(ftrace_flight_depth);
	c->next += 2 * FTRACE_FLIGHT_RECORD;
	flight_calls(flight, first, first + calls);
	ret = ftrace_flight_slow(flight->cpu, next);
	this_cpu_dec(ftrace_flight_depth);
	return ret;
}

static void flight_refuses(struct kunit *test, unsigned int calls)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cpu *c = flight_here(flight);
	u64 held = flight_use_up(flight, 0), next = c->next, then;
	/* Not reserved: may be a record of the lap before. */
	u64 *behind = (u64 *)((long)next >> 1) + 1 + calls, old = *behind;
	bool begins;

	*behind = 90;
	begins = flight_begins(flight, 5000, calls);
	then = c->next;
	KUNIT_EXPECT_EQ(test, *behind, 90);
	*behind = old;
	flight_close(held);
	KUNIT_EXPECT_FALSE(test, begins);
	KUNIT_EXPECT_EQ(test, then, next);
	KUNIT_EXPECT_EQ(test, c->lost, calls + 1);
	flight_calls(flight, 6000, 6001);
	/* Reserved, and not written. */
	c->next += 2 * 3 * FTRACE_FLIGHT_RECORD;
	flight_stopped(flight);
	KUNIT_EXPECT_STREQ(test, strrchr(flight_list(flight), ' '), " 6000-6000");
	KUNIT_EXPECT_NULL(test, strstr(flight_list(flight), "500"));
}

/* If a group is refused, records behind it are not shown in place of later ones. */
static void records_of_a_refused_group_are_cleared(struct kunit *test)
{
	flight_refuses(test, 5);
	/* All of the group. */
	flight_refuses(test, FTRACE_FLIGHT_GROUP / FTRACE_FLIGHT_RECORD - 1);
}

/* A group that has begun while there was room stays, though one before it is refused. */
static void a_group_behind_a_refused_one_stays(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cpu *c = flight_here(flight);
	u64 held = flight_use_up(flight, 1);
	bool begins = flight_begins(flight, 5000, FTRACE_FLIGHT_GROUP / FTRACE_FLIGHT_RECORD + 5);

	flight_close(held);
	KUNIT_EXPECT_FALSE(test, begins);
	KUNIT_EXPECT_EQ(test, c->lost, 1);
	flight_calls(flight, 6000, 6001);
	flight_stopped(flight);
	KUNIT_EXPECT_NOT_NULL(test, strstr(flight_list(flight), "5000-5036 6000-6000"));
}

static void a_record_that_is_not_written_is_not_shown(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cpu *c = flight_here(flight);
	const char *list;

	for (unsigned int lap = 0; lap < 4; lap++) {
		flight_calls(flight, 1000 * lap, 1000 * lap + 5);
		c->next += 2 * FTRACE_FLIGHT_RECORD;
		flight_calls(flight, 1000 * lap + 5, 1000 * lap + 8);
		flight_stopped(flight);
		list = flight_list(flight);
		if (lap)
			list = strrchr(list, ' ') + 1;
		KUNIT_EXPECT_EQ(test, strcmp(list, lap == 0 ? "0-7" : lap == 1 ? "1000-1007" :
					     lap == 2 ? "2000-2007" : "3000-3007"), 0);
		ftrace_flight_off(flight, false);
		flight_calls(flight, 100000 * (lap + 1), 100000 * (lap + 1) + LAP - 40);
	}
}

/* Calls with numbers from @first on, up to the end of the lap. */
static unsigned int flight_to_the_end(struct ftrace_flight *flight, unsigned int first)
{
	const struct ftrace_flight_cpu *c = flight_here(flight);
	u64 parity = c->next & 1;

	while (c->next < ((u64)c->last << 1) || (c->next & 1) != parity) {
		flight_calls(flight, first, first + 1);
		first++;
	}
	return first;
}

/* In lap 0, an interrupt writes behind the ring. In lap 2, the same record is reserved only. */
static void laps_end_at_different_places(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cpu *c = flight_here(flight);
	unsigned int n = flight_to_the_end(flight, 1), behind = n;
	u64 next = c->next;

	preempt_disable();
	this_cpu_inc(ftrace_flight_depth);
	c->next += 2 * FTRACE_FLIGHT_RECORD;
	flight_calls(flight, n, n + 20);
	KUNIT_EXPECT_TRUE(test, ftrace_flight_slow(flight->cpu, next));
	this_cpu_dec(ftrace_flight_depth);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, c->laps, 1);
	KUNIT_EXPECT_EQ(test, c->end, c->last + 21 * FTRACE_FLIGHT_RECORD);
	KUNIT_EXPECT_EQ(test, c->records, LAP + 21);

	n = flight_to_the_end(flight, n + 20);
	flight_calls(flight, n, n + 1);
	KUNIT_EXPECT_EQ(test, c->laps, 2);
	/* The first record of the group that ends a lap is reserved behind the lap. */
	KUNIT_EXPECT_EQ(test, c->records, LAP + 21 + LAP + 1);
	flight_to_the_end(flight, n + 1);
	c->next += 10 * 2 * FTRACE_FLIGHT_RECORD;
	flight_stopped(flight);
	KUNIT_EXPECT_EQ(test, c->laps, 2);
	KUNIT_EXPECT_NULL(test, strchr(flight_list(flight), ' '));
	KUNIT_EXPECT_GT(test, n, behind);
}

static void calls_belong_to_tasks(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;

	preempt_disable();
	flight_calls(flight, 0, 10);
	ftrace_flight_switch(flight, 11, 22);
	flight_calls(flight, 10, 100);
	ftrace_flight_switch(flight, 22, 0);
	flight_calls(flight, 100, 110);
	preempt_enable();
	flight_stopped(flight);

	ftrace_flight_rewind(flight, &cursor, 0);
	for (unsigned int n = 0; n < 110; n++) {
		KUNIT_ASSERT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
		KUNIT_EXPECT_EQ(test, call.ip, IP(n));
		KUNIT_EXPECT_EQ(test, call.pid, n < 10 ? 11 : n < 100 ? 22 : 0);
	}
	KUNIT_EXPECT_FALSE(test, ftrace_flight_next(flight, &cursor, &call));

	/* No switch is left in the ring. */
	ftrace_flight_off(flight, false);
	flight_calls(flight, 0, 3 * LAP);
	flight_stopped(flight);
	ftrace_flight_rewind(flight, &cursor, 0);
	KUNIT_ASSERT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
	KUNIT_EXPECT_EQ(test, call.pid, 0);
}

static void flight_switch(struct ftrace_flight *flight, u32 prev, u32 next)
{
	guard(preempt)();
	ftrace_flight_switch(flight, prev, next);
}

static u64 flight_wait(void)
{
	u64 from = get_cycles();

	while (get_cycles() - from < 100000)
		cpu_relax();
	return get_cycles();
}

/* Calls @first to @end - 1 are shown, each at a time from @from to @to. */
static void flight_between(struct kunit *test, struct ftrace_flight *flight, unsigned int first,
			   unsigned int end, u64 from, u64 to)
{
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	unsigned int nr = 0;

	ftrace_flight_rewind(flight, &cursor, 0);
	while (ftrace_flight_next(flight, &cursor, &call)) {
		if (call.ip < IP(first) || call.ip >= IP(end))
			continue;
		nr++;
		KUNIT_EXPECT_GE_MSG(test, call.time, from, "call %lu", call.ip - IP(0));
		KUNIT_EXPECT_LE_MSG(test, call.time, to, "call %lu", call.ip - IP(0));
	}
	KUNIT_EXPECT_EQ_MSG(test, nr, end - first, "calls from %u on", first);
}

/*
 * The first mark behind a call says when the calls before have ended. Later ones change another
 * mark; and so do switches, a third record. With a time in each record there are switches only.
 */
static void marks_push_no_call_out(struct kunit *test)
{
	for (int timed = 0; timed < 2; timed++) {
		u64 record = 2 * (timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD);
		struct ftrace_flight *flight = flight_new(test, timed);
		struct ftrace_flight_cpu *c = flight_here(flight);

		/* The records behind the last call are at each place of a group. */
		for (unsigned int n = 1; n < 100; n++) {
			u64 before, to, from;

			flight_calls(flight, n, n + 1);
			before = c->next;
			ftrace_flight_mark(flight);
			to = get_cycles();
			flight_wait();
			for (u32 pid = 0; pid < 1000; pid++) {
				flight_switch(flight, pid, pid + 1);
				ftrace_flight_mark(flight);
			}
			/* And perhaps a group begins. */
			KUNIT_EXPECT_LE(test, c->next - before, (2 + 2 * !timed) * record);
			from = get_cycles();
			ftrace_flight_mark(flight);
			flight_calls(flight, n + 1000, n + 1002);
			ftrace_flight_mark(flight);
			flight_stopped(flight);
			flight_between(test, flight, n, n + 1, 0, to);
			flight_between(test, flight, n + 1000, n + 1002, from,
				       flight->stop.cycles);
			ftrace_flight_clear(flight, 0);
			ftrace_flight_off(flight, false);
		}
	}
}

/* Calls, and then pauses over which the CPU stays idle. */
static void flight_pauses(struct kunit *test, bool timed, unsigned int calls, bool switches)
{
	struct ftrace_flight *flight = flight_new(test, timed);
	struct ftrace_flight_cpu *c = flight_here(flight);
	u64 off, on, next;

	ftrace_flight_mark(flight);
	flight_calls(flight, 1, 1 + calls);
	ftrace_flight_pause(flight, true);
	off = get_cycles();
	if (switches)
		flight_switch(flight, 11, 22);
	next = c->next;
	for (int i = 0; i < 3; i++) {
		ftrace_flight_pause(flight, false);
		if (switches)
			flight_switch(flight, 22, 33);
		ftrace_flight_mark(flight);
		flight_wait();
		ftrace_flight_off(flight, true);
		flight_calls(flight, 900, 910);
		flight_between(test, flight, 1, 1 + calls, 0, off);
		ftrace_flight_pause(flight, true);
		ftrace_flight_off(flight, false);
	}
	KUNIT_EXPECT_EQ(test, c->next, next);
	on = flight_wait();
	ftrace_flight_pause(flight, false);
	flight_calls(flight, 1001, 1006);
	ftrace_flight_mark(flight);
	flight_stopped(flight);
	/* Nothing is known of when, in a group that has begun before. */
	flight_wait();
	flight_switch(flight, 33, 44);
	flight_between(test, flight, 1, 1 + calls, 0, off);
	flight_between(test, flight, 1001, 1006, on, flight->stop.cycles);
}

static void no_pause_is_between_times(struct kunit *test)
{
	for (unsigned int calls = 1; calls < 70; calls++)
		for (int variant = 0; variant < 4; variant++)
			flight_pauses(test, variant & 1, calls, variant & 2);
}

/* A mark that was taken back with its group is not changed: there are calls in its place. */
static void marks_of_a_refused_group_are_forgotten(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cpu *c = flight_here(flight);
	u64 held = flight_use_up(flight, 0), next = c->next, marked, to;
	unsigned int n = 5000;

	this_cpu_inc(ftrace_flight_depth);
	c->next += 2 * FTRACE_FLIGHT_RECORD;
	ftrace_flight_mark(flight);
	ftrace_flight_mark(flight);
	marked = c->next;
	KUNIT_EXPECT_FALSE(test, ftrace_flight_slow(flight->cpu, next));
	this_cpu_dec(ftrace_flight_depth);
	flight_close(held);
	for (; c->next != marked && n < 5000 + LAP; n++)
		flight_calls(flight, n, n + 1);
	ftrace_flight_mark(flight);
	to = get_cycles();
	flight_wait();
	ftrace_flight_mark(flight);
	flight_stopped(flight);
	KUNIT_EXPECT_EQ(test, n, 5002);
	flight_between(test, flight, 5000, n, 0, to);
}

/* What is cleared is not shown, in any lap. What follows is shown, at its time. */
static void clearing_is_a_place(struct kunit *test)
{
	struct ftrace_flight *flight;
	unsigned int first, last;
	u64 from;

	for (unsigned int calls = 1; calls < 4 * LAP; calls += 61) {
		bool timed = calls & 2, off = calls & 4;
		unsigned int lap = timed ? LAP / 2 : LAP;

		flight = flight_new(test, timed);
		ftrace_flight_mark(flight);
		flight_calls(flight, 1, 1 + calls);
		if (off)
			ftrace_flight_off(flight, true);
		ftrace_flight_clear(flight, 0);
		from = flight_wait();
		ftrace_flight_mark(flight);
		flight_stopped(flight);
		KUNIT_EXPECT_STREQ(test, flight_list(flight), "");
		ftrace_flight_off(flight, false);
		/* The CPU goes on to record, and makes its next call later. */
		flight_calls(flight, 9001, 9003);
		ftrace_flight_clear(flight, 0);
		from = flight_wait();
		flight_calls(flight, 10001, 10021);
		flight_stopped(flight);
		KUNIT_EXPECT_STREQ(test, flight_list(flight), "10001-10020");
		flight_between(test, flight, 10001, 10021, from, flight->stop.cycles);
		ftrace_flight_off(flight, false);
		flight_calls(flight, 10021, 10000 + calls);
		flight_stopped(flight);
		flight_run(test, flight, &first, &last);
		/* In between, it depends on where groups begin. */
		if (calls < lap - lap / 8 || calls > lap)
			KUNIT_EXPECT_EQ(test, first == 10001, calls < lap);
	}
}

/*
 * A module goes, and another one comes to its place: the names of what is there now are not those
 * of calls from before, also where no time was recorded in between. What the table of such places
 * does not have any more is not known, either.
 */
static void text_that_is_gone_has_no_name(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	u64 now = get_cycles();

	flight_calls(flight, 0, 10);
	ftrace_flight_text_gone(MODULE(5), MODULE(15), false);
	flight_calls(flight, 0, 20);
	flight_stopped(flight);

	ftrace_flight_rewind(flight, &cursor, 0);
	for (unsigned int n = 0; n < 30; n++) {
		unsigned long module;

		KUNIT_ASSERT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
		module = MODULE(call.ip - IP(0));
		KUNIT_EXPECT_EQ(test, ftrace_flight_name(call.ip, call.time), call.ip);
		KUNIT_EXPECT_EQ(test, ftrace_flight_name(module, call.time) == module,
				n < 5 || n >= 10);
	}

	/* Names are kept as long as nobody else comes. */
	ftrace_flight_text_gone(MODULE(100), MODULE(105), true);
	KUNIT_EXPECT_EQ(test, ftrace_flight_name(MODULE(102), now), MODULE(102));
	ftrace_flight_text_gone(MODULE(104), MODULE(109), true);
	KUNIT_EXPECT_EQ(test, ftrace_flight_name(MODULE(103), now), MODULE(103));
	KUNIT_EXPECT_NE(test, ftrace_flight_name(MODULE(104), now), MODULE(104));

	/* The same place needs room in the table once. */
	for (unsigned int n = 0; n < 600; n++)
		ftrace_flight_text_gone(MODULE(200), MODULE(210), false);
	KUNIT_EXPECT_EQ(test, ftrace_flight_name(MODULE(50), now), MODULE(50));
	for (unsigned int n = 0; n < 600; n++)
		ftrace_flight_text_gone(MODULE(300 + n), MODULE(301 + n), false);
	KUNIT_EXPECT_NE(test, ftrace_flight_name(MODULE(8), now), MODULE(8));
	KUNIT_EXPECT_NE(test, ftrace_flight_name(MODULE(50), now), MODULE(50));
	KUNIT_EXPECT_EQ(test, ftrace_flight_name(MODULE(50), get_cycles()), MODULE(50));
	KUNIT_EXPECT_EQ(test, ftrace_flight_name(IP(50), now), IP(50));
}

/* Between two switches, each group says which task runs when it begins. */
static void groups_know_their_task(struct kunit *test)
{
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cpu *c = flight_here(flight);
	const u32 *pids = (const u32 *)c->behind;

	preempt_disable();
	ftrace_flight_switch(flight, 11, 22);
	flight_calls(flight, 0, 100);
	ftrace_flight_switch(flight, 22, 33);
	flight_calls(flight, 100, 200);
	preempt_enable();
	KUNIT_EXPECT_FALSE(test, c->switching);
	KUNIT_EXPECT_EQ(test, pids[0], FTRACE_FLIGHT_NOBODY);
	KUNIT_EXPECT_EQ(test, pids[1], 22);
	KUNIT_EXPECT_EQ(test, pids[2], 22);
	KUNIT_EXPECT_EQ(test, pids[5], 33);
}

/*
 * Task n / @step + 1 makes call n. But an NMI makes the first @nmi of these, in the middle of the
 * switch to that task.
 */
static void flight_oldest(struct kunit *test, bool timed, unsigned int step, unsigned int nmi)
{
	struct ftrace_flight *flight = flight_new(test, timed);
	struct ftrace_flight_cpu *c = flight_here(flight);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;

	for (unsigned int n = 0; n < 3 * LAP; n += step) {
		u32 task = n / step + 1;

		preempt_disable();
		if (nmi) {
			c->switching = true;
			c->pid = task;
			flight_calls(flight, n, n + nmi);
		}
		ftrace_flight_switch(flight, task - 1, task);
		flight_calls(flight, n + nmi, n + step - 2);
		ftrace_flight_mark(flight);
		flight_calls(flight, n + step - 2, n + step);
		preempt_enable();
		flight_stopped(flight);
		ftrace_flight_rewind(flight, &cursor, 0);
		KUNIT_ASSERT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
		task = (call.ip - IP(0)) / step;
		if ((call.ip - IP(0)) % step >= nmi)
			task++;
		KUNIT_ASSERT_EQ_MSG(test, call.pid, task,
				    "call %lu of %u", call.ip - IP(0), n + step);
		ftrace_flight_off(flight, false);
	}
}

/* The oldest call is at each place of a group. */
static void the_task_of_the_oldest_call_is_known(struct kunit *test)
{
	for (int timed = 0; timed < 2; timed++) {
		flight_oldest(test, timed, 5, 0);
		flight_oldest(test, timed, 301, 0);
		flight_oldest(test, timed, 101, 40);
		/* No switch is left in the ring, or a late one. */
		flight_oldest(test, timed, LAP + 3, 0);
		flight_oldest(test, timed, LAP - 200, 70);
	}
}

/* The pid of the first call of a ring, and of the last one. */
static void flight_pids(struct ftrace_flight *flight, u32 *first, u32 *last)
{
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;

	*first = 0;
	*last = 0;
	ftrace_flight_rewind(flight, &cursor, 0);
	while (ftrace_flight_next(flight, &cursor, &call)) {
		if (!*first)
			*first = call.pid;
		*last = call.pid;
	}
}

/* Calls before keep their task, calls after have theirs, and switches do not use up the ring. */
static void tasks_switch_while_off(struct kunit *test)
{
	for (unsigned int timed = 0; timed < 2; timed++) {
		struct ftrace_flight *flight = flight_new(test, timed);
		struct ftrace_flight_cpu *c = flight_here(flight);
		u32 first, last;
		u64 next;

		preempt_disable();
		ftrace_flight_switch(flight, 11, 22);
		flight_calls(flight, 0, 3 * LAP);
		flight_stopped(flight);
		ftrace_flight_switch(flight, 22, 33);
		next = c->next;
		for (u32 pid = 33; pid < 33 + 2 * LAP; pid++)
			ftrace_flight_switch(flight, pid, pid + 1);
		preempt_enable();
		KUNIT_EXPECT_EQ(test, c->next, next);
		flight_pids(flight, &first, &last);
		KUNIT_EXPECT_EQ(test, first, 22);
		KUNIT_EXPECT_EQ(test, last, 22);

		ftrace_flight_off(flight, false);
		flight_calls(flight, 0, 10);
		flight_stopped(flight);
		flight_pids(flight, &first, &last);
		KUNIT_EXPECT_EQ(test, first, 22);
		KUNIT_EXPECT_EQ(test, last, 33 + 2 * LAP);
	}
}

/* After two laps a switch has been overwritten, and the next switch does not change the record. */
static void switches_change_no_call(struct kunit *test)
{
	for (unsigned int timed = 0; timed < 2; timed++) {
		struct ftrace_flight *flight = flight_new(test, timed);
		struct ftrace_flight_cpu *c = flight_here(flight);
		unsigned int first, last, n = 1;
		u64 next;

		scoped_guard(preempt) {
			flight_calls(flight, 0, 10);
			flight_stopped(flight);
			ftrace_flight_switch(flight, 22, 33);
			next = c->next;
			ftrace_flight_off(flight, false);
			do {
				flight_calls(flight, n, n + 1);
			} while (c->next != next && ++n < 4 * LAP);
			flight_stopped(flight);
			ftrace_flight_switch(flight, 33, 44);
		}
		KUNIT_EXPECT_LT(test, n, 4 * LAP);
		KUNIT_EXPECT_NE(test, c->next, next);
		flight_run(test, flight, &first, &last);
		KUNIT_EXPECT_EQ(test, last, n);
	}
}

/* A ring that nothing but calls was written to, whose groups begin at @times. */
static void flight_times(struct ftrace_flight *flight, const u32 *times, unsigned int nr)
{
	u64 *slot = (u64 *)flight_here(flight)->base;

	for (unsigned int i = 0; i < nr; i++)
		slot[i * FTRACE_FLIGHT_GROUP / sizeof(*slot)] = FTRACE_FLIGHT_EVEN | times[i];
}

#define CALLS_PER_GROUP	(FTRACE_FLIGHT_GROUP / FTRACE_FLIGHT_RECORD - 1)

/*
 * Calls are spread evenly between the times of their group and of the next one. A time that was
 * taken late counts as the next ones, however far behind them it was taken.
 */
static void times_are_spread(struct kunit *test)
{
	static const u32 taken[] = {
		1000, 4200, 9000, 7400, 10600, 20200, 20200, 20200, 20200, 13800, 50000,
	};
	static const u32 shown[] = {
		1000, 4200, 7400, 7400, 10600, 13800, 13800, 13800, 13800, 13800, 50000,
	};
	struct ftrace_flight *flight = flight_new(test, false);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;

	flight_calls(flight, 0, (ARRAY_SIZE(taken) - 1) * CALLS_PER_GROUP + 1);
	ftrace_flight_off(flight, true);
	flight->stop.cycles = 60000;
	flight_times(flight, taken, ARRAY_SIZE(taken));
	ftrace_flight_rewind(flight, &cursor, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(taken) - 1; i++) {
		u32 step = (shown[i + 1] - shown[i]) / (CALLS_PER_GROUP + 1);

		for (unsigned int n = 1; n <= CALLS_PER_GROUP; n++) {
			KUNIT_ASSERT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
			KUNIT_EXPECT_EQ_MSG(test, call.time, shown[i] + n * step,
					    "call %u of group %u", n, i);
		}
	}
	KUNIT_EXPECT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
	KUNIT_EXPECT_FALSE(test, ftrace_flight_next(flight, &cursor, &call));
}

/* A time that is further behind than any interrupt explains does not let time go back. */
static void times_do_not_go_back(struct kunit *test)
{
	static const u32 taken[] = { 10000, 20000, 20000, 20000, 20000, 5000, 30000 };
	struct ftrace_flight *flight = flight_new(test, false);

	flight_calls(flight, 0, (ARRAY_SIZE(taken) - 1) * CALLS_PER_GROUP + 1);
	ftrace_flight_off(flight, true);
	flight->stop.cycles = 40000;
	flight_times(flight, taken, ARRAY_SIZE(taken));
	KUNIT_EXPECT_STREQ(test, flight_list(flight), "0-186");
}

/* With a time in each record, a call is not later than the next ones. */
static void times_of_calls_are_in_order(struct kunit *test)
{
	static const u32 taken[] = { 100, 200, 500, 400, 300, 600, 900, 800, 1000 };
	static const u32 shown[] = { 200, 300, 300, 300, 600, 800, 800, 1000 };
	struct ftrace_flight *flight = flight_new(test, true);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;

	flight_calls(flight, 0, ARRAY_SIZE(shown));
	flight_stopped(flight);
	for (unsigned int i = 0; i < ARRAY_SIZE(taken); i++)
		*(u64 *)(flight_here(flight)->base + i * FTRACE_FLIGHT_TIMED_RECORD) = taken[i];
	ftrace_flight_rewind(flight, &cursor, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(shown); i++) {
		KUNIT_ASSERT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
		KUNIT_EXPECT_EQ(test, call.time, shown[i]);
	}
}

static unsigned long flight_ip, flight_parent;

/* What a callback on the same site sees. */
static void flight_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	flight_ip = ip;
	flight_parent = parent_ip;
}

static struct ftrace_ops flight_ops, flight_note_ops = { .func = flight_note };

static void flight_ops_end(void *unused)
{
	unregister_ftrace_function(&flight_ops);
	ftrace_free_filter(&flight_ops);
	flight_ops.flight = NULL;
}

/* The trampoline records a call of func1() in the second record of its group. */
static void flight_trampoline(struct kunit *test, struct ftrace_flight *flight)
{
	struct ftrace_flight_cpu *c = flight_here(flight);
	u64 next;
	u64 word;

	preempt_disable();
	next = c->next;
	ftrace_kunit_func1(1);
	preempt_enable();
	word = *(u64 *)(((long)c->next >> 1) - 8);
	KUNIT_EXPECT_NE(test, c->next, next);
	KUNIT_EXPECT_EQ(test, (u32)word, (u32)(flight_ip + MCOUNT_INSN_SIZE));
	KUNIT_EXPECT_EQ(test, word, ((u64)(2 * (u32)flight_parent + (u32)(c->next & 1)) << 32) +
			flight_ip + MCOUNT_INSN_SIZE);
	KUNIT_EXPECT_EQ(test, this_cpu_read(ftrace_flight_depth), 0);
}

static void flight_trampolines(struct kunit *test, bool timed)
{
	struct ftrace_flight *flight = flight_new(test, timed);
	struct ftrace_flight_cpu *c = flight_here(flight);
	const u64 *first;
	u64 next;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, flight_ops_end, NULL), 0);
	flight_ops.func = ftrace_flight_func;
	flight_ops.flight = flight;
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&flight_ops, ftrace_kunit_func1, true), 0);
	ftrace_kunit_add_ops(test, &flight_note_ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&flight_note_ops, ftrace_kunit_func1, true), 0);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&flight_note_ops), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&flight_ops), 0);
	flight_trampoline(test, flight);
	/* The first record is the time of the group, as that ring has it. */
	first = (const u64 *)c->base;
	KUNIT_EXPECT_TRUE(test, first[timed] & FTRACE_FLIGHT_EVEN);
	if (timed)
		KUNIT_EXPECT_EQ(test, first[1] & GENMASK(30, 0), first[0] & GENMASK(30, 0));
	for (unsigned int n = 1; n < 3 * LAP; n++)
		flight_trampoline(test, flight);

	/* Alone on the site. The caller is the same function, at other addresses. */
	KUNIT_ASSERT_EQ(test, unregister_ftrace_function(&flight_note_ops), 0);
	next = c->next;
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_NE(test, c->next, next);
	KUNIT_EXPECT_EQ(test, *(u32 *)(((long)c->next >> 1) - 8),
			(u32)(flight_ip + MCOUNT_INSN_SIZE));
	KUNIT_EXPECT_GT(test, c->laps, 1);

	ftrace_flight_off(flight, true);
	next = c->next;
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_EQ(test, c->next, next);
	ftrace_flight_off(flight, false);
	KUNIT_ASSERT_EQ(test, unregister_ftrace_function(&flight_ops), 0);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_EQ(test, c->next, next);
}

static void trampolines_record(struct kunit *test)
{
	flight_trampolines(test, false);
}

static void trampolines_record_times(struct kunit *test)
{
	flight_trampolines(test, true);
}

/* A dump of a trace array with a recorder, into the iterator that all dumps have. */
static void flight_dump(struct kunit *test, struct ftrace_flight *flight,
			struct trace_iterator *iter)
{
	static struct tracer tracer = { .open = ftrace_flight_open };
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, tr);
	tr->flight = flight;
	iter->tr = tr;
	iter->trace = &tracer;
	local_irq_save(flags);
	ftrace_flight_open(iter);
	local_irq_restore(flags);
}

/* Another tracer may have left something in the iterator. */
static void dumps_begin_anew(struct kunit *test)
{
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, iter);
	iter->private = iter;
	flight_dump(test, flight_new_off(test, false), iter);
	KUNIT_EXPECT_NULL(test, iter->private);
}

/* After a suspend, the time stamp counter may have less than before. */
static void calls_of_the_future_have_the_last_time(struct kunit *test)
{
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	struct ftrace_flight *flight = flight_new(test, true);
	u64 ts = 0;

	KUNIT_ASSERT_NOT_NULL(test, iter);
	flight_calls(flight, 0, 1);
	flight_stopped(flight);
	flight->start = (struct ftrace_flight_stamp){ .cycles = 1 };
	flight->stop = (struct ftrace_flight_stamp){ .cycles = 2, .clock = BIT_ULL(62) };
	flight_dump(test, flight, iter);
	KUNIT_EXPECT_NOT_NULL(test, trace_flight_peek(iter, 0, NULL, &ts, NULL));
	KUNIT_EXPECT_EQ(test, ts, BIT_ULL(62));
}

/* What the ring buffer has lost was before its own entry. */
static void calls_come_before_a_loss(struct kunit *test)
{
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	struct ftrace_flight *flight = flight_new(test, true);
	struct trace_entry event = { };
	unsigned long lost = 5;
	u64 ts = 1;

	KUNIT_ASSERT_NOT_NULL(test, iter);
	flight_calls(flight, 0, 1);
	flight_stopped(flight);
	flight->start = (struct ftrace_flight_stamp){ .cycles = 1 };
	flight->stop.clock = 100;
	flight_dump(test, flight, iter);
	KUNIT_EXPECT_PTR_EQ(test, trace_flight_peek(iter, 0, &event, &ts, &lost), &event);
	KUNIT_EXPECT_EQ(test, lost, 5);
	ts = 200;
	KUNIT_EXPECT_PTR_NE(test, trace_flight_peek(iter, 0, &event, &ts, &lost), &event);
	KUNIT_EXPECT_EQ(test, lost, 0);
}

/* The tracer ends, and another one begins, again and again. */
static int flight_toggle(void *data)
{
	struct trace_array *tr = data;
	struct ftrace_flight *flight = tr->flight;

	while (!kthread_should_stop()) {
		WRITE_ONCE(tr->flight, NULL);
		WRITE_ONCE(tr->flight, flight);
		cond_resched();
	}
	return 0;
}

/* A dump is made in any context, so the tracer may end meanwhile. */
static void tracers_end_while_a_dump_is_made(struct kunit *test)
{
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	unsigned int cpu = cpumask_any_but(cpu_online_mask, 0);
	struct ftrace_flight *flight = flight_new(test, true);
	struct trace_entry *ent, *bad = NULL;
	struct task_struct *task;

	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "one CPU does not run two tasks at the same time");
	KUNIT_ASSERT_NOT_NULL(test, iter);
	flight_calls(flight, 0, 1);
	flight_stopped(flight);
	flight_dump(test, flight, iter);
	task = kthread_run_on_cpu(flight_toggle, iter->tr, cpu, "ftrace_kunit/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (unsigned int i = 0; i < 100000; i++) {
		flight_here(flight)->dump->place.pos = 0;
		trace_flight_empty(iter);
		trace_flight_rewind(iter, 0);
		ent = trace_flight_peek(iter, 0, NULL, NULL, NULL);
		if (ent && ent != &flight_here(flight)->dump->entry.ent)
			bad = ent;
		trace_flight_advance(iter);
	}
	kthread_stop(task);
	KUNIT_EXPECT_NULL(test, bad);
}

static struct kunit_case flight_cases[] = {
	KUNIT_CASE(each_call_is_there_once),
	KUNIT_CASE(each_call_has_a_time),
	KUNIT_CASE(new_recorders_are_off),
	KUNIT_CASE(nothing_is_recorded_while_off),
	KUNIT_CASE(a_window_keeps_its_record),
	KUNIT_CASE(records_of_a_refused_group_are_cleared),
	KUNIT_CASE(a_group_behind_a_refused_one_stays),
	KUNIT_CASE(a_record_that_is_not_written_is_not_shown),
	KUNIT_CASE(laps_end_at_different_places),
	KUNIT_CASE(calls_belong_to_tasks),
	KUNIT_CASE(the_task_of_the_oldest_call_is_known),
	KUNIT_CASE(tasks_switch_while_off),
	KUNIT_CASE(switches_change_no_call),
	KUNIT_CASE(marks_push_no_call_out),
	KUNIT_CASE(no_pause_is_between_times),
	KUNIT_CASE(marks_of_a_refused_group_are_forgotten),
	KUNIT_CASE(clearing_is_a_place),
	KUNIT_CASE(text_that_is_gone_has_no_name),
	KUNIT_CASE(groups_know_their_task),
	KUNIT_CASE(times_are_spread),
	KUNIT_CASE(times_do_not_go_back),
	KUNIT_CASE(times_of_calls_are_in_order),
	KUNIT_CASE(dumps_begin_anew),
	KUNIT_CASE(calls_of_the_future_have_the_last_time),
	KUNIT_CASE(calls_come_before_a_loss),
	KUNIT_CASE(tracers_end_while_a_dump_is_made),
	KUNIT_CASE(trampolines_record),
	KUNIT_CASE(trampolines_record_times),
	{ }
};

static struct kunit_suite flight_suite = {
	.name = "ftrace_flight",
	.exit = ftrace_kunit_exit,
	.test_cases = flight_cases,
	.suite_exit = ftrace_kunit_forget,
};

kunit_test_suite(flight_suite);
