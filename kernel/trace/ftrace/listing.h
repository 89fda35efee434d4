/* SPDX-License-Identifier: GPL-2.0-only */
/* Listing call sites with their names, a page at a time. */
#ifndef _FTRACE_LISTING_H
#define _FTRACE_LISTING_H

#include <linux/seq_file.h>

#include "names.h"
#include "table.h"

/**
 * struct ftrace_listing - a position in the list of sites, kept from read to read
 * @flags: FTRACE_ITER_*: which sites to list, and what to show of them
 * @hash: with FTRACE_ITER_FILTER or FTRACE_ITER_NOTRACE, only sites of this hash
 * @pos: number of the current line
 * @gen: ftrace_tables_gen when the position was found
 * @table: number of the table
 * @site: number of the site in the table
 * @names: the walk along the symbols of the table, if @walking
 * @walking: @names is in use
 * @held: between ftrace_listing_seek() and ftrace_listing_pause()
 */
struct ftrace_listing {
	int			flags;
	struct ftrace_hash	*hash;
	loff_t			pos;
	u64			gen;
	unsigned int		table;
	unsigned int		site;
	struct ftrace_names	names;
	bool			walking;
	bool			held;
};

bool ftrace_listing_seek(struct ftrace_listing *l, loff_t pos);
bool ftrace_listing_next(struct ftrace_listing *l);
void ftrace_listing_show(struct ftrace_listing *l, struct seq_file *m);
void ftrace_listing_pause(struct ftrace_listing *l);
void ftrace_listing_end(struct ftrace_listing *l);

#endif
