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
 *
 * Most tasks are not listed. So the result is also in the word of a guard (guards.c), and
 * trampolines do not call the callback for a task that must be ignored. For a CPU that
 * tracing_cpumask leaves out, the word says that all tasks must be ignored.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/context_tracking_state.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>

#include "core.h"
#include "guards.h"
#include "pid.h"
#include "wait.h"

/* The lists that are the pid filter of a trace array; NULL filters nothing. ftrace_lock held. */
struct ftrace_pid_lists ftrace_pid_lists(struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);
	return (struct ftrace_pid_lists) {
		.pids = ftrace_locked(tr->function_pids),
		.no_pids = ftrace_locked(tr->function_no_pids),
	};
}

/*
 * Replaces the lists that CPUs check tasks against. A switch or fork may look at the old ones
 * until a grace period of RCU has passed. ftrace_lock held.
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

/* Does tracing_cpumask leave out a CPU? */
static bool pid_spares_cpus(struct trace_array *tr)
{
	return !cpumask_subset(cpu_possible_mask, tr->tracing_cpumask);
}

/**
 * ftrace_pid_guard - the guard that an ops must have
 * @ops: the ops; its ->private is a trace array if it has FTRACE_OPS_FL_PID
 *
 * Context: ftrace_lock held.
 * Return: the guard; NULL if @ops is for all tasks on all CPUs.
 */
struct ftrace_guard *ftrace_pid_guard(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;

	lockdep_assert_held(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_PID) || !tr)
		return NULL;
	return ftrace_pids_enabled(ops) || pid_spares_cpus(tr) ? tr->function_guard : NULL;
}

