// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unregister ops while a task is in their callback, or in a trampoline on the way to the callback.
 *
 * A visitor calls a traced function and is held in the callback of one ops. Meanwhile this ops is
 * unregistered, or another one. Flags show what must not happen: an unregistered ops must not be
 * called, and unregistering must not return before the callback returns. What must happen is waited
 * for, at most for PATIENCE.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "run.h"

#define PATIENCE	(20 * HZ)

/* A trampoline that is freed while a task is in it is freed within this time. */
#define LINGER_MS	1500

static noinline __noclone void ftmod_rm_one(void)
{
	barrier();
}

static noinline __noclone void ftmod_rm_two(void)
{
	barrier();
	asm volatile("");
}

static noinline __noclone void ftmod_rm_three(void)
{
	asm volatile("" : : "i" (3));
	barrier();
}

/* An ops that a visitor can be held in, and that knows whether it has gone. */
struct held_ops {
	struct ftrace_ops ops;
	bool hold;	/* the next visitor */
	bool inside;	/* a visitor is held */
	bool left;	/* the last thing that it does */
	bool gone;	/* unregistering has returned */
	unsigned int hits;
	unsigned int late;
};

static void notrace held_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	struct held_ops *h = container_of(op, struct held_ops, ops);

	h->hits++;
	h->late += READ_ONCE(h->gone);
	if (READ_ONCE(h->hold)) {
		WRITE_ONCE(h->inside, true);
		while (READ_ONCE(h->hold))
			cpu_relax();
	}
	WRITE_ONCE(h->left, true);
}

static struct held_ops a, b;

static int start_held(struct held_ops *h, void *func)
{
	int ret;

	memset(h, 0, sizeof(*h));
	h->ops.func = held_func;
	ret = ftrace_set_filter_ip(&h->ops, (unsigned long)func, 0, 1) ?: register_ftrace_function(&h->ops);
	if (ret)
		check(false, "register: error %d", ret);
	return ret;
}

static void stop_held(struct held_ops *h)
{
	if (h->ops.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&h->ops);
	ftrace_free_filter(&h->ops);
}

/* Something that another task does, and whether it has come to its end. */
struct errand {
	void (*func)(void *arg);
	void *arg;
	struct completion done;
};

static int errand_thread(void *data)
{
	struct errand *e = data;

	e->func(e->arg);
	complete(&e->done);
	return 0;
}

static void send(struct errand *e, void (*func)(void *), void *arg)
{
	e->func = func;
	e->arg = arg;
	init_completion(&e->done);
	if (IS_ERR(kthread_run(errand_thread, e, "ftmod_errand")))
		complete(&e->done);
}

static bool back_within(struct errand *e, unsigned long jiffies)
{
	return wait_for_completion_timeout(&e->done, jiffies);
}

static void visit(void *func)
{
	void (*call)(void) = func;

	call();
}

static void unregister(void *arg)
{
	struct held_ops *h = arg;

	unregister_ftrace_function(&h->ops);
	h->gone = true;
}

/* Returns true once a visitor of @func, which goes there by @way, is held in @h. */
static bool hold_by(struct held_ops *h, struct errand *visitor, void (*way)(void *), void *func)
{
	unsigned long end = jiffies + PATIENCE;

	WRITE_ONCE(h->hold, true);
	send(visitor, way, func);
	while (!READ_ONCE(h->inside) && time_before(jiffies, end))
		msleep(20);
	check(h->inside, "a visitor is in the callback");
	return h->inside;
}

static bool hold(struct held_ops *h, struct errand *visitor, void *func)
{
	return hold_by(h, visitor, visit, func);
}

static void release(struct held_ops *h, struct errand *visitor)
{
	WRITE_ONCE(h->hold, false);
	check(back_within(visitor, PATIENCE), "the visitor comes back");
}

/*
 * Unregister @h while a visitor is in the trampoline before the slot of @h; then @h must not be
 * called.
 */
static void goes_at_once(struct held_ops *h, struct held_ops *holder, struct errand *visitor)
{
	struct errand remover;
	bool back;

	send(&remover, unregister, h);
	back = back_within(&remover, PATIENCE);
	check(back, "an ops is unregistered while a task is on its way to it");
	/* The visitor returns into a trampoline that no site calls any more. */
	msleep(LINGER_MS);
	release(holder, visitor);
	if (!back)
		back_within(&remover, PATIENCE);
	check(!h->late, "an ops is not called after it is unregistered: %u times", h->late);
}

