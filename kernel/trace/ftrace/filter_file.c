// SPDX-License-Identifier: GPL-2.0-only
/*
 * set_ftrace_filter and set_ftrace_notrace: the functions that a trace array, or
 * the stack tracer, is for.
 *
 * What is written is collected in a set of the open file, which takes the place
 * of the filter when the file is closed. A word that is refused leaves it as it
 * was; if none was accepted, so is the filter, truncated or not. Commands
 * (`function:command') take effect as they are written.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "filter_file.h"
#include "ftrace_internal.h"
#include "listing.h"
#include "probes.h"

#define WORD_MAX	512

/**
 * struct filter_file - an open filter file
 * @tr: whose, NULL for the stack tracer's
 * @ops: the ops with the filter
 * @listing: for reading
 * @set: what has been written
 * @wait: the line at hand is this filter that waits for a module
 * @probe: or, if @wait is NULL, this command; both while the lock is held
 * @parser: for writing
 * @truncate: opened to be overwritten
 * @accepted: a word was accepted
 * @dirty: and has not been applied yet
 * @refused: a word was refused
 */
struct filter_file {
	struct trace_array	*tr;
	struct ftrace_ops	*ops;
	struct ftrace_listing	listing;
	struct ftrace_hash	*set;
	struct ftrace_mod_load	*wait;
	struct ftrace_probe_iter probe;
	struct trace_parser	parser;
	bool			truncate;
	bool			accepted;
	bool			dirty;
	bool			refused;
};

static bool is_filter(const struct filter_file *f)
{
	return f->listing.flags & FTRACE_ITER_FILTER;
}

static struct ftrace_hash __rcu **file_hash(struct filter_file *f)
{
	struct ftrace_ops_hash *hash = f->ops->func_hash;

	return is_filter(f) ? &hash->filter_hash : &hash->notrace_hash;
}

static struct list_head *file_waits(struct filter_file *f)
{
	if (!f->tr)
		return NULL;
	return is_filter(f) ? &f->tr->mod_trace : &f->tr->mod_notrace;
}

/* What comes after the functions: filters that wait for modules, then commands. */
static bool first_probe(struct filter_file *f)
{
	f->wait = NULL;
	return is_filter(f) && ftrace_probe_first(&f->probe, f->tr);
}

static bool first_extra(struct filter_file *f)
{
	struct list_head *waits = file_waits(f);

	if (!waits)
		return false;
	f->wait = list_first_entry_or_null(waits, struct ftrace_mod_load, list);
	return f->wait || first_probe(f);
}

static bool next_extra(struct filter_file *f)
{
	if (!f->wait)
		return ftrace_probe_next(&f->probe);
	if (list_is_last(&f->wait->list, file_waits(f)))
		return first_probe(f);
	f->wait = list_next_entry(f->wait, list);
	return true;
}

static bool shows_header(struct filter_file *f)
{
	return ftrace_hash_empty(f->listing.hash);
}

/* The line at hand: the header or the functions, then the rest. */
static void *file_line(struct filter_file *f, loff_t pos)
{
	loff_t before;
	bool there;

	if (shows_header(f)) {
		if (!pos)
			return SEQ_START_TOKEN;
		before = 1;
	} else {
		if (ftrace_listing_seek(&f->listing, pos))
			return &f->listing;
		before = f->listing.pos;
	}
	for (there = first_extra(f); there && before < pos; before++)
		there = next_extra(f);
	return there ? f : NULL;
}

static void *file_start(struct seq_file *m, loff_t *pos)
{
	struct filter_file *f = m->private;

	mutex_lock(&ftrace_lock);
	if (unlikely(ftrace_disabled))
		return NULL;
	f->listing.hash = rcu_dereference_protected(*file_hash(f), true);
	return file_line(f, *pos);
}

static void *file_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct filter_file *f = m->private;

	++*pos;
	if (v == &f->listing && ftrace_listing_next(&f->listing))
		return v;
	return (v == f ? next_extra(f) : first_extra(f)) ? f : NULL;
}

