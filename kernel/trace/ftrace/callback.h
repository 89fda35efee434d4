/* SPDX-License-Identifier: GPL-2.0-only */
/* Callbacks: what trampolines call, and the wait until no task is in a callback. */
#ifndef _FTRACE_CALLBACK_H
#define _FTRACE_CALLBACK_H

#include <linux/ftrace_arch.h>
#include <linux/list.h>

/**
 * struct ftrace_callback - the part of a registered ops that belongs to the core
 * @count: counts the tasks that entered the callback and that left it; NULL if the
 *	memory of the ops is never freed
 * @slots: the slots of trampolines that call the callback
 * @nr_slots: number of slots
 * @nr_classes: number of classes that hold the ops
 * @nr_walks: number of arrays of callbacks that hold the ops, see walk.c
 * @users: number of slots of trampolines and of arrays that are not freed yet, plus one
 *	for the ops while it is registered or waited for
 * @off: the ops is removed: a walk does not call the callback
 * @asked: the ops of a direct caller: the last question that its owner agreed to, see
 *	ftrace_direct_agreed()
 * @seq: order of registration; younger ops are called first
 *
 * The callback stays longer than the ops: a task may still have to count itself out.
 */
struct ftrace_callback {
	struct ftrace_count __percpu	*count;
	struct list_head		slots;
	unsigned int			nr_slots;
	unsigned int			nr_classes;
	unsigned int			nr_walks;
	unsigned int			users;
	bool				off;
	unsigned int			asked;
	u64				seq;
};

bool ftrace_ops_trylock(struct ftrace_ops *ops);
int ftrace_callback_make(struct ftrace_ops *ops);
void ftrace_callback_put(struct ftrace_callback *cb);
void ftrace_callback_is_off(struct ftrace_callback *cb, unsigned int nr);
void ftrace_callback_shut(struct ftrace_callback *cb);
void ftrace_callback_drain(const struct ftrace_callback *cb, ftrace_func_t func);
void ftrace_wait_tramps(void);

/* counts.c: the counters of a callback */
struct ftrace_count __percpu *ftrace_count_get(void);
void ftrace_count_put(struct ftrace_count __percpu *count);

#endif
