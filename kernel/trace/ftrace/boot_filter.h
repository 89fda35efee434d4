/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters of the boot parameters. */
#ifndef _FTRACE_BOOT_FILTER_H
#define _FTRACE_BOOT_FILTER_H

#include <linux/types.h>

struct ftrace_set;
struct trace_array;

void ftrace_early_append(char *words, size_t size, const char *more);
void ftrace_early_pending(struct trace_array *tr);
void ftrace_early_set(const struct ftrace_set *set, char *words);
void ftrace_boot_filters(void);

#endif
