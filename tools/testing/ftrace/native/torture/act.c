// SPDX-License-Identifier: GPL-2.0-only
/*
 * What workers do: ops come and go, their filters change, direct callers are modified. Each ops
 * belongs to one worker, who says in its view what callers may see.
 *
 * An ops that is removed is freed at once, and so is the code of its callback: a task that is
 * still there crashes.
 */
#include <linux/delay.h>
#include <linux/execmem.h>
#include <linux/glob.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include <asm/text-patching.h>

#include "ftrace/core.h"
#include "ftrace/ipmodify.h"
#include "ftrace/ops.h"
#include "torture.h"

/* In the page of code of an ops. */
#define CODE_AT		0x3c0		/* the callback, or the function of a direct caller */
#define OTHER_AT	0x7e0		/* the other function */

#define IPMOD_RESULT	30000
#define MAX_PAUSE_US	300
#define BURST		300

/* What a worker knows of its ops. */
struct own {
	struct ftrace_ops	*ops;
	u8			*code;
	bool			registered;
	funcs_t			filter, unwanted;
	int			to;		/* the function of a direct caller */
};

struct view views[NR_OPS], off_view;
funcs_t torture_focus;
atomic_t inside[NR_OPS];
static struct own own[NR_OPS];

static struct ftrace_ops static_ops[NR_PLAIN];

static bool is_direct(unsigned int n)
{
	return n >= FIRST_DIRECT && n < FIRST_IPMOD;
}

static bool is_ipmod(unsigned int n)
{
	return n >= FIRST_IPMOD && n < FIRST_CROWD;
}

void torture_doing(const char *what, int which, funcs_t funcs)
{
	struct torturer *me = torturer();

	me->what = what;
	me->which = which;
	me->funcs = funcs;
}

/* Some operations run out of memory somewhere. */
void torture_may_fail(void)
{
	native_fail_nth(one_in(8) ? 1 + rnd(one_in(2) ? 6 : 40) : 0);
}

static funcs_t wanted(const struct own *o)
{
	return o->registered ? (o->filter ?: ALL_FUNCS) & ~o->unwanted : 0;
}

/* From now on callers may see both. */
static void view_begin(struct view *view, funcs_t next, int to)
{
	WRITE_ONCE(view->next, next);
	WRITE_ONCE(view->to_next, to);
	smp_store_release(&view->ver, view->ver + 1);
	/* Callers see the version before they see a change. */
	smp_mb();
}

static void view_end(struct view *view, bool done)
{
	if (done) {
		WRITE_ONCE(view->now, view->next);
		WRITE_ONCE(view->to_now, view->to_next);
	}
	smp_store_release(&view->ver, view->ver + 1);
}

static void begin(const char *what, unsigned int n, const struct own *next)
{
	torture_doing(what, n, wanted(next));
	view_begin(&views[n], wanted(next), next->to);
	torture_may_fail();
}

/* The operation has returned @ret, and may return -ENOMEM only if memory was missing. */
static bool end(unsigned int n, const struct own *next, int ret)
{
	struct torturer *me = torturer();
	bool no_memory = ret == -ENOMEM && !native_fail_left();

	me->ret = ret;
	native_fail_nth(0);
	if (ret && !no_memory)
		native_fail("returns %d", ret);
	me->counts.no_memory += no_memory;
	if (!ret)
		own[n] = *next;
	view_end(&views[n], !ret);
	return !ret;
}

