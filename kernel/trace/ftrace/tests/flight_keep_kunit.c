// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of rings that outlive the kernel: what a reader finds in them after a reset is what
 * one found before. The next kernel is played by this one, which gets a copy of the memory.
 */
#include <linux/ftrace_arch.h>
#include <linux/jhash.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>

#include "../core.h"
#include "../flight.h"
#include "../table.h"
#include "ftrace_kunit.h"

#define NAME		"keep"
/* In modules, of which nothing is known. */
#define IP(n)		((MODULES_VADDR | GENMASK(63, 31)) + SZ_16M + (n))
#define CALLER(n)	(0xffffffffc0000000UL + (n))
/* Calls of a lap and more, in the smallest ring. */
#define CALLS		(3 * FTRACE_FLIGHT_MIN_SIZE / FTRACE_FLIGHT_RECORD)

static struct {
	void			*memory[2];	/* of this kernel, and of the next one */
	unsigned long		size;
	struct ftrace_flight	*flight;
	struct ftrace_flight_call *calls;	/* as they were found before the reset */
	unsigned int		nr;
	void			(*write)(void *memory);	/* who writes to it then */
	unsigned int		other;		/* groups to which somebody did */
} keeps;

static void keep_free(void)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	for (unsigned int i = 0; i < 2; i++) {
		vfree(keeps.memory[i]);
		keeps.memory[i] = NULL;
	}
	vfree(keeps.calls);
	keeps.calls = NULL;
}

static void keep_undo(void *unused)
{
	if (keeps.flight)
		ftrace_flight_put(keeps.flight);
	keeps.flight = NULL;
	ftrace_flight_wait();
	ftrace_flight_mods_keep(NULL, false);
	ftrace_flight_keep_in(NULL, NULL, 0);
	keep_free();
}

static void keep_make(struct kunit *test)
{
	/* With tasks and cursors, and a page each because of pages. */
	keeps.size = PAGE_SIZE + SZ_64K +
		     nr_cpu_ids * (FTRACE_FLIGHT_MIN_SIZE * 9 / 8 + 2 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	keeps.calls = vmalloc(CALLS * sizeof(*keeps.calls));
	for (unsigned int i = 0; i < 2; i++)
		keeps.memory[i] = vzalloc(keeps.size);
	KUNIT_ASSERT_TRUE(test, keeps.calls && keeps.memory[0] && keeps.memory[1]);
	if (ftrace_flight_keep_in(NAME, keeps.memory[0], keeps.size) == -EBUSY) {
		keep_free();
		kunit_skip(test, "rings of this kernel are kept");
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, keep_undo, NULL), 0);
}

static void keep_record(struct kunit *test, bool timed)
{
	scoped_guard(mutex, &trace_types_lock)
		keeps.flight = ftrace_flight_make(0, NAME, timed);
	KUNIT_ASSERT_NOT_NULL(test, keeps.flight);
	ftrace_flight_mods_keep(ftrace_flight_keep_mods(), false);
	keeps.flight->start = (struct ftrace_flight_stamp){ get_cycles(), 1000 };
	ftrace_flight_keep_start(keeps.flight, NSEC_PER_SEC, false);
	per_cpu_ptr(keeps.flight->cpu, 0)->pid = 0;
	ftrace_flight_off(keeps.flight, false);
}

static void keep_calls(unsigned int first, unsigned int end)
{
	struct ftrace_ops ops = { .flight = keeps.flight };

	for (unsigned int n = first; n < end; n++) {
		if (n % 7 == 3) {
			guard(preempt)();
			ftrace_flight_switch(keeps.flight, n / 7, n / 7 + 1);
		}
		ftrace_flight_func(IP(n), CALLER(n), &ops, NULL);
	}
}

/* What is found now. */
static unsigned int keep_read(const struct ftrace_flight *flight, struct ftrace_flight_call *calls)
{
	struct ftrace_flight_cursor cursor;
	unsigned int n = 0;

	ftrace_flight_rewind(flight, &cursor, 0);
	while (n < CALLS && ftrace_flight_next(flight, &cursor, &calls[n]))
		n++;
	return n;
}

/* The machine is reset: what does the next kernel find? NULL if nothing. */
static struct ftrace_flight *keep_reset(void)
{
	struct ftrace_flight *last;

	memcpy(keeps.memory[1], keeps.memory[0], keeps.size);
	if (keeps.write)
		keeps.write(keeps.memory[1]);
	guard(mutex)(&trace_types_lock);
	ftrace_flight_keep_in(NULL, NULL, 0);
	if (ftrace_flight_keep_in(NAME, keeps.memory[1], keeps.size) || !ftrace_flight_found(NAME))
		return NULL;
	keeps.other = ftrace_flight_check_last();
	last = ftrace_flight_make_last(NAME);
	if (last)
		last->other = keeps.other;
	ftrace_flight_mods_keep(ftrace_flight_keep_mods(), true);
	return last;
}

