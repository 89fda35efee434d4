/* SPDX-License-Identifier: GPL-2.0-only */
/* Ops that run under another ops. */
#ifndef _FTRACE_SUBOPS_H
#define _FTRACE_SUBOPS_H

struct ftrace_ops;

int ftrace_subops_set_guard(struct ftrace_ops *ops);

#endif
