// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints: what was registered is in a table, and a test says when a tracepoint is passed.
 */
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "native.h"

struct hook {
	struct tracepoint	*tp;
	void			*probe;
	void			*data;
};

static struct hook hooks[32];
static unsigned int nr_hooks;

/* Meanwhile nobody passes a tracepoint: only the task of a test does. */
int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	might_sleep();
	if (native_alloc_fails(GFP_KERNEL))
		return -ENOMEM;
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (hooks[i].tp == tp && hooks[i].probe == probe && hooks[i].data == data)
			return -EEXIST;
	if (nr_hooks == ARRAY_SIZE(hooks))
		native_fail("too many hooks of tracepoints");
	hooks[nr_hooks++] = (struct hook){ tp, probe, data };
	return 0;
}

int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	might_sleep();
	for (unsigned int i = 0; i < nr_hooks; i++) {
		if (hooks[i].tp != tp || hooks[i].probe != probe || hooks[i].data != data)
			continue;
		hooks[i] = hooks[--nr_hooks];
		return 0;
	}
	return -ENOENT;
}

unsigned int native_nr_hooks(void)
{
	return nr_hooks;
}

/* The task of this thread becomes another one, as at a switch. */
void native_become(pid_t pid)
{
	static struct task_struct next;

	next.pid = pid;
	preempt_disable_notrace();
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (hooks[i].tp == &__tracepoint_sched_switch)
			((void (*)(void *, bool, struct task_struct *, struct task_struct *,
				   unsigned int))hooks[i].probe)(hooks[i].data, false, current,
								 &next, 0);
	current->pid = pid;
	preempt_enable_notrace();
}

void native_rename(struct task_struct *task)
{
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (hooks[i].tp == &__tracepoint_task_rename)
			((void (*)(void *, struct task_struct *, const char *))
			 hooks[i].probe)(hooks[i].data, task, "program");
}

/* The task of this thread executes a program, and takes the number of its process. */
void native_exec(pid_t pid)
{
	current->pid = pid;
	native_rename(current);
}

void native_fork(pid_t parent, pid_t child)
{
	native_fork_in(parent, parent, child, child);
}

/* A task makes a task; each has the number of its process, too. */
void native_fork_in(pid_t parent, pid_t from_process, pid_t child, pid_t to_process)
{
	static struct task_struct from, to;

	from.pid = parent;
	from.tgid = from_process;
	to.pid = child;
	to.tgid = to_process;
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (hooks[i].tp == &__tracepoint_sched_process_fork)
			((void (*)(void *, struct task_struct *, struct task_struct *))
			 hooks[i].probe)(hooks[i].data, &from, &to);
}

void native_exit(pid_t pid)
{
	native_exit_in(pid, pid);
}

/* A task has ended, and nobody needs it any more. */
void native_exit_in(pid_t pid, pid_t process)
{
	static struct task_struct task;

	task.pid = pid;
	task.tgid = process;
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (hooks[i].tp == &__tracepoint_sched_process_free)
			((void (*)(void *, struct task_struct *))hooks[i].probe)(hooks[i].data,
										 &task);
}
