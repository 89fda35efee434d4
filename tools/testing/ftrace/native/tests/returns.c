// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls with their returns: what is recorded, and what an unwinder finds at each instruction
 * between the site and the return to the caller, while interrupts come that make such calls, too.
 */
#include <linux/ftrace_arch.h>
#include <linux/percpu.h>

#include "../../arch/x86/kernel/ftrace/flight.h"
#include "ftrace/flight.h"
#include "ftrace/guards.h"
#include "ftrace/ops.h"
#include "tests.h"

/* native_tail_func() ends with a jump to native_func_100(). */
static void * const funcs[] = {
	ftrace_kunit_func1, ftrace_kunit_func2, native_tail_func, NULL, /* native_func_100() */
};

static struct ftrace_flight *flight;
static struct ftrace_ops ops;
static bool guarded;

static void *func_of(unsigned int n)
{
	return funcs[n] ?: native_funcs[0];
}

static unsigned long function_of(void *func)
{
	return ftrace_location((unsigned long)func) + MCOUNT_INSN_SIZE;
}

static void recorder_stop(void *unused)
{
	if (!flight)
		return;
	ftrace_flight_off(flight, true);
	if (unregister_ftrace_function(&ops))
		native_fail("the recorder is not registered");
	ftrace_flight_returns_stop(flight);
	ftrace_flight_put(flight);
	flight = NULL;
	ftrace_free_filter(&ops);
}

static void recorder_start_thresh(struct kunit *test, bool timed, u64 thresh)
{
	flight = ftrace_flight_make(SZ_16K, NULL, timed);
	KUNIT_ASSERT_NOT_NULL(test, flight);
	flight->returns = true;
	flight->thresh = thresh;
	ops = (struct ftrace_ops){ .func = ftrace_flight_func, .flight = flight };
	if (guarded) {
		flight->guard = ftrace_guard_make(FTRACE_PID_IGNORE);
		KUNIT_ASSERT_NOT_NULL(test, flight->guard);
		ops.guard = flight->guard;
	}
	for (unsigned int n = 0; n < ARRAY_SIZE(funcs); n++)
		KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, ftrace_location((unsigned long)
								func_of(n)), 0, 0), 0);
	KUNIT_ASSERT_EQ(test, ftrace_flight_returns_start(flight), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	ftrace_flight_off(flight, false);
	/* Behind the record that begins recording. */
	ftrace_kunit_func1(0);
}

static void recorder_start(struct kunit *test, bool timed)
{
	recorder_start_thresh(test, timed, 0);
}

/* The guard turns all tasks away, or none. */
static void turn_away(bool away)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(*per_cpu_ptr(flight->guard->word, cpu), away ? FTRACE_PID_IGNORE : cpu);
}

static struct ftrace_flight_cpu *ring(void)
{
	return per_cpu_ptr(flight->cpu, raw_smp_processor_id());
}

/* The words of records from @from on; the first of a group is a time. Returns their number. */
static unsigned int words_since(const struct ftrace_flight_cpu *c, u64 from, u64 *words,
				unsigned int max)
{
	unsigned int size = flight->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
	u64 first = flight->timed ? FTRACE_FLIGHT_TIMED_FIRST : FTRACE_FLIGHT_FIRST;
	unsigned int nr = 0;

	for (; from != c->next && nr < max; from += 2 * size)
		if (from & first)
			words[nr++] = ((u64 *)((long)from >> 1))[flight->timed];
	return nr;
}

/* Addresses of the program are positive, so its words have nothing to borrow. */
static u64 call_word(void *func, unsigned long caller)
{
	return ((u64)(2 * (u32)caller + (ring()->next & 1)) << 32) + function_of(func);
}

static u64 return_word(void *func)
{
	return ((ring()->next & 1) << 32) + function_of(func);
}

