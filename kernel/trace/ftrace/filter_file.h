/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that hold a set of functions: reading, writing, applying. */
#ifndef _FTRACE_FILTER_FILE_H
#define _FTRACE_FILTER_FILE_H

#include "ftrace_internal.h"

int ftrace_process_word(struct trace_array *tr, struct ftrace_hash *hash,
			char *word, bool enable);

#endif
