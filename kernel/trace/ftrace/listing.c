// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listing call sites with their names, a page at a time.
 *
 * The position in the tables and in the symbols is kept from one read to the next.
 * So a whole list is one walk along both, even if the buffer of the reader is small.
 * If tables were added or removed meanwhile, the position is searched again.
 */
#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "dispatch.h"
#include "kallsyms.h"
#include "listing.h"
#include "wants.h"

static bool listing_has(const struct ftrace_listing *l, const struct ftrace_table *t,
			const struct ftrace_site *site)
{
	if (l->flags & FTRACE_ITER_ENABLED)
		return site_class(site) || site->state & SITE_FAILED;
	if (l->flags & FTRACE_ITER_TOUCHED)
		return site->state & SITE_TOUCHED;
	if (l->flags & (FTRACE_ITER_FILTER | FTRACE_ITER_NOTRACE))
		return ftrace_lookup_ip(l->hash, site_ip(t, site));
	return true;
}

static void listing_end_walk(struct ftrace_listing *l)
{
	if (l->walking)
		ftrace_names_end(&l->names);
	l->walking = false;
}

/* Walk on from the current position to the first site that is listed. */
static bool listing_settle(struct ftrace_listing *l)
{
	struct ftrace_table *t;

	while ((t = ftrace_table_nth(l->table))) {
		for (; t->live && l->site < t->nr; l->site++)
			if (listing_has(l, t, &t->sites[l->site]))
				return true;
		listing_end_walk(l);
		l->table++;
		l->site = 0;
	}
	return false;
}

/**
 * ftrace_listing_next - go to the next line
 * @l: the listing
 *
 * Context: ftrace_lock held, after ftrace_listing_seek().
 * Return: false if there is no next line.
 */
bool ftrace_listing_next(struct ftrace_listing *l)
{
	lockdep_assert_held(&ftrace_lock);
	l->site++;
	l->pos++;
	return listing_settle(l);
}

/**
 * ftrace_listing_seek - go to a line
 * @l: the listing
 * @pos: number of the line
 *
 * The caller must call ftrace_listing_pause() before it drops the lock.
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: false if there is no such line.
 */
bool ftrace_listing_seek(struct ftrace_listing *l, loff_t pos)
{
	bool there;

	lockdep_assert_held(&ftrace_lock);
	l->held = true;
	if (pos < l->pos || l->gen != ftrace_tables_gen) {
		ftrace_listing_end(l);
		l->gen = ftrace_tables_gen;
		l->table = 0;
		l->site = 0;
		l->pos = 0;
	} else if (l->walking && !ftrace_names_resume(&l->names)) {
		/* The symbols have changed: a module has finished its init. */
		l->walking = false;
	}

	there = listing_settle(l);
	while (there && l->pos < pos)
		there = ftrace_listing_next(l);
	return there;
}

/**
 * ftrace_listing_pause - prepare a listing for the drop of ftrace_lock
 * @l: the listing
 *
 * Context: Process context. ftrace_lock held.
 */
void ftrace_listing_pause(struct ftrace_listing *l)
{
	lockdep_assert_held(&ftrace_lock);
	if (l->walking && l->held)
		ftrace_names_pause(&l->names);
	l->held = false;
}

/**
 * ftrace_listing_end - end a listing
 * @l: the listing, not between ftrace_listing_seek() and ftrace_listing_pause()
 */
void ftrace_listing_end(struct ftrace_listing *l)
{
	if (l->walking)
		ftrace_names_drop(&l->names);
	l->walking = false;
}

static void listing_show_name(struct ftrace_listing *l, struct seq_file *m,
			      struct ftrace_table *t, unsigned long ip)
{
	char *buf;

	if (!l->walking)
		l->walking = !ftrace_names_start(&l->names, t->mod, t->start, t->end);
	if (!l->walking || !ftrace_names_find(&l->names, ip)) {
		seq_printf(m, "%ps", (void *)ip);
		return;
	}
	/*
	 * Write the name into the buffer of the file. If the buffer is full, the
	 * whole line is printed again later.
	 */
	if (seq_get_buf(m, &buf) < FTRACE_NAME_ROOM) {
		seq_commit(m, -1);
		return;
	}
	seq_commit(m, ftrace_names_get(&l->names, buf));
	if (t->mod) {
		/* seq_printf() would take as long as the rest of the line. */
		seq_puts(m, " [");
		seq_puts(m, module_name(t->mod));
		seq_putc(m, ']');
	}
}

