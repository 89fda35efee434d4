// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guards: words that turn tasks away before a callback.
 *
 * Who owns an ops may know of a task, or of a CPU, that the callback has nothing to do for. The
 * owner gives the ops a guard and writes to the word of the CPU. A trampoline compares the word
 * before it calls the callback. If all callbacks of the trampoline are skipped, no register is
 * saved. What the words mean is the business of the owner.
 *
 * A task that is turned away has not entered the callback. So nobody waits for this task when the
 * ops is removed, and the task may still be about to read the word. Therefore a trampoline has a
 * reference to each guard in it, and a guard is freed after the last trampoline.
 */
#include <linux/slab.h>

#include "core.h"
#include "guards.h"

/* Without a word from outside, the guard has words of its own, and no count. */
static struct ftrace_guard *guard_make(int __percpu *word, int skip)
{
	struct ftrace_guard *guard __free(kfree) = kzalloc(sizeof(*guard), GFP_KERNEL);

	if (!guard)
		return NULL;
	guard->word = word ?: alloc_percpu(int);
	if (word)
		guard->skipped = alloc_percpu(unsigned long);
	if (word ? !guard->skipped : !guard->word)
		return NULL;
	guard->skip = skip;
	guard->users = 1;
	return no_free_ptr(guard);
}

/*
 * Makes a guard, with one reference, that does not call the callback if the word of the CPU is
 * @skip. The words of all CPUs are 0. NULL without memory.
 */
struct ftrace_guard *ftrace_guard_make(int skip)
{
	return guard_make(NULL, skip);
}

/**
 * ftrace_guard_get - get a reference to a guard
 * @guard: the guard; NULL is allowed
 *
 * Context: ftrace_lock held.
 * Return: @guard.
 */
struct ftrace_guard *ftrace_guard_get(struct ftrace_guard *guard)
{
	lockdep_assert_held(&ftrace_lock);
	if (guard)
		guard->users++;
	return guard;
}

/**
 * ftrace_guard_put - drop a reference to a guard
 * @guard: the guard; NULL is allowed
 *
 * Context: Process context, may sleep. ftrace_lock held.
 */
void ftrace_guard_put(struct ftrace_guard *guard)
{
	lockdep_assert_held(&ftrace_lock);
	if (!guard || --guard->users)
		return;
	/* As in guard_make(). */
	if (guard->skipped)
		free_percpu(guard->skipped);
	else
		free_percpu(guard->word);
	kfree(guard);
}

/**
 * ftrace_guard_alloc - make a guard of a word that the callbacks know
 * @word: the word, which is never freed
 * @skip: the value of the word with which a callback does nothing but count
 *
 * Trampolines may look at the word before they save registers, and count what they turn away.
 *
 * Context: Process context, may sleep.
 * Return: the guard, for &ftrace_ops.guard before the ops is registered; NULL without memory.
 */
struct ftrace_guard *ftrace_guard_alloc(int __percpu *word, int skip)
{
	return guard_make(word, skip);
}

/**
 * ftrace_guard_free - forget a guard of ftrace_guard_alloc()
 * @guard: the guard; NULL is allowed. No ops has it
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 */
void ftrace_guard_free(struct ftrace_guard *guard)
{
	if (!guard)
		return;
	guard(mutex)(&ftrace_lock);
	ftrace_guard_put(guard);
}

/**
 * ftrace_guard_skipped - how many calls were turned away before registers were saved?
 * @guard: a guard of ftrace_guard_alloc(); NULL is allowed
 *
 * Context: Any.
 * Return: the number since it was made.
 */
unsigned long ftrace_guard_skipped(const struct ftrace_guard *guard)
{
	unsigned long sum = 0;
	int cpu;

	if (!guard)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(guard->skipped, cpu));
	return sum;
}
