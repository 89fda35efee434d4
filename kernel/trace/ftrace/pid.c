// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function tracing of some tasks only: the check at run time. The files are in
 * pid_files.c.
 *
 * A traced function must not search a list of pids at each call. So the lists are
 * searched when the scheduler switches tasks, and the result is stored in a variable
 * of the CPU; the callback of a function only reads this variable. While both lists
 * are absent, even this is not done: the ops call their own callbacks, and the
 * scheduler is not hooked.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>

#include "core.h"
#include "pid.h"
#include "wait.h"

/**
 * ftrace_pid_lists - the lists that are the pid filter of a trace array
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 * Return: the lists; NULL means a list that filters nothing.
 */
struct ftrace_pid_lists ftrace_pid_lists(struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);
	return (struct ftrace_pid_lists) {
		.pids = ftrace_locked(tr->function_pids),
		.no_pids = ftrace_locked(tr->function_no_pids),
	};
}

/**
 * ftrace_pid_publish - replace the lists that CPUs check tasks against
 * @tr: the trace array
 * @lists: the new lists
 *
 * A switch or fork may look at the old lists until a grace period of RCU has passed.
 *
 * Context: ftrace_lock held.
 */
void ftrace_pid_publish(struct trace_array *tr, const struct ftrace_pid_lists *lists)
{
	lockdep_assert_held(&ftrace_lock);
	rcu_assign_pointer(tr->function_pids, lists->pids);
	rcu_assign_pointer(tr->function_no_pids, lists->no_pids);
}

/**
 * ftrace_pids_enabled - does a pid filter apply to an ops?
 * @ops: the ops; its ->private is a trace array if it has FTRACE_OPS_FL_PID
 *
 * Context: ftrace_lock held.
 * Return: true if there is a filter.
 */
bool ftrace_pids_enabled(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;

	lockdep_assert_held(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_PID) || !tr)
		return false;

	return rcu_access_pointer(tr->function_pids) ||
	       rcu_access_pointer(tr->function_no_pids);
}

/*
 * Replaces the trace array of an ops when the trace array is freed while sites still
 * call the ops, after ftrace_kill(). It traces no functions.
 */
struct trace_array ftrace_gone_array;

/**
 * ftrace_pid_func - call the callback of an ops if the task must be traced
 * @ip: the call site
 * @parent_ip: the address that the function returns to
 * @op: an ops to which a pid filter applies
 * @fregs: the registers at the call site
 *
 * Trampolines call this function instead of the callback of @op, which is in
 * ->saved_func meanwhile.
 *
 * Context: Any context, from a trampoline.
 */
void ftrace_pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	ftrace_func_t func = READ_ONCE(op->saved_func);
	struct trace_array *tr = READ_ONCE(op->private);
	int pid;

	if (unlikely(tr == &ftrace_gone_array))
		return;

	/*
	 * A pid in the variable is the task that may be traced here. In the
	 * scheduler this task differs from current, from the moment when a switch is
	 * decided.
	 */
	pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);
	if (pid == FTRACE_PID_TRACE || pid == current->pid)
		func(ip, parent_ip, op, fregs);
}

static void pid_judge(struct trace_array *tr, struct trace_pid_list *pids,
		      struct trace_pid_list *no_pids, struct task_struct *task)
{
	int verdict = task->pid;

	if (trace_ignore_this_task(pids, no_pids, task))
		verdict = FTRACE_PID_IGNORE;
	this_cpu_write(tr->array_buffer.data->ftrace_ignore_pid, verdict);
}

static void pid_judge_next(void *data, bool preempt, struct task_struct *prev,
			   struct task_struct *next, unsigned int prev_state)
{
	struct trace_array *tr = data;

	pid_judge(tr, rcu_dereference_sched(tr->function_pids),
		  rcu_dereference_sched(tr->function_no_pids), next);
}

/* Runs on each CPU while the task that waits for it holds ftrace_lock. */
static void pid_judge_current(void *data)
{
	struct trace_array *tr = data;

	pid_judge(tr,
		  rcu_dereference_protected(tr->function_pids,
					    mutex_is_locked(&ftrace_lock)),
		  rcu_dereference_protected(tr->function_no_pids,
					    mutex_is_locked(&ftrace_lock)),
		  current);
}

static void pid_set_verdicts(struct trace_array *tr, int verdict)
{
	int cpu;

	/* Pairs with this_cpu_read() in ftrace_pid_func(), which runs on the other CPUs. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(tr->array_buffer.data, cpu)->ftrace_ignore_pid, verdict);
}

/**
 * ftrace_pid_hook - check each task at its switch, from now on
 * @tr: the trace array
 *
 * A CPU that comes up checks a task when it leaves its idle task.
 *
 * Context: Process context, may sleep. ftrace_lock not held: the tracepoint can wait for
 *	a grace period.
 * Return: 0, or an error of the tracepoint.
 */
int ftrace_pid_hook(struct trace_array *tr)
{
	ftrace_may_wait();
	return register_trace_sched_switch(pid_judge_next, tr);
}

/**
 * ftrace_pid_ignore_all - trace no task until a CPU has checked the task
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 */
void ftrace_pid_ignore_all(struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);
	pid_set_verdicts(tr, FTRACE_PID_IGNORE);
}

/**
 * ftrace_pid_judge - check the tasks that run now
 * @tr: the trace array, after ftrace_pid_hook()
 *
 * Context: Process context. ftrace_lock held.
 */
void ftrace_pid_judge(struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);
	on_each_cpu(pid_judge_current, tr, 1);
}

/**
 * ftrace_pid_unhook - stop checking tasks
 * @tr: the trace array
 *
 * A switch may still check a task, until a grace period of RCU has passed.
 *
 * Context: Process context, may sleep.
 */
void ftrace_pid_unhook(struct trace_array *tr)
{
	unregister_trace_sched_switch(pid_judge_next, tr);
}

/**
 * ftrace_pid_trace_all - let an ops that still asks trace all tasks
 * @tr: the trace array; no CPU checks tasks
 *
 * Context: ftrace_lock held.
 */
void ftrace_pid_trace_all(struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);
	pid_set_verdicts(tr, FTRACE_PID_TRACE);
}

static void pid_follow(struct trace_array *tr, struct task_struct *parent,
		       struct task_struct *task)
{
	guard(preempt_notrace)();
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_pids),
				     parent, task);
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_no_pids),
				     parent, task);
}

static void pid_follow_fork(void *data, struct task_struct *parent,
			    struct task_struct *child)
{
	pid_follow(data, parent, child);
}

static void pid_follow_exit(void *data, struct task_struct *task)
{
	pid_follow(data, NULL, task);
}

/**
 * ftrace_pid_follow_fork - carry out the option function-fork
 * @tr: the trace array
 * @enable: the lists follow the forks and exits of the tasks in them
 *
 * A task that forks may still be looking at @tr and its lists afterwards. If @tr is about to
 * be freed, event_trace_del_tracer() waits for such a task. If a list is freed,
 * pid_drop_lists() waits.
 *
 * Context: Process context, may sleep. trace_types_lock held.
 */
void ftrace_pid_follow_fork(struct trace_array *tr, bool enable)
{
	if (enable) {
		if (register_trace_sched_process_fork(pid_follow_fork, tr) ||
		    register_trace_sched_process_free(pid_follow_exit, tr))
			pr_warn("function-fork: tasks are not followed\n");
		return;
	}

	unregister_trace_sched_process_fork(pid_follow_fork, tr);
	unregister_trace_sched_process_free(pid_follow_exit, tr);
}
