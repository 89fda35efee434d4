// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: native torture SECONDS [SEED [CALLERS]]
 *
 * The core on this machine's CPUs, under load: threads call traced functions, others change what
 * is traced, load and unload modules, and run out of memory. All threads are interrupted as by
 * NMIs, stopped, and moved from CPU to CPU, wherever they are. Each call is checked; see call.c.
 *
 * The test goes in rounds. At the end of a round everything is removed, and no memory is left. On a
 * busy machine there are more rounds than SECONDS has, until all has happened often enough.
 */
#include <linux/ftrace.h>
#include <linux/hardirq.h>

#include "torture.h"

#define ROUND_SECONDS	10
#define DISTURB_US	500
/* Ten times as many calls as an idle machine makes in a second. */
#define MANY_CALLS	600000

/* How many rounds of the controller the broadcasts wait for tasks, as those of the kernel do. */
#define BROADCAST_ROUNDS 256
#define BROADCAST_SHARE	8

struct torturer torturers[MAX_TORTURERS];
unsigned int nr_torturers;
bool torture_stop;

/* In half of the time, callers leave the kernel between two calls. */
#define LEAVE_ROUNDS	64
#define MAX_OUTSIDE	4000

static bool callers_stop, callers_leave;
static unsigned long seed;
static unsigned int nr_callers;

/* In user mode, or idle. */
static void linger(struct torturer *me)
{
	native_kernel_exit();
	for (unsigned int i = rnd(MAX_OUTSIDE); i; i--)
		cpu_relax();
	native_kernel_enter();
	me->counts.entries++;
}

static void caller(void *arg)
{
	struct torturer *me = arg;

	native_cpu_begin(&me->task, me->cpus[0]);
	smp_store_release(&me->ready, true);
	while (!READ_ONCE(callers_stop)) {
		torture_call_any(me);
		native_quiescent();
		if (READ_ONCE(callers_leave))
			linger(me);
	}
	smp_store_release(&me->ready, false);
	native_cpu_end();
}

static void (* const acts[NR_WORKERS])(struct torturer *me) = {
	torture_act_even, torture_act_odd, torture_act_picky, torture_act_crowd,
	torture_act_module,
};

static void worker(void *arg)
{
	struct torturer *me = arg;

	native_cpu_begin(&me->task, me->cpus[0]);
	native_kernel_exit();
	smp_store_release(&me->ready, true);
	acts[me - torturers - nr_callers](me);
	torture_doing("nothing", 0, 0);
	smp_store_release(&me->ready, false);
	native_cpu_end();
}

void (*native_interrupts)(struct host_regs *regs, bool step);

/* A signal: an NMI, or a time in which something else has the CPU. */
void native_interrupt(struct host_regs *regs)
{
	bool in_tramp = native_is_arena(regs->ip);
	int cpu = raw_smp_processor_id();
	struct torturer *me;
	bool outside;

	if (native_interrupts) {
		native_interrupts(regs, false);
		return;
	}
	if (!current || !torturer()->ready)
		return;
	me = torturer();
	outside = native_kernel_enter();
	me->counts.interrupts++;
	me->counts.in_trampolines += in_tramp;
	switch (rnd(8)) {
	case 0:
		me->counts.halts++;
		host_usleep(rnd(2000));
		break;
	case 1 ... 2:
		/* A task that can be preempted continues on another CPU. */
		if (in_tramp && !native_preempt_count(cpu) && me->cpus[1]) {
			native_cpu_move(me->cpus[cpu == me->cpus[0]]);
			me->counts.moves++;
		}
		break;
	default:
		preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
		me->depth++;
		for (unsigned int i = 1 + rnd(3); i; i--)
			torture_call_any(me);
		me->depth--;
		preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
		break;
	}
	if (outside)
		native_kernel_exit();
}

/* An instruction was executed, at whose end an interrupt may come. */
void native_step(struct host_regs *regs)
{
	struct torturer *me = torturer();

	if (native_interrupts) {
		native_interrupts(regs, true);
		return;
	}
	if (native_is_arena(regs->ip) && me->steps)
		me->steps--;
	if (me->steps && me->max_steps) {
		me->max_steps--;
		return;
	}
	regs->flags &= ~X86_EFLAGS_TF;
	if (!me->steps && me->max_steps)
		native_interrupt(regs);
}

/* What a crash prints. */
void native_torture_details(void)
{
	char line[160];

	for (unsigned int i = nr_callers; i < nr_torturers; i++) {
		struct torturer *t = &torturers[i];

		snprintf(line, sizeof(line), "#   worker %u: %s %d, functions %llx, last returned %d\n",
			 i - nr_callers, t->what ?: "nothing", t->which, t->funcs, t->ret);
		host_write(line, strlen(line));
	}
}

static unsigned int pick(unsigned int below)
{
	static u64 random;

	random = random * 6364136223846793005ULL + 1442695040888963407ULL + seed;
	return (random >> 33) % below;
}

/* Disturb all threads for a round. */
static void control(unsigned long ns)
{
	unsigned long end = host_clock_ns() + ns;

	native_sleep_begin("torture");
	native_kernel_exit();
	for (unsigned int i = 0; host_clock_ns() < end; i++) {
		unsigned int n = pick(nr_torturers);

		if (smp_load_acquire(&torturers[n].ready))
			host_interrupt(torturers[n].thread);
		if (!pick(8))
			host_pin(torturers[pick(nr_torturers)].thread, pick(1024));
		native_broadcast_waits = i / BROADCAST_ROUNDS % BROADCAST_SHARE == 0;
		WRITE_ONCE(callers_leave, i / LEAVE_ROUNDS % 2);
		host_usleep(DISTURB_US);
	}
	native_kernel_enter();
	native_sleep_end();
}

