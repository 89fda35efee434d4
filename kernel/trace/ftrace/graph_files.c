// SPDX-License-Identifier: GPL-2.0-only
/*
 * set_graph_function and set_graph_notrace: the functions where a graph starts, and
 * the functions that are left out together with all that they call.
 *
 * The graph tracer looks into these filters at the entry of each function, so a
 * change replaces the filter.
 */
#include <linux/fs.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/workqueue.h>

#include <asm/setup.h>

#include "callback.h"
#include "core.h"
#include "filter_api.h"
#include "filter_edit.h"
#include "filter_file.h"
#include "graph_files.h"
#include "hash.h"

struct ftrace_hash __rcu *ftrace_graph_hash;
struct ftrace_hash __rcu *ftrace_graph_notrace_hash;

static struct ftrace_hash __rcu **graph_hash(bool unwanted)
{
	return unwanted ? &ftrace_graph_notrace_hash : &ftrace_graph_hash;
}

/* Filters that were replaced, and that the graph tracer may still be reading. */
static LLIST_HEAD(graph_old);

static void graph_free_old(struct work_struct *work)
{
	struct llist_node *node, *next, *old = llist_del_all(&graph_old);

	/* The graph tracer may read a filter where RCU does not watch. */
	ftrace_wait_tramps();
	llist_for_each_safe(node, next, old)
		ftrace_hash_free(container_of((struct callback_head *)node, struct ftrace_hash,
					      rcu));
}

static DECLARE_WORK(graph_old_work, graph_free_old);

/*
 * Give the graph tracer another filter; ftrace_lock held. A work item frees the old filter,
 * because the grace periods can take seconds. Nobody reads the RCU head of a filter, so the list
 * uses it.
 */
static void graph_replace(struct ftrace_hash __rcu **orig, struct ftrace_hash *new)
{
	struct ftrace_hash *old;

	lockdep_assert_held(&ftrace_lock);
	BUILD_BUG_ON(sizeof(struct llist_node) > sizeof(old->rcu));
	old = rcu_replace_pointer(*orig, new, lockdep_is_held(&ftrace_lock));
	if (!old)
		return;
	llist_add((struct llist_node *)&old->rcu, &graph_old);
	/* At boot there is no workqueue, but no filter either. */
	queue_work(system_dfl_wq, &graph_old_work);
}

static struct ftrace_filter graph_filter(bool unwanted)
{
	return (struct ftrace_filter){
		.hash = graph_hash(unwanted), .wanted = !unwanted, .replace = graph_replace };
}

static int graph_open(struct inode *inode, struct file *file)
{
	struct ftrace_filter filter = graph_filter(inode->i_private);
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (ret)
		return ret;
	if (ftrace_killed())
		return -ENODEV;
	return ftrace_filter_open(file, &filter);
}

static const struct file_operations graph_fops = {
	.open		= graph_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.flush		= ftrace_set_flush,
	.release	= ftrace_regex_release,
};

/* Creates the files of the two sets. */
void __init ftrace_graph_tracefs(struct dentry *d_tracer)
{
	trace_create_file("set_graph_function", TRACE_MODE_WRITE, d_tracer,
			  (void *)0UL, &graph_fops);
	trace_create_file("set_graph_notrace", TRACE_MODE_WRITE, d_tracer,
			  (void *)1UL, &graph_fops);
}

static char graph_param[COMMAND_LINE_SIZE] __initdata;
static char graph_notrace_param[COMMAND_LINE_SIZE] __initdata;

static int __init graph_set_filter_param(char *str)
{
	ftrace_early_append(graph_param, sizeof(graph_param), str);
	return 1;
}
__setup("ftrace_graph_filter=", graph_set_filter_param);

static int __init graph_set_notrace_param(char *str)
{
	ftrace_early_append(graph_notrace_param, sizeof(graph_notrace_param), str);
	return 1;
}
__setup("ftrace_graph_notrace=", graph_set_notrace_param);

static int __init graph_set_max_depth_param(char *str)
{
	return !kstrtouint(str, 0, &fgraph_max_depth);
}
__setup("ftrace_graph_max_depth=", graph_set_max_depth_param);

/* Applies the boot parameters that set them. */
void __init ftrace_graph_early_filters(void)
{
	struct ftrace_filter wanted = graph_filter(false), unwanted = graph_filter(true);

	if (graph_param[0])
		ftrace_early_set(&wanted, graph_param);
	if (graph_notrace_param[0])
		ftrace_early_set(&unwanted, graph_notrace_param);
}