static void file_stop(struct seq_file *m, void *v)
{
	struct filter_file *f = m->private;

	ftrace_listing_pause(&f->listing);
	mutex_unlock(&ftrace_lock);
}

static int file_show(struct seq_file *m, void *v)
{
	struct filter_file *f = m->private;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, is_filter(f) ? "#### all functions enabled ####\n" :
					   "#### no functions disabled ####\n");
	else if (v == &f->listing)
		ftrace_listing_show(&f->listing, m);
	else if (f->wait)
		seq_printf(m, "%s:mod:%s\n", f->wait->func, f->wait->module);
	else
		return ftrace_probe_show(m, &f->probe);
	return 0;
}

static const struct seq_operations file_seq_ops = {
	.start	= file_start,
	.next	= file_next,
	.stop	= file_stop,
	.show	= file_show,
};

/* Nothing to wait for: either it is, or all but one of those that are. */
static bool module_is_there(const char *module)
{
#ifdef CONFIG_MODULES
	guard(preempt)();
	return module[0] == '!' || find_module(module);
#else
	return true;
#endif
}

/* `function:mod:module', `!' before it to take it back. */
static int process_mod(struct trace_array *tr, struct ftrace_hash *hash, char *func,
		       char *module, bool enable)
{
	bool del = func[0] == '!';
	char *glob, *match;
	int ret;

	glob = func + del;
	match = kstrdup(glob, GFP_KERNEL);
	if (!match)
		return -ENOMEM;
	if (del) {
		ret = ftrace_hash_unmatch(hash, match, module);
		if (tr && !ftrace_mod_wait_del(tr, glob, module, enable) && !ret)
			ret = 1;
	} else {
		ret = ftrace_hash_match(hash, match, module);
		if (!ret && tr && !module_is_there(module)) {
			ret = ftrace_mod_wait_add(tr, glob, module, enable);
			if (!ret) {
				hash->flags |= FTRACE_HASH_FL_MOD;
				ret = 1;
			}
		}
	}
	kfree(match);
	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/**
 * ftrace_process_word - take in one word that was written to a filter
 * @tr: the trace array, NULL if there is none
 * @hash: the set that functions go to
 * @word: the word; changed
 * @enable: true: functions wanted; false: those not wanted
 *
 * Return: 0; -EINVAL for what makes no sense or names no function; -ENOMEM; or
 * what a command says.
 * Context: may sleep; takes ftrace_lock.
 */
int ftrace_process_word(struct trace_array *tr, struct ftrace_hash *hash,
			char *word, bool enable)
{
	char *params = word, *func = strsep(&params, ":"), *command;
	int ret;

	if (params) {
		command = strsep(&params, ":");
		if (strcmp(command, "mod"))
			return ftrace_run_command(tr, hash, func, command, params, enable);
		if (params)
			return process_mod(tr, hash, func, params, enable);
	}

	ret = func[0] == '!' ? ftrace_hash_unmatch(hash, func + 1, NULL) :
			       ftrace_hash_match(hash, func, NULL);
	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/* The word that the parser holds. */
static int file_word(struct filter_file *f)
{
	bool first = f->truncate && !f->accepted;
	unsigned long before = f->set->count, flags = f->set->flags;
	LIST_HEAD(old);
	int ret;

	/* What waited for modules goes with what is overwritten, or comes back. */
	if (first)
		ftrace_mod_wait_swap(file_waits(f), &old);
	ret = ftrace_process_word(f->tr, f->set, f->parser.buffer, is_filter(f));
	if (first && ret)
		ftrace_mod_wait_swap(file_waits(f), &old);
	ftrace_mod_wait_free(&old);

	trace_parser_clear(&f->parser);
	if (ret)
		f->refused = true;
	else
		f->accepted = true;
	/* A command changes no functions, unless it overwrites some. */
	f->dirty |= !ret && (f->truncate || f->set->count != before ||
			     f->set->flags != flags);
	return ret;
}

static ssize_t file_write(struct file *file, const char __user *ubuf, size_t cnt,
			  loff_t *ppos)
{
	struct filter_file *f;
	ssize_t read;
	int ret;

	if (!cnt)
		return 0;
	f = file->f_mode & FMODE_READ ?
		((struct seq_file *)file->private_data)->private : file->private_data;
	if (unlikely(ftrace_disabled))
		return -ENODEV;

	read = trace_get_user(&f->parser, ubuf, cnt, ppos);
	if (read < 0)
		f->refused = true;
	if (read >= 0 && trace_parser_loaded(&f->parser) &&
	    !trace_parser_cont(&f->parser)) {
		ret = file_word(f);
		if (ret < 0)
			return ret;
	}
	return read;
}

/**
 * ftrace_filter_write - write to a file of functions wanted
 * @file: opened with ftrace_regex_open()
 * @ubuf: what is written
 * @cnt: its length
 * @ppos: file position
 *
 * Return: bytes taken, or -errno.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	return file_write(file, ubuf, cnt, ppos);
}

/**
 * ftrace_notrace_write - write to a file of functions not wanted
 * @file: opened with ftrace_regex_open()
 * @ubuf: what is written
 * @cnt: its length
 * @ppos: file position
 *
 * Return: bytes taken, or -errno.
 */
ssize_t ftrace_notrace_write(struct file *file, const char __user *ubuf, size_t cnt,
			     loff_t *ppos)
{
	return file_write(file, ubuf, cnt, ppos);
}

static void file_free(struct filter_file *f)
{
	trace_parser_put(&f->parser);
	ftrace_hash_free(f->set);
	if (f->tr)
		trace_array_put(f->tr);
	kfree(f);
}

/**
 * ftrace_regex_open - open a file of functions
 * @tr: the trace array, NULL if there is none
 * @ops: the ops whose filter it is
 * @flag: FTRACE_ITER_FILTER or FTRACE_ITER_NOTRACE
 * @inode: of the file
 * @file: the file
 *
 * Return: 0, or -errno.
 * Context: may sleep.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	struct filter_file *f;
	int ret;

	ftrace_ops_init(ops);
	if (unlikely(ftrace_disabled))
		return -ENODEV;
	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f || trace_parser_get_init(&f->parser, WORD_MAX)) {
		kfree(f);
		if (tr)
			trace_array_put(tr);
		return -ENOMEM;
	}
	f->tr = tr;
	f->ops = ops;
	f->listing.flags = flag;

	if (file->f_mode & FMODE_WRITE) {
		struct ftrace_hash *old;

		f->truncate = file->f_flags & O_TRUNC;
		scoped_guard(mutex, &ftrace_lock) {
			old = rcu_dereference_protected(*file_hash(f), true);
			f->set = ftrace_hash_dup(f->truncate ? NULL : old);
		}
		if (!f->set) {
			file_free(f);
			return -ENOMEM;
		}
		file->private_data = f;
	}
	if (file->f_mode & FMODE_READ) {
		file->private_data = NULL;
		ret = seq_open(file, &file_seq_ops);
		if (ret) {
			file_free(f);
			return ret;
		}
		((struct seq_file *)file->private_data)->private = f;
	}
	return 0;
}

static int file_apply(struct filter_file *f)
{
	struct list_head *waits = file_waits(f);
	struct ftrace_hash *set = f->set;

	guard(mutex)(&f->ops->func_hash->regex_lock);
	guard(mutex)(&ftrace_lock);

	set->flags &= ~FTRACE_HASH_FL_MOD;
	if (waits && !list_empty(waits))
		set->flags |= FTRACE_HASH_FL_MOD;
	f->dirty = false;
	return ftrace_ops_update_hash(f->ops, file_hash(f), set, is_filter(f));
}

/**
 * ftrace_regex_release - close a file of functions; what was written applies
 * @inode: of the file
 * @file: the file
 *
 * Return: 0.
 * Context: may sleep; takes ftrace_lock.
 */
int ftrace_regex_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct filter_file *f = file->private_data;

	if (file->f_mode & FMODE_READ)
		f = m->private;

	if (file->f_mode & FMODE_WRITE) {
		/* The last word may have no blank behind it. */
		if (trace_parser_loaded(&f->parser))
			file_word(f);
		if (f->truncate && !f->accepted && !f->refused)
			ftrace_mod_wait_clear(f->tr, is_filter(f));
		if (f->dirty || (f->truncate && !f->accepted && !f->refused))
			file_apply(f);
	}

	if (file->f_mode & FMODE_READ)
		ftrace_listing_end(&f->listing);
	file_free(f);
	return file->f_mode & FMODE_READ ? seq_release(inode, file) : 0;
}

/* close() tells what became of the words written; ftrace_regex_release() cannot. */
static int file_flush(struct file *file, fl_owner_t id)
{
	struct filter_file *f = file->f_mode & FMODE_READ ?
		((struct seq_file *)file->private_data)->private : file->private_data;
	int ret = 0;

	/* Only the last close() of a descriptor that was duplicated. */
	if (!(file->f_mode & FMODE_WRITE) || file_count(file) > 1)
		return 0;
	if (trace_parser_loaded(&f->parser))
		ret = file_word(f);
	if (f->dirty)
		ret = file_apply(f) ?: ret;
	return ret;
}

static int filter_open(struct inode *inode, struct file *file)
{
	struct ftrace_ops *ops = inode->i_private;

	return ftrace_regex_open(ops->private, ops, FTRACE_ITER_FILTER, inode, file);
}

static int notrace_open(struct inode *inode, struct file *file)
{
	struct ftrace_ops *ops = inode->i_private;

	return ftrace_regex_open(ops->private, ops, FTRACE_ITER_NOTRACE, inode, file);
}

static const struct file_operations filter_fops = {
	.open		= filter_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.flush		= file_flush,
	.release	= ftrace_regex_release,
};

static const struct file_operations notrace_fops = {
	.open		= notrace_open,
	.read		= seq_read,
	.write		= ftrace_notrace_write,
	.llseek		= tracing_lseek,
	.flush		= file_flush,
	.release	= ftrace_regex_release,
};

/**
 * ftrace_create_filter_files - make the filter files of a trace array
 * @tr: the trace array
 * @parent: its directory
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr->ops,
			  &filter_fops);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr->ops,
			  &notrace_fops);
}

/**
 * ftrace_destroy_filter_files - the filter files of a trace array have gone
 * @ops: its ops, which may still be registered
 *
 * Context: may sleep; takes ftrace_lock.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;

	scoped_guard(mutex, &ftrace_lock) {
		if (ops->flags & FTRACE_OPS_FL_ENABLED)
			ftrace_shutdown(ops);
		ops->flags |= FTRACE_OPS_FL_DELETED;
	}
	ftrace_free_filter(ops);
	if (tr) {
		ftrace_mod_wait_clear(tr, true);
		ftrace_mod_wait_clear(tr, false);
	}
}

/**
 * ftrace_init_trace_array - set up the lists of a new trace array
 * @tr: the trace array
 */
void ftrace_init_trace_array(struct trace_array *tr)
{
	INIT_LIST_HEAD(&tr->func_probes);
	INIT_LIST_HEAD(&tr->mod_trace);
	INIT_LIST_HEAD(&tr->mod_notrace);
}

/**
 * ftrace_set_early_filter - set a filter from a boot parameter
 * @ops: the ops
 * @buf: words with commas between them; changed
 * @enable: functions wanted, or not wanted
 *
 * Context: boot.
 */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable)
{
	struct ftrace_ops_hash *filter;
	struct ftrace_hash __rcu **orig;
	struct ftrace_hash *hash = ftrace_hash_alloc();
	char *word;

	ftrace_ops_init(ops);
	filter = ops->func_hash;
	orig = enable ? &filter->filter_hash : &filter->notrace_hash;
	if (!hash)
		return;

	while (buf) {
		word = strsep(&buf, ",");
		if (*word && ftrace_process_word(ops->private, hash, word, enable))
			pr_warn("ftrace: boot parameter: no function `%s'\n", word);
	}
	scoped_guard(mutex, &ftrace_lock)
		ftrace_ops_update_hash(ops, orig, hash, enable);
	ftrace_hash_free(hash);
}