/* The columns of flags that tools parse; M stays after the first time. */
static void listing_show_flags(struct seq_file *m, const struct ftrace_site *site,
			       const struct ftrace_class *c)
{
	seq_printf(m, " (%u)%s%s%s  %s", c->nr,
		   ftrace_class_flag(c, FTRACE_OPS_FL_SAVE_REGS) ? " R" : "  ",
		   ftrace_class_flag(c, FTRACE_OPS_FL_IPMODIFY) ? " I" : "  ",
		   ftrace_class_flag(c, FTRACE_OPS_FL_DIRECT) ? " D" : "  ",
		   site->state & SITE_MODIFIED ? " M " : "   ");
}

/* The ops behind an ops of the graph tracer, as far as they want the function. */
static void listing_show_subs(struct seq_file *m, struct ftrace_ops *ops, unsigned long ip)
{
	const char *head = "\tsubops:";
	struct ftrace_ops *sub;

	list_for_each_entry(sub, &ops->subop_list, list) {
		if (!ftrace_ops_wants(sub, ip))
			continue;
		seq_puts(m, head);
		head = "";
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
		if (sub->flags & FTRACE_OPS_FL_GRAPH) {
			struct fgraph_ops *gops = container_of(sub, struct fgraph_ops, ops);

			seq_printf(m, " {ent:%pS ret:%pS}", gops->entryfunc, gops->retfunc);
			continue;
		}
#endif
		seq_printf(m, " {%pS}", sub->func);
	}
}

static void listing_show_class(struct seq_file *m, const struct ftrace_site *site,
			       unsigned long ip)
{
	const struct ftrace_class *c = ftrace_class_nth(site_class(site));

	listing_show_flags(m, site, c);
	if (site->state & SITE_FAILED) {
		seq_puts(m, "\tfailed: unexpected bytes");
	} else if (c->dispatch && c->nr == 1) {
		/*
		 * As on the other core, because tools split the line at blanks: the trampoline is
		 * one word, the callback follows, and with several callbacks there is neither.
		 */
		seq_printf(m, "\ttramp: " FTRACE_TRAMP_SYM "+0x0/0x%x (%pS)",
			   c->dispatch->tramp->size, c->ops[0]->func);
	}
	for (unsigned int i = 0; i < c->nr; i++) {
		struct ftrace_ops *ops = c->ops[i];

		/* If the callback is alone it was shown, and what is left is what calls it. */
		if (!(ops->flags & FTRACE_OPS_FL_DIRECT))
			seq_printf(m, " ->%pS", c->nr == 1 ? ftrace_ops_get_func(ops) : ops->func);
		listing_show_subs(m, ops, ip);
	}
	if (!c->nr)
		seq_printf(m, " ->%pS", ftrace_stub);
	if (c->direct)
		seq_printf(m, "\n\tdirect%s-->%pS", ftrace_is_jmp(c->direct) ? "(jmp)" : "",
			   (void *)ftrace_jmp_get(c->direct));
}

/**
 * ftrace_listing_show - print the current line
 * @l: the listing
 * @m: the file to print to
 *
 * Context: ftrace_lock held, after ftrace_listing_seek().
 */
void ftrace_listing_show(struct ftrace_listing *l, struct seq_file *m)
{
	struct ftrace_table *t = ftrace_table_nth(l->table);
	struct ftrace_site *site = &t->sites[l->site];
	unsigned long ip = site_ip(t, site);

	lockdep_assert_held(&ftrace_lock);
	if (l->flags & FTRACE_ITER_ADDRS)
		seq_printf(m, "%lx ", ip);
	listing_show_name(l, m, t, ip);
	if (l->flags & (FTRACE_ITER_ENABLED | FTRACE_ITER_TOUCHED))
		listing_show_class(m, site, ip);
	seq_putc(m, '\n');
}
