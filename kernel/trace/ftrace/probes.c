// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function probes: what a command in set_ftrace_filter ties to functions, as
 * "vfs_read:traceoff:3" does.
 *
 * All functions of a trace array that have the same kind of probe share one
 * ops, whose filter is the list of these functions: they are called and listed
 * and taken away again by what the core has for any ops. What a probe keeps of
 * each function, such as a count, is in a mapper from addresses to values.
 *
 * The first and last steps of a probe, its init() and free(), may do anything,
 * such as to switch off an event that is on a kprobe, which needs ftrace_lock.
 * So probes have a mutex of their own; ftrace_lock is only taken to change what
 * is called and listed.
 */
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "core.h"
#include "probes.h"

struct ftrace_func_probe {
	struct list_head	list;		/* tr->func_probes */
	struct trace_array	*tr;
	struct ftrace_probe_ops	*probe_ops;
	void			*data;		/* a mapper, if it has an init() */
	struct ftrace_ops	ops;
};

/* Taken before ftrace_lock. */
static DEFINE_MUTEX(probe_mutex);

/*
 * Small, for there is one for each command in use; each function of a command
 * that was set on all functions is in a chain of about 50 then.
 */
#define MAPPER_BITS	10

struct mapped_ip {
	struct hlist_node	node;
	unsigned long		ip;
	void			*data;
	struct rcu_head		rcu;
};

struct ftrace_func_mapper {
	struct hlist_head	buckets[1 << MAPPER_BITS];
};

static struct mapped_ip *find_mapped(struct ftrace_func_mapper *mapper,
				     unsigned long ip)
{
	struct mapped_ip *map;

	hlist_for_each_entry_rcu_notrace(map, &mapper->buckets[hash_long(ip, MAPPER_BITS)],
					 node)
		if (map->ip == ip)
			return map;
	return NULL;
}

/**
 * allocate_ftrace_func_mapper - make a map from functions to values
 *
 * Context: Process context, may sleep.
 * Return: an empty map, or NULL if there is no memory.
 */
struct ftrace_func_mapper *allocate_ftrace_func_mapper(void)
{
	return kzalloc(sizeof(struct ftrace_func_mapper), GFP_KERNEL);
}

/**
 * ftrace_func_mapper_find_ip - find the value of a function
 * @mapper: the map
 * @ip: the function's call site
 *
 * Context: Any. Under RCU, or with all removals excluded.
 * Return: where the value is, or NULL if the map has none for @ip.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper,
				  unsigned long ip)
{
	struct mapped_ip *map = find_mapped(mapper, ip);

	return map ? &map->data : NULL;
}

/**
 * ftrace_func_mapper_add_ip - give a function a value
 * @mapper: the map
 * @ip: the function's call site
 * @data: the value
 *
 * Context: Process context, may sleep. Others may be searching the map, but
 *	not changing it.
 * Return: 0, -EBUSY if @ip has a value, or -ENOMEM.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper,
			      unsigned long ip, void *data)
{
	struct mapped_ip *map;

	if (find_mapped(mapper, ip))
		return -EBUSY;

	map = kmalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return -ENOMEM;

	map->ip = ip;
	map->data = data;
	hlist_add_head_rcu(&map->node, &mapper->buckets[hash_long(ip, MAPPER_BITS)]);
	return 0;
}

/**
 * ftrace_func_mapper_remove_ip - take the value of a function away
 * @mapper: the map
 * @ip: the function's call site
 *
 * Context: As for ftrace_func_mapper_add_ip().
 * Return: the value, or NULL if there is none.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper,
				   unsigned long ip)
{
	struct mapped_ip *map = find_mapped(mapper, ip);
	void *data;

	if (!map)
		return NULL;

	data = map->data;
	hlist_del_rcu(&map->node);
	/* Others of its chain may be in use. */
	kfree_rcu(map, rcu);
	return data;
}

/**
 * free_ftrace_func_mapper - free a map
 * @mapper: the map, that nobody uses any more; or NULL
 * @free_func: called with each value that is left; or NULL
 *
 * Context: Process context; what @free_func needs.
 */