/* Call @func(5); @caller is where it returns to. */
#define call_it(func, caller)							\
({										\
	int __ret, __arg = 5;							\
										\
	asm volatile("lea 1f(%%rip), %%rbx; mov %%rbx, %1; call *%3; 1:"	\
		     : "=&a" (__ret), "=m" (caller), "+D" (__arg)		\
		     : "r" (func)						\
		     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc"); \
	__ret;									\
})

static void expect_records(struct kunit *test, void *func, int ret, bool returns)
{
	unsigned long caller;
	u64 from = ring()->next, words[4];
	unsigned int nr;

	KUNIT_EXPECT_EQ(test, call_it(func, caller), ret);
	/* A lap has ended: some are at the start of the ring. */
	if ((from ^ ring()->next) & 1)
		return;
	nr = words_since(ring(), from, words, ARRAY_SIZE(words));
	KUNIT_EXPECT_EQ(test, nr, 1U + returns);
	KUNIT_EXPECT_EQ(test, words[0], call_word(func, caller));
	if (returns)
		KUNIT_EXPECT_EQ(test, words[1], return_word(func));
}

static void expect_all_records(struct kunit *test, bool timed)
{
	unsigned long top = current->flight_returns, caller;
	u64 from, words[5];

	for (unsigned int i = 0; i < 10000; i++)
		expect_records(test, ftrace_kunit_func1, 6, true);
	/* The callee of a tail call is called by the thunk. */
	from = ring()->next;
	KUNIT_EXPECT_EQ(test, call_it(native_tail_func, caller), native_funcs[0](5));
	KUNIT_EXPECT_EQ(test, words_since(ring(), from, words, 4), 4U);
	KUNIT_EXPECT_EQ(test, words[0], call_word(native_tail_func, caller));
	KUNIT_EXPECT_EQ(test, (u32)words[1], function_of(native_funcs[0]));
	KUNIT_EXPECT_EQ(test, arch_ftrace_thunk_function(words[1] >> 33, true),
			function_of(native_tail_func));
	KUNIT_EXPECT_EQ(test, words[2], return_word(native_funcs[0]));
	KUNIT_EXPECT_EQ(test, words[3], return_word(native_tail_func));
	KUNIT_EXPECT_EQ(test, current->flight_returns, top);
	/* No stack, and no room. */
	current->flight_returns = 0;
	expect_records(test, ftrace_kunit_func1, 6, false);
	current->flight_returns = top & PAGE_MASK;
	expect_records(test, ftrace_kunit_func1, 6, false);
	KUNIT_EXPECT_EQ(test, current->flight_returns, top & PAGE_MASK);
	current->flight_returns = (top & PAGE_MASK) + FTRACE_RETURN_SIZE;
	expect_records(test, ftrace_kunit_func1, 6, true);
	current->flight_returns = top;
	/* Switched off, nothing is recorded, and calls return. */
	ftrace_flight_off(flight, true);
	from = ring()->next;
	KUNIT_EXPECT_EQ(test, call_it(ftrace_kunit_func1, caller), 6);
	KUNIT_EXPECT_EQ(test, ring()->next, from);
	ftrace_flight_off(flight, false);
	KUNIT_EXPECT_EQ(test, call_it(ftrace_kunit_func1, caller), 6);
}

SUITE(returns, NULL, ftrace_kunit_exit);

CASE(calls_have_returns)
{
	for (unsigned int timed = 0; timed < 2; timed++) {
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, recorder_stop, NULL), 0);
		recorder_start(test, timed);
		expect_all_records(test, timed);
		kunit_release_action(test, recorder_stop, NULL);
		KUNIT_EXPECT_EQ(test, ftrace_kunit_func1(5), 6);
	}
}

/* A call that is executed in single steps, and what the handler knows of it. */
static struct stepped {
	void		*func;
	unsigned long	sp;		/* where the caller's address is */
	unsigned long	caller;
	unsigned long	callee_sp;	/* where entry or exit returns to; 0: in neither */
	unsigned long	top;
	u32		random;
	unsigned int	steps, unknown, checked;
	bool		nested;
	bool		drop;		/* leave an entry of what does not return */
	u64		from;		/* where its records begin */
	void		(*in_body)(void);
} stepped;

static u32 rnd(u32 below)
{
	stepped.random = stepped.random * 1664525 + 1013904223;
	return ((u64)stepped.random * below) >> 32;
}

static bool in_function(unsigned long ip)
{
	for (unsigned int n = 0; n < ARRAY_SIZE(funcs); n++)
		if (ip - (unsigned long)func_of(n) < function_of(func_of(n)) + 8 -
		    (unsigned long)func_of(n))
			return true;
	return false;
}

/* What unwinders make of the address at @at. */
static unsigned long recovered(unsigned long at)
{
	unsigned long cursor = 0;

	return ftrace_flight_ret_addr(current, &cursor, *(unsigned long *)at, (unsigned long *)at);
}

/* What unwinders make of the address at @sp, or behind it if that is the function's. */
static void check_leads(unsigned long ip, unsigned long sp)
{
	unsigned long addr = recovered(sp);

	/* The function is shown before it runs. */
	for (unsigned int n = 0; n < ARRAY_SIZE(funcs); n++)
		if (addr == function_of(func_of(n))) {
			addr = recovered(sp + sizeof(long));
			break;
		}
	if (addr != stepped.caller)
		native_fail("the caller at %lx is %lx, and is shown as %lx", ip, stepped.caller,
			    addr);
	stepped.checked++;
}

/* A thunk, or what it calls, with the stack pointer after that: does it lead to the caller? */
static void check_thunk(unsigned long ip, unsigned long sp)
{
	unsigned long template = ftrace_tramp_template_ip(ip);

	if (template == (unsigned long)ftrace_flight_unknown) {
		stepped.unknown++;
		return;
	}
	if (template != (unsigned long)ftrace_caller)
		native_fail("no layout at %lx", ip);
	check_leads(ip, sp);
}

static bool is_callee(unsigned long ip)
{
	return ip == (unsigned long)ftrace_flight_entry ||
	       ip == (unsigned long)ftrace_flight_exit ||
	       ip == (unsigned long)ftrace_flight_timed_entry ||
	       ip == (unsigned long)ftrace_flight_guarded_entry ||
	       ip == (unsigned long)ftrace_flight_guarded_timed_entry ||
	       ip == (unsigned long)ftrace_flight_timed_exit;
}

static void check_step(const struct host_regs *regs)
{
	if (arch_ftrace_thunk_function(regs->ip, false)) {
		stepped.callee_sp = 0;
		check_thunk(regs->ip, regs->sp);
		return;
	}
	if (is_callee(regs->ip))
		stepped.callee_sp = regs->sp;
	else if (in_function(regs->ip))
		stepped.callee_sp = 0;
	if (stepped.callee_sp && regs->sp == stepped.callee_sp + sizeof(long)) {
		/* There is no room: entry is about to return into the function. */
		check_leads(regs->ip, regs->sp);
	} else if (stepped.callee_sp) {
		unsigned long back = *(unsigned long *)stepped.callee_sp;

		if (!arch_ftrace_thunk_function(back, false))
			native_fail("%lx returns to %lx", regs->ip, back);
		check_thunk(back - 1, stepped.callee_sp + sizeof(long));
	} else if (in_function(regs->ip)) {
		unsigned long addr = recovered(stepped.sp);

		if (addr != stepped.caller)
			native_fail("the caller in %lx is %lx, and is shown as %lx", regs->ip,
				    stepped.caller, addr);
		stepped.checked++;
		if (stepped.in_body && regs->ip == function_of(stepped.func))
			stepped.in_body();
	}
}

static void on_step(struct host_regs *regs, bool step)
{
	unsigned long top = current->flight_returns;

	if (!step || stepped.nested)
		return;
	stepped.nested = true;
	stepped.steps++;
	/* Handlers have a stack of their own. What is below the stack pointer is lost. */
	memset((void *)regs->sp - 256, 0x55, 256);
	/* An interrupt may use the stack, and calls functions. */
	if (!rnd(3))
		ftrace_kunit_func2(rnd(100));
	if (!rnd(30))
		for (unsigned int i = 0; i < 100; i++)
			native_tail_func(i);
	check_step(regs);
	if (current->flight_returns != top && !stepped.drop)
		native_fail("%lx: the stack is not where it was", regs->ip);
	stepped.nested = false;
}

static int step_call(void *func)
{
	int ret, arg = 5;

	stepped.func = func;
	stepped.top = current->flight_returns;
	stepped.callee_sp = 0;
	asm volatile("lea -8(%%rsp), %%rbx; mov %%rbx, %1; lea 1f(%%rip), %%rbx; mov %%rbx, %2;"
		     "pushf; orl %5, (%%rsp); popf; call *%4;"
		     "1: pushf; andl %6, (%%rsp); popf"
		     : "=&a" (ret), "=m" (stepped.sp), "=m" (stepped.caller), "+D" (arg)
		     : "r" (func), "i" (X86_EFLAGS_TF), "i" (~X86_EFLAGS_TF)
		     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	return ret;
}

CASE(callers_are_found_at_each_step)
{
	skip_if_sanitized(test);
	native_interrupts = on_step;
	for (unsigned int kind = 0; kind < FTRACE_NR_THUNKS; kind++) {
		guarded = kind & FTRACE_THUNK_GUARDED;
		recorder_start(test, kind & FTRACE_THUNK_TIMED);
		stepped = (struct stepped){ .random = kind };
		for (unsigned int i = 0; i < 150; i++) {
			unsigned long top = current->flight_returns;

			if (guarded)
				turn_away(i % 3 == 2);
			/* There may be no room for some of them. */
			if (!(i % 7))
				current->flight_returns = (top & PAGE_MASK) +
					rnd(4) * FTRACE_RETURN_SIZE;
			KUNIT_EXPECT_EQ(test, step_call(ftrace_kunit_func1), 6);
			KUNIT_EXPECT_EQ(test, step_call(native_tail_func), native_funcs[0](5));
			current->flight_returns = top;
		}
		/* In a thunk, three instructions of eight. */
		KUNIT_EXPECT_GT(test, stepped.checked, 10 * stepped.unknown);
		KUNIT_EXPECT_GT(test, stepped.unknown, (guarded ? 100 : 150) * 3 * 2);
		recorder_stop(NULL);
	}
	guarded = false;
	native_interrupts = NULL;
}

static void leave_entry(void)
{
	struct ftrace_return *entry = (void *)(current->flight_returns -= sizeof(*entry));

	*entry = (struct ftrace_return){ .sp = 0x1234, .caller = 0x5678 };
}

/* What does not return, as when the machine is suspended, leaves entries above the right one. */
CASE(entries_that_are_left_are_dropped)
{
	skip_if_sanitized(test);
	for (unsigned int timed = 0; timed < 2; timed++) {
		unsigned long top;

		recorder_start(test, timed);
		top = current->flight_returns;
		native_interrupts = on_step;
		stepped = (struct stepped){ .drop = true, .in_body = leave_entry };
		KUNIT_EXPECT_EQ(test, step_call(ftrace_kunit_func1), 6);
		native_interrupts = NULL;
		KUNIT_EXPECT_EQ(test, current->flight_returns, top);
		recorder_stop(NULL);
	}
}

static bool is_inside, may_go;

static void stay(void)
{
	WRITE_ONCE(is_inside, true);
	while (!READ_ONCE(may_go))
		cpu_relax();
}

static int stay_in_call(void *data)
{
	*(int *)data = step_call(ftrace_kunit_func1);
	native_until_stopped();
	return 0;
}

/* Nobody waits for a task that is in a function, and it returns when the recorder is gone. */
CASE(tasks_return_when_nothing_is_recorded)
{
	skip_if_sanitized(test);
	for (unsigned int timed = 0; timed < 2; timed++) {
		struct task_struct *task;
		int ret = 0;

		recorder_start(test, timed);
		is_inside = false;
		may_go = false;
		stepped = (struct stepped){ .in_body = stay };
		native_interrupts = on_step;
		task = kthread_run_on_cpu(stay_in_call, &ret, 2, "native/%u");
		while (!READ_ONCE(is_inside))
			usleep_range(1000, 2000);
		recorder_stop(NULL);
		WRITE_ONCE(may_go, true);
		while (!READ_ONCE(ret))
			usleep_range(1000, 2000);
		native_settle();
		native_interrupts = NULL;
		KUNIT_EXPECT_EQ(test, ret, 6);
		kthread_stop(task);
	}
}

/* There is one recorder with returns, of those with times and of the others; or none without memory. */
CASE(one_recorder_has_returns)
{
	struct ftrace_flight *other = ftrace_flight_make(SZ_16K, NULL, false);
	static struct task_struct task;

	KUNIT_ASSERT_NOT_NULL(test, other);
	recorder_start(test, false);
	KUNIT_EXPECT_EQ(test, ftrace_flight_returns_start(other), -EBUSY);
	recorder_stop(NULL);
	native_fail_all(true);
	KUNIT_EXPECT_EQ(test, ftrace_flight_returns_start(other), -ENOMEM);
	native_fail_all(false);
	ftrace_flight_init_task(&task);
	KUNIT_EXPECT_EQ(test, task.flight_returns, 0);
	KUNIT_EXPECT_EQ(test, ftrace_flight_returns_start(other), 0);
	ftrace_flight_init_task(&task);
	KUNIT_EXPECT_NE(test, task.flight_returns, 0);
	ftrace_flight_exit_task(&task);
	ftrace_flight_returns_stop(other);
	ftrace_flight_put(other);
}

static void note_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs)
{
}

/* While another ops wants the function, the call alone is recorded. */
CASE(others_have_a_trampoline)
{
	static struct ftrace_ops other = { .func = note_call };

	recorder_start(test, false);
	expect_records(test, ftrace_kunit_func1, 6, true);
	register_on(test, &other, ftrace_kunit_func1);
	expect_records(test, ftrace_kunit_func1, 6, false);
	KUNIT_ASSERT_EQ(test, unregister_ftrace_function(&other), 0);
	expect_records(test, ftrace_kunit_func1, 6, true);
	ftrace_free_filter(&other);
	recorder_stop(NULL);
}

/* Change the guard of the recorder. */
static void set_guard(struct kunit *test, struct ftrace_guard *guard)
{
	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, ftrace_ops_set_func(&ops, ops.func, guard), 0);
}