static void keep_end(struct ftrace_flight *last)
{
	if (last)
		ftrace_flight_put(last);
	ftrace_flight_wait();
}

/* Each call that a reader finds before the reset is found behind it, and no other. */
static void keep_compare(struct kunit *test)
{
	struct ftrace_flight_call *found = vmalloc(CALLS * sizeof(*found));
	struct ftrace_flight *last;
	unsigned int nr;

	KUNIT_ASSERT_NOT_NULL(test, found);
	keeps.nr = keep_read(keeps.flight, keeps.calls);
	last = keep_reset();
	nr = last ? keep_read(last, found) : 0;
	KUNIT_EXPECT_TRUE(test, last);
	KUNIT_EXPECT_EQ(test, nr, keeps.nr);
	KUNIT_EXPECT_EQ(test, keeps.other, 0);
	for (unsigned int i = 0; i < min(nr, keeps.nr); i++) {
		const struct ftrace_flight_call *a = &keeps.calls[i], *b = &found[i];

		if (a->ip == b->ip && a->parent_ip == b->parent_ip && a->pid == b->pid &&
		    a->early == b->early && (!keeps.flight->timed || a->time == b->time))
			continue;
		KUNIT_FAIL(test, "call %u: %lx <- %lx of %u at %llu, then %lx <- %lx of %u at %llu",
			   i, a->ip, a->parent_ip, a->pid, a->time, b->ip, b->parent_ip, b->pid,
			   b->time);
		break;
	}
	if (last) {
		const struct ftrace_flight_cpu *c = per_cpu_ptr(keeps.flight->cpu, 0);
		const struct ftrace_flight_cpu *l = per_cpu_ptr(last->cpu, 0);
		unsigned long next = (long)c->next >> 1;

		KUNIT_EXPECT_EQ(test, last->start.cycles, keeps.flight->start.cycles);
		KUNIT_EXPECT_EQ(test, last->start.clock, keeps.flight->start.clock);
		KUNIT_EXPECT_EQ(test, ((long)l->next >> 1) - l->base, next - c->base);
		KUNIT_EXPECT_EQ(test, l->end - l->base, max(c->end, next) - c->base);
		/* As many as there are: none was overwritten. */
		KUNIT_EXPECT_EQ(test, l->records, (l->end - l->base - (next - c->base)) /
				(last->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD));
	}
	keep_end(last);
	vfree(found);
}

/* A reset comes at each place of a group, in laps of both parities. */
static void keep_resets(struct kunit *test, bool timed)
{
	unsigned int n = 1;

	keep_make(test);
	keep_record(test, timed);
	keep_compare(test);
	for (unsigned int step = 1; n < 3 * CALLS; step += step < 67 ? 1 : 331) {
		keep_calls(n, n + step);
		n += step;
		keep_compare(test);
	}
	KUNIT_EXPECT_GT(test, keeps.nr, FTRACE_FLIGHT_MIN_SIZE / FTRACE_FLIGHT_TIMED_RECORD / 2);
}

static void calls_are_found_after_a_reset(struct kunit *test)
{
	keep_resets(test, false);
}

static void calls_with_times_are_found(struct kunit *test)
{
	keep_resets(test, true);
}

/* A lap has just ended: the first record of the next one is not written yet. */
static void laps_that_have_just_ended_are_found(struct kunit *test)
{
	unsigned int n = 1;
	u64 laps;

	keep_make(test);
	keep_record(test, false);
	for (unsigned int lap = 0; lap < 3; lap++) {
		laps = per_cpu_ptr(keeps.flight->cpu, 0)->laps;
		while (per_cpu_ptr(keeps.flight->cpu, 0)->laps == laps) {
			keep_calls(n, n + 1);
			n++;
		}
		keep_compare(test);
	}
}

/* A task is reset in a window: its record is reserved, and others are written behind it. */
static void what_is_not_written_is_not_found(struct kunit *test)
{
	keep_make(test);
	keep_record(test, false);
	keep_calls(1, 6);
	preempt_disable();
	this_cpu_inc(ftrace_flight_depth);
	per_cpu_ptr(keeps.flight->cpu, 0)->next += 2 * FTRACE_FLIGHT_RECORD;
	keep_calls(6, 69);
	this_cpu_dec(ftrace_flight_depth);
	preempt_enable();
	keep_compare(test);
	KUNIT_EXPECT_EQ(test, keeps.nr, 68);
}

