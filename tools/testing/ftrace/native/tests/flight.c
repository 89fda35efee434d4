// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flight recorder while CPUs record: interrupts come behind each instruction of a window, and
 * interrupt each other, while another CPU reads, stops and clears.
 *
 * A writer numbers its calls, and notes for each one where the ring was before and after it. What a
 * reader finds must be where it was made, with its caller, task and time; and if nothing stops the
 * recorder, each record is a time, a switch or a call, and each call is in a record or lost.
 */
#include <linux/ftrace_arch.h>
#include <linux/percpu.h>
#include <linux/timex.h>

#include "ftrace/flight.h"
#include "tests.h"

#define SIZE		SZ_16K
#define IP(n)		(0xffffffff81000000UL + (n))
#define CALLER(n)	(0xffffffff80000000UL + (n) * 77773 % SZ_1G)
#define GROUP		(FTRACE_FLIGHT_GROUP / FTRACE_FLIGHT_RECORD)
/* Records of a ring without times, and room for those behind. */
#define LAP		(SIZE / FTRACE_FLIGHT_RECORD)
#define SLOTS		(LAP + 8 * GROUP)
/* A call that is read is one of the last so many. */
#define CALLS		(1U << 17)

#define NR_WRITERS	2
#define LEVELS		3
/* So many calls before and after a call, there is surely a time between both. */
#define NEAR		(6 * GROUP)

/* Single steps of an operation, operations of a writer, and how often a reader looks. */
#define STEPS		300
#define ROUNDS		200
#define READS		50

/*
 * Places in a ring are compared as the number of the lap, above 32 bits, and of the record in it.
 * @before and @after are the places of the next record.
 */
struct made {
	u32	nr;
	u32	pid;		/* 0: either of two */
	u64	before, after;
	u64	begin, end;
	bool	back;		/* its record was given back, and is another call's */
	u32	seen;		/* by which reader */
	bool	followed;	/* by the reader who follows the CPU */
};

/* The only call that can have a record. */
struct owner {
	u64	place;
	u32	nr;
};

struct writer {
	struct task_struct	task;
	struct host_thread	*thread;
	struct ftrace_flight	*flight;
	struct ftrace_flight_cpu *ring;
	struct ftrace_tramp	*tramp;
	int			cpu;
	bool			exact;		/* only calls, and nobody stops it */
	u32			random;
	u32			nr;		/* of the last call */
	u32			first;		/* of an operation */
	u32			last;		/* no later call while this is not moved */
	u32			pid;
	bool			inside;		/* a signal may make calls */
	bool			switching;
	/* Calls in single steps that interrupt each other; steps to the next interrupt of each. */
	unsigned int		level;
	u32			steps[LEVELS];
	u32			gap, left;	/* the most of @steps; what is left of STEPS */
	bool			once;		/* each call has one interrupt */
	u64			top;		/* place behind the last record of a call */
	u64			cleared;	/* when */
	u32			reads;
	struct ftrace_flight_cursor follower;
	u32			followed;	/* calls that it was shown */
	u64			next;		/* place behind the last of them */
	struct owner		owner[SLOTS];
	struct made		made[CALLS];
};

static struct writer writers[NR_WRITERS];
static bool stop;

static u32 rnd(struct writer *w, u32 below)
{
	w->random = w->random * 1664525 + 1013904223;
	return ((u64)w->random * below) >> 32;
}

static unsigned int size_of(const struct writer *w)
{
	return w->flight->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
}

static u64 place_of(const struct writer *w, const struct ftrace_flight_cpu *c, unsigned long pos,
		    bool before)
{
	u64 lap = c->laps + ((c->laps ^ c->next) & 1);

	return (lap - before) << 32 | (pos - c->base) / size_of(w);
}

static u64 place_now(const struct writer *w)
{
	return place_of(w, w->ring, (long)READ_ONCE(w->ring->next) >> 1, false);
}

/* The records of a lap up to a place, but those that begin a group. */
static u32 slots_to(u32 record)
{
	return record - DIV_ROUND_UP(record, GROUP);
}

