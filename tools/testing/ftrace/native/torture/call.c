// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of traced functions, and what callbacks do: each call is compared with the views before
 * and after it. Where both views agree, exactly their ops must have been called. Where they differ,
 * the call may have seen the one or the other.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_regs.h>

#include "ftrace/callback.h"
#include "torture.h"

void torture_clobbered(void);

/* In some calls, an interrupt comes behind the n-th instruction of the trampolines. */
#define STEP_ONE_IN	500
#define MAX_TRAMP_STEPS	100
#define MAX_STEPS	500

#define MAX_DEPTH	3
#define MAX_SLEEP_US	1500

/* A call of a function is checked against the views of these ops. */
struct seen {
	struct view	off;
	struct view	ops[NR_OPS];
	unsigned int	nr;
};

/* A callback that refuses recursion may be left out where it calls functions itself. */
static bool refuses_recursion(unsigned int n)
{
	return n < NR_PLAIN && (n & 3) >= 2;
}

static struct view view_get(const struct view *view)
{
	struct view got = { .ver = smp_load_acquire(&view->ver) };

	got.now = READ_ONCE(view->now);
	got.to_now = READ_ONCE(view->to_now);
	got.next = READ_ONCE(view->next);
	got.to_next = READ_ONCE(view->to_next);
	return got;
}

static void views_get(struct seen *seen, bool crowd)
{
	seen->nr = crowd ? NR_OPS : FIRST_CROWD;
	seen->off = view_get(&off_view);
	for (unsigned int n = 0; n < seen->nr; n++)
		seen->ops[n] = view_get(&views[n]);
}

/* What a view allows: how often the ops, and which function of a direct caller, is called. */
struct legal {
	u8	hits, hits_other;
};

static struct legal legal_of(unsigned int n, funcs_t funcs, u8 to, funcs_t bit)
{
	bool wants = funcs & bit, direct = n >= FIRST_DIRECT && n < FIRST_IPMOD;

	if (direct && to)
		return (struct legal){ 0, wants };
	return (struct legal){ wants, 0 };
}

static bool same(struct legal a, struct legal b)
{
	return a.hits == b.hits && a.hits_other == b.hits_other;
}

static const char *name_of(funcs_t bit, char *name)
{
	unsigned int f = __ffs64(bit);

	if (f < NR_FUNCS)
		torture_func_name(f, name);
	else
		sprintf(name, "a function of tmod%u", f - NR_FUNCS);
	return name;
}

static void wrong(const struct frame *frame, funcs_t bit, unsigned int n, const struct view *before,
		  const struct view *after, struct legal did)
{
	char name[32];

	native_fail("%s at %lx: ops %u is called %u and %u times; "
		    "before: version %u, %d of %llx, %d of %llx; "
		    "after: version %u, %d of %llx, %d of %llx%s",
		    name_of(bit, name), frame->ip, n, did.hits, did.hits_other,
		    before->ver, before->to_now, before->now, before->to_next, before->next,
		    after->ver, after->to_now, after->now, after->to_next, after->next,
		    frame->outer ? "; nested" : "");
}

static void check_ops(struct torturer *me, const struct frame *frame, funcs_t bit, unsigned int n,
		      const struct seen *before, const struct seen *after)
{
	const struct view *b = &before->ops[n], *a = &after->ops[n];
	bool direct = n >= FIRST_DIRECT && n < FIRST_IPMOD;
	struct legal did = { frame->hits[n], direct ? frame->hits_other[n - FIRST_DIRECT] : 0 };
	struct legal old, new, none = { };

	if (a->ver - b->ver >= 2) {
		me->counts.unsure++;
		return;
	}
	old = legal_of(n, b->now, b->to_now, bit);
	/* An odd version has both; if the version is odd only after the call, the change began. */
	if (b->ver & 1)
		new = legal_of(n, b->next, b->to_next, bit);
	else if (a->ver != b->ver)
		new = legal_of(n, a->next, a->to_next, bit);
	else
		new = old;

	/* Tracing as a whole is, or was, switched off. */
	if (after->off.ver != before->off.ver || before->off.ver & 1) {
		if (same(did, none))
			return;
	} else if (before->off.now) {
		old = new = none;
	}
	if (!same(old, new)) {
		me->counts.during++;
		me->counts.old += same(did, old);
		me->counts.new += same(did, new);
	} else {
		me->counts.steady++;
	}
	if (same(did, old) || same(did, new))
		return;
	if (frame->outer && refuses_recursion(n) && same(did, none))
		return;
	wrong(frame, bit, n, b, a, did);
}