/* A CPU has taken calls back: behind the last one there are no records of the lap before. */
static void what_was_taken_back_is_not_found(struct kunit *test)
{
	struct ftrace_flight_cpu *c;

	keep_make(test);
	keep_record(test, true);
	keep_calls(1, 3000);
	c = per_cpu_ptr(keeps.flight->cpu, 0);
	for (unsigned int n = 3000; (long)c->next >> 1 & (FTRACE_FLIGHT_TIMED_GROUP - 1); n++)
		keep_calls(n, n + 1);
	for (unsigned int i = 0; i < 20; i++) {
		c->next -= 2 * FTRACE_FLIGHT_TIMED_RECORD;
		((u64 *)((long)c->next >> 1))[1] = 0;
	}
	ftrace_flight_off(keeps.flight, true);
	keep_compare(test);
	KUNIT_EXPECT_GT(test, keeps.nr, 500);
}

/*
 * What was cleared before the reset; only the time can tell. Computed times of the last calls may
 * be too late, if it took longer to make those before.
 */
static void what_was_cleared_is_not_found(struct kunit *test)
{
	for (unsigned int timed = 0; timed < 2; timed++) {
		keep_make(test);
		keep_record(test, timed);
		for (unsigned int n = 1; n < 100; n++) {
			u64 start = get_cycles();

			while (n > 60 && n < 95 && get_cycles() - start < 100000)
				cpu_relax();
			keep_calls(n, n + 1);
		}
		/* The calls stay in the ring. */
		keeps.flight->start.cycles = get_cycles();
		ftrace_flight_keep_start(keeps.flight, NSEC_PER_SEC, false);
		ftrace_flight_clear(keeps.flight, 0);
		keep_compare(test);
		KUNIT_EXPECT_EQ(test, keeps.nr, 0);
		keep_calls(100, 150);
		keep_compare(test);
		KUNIT_EXPECT_EQ(test, keeps.nr, 50);
		keep_undo(NULL);
	}
}

/* A CPU that is offline has no ring. What older kernels have left there must not be found. */
static void the_memory_is_cleared(struct kunit *test)
{
	keep_make(test);
	memset(keeps.memory[0], 0xff, keeps.size);
	keep_record(test, false);
	/* Other recorders may have made thunks of the kernel. */
	memset(ftrace_flight_keep_mods()->thunks, 0, sizeof(ftrace_flight_keep_mods()->thunks));
	KUNIT_EXPECT_NULL(test, memchr_inv(keeps.memory[0] + sizeof(struct ftrace_flight_header), 0,
					   keeps.size - sizeof(struct ftrace_flight_header)));
}

/* Firmware writes 8 kB, or part of that. */
static struct {
	unsigned long	at, size;
	unsigned int	what;
} writes;

static const u64 other_words[] = {
	FTRACE_FLIGHT_SWITCH | PID_MAX_LIMIT, FTRACE_FLIGHT_SWITCH | (u64)PID_MAX_LIMIT << 33,
	(1ULL << 63) - 1, 1,
};

/* Of the words of a group, the first one that can be a call. */
static void write_first(u64 *word, u64 what)
{
	bool timed = keeps.flight->timed;

	if ((unsigned long)word / sizeof(*word) % (timed ? 64 : 32) == timed)
		*word ^= (*word ^ what) & ~FTRACE_FLIGHT_EVEN;
}

static void keep_write(void *memory)
{
	u64 *word = memory + writes.at, made = keeps.flight->made + 5;

	for (unsigned int i = 0; i < writes.size / sizeof(*word); i++) {
		switch (writes.what) {
		case 0:
			word[i] = 0;
			break;
		case 1:
			word[i] = U64_MAX;
			break;
		case 2:		/* an address, here and there */
			word[i] = i % 5 ? 0 : 0x1efe0000 + i;
			break;
		case 3:		/* of code */
			word[i] = (unsigned long)_stext + 16 * i + 3;
			break;
		case 4:
			word[i] = 0x0123456789abcdefULL * (i + 1);
			break;
		case 5:		/* one record here and there */
			if (i % 61 == 7)
				word[i] = other_words[writes.at / (PAGE_SIZE / 2) % 4];
			break;
		case 6:		/* the time when the recorder was made, also in place of tasks */
			word[i] = made >> 31 << 33 | (made & GENMASK(30, 0)) | FTRACE_FLIGHT_EVEN;
			break;
		case 7:		/* a switch in place of a time */
			write_first(word + i, FTRACE_FLIGHT_SWITCH | 4);
			break;
		case 8:		/* a call in place of a time */
			write_first(word + i, (u32)IP(1));
			break;
		case 9:		/* half a group, or a whole one */
			if (i / 32 == 1)
				word[i] = 0;
			break;
		}
	}
}

