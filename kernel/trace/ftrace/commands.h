/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that are written to a filter file. */
#ifndef _FTRACE_COMMANDS_H
#define _FTRACE_COMMANDS_H

#include <linux/types.h>

struct ftrace_edit;

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

int ftrace_run_command(struct ftrace_edit *edit, char *func, char *name, char *params);

/* probe_commands.c */
void ftrace_init_commands(void);

#endif
