// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread patches, and others call the sites. Each call is checked. One more thread disturbs
 * them: it sends signals, and moves callers from CPU to CPU.
 *
 * The word of a site says what a call may do. The patcher writes it before the first store of
 * a batch and after the last broadcast; a thread reads it before and after the call.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <sys/mman.h>

/* The patcher's interface, with what it needs of the kernel. */
#include "kernel.h"
#include <linux/ftrace_arch.h>

/* Frames of signals hold all registers, several KiB; signals hit the handlers of signals. */
#define STACK_SIZE	(1UL << 20)

/* How long a halted thread is away, at most, in microseconds. */
#define MAX_HALT	5000

/* A late int3 at one call of a site can come again, if the next batch is as quick. */
#define MAX_LATE	10000

/* A call of a site. A signal handler that calls sites has its own. */
struct frame {
	unsigned long	sp;		/* call.S returns with this; must be first */
	struct frame	*outer;
	unsigned int	site;
	unsigned int	late;
	u32		newest;		/* of the thread, when the call began */
	bool		trapped;
	int		fault;		/* why the call came to its end; -1 */
	int		mix;
};

struct thread {
	pthread_t	pthread;
	unsigned int	number;
	int		cpu;
	u64		random;
	struct frame	*frame;
	struct counts	*counts;
	u32		newest[POKE_SITES];	/* the last change whose new instruction ran */
};

static struct thread threads[POKE_THREADS], disturber;
static __thread struct thread *me;
static volatile bool stop;
static unsigned int nr_threads, nr_ready;
struct result *result;
struct mutex text_mutex;	/* the patcher asserts that it is held */

/* The sites that are changed and called at present. Any content will do, also a torn one. */
static volatile u16 active[POKE_SITES];
static volatile unsigned int nr_active = 1;

/* How many times the site has begun or ended to change, and the two states it may have. */
static u64 word_make(u32 changes, enum state from, enum state to)
{
	return (u64)changes << 8 | from << 4 | to;
}

static u32 word_changes(u64 word)
{
	return word >> 8;
}

static enum state word_from(u64 word)
{
	return word >> 4 & 15;
}

static enum state word_to(u64 word)
{
	return word & 15;
}

unsigned int poke_thread(void)
{
	return me->number;
}

u64 thread_random(void)
{
	me->random ^= me->random << 13;
	me->random ^= me->random >> 7;
	me->random ^= me->random << 17;
	return me->random >> 8;
}

static void count_fault(enum fault fault, unsigned int site)
{
	me->counts->faults[fault]++;
	me->counts->kinds[sites[site].kind]++;
}

/* What a call did: 0 nothing, else the sum of the numbers that text.c gave the functions. */
static enum state state_of(unsigned int site, unsigned int sum)
{
	if (!sum)
		return NOP;
	if (sum == 1 + site * 2)
		return CALL_A;
	return sum == 2 + site * 2 ? JUMP_B : NR_STATES;
}

static bool may_be(u64 word, enum state state)
{
	return word_from(word) == state || word_to(word) == state;
}

/* The site did not begin or end to change during the call. */
static void check_steady(struct frame *frame, u64 word, enum state did)
{
	unsigned int site = frame->site;

	if (!(word_changes(word) & 1)) {
		if (did != word_to(word))
			count_fault(STALE, site);
	} else if (frame->trapped) {
		me->counts->trapped++;
	} else if (did == word_to(word)) {
		me->newest[site] = word_changes(word);
		me->counts->new++;
	} else {
		me->counts->old++;
		/*
		 * The first byte of the new instruction is written when nothing is old. A signal
		 * may have run the new instruction after this call ran the old one.
		 */
		if (frame->newest == word_changes(word))
			count_fault(BACK, site);
	}
}

static void check(struct frame *frame, u64 before, u64 after, unsigned int sum)
{
	enum state did = state_of(frame->site, sum);

	if (did == NR_STATES)
		count_fault(WRONG, frame->site);
	else if (word_changes(after) - word_changes(before) <= 2 &&
		 !may_be(before, did) && !may_be(after, did))
		count_fault(STALE, frame->site);
	else if (before == after)
		check_steady(frame, before, did);
}