/* All that is found was recorded, in this order. Little more is missing than was overwritten. */
static void keep_compare_rest(struct kunit *test, struct ftrace_flight_call *found)
{
	struct ftrace_flight *last = keep_reset();
	unsigned int nr = last ? keep_read(last, found) : 0, at = 0;
	u64 now = get_cycles();
	unsigned long record = keeps.flight->timed ? FTRACE_FLIGHT_TIMED_RECORD :
			       FTRACE_FLIGHT_RECORD;
	/* They are behind the groups. */
	bool no_pids = keeps.other || keeps.memory[0] + writes.at + writes.size >
				      (void *)per_cpu_ptr(keeps.flight->cpu, 0)->behind;

	KUNIT_EXPECT_TRUE(test, last);
	for (unsigned int i = 0; i < nr; i++) {
		const struct ftrace_flight_call *a, *b = &found[i];

		for (a = &keeps.calls[at]; at < keeps.nr && a->ip != b->ip; a++)
			at++;
		if (at < keeps.nr && a->parent_ip == b->parent_ip &&
		    (a->pid == b->pid || (no_pids && b->pid == PID_MAX_LIMIT)) &&
		    a->time >= b->early && a->time <= b->late && b->time <= now)
			continue;
		KUNIT_FAIL(test, "%u at %lx: %lx <- %lx of %u at %llu, not of %u in %llu to %llu",
			   writes.what, writes.at, b->ip, b->parent_ip, b->pid, b->time,
			   at < keeps.nr ? a->pid : 0, at < keeps.nr ? a->early : 0,
			   at < keeps.nr ? a->late : 0);
		break;
	}
	/* Zeros in place of the last calls are as if nothing was ever written there. */
	KUNIT_EXPECT_TRUE_MSG(test, nr == keeps.nr || keeps.other || !nr ||
			      found[nr - 1].ip != keeps.calls[keeps.nr - 1].ip, "%u at %lx",
			      writes.what, writes.at);
	/* A group more at both ends. */
	KUNIT_EXPECT_LE_MSG(test, keeps.other, writes.size / (32 * record) + 2, "%u at %lx",
			    writes.what, writes.at);
	KUNIT_EXPECT_GE_MSG(test, nr + writes.size / record + 2 * 32, keeps.nr, "%u at %lx",
			    writes.what, writes.at);
	keep_end(last);
}

static void other_data_is_left_out(struct kunit *test)
{
	struct ftrace_flight_call *found = vmalloc(CALLS * sizeof(*found));
	/* Of a CPU in its first lap, and in a later one. */
	const unsigned int calls[] = { 700, 3250 };
	/* Groups of which a part is left, and one of which most is left. */
	const unsigned int cuts[] = { 0, 312, 464 };

	KUNIT_ASSERT_NOT_NULL(test, found);
	for (unsigned int i = 0; i < 4; i++) {
		struct ftrace_flight_cpu *c;
		unsigned long group = i & 1 ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP;
		unsigned long ring, at;

		keep_make(test);
		keep_record(test, i & 1);
		keep_calls(1, calls[i / 2]);
		/* Without a switch behind it, a group has the only word about its task. */
		for (unsigned int n = 0; n < (i < 3 ? 200 : 1200); n++)
			keep_calls(7 * (calls[i / 2] + n), 7 * (calls[i / 2] + n) + 1);
		/* A group that an interrupt has begun in the middle of a switch has none. */
		c = per_cpu_ptr(keeps.flight->cpu, 0);
		at = (((long)c->next >> 1) - c->base) / group;
		((u32 *)c->behind)[at > 12 ? at - 12 : at + 12] = FTRACE_FLIGHT_NOBODY;
		keep_compare(test);
		scoped_guard(preempt)
			ftrace_flight_switch(keeps.flight, keeps.calls[keeps.nr - 1].pid, 1);
		for (unsigned int n = 0; n < 100; n++) {
			keep_calls(7 * (4500 + n), 7 * (4500 + n) + 1);
			ftrace_flight_mark(keeps.flight);
		}
		keeps.nr = keep_read(keeps.flight, keeps.calls);
		ring = c->base - (unsigned long)keeps.memory[0];
		keeps.write = keep_write;
		/* With the tasks of groups, which are behind the ring. */
		for (writes.what = 0; writes.what < 10; writes.what++) {
			for (writes.at = ring; writes.at < ring + FTRACE_FLIGHT_MIN_SIZE * 5 / 4;
			     writes.at += PAGE_SIZE / 2) {
				/* Nobody can tell that a few times are other ones. */
				for (unsigned int n = 0; n < 3 - (writes.what == 6); n++) {
					writes.size = 2 * PAGE_SIZE - cuts[n];
					keep_compare_rest(test, found);
				}
			}
		}
		keeps.write = NULL;
		keep_undo(NULL);
	}
	vfree(found);
}