/* Calls of a task that is turned away are not recorded, and return to their callers. */
CASE(guards_turn_tasks_away)
{
	for (unsigned int timed = 0; timed < 2; timed++) {
		unsigned long top, caller;
		int __percpu *word;
		u64 from;

		guarded = true;
		recorder_start(test, timed);
		guarded = false;
		top = current->flight_returns;
		for (unsigned int i = 0; i < 100; i++) {
			turn_away(false);
			expect_records(test, ftrace_kunit_func1, 6, true);
			turn_away(true);
			from = ring()->next;
			KUNIT_EXPECT_EQ(test, call_it(ftrace_kunit_func1, caller), 6);
			KUNIT_EXPECT_EQ(test, call_it(native_tail_func, caller), native_funcs[0](5));
			KUNIT_EXPECT_EQ(test, ring()->next, from);
			KUNIT_EXPECT_EQ(test, current->flight_returns, top);
		}
		set_guard(test, NULL);
		expect_records(test, ftrace_kunit_func1, 6, true);
		set_guard(test, flight->guard);
		from = ring()->next;
		KUNIT_EXPECT_EQ(test, call_it(ftrace_kunit_func1, caller), 6);
		KUNIT_EXPECT_EQ(test, ring()->next, from);
		/* Thunks stay, and look at no guard that is gone. */
		word = flight->guard->word;
		KUNIT_EXPECT_PTR_EQ(test, ftrace_flight_words[timed], word);
		recorder_stop(NULL);
		KUNIT_EXPECT_PTR_NE(test, ftrace_flight_words[timed], word);
	}
}

