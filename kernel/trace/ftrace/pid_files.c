// SPDX-License-Identifier: GPL-2.0-only
/*
 * set_ftrace_pid and set_ftrace_notrace_pid: changing the pid filter of a trace
 * array.
 *
 * A pid filter is two lists, and changes as a whole. When the first list is added,
 * or the last list is removed, the ops of the trace array call another function.
 *
 * A list has numbers of threads, and numbers of processes: "tgid:1234" stands for all threads
 * of a process, now and later.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core.h"
#include "guards.h"
#include "ops.h"
#include "pid.h"
#include "wait.h"

/* An open set_ftrace_pid or set_ftrace_notrace_pid. */
struct pid_file {
	struct trace_array	*tr;
	int			type;		/* TRACE_PIDS or TRACE_NO_PIDS */
	bool			truncate;	/* O_TRUNC, and nothing was accepted yet */
	bool			refused;	/* something was refused */
	bool			in_tgids;	/* a read is at processes, which come last */
	unsigned int		number;		/* the number that a read is at */
};

/* The longest word that is read. */
#define WORD_SIZE	127

/*
 * Held while a list is made and changes; taken before ftrace_lock. A write reads the memory of
 * the user meanwhile, and the tracepoint can wait for a grace period.
 */
static DEFINE_MUTEX(pid_mutex);

static bool pid_has_lists(const struct ftrace_pid_lists *lists)
{
	return lists->pids || lists->no_pids;
}

/*
 * Changes the callback of an ops that may have a pid filter, as ftrace_ops_set_func().
 * ftrace_lock held.
 */
int ftrace_pid_change_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	ftrace_func_t old = ops->saved_func;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	/* The registration will look at the filter. */
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return ftrace_ops_set_func(ops, func, ops->guard);

	WRITE_ONCE(ops->saved_func, func);
	ret = ftrace_ops_set_func(ops, ftrace_pids_enabled(ops) ?
				  ftrace_pid_func : func, ftrace_pid_guard(ops));
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
		if (!list_empty(&ops->subop_list))
			ret = ftrace_subops_set_guard(ops);
		else if (ops->flags & FTRACE_OPS_FL_PID && ops->private == tr)
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
		ftrace_pid_set_all(tr, FTRACE_PID_IGNORE);
	ftrace_pid_publish(tr, new);
	if (has)
		ftrace_pid_check(tr);
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
		ret = ftrace_pid_make_guard(tr) ?: ftrace_pid_hook(tr);
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

static void pid_free_tasks(struct ftrace_tasks *tasks)
{
	if (!tasks)
		return;
	trace_pid_list_free(tasks->pids);
	trace_pid_list_free(tasks->tgids);
	kfree(tasks);
}

static void pid_free_lists(const struct ftrace_pid_lists *lists)
{
	pid_free_tasks(lists->pids);
	pid_free_tasks(lists->no_pids);
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
	/* An ops may still ask; no CPU checks tasks. */
	if (!pid_has_lists(&lists))
		ftrace_pid_set_all(tr, FTRACE_PID_TRACE);
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

/*
 * Stops checking tasks for a trace array that is about to be freed: none of its files is open, and
 * it traces no functions. Until event_trace_del_tracer() has waited, a task switch may look at @tr
 * and its lists. ftrace_free_pids() frees the lists. event_mutex and trace_types_lock held.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	struct ftrace_pid_lists lists = pid_lists(tr);

	if (pid_has_lists(&lists))
		ftrace_pid_unhook(tr);
}

/*
 * Frees the pid filter of a trace array of which tasks are not checked any more. Takes
 * ftrace_lock.
 */
void ftrace_free_pids(struct trace_array *tr)
{
	struct ftrace_pid_lists lists = pid_lists(tr);
	struct ftrace_pid_lists none = { };

	scoped_guard(mutex, &ftrace_lock) {
		ftrace_pid_publish(tr, &none);
		ftrace_guard_put(tr->function_guard);
		tr->function_guard = NULL;
	}
	pid_free_lists(&lists);
}

/*
 * Updates the guards after tracing_cpumask changed. Without memory, the callbacks run on the CPUs
 * that are left out, too, and record nothing. Takes ftrace_lock.
 */
void ftrace_cpumask_changed(struct trace_array *tr)
{
	struct ftrace_pid_lists lists;

	if (ftrace_pid_make_guard(tr))
		return;
	guard(mutex)(&ftrace_lock);
	lists = ftrace_pid_lists(tr);
	if (pid_has_lists(&lists))
		ftrace_pid_check(tr);
	else
		ftrace_pid_set_all(tr, FTRACE_PID_TRACE);
	pid_update_ops(tr);
}

static struct ftrace_tasks *pid_tasks_of(const struct pid_file *f)
{
	struct ftrace_pid_lists lists = ftrace_pid_lists(f->tr);

	return f->type == TRACE_PIDS ? lists.pids : lists.no_pids;
}

/* Go to the first number from @from on: of threads, then of processes. */
static void *pid_find(struct pid_file *f, unsigned int from)
{
	const struct ftrace_tasks *tasks = pid_tasks_of(f);

	if (!f->in_tgids && !trace_pid_list_next(tasks->pids, from, &f->number))
		return f;
	if (!f->in_tgids)
		from = 0;
	f->in_tgids = true;
	return trace_pid_list_next(tasks->tgids, from, &f->number) ? NULL : f;
}

static void *pid_start(struct seq_file *m, loff_t *pos)
{
	struct pid_file *f = m->private;
	void *v;

	/* Held until pid_stop(), so that the list does not change. */
	mutex_lock(&ftrace_lock);
	if (!pid_tasks_of(f))
		return *pos ? NULL : SEQ_START_TOKEN;
	f->in_tgids = false;
	v = pid_find(f, 0);
	for (loff_t n = 0; v && n < *pos; n++)
		v = pid_find(f, f->number + 1);
	return v;
}

static void *pid_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct pid_file *f = m->private;

	++*pos;
	return v == SEQ_START_TOKEN ? NULL : pid_find(f, f->number + 1);
}