/* The youngest ops is called first: the visitor is held in b, and a comes after it. */
static void run_slot(void)
{
	struct errand visitor;

	if (start_held(&a, ftmod_rm_one) || start_held(&b, ftmod_rm_one))
		return;
	if (hold(&b, &visitor, ftmod_rm_one))
		goes_at_once(&a, &b, &visitor);
	check(!a.hits && b.hits == 1, "calls: %u and %u", a.hits, b.hits);
	ftmod_rm_one();
	check(b.hits == 2, "the one that stays is called: %u", b.hits);
	stop_held(&b);
	stop_held(&a);
}

/* The same in a trampoline that no site calls any more when a is unregistered. */
static void run_dead(void)
{
	struct errand visitor;
	int ret;

	if (start_held(&a, ftmod_rm_one) || start_held(&b, ftmod_rm_one))
		return;
	if (hold(&b, &visitor, ftmod_rm_one)) {
		ret = ftrace_set_filter_ip(&a.ops, (unsigned long)ftmod_rm_two, 0, 1);
		check(!ret, "an ops gets another function: %d", ret);
		goes_at_once(&a, &b, &visitor);
	}
	check(!a.hits && b.hits == 1, "calls: %u and %u", a.hits, b.hits);
	stop_held(&b);
	stop_held(&a);
}

/* So many more ops on the function that its trampoline walks them: see FTRACE_MAX_SLOTS. */
static struct held_ops crowd[70];

static void with_crowd(void (*func)(void))
{
	unsigned int i, calls = 0;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(crowd) && !ret; i++)
		ret = start_held(&crowd[i], ftmod_rm_one);
	if (!ret)
		func();
	for (i = 0; i < ARRAY_SIZE(crowd); i++)
		crowd[i].hits = 0;
	ftmod_rm_one();
	for (i = 0; i < ARRAY_SIZE(crowd); i++)
		calls += crowd[i].hits;
	check(calls == ARRAY_SIZE(crowd), "the crowd is called: %u", calls);
	for (i = 0; i < ARRAY_SIZE(crowd); i++)
		stop_held(&crowd[i]);
}

static void run_crowd_slot(void)
{
	with_crowd(run_slot);
}

static void run_crowd_dead(void)
{
	with_crowd(run_dead);
}

/* In the callback itself: wait for it, and for it alone. */
static void run_callback(void)
{
	struct errand visitor, remover;
	static struct held_ops other;

	if (start_held(&a, ftmod_rm_one))
		return;
	if (!hold(&a, &visitor, ftmod_rm_one))
		return;
	a.left = false;
	send(&remover, unregister, &a);
	check(!back_within(&remover, HZ / 2), "unregistering waits for a task in the callback");
	check(register_ftrace_function(&a.ops) == -EBUSY, "an ops cannot be registered while it is being unregistered");

	/* Others come and go. */
	if (!start_held(&other, ftmod_rm_one)) {
		struct errand second;

		send(&second, unregister, &other);
		check(back_within(&second, PATIENCE), "another ops of the function comes and goes meanwhile");
	}
	check(!a.left && !back_within(&remover, 11 * HZ), "unregistering waits as long as the task is in the callback");
	WRITE_ONCE(a.hold, false);
	check(back_within(&remover, PATIENCE), "unregistering waits no longer than the task is in the callback");
	check(a.left, "the callback was left before");
	check(back_within(&visitor, PATIENCE), "the visitor comes back");
	ftmod_rm_one();
	check(!a.late, "an unregistered ops is not called any more");
	stop_held(&a);
	stop_held(&other);
}

/* Where an ops sends the visitor instead of ftmod_rm_one(). */
static struct {
	unsigned int entered;
	unsigned int late;
	bool gone;
} elsewhere;

static noinline void notrace ftmod_rm_elsewhere(void)
{
	elsewhere.entered++;
	elsewhere.late += READ_ONCE(elsewhere.gone);
}

static void notrace redirect_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				  struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)ftmod_rm_elsewhere);
}

static void unredirect(void *arg)
{
	unregister_ftrace_function(arg);
	WRITE_ONCE(elsewhere.gone, true);
}

/*
 * The younger ops has set the instruction pointer, and the visitor is held in the older ops: the
 * visitor still has to go to the address that the younger ops has set.
 */
static void run_ipmodify(void)
{
	static struct ftrace_ops redirect = {
		.func = redirect_func,
		.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
	};
	struct errand visitor, remover;
	int ret;

	memset(&elsewhere, 0, sizeof(elsewhere));
	if (start_held(&a, ftmod_rm_one))
		return;
	ret = ftrace_set_filter_ip(&redirect, (unsigned long)ftmod_rm_one, 0, 1) ?:
	      register_ftrace_function(&redirect);
	check(!ret, "an ops that changes the instruction pointer: %d", ret);
	if (!ret && hold(&a, &visitor, ftmod_rm_one)) {
		send(&remover, unredirect, &redirect);
		check(!back_within(&remover, HZ), "unregistering it waits for a task that it has sent elsewhere");
		release(&a, &visitor);
		check(back_within(&remover, PATIENCE), "unregistering ends when the task is back");
	}
	check(elsewhere.entered == 1, "the visitor went elsewhere: %u", elsewhere.entered);
	check(!elsewhere.late, "the visitor was not elsewhere after the ops had gone: %u", elsewhere.late);
	ftrace_free_filter(&redirect);
	stop_held(&a);
}

