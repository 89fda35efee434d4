// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listing call sites with their names, a page at a time.
 *
 * The place in the tables and in the symbols is kept from one read to the next,
 * so that a whole list is one walk along both, however small the reader's
 * buffer. If tables have come or gone meanwhile, the place is found anew.
 */
#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "listing.h"

static bool listed(const struct ftrace_listing *l, const struct ftrace_table *t,
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

static void end_walk(struct ftrace_listing *l)
{
	if (l->walking)
		ftrace_names_end(&l->names);
	l->walking = false;
}

/* On to the first site that is listed, from the place at hand. */
static bool settle(struct ftrace_listing *l)
{
	struct ftrace_table *t;

	while ((t = ftrace_table_nth(l->table))) {
		for (; t->live && l->site < t->nr; l->site++)
			if (listed(l, t, &t->sites[l->site]))
				return true;
		end_walk(l);
		l->table++;
		l->site = 0;
	}
	return false;
}

/**
 * ftrace_listing_next - on to the next line
 * @l: the listing
 *
 * Return: false if there is none.
 * Context: ftrace_lock held, after ftrace_listing_seek().
 */
bool ftrace_listing_next(struct ftrace_listing *l)
{
	l->site++;
	l->pos++;
	return settle(l);
}

/**
 * ftrace_listing_seek - go to a line
 * @l: the listing
 * @pos: number of the line
 *
 * Return: false if there is no such line.
 * Context: ftrace_lock held; may sleep. ftrace_listing_pause() is due before
 * the lock is dropped.
 */
bool ftrace_listing_seek(struct ftrace_listing *l, loff_t pos)
{
	bool there;

	l->held = true;
	if (pos < l->pos || l->gen != ftrace_tables_gen) {
		ftrace_listing_end(l);
		l->gen = ftrace_tables_gen;
		l->table = 0;
		l->site = 0;
		l->pos = 0;
	} else if (l->walking && !ftrace_names_resume(&l->names)) {
		/* The symbols have changed: a module is done with its init. */
		l->walking = false;
	}

	there = settle(l);
	while (there && l->pos < pos)
		there = ftrace_listing_next(l);
	return there;
}

/**
 * ftrace_listing_pause - the lock is about to be dropped
 * @l: the listing
 */
void ftrace_listing_pause(struct ftrace_listing *l)
{
	if (l->walking && l->held)
		ftrace_names_pause(&l->names);
	l->held = false;
}

/**
 * ftrace_listing_end - the listing is over
 * @l: the listing, not between ftrace_listing_seek() and ftrace_listing_pause()
 */
void ftrace_listing_end(struct ftrace_listing *l)
{
	if (l->walking)
		ftrace_names_drop(&l->names);
	l->walking = false;
}

static void show_name(struct ftrace_listing *l, struct seq_file *m,
		      struct ftrace_table *t, unsigned long ip)
{
	char *buf;

	if (!l->walking)
		l->walking = !ftrace_names_start(&l->names, t);
	if (!l->walking || !ftrace_names_find(&l->names, ip)) {
		seq_printf(m, "%ps", (void *)ip);
		return;
	}
	/* Straight to where it goes; the whole line is done again if that is full. */
	if (seq_get_buf(m, &buf) < FTRACE_NAME_ROOM) {
		seq_commit(m, -1);
		return;
	}
	seq_commit(m, ftrace_names_get(&l->names, buf));
	if (t->mod) {
		/* A format would take as long as all the rest of the line. */
		seq_puts(m, " [");
		seq_puts(m, module_name(t->mod));
		seq_putc(m, ']');
	}
}

/* The columns of flags that tools know; M stays once it was there. */
static void show_flags(struct seq_file *m, const struct ftrace_site *site,
		       const struct ftrace_class *c)
{
	seq_printf(m, " (%u)%s%s%s  %s", c->nr,
		   ftrace_class_flag(c, FTRACE_OPS_FL_SAVE_REGS) ? " R" : "  ",
		   ftrace_class_flag(c, FTRACE_OPS_FL_IPMODIFY) ? " I" : "  ",
		   ftrace_class_flag(c, FTRACE_OPS_FL_DIRECT) ? " D" : "  ",
		   site->state & SITE_MODIFIED ? " M " : "   ");
}

static void show_class(struct seq_file *m, const struct ftrace_site *site)
{
	const struct ftrace_class *c = ftrace_class_nth(site_class(site));
	unsigned long direct = 0;

	show_flags(m, site, c);
	if (site->state & SITE_FAILED) {
		seq_puts(m, "\tfailed: unexpected bytes");
	} else if (c->caller) {
		seq_printf(m, "\ttramp: %pS", (void *)c->caller->tramp->addr);
		if (c->nr == 1)
			seq_printf(m, " (%pS)", ftrace_ops_get_func(c->ops[0]));
	}
	for (unsigned int i = 0; i < c->nr; i++) {
		if (c->ops[i]->flags & FTRACE_OPS_FL_DIRECT)
			direct = ftrace_direct_of(c->ops[i]);
		else
			seq_printf(m, " ->%pS", c->ops[i]->func);
	}
	if (!c->nr)
		seq_printf(m, " ->%pS", ftrace_stub);
	if (direct)
		seq_printf(m, "\n\tdirect-->%pS", (void *)direct);
}

/**
 * ftrace_listing_show - print the line at hand
 * @l: the listing
 * @m: where to
 *
 * Context: ftrace_lock held, after ftrace_listing_seek().
 */
void ftrace_listing_show(struct ftrace_listing *l, struct seq_file *m)
{
	struct ftrace_table *t = ftrace_table_nth(l->table);
	struct ftrace_site *site = &t->sites[l->site];
	unsigned long ip = site_ip(t, site);

	if (l->flags & FTRACE_ITER_ADDRS)
		seq_printf(m, "%lx ", ip);
	show_name(l, m, t, ip);
	if (l->flags & (FTRACE_ITER_ENABLED | FTRACE_ITER_TOUCHED))
		show_class(m, site);
	seq_putc(m, '\n');
}