static void start(unsigned int i, unsigned long round)
{
	struct torturer *t = &torturers[i];
	struct counts counts = t->counts;

	*t = (struct torturer){
		.task = { .comm = "torture", .flags = PF_KTHREAD, .pid = 200 + i, .tgid = 200 + i },
		.counts = counts,
		.random = seed * 2654435761UL + round * 40503UL + i * 97UL,
	};
	if (i < nr_callers) {
		t->cpus[0] = 1 + 2 * i;
		t->cpus[1] = 2 + 2 * i;
	} else {
		t->cpus[0] = 1 + nr_callers + i;
	}
	t->thread = host_thread(i < nr_callers ? caller : worker, t);
}

static void join(unsigned int first, unsigned int last)
{
	native_sleep_begin("torture");
	for (unsigned int i = first; i < last; i++)
		host_join(torturers[i].thread);
	native_sleep_end();
}

static void run_round(unsigned long round, unsigned long ns)
{
	torture_stop = callers_stop = false;
	for (unsigned int i = 0; i < nr_torturers; i++)
		start(i, round);
	control(ns);
	/* Workers remove everything while functions are called. */
	WRITE_ONCE(torture_stop, true);
	join(nr_callers, nr_torturers);
	WRITE_ONCE(callers_stop, true);
	join(0, nr_callers);
	native_settle();
}

static struct counts sum_up(void)
{
	struct counts sum = { };

	for (unsigned int i = 0; i < nr_torturers; i++) {
		const unsigned long *from = (unsigned long *)&torturers[i].counts;
		unsigned long *to = (unsigned long *)&sum;

		for (unsigned int n = 0; n < sizeof(sum) / sizeof(*to); n++)
			to[n] += from[n];
	}
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++) {
		sum.traps += native_traps[cpu];
		sum.late += native_late[cpu];
		sum.serialised += native_serialised[cpu];
	}
	sum.spared = native_spared;
	return sum;
}

/* Has all happened as often as it must? It will not if so many calls were not enough. */
static bool is_enough(unsigned long seconds)
{
	struct counts sum = sum_up();

#define LESS(name, least)	sum.name < (least) * seconds ||
	return !(COUNTS(LESS) false) || sum.calls > MANY_CALLS * seconds;
#undef LESS
}

static int report(unsigned long seconds, unsigned long ms)
{
	struct counts sum = sum_up();
	char line[1200];
	int ret = 0, len = 0;

	native_quiet = false;
#define SHOW(name, least) do {								\
	len += scnprintf(line + len, sizeof(line) - len, " %s %lu", #name, sum.name);	\
	if (sum.name < (least) * seconds) {						\
		printk("# torture: too few: %s, %lu in %lu ms\n", #name, sum.name, ms);	\
		ret = 1;								\
	}										\
} while (0);
	COUNTS(SHOW)
#undef SHOW
	host_write("# torture:", 10);
	host_write(line, len);
	printk("\n# torture: seed %lu, %lu ms, %u callers, %u workers, on %u CPUs: %s\n", seed, ms,
	       nr_callers, NR_WORKERS, host_nr_cpus(), ret ? "no result" : "passes");
	return ret;
}

/**
 * native_torture - run all threads for some time
 * @argc: number of arguments
 * @argv: seconds, more on a busy machine; the seed, else from the clock; the number of callers,
 *	else one for each CPU
 *
 * A call that does what it must not do ends the program.
 *
 * Return: 0; or 1 if something was not seen often enough for a result.
 */
int native_torture(int argc, char **argv)
{
	unsigned long seconds = 0, callers = clamp(host_nr_cpus(), 2U, 4U), live = 0, round = 0;
	unsigned long start_ns = host_clock_ns(), left;
	static char work[64];

	seed = start_ns;
	if (argc < 1 || argc > 3 || kstrtoul(argv[0], 10, &seconds) || !seconds ||
	    (argc > 1 && kstrtoul(argv[1], 10, &seed)) ||
	    (argc > 2 && kstrtoul(argv[2], 10, &callers)) || !callers || callers > MAX_CALLERS) {
		printk("usage: native torture SECONDS [SEED [CALLERS]]\n");
		return 2;
	}
	nr_callers = callers;
	nr_torturers = nr_callers + NR_WORKERS;
	snprintf(work, sizeof(work), "torture, seed %lu", seed);
	native_work = work;
	printk("# torture: seed %lu, %lu s\n", seed, seconds);
	native_quiet = true;
	torture_module_make();
	for (left = seconds * NSEC_PER_SEC; left || !is_enough(seconds); round++) {
		/* The first round makes what stays; there is always a second one. */
		unsigned long ns = min(ROUND_SECONDS * NSEC_PER_SEC, seconds * NSEC_PER_SEC / 2);

		if (left)
			ns = min(ns, left);
		run_round(round, ns);
		if (round && native_live() > live)
			native_fail("%lu pieces of memory are left", native_live() - live);
		live = max(live, native_live());
		left -= min(left, ns);
	}
	return report(seconds, (host_clock_ns() - start_ns) / NSEC_PER_MSEC);
}
