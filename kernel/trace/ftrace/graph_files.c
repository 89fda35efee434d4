// SPDX-License-Identifier: GPL-2.0-only
/*
 * set_graph_function and set_graph_notrace: where a graph starts, and what is
 * left out of it together with all that it calls.
 *
 * The graph tracer looks into these sets at the entry of each function, so a
 * change replaces the set.
 */
#include <linux/fs.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <asm/setup.h>

#include "ftrace_internal.h"
#include "graph_files.h"
#include "listing.h"

struct ftrace_hash __rcu *ftrace_graph_hash;
struct ftrace_hash __rcu *ftrace_graph_notrace_hash;

/* Serialises changes; taken before ftrace_lock. */
static DEFINE_MUTEX(graph_lock);

/**
 * struct graph_file - an open file
 * @unwanted: set_graph_notrace, not set_graph_function
 * @listing: for reading
 * @parser: for writing
 * @set: what has been written
 * @truncate: opened to be overwritten
 * @accepted: a word was accepted
 * @refused: a word was refused
 */
struct graph_file {
	bool			unwanted;
	struct ftrace_listing	listing;
	struct trace_parser	parser;
	struct ftrace_hash	*set;
	bool			truncate;
	bool			accepted;
	bool			refused;
};

static struct ftrace_hash __rcu **graph_hash(bool unwanted)
{
	return unwanted ? &ftrace_graph_notrace_hash : &ftrace_graph_hash;
}

static void *graph_start(struct seq_file *m, loff_t *pos)
{
	struct graph_file *g = m->private;

	mutex_lock(&graph_lock);
	mutex_lock(&ftrace_lock);
	g->listing.hash = rcu_dereference_protected(*graph_hash(g->unwanted), true);
	if (ftrace_hash_empty(g->listing.hash))
		return *pos ? NULL : SEQ_START_TOKEN;
	return ftrace_listing_seek(&g->listing, *pos) ? &g->listing : NULL;
}

static void *graph_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return v != SEQ_START_TOKEN && ftrace_listing_next(v) ? v : NULL;
}

static void graph_stop(struct seq_file *m, void *v)
{
	struct graph_file *g = m->private;

	ftrace_listing_pause(&g->listing);
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&graph_lock);
}

static int graph_show(struct seq_file *m, void *v)
{
	struct graph_file *g = m->private;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, g->unwanted ? "#### no functions disabled ####\n" :
					 "#### all functions enabled ####\n");
	else
		ftrace_listing_show(v, m);
	return 0;
}

static const struct seq_operations graph_seq_ops = {
	.start	= graph_start,
	.next	= graph_next,
	.stop	= graph_stop,
	.show	= graph_show,
};

