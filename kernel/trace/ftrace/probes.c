// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function probes: what a command in set_ftrace_filter attaches to functions, for
 * example "vfs_read:traceoff:3".
 *
 * All functions of a trace array that have the same kind of probe share one ops,
 * whose filter is the list of these functions. So the core calls, lists and removes
 * them as it does for any ops. A mapper (mapper.c) keeps what a probe stores for each
 * function, such as a count.
 *
 * The init() and free() of a probe may do anything, for example switch off an event
 * on a kprobe, which needs ftrace_lock. So probes have a mutex of their own;
 * ftrace_lock is only taken to change what is called and listed.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "callback.h"
#include "core.h"
#include "hash.h"
#include "match.h"
#include "ops.h"
#include "probes.h"
#include "wait.h"

struct ftrace_func_probe {
	struct list_head	list;		/* tr->func_probes */
	struct trace_array	*tr;
	struct ftrace_probe_ops	*probe_ops;
	void			*data;		/* a mapper, if it has an init() */
	struct ftrace_ops	ops;
};

/* Taken before ftrace_lock. */
static DEFINE_MUTEX(probe_mutex);

static struct ftrace_hash *probe_functions(const struct ftrace_func_probe *probe)
{
	return rcu_dereference_protected(probe->ops.func_hash->filter_hash,
					 lockdep_is_held(&probe_mutex) ||
					 lockdep_is_held(&ftrace_lock));
}

/* The guard against recursion also turns preemption off. */
static void probe_hit(unsigned long ip, unsigned long parent_ip,
		      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_func_probe *probe =
		container_of(op, struct ftrace_func_probe, ops);
	struct trace_array *tr;
	int bit;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	tr = READ_ONCE(probe->tr);
	if (likely(tr))
		probe->probe_ops->func(ip, parent_ip, tr, probe->probe_ops,
				       probe->data);

	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_func_probe *probe_find(struct trace_array *tr,
					    struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_func_probe *probe;

	lockdep_assert_held(&probe_mutex);
	list_for_each_entry(probe, &tr->func_probes, list)
		if (probe->probe_ops == probe_ops)
			return probe;
	return NULL;
}

static struct ftrace_func_probe *probe_new(struct trace_array *tr,
					   struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_func_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return NULL;

	probe->probe_ops = probe_ops;
	probe->tr = tr;
	probe->ops.func = probe_hit;
	ftrace_ops_init(&probe->ops);
	return probe;
}

/* The probe has no function any more: its data goes. */
static void probe_end_data(struct ftrace_func_probe *probe)
{
	if (probe->probe_ops->free)
		probe->probe_ops->free(probe->probe_ops, probe->tr, 0, probe->data);
}

static void probe_free(struct ftrace_func_probe *probe)
{
	ftrace_free_filter(&probe->ops);
	kfree(probe);
}

/*
 * Undo probe_init_functions(). If register_ftrace_function_probe() fails, its caller
 * keeps what it passed. So free(), which would dispose of that, must not be called
 * here. This works because an init() is required to set up a mapper.
 */
static void probe_forget_functions(struct ftrace_func_probe *probe,
				   struct ftrace_hash *functions)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *next;
	int i;

	if (!probe->probe_ops->init || !probe->data)
		return;

	for_each_ftrace_entry(functions, entry, next, i)
		ftrace_func_mapper_remove_ip(probe->data, entry->ip);
}

static int probe_init_functions(struct ftrace_func_probe *probe,
				struct ftrace_hash *functions, void *data)
{
	struct ftrace_probe_ops *probe_ops = probe->probe_ops;
	struct ftrace_func_entry *entry;
	struct hlist_node *next;
	int i, ret;

	if (!probe_ops->init)
		return 0;

	for_each_ftrace_entry(functions, entry, next, i) {
		ret = probe_ops->init(probe_ops, probe->tr, entry->ip, data,
				      &probe->data);
		if (ret < 0) {
			probe_forget_functions(probe, functions);
			return ret;
		}
	}
	return 0;
}

/* Make *@functions the filter of @probe, and start @probe if it is new. */
static int probe_set_functions(struct ftrace_func_probe *probe,
			       struct ftrace_hash **functions)
{
	struct ftrace_ops *ops = &probe->ops;
	int ret;

