/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that hold a filter: reading, writing, applying. */
#ifndef _FTRACE_FILTER_FILE_H
#define _FTRACE_FILTER_FILE_H

#include <linux/fs.h>

struct ftrace_filter;

int ftrace_filter_open(struct file *file, const struct ftrace_filter *filter);

#endif