static void call(unsigned int i)
{
	struct frame frame = { .outer = me->frame, .site = i, .newest = me->newest[i],
			       .fault = -1 };
	struct site *site = &sites[i];
	u64 before, after;
	unsigned int sum;

	delay(AT_CALL, (void *)site->ip);
	before = READ_ONCE(site->word);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	me->frame = &frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	sum = call_site(&frame, site->ip);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	me->frame = frame.outer;
	after = READ_ONCE(site->word);

	me->counts->calls++;
	me->counts->late += frame.late;
	if (frame.fault < 0) {
		check(&frame, before, after, sum);
		return;
	}
	count_fault(frame.fault, i);
	if (frame.mix >= 0)
		me->counts->mixes[frame.mix]++;
}

/* Give the call up. */
static void fail(greg_t *regs, enum fault fault, int mix)
{
	struct frame *frame = me->frame;

	if (!frame)
		poke_bug("signal at %llx, outside of a call", regs[REG_RIP]);
	frame->fault = fault;
	frame->mix = mix;
	regs[REG_RDI] = (long)frame;
	regs[REG_RIP] = (long)call_recover;
}

/*
 * A breakpoint. The patcher's handler does not know the site if the batch was over before the
 * signal came: unlike interrupts in the kernel's handler, a broadcast does not wait for it. So
 * the site is executed again. Nobody looks at its bytes: they need not be what the CPU saw.
 */
static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct pt_regs regs = { .ip = g[REG_RIP], .sp = g[REG_RSP] };
	unsigned long ip = regs.ip - INT3_INSN_SIZE;
	struct frame *frame = me->frame;

	(void)sig;
	(void)info;
	if (!frame || text_site_at(ip) != (int)frame->site) {
		int mix = frame ? text_mix(&sites[frame->site], ip) : -1;

		fail(g, mix < 0 ? STRAY : MIXED, mix);
		return;
	}
	delay(AT_TRAP, (void *)ip);
	if (ftrace_int3_handler(&regs)) {
		frame->trapped = true;
		delay(AT_FOUND, (void *)ip);
		g[REG_RIP] = regs.ip;
		g[REG_RSP] = regs.sp;
	} else if (++frame->late > MAX_LATE) {
		fail(g, STUCK, -1);
	} else {
		g[REG_RIP] = ip;
	}
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	int mix = -1;

	(void)info;
	if (sig == SIGSEGV && me->frame && text_has(g[REG_RIP]))
		mix = text_mix(&sites[me->frame->site], g[REG_RIP]);
	if (mix >= 0)
		fail(g, MIXED, mix);
	else
		fail(g, sig == SIGILL ? ILLEGAL : OTHER, -1);
}

/* As an NMI: anywhere, and it calls sites. */
static void on_interrupt(int sig)
{
	(void)sig;
	me->counts->signals++;
	for (int i = 0; i < 4; i++)
		call(active[thread_random() % nr_active] % POKE_SITES);
}

/* As if the host of a guest, or a limit on CPU time, takes the CPU away. */
static void on_halt(int sig)
{
	(void)sig;
	me->counts->halts++;
	usleep(1 + thread_random() % MAX_HALT);
}

static void set_handlers(void)
{
	struct sigaction trap = { .sa_sigaction = on_trap,
				  .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
	struct sigaction fault = trap;
	struct sigaction interrupt = { .sa_handler = on_interrupt,
				       .sa_flags = SA_ONSTACK | SA_RESTART };
	struct sigaction halt = { .sa_handler = on_halt, .sa_flags = SA_ONSTACK | SA_RESTART };

	/* A signal would end the sleep. */
	sigaddset(&halt.sa_mask, SIGUSR1);
	fault.sa_sigaction = on_fault;
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGILL, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	sigaction(SIGFPE, &fault, NULL);
	sigaction(SIGUSR1, &interrupt, NULL);
	sigaction(SIGUSR2, &halt, NULL);
}

static void pin(pthread_t pthread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread, sizeof(set), &set);
}

static void thread_init(struct thread *thread)
{
	stack_t stack = { .ss_size = STACK_SIZE };

	stack.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
		poke_cannot("no signal stack: %m");
	me = thread;
	pin(pthread_self(), thread->cpu);
	__atomic_fetch_add(&nr_ready, 1, __ATOMIC_SEQ_CST);
}