	guard(mutex)(&ftrace_lock);
	ret = ftrace_ops_update_hash(ops, &ops->func_hash->filter_hash, functions);
	if (ret || ops->flags & FTRACE_OPS_FL_ENABLED)
		return ret;

	ret = ftrace_ops_start(ops);
	if (!ret)
		list_add(&probe->list, &probe->tr->func_probes);
	return ret;
}

/* Returns the number of functions that were added. */
static int probe_add_functions(struct ftrace_func_probe *probe, char *glob, void *data)
{
	struct ftrace_hash *old = probe_functions(probe);
	struct ftrace_hash *all __free(ftrace_hash) = ftrace_hash_dup(old);
	struct ftrace_hash *added __free(ftrace_hash) = NULL;
	int ret;

	if (!all)
		return -ENOMEM;
	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_hash_match(all, glob, NULL, false);
	if (ret < 0)
		return ret;

	added = ftrace_hash_dup(all);
	if (!added)
		return -ENOMEM;
	ftrace_hash_subtract(added, old);
	if (ftrace_hash_empty(added))
		return -EINVAL;

	ret = probe_init_functions(probe, added, data);
	if (ret)
		return ret;
	ret = probe_set_functions(probe, &all);
	if (ret)
		probe_forget_functions(probe, added);
	return ret ?: added->count;
}

/**
 * register_ftrace_function_probe - call a function when traced functions are called
 * @glob: which functions; modified
 * @tr: the trace array that lists the probe and that the probe acts on
 * @probe_ops: what to call; if it has an init(), the init() sets up a mapper
 * @data: passed to the init() of @probe_ops for each function
 *
 * Functions that already have this probe keep it unchanged.
 *
 * Context: Process context, may sleep. event_mutex may be held.
 * Return: the number of functions that got the probe, which is not 0; -EINVAL if no
 *	function can get the probe; or another error. After an error nothing has
 *	changed, and what @data points to still belongs to the caller.
 */
int register_ftrace_function_probe(char *glob, struct trace_array *tr,
				   struct ftrace_probe_ops *probe_ops, void *data)
{
	struct ftrace_func_probe *probe;
	bool is_new;
	int ret;

	if (WARN_ON_ONCE(!tr || *glob == '!'))
		return -EINVAL;

	guard(mutex)(&probe_mutex);
	probe = probe_find(tr, probe_ops);
	is_new = !probe;
	if (is_new)
		probe = probe_new(tr, probe_ops);
	if (!probe)
		return -ENOMEM;

	ret = probe_add_functions(probe, glob, data);
	if (ret < 0 && is_new) {
		probe_end_data(probe);
		probe_free(probe);
	}
	return ret;
}

/* Call free() for @functions, which lost the probe and which nobody is using. */
static void probe_free_functions(struct ftrace_func_probe *probe,
				 struct ftrace_hash *functions)
{
	struct ftrace_probe_ops *probe_ops = probe->probe_ops;
	struct ftrace_func_entry *entry;
	struct hlist_node *next;
	int i;

	if (!probe_ops->free)
		return;

	for_each_ftrace_entry(functions, entry, next, i)
		probe_ops->free(probe_ops, probe->tr, entry->ip, probe->data);
}

/*
 * Take a probe off all functions and off the list; ftrace_lock held. Needs no memory, and
 * fails only after ftrace_kill().
 */
static int probe_stop(struct ftrace_func_probe *probe)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ret = ftrace_ops_stop(&probe->ops);
	if (!ret)
		list_del(&probe->list);
	return ret;
}

/* Free a probe after probe_stop(). */
static void probe_end(struct ftrace_func_probe *probe)
{
	/* After that, no task is in probe_hit() for this probe. */
	ftrace_ops_stop_wait(&probe->ops);

	probe_free_functions(probe, probe_functions(probe));
	probe_end_data(probe);
	probe_free(probe);
}

static int probe_remove(struct ftrace_func_probe *probe)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = probe_stop(probe);
	if (!ret)
		probe_end(probe);
	return ret;
}

