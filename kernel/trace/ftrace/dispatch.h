/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sites of a class call: a trampoline, and the slots in it. */
#ifndef _FTRACE_DISPATCH_H
#define _FTRACE_DISPATCH_H

#include <linux/ftrace_arch.h>
#include <linux/list.h>

struct ftrace_callback;
struct ftrace_flight;
struct ftrace_table;
struct ftrace_walk;
struct ftrace_walker;

/*
 * A trampoline has this many slots at most. If a class has more ops, one slot walks them, and goes
 * on to do so until half as many are left. So ops that come and go do not change what all sites
 * call each time.
 */
#define FTRACE_MAX_SLOTS	64
#define FTRACE_MIN_WALK		(FTRACE_MAX_SLOTS / 2)

/**
 * struct ftrace_slot - one slot of a trampoline
 * @list: in &ftrace_callback.slots, until the slot is switched off
 * @callback: what the slot calls; NULL if it calls ftrace_walk_func()
 * @guard: what turns tasks away before the slot; NULL if there is nothing
 * @flight: what the slot records in; NULL if it calls a callback
 * @dispatch: the trampoline of the slot
 */
struct ftrace_slot {
	struct list_head	list;
	struct ftrace_callback	*callback;
	struct ftrace_guard	*guard;
	struct ftrace_flight	*flight;
	struct ftrace_dispatch	*dispatch;
};

/**
 * struct ftrace_dispatch - what the sites of a class call: a trampoline and its slots
 * @tramp: the trampoline
 * @dead: in the list of trampolines that no site calls any more
 * @walker: if slot 0 calls ftrace_walk_func(): what it passes; otherwise NULL
 * @nr: number of slots
 * @slot: the slots
 */
struct ftrace_dispatch {
	struct ftrace_tramp	*tramp;
	struct list_head	dead;
	struct ftrace_walker	*walker;
	unsigned int		nr;
	struct ftrace_slot	slot[] __counted_by(nr);
};

struct ftrace_dispatch *ftrace_dispatch_make(struct ftrace_ops *const *ops, unsigned int nr,
					     unsigned long direct, struct ftrace_walk *walk);
bool ftrace_dispatch_fits(const struct ftrace_dispatch *dispatch, struct ftrace_ops *const *ops,
			  unsigned int nr);
void ftrace_dispatch_set_walk(struct ftrace_dispatch *dispatch, struct ftrace_walk *walk);
void ftrace_dispatch_retire(struct ftrace_dispatch *dispatch);
void ftrace_thunks_retire(struct ftrace_table *t);
void ftrace_dispatches_wait(void);
bool ftrace_dispatches_full(void);

#endif