static void keep_refused(struct kunit *test, const char *what)
{
	struct ftrace_flight_header *h = keeps.memory[0];
	struct ftrace_flight *last;

	h->sum = jhash(h, offsetof(struct ftrace_flight_header, sum), 0);
	last = keep_reset();
	KUNIT_EXPECT_NULL_MSG(test, last, "another %s is taken", what);
	keep_end(last);
}

/* Of another kernel, another size, or damaged. */
static void what_does_not_match_is_refused(struct kunit *test)
{
	struct ftrace_flight_header *h, good;
	struct ftrace_flight *last;

	keep_make(test);
	keep_record(test, true);
	keep_calls(1, 6);
	h = keeps.memory[0];
	good = *h;
	h->magic ^= 1;
	keep_refused(test, "magic");
	*h = good;
	h->memory += PAGE_SIZE;
	keep_refused(test, "memory");
	*h = good;
	h->ring += PAGE_SIZE;
	keep_refused(test, "ring");
	*h = good;
	h->cpus++;
	keep_refused(test, "number of CPUs");
	*h = good;
	h->text_size++;
	keep_refused(test, "kernel");
	*h = good;
	h->kernel[3] ^= 1;
	keep_refused(test, "banner");
	*h = good;
	h->start++;
	KUNIT_EXPECT_NULL(test, keep_reset());
	*h = good;
	/* There is one memory, which is more than a header, with room for a ring of each CPU. */
	KUNIT_EXPECT_EQ(test, ftrace_flight_keep_in(NAME, keeps.memory[0], keeps.size), -EBUSY);
	ftrace_flight_keep_in(NULL, NULL, 0);
	KUNIT_EXPECT_EQ(test, ftrace_flight_keep_in(NAME, keeps.memory[0], PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_flight_keep_in(NAME, keeps.memory[0], PAGE_SIZE + nr_cpu_ids *
						    FTRACE_FLIGHT_MIN_SIZE), -EINVAL);
	KUNIT_EXPECT_FALSE(test, ftrace_flight_found(NAME));
	last = keep_reset();
	KUNIT_EXPECT_TRUE(test, last);
	/* What was taken, or forgotten, is not found again. */
	KUNIT_EXPECT_FALSE(test, ftrace_flight_found(NAME));
	ftrace_flight_keep_forget();
	memcpy(keeps.memory[0], keeps.memory[1], keeps.size);
	KUNIT_EXPECT_NULL(test, keep_reset());
	keep_end(last);
}

/* The same kernel, at another address. */
static void functions_move_with_the_kernel(struct kunit *test)
{
	unsigned long here = (unsigned long)_stext + 64;
	struct ftrace_flight_header *h;
	struct ftrace_flight *last;
	char name[64];

	keep_make(test);
	keep_record(test, false);
	keep_calls(1, 6);
	h = keeps.memory[0];
	for (int distance = -SZ_2M; distance <= SZ_2M; distance += SZ_2M) {
		h->text = (unsigned long)_stext + distance;
		h->sum = jhash(h, offsetof(struct ftrace_flight_header, sum), 0);
		last = keep_reset();
		KUNIT_EXPECT_TRUE(test, last);
		KUNIT_EXPECT_EQ(test, ftrace_flight_keep_name(here + distance), here);
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(0, 0), 0);
		snprintf(name, sizeof(name), "%ps",
			 (void *)ftrace_flight_last_name((unsigned long)_stext + distance - 1, 0));
		KUNIT_EXPECT_STREQ(test, name, "unknown_in_last_kernel");
		KUNIT_EXPECT_EQ(test, ftrace_flight_keep_name((unsigned long)_end + distance), 0);
		keep_end(last);
	}
}

/* What has no name: no function is there. */
static unsigned long keep_unknown(void)
{
	return ftrace_flight_last_name(1, 1);
}

#ifdef CONFIG_MODULES
#define MOD_SIZE	0x3000

/* A module with text at @base is loaded, or unloaded. */
static void keep_mod(struct kunit *test, const char *name, unsigned long base, bool comes)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	strscpy(mod->name, name);
	mod->mem[MOD_TEXT].base = (void *)base;
	mod->mem[MOD_TEXT].size = MOD_SIZE;
	scoped_guard(mutex, &ftrace_lock)
		ftrace_flight_mods_note(mod, strlen(name), get_cycles(), comes);
	kunit_kfree(test, mod);
}