/* code.S jumps here. */
void __visible __noreturn torture_clobbered(void)
{
	native_fail("%lx has not preserved a register", torturer()->frame->ip);
}

/* One of the functions that are changing, if there is one; else any. */
static unsigned int pick_func(void)
{
	funcs_t focus = READ_ONCE(torture_focus);

	if (focus)
		return __ffs64(focus) + rnd(PER_OWNER);
	for (unsigned int tries = 0; tries < 8; tries++) {
		struct view view = view_get(&views[rnd(NR_OPS)]);
		funcs_t funcs = view.now ^ view.next;
		unsigned int f = rnd(NR_FUNCS + NR_MODS);

		if (view.ver & 1 && funcs >> f)
			return f + __ffs64(funcs >> f);
	}
	return rnd(NR_FUNCS + NR_MODS);
}

/*
 * A CPU that has lost one of the two cache lines of a site reads one part of the site early and
 * the other late.
 */
static void forget_line(unsigned long ip)
{
	unsigned long at = one_in(2) ? ip : ip + MCOUNT_INSN_SIZE - 1;

	asm volatile("clflush (%0)" : : "r" (at) : "memory");
}

static bool is_partly(funcs_t bit)
{
	unsigned int f = __ffs64(bit);

	return f >= NR_FUNCS && torture_module_is_partly(f - NR_FUNCS);
}

/* Call a function and check what was called. */
static void call_checked(struct torturer *me, unsigned long ip, funcs_t bit, const long *args,
			 long want)
{
	struct frame frame = { .outer = me->frame, .ip = ip, .bit = bit, .args = args, .seq = U64_MAX };
	struct seen before, after;
	bool step = !frame.outer && one_in(STEP_ONE_IN);
	long got;

	views_get(&before, bit & CROWD_FUNCS);
	barrier();
	WRITE_ONCE(me->frame, &frame);
	barrier();
	if (step) {
		me->max_steps = MAX_STEPS;
		me->steps = 1 + rnd(MAX_TRAMP_STEPS);
	}
	if (one_in(2))
		forget_line(ip);
	got = torture_call(ip, args, step);
	/* If there is a next step, it is the last one. */
	if (step)
		WRITE_ONCE(me->max_steps, 0);
	barrier();
	WRITE_ONCE(me->frame, frame.outer);
	barrier();
	views_get(&after, bit & CROWD_FUNCS);

	me->counts.calls++;
	if (got != want + frame.result)
		native_fail("%lx returns %ld, not %ld", ip, got, want + frame.result);
	if (is_partly(bit))
		return;
	for (unsigned int n = 0; n < before.nr; n++)
		check_ops(me, &frame, bit, n, &before, &after);
}

static void call_module(struct torturer *me, unsigned int m, const long *args)
{
	unsigned long ip;
	long want;

	ip = torture_module_enter(me, m, rnd(MOD_FUNCS), &want, args);
	if (!ip)
		return;
	me->counts.module_calls++;
	call_checked(me, ip, MOD_BIT(m), args, want);
	torture_module_leave(me, m);
}