static void pid_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int pid_show(struct seq_file *m, void *v)
{
	const struct pid_file *f = m->private;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, "no pid\n");
	else
		seq_printf(m, f->in_tgids ? "tgid:%u\n" : "%u\n", f->number);
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

/* A copy of a list; NULL if the list is empty. */
static struct trace_pid_list *pid_copy_list(struct trace_pid_list *from)
{
	struct trace_pid_list *to;
	unsigned int number;
	int ret = 0;

	if (trace_pid_list_next(from, 0, &number))
		return NULL;
	to = trace_pid_list_alloc();
	if (!to)
		return ERR_PTR(-ENOMEM);
	do {
		ret = trace_pid_list_set(to, number);
	} while (!ret && !trace_pid_list_next(from, number + 1, &number));
	if (!ret)
		return to;
	trace_pid_list_free(to);
	return ERR_PTR(ret);
}

static int pid_copy_tasks(struct ftrace_tasks *to, const struct ftrace_tasks *from)
{
	struct trace_pid_list *list;

	list = pid_copy_list(from->pids);
	if (IS_ERR(list))
		return PTR_ERR(list);
	to->pids = list;
	list = pid_copy_list(from->tgids);
	if (IS_ERR(list))
		return PTR_ERR(list);
	to->tgids = list;
	return 0;
}

/* Add a number, or "tgid:" and a number. */
static int pid_add_word(struct ftrace_tasks *tasks, const char *word)
{
	size_t prefix = str_has_prefix(word, "tgid:");
	struct trace_pid_list **list = prefix ? &tasks->tgids : &tasks->pids;
	unsigned long number;
	int ret;

	if (kstrtoul(word + prefix, 0, &number))
		return -EINVAL;
	if (!*list)
		*list = trace_pid_list_alloc();
	if (!*list)
		return -ENOMEM;
	ret = trace_pid_list_set(*list, (pid_t)number);
	/* The number is too large. */
	return ret == -ENOMEM ? ret : ret ? -EPERM : 0;
}

/* Add all that the user wrote, separated by blanks. Returns how much was read. */
static ssize_t pid_add_words(struct ftrace_tasks *tasks, const char __user *ubuf, size_t cnt)
{
	struct trace_parser word;
	size_t done = 0;
	ssize_t ret = 0;

	if (trace_parser_get_init(&word, WORD_SIZE + 1))
		return -ENOMEM;
	while (done < cnt) {
		loff_t pos = 0;

		ret = trace_get_user(&word, ubuf + done, cnt - done, &pos);
		if (ret < 0)
			break;
		done += ret;
		/* Nothing but blanks is left. */
		if (!trace_parser_loaded(&word))
			break;
		ret = pid_add_word(tasks, word.buffer);
		if (ret)
			break;
		trace_parser_clear(&word);
	}
	trace_parser_put(&word);
	return ret < 0 ? ret : done;
}

/* Make a list of what the user wrote, and of what is in the list already. */
static ssize_t pid_add(struct pid_file *f, const char __user *ubuf, size_t cnt,
		       struct pid_left *left)
{
	struct ftrace_pid_lists new = pid_lists(f->tr);
	struct ftrace_tasks **list, *longer;
	ssize_t written;
	int ret = 0;

	longer = kzalloc(sizeof(*longer), GFP_KERNEL);
	if (!longer)
		return -ENOMEM;
	list = f->type == TRACE_PIDS ? &new.pids : &new.no_pids;
	/* A refused write does not change the list, even with O_TRUNC. */
	if (*list && !f->truncate)
		ret = pid_copy_tasks(longer, *list);
	written = ret ?: pid_add_words(longer, ubuf, cnt);
	if (written < 0 || (!longer->pids && !longer->tgids)) {
		pid_free_tasks(longer);
		longer = NULL;
	}
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

/* Creates the files of a trace array that choose tasks. */
void ftrace_init_tracefs(struct trace_array *tr, struct dentry *d_tracer)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, d_tracer, tr,
			  &pids_fops);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, d_tracer,
			  tr, &no_pids_fops);
}
