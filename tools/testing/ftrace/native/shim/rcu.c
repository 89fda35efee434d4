// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU with real readers: a grace period waits until each CPU was seen outside a reader, or
 * has slept. What is freed is freed by the worker, so that address sanitizer sees a late
 * reader.
 */
#include <linux/irq_work.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#include "native.h"

/*
 * If the program has run for so long in a grace period, a reader never ends. What else the machine
 * does meanwhile is not counted.
 */
#define STALL_NS	(30UL * NSEC_PER_SEC)

int rcu_scheduler_active = 1;
int debug_locks = 1;
static struct lock_class_key rcu_key;
struct lockdep_map rcu_lock_map = { .name = "rcu_read_lock", .key = &rcu_key };
struct lockdep_map rcu_bh_lock_map = { .name = "rcu_read_lock_bh", .key = &rcu_key };
struct lockdep_map rcu_sched_lock_map = { .name = "rcu_read_lock_sched", .key = &rcu_key };
struct lockdep_map rcu_callback_map = { .name = "rcu_callback", .key = &rcu_key };

static struct {
	/* Counts voluntary switches. */
	unsigned long	switches;
	bool		sleeps;
} ____cacheline_aligned quiet[NATIVE_CPUS];

void __rcu_read_lock(void)
{
	WRITE_ONCE(current->rcu_read_lock_nesting, current->rcu_read_lock_nesting + 1);
	barrier();
}

void __rcu_read_unlock(void)
{
	if (!current->rcu_read_lock_nesting)
		native_fail("rcu_read_unlock() without rcu_read_lock()");
	/* Pairs with the reading in reader(). */
	smp_store_release(&current->rcu_read_lock_nesting, current->rcu_read_lock_nesting - 1);
}

int debug_lockdep_rcu_enabled(void)
{
	return 1;
}

int rcu_read_lock_held(void)
{
	return current->rcu_read_lock_nesting > 0;
}

int rcu_read_lock_sched_held(void)
{
	return !preemptible();
}

int rcu_read_lock_any_held(void)
{
	return rcu_read_lock_held() || rcu_read_lock_sched_held();
}

bool notrace rcu_is_watching(void)
{
	return true;
}

void lockdep_rcu_suspicious(const char *file, const int line, const char *s)
{
	native_fail("%s at %s:%d", s, file, line);
}

void native_quiescent(void)
{
	int cpu = raw_smp_processor_id();

	smp_store_release(&quiet[cpu].switches, quiet[cpu].switches + 1);
	smp_store_release(&current->rcu_tasks_holdout, false);
}

void native_sleep_begin(const char *what)
{
	__might_resched(what, 0, 0);
	smp_store_release(&quiet[raw_smp_processor_id()].sleeps, true);
}

void native_sleep_end(void)
{
	smp_store_release(&quiet[raw_smp_processor_id()].sleeps, false);
	native_quiescent();
}

/* With host_lock(), so that the task stays. A task that sleeps can be interrupted. */
static bool reader(int cpu)
{
	struct task_struct *task = native_task(cpu);

	return task && (smp_load_acquire(&task->rcu_read_lock_nesting) ||
			native_preempt_count(cpu) || native_irqs_off(cpu));
}

bool native_cpu_runs(int cpu)
{
	return native_task(cpu) && !smp_load_acquire(&quiet[cpu].sleeps);
}

/*
 * For how long has this CPU waited in vain? It sleeps for @us, again and again, and does nothing
 * else. A sleep counts if each other CPU has slept or switched since the last one: on a busy
 * machine, the task that is waited for may not have run at all.
 */
unsigned long native_waited(unsigned long us)
{
	static struct waits {
		unsigned long	switches[NATIVE_CPUS];
		unsigned long	us;
	} waits[NATIVE_CPUS];
	int self = raw_smp_processor_id();
	struct waits *w = &waits[self];

	if (quiet[self].switches != w->switches[self] + 1)
		w->us = 0;
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++) {
		unsigned long switches = smp_load_acquire(&quiet[cpu].switches);

		if (cpu != self && native_cpu_runs(cpu) && switches == w->switches[cpu])
			us = 0;
		w->switches[cpu] = switches;
	}
	w->us += us;
	return w->us;
}

static bool cpu_quiet(int cpu, unsigned long switches)
{
	bool ret;

	if (smp_load_acquire(&quiet[cpu].switches) != switches)
		return true;
	host_lock();
	ret = !reader(cpu);
	host_unlock();
	return ret;
}