/* A page for the code of an ops. */
static u8 *code_make(unsigned int n)
{
	u8 *page = execmem_alloc(EXECMEM_MODULE_TEXT, PAGE_SIZE);
	unsigned int size = torture_callback_end - torture_callback;

	if (!page)
		native_fail("no memory for code");
	memset(page, INT3_INSN_OPCODE, PAGE_SIZE);
	if (is_direct(n)) {
		size = torture_direct_end - torture_direct;
		for (unsigned int i = 0; i < 2; i++) {
			u8 *to = page + (i ? OTHER_AT : CODE_AT);

			memcpy(to, torture_direct, size);
			put_unaligned(2UL * n + i,
				      (u64 *)(to + (torture_direct_which - torture_direct) + 2));
		}
	} else {
		memcpy(page + CODE_AT, torture_callback, size);
	}
	if (is_ipmod(n)) {
		put_unaligned((u64)torture_note_ipmodify,
			      (u64 *)(page + CODE_AT + (torture_callback_call - torture_callback) + 2));
		torture_emit_sum(page + OTHER_AT, IPMOD_RESULT + n);
	}
	/* What must fail once is an allocation of the core. */
	while (set_memory_rox((unsigned long)page, 1))
		;
	return page;
}

unsigned long torture_ipmod_ip(unsigned int n)
{
	return (unsigned long)own[n].code + OTHER_AT;
}

long torture_ipmod_result(unsigned int n)
{
	return IPMOD_RESULT + n;
}

static unsigned long kind_of(unsigned int n)
{
	static const unsigned long kinds[] = {
		0, FTRACE_OPS_FL_SAVE_REGS, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU,
	};

	if (is_ipmod(n))
		return FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS;
	return n < NR_PLAIN ? kinds[n % ARRAY_SIZE(kinds)] : 0;
}

static void ops_init(unsigned int n)
{
	struct own *o = &own[n];

	*o->ops = (struct ftrace_ops){ .private = (void *)(unsigned long)n, .flags = kind_of(n) };
	/* The callbacks of a crowd are not worth their pages. */
	if (n < FIRST_CROWD)
		o->code = code_make(n);
	if (!is_direct(n))
		o->ops->func = o->code ? (ftrace_func_t)(o->code + CODE_AT) : torture_note;
}

static void ops_make(unsigned int n)
{
	struct own *o = &own[n];

	o->ops = is_static(n) ? &static_ops[n] : kzalloc(sizeof(*o->ops), GFP_KERNEL);
	/* Tasks may still be in the callback of a static ops that was used before. */
	if (!o->ops->func)
		ops_init(n);
	if (n >= NR_PLAIN)
		return;
	if (ftrace_set_notrace(o->ops, LONE_GLOB, strlen(LONE_GLOB), 1))
		native_fail("no memory for a filter");
	o->unwanted = LONE_FUNCS;
}

static void ops_free(unsigned int n)
{
	struct own *o = &own[n];

	ftrace_free_filter(o->ops);
	/* A thread that still uses it finds nonsense. */
	if (!is_static(n)) {
		memset(o->ops, 0x6b, sizeof(*o->ops));
		kfree(o->ops);
		if (o->code)
			execmem_free(o->code);
	}
	*o = (struct own){ .code = is_static(n) ? o->code : NULL };
}

static void ops_unregister(unsigned int n)
{
	struct torturer *me = torturer();
	struct own next = own[n];
	int ret;

	next.registered = false;
	torture_doing("unregister", n, 0);
	view_begin(&views[n], 0, next.to);
	me->counts.waited += !is_static(n) && atomic_read(&inside[n]);
	if (is_direct(n))
		ret = unregister_ftrace_direct(next.ops, 0, false);
	else
		ret = unregister_ftrace_function(next.ops);
	if (!is_static(n) && atomic_read(&inside[n]))
		native_fail("ops %u is removed, and %d tasks are in its callback", n,
			    atomic_read(&inside[n]));
	me->counts.removed++;
	/* Removal needs no memory. */
	if (ret == -ENOMEM)
		native_fail("ops %u cannot be removed without memory", n);
	end(n, &next, ret);
}

static unsigned long direct_addr(unsigned int n, int to)
{
	return (unsigned long)own[n].code + (to ? OTHER_AT : CODE_AT);
}

