// SPDX-License-Identifier: GPL-2.0-only
/*
 * set_ftrace_pid and set_ftrace_notrace_pid: changing the pid filter of a trace array.
 *
 * A filter changes as a whole: two lists take the place of two others. When the first
 * list comes, or the last one goes, the ops of the trace array call another function.
 */
#include <linux/seq_file.h>

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

static bool has_lists(const struct ftrace_pid_lists *lists)
{
	return lists->pids || lists->no_pids;
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

/*
 * Make @new the filter of @tr. Lists of the old filter that are not in the new
 * one are freed; on an error nothing has changed, and @new is the caller's.
 */
static int set_lists(struct trace_array *tr, const struct ftrace_pid_lists *new)
{
	struct ftrace_pid_lists old = ftrace_pid_lists(tr);
	bool had = has_lists(&old), has = has_lists(new);
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
		ret = update_ops(tr);
		if (ret && has) {
			ftrace_pid_publish(tr, &old);
			/* Undoes what it did, or leaves ops that trace all. */
			update_ops(tr);
			ftrace_pid_stop(tr);
			return ret;
		}
		if (!has)
			ftrace_pid_stop(tr);
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
	struct ftrace_pid_lists new = ftrace_pid_lists(tr);

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

/* Stands for an absent list; neither an error nor a pid + 1. */
static char no_list;
#define NO_LIST		((void *)&no_list)

static struct trace_pid_list *list_of(struct seq_file *m, int type)
{
	struct ftrace_pid_lists lists = ftrace_pid_lists(pid_file_tr(m));

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
	struct ftrace_pid_lists new;
	ssize_t written;
	int ret;

	if (!cnt)
		return 0;

	guard(mutex)(&ftrace_lock);
	new = ftrace_pid_lists(tr);
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
