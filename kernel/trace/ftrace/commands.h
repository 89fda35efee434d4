/* SPDX-License-Identifier: GPL-2.0-only */
/* What a word that is written to a filter file does. */
#ifndef _FTRACE_COMMANDS_H
#define _FTRACE_COMMANDS_H

#include <linux/types.h>

struct ftrace_hash;
struct list_head;
struct trace_array;

/*
 * The entries of a stack trace above the traced function, if a callback calls
 * __trace_stack() and does not end with that call:
 *
 * - one entry of the recorder: with ORC __ftrace_trace_stack(), which does not
 *   discount itself; otherwise __trace_stack(), which is compiled without a tail call
 * - the callback
 * - the trampoline
 */
#define SKIP_TO_TRACED	3

void ftrace_init_commands(void);
int ftrace_filter_word(struct trace_array *tr, struct ftrace_hash *hash,
		       struct list_head *pending, char *word, bool enable);

#endif