/* Makes the guard of a trace array, unless it is there: 0 or -ENOMEM. Takes ftrace_lock. */
int ftrace_pid_make_guard(struct trace_array *tr)
{
	struct ftrace_guard *guard;

	guard(mutex)(&ftrace_lock);
	if (tr->function_guard)
		return 0;
	guard = ftrace_guard_make(FTRACE_PID_IGNORE);
	if (!guard)
		return -ENOMEM;
	/* A switch of tasks on another CPU writes to the words as soon as it sees the guard. */
	smp_store_release(&tr->function_guard, guard);
	return 0;
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

static bool pid_lists_task(const struct ftrace_tasks *tasks, const struct task_struct *task)
{
	return trace_pid_list_is_set(tasks->pids, task->pid) ||
	       trace_pid_list_is_set(tasks->tgids, task->tgid);
}

/* Pairs with what ftrace_pid_func() and trampolines read on the CPU. */
static void pid_set_verdict(struct trace_array *tr, int cpu, int verdict)
{
	/* Pairs with the store in ftrace_pid_make_guard(). */
	const struct ftrace_guard *guard = smp_load_acquire(&tr->function_guard);

	WRITE_ONCE(per_cpu_ptr(tr->array_buffer.data, cpu)->ftrace_ignore_pid, verdict);
	if (!guard)
		return;
	/* Who changes the mask sets the verdicts afterwards. */
	if (!data_race(cpumask_test_cpu(cpu, tr->tracing_cpumask)))
		verdict = FTRACE_PID_IGNORE;
	WRITE_ONCE(*per_cpu_ptr(guard->word, cpu), verdict);
}

static void pid_check(struct trace_array *tr, const struct ftrace_tasks *pids,
		      const struct ftrace_tasks *no_pids, struct task_struct *task, int cpu)
{
	int verdict = READ_ONCE(task->pid);

	if ((pids && !pid_lists_task(pids, task)) || (no_pids && pid_lists_task(no_pids, task)))
		verdict = FTRACE_PID_IGNORE;
	pid_set_verdict(tr, cpu, verdict);
}

static void pid_check_next(void *data, bool preempt, struct task_struct *prev,
			   struct task_struct *next, unsigned int prev_state)
{
	struct trace_array *tr = data;

	pid_check(tr, rcu_dereference_sched(tr->function_pids),
		  rcu_dereference_sched(tr->function_no_pids), next, smp_processor_id());
}

/* Check a task that runs on a CPU. The task that changes the lists holds ftrace_lock meanwhile. */
static void pid_check_running(struct trace_array *tr, struct task_struct *task, int cpu)
{
	pid_check(tr,
		  rcu_dereference_protected(tr->function_pids,
					    mutex_is_locked(&ftrace_lock)),
		  rcu_dereference_protected(tr->function_no_pids,
					    mutex_is_locked(&ftrace_lock)),
		  task, cpu);
}

static void pid_check_current(void *data)
{
	pid_check_running(data, current, smp_processor_id());
}

#ifdef CONFIG_CONTEXT_TRACKING_IDLE
/*
 * A CPU that RCU does not watch (idle, or with nohz_full in user mode) runs no traced function
 * and does not switch tasks. So its task is checked from here, unless the CPU enters the kernel
 * meanwhile: then it is interrupted.
 */
static bool pid_must_interrupt(int cpu, void *data)
{
	int state = ct_rcu_watching_cpu_acquire(cpu);

	if (state & CT_RCU_WATCHING)
		return true;
	scoped_guard(rcu)
		pid_check_running(data, cpu_curr_snapshot(cpu), cpu);
	/* The verdict is written before; pairs with ct_state_inc() in ct_kernel_enter_state(). */
	smp_mb();
	return ct_rcu_watching_cpu_acquire(cpu) != state;
}
#else
static bool pid_must_interrupt(int cpu, void *data)
{
	return true;
}
#endif

/*
 * A thread that executes a program gets the number of its process. The callback must know the
 * thread by its new number, before the next switch. Interrupts are off, as at a switch: otherwise
 * pid_check_current() could come in between, and an old verdict would replace the new one.
 */
static void pid_check_exec(void *data, struct task_struct *task, pid_t old_pid,
			   struct linux_binprm *bprm)
{
	struct trace_array *tr = data;

	guard(irqsave)();
	pid_check(tr, rcu_dereference_sched(tr->function_pids),
		  rcu_dereference_sched(tr->function_no_pids), task, smp_processor_id());
}

/*
 * From now on each task is checked at its switch, and when it executes a program. A CPU that
 * comes up checks a task when it leaves its idle task. Without ftrace_lock: the tracepoint can
 * wait for a grace period. 0, or an error of the tracepoint.
 */
int ftrace_pid_hook(struct trace_array *tr)
{
	int ret;

	ftrace_assert_may_wait();
	ret = register_trace_sched_switch(pid_check_next, tr);
	if (ret)
		return ret;
	ret = register_trace_sched_process_exec(pid_check_exec, tr);
	if (ret)
		unregister_trace_sched_switch(pid_check_next, tr);
	return ret;
}

/*
 * Traces all tasks (FTRACE_PID_TRACE), or none (FTRACE_PID_IGNORE), until a CPU has checked a task.
 * ftrace_lock held.
 */
void ftrace_pid_set_all(struct trace_array *tr, int verdict)
{
	int cpu;

	lockdep_assert_held(&ftrace_lock);
	for_each_possible_cpu(cpu)
		pid_set_verdict(tr, cpu, verdict);
}

/*
 * Checks the tasks that run now, after ftrace_pid_hook(). CPUs outside the kernel are not
 * interrupted. ftrace_lock held.
 */
void ftrace_pid_check(struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);
	on_each_cpu_cond(pid_must_interrupt, pid_check_current, tr, true);
}

/* Stops checking tasks. A switch may still check one until a grace period of RCU has passed. */
void ftrace_pid_unhook(struct trace_array *tr)
{
	unregister_trace_sched_process_exec(pid_check_exec, tr);
	unregister_trace_sched_switch(pid_check_next, tr);
}

/* @parent is NULL if @task has ended. The first thread of a process is the last that is freed. */
static void pid_follow_tasks(const struct ftrace_tasks *tasks, struct task_struct *parent,
			     struct task_struct *task)
{
	if (!tasks)
		return;
	trace_filter_add_remove_task(tasks->pids, parent, task);
	if (!tasks->tgids || task->pid != task->tgid)
		return;
	if (!parent)
		trace_pid_list_clear(tasks->tgids, task->tgid);
	else if (trace_pid_list_is_set(tasks->tgids, parent->tgid))
		trace_pid_list_set(tasks->tgids, task->tgid);
}

static void pid_follow(struct trace_array *tr, struct task_struct *parent,
		       struct task_struct *task)
{
	guard(preempt_notrace)();
	pid_follow_tasks(rcu_dereference_sched(tr->function_pids), parent, task);
	pid_follow_tasks(rcu_dereference_sched(tr->function_no_pids), parent, task);
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

/*
 * Carries out the option function-fork: the lists follow the forks and exits of the tasks in them.
 * A task that forks may still be looking at @tr and its lists afterwards. If @tr is about to be
 * freed, event_trace_del_tracer() waits for such a task. If a list is freed, pid_drop_lists()
 * waits. trace_types_lock held.
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