static bool ops_register(unsigned int n)
{
	struct own next = own[n];
	int ret;

	next.registered = true;
	if (is_direct(n))
		next.to = rnd(2);
	begin("register", n, &next);
	if (is_direct(n))
		ret = register_ftrace_direct(next.ops, direct_addr(n, next.to));
	else
		ret = register_ftrace_function(next.ops);
	if (!end(n, &next, ret))
		return false;
	torturer()->counts.registered++;
	return true;
}

static void direct_modify(unsigned int n, bool may_fail)
{
	struct own next = own[n];

	next.to ^= 1;
	begin("modify", n, &next);
	if (!may_fail)
		native_fail_nth(0);
	if (end(n, &next, modify_ftrace_direct(next.ops, direct_addr(n, next.to))))
		torturer()->counts.modified++;
}

/* Other workers wait, so the pages of text stay mapped, and nothing else makes CPUs serialise. */
static void direct_burst(unsigned int n)
{
	WRITE_ONCE(torture_focus, OWN_FUNCS(n - FIRST_DIRECT));
	for (unsigned int i = 0; i < BURST; i++)
		direct_modify(n, false);
	WRITE_ONCE(torture_focus, 0);
	torturer()->counts.bursts++;
}

/* These words name no functions but those of the test. */
#define NR_KERNEL_WORDS	4
static const char * const words[] = {
	"native_func_10[2-9]", "native_func_11[0-7]", "native_func_1[01][357]", "native_func_105",
	"torture_0?", "torture_1?", "torture_[23]?", "torture_?[0-4]", "torture_*5", "torture_17",
	"torture_*", "torture_3[6-9]", "torture_[!0]*",
};

static funcs_t named_by(const char *word)
{
	funcs_t funcs = 0;
	char name[24];

	for (unsigned int f = 0; f < NR_FUNCS; f++) {
		torture_func_name(f, name);
		if (glob_match(word, name))
			funcs |= 1ULL << f;
	}
	return funcs;
}

/* Set, add to or take from a set of functions, by name. LONE_FUNCS stay unwanted. */
static void change_set(unsigned int n, bool unwanted)
{
	int (*func)(struct ftrace_ops *ops, unsigned char *buf, int len, int reset) =
		unwanted ? ftrace_set_notrace : ftrace_set_filter;
	const char *word = words[rnd(ARRAY_SIZE(words))];
	struct own next = own[n];
	funcs_t *set = unwanted ? &next.unwanted : &next.filter;
	unsigned int how = rnd(4);
	u8 buf[32];
	int ret;

	if (unwanted && how == 3)
		word = words[rnd(NR_KERNEL_WORDS)];
	if (unwanted && how < 2) {
		word = LONE_GLOB;
		how = 1;
	}
	if (how == 0)
		*set = 0;
	else if (how == 1)
		*set = named_by(word);
	else if (how == 2)
		*set |= named_by(word);
	else
		*set &= ~named_by(word);
	sprintf(buf, "%s%s", how == 3 ? "!" : "", word);
	begin(unwanted ? "notrace" : "filter", n, &next);
	ret = func(next.ops, how ? buf : NULL, strlen(buf), how < 2);
	if (end(n, &next, ret))
		torturer()->counts.filters++;
}

/* Set the filter to some functions, by address. */
static bool set_ips(unsigned int n, funcs_t funcs)
{
	unsigned long ips[NR_FUNCS];
	struct own next = own[n];
	unsigned int nr = 0;

	for (unsigned int f = 0; f < NR_FUNCS; f++)
		if (funcs >> f & 1)
			ips[nr++] = torture_func_ip(f);
	next.filter = funcs;
	begin("filter ips", n, &next);
	if (!end(n, &next, ftrace_set_filter_ips(next.ops, ips, nr, false, true)))
		return false;
	torturer()->counts.filters++;
	return true;
}

