// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function tracing of some tasks only: set_ftrace_pid, set_ftrace_notrace_pid.
 *
 * A traced function must not search a list of pids each time it is hit. So the
 * lists are consulted when the scheduler switches tasks, and the verdict is
 * left in a variable of the CPU; what is called for a function just reads it.
 * While both lists are absent, even that is not done: the ops call their own
 * callbacks, and the scheduler is not hooked.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cpumask.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>

#include "core.h"
#include "pid.h"

/**
 * struct pid_file - an open set_ftrace_pid or set_ftrace_notrace_pid
 * @tr: whose
 * @truncate: opened to be overwritten, and nothing has been accepted yet
 * @refused: something was refused
 */
struct pid_file {
	struct trace_array	*tr;
	bool			truncate;
	bool			refused;
};

static struct trace_array *pid_file_tr(struct seq_file *m)
{
	return ((struct pid_file *)m->private)->tr;
}

/* The filter of a trace array; a list that is absent filters nothing. */
struct pid_lists {
	struct trace_pid_list	*pids;
	struct trace_pid_list	*no_pids;
};

static bool has_lists(const struct pid_lists *lists)
{
	return lists->pids || lists->no_pids;
}

static struct pid_lists current_lists(struct trace_array *tr)
{
	return (struct pid_lists) {
		.pids = rcu_dereference_protected(tr->function_pids,
						  lockdep_is_held(&ftrace_lock)),
		.no_pids = rcu_dereference_protected(tr->function_no_pids,
						     lockdep_is_held(&ftrace_lock)),
	};
}

static void publish_lists(struct trace_array *tr, const struct pid_lists *lists)
{
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

	if (!(ops->flags & FTRACE_OPS_FL_PID) || !tr)
		return false;

	return rcu_access_pointer(tr->function_pids) ||
	       rcu_access_pointer(tr->function_no_pids);
}

/*
 * What an ops has for its trace array when that is freed while the ops is still
 * called, after ftrace_kill(). It traces no functions.
 */
struct trace_array ftrace_gone_array;

/**
 * ftrace_pid_func - call the callback of an ops, if the task is to be traced
 * @ip: the call site
 * @parent_ip: the address that the function returns to
 * @op: an ops to which a pid filter applies
 * @fregs: the registers at the call site
 *
 * Stands in for the callback of @op, which is in its ->saved_func meanwhile.
 *
 * Context: Any, from a trampoline.
 */
void ftrace_pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	ftrace_func_t func = READ_ONCE(op->saved_func);
	struct trace_array *tr = op->private;
	int pid;

	if (unlikely(tr == &ftrace_gone_array))
		return;

	/*
	 * A pid is the task that may be traced here. It differs from current
	 * in the scheduler, from the moment that a switch is decided on.
	 */
	pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);
	if (pid == FTRACE_PID_TRACE || pid == current->pid)
		func(ip, parent_ip, op, fregs);
}

/**
 * ftrace_pid_change_func - change the callback of an ops under its pid filter
 * @ops: the ops, registered or not
 * @func: the new callback
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error of ftrace_ops_set_func() with nothing changed.
 */
int ftrace_pid_change_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	ftrace_func_t old = ops->saved_func;
	int ret;

	/* Registering it will look at the filter. */
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return ftrace_ops_set_func(ops, func);

	WRITE_ONCE(ops->saved_func, func);
	ret = ftrace_ops_set_func(ops, ftrace_pids_enabled(ops) ?
				  ftrace_pid_func : func);
	if (ret)
		WRITE_ONCE(ops->saved_func, old);
	return ret;
}

/* Let the ops of @tr call what suits the lists that are published. */
static int update_ops(struct trace_array *tr)
{
	struct ftrace_ops *ops;
	int ret = 0;

	fgraph_update_pid_func();

	for_each_ftrace_ops(ops) {
		if (!(ops->flags & FTRACE_OPS_FL_PID) || ops->private != tr)
			continue;
		ret = ftrace_pid_change_func(ops, ops->saved_func);
		if (ret)
			break;
	}
	return ret;
}

static void judge(struct trace_array *tr, struct trace_pid_list *pids,
		  struct trace_pid_list *no_pids, struct task_struct *task)
{
	int verdict = task->pid;

	if (trace_ignore_this_task(pids, no_pids, task))
		verdict = FTRACE_PID_IGNORE;
	this_cpu_write(tr->array_buffer.data->ftrace_ignore_pid, verdict);
}

static void judge_next(void *data, bool preempt, struct task_struct *prev,
		       struct task_struct *next, unsigned int prev_state)
{
	struct trace_array *tr = data;

	judge(tr, rcu_dereference_sched(tr->function_pids),
	      rcu_dereference_sched(tr->function_no_pids), next);
}