static void run_crowd_callback(void)
{
	with_crowd(run_callback);
}

/* The visitor enters on the last CPU, which then leaves. */
static void visit_on_last(void *func)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_last(cpu_online_mask)));
	visit(func);
}

static void run_offline(void)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);
	struct errand visitor, remover;
	int ret;

	if (!cpu) {
		note("ok # SKIP one CPU cannot leave");
		return;
	}
	if (start_held(&a, ftmod_rm_one))
		return;
	if (!hold_by(&a, &visitor, visit_on_last, ftmod_rm_one))
		return;
	ret = remove_cpu(cpu);
	check(!ret, "the CPU on which a visitor entered the callback leaves: %d", ret);
	send(&remover, unregister, &a);
	check(!back_within(&remover, HZ / 2), "unregistering waits for this visitor, too");
	release(&a, &visitor);
	check(back_within(&remover, PATIENCE), "unregistering ends when this visitor has left");
	ret = add_cpu(cpu);
	check(!ret, "the CPU comes back: %d", ret);
	stop_held(&a);
}

/* Ops that never lie in freed memory can be registered again at once. */
static void run_again(void)
{
	int i, ret = 0;

	for (i = 0; i < 100 && !ret; i++) {
		ret = start_held(&a, ftmod_rm_one);
		ftmod_rm_one();
		ret = ret ?: unregister_ftrace_function(&a.ops);
		ret = ret ?: register_ftrace_function(&a.ops);
		ftmod_rm_one();
		check(a.hits == 2 || i % 10, "called each time it is registered: %u", a.hits);
		stop_held(&a);
	}
	check(!ret, "registered, unregistered and registered again: %d", ret);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
void ftmod_rm_direct(void);
asm(".pushsection .text, \"ax\"\n.type ftmod_rm_direct, @function\nftmod_rm_direct:\n" ASM_ENDBR ASM_RET
	".size ftmod_rm_direct, . - ftmod_rm_direct\n.popsection\n");

static void undirect(void *arg)
{
	unregister_ftrace_direct(arg, (unsigned long)ftmod_rm_direct, true);
}

/* A task that does not sleep holds up grace periods of RCU tasks: who waits for one is seen. */
static void run_direct(void)
{
	static struct ftrace_ops waits, does_not = { .flags = FTRACE_OPS_FL_OWN_WAIT };
	struct errand visitor, first, second;
	int ret;

	if (start_held(&b, ftmod_rm_one))
		return;
	ret = ftrace_set_filter_ip(&waits, (unsigned long)ftmod_rm_two, 0, 1) ?:
	      register_ftrace_direct(&waits, (unsigned long)ftmod_rm_direct) ?:
	      ftrace_set_filter_ip(&does_not, (unsigned long)ftmod_rm_three, 0, 1) ?:
	      register_ftrace_direct(&does_not, (unsigned long)ftmod_rm_direct);
	check(!ret, "two direct callers: %d", ret);
	if (!ret && hold(&b, &visitor, ftmod_rm_one)) {
		send(&first, undirect, &does_not);
		check(back_within(&first, PATIENCE), "one whose owner waits goes at once");
		send(&second, undirect, &waits);
		check(!back_within(&second, HZ), "any other waits for all tasks");
		release(&b, &visitor);
		check(back_within(&second, PATIENCE), "an ops that waits for all tasks goes when they are back");
		back_within(&first, PATIENCE);
	}
	stop_held(&b);
}
#else
static void run_direct(void)
{
	note("ok # SKIP no direct callers in this kernel");
}
#endif

#ifdef CONFIG_FPROBE
/* A visitor that is held when the function returns. */
static struct {
	bool hold;
	bool inside;
	bool left;
} on_return;

/* The type of @regs depends on the version of Linux. */
static void notrace held_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, void *regs,
			      void *data)
{
	WRITE_ONCE(on_return.inside, true);
	while (READ_ONCE(on_return.hold))
		cpu_relax();
	WRITE_ONCE(on_return.left, true);
}

static void unprobe(void *arg)
{
	unregister_fprobe(arg);
}

