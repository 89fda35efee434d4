/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks: how the trampoline of a class with many ops calls them. */
#ifndef _FTRACE_WALK_H
#define _FTRACE_WALK_H

#include <linux/ftrace.h>
#include <linux/list.h>

struct ftrace_callback;
struct ftrace_flight;
struct ftrace_guard;

/**
 * struct ftrace_walk_call - one callback of a walk
 * @func: the function to call
 * @ops: the third argument of the function
 * @callback: counts the tasks in the function, and knows whether the ops is removed
 * @guard: what turns tasks away before the function; NULL if there is nothing
 * @flight: what the function records in; NULL if it does not record
 */
struct ftrace_walk_call {
	ftrace_func_t		func;
	struct ftrace_ops	*ops;
	struct ftrace_callback	*callback;
	struct ftrace_guard	*guard;
	struct ftrace_flight	*flight;
};

/**
 * struct ftrace_walk - the callbacks of a class with many ops
 * @dead: in the list of walks that no trampoline goes through any more
 * @nr: number of callbacks; grows with ftrace_lock held, read in any context
 * @room: how many there is room for
 * @call: the callbacks, the oldest first; the last is called first. What is there never changes
 */
struct ftrace_walk {
	struct list_head	dead;
	unsigned int		nr;
	unsigned int		room;
	struct ftrace_walk_call	call[] __counted_by(room);
};

/**
 * struct ftrace_walker - what a trampoline passes to ftrace_walk_func()
 * @ops: the trampoline passes this one; @ops is not registered
 * @walk: the callbacks; replaced as a whole with ftrace_lock held, read in any context
 * @regs: the trampoline saves all registers
 */
struct ftrace_walker {
	struct ftrace_ops	ops;
	struct ftrace_walk __rcu *walk;
	bool			regs;
};

struct ftrace_walk *ftrace_walk_make(struct ftrace_ops *const *ops, unsigned int nr);
bool ftrace_walk_serves(const struct ftrace_walk *walk, struct ftrace_ops *const *ops,
			unsigned int nr, const struct ftrace_callback *removed);
void ftrace_walk_append(struct ftrace_walk *walk, struct ftrace_ops *const *ops, unsigned int nr);
void ftrace_walk_free(struct ftrace_walk *walk);
void ftrace_walk_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs);

#endif
