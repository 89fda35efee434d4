/* SPDX-License-Identifier: GPL-2.0-only */
/* Guards: words that turn tasks away before a callback. */
#ifndef _FTRACE_GUARDS_H
#define _FTRACE_GUARDS_H

#include <linux/ftrace_arch.h>
#include <linux/percpu.h>

struct ftrace_guard *ftrace_guard_make(int skip);
struct ftrace_guard *ftrace_guard_get(struct ftrace_guard *guard);
void ftrace_guard_put(struct ftrace_guard *guard);

/* Does the guard of a callback, if there is one, turn the task away? */
static __always_inline bool ftrace_guard_skips(const struct ftrace_guard *guard)
{
	return guard && !guard->skipped && this_cpu_read(*guard->word) == guard->skip;
}

#endif
