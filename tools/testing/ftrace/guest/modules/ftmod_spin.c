// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that does not sleep for two minutes, or until the module is unloaded. RCU tasks waits for
 * such a task. The parameter "spinning" says whether the task is still busy.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#define SPIN_SECONDS	120

static bool spinning = true;
module_param(spinning, bool, 0444);
MODULE_PARM_DESC(spinning, "the task is busy");

static struct task_struct *task;

static int ftmod_spin_run(void *data)
{
	unsigned long end = jiffies + SPIN_SECONDS * HZ;

	/* Others get the CPU, but not because this task sleeps. */
	set_user_nice(current, MAX_NICE);
	while (time_before(jiffies, end) && !kthread_should_stop()) {
		cpu_relax();
		cond_resched();
	}
	spinning = false;
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	return 0;
}

static int __init ftmod_spin_init(void)
{
	task = kthread_run(ftmod_spin_run, NULL, "ftmod_spin");
	return PTR_ERR_OR_ZERO(task);
}
module_init(ftmod_spin_init);

static void __exit ftmod_spin_exit(void)
{
	kthread_stop(task);
}
module_exit(ftmod_spin_exit);

MODULE_DESCRIPTION("A task that does not sleep, for the function tracer's tests");
MODULE_LICENSE("GPL");
