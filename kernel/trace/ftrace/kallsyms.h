/* SPDX-License-Identifier: GPL-2.0-only */
/* What others are told of trampolines and of freed functions. */
#ifndef _FTRACE_KALLSYMS_H
#define _FTRACE_KALLSYMS_H

struct ftrace_table;
struct ftrace_tramp;
struct module;

#define FTRACE_TRAMP_SYM	"ftrace_trampoline"

void ftrace_save_init_names(struct ftrace_table *t);
void ftrace_drop_init_names(struct module *mod);
void ftrace_keep_failed_names(struct module *mod);
void ftrace_drop_failed_names(unsigned long start, unsigned long end);
void ftrace_announce_tramp(const struct ftrace_tramp *tramp, bool gone);

#endif