void free_ftrace_func_mapper(struct ftrace_func_mapper *mapper,
			     ftrace_mapper_func free_func)
{
	struct hlist_node *next;
	struct mapped_ip *map;
	int i;

	if (!mapper)
		return;

	for (i = 0; i < ARRAY_SIZE(mapper->buckets); i++) {
		hlist_for_each_entry_safe(map, next, &mapper->buckets[i], node) {
			if (free_func)
				free_func(map->data);
			kfree(map);
		}
	}
	kfree(mapper);
}

static struct ftrace_hash *functions_of(const struct ftrace_func_probe *probe)
{
	return rcu_dereference_protected(probe->ops.func_hash->filter_hash,
					 lockdep_is_held(&probe_mutex) ||
					 lockdep_is_held(&ftrace_lock));
}

/* Protects itself from recursion, which also turns preemption off. */
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

static struct ftrace_func_probe *find_probe(struct trace_array *tr,
					    struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_func_probe *probe;

	list_for_each_entry(probe, &tr->func_probes, list)
		if (probe->probe_ops == probe_ops)
			return probe;
	return NULL;
}

static struct ftrace_func_probe *new_probe(struct trace_array *tr,
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

static void free_probe(struct ftrace_func_probe *probe)
{
	ftrace_free_filter(&probe->ops);
	kfree(probe);
}

/* Take out of @hash what is in @other. */
static void hash_subtract(struct ftrace_hash *hash, struct ftrace_hash *other)
{
	struct ftrace_func_entry *entry, *found;
	struct hlist_node *next;
	int i;

	if (ftrace_hash_empty(other))
		return;

	for_each_ftrace_entry(other, entry, next, i) {
		found = ftrace_lookup_ip(hash, entry->ip);
		if (found)
			ftrace_hash_del(hash, found);
	}
}

/*
 * Undo init_functions(). The caller of register_ftrace_function_probe() keeps
 * what it passed if that fails, so this must not be done by free(), which
 * would dispose of it; and that what an init() sets up is a mapper is part of
 * the deal.
 */
static void forget_functions(struct ftrace_func_probe *probe,
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

static int init_functions(struct ftrace_func_probe *probe,
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
			forget_functions(probe, functions);
			return ret;
		}
	}
	return 0;
}

/* Make @functions what @probe is on, and start it if it is new. */
static int set_functions(struct ftrace_func_probe *probe,
			 struct ftrace_hash *functions)
{
	struct ftrace_ops *ops = &probe->ops;
	int ret;

	guard(mutex)(&ftrace_lock);
	ret = ftrace_ops_update_hash(ops, &ops->func_hash->filter_hash,
				     functions, true);
	if (ret || ops->flags & FTRACE_OPS_FL_ENABLED)
		return ret;

	ret = ftrace_ops_start(ops);
	if (!ret)
		list_add(&probe->list, &probe->tr->func_probes);
	return ret;
}

/* Returns how many functions were added. */
static int add_functions(struct ftrace_func_probe *probe, char *glob, void *data)
{
	struct ftrace_hash *old = functions_of(probe);
	struct ftrace_hash *all, *added = NULL;
	int ret = -ENOMEM;

	all = ftrace_hash_dup(old);
	if (!all)
		goto out;
	ret = ftrace_hash_match(all, glob, NULL);
	if (ret < 0)
		goto out;

	ret = -ENOMEM;
	added = ftrace_hash_dup(all);
	if (!added)
		goto out;
	hash_subtract(added, old);
	ret = -EINVAL;
	if (ftrace_hash_empty(added))
		goto out;

	ret = init_functions(probe, added, data);
	if (ret)
		goto out;
	ret = set_functions(probe, all);
	if (ret)
		forget_functions(probe, added);
	else
		ret = added->count;
out:
	ftrace_hash_free(added);
	ftrace_hash_free(all);
	return ret;
}