/* Let @new, with the functions *@kept, take the place of @probe. */
static int probe_replace(struct ftrace_func_probe *probe, struct ftrace_func_probe *new,
			 struct ftrace_hash **kept)
{
	int ret;

	guard(mutex)(&ftrace_lock);
	ret = ftrace_ops_update_hash(&new->ops, &new->ops.func_hash->filter_hash, kept);
	if (!ret)
		ret = ftrace_ops_replace(&probe->ops, &new->ops);
	if (!ret)
		list_replace(&probe->list, &new->list);
	return ret;
}

/*
 * Take the functions @removed from a probe, and leave *@kept. A task in probe_hit() for a
 * removed function may be using the data of this function, and cannot be told from a task that
 * is there for another function of the probe. So the functions that stay get a new probe,
 * and the wait is for all tasks in the callback of the old probe.
 */
static int probe_shrink(struct ftrace_func_probe *probe, struct ftrace_hash **kept,
			struct ftrace_hash *removed)
{
	struct ftrace_func_probe *new = probe_new(probe->tr, probe->probe_ops);
	int ret;

	if (!new)
		return -ENOMEM;
	new->data = probe->data;
	ret = probe_replace(probe, new, kept);
	if (ret) {
		probe_free(new);
		return ret;
	}
	/* Tasks may come to the old probe until the next boot: it stays, with its data. */
	if (ftrace_killed())
		return -ENODEV;
	ftrace_ops_stop_wait(&probe->ops);
	probe_free_functions(new, removed);
	probe_free(probe);
	return 0;
}

static int probe_remove_functions(struct ftrace_func_probe *probe, char *glob)
{
	struct ftrace_hash *old = probe_functions(probe);
	struct ftrace_hash *kept __free(ftrace_hash) = ftrace_hash_dup(old);
	struct ftrace_hash *removed __free(ftrace_hash) = ftrace_hash_dup(old);
	int ret;

	if (!kept || !removed)
		return -ENOMEM;
	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_hash_match(kept, glob, NULL, true);
	if (ret < 0)
		return ret;
	/* Functions that match and do not have the probe do not count. */
	if (kept->count == old->count)
		return -EINVAL;
	ftrace_hash_subtract(removed, kept);

	/* An empty filter would mean all functions. */
	return ftrace_hash_empty(kept) ? probe_remove(probe) : probe_shrink(probe, &kept, removed);
}

/**
 * unregister_ftrace_function_probe_func - undo register_ftrace_function_probe()
 * @glob: which functions, modified; all if it is empty
 * @tr: the trace array
 * @probe_ops: what is called
 *
 * Context: Process context, may sleep. What the free() of @probe_ops needs must be
 *	held, such as event_mutex.
 * Return: 0; -ENODEV if no function has this probe; -EINVAL if no function that
 *	@glob matches has this probe; or another error. After an error nothing has
 *	changed.
 */
int unregister_ftrace_function_probe_func(char *glob, struct trace_array *tr,
					  struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_func_probe *probe;

	if (*glob == '!')
		return -EINVAL;

	guard(mutex)(&probe_mutex);
	probe = probe_find(tr, probe_ops);
	if (!probe)
		return -ENODEV;
	/* This includes functions without a name, as those of an unloaded module. */
	if (!*glob || !strcmp(glob, "*"))
		return probe_remove(probe);
	return probe_remove_functions(probe, glob);
}

/* Has any probe a function in the text from @start to @end? */
static bool probes_have_text(unsigned long start, unsigned long end)
{
	struct ftrace_func_probe *probe;
	struct ftrace_func_entry *entry;
	struct trace_array *tr;
	struct hlist_node *tmp;
	int i;

	guard(mutex)(&trace_types_lock);
	guard(mutex)(&probe_mutex);
	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		list_for_each_entry(probe, &tr->func_probes, list)
			for_each_ftrace_entry(probe_functions(probe), entry, tmp, i)
				if (entry->ip >= start && entry->ip < end)
					return true;
	return false;
}