static void act_plain(unsigned int n)
{
	struct own *o = &own[n];
	unsigned int what = rnd(8);

	if (!o->ops)
		ops_make(n);
	if (what < 2)
		change_set(n, what);
	else if (what == 2)
		set_ips(n, (1ULL << rnd(NR_FUNCS)) | (1ULL << rnd(NR_FUNCS)));
	else if (!o->registered)
		ops_register(n);
	else if (what < 6)
		change_set(n, false);
	else
		ops_unregister(n);
	if (!o->registered && one_in(4))
		ops_free(n);
}

/* Switch all tracing off, and on again. */
static void act_off(void)
{
	int ret;

	for (int off = 1; off >= 0; off--) {
		torture_doing(off ? "off" : "on", 0, 0);
		view_begin(&off_view, off, 0);
		ret = native_sysctl_write("ftrace_enabled", off ? "0" : "1");
		view_end(&off_view, !ret);
		/* Newer versions of Linux do not let a user switch tracing off. */
		if (ret == -EOPNOTSUPP)
			return;
		if (ret)
			native_fail("tracing cannot be switched");
		msleep(1 + rnd(3));
	}
	torturer()->counts.switches++;
}

/* A direct caller, or an ops that changes the instruction pointer. */
static void act_picky(unsigned int n)
{
	struct torturer *me = torturer();
	funcs_t funcs = (1ULL + rnd(15)) << (NR_KERNEL + PER_OWNER * (n - FIRST_DIRECT));
	struct own *o = &own[n];

	if (!o->ops)
		ops_make(n);
	if (one_in(300))
		act_off();
	else if (o->registered && one_in(3))
		ops_unregister(n);
	else if (o->registered && n == FIRST_DIRECT && one_in(4))
		direct_burst(n);
	else if (o->registered && is_direct(n) && one_in(2))
		direct_modify(n, true);
	else if (!set_ips(n, funcs))
		;
	else if (!o->registered && ops_register(n) && is_direct(n))
		me->counts.directs++;
	else if (o->registered && is_ipmod(n))
		me->counts.ipmodified++;
	if (!o->registered && one_in(4))
		ops_free(n);
}

/* A crowd grows until it is complete, and shrinks until a trampoline has slots for all. */
static void act_crowd(unsigned int n)
{
	static unsigned int nr;
	static bool shrinks;
	struct own *o = &own[n];

	if (o->registered != shrinks)
		return;
	if (shrinks) {
		ops_unregister(n);
		ops_free(n);
		shrinks = --nr > NR_CROWD / 2;
		return;
	}
	if (!o->ops)
		ops_make(n);
	if (!set_ips(n, CROWD_FUNCS) || !ops_register(n))
		return;
	shrinks = ++nr == NR_CROWD;
	torturer()->counts.crowds += shrinks;
}

/* Let others go on. */
void torture_pause(unsigned long us)
{
	native_quiescent();
	if (us)
		usleep_range(us, us);
	while (READ_ONCE(torture_focus))
		usleep_range(1000, 1000);
}

static void clean(unsigned int n)
{
	if (own[n].registered)
		ops_unregister(n);
	if (own[n].ops)
		ops_free(n);
}

/* Act on every ops from @first to @last, or every second one. */
static void act_on(unsigned int first, unsigned int last, unsigned int step,
		   void (*act)(unsigned int n))
{
	unsigned int nr = (last - first + step - 1) / step;

	while (!READ_ONCE(torture_stop)) {
		act(first + step * rnd(nr));
		torture_pause(one_in(4) ? rnd(MAX_PAUSE_US) : 0);
	}
	for (unsigned int n = first; n < last; n += step)
		clean(n);
}

void torture_act_even(struct torturer *me)
{
	act_on(0, NR_PLAIN, 2, act_plain);
}

void torture_act_odd(struct torturer *me)
{
	act_on(1, NR_PLAIN, 2, act_plain);
}

void torture_act_picky(struct torturer *me)
{
	act_on(FIRST_DIRECT, FIRST_CROWD, 1, act_picky);
}

void torture_act_crowd(struct torturer *me)
{
	act_on(FIRST_CROWD, NR_OPS, 1, act_crowd);
}
