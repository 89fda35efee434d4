/* SPDX-License-Identifier: GPL-2.0-only */
/* Function tracing of some tasks only: pid.c checks tasks, pid_files.c changes the filter. */
#ifndef _FTRACE_PID_H
#define _FTRACE_PID_H

#include <linux/ftrace.h>

struct ftrace_guard;
struct trace_array;
struct trace_pid_list;

/**
 * struct ftrace_tasks - the tasks that a user has listed
 * @pids: the numbers of threads; NULL if there are none
 * @tgids: the numbers of processes, which stand for all their threads; NULL if there are none
 */
struct ftrace_tasks {
	struct trace_pid_list	*pids;
	struct trace_pid_list	*tgids;
};

/**
 * struct ftrace_pid_lists - the pid filter of a trace array
 * @pids: the tasks to trace; NULL for all tasks
 * @no_pids: the tasks not to trace; NULL for no task
 */
struct ftrace_pid_lists {
	struct ftrace_tasks	*pids;
	struct ftrace_tasks	*no_pids;
};

extern struct trace_array ftrace_gone_array;

void ftrace_pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *op, struct ftrace_regs *fregs);
struct ftrace_pid_lists ftrace_pid_lists(struct trace_array *tr);
void ftrace_pid_publish(struct trace_array *tr, const struct ftrace_pid_lists *lists);
struct ftrace_guard *ftrace_pid_guard(struct ftrace_ops *ops);
int ftrace_pid_make_guard(struct trace_array *tr);
int ftrace_pid_hook(struct trace_array *tr);
void ftrace_pid_set_all(struct trace_array *tr, int verdict);
void ftrace_pid_check(struct trace_array *tr);
void ftrace_pid_unhook(struct trace_array *tr);

/* pid_files.c */
int ftrace_pid_change_func(struct ftrace_ops *ops, ftrace_func_t func);
void ftrace_free_pids(struct trace_array *tr);

#endif