/* The same between two places; U32_MAX if more than one lap has ended. */
static u32 slots_between(const struct writer *w, u64 from, u64 to)
{
	u32 end = (w->ring->end - w->ring->base) / size_of(w);

	switch ((to >> 32) - (from >> 32)) {
	case 0:
		return slots_to(to) - slots_to(from);
	case 1:
		return slots_to(end) - slots_to(from) + slots_to(to);
	default:
		return U32_MAX;
	}
}

/* The code of a trampoline jumps to here, in place of a return into the traced function. */
void flight_landed(void);
asm(".pushsection .text\n"
    "flight_landed:\n"
    "	lea	16(%rsp), %rsp\n"
    "	ret\n"
    ".popsection");

static __always_inline void step_begin(bool step)
{
	if (step)
		asm volatile("pushf; orl %0, (%%rsp); popf"
			     : : "i" (X86_EFLAGS_TF) : "memory", "cc");
}

static __always_inline void step_end(bool step)
{
	if (step)
		asm volatile("pushf; andl %0, (%%rsp); popf"
			     : : "i" (~X86_EFLAGS_TF) : "memory", "cc");
}

static void record(struct writer *w, u32 nr, bool tramp)
{
	struct ftrace_ops ops = { .flight = w->flight };

	if (tramp)
		asm volatile("push $1f; push %0; push %1; jmp *%2\n1:"
			     : : "r" (CALLER(nr)), "r" (IP(nr) + MCOUNT_INSN_SIZE),
				 "r" (w->tramp->addr) : "r10", "r11", "memory", "cc");
	else
		ftrace_flight_func(IP(nr), CALLER(nr), &ops, NULL);
}

/* The place comes last, so that another CPU finds both or neither. */
static void own(struct owner *owner, u64 place, u32 nr)
{
	WRITE_ONCE(owner->place, 0);
	/* Pairs with the barriers in another_owns(). */
	smp_wmb();
	WRITE_ONCE(owner->nr, nr);
	smp_store_release(&owner->place, place);
}

static bool another_owns(const struct owner *owner, u64 place, u32 nr)
{
	if (smp_load_acquire(&owner->place) != place || READ_ONCE(owner->nr) == nr)
		return false;
	/* The next lap may just have begun to take the place; pairs with own(). */
	smp_rmb();
	return READ_ONCE(owner->place) == place;
}

/* A call is over, and those that have interrupted it. */
static void call_ends(struct writer *w, struct made *made, u64 lost)
{
	u32 nr = made->nr, slots, calls = w->nr - nr + 1;
	u64 place = place_now(w);

	lost = w->ring->lost - lost;
	slots = slots_between(w, made->before, place);
	if (w->exact && slots != U32_MAX && slots + lost != calls)
		native_fail("%u calls are %u records, and %llu lost, at %llx", calls, slots, lost,
			    made->before);
	/* Records that were given back belong to nobody. A reader may just have found one. */
	for (; w->top > place && w->top >> 32 == place >> 32; w->top--) {
		struct owner *owner = &w->owner[(u32)w->top - 1];

		if (owner->place == w->top - 1)
			WRITE_ONCE(w->made[owner->nr % CALLS].back, true);
		owner->place = 0;
	}
	w->top = place;
	/* The record of a call that interrupted this one may be the only one, if recording was off. */
	if (slots == 1 && !lost && calls == 1)
		own(&w->owner[(u32)place - 1], place - 1, nr);
	WRITE_ONCE(made->end, get_cycles());
	WRITE_ONCE(made->after, place);
}

static void call(struct writer *w, bool step)
{
	u32 nr = w->nr + 1;
	struct made *made = &w->made[nr % CALLS];
	bool tramp = step ? rnd(w, 4) : !rnd(w, 4);
	u64 lost = w->ring->lost;

	while ((s32)(nr - READ_ONCE(w->last)) > 0 && !READ_ONCE(stop))
		host_yield();
	*made = (struct made){ nr, w->switching ? 0 : w->pid, place_now(w), U64_MAX, get_cycles(),
			       U64_MAX };
	if (step)
		w->steps[w->level++] = 1 + rnd(w, w->gap);
	WRITE_ONCE(w->nr, nr);
	WRITE_ONCE(w->inside, true);
	step_begin(step);
	record(w, nr, tramp);
	step_end(step);
	WRITE_ONCE(w->inside, false);
	w->level -= step;
	call_ends(w, made, lost);
}

