// SPDX-License-Identifier: GPL-2.0-only
/*
 * set_ftrace_pid and set_ftrace_notrace_pid: changing the pid filter of a trace
 * array.
 *
 * A pid filter is two lists, and changes as a whole. When the first list is added,
 * or the last list is removed, the ops of the trace array call another function.
 */
#include <linux/seq_file.h>

#include "core.h"
#include "ops.h"
#include "pid.h"
#include "wait.h"

/**
 * struct pid_file - an open set_ftrace_pid or set_ftrace_notrace_pid
 * @tr: the trace array
 * @type: the list that the file shows: TRACE_PIDS or TRACE_NO_PIDS
 * @truncate: opened with O_TRUNC, and nothing has been accepted yet
 * @refused: something was refused
 */
struct pid_file {
	struct trace_array	*tr;
	int			type;
	bool			truncate;
	bool			refused;
};

/*
 * Held while a list is made and changes; taken before ftrace_lock. A write reads the memory of
 * the user meanwhile, and the tracepoint can wait for a grace period.
 */
static DEFINE_MUTEX(pid_mutex);

static bool pid_has_lists(const struct ftrace_pid_lists *lists)
{
	return lists->pids || lists->no_pids;
}

/**
 * ftrace_pid_change_func - change the callback of an ops that may have a pid filter
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

	lockdep_assert_held(&ftrace_lock);
	/* The registration will look at the filter. */
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return ftrace_ops_set_func(ops, func);

	WRITE_ONCE(ops->saved_func, func);
	ret = ftrace_ops_set_func(ops, ftrace_pids_enabled(ops) ?
				  ftrace_pid_func : func);
	if (ret)
		WRITE_ONCE(ops->saved_func, old);
	return ret;
}

/* Let the ops of @tr call the function that the published lists require. */
static int pid_update_ops(struct trace_array *tr)
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

/*
 * What pid_drop_lists() has to do: lists that left the filter, which CPUs may be looking at,
 * and that tasks are not checked any more.
 */
struct pid_left {
	struct ftrace_pid_lists	lists;
	bool			unhooked;
};

static struct ftrace_pid_lists pid_lists(struct trace_array *tr)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_pid_lists(tr);
}

/* Replace the lists, and what the ops call. Removing all lists cannot fail. */
static int pid_switch_lists(struct trace_array *tr, const struct ftrace_pid_lists *old,
			    const struct ftrace_pid_lists *new)
{
	bool had = pid_has_lists(old), has = pid_has_lists(new);
	int ret;

	guard(mutex)(&ftrace_lock);
	if (has && !had)
		ftrace_pid_ignore_all(tr);
	ftrace_pid_publish(tr, new);
	if (has)
		ftrace_pid_judge(tr);
	if (has == had)
		return 0;

	ret = pid_update_ops(tr);
	if (!ret || !has)
		return 0;
	ftrace_pid_publish(tr, old);
	/* Undo the change of the ops. If that fails, some ops trace all tasks. */
	pid_update_ops(tr);
	return ret;
}

/*
 * Make @new the pid filter of @tr; after an error nothing has changed. The lists that are not
 * used afterwards, of the old filter or of @new, are in @left. pid_mutex held.
 */
static int pid_set_lists(struct trace_array *tr, const struct ftrace_pid_lists *new,
			 struct pid_left *left)
{
	struct ftrace_pid_lists old = pid_lists(tr);
	bool had = pid_has_lists(&old), has = pid_has_lists(new);
	const struct ftrace_pid_lists *gone, *kept;
	int ret = 0;

	if (has && !had)
		ret = ftrace_pid_hook(tr);
	if (!ret) {
		ret = pid_switch_lists(tr, &old, new);
		left->unhooked = ret ? !had : !has && had;
		if (left->unhooked)
			ftrace_pid_unhook(tr);
	}
	gone = ret ? new : &old;
	kept = ret ? &old : new;
	if (gone->pids != kept->pids)
		left->lists.pids = gone->pids;
	if (gone->no_pids != kept->no_pids)
		left->lists.no_pids = gone->no_pids;
	return ret;
}

static void pid_free_lists(const struct ftrace_pid_lists *lists)
{
	if (lists->pids)
		trace_pid_list_free(lists->pids);
	if (lists->no_pids)
		trace_pid_list_free(lists->no_pids);
}

/* Wait for forks and switches that look at the lists, and free the lists. No lock is held. */
static void pid_drop_lists(struct trace_array *tr, const struct pid_left *left)
{
	struct ftrace_pid_lists lists;

	if (!pid_has_lists(&left->lists) && !left->unhooked)
		return;
	/* All of them look with preemption off. */
	ftrace_wait_rcu();
	pid_free_lists(&left->lists);

	guard(mutex)(&ftrace_lock);
	lists = ftrace_pid_lists(tr);
	if (!pid_has_lists(&lists))
		ftrace_pid_trace_all(tr);
}