/* Runs on a CPU while ftrace_lock is held by the task that waits for it. */
static void judge_current(void *data)
{
	struct trace_array *tr = data;

	judge(tr,
	      rcu_dereference_protected(tr->function_pids,
					mutex_is_locked(&ftrace_lock)),
	      rcu_dereference_protected(tr->function_no_pids,
					mutex_is_locked(&ftrace_lock)),
	      current);
}

static void set_verdicts(struct trace_array *tr, const struct cpumask *cpus,
			 int verdict)
{
	int cpu;

	for_each_cpu(cpu, cpus)
		per_cpu_ptr(tr->array_buffer.data, cpu)->ftrace_ignore_pid = verdict;
}

/* The CPUs no longer judge, whatever the lists say. */
static void stop_judging(struct trace_array *tr)
{
	unregister_trace_sched_switch(judge_next, tr);
	tracepoint_synchronize_unregister();
	set_verdicts(tr, cpu_possible_mask, FTRACE_PID_TRACE);
}

/*
 * Make @new the filter of @tr. Lists of the old filter that are not in the new
 * one are freed; on an error nothing has changed, and @new is the caller's.
 */
static int set_lists(struct trace_array *tr, const struct pid_lists *new)
{
	struct pid_lists old = current_lists(tr);
	bool had = has_lists(&old), has = has_lists(new);
	int ret;

	if (has && !had) {
		ret = register_trace_sched_switch(judge_next, tr);
		if (ret)
			return ret;
		/* A CPU that comes up judges when it leaves its idle task. */
		set_verdicts(tr, cpu_possible_mask, FTRACE_PID_IGNORE);
	}

	publish_lists(tr, new);
	if (has)
		on_each_cpu(judge_current, tr, 1);

	if (has != had) {
		ret = update_ops(tr);
		if (ret && has) {
			publish_lists(tr, &old);
			/* Undoes what it did, or leaves ops that trace all. */
			update_ops(tr);
			stop_judging(tr);
			return ret;
		}
		/* An ops that still asks for the verdict is told to trace. */
		if (!has)
			stop_judging(tr);
	}

	/* Forks and switches may be looking at what is replaced. */
	if (had)
		synchronize_rcu();
	if (old.pids && old.pids != new->pids)
		trace_pid_list_free(old.pids);
	if (old.no_pids && old.no_pids != new->no_pids)
		trace_pid_list_free(old.no_pids);
	return 0;
}

/* Drop the lists that @type names: TRACE_PIDS, TRACE_NO_PIDS, or both. */
static void clear_lists(struct trace_array *tr, int type)
{
	struct pid_lists new = current_lists(tr);

	if (!pid_type_enabled(type, new.pids, new.no_pids))
		return;

	if (type & TRACE_PIDS)
		new.pids = NULL;
	if (type & TRACE_NO_PIDS)
		new.no_pids = NULL;
	/* Taking lists away needs no memory. */
	WARN_ON_ONCE(set_lists(tr, &new));
}

/**
 * ftrace_clear_pids - trace all tasks again
 * @tr: the trace array
 *
 * Context: Process context, may sleep.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	guard(mutex)(&ftrace_lock);
	clear_lists(tr, TRACE_PIDS | TRACE_NO_PIDS);
}

static void follow(struct trace_array *tr, struct task_struct *parent,
		   struct task_struct *task)
{
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_pids),
				     parent, task);
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_no_pids),
				     parent, task);
}

static void follow_fork(void *data, struct task_struct *parent,
			struct task_struct *child)
{
	follow(data, parent, child);
}

static void follow_exit(void *data, struct task_struct *task)
{
	follow(data, NULL, task);
}

/**
 * ftrace_pid_follow_fork - carry out the option function-fork
 * @tr: the trace array
 * @enable: the lists follow the forks and exits of the tasks in them
 *
 * Context: Process context, may sleep. trace_types_lock held.
 */
void ftrace_pid_follow_fork(struct trace_array *tr, bool enable)
{
	if (enable) {
		if (register_trace_sched_process_fork(follow_fork, tr) ||
		    register_trace_sched_process_free(follow_exit, tr))
			pr_warn("function-fork: tasks are not followed\n");
		return;
	}

	unregister_trace_sched_process_fork(follow_fork, tr);
	unregister_trace_sched_process_free(follow_exit, tr);
	/* @tr may be about to go. */
	tracepoint_synchronize_unregister();
}

/* Stands for an absent list; neither an error nor a pid + 1. */
static char no_list;
#define NO_LIST		((void *)&no_list)

static struct trace_pid_list *list_of(struct seq_file *m, int type)
{
	struct pid_lists lists = current_lists(pid_file_tr(m));

	return type == TRACE_PIDS ? lists.pids : lists.no_pids;
}

static void *pid_start(struct seq_file *m, loff_t *pos, int type)
{
	struct trace_pid_list *list;

	/* Until pid_stop(), so that the list stays what it is. */
	mutex_lock(&ftrace_lock);
	list = list_of(m, type);
	if (list)
		return trace_pid_start(list, pos);
	return *pos ? NULL : NO_LIST;
}