static unsigned long program_ns(void)
{
	return host_run_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Wait a little. */
static void stall(unsigned long start, int cpu)
{
	host_usleep(20);
	if (program_ns() - start > STALL_NS)
		native_fail("a grace period waits for CPU %d", cpu);
}

void synchronize_rcu(void)
{
	int self = raw_smp_processor_id();
	unsigned long start = program_ns(), switches[NATIVE_CPUS];

	might_sleep();
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		switches[cpu] = smp_load_acquire(&quiet[cpu].switches);
	/* What a reader stored before is seen; a reader that starts later sees what we stored. */
	host_sync_cores();
	native_sleep_begin("synchronize_rcu");
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		while (cpu != self && !cpu_quiet(cpu, switches[cpu]))
			stall(start, cpu);
	native_sleep_end();
	host_sync_cores();
}

/* As RCU tasks does: a voluntary switch and cond_resched_tasks_rcu_qs() clear the mark. */
static void hold_out_tasks(void)
{
	host_lock();
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		if (native_task(cpu))
			WRITE_ONCE(native_task(cpu)->rcu_tasks_holdout, true);
	host_unlock();
}

/* The CPUs are looked at together: meanwhile no task goes from one to another. */
static int held_out_cpu(void)
{
	int cpu;

	host_lock();
	for (cpu = NATIVE_CPUS - 1; cpu >= 0; cpu--)
		if (native_cpu_runs(cpu) && READ_ONCE(native_task(cpu)->rcu_tasks_holdout))
			break;
	host_unlock();
	return cpu;
}

void synchronize_rcu_tasks(void)
{
	unsigned long start = program_ns();
	int cpu;

	might_sleep();
	host_sync_cores();
	hold_out_tasks();
	native_sleep_begin("synchronize_rcu_tasks");
	while ((cpu = held_out_cpu()) >= 0)
		stall(start, cpu);
	native_sleep_end();
	/* What cannot be preempted, too: interrupts of tasks that sleep. */
	synchronize_rcu();
}

void synchronize_rcu_tasks_rude(void)
{
	synchronize_rcu();
}

void synchronize_srcu(struct srcu_struct *ssp)
{
	synchronize_rcu();
}

/* Work, and what waits for a grace period, done by one thread in order. */
struct job {
	struct job		*next;
	bool			rcu;
	struct rcu_head		*head;
	rcu_callback_t		func;
	void			*free;
	struct work_struct	*work;
	struct irq_work		*irq;
};

static struct job *jobs, **jobs_end = &jobs;
static bool busy;
/* Nothing is done before somebody waits for it. */
static bool lazy;
static unsigned int waiting;
static struct work_struct *wanted;

/* All queues are one. */
#define QUEUE	((struct workqueue_struct *)&jobs)
struct workqueue_struct *system_wq = QUEUE, *system_unbound_wq = QUEUE, *system_dfl_wq = QUEUE;

static void job_add(struct job job)
{
	struct job *j = host_alloc(sizeof(*j));

	*j = job;
	j->next = NULL;
	host_lock();
	*jobs_end = j;
	jobs_end = &j->next;
	host_wake();
	host_unlock();
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	job_add((struct job){ .rcu = true, .head = head, .func = func });
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
void kvfree_call_rcu(struct rcu_head *head, void *ptr)
#else
void kvfree_call_rcu(struct kvfree_rcu_head *head, void *ptr)
#endif
{
	if (!head)
		might_sleep();
	job_add((struct job){ .rcu = true, .free = ptr });
}

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	job_add((struct job){ .work = work });
	return true;
}

bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&rwork->work)))
		return false;
	job_add((struct job){ .rcu = true, .work = &rwork->work });
	return true;
}

/* An interrupt later: by the worker. */
bool irq_work_queue(struct irq_work *work)
{
	if (atomic_fetch_or(IRQ_WORK_PENDING, &work->node.a_flags) & IRQ_WORK_PENDING)
		return false;
	job_add((struct job){ .irq = work });
	return true;
}

void irq_work_sync(struct irq_work *work)
{
	might_sleep();
	/* As the sanitizer of threads understands it. */
	while (__atomic_load_n(&work->node.a_flags.counter, __ATOMIC_ACQUIRE) & IRQ_WORK_PENDING)
		usleep_range(20, 20);
}

static void job_run(struct job *j)
{
	if (j->rcu)
		synchronize_rcu();
	if (j->head) {
		j->func(j->head);
	} else if (j->work) {
		clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(j->work));
		j->work->func(j->work);
	} else if (j->irq) {
		j->irq->func(j->irq);
		__atomic_and_fetch(&j->irq->node.a_flags.counter, ~IRQ_WORK_PENDING, __ATOMIC_RELEASE);
	} else {
		kvfree(j->free);
	}
	/* The compiler may read "current" before the thread is this CPU. */
	if (native_task(NATIVE_WORKER_CPU)->lockdep_depth || native_preempt_count(NATIVE_WORKER_CPU))
		native_fail("a work keeps a lock");
	host_free(j);
}

static void worker(void *unused)
{
	static struct task_struct task = { .comm = "kworker", .flags = PF_KTHREAD | PF_WQ_WORKER };

	native_cpu_begin(&task, NATIVE_WORKER_CPU);
	/* Its code has no call sites. */
	native_kernel_exit();
	host_lock();
	for (;;) {
		struct job **at = &jobs, *j;

		while (lazy && !waiting && *at && (!wanted || (*at)->work != wanted))
			at = &(*at)->next;
		j = *at;
		if (!j) {
			busy = false;
			host_wake();
			WRITE_ONCE(quiet[NATIVE_WORKER_CPU].sleeps, true);
			host_wait();
			WRITE_ONCE(quiet[NATIVE_WORKER_CPU].sleeps, false);
			continue;
		}
		busy = true;
		*at = j->next;
		if (!j->next)
			jobs_end = at;
		host_unlock();
		job_run(j);
		host_lock();
	}
}

void native_settle(void)
{
	native_sleep_begin("native_settle");
	host_lock();
	waiting++;
	host_wake();
	while (jobs || busy)
		host_wait();
	waiting--;
	host_unlock();
	native_sleep_end();
}

void native_lazy_work(bool on)
{
	host_lock();
	lazy = on;
	host_wake();
	host_unlock();
}

bool flush_work(struct work_struct *work)
{
	if (!lazy) {
		native_settle();
		return true;
	}
	native_sleep_begin("flush_work");
	host_lock();
	wanted = work;
	host_wake();
	while (busy || test_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		host_wait();
	wanted = NULL;
	host_unlock();
	native_sleep_end();
	return true;
}

void native_work_init(void)
{
	host_thread(worker, NULL);
}
