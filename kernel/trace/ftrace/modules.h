/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of sites are added and removed. */
#ifndef _FTRACE_MODULES_H
#define _FTRACE_MODULES_H

#include <linux/types.h>

struct module;

void ftrace_text_sort(unsigned long *ips, unsigned int nr);
unsigned int ftrace_text_convert(const unsigned long *ips, unsigned int nr,
				 unsigned long start, unsigned long end);
int ftrace_text_add(struct module *mod, unsigned long start, unsigned long end,
		    const unsigned long *ips, unsigned int nr, bool live);

/* heads.c: the sites of a module without a table */
unsigned long *ftrace_heads_convert(struct module *mod, unsigned int *nr);

#endif