static struct {
	unsigned int	steps, snapshot;
	u32		functions[4];	/* of calls that have not returned */
	unsigned int	depth, calls, parted;
} snap;

static void snap_step(struct host_regs *regs, bool step)
{
	if (step && ++snap.steps == snap.snapshot)
		ftrace_flight_exchange(flight, raw_smp_processor_id());
}

static bool is_function(u32 addr)
{
	for (unsigned int n = 0; n < ARRAY_SIZE(funcs); n++)
		if (addr == function_of(func_of(n)))
			return true;
	return false;
}

/* Reads what was recorded in a ring: each return is that of the last call. Times are left out. */
static void snap_read(const struct ftrace_flight_cpu *c, u64 from)
{
	u64 words[32];
	unsigned int nr = words_since(c, from, words, ARRAY_SIZE(words));

	for (unsigned int i = 0; i < nr; i++) {
		if (!is_function(words[i]))
			continue;
		if (words[i] >> 33) {
			snap.functions[snap.depth++ % ARRAY_SIZE(snap.functions)] = words[i];
			snap.calls++;
		} else if (!snap.depth || snap.functions[--snap.depth] != (u32)words[i]) {
			native_fail("step %u: %llx returns, and was not called",
				    snap.snapshot, words[i]);
		}
	}
}