/* Remove the list that @type names: TRACE_PIDS or TRACE_NO_PIDS. */
static void pid_clear_list(struct trace_array *tr, int type)
{
	struct pid_left left = { };

	scoped_guard(mutex, &pid_mutex) {
		struct ftrace_pid_lists new = pid_lists(tr);

		*(type == TRACE_PIDS ? &new.pids : &new.no_pids) = NULL;
		/* Removing lists needs no memory. */
		WARN_ON_ONCE(pid_set_lists(tr, &new, &left));
	}
	pid_drop_lists(tr, &left);
}

/**
 * ftrace_clear_pids - stop checking tasks for a trace array that is about to be freed
 * @tr: the trace array; none of its files is open, and it traces no functions
 *
 * Until event_trace_del_tracer() has waited, a task switch may look at @tr and its lists.
 * ftrace_free_pids() frees the lists.
 *
 * Context: Process context, may sleep. event_mutex and trace_types_lock held.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	struct ftrace_pid_lists lists = pid_lists(tr);

	if (pid_has_lists(&lists))
		ftrace_pid_unhook(tr);
}

/**
 * ftrace_free_pids - free the pid lists of a trace array that is about to be freed
 * @tr: the trace array, of which tasks are not checked any more
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 */
void ftrace_free_pids(struct trace_array *tr)
{
	struct ftrace_pid_lists lists = pid_lists(tr);
	struct ftrace_pid_lists none = { };

	scoped_guard(mutex, &ftrace_lock)
		ftrace_pid_publish(tr, &none);
	pid_free_lists(&lists);
}

/* Marks an absent list; differs from every error and every pid + 1. */
static char no_list;
#define NO_LIST		((void *)&no_list)

static struct trace_pid_list *pid_list_of(const struct pid_file *f)
{
	struct ftrace_pid_lists lists = ftrace_pid_lists(f->tr);

	return f->type == TRACE_PIDS ? lists.pids : lists.no_pids;
}

static void *pid_start(struct seq_file *m, loff_t *pos)
{
	struct trace_pid_list *list;

	/* Held until pid_stop(), so that the list does not change. */
	mutex_lock(&ftrace_lock);
	list = pid_list_of(m->private);
	if (list)
		return trace_pid_start(list, pos);
	return *pos ? NULL : NO_LIST;
}

static void *pid_next(struct seq_file *m, void *v, loff_t *pos)
{
	if (v != NO_LIST)
		return trace_pid_next(pid_list_of(m->private), v, pos);
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

static const struct seq_operations pid_seq_ops = {
	.start	= pid_start,
	.next	= pid_next,
	.stop	= pid_stop,
	.show	= pid_show,
};

static int pid_open(struct inode *inode, struct file *file, int type)
{
	struct trace_array *tr = inode->i_private;
	struct pid_file *f;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	f = __seq_open_private(file, &pid_seq_ops, sizeof(*f));
	if (!f) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	f->tr = tr;
	f->type = type;
	f->truncate = file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC;
	return 0;
}

static int pid_open_pids(struct inode *inode, struct file *file)
{
	return pid_open(inode, file, TRACE_PIDS);
}

static int pid_open_no_pids(struct inode *inode, struct file *file)
{
	return pid_open(inode, file, TRACE_NO_PIDS);
}

static int pid_release(struct inode *inode, struct file *file)
{
	struct pid_file *f = ((struct seq_file *)file->private_data)->private;

	/* Opened with O_TRUNC, and then nothing was written. */
	if (f->truncate && !f->refused)
		pid_clear_list(f->tr, f->type);
	trace_array_put(f->tr);
	return seq_release_private(inode, file);
}

/* Add the pids that the user wrote, separated by blanks, to the list. */
static ssize_t pid_add(struct pid_file *f, const char __user *ubuf, size_t cnt,
		       struct pid_left *left)
{
	struct ftrace_pid_lists new = pid_lists(f->tr);
	struct trace_pid_list **list, *longer;
	ssize_t written;
	int ret;

	list = f->type == TRACE_PIDS ? &new.pids : &new.no_pids;
	/* A refused write does not change the list, even with O_TRUNC. */
	written = trace_pid_write(f->truncate ? NULL : *list, &longer, ubuf, cnt);
	if (written < 0)
		return written;
	*list = longer;
	ret = pid_set_lists(f->tr, &new, left);
	return ret ?: written;
}

static ssize_t pid_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct pid_file *f = ((struct seq_file *)file->private_data)->private;
	struct pid_left left = { };
	ssize_t written;

	if (!cnt)
		return 0;
	scoped_guard(mutex, &pid_mutex) {
		written = pid_add(f, ubuf, cnt, &left);
		if (written < 0)
			f->refused = true;
		else
			f->truncate = false;
	}
	pid_drop_lists(f->tr, &left);
	if (written > 0)
		*ppos += written;
	return written;
}

static const struct file_operations pids_fops = {
	.open		= pid_open_pids,
	.read		= seq_read,
	.write		= pid_write,
	.llseek		= tracing_lseek,
	.release	= pid_release,
};

static const struct file_operations no_pids_fops = {
	.open		= pid_open_no_pids,
	.read		= seq_read,
	.write		= pid_write,
	.llseek		= tracing_lseek,
	.release	= pid_release,
};

/**
 * ftrace_init_tracefs - create the files of a trace array that choose tasks
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