static void check_call(const struct writer *w, const struct made *made, u64 place,
		       const struct ftrace_flight_call *call)
{
	const struct owner *owner = &w->owner[(u32)place];
	const char *wrong = NULL;

	if (IP(made->nr) != call->ip)
		wrong = "was not made";
	else if (call->parent_ip != CALLER(made->nr))
		wrong = "has another caller";
	else if (made->pid && made->pid != call->pid)
		wrong = "has another task";
	else if (place < made->before || place >= READ_ONCE(made->after))
		wrong = "is out of order";
	else if (another_owns(owner, place, made->nr) && !READ_ONCE(made->back))
		wrong = "is in place of another one";
	else if (made->seen == w->reads)
		wrong = "is there twice";
	else if (made->end < w->cleared)
		wrong = "was cleared";
	if (wrong)
		native_fail("a call %s: %lx of task %u at %llx, made by %u from %llx to %llx; %lx",
			    wrong, call->ip, call->pid, place, made->pid, made->before, made->after,
			    IP(owner->nr));
}

/* What the last calls that were shown say of the times of others. */
struct times {
	u64	begin[NEAR], time[NEAR];
	u64	least, last;
	u32	nr;
};

static void check_time(const struct writer *w, const struct made *made, u64 time, u64 stopped,
		       struct times *times)
{
	u64 *begin = &times->begin[times->nr % NEAR], *before = &times->time[times->nr % NEAR];

	times->least = max(times->least, *begin);
	if (time < times->last || *before > READ_ONCE(made->end) ||
	    (w->exact && time < times->least) || (w->flight->timed &&
	    (time < min(made->begin, stopped) || time > READ_ONCE(made->end))))
		native_fail("call %u from %llu to %llu has the time %llu, behind %llu and %llu",
			    made->nr, made->begin, made->end, time, times->last, times->least);
	*begin = made->begin;
	*before = time;
	times->last = time;
	times->nr++;
}

/* Look at all that a ring of a writer has, or a copy of it. Returns the number of calls. */
static u32 check(struct writer *w, const struct ftrace_flight *flight)
{
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	struct times times = { };
	u64 next = 0, place;
	u32 holes = 0;

	w->reads++;
	ftrace_flight_rewind(flight, &cursor, w->cpu);
	while (ftrace_flight_next(flight, &cursor, &call)) {
		struct made *made = &w->made[(call.ip - IP(0)) % CALLS];

		place = place_of(w, &cursor.snap, cursor.place.pos, !cursor.place.wrapped) - 1;
		check_call(w, made, place, &call);
		check_time(w, made, call.time, cursor.snap.stopped, &times);
		made->seen = w->reads;
		if (next)
			holes += slots_between(w, next, place);
		next = place + 1;
	}
	/* In a window, a record may be reserved, or a lap may just have ended. */
	if (w->exact && !w->level && holes)
		native_fail("%u records are not there, before %llx", holes, next);
	return times.nr;
}

static u32 check_ring(struct writer *w)
{
	return check(w, w->flight);
}

/* A copy, which is made while the writer records. */
static u32 check_copy(struct writer *w)
{
	struct ftrace_flight *copy = ftrace_flight_copy(w->flight, false, RING_BUFFER_ALL_CPUS);
	u32 shown = 0;

	if (copy) {
		shown = check(w, copy);
		ftrace_flight_free(copy);
	}
	return shown;
}

/* Go on to what the CPU has recorded since the last time. */
static void follow(struct writer *w)
{
	struct ftrace_flight_cursor *cursor = &w->follower;
	struct ftrace_flight_call call;

	while (ftrace_flight_next(w->flight, cursor, &call)) {
		struct made *made = &w->made[(call.ip - IP(0)) % CALLS];
		u64 place = place_of(w, &cursor->snap, cursor->place.pos,
				     !cursor->place.wrapped) - 1;

		/* check_call() shall not complain: a call that is shown twice is reported below. */
		made->seen = w->reads - 1;
		check_call(w, made, place, &call);
		if (made->followed || place < w->next)
			native_fail("call %u is followed twice, or late", made->nr);
		if (w->exact && !cursor->missed && w->followed &&
		    slots_between(w, w->next, place))
			native_fail("calls before %u are not followed", made->nr);
		made->followed = true;
		cursor->missed = false;
		w->next = place + 1;
		w->followed++;
	}
}

