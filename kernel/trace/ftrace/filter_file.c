// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that hold a set of functions: set_ftrace_filter and set_ftrace_notrace
 * of a trace array, those of the stack tracer and of the graph tracer.
 *
 * What is written is collected with the open file, the filters that wait for
 * modules too, and takes the place of the set when the file is closed. A word
 * that is refused leaves it as it was; if none was accepted, so is the set,
 * truncated or not. Commands (`function:command') take effect as they are written.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "filter_file.h"
#include "core.h"
#include "listing.h"
#include "probes.h"

/* As long as a symbol that is printed with all that belongs to it, and wildcards. */
#define WORD_MAX	(KSYM_SYMBOL_LEN + 4)

/**
 * struct filter_file - an open file
 * @set: the set that is shown, and replaced
 * @listing: for reading
 * @written: what has been written
 * @waits: what has been written that waits for modules; of a set with a trace array
 * @wait: the line at hand is this filter that waits for a module
 * @probe: or, if @wait is NULL, this command; both while the lock is held
 * @parser: for writing
 * @truncate: opened to be overwritten
 * @accepted: a word was accepted
 * @dirty: @written or @waits has not been applied yet
 * @refused: a word was refused
 */
struct filter_file {
	struct ftrace_set	set;
	struct ftrace_listing	listing;
	struct ftrace_hash	*written;
	struct list_head	waits;
	struct ftrace_mod_load	*wait;
	struct ftrace_probe_iter probe;
	struct trace_parser	parser;
	bool			truncate;
	bool			accepted;
	bool			dirty;
	bool			refused;
};

static struct filter_file *file_of(struct file *file)
{
	return ((struct seq_file *)file->private_data)->private;
}

static bool is_filter(const struct filter_file *f)
{
	return f->listing.flags & FTRACE_ITER_FILTER;
}

/* Filters in use that wait for modules. */
static struct list_head *file_waits(struct filter_file *f)
{
	return f->set.tr ? ftrace_mod_waits(f->set.tr, is_filter(f)) : NULL;
}

/* What comes after the functions: filters that wait for modules, then commands. */
static bool first_probe(struct filter_file *f)
{
	f->wait = NULL;
	return is_filter(f) && ftrace_probe_first(&f->probe, f->set.tr);
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
	f->listing.hash = rcu_dereference_protected(*f->set.hash, true);
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

/* `function:mod:module', `!' before it to take it back. */
static int process_mod(struct ftrace_hash *hash, struct list_head *waits, char *func,
		       char *module)
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
		if (ret >= 0 && waits && !ftrace_mod_wait_del(waits, glob, module))
			ret = 1;
	} else {
		ret = ftrace_hash_match(hash, match, module);
		/* One that is named, not some or all but one of those that are. */
		if (!ret && waits && *module && !strpbrk(module, "!*?[\\") &&
		    !ftrace_mod_is_there(module))
			ret = ftrace_mod_wait_add(waits, glob, module) ?: 1;
	}
	kfree(match);
	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/**
 * ftrace_process_word - take in one word that was written to a set of functions
 * @tr: the trace array, NULL if there is none
 * @hash: the set that functions go to
 * @waits: where filters go that wait for modules, NULL if they cannot
 * @word: the word; changed
 * @enable: true: functions wanted; false: those not wanted
 *
 * Return: 0; 1 if it was a command, which does not change the set; -EINVAL for
 * what makes no sense or names no function; -ENOMEM; or what a command says.
 * Context: may sleep; takes ftrace_lock.
 */
int ftrace_process_word(struct trace_array *tr, struct ftrace_hash *hash,
			struct list_head *waits, char *word, bool enable)
{
	char *params = word, *func = strsep(&params, ":"), *command;
	int ret;

	if (params) {
		command = strsep(&params, ":");
		if (strcmp(command, "mod"))
			return ftrace_run_command(tr, hash, func, command, params,
						  enable) ?: 1;
		if (params)
			return process_mod(hash, waits, func, params);
	}

	ret = func[0] == '!' ? ftrace_hash_unmatch(hash, func + 1, NULL) :
			       ftrace_hash_match(hash, func, NULL);
	return ret < 0 ? ret : ret ? 0 : -EINVAL;
}

