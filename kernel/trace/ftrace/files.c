// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control files of the top directory that list call sites.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/security.h>

#include "core.h"
#include "graph_files.h"
#include "listing.h"
#include "profile.h"

static void *listing_start(struct seq_file *m, loff_t *pos)
{
	struct ftrace_listing *l = m->private;

	mutex_lock(&ftrace_lock);
	if (ftrace_killed())
		return NULL;
	return ftrace_listing_seek(l, *pos) ? l : NULL;
}

static void *listing_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ftrace_listing_next(v) ? v : NULL;
}

static void listing_stop(struct seq_file *m, void *v)
{
	ftrace_listing_pause(m->private);
	mutex_unlock(&ftrace_lock);
}

static int listing_show(struct seq_file *m, void *v)
{
	ftrace_listing_show(v, m);
	return 0;
}

static const struct seq_operations list_seq_ops = {
	.show	= listing_show,
	.start	= listing_start,
	.stop	= listing_stop,
	.next	= listing_next,
};

static int listing_open(struct inode *inode, struct file *file)
{
	unsigned long flags = (unsigned long)inode->i_private;
	struct ftrace_listing *l;
	int ret;

	if (ftrace_killed())
		return -ENODEV;
	/* Also on a locked down machine, an admin may see which functions are traced. */
	if (!(flags & (FTRACE_ITER_ENABLED | FTRACE_ITER_TOUCHED))) {
		ret = security_locked_down(LOCKDOWN_TRACEFS);
		if (ret)
			return ret;
	}
	l = __seq_open_private(file, &list_seq_ops, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->flags = flags;
	return 0;
}

static int listing_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	ftrace_listing_end(m->private);
	return seq_release_private(inode, file);
}

static const struct file_operations list_fops = {
	.open		= listing_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= listing_release,
};

static const struct {
	const char	*name;
	unsigned long	flags;
} lists[] = {
	{ "available_filter_functions", 0 },
	{ "available_filter_functions_addrs", FTRACE_ITER_ADDRS },
	{ "enabled_functions", FTRACE_ITER_ENABLED },
	{ "touched_functions", FTRACE_ITER_TOUCHED },
};

/* Creates the files that exist only in the top directory. */
void __init ftrace_init_tracefs_toplevel(struct trace_array *tr, struct dentry *d_tracer)
{
	for (int i = 0; i < ARRAY_SIZE(lists); i++)
		trace_create_file(lists[i].name, TRACE_MODE_READ, d_tracer,
				  (void *)lists[i].flags, &list_fops);
	ftrace_create_filter_files(tr, d_tracer);
	ftrace_graph_tracefs(d_tracer);
	ftrace_profile_tracefs(d_tracer);
}
