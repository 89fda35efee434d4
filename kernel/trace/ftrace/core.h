/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the locks of the core, and what all its files need. What fgraph.c needs
 * of the core is in ../ftrace_internal.h, which both cores share.
 *
 * Locks are taken in this order:
 *
 *	filter_file.lock, event_mutex, trace_types_lock, probe_mutex, direct_mutex,
 *	ftrace_ops_hash.regex_lock, ftrace_lock, module_mutex or the CPU
 *	hotplug lock, text_mutex
 *
 * pid_mutex is taken before ftrace_lock only.
 *
 * ftrace_lock guards the tables, the classes, the list of ops and their contents,
 * and every change of a call site.
 */
#ifndef _FTRACE_CORE_H
#define _FTRACE_CORE_H

#include <linux/ftrace_arch.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/trace_seq.h>

#include "../ftrace_internal.h"
#include "../trace.h"

extern int ftrace_disabled;

/* Has ftrace_kill() been called? It may be called in any context. */
static inline bool ftrace_killed(void)
{
	return unlikely(READ_ONCE(ftrace_disabled));
}

/* Get a pointer that only changes with ftrace_lock held; the caller holds it. */
#define ftrace_locked(p) rcu_dereference_protected(p, lockdep_is_held(&ftrace_lock))

/* In a loop that may be long, let other tasks run from time to time; @n counts the rounds. */
static inline void ftrace_yield(unsigned int n)
{
	/* A round takes some tens of ns, so 4096 rounds take well below a millisecond. */
	if (n % 4096 == 4095)
		cond_resched();
}

#endif
