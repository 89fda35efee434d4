/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function tracing of some tasks only: set_ftrace_pid, set_ftrace_notrace_pid.
 */
#ifndef _FTRACE_PID_H
#define _FTRACE_PID_H

#include <linux/ftrace.h>

extern struct trace_array ftrace_gone_array;

void ftrace_pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *op, struct ftrace_regs *fregs);
int ftrace_pid_change_func(struct ftrace_ops *ops, ftrace_func_t func);

#endif