/* A module, and one of the same name that is another one. */
static void modules_move(struct kunit *test)
{
	unsigned long then = CALLER(0), now = CALLER(SZ_1M);
	struct ftrace_flight *last;
	struct module *mod;
	u64 time;

	keep_make(test);
	keep_record(test, false);
	keep_mod(test, "mod", then, true);
	time = get_cycles();
	last = keep_reset();
	KUNIT_ASSERT_TRUE(test, last);
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then, time), keep_unknown());
	keep_mod(test, "mod", now, true);
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then, time), now);
	/* The call was made before the module was loaded, or in another one. */
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then, 1), keep_unknown());
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(now, time), keep_unknown());
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then + MOD_SIZE - 1, time),
			now + MOD_SIZE - 1);
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then - 1, time), keep_unknown());
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then + MOD_SIZE, time), keep_unknown());
	keep_mod(test, "mod", now, false);
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then, time), keep_unknown());
	keep_mod(test, "dom", now, true);
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then, time), keep_unknown());
	for (unsigned int i = 0; i < 2; i++) {
		mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, mod);
		strscpy(mod->name, "mod");
		mod->mem[MOD_TEXT].base = (void *)now;
		mod->mem[MOD_TEXT].size = MOD_SIZE + !i;
		scoped_guard(mutex, &ftrace_lock)
			ftrace_flight_mods_note(mod, 3 + i, get_cycles(), true);
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then, time), keep_unknown());
	}
	/* A second reset. */
	keep_mod(test, "mod", now, true);
	keep_end(last);
	memcpy(keeps.memory[0], keeps.memory[1], keeps.size);
	last = keep_reset();
	KUNIT_EXPECT_TRUE(test, last);
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then, time), keep_unknown());
	keep_end(last);
}

/* Each call has the name of the module that was there when it was made. */
static void modules_follow_each_other(struct kunit *test)
{
	static const char * const names[] = { "a", "b", "c", "d" };
	unsigned long then = CALLER(0), now = CALLER(SZ_1M);
	u64 times[ARRAY_SIZE(names)];
	struct ftrace_flight *last;

	keep_make(test);
	keep_record(test, false);
	keep_mod(test, "beside", then + SZ_64K, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		/* The last one begins later. */
		keep_mod(test, names[i], then + i / 3 * PAGE_SIZE, true);
		times[i] = get_cycles();
		/* Nobody says that "c" goes. */
		if (i < 2)
			keep_mod(test, names[i], then, false);
	}
	last = keep_reset();
	KUNIT_ASSERT_TRUE(test, last);
	keep_mod(test, "beside", now - SZ_64K, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		keep_mod(test, names[i], now + i * SZ_1M, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then + PAGE_SIZE, times[i]),
				now + i * SZ_1M + (i < 3) * PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(then + SZ_64K, times[i]),
				now - SZ_64K);
	}
	keep_end(last);
}

/* There is room for so many. Those that were unloaded before all others make room. */
static void modules_find_room(struct kunit *test)
{
	const unsigned int nr = FTRACE_FLIGHT_MODS - 1;
	struct ftrace_flight *last;
	u64 times[3];

	keep_make(test);
	keep_record(test, false);
	for (unsigned int i = 0; i < nr; i++) {
		keep_mod(test, "gone", CALLER(i * SZ_1M), true);
		if (i < ARRAY_SIZE(times))
			times[i] = get_cycles();
		keep_mod(test, "gone", CALLER(i * SZ_1M), false);
	}
	/* It is before those that were there before it. */
	keep_mod(test, "more", CALLER(SZ_1M), true);
	keep_mod(test, "more", CALLER(SZ_1M), false);
	last = keep_reset();
	KUNIT_ASSERT_TRUE(test, last);
	keep_mod(test, "gone", IP(0), true);
	keep_mod(test, "more", IP(SZ_1M), true);
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(CALLER(0), times[0]), keep_unknown());
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(CALLER(SZ_1M), times[1]), IP(0));
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(CALLER(2 * SZ_1M), times[2]), IP(0));
	keep_end(last);
	keep_undo(NULL);

	keep_make(test);
	keep_record(test, false);
	for (unsigned int i = 0; i < nr; i++) {
		keep_mod(test, "gone", CALLER(i * SZ_1M), true);
		keep_mod(test, "gone", CALLER(i * SZ_1M), false);
	}
	for (unsigned int i = 0; i < nr; i++)
		keep_mod(test, "here", CALLER(i * SZ_16K), true);
	keep_mod(test, "none", CALLER(nr * SZ_16K), true);
	last = keep_reset();
	KUNIT_ASSERT_TRUE(test, last);
	keep_mod(test, "gone", IP(0), true);
	keep_mod(test, "here", IP(SZ_1M), true);
	keep_mod(test, "none", IP(SZ_2M), true);
	for (unsigned int i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(CALLER(i * SZ_16K), get_cycles()),
				IP(SZ_1M));
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(CALLER(nr * SZ_16K), get_cycles()),
			keep_unknown());
	keep_end(last);
}
#endif

