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
 * Make @new the pid filter of @tr. Lists of the old filter that are not in the new
 * filter are freed. After an error nothing has changed, and @new still belongs to
 * the caller.
 */
static int pid_set_lists(struct trace_array *tr, const struct ftrace_pid_lists *new)
{
	struct ftrace_pid_lists old = ftrace_pid_lists(tr);
	bool had = pid_has_lists(&old), has = pid_has_lists(new);
	int ret;

	if (has && !had) {
		ret = ftrace_pid_start(tr);
		if (ret)
			return ret;
	}

	ftrace_pid_publish(tr, new);
	if (has)
		ftrace_pid_judge(tr);

	if (has != had) {
		ret = pid_update_ops(tr);
		if (ret && has) {
			ftrace_pid_publish(tr, &old);
			/* Undo the change of the ops. If that fails, some ops trace all tasks. */
			pid_update_ops(tr);
			ftrace_pid_stop(tr);
			return ret;
		}
		if (!has)
			ftrace_pid_stop(tr);
	}

	/* Forks and switches may be looking at the old lists. */
	if (had)
		synchronize_rcu();
	if (old.pids && old.pids != new->pids)
		trace_pid_list_free(old.pids);
	if (old.no_pids && old.no_pids != new->no_pids)
		trace_pid_list_free(old.no_pids);
	return 0;
}

/* Remove the lists that @type names: TRACE_PIDS, TRACE_NO_PIDS, or both. */
static void pid_clear_lists(struct trace_array *tr, int type)
{
	struct ftrace_pid_lists new = ftrace_pid_lists(tr);

	if (!pid_type_enabled(type, new.pids, new.no_pids))
		return;

	if (type & TRACE_PIDS)
		new.pids = NULL;
	if (type & TRACE_NO_PIDS)
		new.no_pids = NULL;
	/* Removing lists needs no memory. */
	WARN_ON_ONCE(pid_set_lists(tr, &new));
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
	pid_clear_lists(tr, TRACE_PIDS | TRACE_NO_PIDS);
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
	if (f->truncate && !f->refused) {
		guard(mutex)(&ftrace_lock);
		pid_clear_lists(f->tr, f->type);
	}
	trace_array_put(f->tr);
	return seq_release_private(inode, file);
}

/* Add the pids that the user wrote, separated by blanks, to the list. */
static ssize_t pid_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct pid_file *f = ((struct seq_file *)file->private_data)->private;
	struct trace_pid_list *longer;
	struct ftrace_pid_lists new;
	ssize_t written;
	int ret;

	if (!cnt)
		return 0;

	guard(mutex)(&ftrace_lock);
	/* A refused write does not change the list, even with O_TRUNC. */
	written = trace_pid_write(f->truncate ? NULL : pid_list_of(f), &longer, ubuf, cnt);
	if (written < 0) {
		f->refused = true;
		return written;
	}

	new = ftrace_pid_lists(f->tr);
	*(f->type == TRACE_PIDS ? &new.pids : &new.no_pids) = longer;
	ret = pid_set_lists(f->tr, &new);
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
