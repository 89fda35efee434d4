/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters of boot parameters. */
#ifndef _FTRACE_FILTER_API_H
#define _FTRACE_FILTER_API_H

#include <linux/types.h>

struct ftrace_filter;
struct trace_array;

void ftrace_early_append(char *words, size_t size, const char *more);
void ftrace_early_words(struct trace_array *tr);
void ftrace_early_set(const struct ftrace_filter *filter, char *words);
void ftrace_boot_filters(void);

#endif