#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
/* After a tail call the caller is a thunk: of the kernel, or of a module that came and went. */
static void thunks_have_functions(struct kunit *test)
{
	const unsigned long kernel = CALLER(0), module = CALLER(SZ_16M);
	struct ftrace_table *t = ftrace_table_of((unsigned long)_stext);
	struct ftrace_flight_mod *mods;
	struct ftrace_flight *last;
	unsigned long size;

	KUNIT_ASSERT_NOT_NULL(test, t);
	keep_make(test);
	keep_record(test, false);
	mods = ftrace_flight_keep_mods();
	mods[0].thunks[1] = kernel;
	mods[1] = (struct ftrace_flight_mod){
		.base = IP(0), .came = 10, .gone = 20, .size = 1, .thunks = { module } };
	last = keep_reset();
	KUNIT_ASSERT_TRUE(test, last);
	for (size = 1; !ftrace_thunk_nr(size); size++)
		;
	mods = ftrace_flight_keep_mods();
	for (unsigned int nr = 0; nr < t->nr; nr += t->nr / 7) {
		unsigned long at = nr * size, site = site_ip(t, &t->sites[nr]);

		mods[1].now = 0;
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(kernel + at, 1), site);
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(kernel + at + size - 1, 1), site);
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(module + at, 15), keep_unknown());
		mods[1].now = (unsigned long)_stext;
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(module + at, 15), site);
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(module + at, 9), keep_unknown());
		KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(module + at, 20), keep_unknown());
	}
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(kernel - 1, 1), keep_unknown());
	KUNIT_EXPECT_EQ(test, ftrace_flight_last_name(kernel + t->nr * size, 1), keep_unknown());
	keep_end(last);
}

/* Where thunks are is written down when they are made, and when a recorder begins. */
static void thunks_are_written_down(struct kunit *test)
{
	struct ftrace_table *t = ftrace_table_of((unsigned long)_stext);
	struct ftrace_flight_mod *mods;

	KUNIT_ASSERT_NOT_NULL(test, t);
	keep_make(test);
	keep_record(test, false);
	mods = ftrace_flight_keep_mods();
	for (unsigned int timed = 0; timed < FTRACE_NR_THUNKS; timed++) {
		int ret;

		scoped_guard(mutex, &ftrace_lock)
			ret = ftrace_thunks_make(t, FTRACE_THUNK(timed));
		if (ret)
			kunit_skip(test, "no thunks");
		KUNIT_EXPECT_EQ(test, mods[0].thunks[timed], t->thunks[timed]->base);
	}
	memset(mods, 0xff, sizeof(*mods));
	ftrace_flight_mods_keep(mods, false);
	for (unsigned int timed = 0; timed < FTRACE_NR_THUNKS; timed++)
		KUNIT_EXPECT_EQ(test, mods[0].thunks[timed], t->thunks[timed]->base);
	/* Those of the last kernel stay. */
	ftrace_flight_mods_keep(mods, true);
	mods[0].thunks[0] = 1;
	scoped_guard(mutex, &ftrace_lock)
		ftrace_flight_mods_thunks(t);
	KUNIT_EXPECT_EQ(test, mods[0].thunks[0], 1);
}
#endif

static void keep_expect_comm(struct kunit *test, u32 pid, const char *expected)
{
	char comm[TASK_COMM_LEN];

	ftrace_flight_last_comm(pid, comm);
	KUNIT_EXPECT_STREQ(test, comm, expected);
}

