/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits for grace periods.
 *
 * A grace period can take seconds, and can wait for a task that waits for one of our locks: a
 * BPF program that sleeps is waited for by Tasks Trace, and attaches other programs. So a grace
 * period is waited for without the locks below, or by a work item that holds none.
 *
 * Each function that waits calls ftrace_assert_may_wait() first.
 */
#ifndef _FTRACE_WAIT_H
#define _FTRACE_WAIT_H

#include <linux/lockdep.h>
#include <linux/rcupdate.h>

#include "core.h"
#include "ipmodify.h"

/**
 * ftrace_assert_may_wait - check that the caller holds no lock that a grace period can depend on
 *
 * After ftrace_kill() some owners have no other way, and nothing works any more.
 *
 * Context: Process context, may sleep.
 */
static inline void ftrace_assert_may_wait(void)
{
	might_sleep();
	if (ftrace_killed())
		return;
	lockdep_assert_not_held(&event_mutex);
	lockdep_assert_not_held(&trace_types_lock);
	lockdep_assert_not_held(&direct_mutex);
	lockdep_assert_not_held(&ftrace_lock);
}

/**
 * ftrace_wait_rcu - wait for tasks that look something up with preemption off
 *
 * Context: Process context, may sleep. No lock of ftrace_assert_may_wait() held.
 */
static inline void ftrace_wait_rcu(void)
{
	ftrace_assert_may_wait();
	synchronize_rcu();
}

#endif