/* Take a snapshot at each third step of a call: what is recorded before and after it fits together. */
CASE(snapshots_part_calls_from_returns)
{
	skip_if_sanitized(test);
	for (unsigned int timed = 0; timed < 2; timed++) {
		const struct ftrace_flight_cpu *spare;

		recorder_start(test, timed);
		KUNIT_ASSERT_EQ(test, ftrace_flight_make_spare(flight), 0);
		spare = per_cpu_ptr(flight->spare->cpu, raw_smp_processor_id());
		native_interrupts = snap_step;
		memset(&snap, 0, sizeof(snap));
		do {
			int ret;

			snap.snapshot += 3;
			snap.steps = 0;
			snap.calls = 0;
			preempt_disable();
			/* After the snapshot before. */
			ftrace_kunit_func1(0);
			ftrace_flight_clear(flight, raw_smp_processor_id());
			ret = step_call(ftrace_kunit_func2);
			if (snap.steps < snap.snapshot)
				ftrace_flight_exchange(flight, raw_smp_processor_id());
			ftrace_kunit_func1(0);
			preempt_enable();
			KUNIT_EXPECT_EQ(test, ret, 7);
			/* A lap has ended: some are at the start of the ring. */
			if ((spare->cleared ^ spare->next) & 1 || (ring()->cleared ^ ring()->next) & 1)
				continue;
			snap_read(spare, spare->cleared);
			snap.parted += snap.depth;
			snap_read(ring(), ring()->cleared);
			KUNIT_EXPECT_EQ(test, snap.depth, 0);
			KUNIT_EXPECT_EQ(test, snap.calls, 2);
		} while (snap.steps >= snap.snapshot);
		native_interrupts = NULL;
		KUNIT_EXPECT_GT(test, snap.parted, 10);
		recorder_stop(NULL);
	}
}