/* No task is in probe_hit() for the text from @start to @end, nor will be. */
static void probe_forget_text(struct ftrace_func_probe *probe, unsigned long start,
			      unsigned long end)
{
	struct ftrace_probe_ops *probe_ops = probe->probe_ops;
	struct ftrace_hash *functions = probe_functions(probe);
	struct ftrace_func_entry *entry;
	struct hlist_node *next;
	HLIST_HEAD(gone);
	bool stopped;

	/* Who lists functions and shows their data holds the lock: first the lists, then free(). */
	scoped_guard(mutex, &ftrace_lock) {
		ftrace_hash_take(functions, start, end, &gone);
		/* A probe that is listed has a function. */
		stopped = !functions->count && !probe_stop(probe);
	}
	hlist_for_each_entry_safe(entry, next, &gone, hlist) {
		if (probe_ops->free)
			probe_ops->free(probe_ops, probe->tr, entry->ip, probe->data);
		kfree(entry);
	}
	if (stopped)
		probe_end(probe);
}

/*
 * Removes the probes of functions that are about to be freed: they would act on the functions of
 * the next module there. Takes event_mutex, trace_types_lock and ftrace_lock.
 */
void ftrace_forget_probes(unsigned long start, unsigned long end)
{
	struct ftrace_func_probe *probe, *next;
	struct trace_array *tr;

	/* A function of a module can still run, and its task can be in probe_hit(). */
	if (probes_have_text(start, end))
		ftrace_wait_tramps();

	/* The free() of a probe can need event_mutex. */
	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	guard(mutex)(&probe_mutex);
	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		list_for_each_entry_safe(probe, next, &tr->func_probes, list)
			probe_forget_text(probe, start, end);
}

/* Removes all probes of a trace array that is about to be freed. event_mutex held. */
void clear_ftrace_function_probes(struct trace_array *tr)
{
	struct ftrace_func_probe *probe, *next;

	guard(mutex)(&probe_mutex);
	list_for_each_entry_safe(probe, next, &tr->func_probes, list) {
		if (!probe_remove(probe))
			continue;
		/*
		 * After ftrace_kill() call sites call the probe until the next boot:
		 * the probe must stay, and must not use @tr.
		 */
		WRITE_ONCE(probe->tr, NULL);
		ftrace_wait_rcu();
	}
}

/* Go to the next function of the probe, or to the first if @entry is NULL. */
static bool probe_next_function(struct ftrace_probe_iter *iter)
{
	struct ftrace_hash *hash = probe_functions(iter->probe);
	struct hlist_node *node = NULL;

	if (iter->entry)
		node = iter->entry->hlist.next;
	else
		iter->bucket = -1;
	while (!node && ++iter->bucket < 1 << hash->size_bits)
		node = hash->buckets[iter->bucket].first;

	iter->entry = hlist_entry_safe(node, struct ftrace_func_entry, hlist);
	return iter->entry;
}

/* The first probed function; false if there is none. ftrace_lock held. */
bool ftrace_probe_first(struct ftrace_probe_iter *iter, struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);
	iter->entry = NULL;
	iter->probe = list_first_entry_or_null(&tr->func_probes,
					       struct ftrace_func_probe, list);
	/* A probe that is listed has a function. */
	return iter->probe && probe_next_function(iter);
}

/* The next one; ftrace_lock held since the last. */
bool ftrace_probe_next(struct ftrace_probe_iter *iter)
{
	struct ftrace_func_probe *probe = iter->probe;

	lockdep_assert_held(&ftrace_lock);
	if (probe_next_function(iter))
		return true;
	if (list_is_last(&probe->list, &probe->tr->func_probes))
		return false;

	iter->probe = list_next_entry(probe, list);
	return probe_next_function(iter);
}

/* Prints a probed function in the format of its probe. ftrace_lock held. */
int ftrace_probe_show(struct seq_file *m, const struct ftrace_probe_iter *iter)
{
	struct ftrace_probe_ops *probe_ops = iter->probe->probe_ops;

	lockdep_assert_held(&ftrace_lock);
	/* Functions may be removed from the map of the probe. */
	guard(rcu)();
	if (probe_ops->print)
		return probe_ops->print(m, iter->entry->ip, probe_ops,
					iter->probe->data);

	seq_printf(m, "%ps:%ps\n", (void *)iter->entry->ip, probe_ops->func);
	return 0;
}