static void run_fprobe(void)
{
	static struct fprobe probe = { .exit_handler = (void *)held_exit };
	unsigned long end = jiffies + PATIENCE;
	struct errand visitor, remover;
	int ret;

	/* An exit handler cannot be preempted. */
	if (num_online_cpus() < 2) {
		note("ok # SKIP the only CPU cannot hold a task in an exit handler");
		return;
	}
	ret = register_fprobe(&probe, "ftmod_rm_one", NULL);
	check(!ret, "an fprobe with an exit handler: %d", ret);
	if (ret)
		return;
	WRITE_ONCE(on_return.hold, true);
	send(&visitor, visit, ftmod_rm_one);
	while (!READ_ONCE(on_return.inside) && time_before(jiffies, end))
		msleep(20);
	check(on_return.inside, "a visitor is in the exit handler");
	send(&remover, unprobe, &probe);
	check(!back_within(&remover, HZ), "unregistering the fprobe waits for it");
	WRITE_ONCE(on_return.hold, false);
	check(back_within(&visitor, PATIENCE), "the visitor comes back");
	if (!completion_done(&remover.done))
		check(back_within(&remover, PATIENCE), "the fprobe goes when the visitor is back");
	check(on_return.left, "after the exit handler");
}
#else
static void run_fprobe(void)
{
	note("ok # SKIP no fprobes in this kernel");
}
#endif

/* In an NMI, on another CPU if there is one. */
static atomic_t nmis;

static int nmi_func(unsigned int type, struct pt_regs *regs)
{
	if (type != NMI_LOCAL || !atomic_read(&nmis))
		return NMI_DONE;
	ftmod_rm_one();
	atomic_dec(&nmis);
	return NMI_HANDLED;
}

static void send_nmi(void)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	if (cpu >= nr_cpu_ids)
		cpu = raw_smp_processor_id();
	atomic_inc(&nmis);
	__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}

static void run_nmi(void)
{
	unsigned int i, late = 0, hits = 0;

	if (register_nmi_handler(NMI_LOCAL, nmi_func, 0, "ftmod_removal")) {
		check(false, "an NMI handler");
		return;
	}
	for (i = 0; i < 200; i++) {
		struct held_ops *h = kzalloc(sizeof(*h), GFP_KERNEL);

		if (!h || start_held(h, ftmod_rm_one)) {
			kfree(h);
			break;
		}
		preempt_disable();
		send_nmi();
		preempt_enable();
		if (i % 2)
			mdelay(1);
		stop_held(h);
		h->gone = true;
		hits += h->hits;
		mdelay(1);
		late += h->late;
		memset(h, 0x6b, sizeof(*h));
		kfree(h);
	}
	msleep(20);
	unregister_nmi_handler(NMI_LOCAL, "ftmod_removal");
	check(i == 200, "200 ops came and went: %u", i);
	check(hits, "NMIs called %u of them", hits);
	check(!late, "no ops is called after it had gone: %u", late);
}

/*
 * Tasks that call the function until they are stopped. Their priority is low, so they are preempted
 * anywhere.
 */
static struct task_struct *visitors[8];

static int visitor_thread(void *unused)
{
	set_user_nice(current, 19);
	while (!kthread_should_stop()) {
		ftmod_rm_one();
		cond_resched();
	}
	return 0;
}

static int visitors_set(const char *val, const struct kernel_param *kp)
{
	unsigned int i, nr;

	if (kstrtouint(val, 0, &nr) || nr > ARRAY_SIZE(visitors))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(visitors); i++) {
		if (i < nr && !visitors[i]) {
			visitors[i] = kthread_run(visitor_thread, NULL, "ftmod_visitor/%u", i);
			if (IS_ERR(visitors[i]))
				visitors[i] = NULL;
		} else if (i >= nr && visitors[i]) {
			kthread_stop(visitors[i]);
			visitors[i] = NULL;
		}
	}
	return 0;
}

static const struct kernel_param_ops visitors_ops = {
	.set = visitors_set,
};
module_param_cb(visitors, &visitors_ops, NULL, 0200);
MODULE_PARM_DESC(visitors, "N: have so many tasks call ftmod_rm_one()");

const struct run runs[] = {
	{ "slot", run_slot },
	{ "dead", run_dead },
	{ "callback", run_callback },
	{ "ipmodify", run_ipmodify },
	{ "crowd_slot", run_crowd_slot },
	{ "crowd_dead", run_crowd_dead },
	{ "crowd_callback", run_crowd_callback },
	{ "offline", run_offline },
	{ "again", run_again },
	{ "direct", run_direct },
	{ "fprobe", run_fprobe },
	{ "nmi", run_nmi },
	{ }
};

static void __exit ftmod_removal_exit(void)
{
	visitors_set("0", NULL);
}
module_exit(ftmod_removal_exit);

MODULE_DESCRIPTION("Ops of the function tracer that go while they are called");
MODULE_LICENSE("GPL");
