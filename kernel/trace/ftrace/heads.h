/* SPDX-License-Identifier: GPL-2.0-only */
/* The call sites of a module that has no table of call sites. */
#ifndef _FTRACE_HEADS_H
#define _FTRACE_HEADS_H

struct module;

unsigned long *ftrace_heads_convert(struct module *mod, unsigned int *nr);

#endif