#define MAX_FOUND	2000

struct found {
	u64	cycles, word;
};

/* Of a copy, what a reader takes for records. Addresses of the program have their own parity. */
static unsigned int find(int cpu, struct found *found)
{
	struct ftrace_flight *copy = ftrace_flight_copy(flight, false, RING_BUFFER_ALL_CPUS);
	struct ftrace_flight_cursor cursor;
	const struct ftrace_flight_cpu *snap = &cursor.snap;
	unsigned int nr = 0;

	if (!copy)
		return 0;
	ftrace_flight_rewind(copy, &cursor, cpu);
	for (unsigned int lap = cursor.place.wrapped; lap < 2; lap++) {
		unsigned long pos = lap == cursor.place.wrapped ? cursor.place.pos : snap->base;
		unsigned long end = lap ? (long)snap->next >> 1 : snap->end;

		for (; pos < end && nr < MAX_FOUND; pos += FTRACE_FLIGHT_TIMED_RECORD) {
			const u64 *slot = (u64 *)pos;

			if (pos % FTRACE_FLIGHT_TIMED_GROUP && is_function(slot[1]) &&
			    (slot[1] >> 32 & 1) == ((lap ^ ~snap->next) & 1))
				found[nr++] = (struct found){ slot[0], slot[1] };
		}
	}
	ftrace_flight_free(copy);
	return nr;
}