/**
 * register_ftrace_function_probe - call something when functions are hit
 * @glob: which functions; modified
 * @tr: the trace array that this is to be listed in and to act on
 * @probe_ops: what to call; if it has an init(), that sets up a mapper
 * @data: passed to the init() of @probe_ops for each function
 *
 * Functions that have this very probe already keep it as it is.
 *
 * Context: Process context, may sleep. event_mutex may be held.
 * Return: how many functions got the probe, which is not 0; -EINVAL if there is
 *	none that can get it; or another error. If it failed, nothing has
 *	changed, and what @data points to is still the caller's.
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
	probe = find_probe(tr, probe_ops);
	is_new = !probe;
	if (is_new)
		probe = new_probe(tr, probe_ops);
	if (!probe)
		return -ENOMEM;

	ret = add_functions(probe, glob, data);
	if (ret < 0 && is_new) {
		if (probe_ops->init)
			free_ftrace_func_mapper(probe->data, NULL);
		free_probe(probe);
	}
	return ret;
}

/* Tell a probe that @functions no longer have it; nobody may be using it. */
static void free_functions(struct ftrace_func_probe *probe,
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

/* Needs no memory, and fails only after ftrace_kill(). */
static int remove_probe(struct ftrace_func_probe *probe)
{
	struct ftrace_probe_ops *probe_ops = probe->probe_ops;
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_ops_stop(&probe->ops);
	if (!ret)
		list_del(&probe->list);
	mutex_unlock(&ftrace_lock);
	if (ret)
		return ret;
	/* Nobody is in probe_hit() for it then. */
	ftrace_ops_stop_wait(&probe->ops);

	free_functions(probe, functions_of(probe));
	if (probe_ops->free)
		probe_ops->free(probe_ops, probe->tr, 0, probe->data);
	free_probe(probe);
	return 0;
}

static int remove_functions(struct ftrace_func_probe *probe, char *glob)
{
	struct ftrace_hash *old = functions_of(probe);
	struct ftrace_hash *kept, *removed;
	int ret = -ENOMEM;

	kept = ftrace_hash_dup(old);
	removed = ftrace_hash_dup(old);
	if (!kept || !removed)
		goto out;

	ret = ftrace_hash_unmatch(kept, glob, NULL);
	if (ret <= 0) {
		ret = ret ?: -EINVAL;
		goto out;
	}
	hash_subtract(removed, kept);

	/* An empty filter would stand for all functions. */
	if (ftrace_hash_empty(kept)) {
		ret = remove_probe(probe);
		goto out;
	}

	ret = set_functions(probe, kept);
	if (ret)
		goto out;
	/*
	 * Who is in probe_hit() for one of them may be using its data. Who is
	 * only about to be there finds that there is none.
	 */
	synchronize_rcu();
	free_functions(probe, removed);
out:
	ftrace_hash_free(removed);
	ftrace_hash_free(kept);
	return ret;
}

/**
 * unregister_ftrace_function_probe_func - undo register_ftrace_function_probe()
 * @glob: which functions, modified; all if it is empty
 * @tr: the trace array
 * @probe_ops: what is called
 *
 * Context: Process context, may sleep. What the free() of @probe_ops needs must
 *	be held, such as event_mutex.
 * Return: 0; -ENODEV if no function has this probe; -EINVAL if none that @glob
 *	matches has it; or another error. If it failed, nothing has changed.
 */
int unregister_ftrace_function_probe_func(char *glob, struct trace_array *tr,
					  struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_func_probe *probe;

	if (*glob == '!')
		return -EINVAL;

	guard(mutex)(&probe_mutex);
	probe = find_probe(tr, probe_ops);
	if (!probe)
		return -ENODEV;
	/* Also those that no longer have a name, as of a module that left. */
	if (!*glob || !strcmp(glob, "*"))
		return remove_probe(probe);
	return remove_functions(probe, glob);
}

/**
 * clear_ftrace_function_probes - remove all probes of a trace array
 * @tr: a trace array that is going away
 *
 * Context: Process context, may sleep. event_mutex held.
 */
void clear_ftrace_function_probes(struct trace_array *tr)
{
	struct ftrace_func_probe *probe, *next;

	guard(mutex)(&probe_mutex);
	list_for_each_entry_safe(probe, next, &tr->func_probes, list) {
		if (!remove_probe(probe))
			continue;
		/*
		 * After ftrace_kill() call sites call it until the next boot:
		 * it must stay, and must not know @tr.
		 */
		WRITE_ONCE(probe->tr, NULL);
		synchronize_rcu();
	}
}

/* Go to the next function of the probe, to the first if there is no @entry. */
static bool next_function(struct ftrace_probe_iter *iter)
{
	struct ftrace_hash *hash = functions_of(iter->probe);
	struct hlist_node *node = NULL;

	if (iter->entry) {
		node = iter->entry->hlist.next;
		iter->bucket++;
	} else {
		iter->bucket = 0;
	}

	while (!node && iter->bucket < 1 << hash->size_bits)
		node = hash->buckets[iter->bucket++].first;
	/* The bucket that @entry is in. */
	iter->bucket--;

	iter->entry = hlist_entry_safe(node, struct ftrace_func_entry, hlist);
	return iter->entry;
}

/**
 * ftrace_probe_first - find the first of the probed functions
 * @iter: set to it
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 * Return: false if there is none.
 */
bool ftrace_probe_first(struct ftrace_probe_iter *iter, struct trace_array *tr)
{
	iter->entry = NULL;
	iter->probe = list_first_entry_or_null(&tr->func_probes,
					       struct ftrace_func_probe, list);
	/* A probe that is listed has a function. */
	return iter->probe && next_function(iter);
}

/**
 * ftrace_probe_next - go to the next of the probed functions
 * @iter: where the one before it was found, with ftrace_lock held since
 *
 * Context: ftrace_lock held.
 * Return: false if there is none.
 */
bool ftrace_probe_next(struct ftrace_probe_iter *iter)
{
	struct ftrace_func_probe *probe = iter->probe;

	if (next_function(iter))
		return true;
	if (list_is_last(&probe->list, &probe->tr->func_probes))
		return false;

	iter->probe = list_next_entry(probe, list);
	return next_function(iter);
}

/**
 * ftrace_probe_show - print a probed function in the way of its probe
 * @m: where to
 * @iter: the function
 *
 * Context: ftrace_lock held.
 * Return: 0, or what the probe returns.
 */
int ftrace_probe_show(struct seq_file *m, const struct ftrace_probe_iter *iter)
{
	struct ftrace_probe_ops *probe_ops = iter->probe->probe_ops;

	/* Functions may be leaving the map of the probe. */
	guard(rcu)();
	if (probe_ops->print)
		return probe_ops->print(m, iter->entry->ip, probe_ops,
					iter->probe->data);

	seq_printf(m, "%ps:%ps\n", (void *)iter->entry->ip, probe_ops->func);
	return 0;
}

static LIST_HEAD(commands);

static struct ftrace_func_command *find_command(const char *name)
{
	struct ftrace_func_command *cmd;

	list_for_each_entry(cmd, &commands, list)
		if (!strcmp(cmd->name, name))
			return cmd;
	return NULL;
}

/**
 * register_ftrace_command - add a command of the filter files
 * @cmd: the command; stays in use
 *
 * Context: Boot, one at a time: the list of commands has no lock.
 * Return: 0, or -EBUSY if there is a command of that name.
 */
__init int register_ftrace_command(struct ftrace_func_command *cmd)
{
	if (find_command(cmd->name))
		return -EBUSY;
	list_add(&cmd->list, &commands);
	return 0;
}

/**
 * unregister_ftrace_command - undo register_ftrace_command()
 * @cmd: the command
 *
 * Context: As for register_ftrace_command().
 * Return: 0, or -ENODEV if there is no command of that name.
 */
__init int unregister_ftrace_command(struct ftrace_func_command *cmd)
{
	struct ftrace_func_command *found = find_command(cmd->name);

	if (!found)
		return -ENODEV;
	list_del_init(&found->list);
	return 0;
}

/**
 * ftrace_run_command - carry out "func:name:params"
 * @tr: the trace array of the file it was written to, or NULL
 * @hash: the new content of the filter so far
 * @func: the part before the first colon; may be modified
 * @name: the part before the second one
 * @params: the rest, which may be modified, or NULL
 * @enable: 1 for a filter, 0 for its opposite
 *
 * Context: Process context, may sleep. ftrace_lock not held.
 * Return: 0, an error of the command, or -EINVAL if there is no such command.
 */
int ftrace_run_command(struct trace_array *tr, struct ftrace_hash *hash,
		       char *func, char *name, char *params, int enable)
{
	struct ftrace_func_command *cmd = find_command(name);

	if (!cmd)
		return -EINVAL;
	return cmd->func(tr, hash, func, name, params, enable);
}
