// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of the tasks in a callback: one pair for each callback that can be freed.
 *
 * alloc_percpu() searches its chunks and clears the memory of every CPU, which takes longer
 * than the rest of a registration. So counters are allocated in groups, and the first group is
 * part of the kernel image. A pair is used again as it was left: only the sums over all CPUs
 * are compared, and the two sums are equal when a pair is given back. The count of missed calls
 * beside the pair begins at 0 again.
 */
#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "callback.h"

#define COUNTS_PER_GROUP	64

/* Counters that are allocated together, and which of them have a user. */
struct count_group {
	struct list_head		list;
	struct ftrace_count __percpu	*counts;
	DECLARE_BITMAP(used, COUNTS_PER_GROUP);
};

static DEFINE_PER_CPU(struct ftrace_count [COUNTS_PER_GROUP], first_counts);
static struct count_group first_group;

/* Groups with a free pair come first; ftrace_lock held. */
static struct list_head count_groups = LIST_HEAD_INIT(first_group.list);

static struct count_group first_group = {
	.list	= LIST_HEAD_INIT(count_groups),
	.counts	= first_counts,
};

static struct count_group *count_group_make(void)
{
	struct count_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	struct ftrace_count __percpu *counts;

	counts = __alloc_percpu(COUNTS_PER_GROUP * sizeof(*counts), __alignof__(*counts));
	if (!group || !counts) {
		free_percpu(counts);
		kfree(group);
		return NULL;
	}
	group->counts = counts;
	list_add(&group->list, &count_groups);
	return group;
}

/* A group with a free pair. */
static struct count_group *count_group_find(void)
{
	struct count_group *group = list_first_entry(&count_groups, struct count_group, list);

	return bitmap_full(group->used, COUNTS_PER_GROUP) ? count_group_make() : group;
}

/* A pair of counters whose sums over all CPUs are equal; NULL without memory. ftrace_lock held. */
struct ftrace_count __percpu *ftrace_count_get(void)
{
	struct count_group *group = count_group_find();
	unsigned int n;

	lockdep_assert_held(&ftrace_lock);
	if (!group)
		return NULL;
	n = find_first_zero_bit(group->used, COUNTS_PER_GROUP);
	__set_bit(n, group->used);
	if (bitmap_full(group->used, COUNTS_PER_GROUP))
		list_move_tail(&group->list, &count_groups);
	return group->counts + n;
}

static void count_clear_missed(struct ftrace_count __percpu *count)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(count, cpu)->missed = 0;
}

/*
 * Nobody counts with @count, which may be NULL, any more: as many tasks have left as have
 * entered. ftrace_lock held.
 */
void ftrace_count_put(struct ftrace_count __percpu *count)
{
	struct count_group *group;

	lockdep_assert_held(&ftrace_lock);
	if (!count)
		return;
	list_for_each_entry(group, &count_groups, list)
		if (count >= group->counts && count < group->counts + COUNTS_PER_GROUP)
			break;

	count_clear_missed(count);
	__clear_bit(count - group->counts, group->used);
	list_move(&group->list, &count_groups);
	if (group != &first_group && bitmap_empty(group->used, COUNTS_PER_GROUP)) {
		list_del(&group->list);
		free_percpu(group->counts);
		kfree(group);
	}
}