/* All calls are quick. */
#define QUICK	U64_MAX

static void records_stay(void)
{
	ftrace_flight_off(flight, true);
	ftrace_flight_off(flight, false);
}

static void lasts_long(void)
{
	ftrace_flight_thresh = 1;
}

/* @func, which does @in_body, leaves its call and its return, and a reader sees both. */
static void expect_stays(struct kunit *test, void *func, void (*in_body)(void))
{
	static struct found found[MAX_FOUND];
	u64 from = ring()->next, words[4];
	unsigned int nr, cpu = raw_smp_processor_id();

	stepped = (struct stepped){ .in_body = in_body };
	step_call(func);
	ftrace_flight_thresh = QUICK;
	if ((from ^ ring()->next) & 1)
		return;
	KUNIT_EXPECT_EQ(test, words_since(ring(), from, words, 4), 2);
	KUNIT_EXPECT_EQ(test, words[0], call_word(func, stepped.caller));
	KUNIT_EXPECT_EQ(test, words[1], return_word(func));
	preempt_enable();
	nr = find(cpu, found);
	KUNIT_ASSERT_GT(test, nr, 1);
	KUNIT_EXPECT_EQ(test, found[nr - 2].word, words[0]);
	KUNIT_EXPECT_EQ(test, found[nr - 1].word, words[1]);
	preempt_disable();
}

static void check_only(struct host_regs *regs, bool step)
{
	if (step)
		check_step(regs);
}

CASE(quick_calls_are_taken_back)
{
	unsigned long top = current->flight_returns, caller;
	u64 from;

	skip_if_sanitized(test);
	recorder_start_thresh(test, true, QUICK);
	preempt_disable();
	top = current->flight_returns;
	for (unsigned int i = 0; i < 1000; i++) {
		from = ring()->next;
		KUNIT_EXPECT_EQ(test, call_it(native_tail_func, caller), native_funcs[0](5));
		/* One of the two calls may be the last record of a group. */
		if ((from ^ ring()->next) & ~(u64)FTRACE_FLIGHT_TIMED_FIRST)
			KUNIT_EXPECT_NE(test, ring()->next & FTRACE_FLIGHT_TIMED_FIRST, 0);
		else
			KUNIT_EXPECT_EQ(test, ring()->next, from);
		/* Other places. */
		if (!(i % 8)) {
			ftrace_flight_thresh = 0;
			expect_records(test, ftrace_kunit_func1, 6, true);
			ftrace_flight_thresh = QUICK;
		}
	}
	/* The last entry for which there is room. */
	current->flight_returns = (top & PAGE_MASK) + FTRACE_RETURN_SIZE;
	expect_records(test, ftrace_kunit_func1, 6, true);
	current->flight_returns = top;
	native_interrupts = check_only;
	for (unsigned int i = 0; i < 40; i++) {
		/* The call stays that lasts long; what it calls does not. */
		expect_stays(test, ftrace_kunit_func1, lasts_long);
		/* What a reader may have found stays. */
		expect_stays(test, ftrace_kunit_func2, records_stay);
	}
	native_interrupts = NULL;
	preempt_enable();
	recorder_stop(NULL);
}

/* In one step comes an interrupt that makes a call which stays. */
static void stays_step(struct host_regs *regs, bool step)
{
	u64 words[32];
	unsigned int nr;

	if (!step || stepped.nested)
		return;
	stepped.nested = true;
	/* What was taken back is not found, also where another record is reserved. */
	nr = words_since(ring(), stepped.from, words, ARRAY_SIZE(words));
	for (unsigned int i = 0; i < nr; i++)
		if ((u32)words[i] == function_of(ftrace_kunit_func1) &&
		    (words[i] >> 32 & 1) == (ring()->next & 1))
			native_fail("%lx: a call is shown that was taken back", regs->ip);
	if (++snap.steps == snap.snapshot) {
		ftrace_flight_thresh = 0;
		ftrace_kunit_func2(1);
		ftrace_flight_thresh = QUICK;
	}
	stepped.nested = false;
}

