/* SPDX-License-Identifier: GPL-2.0-only */
/* The call sites of a stretch of text. */
#ifndef _FTRACE_TEXT_H
#define _FTRACE_TEXT_H

#include <linux/types.h>

struct module;

void ftrace_text_sort(unsigned long *ips, unsigned int nr);
unsigned int ftrace_text_convert(const unsigned long *ips, unsigned int nr,
				 unsigned long start, unsigned long end);
int ftrace_text_add(struct module *mod, unsigned long start, unsigned long end,
		    const unsigned long *ips, unsigned int nr, bool live);
bool ftrace_text_free(struct module *mod, unsigned long start, unsigned long end, bool names);

/* heads.c: the sites of a module without a table */
unsigned long *ftrace_heads_convert(struct module *mod, unsigned int *nr);

#endif