static void calls(struct writer *w, u32 nr)
{
	while (nr-- && w->nr - w->first < CALLS / 4)
		call(w, false);
}

/* The next call begins a group, ends a lap, or does neither. */
static void go(struct writer *w)
{
	u32 lap = (w->ring->last - w->ring->base) / size_of(w), at = place_now(w);
	u32 to = at + rnd(w, GROUP);

	switch (rnd(w, 3)) {
	case 0:
		to = max(at, lap);
		break;
	case 1:
		to = round_up(at + 1, GROUP);
		break;
	}
	calls(w, slots_to(to) - slots_to(at));
}

/* An interrupt comes in a step: it makes calls, and one of them may be interrupted, too. */
static void interrupt(struct writer *w)
{
	static const u32 many[] = { GROUP, LAP, 2 * LAP };
	bool inside = w->inside;

	w->inside = false;
	if (!w->exact)
		ftrace_flight_mark(w->flight);
	else if (!rnd(w, 16))
		check_ring(w);
	calls(w, rnd(w, 3) ? rnd(w, 3) : many[rnd(w, ARRAY_SIZE(many))]);
	if (w->level < LEVELS && !rnd(w, w->once ? 3 : 16)) {
		go(w);
		call(w, true);
	}
	w->inside = inside;
}

static void on_interrupt(struct host_regs *regs, bool step)
{
	struct writer *w = container_of(current, struct writer, task);

	if (step && !w->left) {
		regs->flags &= ~X86_EFLAGS_TF;
	} else if (step) {
		w->left--;
		if (--w->steps[w->level - 1])
			return;
		interrupt(w);
		w->steps[w->level - 1] = 1 + rnd(w, w->gap);
		if (w->once)
			regs->flags &= ~X86_EFLAGS_TF;
	} else if (READ_ONCE(w->inside)) {
		w->inside = false;
		calls(w, rnd(w, 2 * GROUP));
		w->inside = true;
	}
}

/* A call, or a switch of tasks. */
static void operation(struct writer *w)
{
	bool step = w->exact || rnd(w, 2);
	u32 pid = w->pid;

	if (w->exact || rnd(w, 2)) {
		call(w, step);
		return;
	}
	preempt_disable();
	w->switching = true;
	w->pid = 1 + rnd(w, 100);
	if (step)
		w->steps[w->level++] = 1 + rnd(w, w->gap);
	step_begin(step);
	ftrace_flight_switch(w->flight, pid, w->pid);
	step_end(step);
	w->level -= step;
	w->switching = false;
	preempt_enable();
}

static void writer_main(void *data)
{
	struct writer *w = data;
	bool exact = w->exact;

	w->exact = false;
	host_pin(NULL, w->cpu);
	native_cpu_begin(&w->task, w->cpu);
	preempt_disable();
	ftrace_flight_switch(w->flight, 0, w->pid);
	preempt_enable();
	/* Recording begins with a time. */
	call(w, false);
	w->exact = exact;
	for (unsigned int i = 0; w->exact ? i < ROUNDS : !READ_ONCE(stop); i++) {
		w->first = w->nr;
		/* A window that was interrupted often seldom gets far. */
		w->once = rnd(w, 8);
		w->gap = w->once ? 32 << 3 * rnd(w, 2) : 8;
		w->left = STEPS;
		go(w);
		operation(w);
		if (w->exact) {
			check_ring(w);
			follow(w);
		}
	}
	native_cpu_end();
}

static void start(struct writer *w, struct ftrace_flight *flight, struct ftrace_tramp *tramp,
		  bool exact)
{
	u32 n = w - writers;

	memset(w, 0, sizeof(*w));
	w->task = (struct task_struct){ .comm = "flight", .flags = PF_KTHREAD, .pid = 300 + n };
	w->cpu = 1 + n;
	w->flight = flight;
	w->ring = per_cpu_ptr(flight->cpu, w->cpu);
	w->tramp = tramp;
	w->exact = exact;
	w->random = n + 2 * flight->timed;
	w->last = S32_MAX;
	w->pid = 200 + n;
	ftrace_flight_follow(flight, &w->follower, w->cpu);
	w->thread = host_thread(writer_main, w);
}