CASE(interrupts_leave_calls_in_order)
{
	unsigned int kept = 0, left;

	skip_if_sanitized(test);
	recorder_start_thresh(test, true, QUICK);
	memset(&snap, 0, sizeof(snap));
	stepped = (struct stepped){};
	native_interrupts = stays_step;
	preempt_disable();
	for (left = 1; left; ) {
		u64 from;

		snap.snapshot++;
		snap.steps = 0;
		snap.calls = 0;
		stepped.nested = true;
		ftrace_kunit_func1(0);
		stepped.from = from = ring()->next;
		stepped.nested = false;
		KUNIT_EXPECT_EQ(test, step_call(ftrace_kunit_func2), 7);
		if (snap.steps < snap.snapshot)
			left = 0;
		if ((from ^ ring()->next) & 1)
			continue;
		snap_read(ring(), from);
		KUNIT_EXPECT_EQ(test, snap.depth, 0);
		KUNIT_EXPECT_GE(test, snap.calls, left);
		kept += snap.calls == 2;
	}
	preempt_enable();
	native_interrupts = NULL;
	/* The interrupt came between the call and the return. */
	KUNIT_EXPECT_GT(test, kept, 30);
	KUNIT_EXPECT_LT(test, kept, snap.snapshot - 20);
	recorder_stop(NULL);
}

static void pause_in_body(struct host_regs *regs, bool step)
{
	if (step && regs->ip == function_of(ftrace_kunit_func2))
		usleep_range(100, 200);
}

#define NR_COPIES	300

/* The one who calls, and the one who copies the ring, do not get far ahead of each other. */
static struct pace {
	int		cpu;
	unsigned int	rounds, copies;
} pace;

/* What lasts is in the body of a call that is taken back. */
static int calls_until_stop(void *unused)
{
	u32 random = 1;

	WRITE_ONCE(pace.cpu, raw_smp_processor_id());
	while (!kthread_should_stop()) {
		if (pace.rounds > READ_ONCE(pace.copies) + 8) {
			usleep_range(10, 20);
			continue;
		}
		for (unsigned int i = 0; i < 32; i++) {
			random = random * 1664525 + 1013904223;
			ftrace_flight_thresh = random >> 29 ? QUICK : 0;
			native_tail_func(5);
		}
		ftrace_flight_thresh = QUICK;
		step_call(ftrace_kunit_func2);
		WRITE_ONCE(pace.rounds, pace.rounds + 1);
	}
	return 0;
}

/* What a copy has is there later, too, until it is overwritten; so is its time. */
CASE(readers_find_what_stays)
{
	static struct found found[2][MAX_FOUND];
	struct task_struct *task;
	unsigned int nr = 0, same = 0;

	skip_if_sanitized(test);
	recorder_start_thresh(test, true, QUICK);
	pace = (struct pace){ .cpu = -1 };
	native_interrupts = pause_in_body;
	task = kthread_run_on_cpu(calls_until_stop, NULL, 2, "native/%u");
	for (unsigned int i = 0; i < NR_COPIES; i++) {
		struct found *old = found[i % 2], *new = found[(i + 1) % 2];
		unsigned int before = nr, from = 0;

		while (READ_ONCE(pace.rounds) <= i)
			usleep_range(10, 20);
		nr = find(READ_ONCE(pace.cpu), new);
		WRITE_ONCE(pace.copies, i);
		while (nr && from < before && old[from].cycles < new[0].cycles)
			from++;
		for (unsigned int j = 0; from + j < before && j < nr; j++, same++)
			if (memcmp(&old[from + j], &new[j], sizeof(*new)))
				native_fail("copy %u: record %u of %u: %llx, and later %llx", i,
					    from + j, before, old[from + j].word, new[j].word);
	}
	KUNIT_EXPECT_GT(test, same, 1000);
	kthread_stop(task);
	native_interrupts = NULL;
	recorder_stop(NULL);
}
