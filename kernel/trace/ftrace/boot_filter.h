/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters of the boot parameters. */
#ifndef _FTRACE_BOOT_FILTER_H
#define _FTRACE_BOOT_FILTER_H

#include <linux/types.h>

struct ftrace_hash;
struct list_head;
struct trace_array;

void ftrace_early_append(char *words, size_t size, const char *more);
void ftrace_early_pending(struct trace_array *tr);
struct ftrace_hash *ftrace_set_early_words(struct trace_array *tr, struct list_head *pending,
					   char *words, bool enable);
void ftrace_boot_filters(void);

#endif