/* Call any function. */
void torture_call_any(struct torturer *me)
{
	unsigned int f = one_in(16) ? rnd(NR_FUNCS + NR_MODS) : pick_func();
	long args[6];

	for (int i = 0; i < 6; i++)
		args[i] = rnd(1 << 20);
	if (f < NR_FUNCS)
		call_checked(me, torture_func_ip(f), 1ULL << f, args,
			     torture_func_result(f, args));
	else
		call_module(me, f - NR_FUNCS, args);
}

/* The task continues on its other CPU, as after a preemption. */
static void move(struct torturer *me)
{
	native_cpu_move(me->cpus[raw_smp_processor_id() == me->cpus[0]]);
	me->counts.moves++;
}

/* A callback that takes long, is preempted, changes its CPU, or calls traced functions. */
static void dawdle(struct torturer *me)
{
	bool atomic = native_preempt_count(raw_smp_processor_id());

	switch (rnd(2048)) {
	case 0 ... 3:
		/* The task is preempted, or something takes the CPU away from the kernel. */
		host_usleep(rnd(MAX_SLEEP_US));
		break;
	case 4 ... 7:
		host_yield();
		break;
	case 8 ... 9:
		if (!atomic)
			move(me);
		break;
	case 20 ... 31:
		if (me->depth >= MAX_DEPTH)
			break;
		me->depth++;
		me->counts.nested++;
		torture_call_any(me);
		me->depth--;
		break;
	case 32 ... 63:
		for (unsigned int i = rnd(2000); i; i--)
			cpu_relax();
		break;
	}
}

static struct frame *frame_of(struct torturer *me, unsigned int n)
{
	struct frame *frame = READ_ONCE(me->frame);

	if (!frame)
		native_fail("ops %u is called, and no function was", n);
	return frame;
}

static unsigned int note(unsigned long ip, struct ftrace_ops *op, struct ftrace_regs *fregs,
			 struct frame **framep)
{
	unsigned long n = (unsigned long)READ_ONCE(op->private);
	struct torturer *me = torturer();
	struct frame *frame = frame_of(me, n);
	u64 seq;

	if (n >= NR_OPS)
		native_fail("a callback of an ops that was freed: %lx", n);
	atomic_inc(&inside[n]);
	if (ip != frame->ip)
		native_fail("ops %lu: %lx is called, but ip is %lx", n, frame->ip, ip);
	for (int i = 0; i < 6; i++)
		if (ftrace_regs_get_argument(fregs, i) != frame->args[i])
			native_fail("ops %lu: argument %d is %lx, not %lx", n, i,
				    ftrace_regs_get_argument(fregs, i), frame->args[i]);
	/* The youngest is called first. A static ops may have lost its callback meanwhile. */
	if (!is_static(n)) {
		seq = op->callback->seq;
		if (seq >= frame->seq)
			native_fail("ops %lu is called after one that is older", n);
		frame->seq = seq;
	}
	frame->hits[n]++;
	dawdle(me);
	*framep = frame;
	return n;
}

void torture_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		  struct ftrace_regs *fregs)
{
	struct frame *frame;

	atomic_dec(&inside[note(ip, op, fregs, &frame)]);
}

/* The task goes on in another function, whose result differs. */
void torture_note_ipmodify(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			   struct ftrace_regs *fregs)
{
	static const long zeros[6];
	struct frame *frame;
	unsigned int n = note(ip, op, fregs, &frame);

	frame->result = torture_ipmod_result(n) -
			torture_func_result(__ffs64(frame->bit), zeros);
	ftrace_regs_set_instruction_pointer(fregs, torture_ipmod_ip(n));
	atomic_dec(&inside[n]);
}

void torture_note_direct(unsigned long which)
{
	struct torturer *me = torturer();
	unsigned int n = which / 2, other = which & 1;
	struct frame *frame = frame_of(me, n);

	atomic_inc(&inside[n]);
	if (other)
		frame->hits_other[n - FIRST_DIRECT]++;
	else
		frame->hits[n]++;
	dawdle(me);
	atomic_dec(&inside[n]);
}