static void *caller(void *arg)
{
	thread_init(arg);
	while (!stop) {
		unsigned int n = nr_active;

		for (unsigned int i = 0; i < n && !stop; i++)
			call(active[i] % POKE_SITES);
	}
	return NULL;
}

/*
 * Choose which sites are changed and called for the next few batches: few sites are called
 * more often during a change; many need several chunks.
 */
static void choose_active(void)
{
	static const u8 shifts[] = { 0, 2, 4, 6, 8, 10, 10 };
	unsigned int want = 1 << shifts[thread_random() % sizeof(shifts)], n = 0;
	unsigned int at = thread_random() % POKE_SITES;
	/* Most of the time, only sites that a CPU reads in two pieces. */
	enum kind least = thread_random() % 4 ? ACROSS_LINE : IN_8;

	/* A batch is in the order of addresses, so the choice is, too. */
	at = want + at > POKE_SITES ? POKE_SITES - want : at;
	for (unsigned int i = at; i < POKE_SITES && n < want; i++)
		if (sites[i].kind >= least)
			active[n++] = i;
	if (n)
		nr_active = n;
}

/* For some batches, delay one step of the protocol. */
static void choose_mood(void)
{
	static const unsigned int amounts[NR_DELAYS] = {
		[LOOP] = 100000, [YIELD] = 1, [SIGNAL] = 1, [SLEEP] = 100,
		[FLUSH_FIRST] = 1, [FLUSH_LAST] = 1,
	};
	int kind = thread_random() % 2 ? FLUSH_LAST : thread_random() % NR_DELAYS;
	int point = thread_random() % NR_POINTS;
	bool once = point == AT_SYNC || point == AT_SYNCED || point == AT_BEGIN;

	mood.point = -1;
	/* Half of the time the protocol is undisturbed. */
	if (thread_random() % 2)
		return;
	mood.delay = kind;
	mood.amount = 1 + thread_random() % amounts[kind];
	mood.one_in = once ? 1 + thread_random() % 8 : 16u << thread_random() % 8;
	if (kind >= FLUSH_FIRST) {
		mood.one_in = 1 + thread_random() % 4;
		/* A call that reads one line early and the other line late. */
		if (thread_random() % 4)
			point = AT_CALL;
	}
	mood.point = point;
}

static unsigned int make_batch(struct ftrace_patch *batch)
{
	unsigned int share = 1 << thread_random() % 4, nr = 0;

	for (unsigned int i = 0; i < nr_active; i++) {
		unsigned int n = active[i], from = sites[n].state, to;

		if (thread_random() % share)
			continue;
		to = (from + 1 + thread_random() % 2) % NR_STATES;
		batch[nr] = (struct ftrace_patch){ sites[n].ip, (void *)&sites[n],
						   n * NR_STATES + from, n * NR_STATES + to };
		nr++;
	}
	return nr;
}

static unsigned int site_in(const struct ftrace_patch *patch)
{
	return text_site_at(patch->ip);
}

/* Some changes are those of slots of trampolines: they have the instruction in the record. */
static void make_slots(struct ftrace_patch *batch, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		u8 insn[POKE_INSN_SIZE];

		if (thread_random() % 8 || batch[i].to % NR_STATES == NOP)
			continue;
		text_insn(batch[i].to % NR_STATES, insn);
		batch[i].site = NULL;
		batch[i].from = insn[0];
		memcpy(&batch[i].to, insn + 1, sizeof(batch[i].to));
	}
}

static void announce(const struct ftrace_patch *batch, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct site *site = &sites[site_in(&batch[i])];

		WRITE_ONCE(site->word, word_make(word_changes(site->word) + 1, site->state,
						 batch[i].to % NR_STATES));
	}
}

static void conclude(const struct ftrace_patch *batch, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int n = site_in(&batch[i]);
		struct site *site = &sites[n];

		site->state = word_to(site->word);
		if (!text_holds(n, site->state))
			poke_bug("site %u was not changed", n);
		__atomic_store_n(&site->word, word_make(word_changes(site->word) + 1, site->state,
							site->state), __ATOMIC_RELEASE);
	}
}

