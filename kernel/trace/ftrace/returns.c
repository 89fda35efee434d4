// SPDX-License-Identifier: GPL-2.0-only
/*
 * The returns of recorded calls: the thunks of sites, and the stacks of tasks.
 *
 * A thunk calls the function, so that it learns of the return. While the function runs, the address
 * of the caller is in an entry of the stack of the task, with the place at which it was. Only the
 * task writes to its stack, and what interrupts it takes off what it has put there. So entries need
 * no lock. The unwinder of another task reads what is there at the moment, as it does anyway.
 *
 * A task keeps its stack to its end: it may sleep in a function when the recorder stops.
 */
#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "core.h"
#include "flight.h"
#include "table.h"

/* A ring that is switched off, for thunks that have no recorder. */
static DEFINE_PER_CPU(struct ftrace_flight_cpu, no_ring) = { .off = 1 };

/* The rings of the recorder that has returns, by whether they are timed; read in windows. */
struct ftrace_flight_cpu __percpu *ftrace_flight_returns[2] = { &no_ring, &no_ring };

/* Words of a guard, for thunks that have no recorder. */
static DEFINE_PER_CPU(int, no_word);

/*
 * The words of the guard of that recorder. A task may be preempted between two looks, so they are
 * freed when no task can be on its way through a thunk.
 */
int __percpu *ftrace_flight_words[2] = { &no_word, &no_word };
static_assert(FTRACE_FLIGHT_AWAY == FTRACE_PID_IGNORE);

/* &struct ftrace_flight.thresh of the recorder that has returns and times. Read in windows. */
u64 ftrace_flight_thresh;

/* New tasks get a stack. */
static bool returns_wanted;

/* Makes the thunks of a table, unless there are some: 0 or -ENOMEM. ftrace_lock held. */
int ftrace_thunks_make(struct ftrace_table *t, unsigned long target)
{
	unsigned int kind = target - FTRACE_THUNK(0);

	lockdep_assert_held(&ftrace_lock);
	if (!t->thunks[kind]) {
		t->thunks[kind] = arch_ftrace_thunks_make(t->start, t->sites, t->nr, kind);
		ftrace_flight_mods_thunks(t);
	}
	return t->thunks[kind] ? 0 : -ENOMEM;
}

static unsigned long returns_alloc(gfp_t gfp)
{
	unsigned long page = get_zeroed_page(gfp);

	return page ? page + FTRACE_RETURN_FULL : 0;
}

static void returns_free(unsigned long returns)
{
	free_page(returns & PAGE_MASK);
}

/* A task is made, a copy of another one. Without memory its returns are not recorded. */
void ftrace_flight_init_task(struct task_struct *task)
{
	task->flight_returns = READ_ONCE(returns_wanted) ? returns_alloc(GFP_KERNEL_ACCOUNT) : 0;
}

/* Nobody has a reference to the task any more. */
void ftrace_flight_exit_task(struct task_struct *task)
{
	returns_free(task->flight_returns);
}

static void returns_give(struct task_struct *task, unsigned long *stacks, unsigned int *nr)
{
	if (!*nr || task->flight_returns)
		return;
	/*
	 * The task finds places that are 0: pairs with the loads of ftrace_flight_entry() and
	 * ftrace_flight_ret_addr(), which depend on the address.
	 */
	smp_store_release(&task->flight_returns, stacks[--*nr]);
}

/* Gives all tasks their stacks: 0 or -ENOMEM. */
static int returns_give_all(void)
{
	unsigned long stacks[32];
	unsigned int nr;

	do {
		struct task_struct *group, *task;
		int cpu;

		for (nr = 0; nr < ARRAY_SIZE(stacks); nr++) {
			/* Not charged to who writes the option. */
			stacks[nr] = returns_alloc(GFP_KERNEL);
			if (!stacks[nr])
				break;
		}
		if (!nr)
			return -ENOMEM;
		read_lock(&tasklist_lock);
		for_each_process_thread(group, task)
			returns_give(task, stacks, &nr);
		for_each_possible_cpu(cpu)
			if (idle_task(cpu))
				returns_give(idle_task(cpu), stacks, &nr);
		read_unlock(&tasklist_lock);
		cond_resched();
	} while (!nr);
	while (nr)
		returns_free(stacks[--nr]);
	return 0;
}

static void returns_set(const struct ftrace_flight *flight, struct ftrace_flight_cpu __percpu *cpu)
{
	bool none = cpu == &no_ring || !flight->guard;

	WRITE_ONCE(ftrace_flight_words[flight->timed], none ? &no_word : flight->guard->word);
	if (flight->timed)
		WRITE_ONCE(ftrace_flight_thresh, cpu == &no_ring ? 0 : flight->thresh);
	/* Pairs with the loads of the thunks of an older recorder, which depend on the address. */
	smp_store_release(&ftrace_flight_returns[flight->timed], cpu);
	WRITE_ONCE(returns_wanted, ftrace_flight_returns[0] != &no_ring ||
		   ftrace_flight_returns[1] != &no_ring);
}

/*
 * Lets thunks record to @flight. 0, -EBUSY if another recorder has returns, -EOPNOTSUPP if this CPU
 * cannot, or -ENOMEM. trace_types_lock held.
 */
int ftrace_flight_returns_start(struct ftrace_flight *flight)
{
	int ret;

	if (!arch_ftrace_thunks_usable())
		return -EOPNOTSUPP;
	if (ftrace_flight_returns[flight->timed] != &no_ring)
		return -EBUSY;
	/* First: tasks that are made from now on bring their stacks. */
	returns_set(flight, flight->cpu);
	ret = returns_give_all();
	if (ret)
		returns_set(flight, &no_ring);
	return ret;
}

/*
 * Undoes this. The rings can be freed after a grace period of RCU, which covers all windows, and
 * the guard after a grace period of RCU tasks.
 * trace_types_lock held.
 */
void ftrace_flight_returns_stop(struct ftrace_flight *flight)
{
	returns_set(flight, &no_ring);
}

/**
 * ftrace_flight_ret_addr - the address of the caller, for one that a thunk has replaced
 * @task: the task
 * @at: where the last one was found, 0 at first; unwinders go from callees to callers
 * @addr: the address on the stack
 * @addr_p: where it is
 *
 * Context: Any context.
 * Return: what was there before; @addr if a thunk did not replace it.
 */
unsigned long ftrace_flight_ret_addr(struct task_struct *task, unsigned long *at,
				     unsigned long addr, unsigned long *addr_p)
{
	const struct ftrace_return *entry;

	if (addr != (unsigned long)FTRACE_RETURNING && !arch_ftrace_thunk_function(addr, true))
		return addr;
	entry = (void *)max(*at, READ_ONCE(task->flight_returns));
	for (; entry && ftrace_return_in_use(entry); entry++) {
		unsigned long caller = (long)READ_ONCE(entry->caller);

		/*
		 * After a tail call: what the entry has is still on the stack, or on it again, or
		 * the function has called itself.
		 */
		if (READ_ONCE(entry->sp) != (unsigned long)addr_p || caller == addr)
			continue;
		*at = (unsigned long)(entry + 1);
		addr = caller;
		if (!arch_ftrace_thunk_function(addr, true))
			break;
	}
	return addr;
}