static void *pid_next(struct seq_file *m, void *v, loff_t *pos, int type)
{
	if (v != NO_LIST)
		return trace_pid_next(list_of(m, type), v, pos);
	++*pos;
	return NULL;
}

static void pid_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int pid_show(struct seq_file *m, void *v)
{
	if (v != NO_LIST)
		return trace_pid_show(m, v);
	seq_puts(m, "no pid\n");
	return 0;
}

static void *pids_start(struct seq_file *m, loff_t *pos)
{
	return pid_start(m, pos, TRACE_PIDS);
}

static void *pids_next(struct seq_file *m, void *v, loff_t *pos)
{
	return pid_next(m, v, pos, TRACE_PIDS);
}

static void *no_pids_start(struct seq_file *m, loff_t *pos)
{
	return pid_start(m, pos, TRACE_NO_PIDS);
}

static void *no_pids_next(struct seq_file *m, void *v, loff_t *pos)
{
	return pid_next(m, v, pos, TRACE_NO_PIDS);
}

static const struct seq_operations pids_seq_ops = {
	.start	= pids_start,
	.next	= pids_next,
	.stop	= pid_stop,
	.show	= pid_show,
};

static const struct seq_operations no_pids_seq_ops = {
	.start	= no_pids_start,
	.next	= no_pids_next,
	.stop	= pid_stop,
	.show	= pid_show,
};

static int pid_open(struct inode *inode, struct file *file,
		    const struct seq_operations *seq_ops)
{
	struct trace_array *tr = inode->i_private;
	struct pid_file *f;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	f = __seq_open_private(file, seq_ops, sizeof(*f));
	if (!f) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	f->tr = tr;
	f->truncate = file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC;
	return 0;
}

static int pid_release(struct inode *inode, struct file *file, int type)
{
	struct pid_file *f = ((struct seq_file *)file->private_data)->private;

	/* Opened to be overwritten, and then nothing was written. */
	if (f->truncate && !f->refused) {
		guard(mutex)(&ftrace_lock);
		clear_lists(f->tr, type);
	}
	trace_array_put(f->tr);
	return seq_release_private(inode, file);
}

/* Add to the list of @type what the user wrote: pids with space around them. */
static ssize_t pid_write(struct file *file, const char __user *ubuf, size_t cnt,
			 loff_t *ppos, int type)
{
	struct pid_file *f = ((struct seq_file *)file->private_data)->private;
	struct trace_pid_list **list, *longer;
	struct trace_array *tr = f->tr;
	struct pid_lists new;
	ssize_t written;
	int ret;

	if (!cnt)
		return 0;

	guard(mutex)(&ftrace_lock);
	new = current_lists(tr);
	list = type == TRACE_PIDS ? &new.pids : &new.no_pids;

	/* What is refused leaves the list as it was, overwritten or not. */
	written = trace_pid_write(f->truncate ? NULL : *list, &longer, ubuf, cnt);
	if (written < 0) {
		f->refused = true;
		return written;
	}

	*list = longer;
	ret = set_lists(tr, &new);
	if (ret) {
		f->refused = true;
		if (longer)
			trace_pid_list_free(longer);
		return ret;
	}
	f->truncate = false;

	*ppos += written;
	return written;
}

static int pids_open(struct inode *inode, struct file *file)
{
	return pid_open(inode, file, &pids_seq_ops);
}

static ssize_t pids_write(struct file *file, const char __user *ubuf,
			  size_t cnt, loff_t *ppos)
{
	return pid_write(file, ubuf, cnt, ppos, TRACE_PIDS);
}

static int no_pids_open(struct inode *inode, struct file *file)
{
	return pid_open(inode, file, &no_pids_seq_ops);
}

static ssize_t no_pids_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	return pid_write(file, ubuf, cnt, ppos, TRACE_NO_PIDS);
}

static int pids_release(struct inode *inode, struct file *file)
{
	return pid_release(inode, file, TRACE_PIDS);
}

static int no_pids_release(struct inode *inode, struct file *file)
{
	return pid_release(inode, file, TRACE_NO_PIDS);
}

static const struct file_operations pids_fops = {
	.open		= pids_open,
	.read		= seq_read,
	.write		= pids_write,
	.llseek		= tracing_lseek,
	.release	= pids_release,
};

static const struct file_operations no_pids_fops = {
	.open		= no_pids_open,
	.read		= seq_read,
	.write		= no_pids_write,
	.llseek		= tracing_lseek,
	.release	= no_pids_release,
};

/**
 * ftrace_init_tracefs - make the files of a trace array that choose tasks
 * @tr: the trace array
 * @d_tracer: its directory
 *
 * Context: Process context, may sleep.
 */
void ftrace_init_tracefs(struct trace_array *tr, struct dentry *d_tracer)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, d_tracer, tr,
			  &pids_fops);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, d_tracer,
			  tr, &no_pids_fops);
}
