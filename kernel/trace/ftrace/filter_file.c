// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that hold a filter: set_ftrace_filter and set_ftrace_notrace of a trace array, and the
 * filter files of the stack tracer and of the graph tracer.
 *
 * The words that are written change a copy (filter_edit.c), which takes the place of the filter
 * when the file is closed. A refused word changes nothing. If no word was accepted, the filter
 * stays, even if the file was opened with O_TRUNC. Commands (`function:command') take effect as
 * soon as they are written.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "commands.h"
#include "core.h"
#include "filter_edit.h"
#include "filter_file.h"
#include "hash.h"
#include "listing.h"
#include "ops.h"
#include "probes.h"

/* Room for a symbol with offset, size and module, and for wildcards. */
#define WORD_MAX	(KSYM_SYMBOL_LEN + 4)

/**
 * struct filter_file - an open file
 * @lock: held during each write and close: not all callers of ->write() take turns. The
 *	members from @edit on are guarded by it, except @line and @probe
 * @listing: for reading
 * @edit: the filter that is shown, and the change as written so far; without a hash once the
 *	file was closed
 * @line: the current line of a reader: this word for a module
 * @probe: if @line is NULL, the current line is this command; both are valid while
 *	ftrace_lock is held
 * @parser: for writing
 * @truncate: opened with O_TRUNC
 * @changed: a word was accepted that changes the filter
 * @refused: a word was refused
 */
struct filter_file {
	struct mutex		lock;	/* the writers take turns */
	struct ftrace_listing	listing;
	struct ftrace_edit	edit;
	struct ftrace_mod_word	*line;
	struct ftrace_probe_iter probe;
	struct trace_parser	parser;
	bool			truncate;
	bool			changed;
	bool			refused;
};

static struct filter_file *filter_file_of(struct file *file)
{
	return ((struct seq_file *)file->private_data)->private;
}

/* After the functions come the words for modules, then the commands. */
static bool filter_file_first_probe(struct filter_file *f)
{
	f->line = NULL;
	return f->edit.filter.wanted && ftrace_probe_first(&f->probe, f->edit.filter.tr);
}

/* The next word that waits; words for modules that are loaded are shown as functions. */
static bool filter_file_next_line(struct filter_file *f)
{
	list_for_each_entry_continue(f->line, f->edit.filter.words, list)
		if (!f->line->text && !f->line->hidden)
			return true;
	return filter_file_first_probe(f);
}

static bool filter_file_first_extra(struct filter_file *f)
{
	struct list_head *words = f->edit.filter.words;

	if (!words)
		return false;
	f->line = list_entry(words, struct ftrace_mod_word, list);
	return filter_file_next_line(f);
}

static bool filter_file_next_extra(struct filter_file *f)
{
	return f->line ? filter_file_next_line(f) : ftrace_probe_next(&f->probe);
}

static bool filter_file_shows_header(struct filter_file *f)
{
	return ftrace_hash_empty(f->listing.hash);
}

/* Find line @pos: the header or the functions first, then the rest. */
static void *filter_file_line(struct filter_file *f, loff_t pos)
{
	loff_t before;
	bool there;

	if (filter_file_shows_header(f)) {
		if (!pos)
			return SEQ_START_TOKEN;
		before = 1;
	} else {
		if (ftrace_listing_seek(&f->listing, pos))
			return &f->listing;
		before = f->listing.pos;
	}
	for (there = filter_file_first_extra(f); there && before < pos; before++)
		there = filter_file_next_extra(f);
	return there ? f : NULL;
}

static void *filter_file_start(struct seq_file *m, loff_t *pos)
{
	struct filter_file *f = m->private;

	mutex_lock(&ftrace_lock);
	if (ftrace_killed())
		return NULL;
	f->listing.hash = ftrace_locked(*f->edit.filter.hash);
	return filter_file_line(f, *pos);
}

static void *filter_file_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct filter_file *f = m->private;

	++*pos;
	if (v == &f->listing && ftrace_listing_next(&f->listing))
		return v;
	return (v == f ? filter_file_next_extra(f) : filter_file_first_extra(f)) ? f : NULL;
}

static void filter_file_stop(struct seq_file *m, void *v)
{
	struct filter_file *f = m->private;

	ftrace_listing_pause(&f->listing);
	mutex_unlock(&ftrace_lock);
}

static int filter_file_show(struct seq_file *m, void *v)
{
	struct filter_file *f = m->private;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, f->edit.filter.wanted ? "#### all functions enabled ####\n" :
					       "#### no functions disabled ####\n");
	else if (v == &f->listing)
		ftrace_listing_show(&f->listing, m);
	else if (f->line)
		seq_printf(m, "%s:mod:%s\n", f->line->func, f->line->module);
	else
		return ftrace_probe_show(m, &f->probe);
	return 0;
}

static const struct seq_operations file_seq_ops = {
	.start	= filter_file_start,
	.next	= filter_file_next,
	.stop	= filter_file_stop,
	.show	= filter_file_show,
};

/* Apply the word that the parser holds; @f->lock held. */
static int filter_file_word(struct filter_file *f)
{
	struct ftrace_edit *edit = &f->edit;
	bool removes = f->parser.buffer[0] == '!';
	unsigned long before = edit->hash->count;
	int ret = ftrace_edit_word(edit, f->parser.buffer);

	/* The files of the graph tracer have always refused this, and those of an ops never. */
	if (!ret && removes && edit->filter.replace && edit->hash->count == before)
		ret = -EINVAL;
	trace_parser_clear(&f->parser);
	if (ret < 0) {
		f->refused = true;
		return ret;
	}
	/* With O_TRUNC a command, too, replaces the filter: by an empty one. */
	f->changed |= !ret || f->truncate;
	return 0;
}

/**
 * ftrace_filter_write - write to a file that holds a filter
 * @file: opened with ftrace_regex_open() or ftrace_filter_open()
 * @ubuf: what is written
 * @cnt: its length
 * @ppos: file position
 *
 * io_uring, for one, writes without the lock of the file position, and so at the same time as
 * others. A word that is written in pieces is right only if nobody else writes meanwhile.
 *
 * Context: Process context, may sleep.
 * Return: number of bytes taken, or -errno.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	struct filter_file *f = filter_file_of(file);
	ssize_t read;
	int ret;

	if (!cnt)
		return 0;
	if (ftrace_killed())
		return -ENODEV;
	guard(mutex)(&f->lock);
	/* After a word that was too long, the next bytes may be the rest of that word. */
	if (f->parser.fail)
		return -EINVAL;

	read = trace_get_user(&f->parser, ubuf, cnt, ppos);
	if (read < 0)
		f->refused = true;
	if (read >= 0 && trace_parser_loaded(&f->parser) &&
	    !trace_parser_cont(&f->parser)) {
		ret = filter_file_word(f);
		if (ret < 0)
			return ret;
	}
	return read;
}

static void filter_file_free(struct filter_file *f)
{
	trace_parser_put(&f->parser);
	ftrace_edit_end(&f->edit);
	kfree(f);
}

/* Without O_TRUNC, start from the filter that is in use. */
static int filter_file_begin(struct filter_file *f, const struct ftrace_filter *filter)
{
	if (!filter->ops)
		return ftrace_edit_begin(&f->edit, filter, f->truncate);
	/* While the lock is held, no word is being turned into functions. */
	guard(mutex)(&filter->ops->func_hash->regex_lock);
	return ftrace_edit_begin(&f->edit, filter, f->truncate);
}

/*
 * Opens a file that holds @filter, whose trace array ftrace_regex_release() puts. Takes
 * ftrace_lock.
 */
int ftrace_filter_open(struct file *file, const struct ftrace_filter *filter)
{
	struct filter_file *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int ret;

	if (!f)
		return -ENOMEM;
	mutex_init(&f->lock);
	f->listing.flags = filter->wanted ? FTRACE_ITER_FILTER : FTRACE_ITER_NOTRACE;
	f->edit.filter = *filter;
	f->edit.command = ftrace_run_command;
	INIT_LIST_HEAD(&f->edit.words);

	ret = trace_parser_get_init(&f->parser, WORD_MAX) ? -ENOMEM : 0;
	if (!ret && file->f_mode & FMODE_WRITE) {
		f->truncate = file->f_flags & O_TRUNC;
		ret = filter_file_begin(f, filter);
	}
	if (!ret)
		ret = seq_open(file, &file_seq_ops);
	if (ret) {
		filter_file_free(f);
		return ret;
	}
	((struct seq_file *)file->private_data)->private = f;
	/* A file that is only written is no sequence: pwrite() works. */
	if (!(file->f_mode & FMODE_READ))
		file->f_mode |= FMODE_PWRITE;
	return 0;
}

/*
 * Opens a file that holds the filter of an ops: the ops of @tr or, if @tr is NULL, @ops. @flag is
 * FTRACE_ITER_FILTER or FTRACE_ITER_NOTRACE. 0 or -errno.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	struct ftrace_filter filter;
	int ret;

	/* -ENODEV also if the machine is locked down: users know this error of this file. */
	if (tracing_check_open_get_tr(tr))
		return -ENODEV;
	/* The ops exists as long as we hold a reference to @tr. */
	if (tr)
		ops = tr->ops;

	ret = -ENODEV;
	if (!ftrace_killed()) {
		ftrace_ops_init(ops);
		if (!tr)
			ftrace_note_lone_ops(ops);
		filter = ftrace_filter_of(ops, flag & FTRACE_ITER_FILTER);
		ret = ftrace_filter_open(file, &filter);
	}
	if (ret && tr)
		trace_array_put(tr);
	return ret;
}

static int filter_file_apply(struct filter_file *f)
{
	struct ftrace_ops *ops = f->edit.filter.ops;

	if (!ops)
		return ftrace_edit_commit(&f->edit, 0);
	guard(mutex)(&ops->func_hash->regex_lock);
	return ftrace_edit_commit(&f->edit, 0);
}

/* Apply what was written. A second call does nothing. */
static int filter_file_finish(struct filter_file *f)
{
	int ret = 0;

	guard(mutex)(&f->lock);
	if (!f->edit.hash)
		return 0;
	/* The last word may lack a trailing blank. */
	if (trace_parser_loaded(&f->parser))
		ret = filter_file_word(f);
	/* A file that was opened with O_TRUNC and has no words is an empty filter. */
	if (f->changed || (f->truncate && !f->refused))
		ret = filter_file_apply(f) ?: ret;
	ftrace_edit_end(&f->edit);
	return ret;
}

/**
 * ftrace_set_flush - a descriptor of a file that holds a filter is closed
 * @file: the file
 * @id: not used
 *
 * When the last descriptor is closed, what was written is applied. This happens
 * here because errors that ftrace_regex_release() returns are lost.
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 * Return: 0, or the error of the last word or of the change of the filter.
 */
int ftrace_set_flush(struct file *file, fl_owner_t id)
{
	if (!(file->f_mode & FMODE_WRITE) || file_count(file) > 1)
		return 0;
	return filter_file_finish(filter_file_of(file));
}

/**
 * ftrace_regex_release - close a file that holds a filter, and apply what was written
 * @inode: inode of the file
 * @file: the file
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 * Return: 0.
 */
int ftrace_regex_release(struct inode *inode, struct file *file)
{
	struct filter_file *f = filter_file_of(file);

	if (file->f_mode & FMODE_WRITE)
		filter_file_finish(f);
	ftrace_listing_end(&f->listing);
	if (f->edit.filter.tr)
		trace_array_put(f->edit.filter.tr);
	filter_file_free(f);
	return seq_release(inode, file);
}

static int filter_file_open_filter(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_FILTER, inode, file);
}

static int filter_file_open_notrace(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_NOTRACE, inode, file);
}

static const struct file_operations filter_fops = {
	.open		= filter_file_open_filter,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.flush		= ftrace_set_flush,
	.release	= ftrace_regex_release,
};

static const struct file_operations notrace_fops = {
	.open		= filter_file_open_notrace,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.flush		= ftrace_set_flush,
	.release	= ftrace_regex_release,
};

/**
 * ftrace_create_filter_files - create the filter files of a trace array
 * @tr: the trace array
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr,
			  &filter_fops);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr,
			  &notrace_fops);
}