/* How many calls the writers may make until they must wait. */
static void limit(u32 nr)
{
	for (unsigned int i = 0; i < NR_WRITERS; i++)
		WRITE_ONCE(writers[i].last, READ_ONCE(writers[i].nr) + nr);
}

/* The writer makes some calls. */
static void wait_for(const struct writer *w, u32 nr)
{
	u32 from = READ_ONCE(w->nr);

	while (READ_ONCE(w->nr) - from < nr)
		host_yield();
}

static void read_all(struct kunit *test, struct ftrace_flight *flight)
{
	u32 shown[NR_WRITERS] = { };

	for (unsigned int i = 0; i < READS; i++) {
		struct writer *w = &writers[i % NR_WRITERS];

		wait_for(w, 1 + i % 7 * 200);
		host_interrupt(w->thread);
		/* What is read is still in the notes of the writers. */
		limit(CALLS / 2);
		if (i % 8 < 2) {
			ftrace_flight_off(flight, true);
			wait_for(w, 20);
			ftrace_flight_off(flight, false);
		} else if (i % 8 < 4) {
			w->cleared = get_cycles();
			ftrace_flight_clear(flight, w->cpu);
		}
		if (i % 3)
			ftrace_flight_pause(flight, true);
		for (unsigned int n = 0; n < NR_WRITERS; n++) {
			follow(&writers[n]);
			if (i % 3)
				shown[n] += check_ring(&writers[n]);
			else
				shown[n] += check_copy(&writers[n]);
		}
		if (i % 3)
			ftrace_flight_pause(flight, false);
		limit(S32_MAX);
	}
	WRITE_ONCE(stop, true);
	for (unsigned int n = 0; n < NR_WRITERS; n++)
		KUNIT_EXPECT_GT(test, shown[n], READS);
}

static void run(struct kunit *test, bool timed, bool exact)
{
	struct ftrace_flight *flight = ftrace_flight_make(SIZE, NULL, timed);
	const struct ftrace_call record = { .flight = flight };
	struct ftrace_tramp *tramp;

	KUNIT_ASSERT_NOT_NULL(test, flight);
	tramp = LOCKED(arch_ftrace_tramp_make(&record, 1, false, (unsigned long)flight_landed));
	KUNIT_ASSERT_NOT_NULL(test, tramp);
	ftrace_flight_off(flight, false);
	stop = false;
	native_interrupts = on_interrupt;
	for (unsigned int i = 0; i < NR_WRITERS; i++)
		start(&writers[i], flight, tramp, exact);
	native_sleep_begin("flight");
	if (!exact)
		read_all(test, flight);
	for (unsigned int i = 0; i < NR_WRITERS; i++)
		host_join(writers[i].thread);
	for (unsigned int i = 0; i < NR_WRITERS; i++)
		KUNIT_EXPECT_GT(test, writers[i].followed, READS);
	native_sleep_end();
	native_interrupts = NULL;
	LOCKED(arch_ftrace_tramp_free(tramp));
	ftrace_flight_put(flight);
}

SUITE(flight, NULL, ftrace_kunit_exit);

CASE(each_call_is_recorded_or_lost)
{
	skip_if_sanitized(test);
	run(test, false, true);
	run(test, true, true);
}

CASE(another_cpu_reads_what_was_made)
{
	skip_if_sanitized(test);
	run(test, false, false);
	run(test, true, false);
}

static struct ftrace_flight *stepped;
static u32 shown, wrong, step_nr, step_at;

static void read_in_switch(struct host_regs *regs, bool step)
{
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;

	ftrace_flight_rewind(stepped, &cursor, 0);
	while (ftrace_flight_next(stepped, &cursor, &call)) {
		shown++;
		wrong += call.pid != 1;
	}
}

