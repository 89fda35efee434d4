/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of the tasks in a callback. */
#ifndef _FTRACE_COUNTS_H
#define _FTRACE_COUNTS_H

#include <linux/ftrace_arch.h>

struct ftrace_count __percpu *ftrace_count_get(void);
void ftrace_count_put(struct ftrace_count __percpu *count);

#endif
