// SPDX-License-Identifier: GPL-2.0-only
/* Tasks: threads of the host, each on a CPU of its own. */
#include <kunit/test.h>
#include <linux/container_of.h>
#include <linux/delay.h>
#include <linux/ftrace_flight.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/timer.h>

#include "native.h"

struct task_struct init_task = {
	.comm = "native", .flags = PF_KTHREAD | PF_IDLE, .tasks = LIST_HEAD_INIT(init_task.tasks),
};

/* Only the task that asks can be traced by the graph tracer; the others have no stack for it. */
struct task_struct *idle_task(int cpu)
{
	static struct task_struct idle[NATIVE_CPUS];

	return cpu == raw_smp_processor_id() ? current : &idle[cpu];
}

struct kthread {
	struct task_struct	task;
	struct host_thread	*thread;
	int			(*func)(void *data);
	void			*data;
	int			cpu;
	bool			stop;
	int			ret;
};

static struct kthread *to_kthread(struct task_struct *task)
{
	return container_of(task, struct kthread, task);
}

static void kthread_main(void *arg)
{
	struct kthread *k = arg;

	native_cpu_begin(&k->task, k->cpu);
	k->ret = k->func(k->data);
	native_cpu_end();
}

struct task_struct *kthread_create_on_cpu(int (*func)(void *data), void *data, unsigned int cpu,
					  const char *name)
{
	struct kthread *k;

	if (native_alloc_fails(GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	k = host_alloc(sizeof(*k));
	memset(k, 0, sizeof(*k));
	snprintf(k->task.comm, sizeof(k->task.comm), name, cpu);
	k->task.flags = PF_KTHREAD;
	k->task.pid = k->task.tgid = 100 + cpu;
	k->func = func;
	k->data = data;
	k->cpu = cpu;
	ftrace_flight_init_task(&k->task);
	return &k->task;
}

int wake_up_process(struct task_struct *task)
{
	struct kthread *k = to_kthread(task);

	if (!k->thread)
		k->thread = host_thread(kthread_main, k);
	return 1;
}

int kthread_stop(struct task_struct *task)
{
	struct kthread *k = to_kthread(task);
	int ret = -EINTR;

	WRITE_ONCE(k->stop, true);
	if (k->thread) {
		native_sleep_begin("kthread_stop");
		host_join(k->thread);
		native_sleep_end();
		ret = k->ret;
	}
	ftrace_flight_exit_task(&k->task);
	host_free(k);
	return ret;
}

bool kthread_should_stop(void)
{
	return READ_ONCE(to_kthread(current)->stop);
}

int set_cpus_allowed_ptr(struct task_struct *task, const struct cpumask *mask)
{
	/* A thread stays on its CPU. */
	return cpumask_test_cpu(task_cpu(task), mask) ? 0 : -EINVAL;
}

void msleep(unsigned int msecs)
{
	native_sleep_begin("msleep");
	host_usleep(msecs * 1000UL);
	native_sleep_end();
}

/* With a fault, a task that waits for another one may wait for ever. */
#define FAULT_WAIT_US	(2 * USEC_PER_SEC)

void usleep_range_state(unsigned long min, unsigned long max, unsigned int state)
{
	if (native_waited(min) > FAULT_WAIT_US && native_fault)
		native_fail("waits too long");
	native_sleep_begin("usleep_range");
	host_usleep(min);
	native_sleep_end();
}

signed long schedule_timeout_idle(signed long timeout)
{
	msleep(jiffies_to_msecs(timeout));
	return 0;
}

/* In place of a preemption: let another thread of the host run. */
void preempt_schedule_thunk(void) { }

/* Called by trampolines, too, where no register may change. */
unsigned long native_preemptions;

asm(".pushsection .text\n"
    ".globl preempt_schedule_notrace_thunk\n"
    "preempt_schedule_notrace_thunk:\n"
    "	incq	native_preemptions(%rip)\n"
    "	ret\n"
    ".popsection");