/* The word that the parser holds. */
static int file_word(struct filter_file *f)
{
	int ret = ftrace_process_word(f->set.tr, f->written, f->set.tr ? &f->waits : NULL,
				      f->parser.buffer, is_filter(f));

	trace_parser_clear(&f->parser);
	if (ret < 0) {
		f->refused = true;
		return ret;
	}
	f->accepted = true;
	/* A command overwrites the functions, if the file was opened for that. */
	f->dirty |= !ret || f->truncate;
	return 0;
}

/**
 * ftrace_filter_write - write to a file that holds a set of functions
 * @file: opened with ftrace_regex_open() or ftrace_set_open()
 * @ubuf: what is written
 * @cnt: its length
 * @ppos: file position
 *
 * Return: bytes taken, or -errno.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	struct filter_file *f = file_of(file);
	ssize_t read;
	int ret;

	if (!cnt)
		return 0;
	if (unlikely(ftrace_disabled))
		return -ENODEV;
	/* What comes behind a word that was too long may be the rest of it. */
	if (f->parser.fail)
		return -EINVAL;

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

static void file_free(struct filter_file *f)
{
	trace_parser_put(&f->parser);
	ftrace_hash_free(f->written);
	ftrace_mod_wait_free(&f->waits);
	kfree(f);
}

static int copy_filter(struct filter_file *f)
{
	int ret = 0;

	guard(mutex)(&ftrace_lock);
	f->written = ftrace_hash_dup(rcu_dereference_protected(*f->set.hash, true));
	if (!f->written)
		return -ENOMEM;
	if (f->set.tr)
		ret = ftrace_mod_wait_copy(&f->waits, file_waits(f));
	/* Else it says that all functions of the filter have gone. */
	if (!list_empty(&f->waits))
		f->written->flags &= ~FTRACE_HASH_FL_MOD;
	return ret;
}

/* What is written to a file begins with what it holds, unless that is overwritten. */
static int file_begin(struct filter_file *f)
{
	if (f->truncate) {
		f->written = ftrace_hash_alloc();
		return f->written ? 0 : -ENOMEM;
	}
	/* No filter is on its way from those that wait to the functions. */
	guard(mutex)(f->set.lock);
	return copy_filter(f);
}

/**
 * ftrace_set_open - open a file that holds a set of functions
 * @file: the file
 * @set: the set; ftrace_regex_release() puts its trace array
 *
 * Return: 0, or -errno.
 * Context: may sleep; takes ftrace_lock.
 */
int ftrace_set_open(struct file *file, const struct ftrace_set *set)
{
	struct filter_file *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int ret;

	if (!f)
		return -ENOMEM;
	f->set = *set;
	f->listing.flags = set->flag;
	INIT_LIST_HEAD(&f->waits);

	ret = trace_parser_get_init(&f->parser, WORD_MAX) ? -ENOMEM : 0;
	if (!ret && file->f_mode & FMODE_WRITE) {
		f->truncate = file->f_flags & O_TRUNC;
		ret = file_begin(f);
	}
	if (!ret)
		ret = seq_open(file, &file_seq_ops);
	if (ret) {
		file_free(f);
		return ret;
	}
	((struct seq_file *)file->private_data)->private = f;
	return 0;
}

/**
 * ftrace_regex_open - open a file that holds the filter of an ops
 * @tr: the trace array whose ops it is, NULL if it is nobody's
 * @ops: then the ops
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
	struct ftrace_set set = { .tr = tr, .flag = flag };
	struct ftrace_ops_hash *filter;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	/* It is there for as long as we hold @tr. */
	if (tr)
		ops = tr->ops;

	ret = -ENODEV;
	if (likely(!ftrace_disabled)) {
		ftrace_ops_init(ops);
		filter = ops->func_hash;
		set.ops = ops;
		set.lock = &filter->regex_lock;
		set.hash = flag & FTRACE_ITER_FILTER ? &filter->filter_hash :
						       &filter->notrace_hash;
		ret = ftrace_set_open(file, &set);
	}
	if (ret && tr)
		trace_array_put(tr);
	return ret;
}

/* Functions that have gone with their module since the file was opened. */
static void drop_gone(struct filter_file *f)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	struct ftrace_table *t;
	int i;

	for_each_ftrace_entry(f->written, entry, tmp, i) {
		if (ftrace_find_site(entry->ip, &t))
			continue;
		ftrace_hash_del(f->written, entry);
		/* The filter was for these functions, and is not for all now. */
		f->written->flags |= FTRACE_HASH_FL_MOD;
	}
}