/* What was cleared has the switch to the task that the calls are of. */
CASE(calls_keep_their_task_in_a_switch)
{
	struct ftrace_ops ops = { };
	struct ftrace_flight *flight;

	skip_if_sanitized(test);
	flight = ftrace_flight_make(SIZE, NULL, false);
	KUNIT_ASSERT_NOT_NULL(test, flight);
	ops.flight = flight;
	ftrace_flight_off(flight, false);
	preempt_disable();
	ftrace_flight_switch(flight, 0, 1);
	ftrace_flight_func(IP(0), CALLER(0), &ops, NULL);
	ftrace_flight_clear(flight, 0);
	ftrace_flight_func(IP(0), CALLER(0), &ops, NULL);
	stepped = flight;
	shown = 0;
	wrong = 0;
	native_interrupts = read_in_switch;
	step_begin(true);
	ftrace_flight_switch(flight, 1, 2);
	step_end(true);
	native_interrupts = NULL;
	preempt_enable();
	KUNIT_EXPECT_NE(test, shown, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	ftrace_flight_put(flight);
}

static void switch_on(struct host_regs *regs, bool step)
{
	if (++step_nr == step_at)
		ftrace_flight_off(stepped, false);
}

/* An interrupt switches recording on while somebody switches it off. */
CASE(all_cpus_are_told_the_same)
{
	struct ftrace_flight *flight;
	int cpu;

	skip_if_sanitized(test);
	flight = ftrace_flight_make(SIZE, NULL, false);
	KUNIT_ASSERT_NOT_NULL(test, flight);
	stepped = flight;
	native_interrupts = switch_on;
	step_at = 0;
	do {
		int off = 0;

		step_at += 97;
		step_nr = 0;
		step_begin(true);
		ftrace_flight_off(flight, true);
		step_end(true);
		for_each_online_cpu(cpu)
			off += per_cpu_ptr(flight->cpu, cpu)->off == 1;
		KUNIT_EXPECT_EQ_MSG(test, off, atomic_read(&flight->off) ? NATIVE_ONLINE : 0,
				    "step %u", step_at);
	} while (step_nr >= step_at);
	native_interrupts = NULL;
	ftrace_flight_put(flight);
}

/* In the steps of a call: when a snapshot is taken, and when an interrupt makes calls. */
static struct {
	struct ftrace_flight	*flight;
	unsigned int		steps, snapshot, interrupt;
	bool			always;	/* an interrupt makes a call in each step */
	bool			half;	/* only the first half of ftrace_flight_exchange() */
	u32			nr;
} exchange;

static void exchange_call(bool step)
{
	struct ftrace_ops ops = { .flight = exchange.flight };
	u32 nr = ++exchange.nr;

	step_begin(step);
	ftrace_flight_func(IP(nr), CALLER(nr), &ops, NULL);
	step_end(step);
}

static void exchange_calls(u32 nr)
{
	while (nr--)
		exchange_call(false);
}

/* Another CPU takes a snapshot. It may be in the middle of that, with the gate still open. */
static void exchange_ask(void)
{
	struct ftrace_flight *flight = exchange.flight;

	if (exchange.half)
		WRITE_ONCE(per_cpu_ptr(flight->cpu, 0)->other, per_cpu_ptr(flight->spare->cpu, 0));
	else
		ftrace_flight_exchange(flight, 0);
}

static void exchange_end(struct ftrace_flight_cpu *c)
{
	u32 off = 0;

	WRITE_ONCE(c->stopped, get_cycles());
	try_cmpxchg(&c->off, &off, FTRACE_FLIGHT_RESUME);
}

static void exchange_step(struct host_regs *regs, bool step)
{
	if (!step)
		return;
	exchange.steps++;
	if (exchange.steps == exchange.snapshot)
		exchange_ask();
	/* The first of those before the other half opens the gate. */
	if (exchange.always && exchange.steps + 2 * exchange.half > exchange.snapshot)
		exchange_calls(1);
	if (exchange.steps == exchange.interrupt)
		exchange_calls(40);
}

/* More calls than a round makes, even where each function calls a copy of itself. */
#define EXCHANGE_CALLS 8192

/* Counts how often each call is in the rings, or in the snapshot. */
static u32 exchange_count(u8 *seen, bool snapshot)
{
	struct ftrace_flight *copy = ftrace_flight_copy(exchange.flight, snapshot, 0);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	u32 n = 0;

	if (per_cpu_ptr(copy->cpu, 1)->base)
		native_fail("a copy of another CPU's ring");
	ftrace_flight_rewind(copy, &cursor, 0);
	while (ftrace_flight_next(copy, &cursor, &call)) {
		u32 nr = call.ip - IP(0);

		if (nr > exchange.nr || nr >= EXCHANGE_CALLS || call.parent_ip != CALLER(nr))
			native_fail("a call that was not made: %lx", call.ip);
		seen[nr]++;
		n++;
	}
	ftrace_flight_free(copy);
	return n;
}

/* Take a snapshot at each instruction of a call: each call is in the rings or in the snapshot. */
static void exchange_run(struct kunit *test, bool timed)
{
	struct ftrace_flight *flight = ftrace_flight_make(SIZE, NULL, timed);
	u32 before = 0, after = 0;

	KUNIT_ASSERT_NOT_NULL(test, flight);
	KUNIT_ASSERT_EQ(test, ftrace_flight_make_spare(flight), 0);
	exchange.flight = flight;
	ftrace_flight_off(flight, false);
	native_interrupts = exchange_step;
	/* The calls of each step take most of the time. What the other half is for is early. */
	for (unsigned int i = 0; i < 300 * 3 + 60; i += i < 300 * 2 || i >= 300 * 3 ? 1 : 5) {
		static u8 seen[EXCHANGE_CALLS];
		u64 was = per_cpu_ptr(flight->cpu, 0)->lost;

		preempt_disable();
		/* After the snapshot before. */
		exchange_calls(1);
		ftrace_flight_clear(flight, 0);
		memset(seen, 0, sizeof(seen));
		exchange.steps = 0;
		exchange.nr = 0;
		exchange.snapshot = 1 + i % 300;
		exchange.interrupt = exchange.snapshot + i / 300 * 49;
		exchange.always = i / 300 >= 2;
		exchange.half = i / 300 == 3;
		exchange_calls(exchange.half ? 0 : i % 37);
		exchange_call(true);
		exchange_calls(2);
		if (exchange.steps < exchange.snapshot)
			exchange_ask();
		if (exchange.half)
			exchange_end(per_cpu_ptr(flight->cpu, 0));
		preempt_enable();
		before += exchange_count(seen, true);
		after += exchange_count(seen, false);
		was = per_cpu_ptr(flight->cpu, 0)->lost - was;
		for (u32 nr = 1; nr <= exchange.nr; nr++) {
			was -= !seen[nr];
			if (seen[nr] <= 1)
				continue;
			native_fail("call %u of %u: %u times; snapshot in step %u, interrupt in %u",
				    nr, exchange.nr, seen[nr], exchange.snapshot,
				    exchange.interrupt);
		}
		if (was)
			native_fail("%lld calls are neither there nor lost; snapshot in step %u, interrupt in %u",
				    -(s64)was, exchange.snapshot, exchange.interrupt);
		/* Those that have exchanged the rings, and the last one, that has not. */
		if (i % 100 == 99) {
			ftrace_flight_forget(flight, 0);
			KUNIT_EXPECT_EQ(test, exchange_count(seen, true), 0);
		}
	}
	native_interrupts = NULL;
	KUNIT_EXPECT_GT(test, before, 3000);
	KUNIT_EXPECT_GT(test, after, 1500);

	/* Rings that are given up while a CPU is asked to go on in them. */
	ftrace_flight_exchange(flight, 0);
	scoped_guard(mutex, &trace_types_lock)
		ftrace_flight_free_spare(flight);
	KUNIT_EXPECT_NULL(test, per_cpu_ptr(flight->cpu, 0)->other);
	ftrace_flight_wait();
	exchange_calls(1);
	ftrace_flight_put(flight);
}

static void exchange_in_step(struct host_regs *regs, bool step)
{
	if (++exchange.steps != exchange.interrupt)
		return;
	exchange_ask();
	exchange_calls(2);
}

/*
 * What a CPU has recorded is forgotten, or a snapshot, and at each instruction of that the CPU is
 * asked to go on in another ring, and does.
 */
CASE(rings_are_replaced_while_they_are_forgotten)
{
	struct ftrace_flight *flight;

	skip_if_sanitized(test);
	flight = ftrace_flight_make(SIZE, NULL, false);
	KUNIT_ASSERT_NOT_NULL(test, flight);
	KUNIT_ASSERT_EQ(test, ftrace_flight_make_spare(flight), 0);
	memset(&exchange, 0, sizeof(exchange));
	exchange.flight = flight;
	ftrace_flight_off(flight, false);
	for (unsigned int snapshot = 0; snapshot < 2; snapshot++) {
		exchange.interrupt = 0;
		do {
			u8 seen[16] = { };

			exchange.interrupt++;
			exchange.steps = 0;
			exchange.nr = 0;
			preempt_disable();
			exchange_calls(3);
			if (snapshot)
				exchange_ask();
			native_interrupts = exchange_in_step;
			step_begin(true);
			if (snapshot)
				ftrace_flight_forget(flight, 0);
			else
				ftrace_flight_clear(flight, 0);
			step_end(true);
			native_interrupts = NULL;
			exchange_calls(1);
			preempt_enable();
			exchange_count(seen, snapshot);
			KUNIT_EXPECT_NULL_MSG(test, memchr_inv(seen + 1, 0, 3), "step %u",
					      exchange.interrupt);
			KUNIT_EXPECT_EQ(test, seen[exchange.nr], !snapshot);
		} while (exchange.steps >= exchange.interrupt);
		KUNIT_EXPECT_GT(test, exchange.interrupt, 10);
	}
	ftrace_flight_put(flight);
}

/* Who follows a CPU comes to a ring that came back, and to one that was replaced and freed. */
CASE(rings_are_replaced_while_they_are_followed)
{
	struct ftrace_flight *flight = ftrace_flight_make(SIZE, NULL, true);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;

	KUNIT_ASSERT_NOT_NULL(test, flight);
	KUNIT_ASSERT_EQ(test, ftrace_flight_make_spare(flight), 0);
	exchange.flight = flight;
	exchange.nr = 0;
	ftrace_flight_off(flight, false);
	ftrace_flight_follow(flight, &cursor, 0);
	preempt_disable();
	exchange_calls(3);
	KUNIT_EXPECT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
	KUNIT_EXPECT_EQ(test, call.ip, IP(1));
	for (unsigned int i = 0; i < 2; i++) {
		ftrace_flight_exchange(flight, 0);
		exchange_calls(2);
	}
	KUNIT_EXPECT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
	KUNIT_EXPECT_EQ(test, call.ip, IP(6));
	KUNIT_EXPECT_TRUE(test, cursor.missed);
	ftrace_flight_exchange(flight, 0);
	exchange_calls(2);
	preempt_enable();

	scoped_guard(mutex, &trace_types_lock)
		ftrace_flight_free_spare(flight);
	ftrace_flight_wait();
	preempt_disable();
	KUNIT_EXPECT_TRUE(test, ftrace_flight_next(flight, &cursor, &call));
	KUNIT_EXPECT_EQ(test, call.ip, IP(8));
	preempt_enable();
	ftrace_flight_put(flight);
}

/* If calls may be taken back, who follows a CPU gets those of a group when it is full. */
CASE(the_last_group_is_not_followed)
{
	struct ftrace_flight *flight = ftrace_flight_make(SIZE, NULL, true);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	u32 nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, flight);
	flight->thresh = 1;
	exchange.flight = flight;
	exchange.nr = 0;
	ftrace_flight_off(flight, false);
	ftrace_flight_follow(flight, &cursor, 0);
	/* Some laps. */
	for (unsigned int i = 0; i < 1000; i++) {
		preempt_disable();
		exchange_calls(i ? 5 : 31);
		preempt_enable();
		while (ftrace_flight_next(flight, &cursor, &call))
			KUNIT_EXPECT_EQ(test, call.ip, IP(++nr));
		KUNIT_EXPECT_EQ(test, nr, exchange.nr / 31 * 31);
		KUNIT_EXPECT_FALSE(test, cursor.missed);
	}
	ftrace_flight_put(flight);
}

CASE(a_snapshot_takes_each_call_once)
{
	skip_if_sanitized(test);
	exchange_run(test, false);
	exchange_run(test, true);
}