/* Put what a word names into a set, or take it out. */
static int graph_word(struct ftrace_hash *set, char *word)
{
	int ret = word[0] == '!' ? ftrace_hash_unmatch(set, word + 1, NULL) :
				   ftrace_hash_match(set, word, NULL);

	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/* Takes @set, or a copy of the same size, into use. */
static int graph_apply(struct ftrace_hash *set, bool unwanted)
{
	struct ftrace_hash *new = NULL, *old;

	if (set->count) {
		new = ftrace_hash_dup(set);
		if (!new)
			return -ENOMEM;
	}
	scoped_guard(mutex, &graph_lock)
		old = rcu_replace_pointer(*graph_hash(unwanted), new, true);

	/* Looked into where RCU may not be watching. */
	ftrace_wait_callbacks();
	ftrace_hash_free(old);
	return 0;
}

static int graph_open(struct inode *inode, struct file *file)
{
	struct graph_file *g;
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (ret)
		return ret;
	if (unlikely(ftrace_disabled))
		return -ENODEV;

	g = kzalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	g->unwanted = inode->i_private;
	g->listing.flags = FTRACE_ITER_FILTER;
	g->truncate = file->f_flags & O_TRUNC;

	ret = -ENOMEM;
	if (file->f_mode & FMODE_WRITE) {
		if (trace_parser_get_init(&g->parser, KSYM_NAME_LEN))
			goto fail;
		scoped_guard(mutex, &graph_lock)
			g->set = ftrace_hash_dup(g->truncate ? NULL :
				rcu_dereference_protected(*graph_hash(g->unwanted), true));
		if (!g->set)
			goto fail;
	}
	ret = seq_open(file, &graph_seq_ops);
	if (ret)
		goto fail;
	((struct seq_file *)file->private_data)->private = g;
	return 0;

fail:
	trace_parser_put(&g->parser);
	ftrace_hash_free(g->set);
	kfree(g);
	return ret;
}

static int graph_take_word(struct graph_file *g)
{
	int ret = graph_word(g->set, g->parser.buffer);

	trace_parser_clear(&g->parser);
	if (ret)
		g->refused = true;
	else
		g->accepted = true;
	return ret;
}

static ssize_t graph_write(struct file *file, const char __user *ubuf, size_t cnt,
			   loff_t *ppos)
{
	struct graph_file *g = ((struct seq_file *)file->private_data)->private;
	ssize_t read;
	int ret;

	if (!cnt)
		return 0;
	read = trace_get_user(&g->parser, ubuf, cnt, ppos);
	if (read < 0)
		g->refused = true;
	if (read >= 0 && trace_parser_loaded(&g->parser) &&
	    !trace_parser_cont(&g->parser)) {
		ret = graph_take_word(g);
		if (ret)
			return ret;
	}
	return read;
}

static int graph_release(struct inode *inode, struct file *file)
{
	struct graph_file *g = ((struct seq_file *)file->private_data)->private;
	int ret = 0;

	if (file->f_mode & FMODE_WRITE) {
		if (trace_parser_loaded(&g->parser))
			graph_take_word(g);
		if (g->accepted || (g->truncate && !g->refused))
			ret = graph_apply(g->set, g->unwanted);
		trace_parser_put(&g->parser);
		ftrace_hash_free(g->set);
	}
	ftrace_listing_end(&g->listing);
	kfree(g);
	seq_release(inode, file);
	return ret;
}

static const struct file_operations graph_fops = {
	.open		= graph_open,
	.read		= seq_read,
	.write		= graph_write,
	.llseek		= tracing_lseek,
	.release	= graph_release,
};

/**
 * ftrace_graph_tracefs - make the files
 * @d_tracer: the top directory
 */
void __init ftrace_graph_tracefs(struct dentry *d_tracer)
{
	trace_create_file("set_graph_function", TRACE_MODE_WRITE, d_tracer,
			  (void *)0UL, &graph_fops);
	trace_create_file("set_graph_notrace", TRACE_MODE_WRITE, d_tracer,
			  (void *)1UL, &graph_fops);
}

static char graph_param[COMMAND_LINE_SIZE] __initdata;
static char graph_notrace_param[COMMAND_LINE_SIZE] __initdata;

static int __init set_graph_param(char *str)
{
	strscpy(graph_param, str);
	return 1;
}
__setup("ftrace_graph_filter=", set_graph_param);

static int __init set_graph_notrace_param(char *str)
{
	strscpy(graph_notrace_param, str);
	return 1;
}
__setup("ftrace_graph_notrace=", set_graph_notrace_param);

static int __init set_graph_max_depth_param(char *str)
{
	return !kstrtouint(str, 0, &fgraph_max_depth);
}
__setup("ftrace_graph_max_depth=", set_graph_max_depth_param);

static void __init early_filter(char *words, bool unwanted)
{
	struct ftrace_hash *set = ftrace_hash_alloc();
	char *word;

	if (!set)
		return;
	while ((word = strsep(&words, ",")))
		if (*word && graph_word(set, word))
			pr_warn("ftrace: boot parameter: no function `%s'\n", word);
	graph_apply(set, unwanted);
	ftrace_hash_free(set);
}

/**
 * ftrace_graph_early_filters - apply the boot parameters
 */
void __init ftrace_graph_early_filters(void)
{
	if (graph_param[0])
		early_filter(graph_param, false);
	if (graph_notrace_param[0])
		early_filter(graph_notrace_param, true);
}