static int replace_filter(struct filter_file *f)
{
	struct list_head *waits = file_waits(f);
	LIST_HEAD(old);
	int ret;

	guard(mutex)(f->set.lock);
	guard(mutex)(&ftrace_lock);

	if (f->written->count)
		f->written->flags &= ~FTRACE_HASH_FL_MOD;
	if (!list_empty(&f->waits))
		f->written->flags |= FTRACE_HASH_FL_MOD;
	drop_gone(f);
	ret = ftrace_ops_update_hash(f->set.ops, f->set.hash, f->written, is_filter(f));
	if (!ret && waits) {
		list_splice_init(waits, &old);
		list_splice_init(&f->waits, waits);
		ftrace_mod_wait_free(&old);
	}
	return ret;
}

static int file_apply(struct filter_file *f)
{
	int ret;

	f->dirty = false;
	if (f->set.replace) {
		f->set.replace(f->set.hash, f->written);
		f->written = NULL;
		return 0;
	}
	ret = replace_filter(f);
	if (!ret && f->set.tr)
		ftrace_mod_wait_over(f->set.tr, is_filter(f));
	return ret;
}

/* Once it has been done there is nothing left to do. */
static int file_finish(struct filter_file *f)
{
	int ret = 0;

	/* The last word may have no blank behind it. */
	if (trace_parser_loaded(&f->parser))
		ret = file_word(f);
	if (f->truncate && !f->accepted && !f->refused)
		f->dirty = true;
	f->truncate = false;
	if (f->dirty)
		ret = file_apply(f) ?: ret;
	return ret;
}

/**
 * ftrace_set_flush - a descriptor of a file that holds a set of functions is closed
 * @file: the file
 * @id: of no use here
 *
 * What was written applies with the last one, and here, for what
 * ftrace_regex_release() returns is lost.
 *
 * Return: 0, or what became of the last word or of the set.
 * Context: may sleep; takes ftrace_lock.
 */
int ftrace_set_flush(struct file *file, fl_owner_t id)
{
	if (!(file->f_mode & FMODE_WRITE) || file_count(file) > 1)
		return 0;
	return file_finish(file_of(file));
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
	struct filter_file *f = file_of(file);

	if (file->f_mode & FMODE_WRITE)
		file_finish(f);
	ftrace_listing_end(&f->listing);
	if (f->set.tr)
		trace_array_put(f->set.tr);
	file_free(f);
	return seq_release(inode, file);
}

static int filter_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_FILTER, inode, file);
}

static int notrace_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_NOTRACE, inode, file);
}

static const struct file_operations filter_fops = {
	.open		= filter_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.flush		= ftrace_set_flush,
	.release	= ftrace_regex_release,
};

static const struct file_operations notrace_fops = {
	.open		= notrace_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.flush		= ftrace_set_flush,
	.release	= ftrace_regex_release,
};

/**
 * ftrace_create_filter_files - make the filter files of a trace array
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

/**
 * ftrace_destroy_filter_files - the filter files of a trace array have gone
 * @ops: its ops, which may still be registered
 *
 * Context: may sleep; takes ftrace_lock.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;
	bool wait = false;

	scoped_guard(mutex, &ftrace_lock) {
		if (ops->flags & FTRACE_OPS_FL_ENABLED)
			wait = !ftrace_ops_stop(ops);
		ops->flags |= FTRACE_OPS_FL_DELETED;
		ftrace_mod_wait_free(ftrace_mod_waits(tr, true));
		ftrace_mod_wait_free(ftrace_mod_waits(tr, false));
	}
	if (wait)
		ftrace_ops_stop_wait(ops);
	/* After ftrace_kill() it is still called. */
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		ftrace_free_filter(ops);
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
		if (*word && ftrace_process_word(ops->private, hash, NULL, word, enable) < 0)
			pr_warn("ftrace: boot parameter: no function `%s'\n", word);
	}
	scoped_guard(mutex, &ftrace_lock)
		ftrace_ops_update_hash(ops, orig, hash, enable);
	ftrace_hash_free(hash);
}