/* The last one of those that share a place has it. */
static void tasks_keep_their_names(struct kunit *test)
{
	struct ftrace_flight other = { }, *last;

	keep_make(test);
	keep_record(test, false);
	ftrace_flight_comms_note(keeps.flight, 7, "first");
	ftrace_flight_comms_note(keeps.flight, 8, "before");
	ftrace_flight_comms_note(keeps.flight, 8, "a name of fifteen");
	ftrace_flight_comms_note(keeps.flight, 7 + 3 * FTRACE_FLIGHT_COMMS, "later");
	ftrace_flight_comms_note(&other, 8, "other");
	ftrace_flight_comms_note(keeps.flight, FTRACE_FLIGHT_COMMS, "beside idle");
	ftrace_flight_comms_note(keeps.flight, 0, "swapper/1");
	/* A reset in the middle of it. */
	ftrace_flight_comms_note(keeps.flight, 9, "cut");
	ftrace_flight_keep_comms()[9].pid = U32_MAX;
	ftrace_flight_comms_note(keeps.flight, 9, "busy");
	last = keep_reset();
	KUNIT_ASSERT_TRUE(test, last);
	keep_expect_comm(test, 0, "<idle>");
	keep_expect_comm(test, FTRACE_FLIGHT_COMMS, "beside idle");
	keep_expect_comm(test, 7, "<...>");
	keep_expect_comm(test, 8, "a name of fifte");
	keep_expect_comm(test, 9, "<...>");
	keep_expect_comm(test, 7 + 3 * FTRACE_FLIGHT_COMMS, "later");
	keep_end(last);
	keep_undo(NULL);

	/* Other memory is left alone. */
	keep_make(test);
	keep_record(test, false);
	memset(ftrace_flight_keep_mods(), 0, FTRACE_FLIGHT_MODS * sizeof(struct ftrace_flight_mod));
	for (u32 pid = 1; pid <= FTRACE_FLIGHT_COMMS; pid++)
		ftrace_flight_comms_note(keeps.flight, pid, "any");
	KUNIT_EXPECT_NULL(test, memchr_inv(ftrace_flight_keep_mods(), 0, FTRACE_FLIGHT_MODS *
					   sizeof(struct ftrace_flight_mod)));
	KUNIT_EXPECT_NULL(test, memchr_inv(ftrace_flight_keep_ring(0), 0, FTRACE_FLIGHT_MIN_SIZE));
	keep_undo(NULL);

	/* A new recorder has none of the names. */
	keep_make(test);
	memset(keeps.memory[0], 0xff, keeps.size);
	keep_record(test, false);
	last = keep_reset();
	KUNIT_ASSERT_TRUE(test, last);
	keep_expect_comm(test, 8, "<...>");
	keep_end(last);
}

/* A second of the last kernel has as many cycles, and as much of its trace clock. */
static void the_clock_is_that_of_the_last_kernel(struct kunit *test)
{
	struct ftrace_flight *last;
	u64 cycles, clock;

	for (unsigned int in_cycles = 0; in_cycles < 2; in_cycles++) {
		keep_make(test);
		keep_record(test, false);
		ftrace_flight_keep_start(keeps.flight, 3 * NSEC_PER_SEC, in_cycles);
		last = keep_reset();
		KUNIT_ASSERT_TRUE(test, last);
		cycles = last->stop.cycles - last->start.cycles;
		clock = last->stop.clock - last->start.clock;
		KUNIT_EXPECT_GT(test, clock, 0);
		KUNIT_EXPECT_EQ(test, cycles, in_cycles ? clock : 3 * clock);
		keep_end(last);
		keep_undo(NULL);
	}
}

/* There is one place for rings, and it is free when no task can write there any more. */
static void one_recorder_has_the_memory(struct kunit *test)
{
	struct ftrace_flight *other;

	keep_make(test);
	keep_record(test, false);
	KUNIT_EXPECT_TRUE(test, keeps.flight->persistent);
	KUNIT_EXPECT_EQ(test, ftrace_flight_make_spare(keeps.flight), -EBUSY);
	scoped_guard(mutex, &trace_types_lock)
		other = ftrace_flight_make(SZ_16K, "other", false);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_FALSE(test, other->persistent);
	ftrace_flight_put(other);
	ftrace_flight_wait();
	guard(mutex)(&trace_types_lock);
	KUNIT_EXPECT_NULL(test, ftrace_flight_make(SZ_16K, NAME, false));
	keep_calls(1, 6);
	KUNIT_EXPECT_EQ(test, keep_read(keeps.flight, keeps.calls), 5);
}

static struct kunit_case keep_cases[] = {
	KUNIT_CASE_SLOW(calls_are_found_after_a_reset),
	KUNIT_CASE_SLOW(calls_with_times_are_found),
	KUNIT_CASE(laps_that_have_just_ended_are_found),
	KUNIT_CASE(what_is_not_written_is_not_found),
	KUNIT_CASE(what_was_taken_back_is_not_found),
	KUNIT_CASE(what_was_cleared_is_not_found),
	KUNIT_CASE(the_memory_is_cleared),
	KUNIT_CASE_SLOW(other_data_is_left_out),
	KUNIT_CASE(what_does_not_match_is_refused),
	KUNIT_CASE(functions_move_with_the_kernel),
#ifdef CONFIG_MODULES
	KUNIT_CASE(modules_move),
	KUNIT_CASE(modules_follow_each_other),
	KUNIT_CASE(modules_find_room),
#endif
#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
	KUNIT_CASE(thunks_have_functions),
	KUNIT_CASE(thunks_are_written_down),
#endif
	KUNIT_CASE(tasks_keep_their_names),
	KUNIT_CASE(the_clock_is_that_of_the_last_kernel),
	KUNIT_CASE(one_recorder_has_the_memory),
	{ }
};

static struct kunit_suite keep_suite = {
	.name = "ftrace_flight_keep",
	.exit = ftrace_kunit_exit,
	.test_cases = keep_cases,
};

kunit_test_suite(keep_suite);