static void patch_once(const unsigned long *targets)
{
	static struct ftrace_patch batch[POKE_SITES];
	unsigned int nr = make_batch(batch);

	if (!nr)
		return;
	announce(batch, nr);
	make_slots(batch, nr);
	arch_ftrace_patch(&(struct ftrace_batch){ batch, nr, targets });
	conclude(batch, nr);
	result->batches++;
	result->changed += nr;
}

/* Signals like NMIs, threads that are halted, and threads that change their CPUs. */
static void disturb_once(const struct options *options)
{
	struct thread *thread = &threads[thread_random() % nr_threads];

	if (!options->no_signals)
		pthread_kill(thread->pthread, SIGUSR1);
	thread = &threads[thread_random() % nr_threads];
	if (!options->no_halts && !(thread_random() % 32))
		pthread_kill(thread->pthread, SIGUSR2);
	if (options->no_moves || thread_random() % 16)
		return;
	/* Away, and back the next time. */
	pin(thread->pthread, threads[thread_random() % nr_threads].cpu);
	result->moves++;
	thread = &threads[thread_random() % nr_threads];
	pin(thread->pthread, thread->cpu);
}

static void *disturb(void *arg)
{
	me = &disturber;
	while (!stop) {
		disturb_once(arg);
		usleep(1000);
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void patch(const struct options *options, const unsigned long *targets)
{
	double start = now(), end = start + options->seconds, next_mood = 0;

	for (double t = start; t < end; t = now()) {
		if (t >= next_mood) {
			choose_active();
			if (!options->quiet_mood && !options->one_mood)
				choose_mood();
			next_mood = t + 0.005;
		}
		for (int i = 0; i < 8; i++)
			patch_once(targets);
	}
}

/* The CPUs that this process may use; the patcher's comes first. */
static unsigned int usable_cpus(int *cpus, int first)
{
	unsigned int n = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		poke_cannot("no CPUs: %m");
	if (first >= 0 && CPU_ISSET(first, &set)) {
		cpus[n++] = first;
		CPU_CLR(first, &set);
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
	return n;
}

static void thread_prepare(struct thread *thread, unsigned int number, u64 seed)
{
	thread->number = number;
	thread->random = seed * 2654435761UL + number * 40503UL + 88172645463325252UL;
	/* One step of the generator does not tell similar numbers apart. */
	for (int i = 0; i < 8; i++) {
		me = thread;
		thread_random();
	}
}

static void start(pthread_t *pthread, void *(*func)(void *arg), void *arg)
{
	if (pthread_create(pthread, NULL, func, arg))
		poke_cannot("no thread: %m");
}

void run(const struct options *options, struct result *shared)
{
	static unsigned long targets[POKE_SITES * NR_STATES];
	static int cpus[CPU_SETSIZE];
	unsigned int nr_cpus = usable_cpus(cpus, options->patcher_cpu);

	result = shared;
	nr_threads = options->threads + 1;
	text_make(options->seed);
	for (unsigned int i = 0; i < POKE_SITES * NR_STATES; i++)
		targets[i] = text_target(i / NR_STATES, i % NR_STATES);
	arch_ftrace_init();
	sync_init();
	set_handlers();
	thread_prepare(&disturber, nr_threads, options->seed);
	for (unsigned int i = 0; i < nr_threads; i++) {
		thread_prepare(&threads[i], i, options->seed);
		threads[i].counts = &shared->counts[i];
		/* Callers fill the other CPUs first. */
		threads[i].cpu = i ? cpus[i % nr_cpus] : cpus[0];
	}
	threads[0].pthread = pthread_self();
	thread_init(&threads[0]);
	for (unsigned int i = 1; i < nr_threads; i++)
		start(&threads[i].pthread, caller, &threads[i]);
	/* A thread without a signal stack cannot take signals. */
	while (READ_ONCE(nr_ready) < nr_threads)
		poke_relax();
	start(&disturber.pthread, disturb, (void *)options);
	patch(options, targets);
	mood.point = -1;
	stop = true;
	pthread_join(disturber.pthread, NULL);
	for (unsigned int i = 1; i < nr_threads; i++)
		pthread_join(threads[i].pthread, NULL);
}
