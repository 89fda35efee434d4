// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappers: from call sites to values.
 *
 * A function probe keeps a value for each function, such as a count. The probe looks the
 * value up each time that the function is called, so a search takes no lock.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "core.h"

/*
 * Small, because each command in use has a mapper. If a command is set on all
 * functions, each chain has about 50 functions.
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

static struct mapped_ip *mapper_find(struct ftrace_func_mapper *mapper, unsigned long ip)
{
	struct mapped_ip *map;

	hlist_for_each_entry_rcu_notrace(map, &mapper->buckets[hash_long(ip, MAPPER_BITS)],
					 node)
		if (map->ip == ip)
			return map;
	return NULL;
}

/* Makes an empty map; NULL without memory. May sleep. */
struct ftrace_func_mapper *allocate_ftrace_func_mapper(void)
{
	return kzalloc(sizeof(struct ftrace_func_mapper), GFP_KERNEL);
}

/*
 * Where is the value of the function whose site is @ip? NULL if it has none. Any context, in a
 * read-side critical section of RCU or with all removals excluded.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper,
				  unsigned long ip)
{
	struct mapped_ip *map = mapper_find(mapper, ip);

	return map ? &map->data : NULL;
}

/*
 * Gives a function a value: 0, -EBUSY if it has one, or -ENOMEM. Others may be searching the map,
 * but not changing it. May sleep.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper,
			      unsigned long ip, void *data)
{
	struct mapped_ip *map;

	if (mapper_find(mapper, ip))
		return -EBUSY;

	map = kmalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return -ENOMEM;

	map->ip = ip;
	map->data = data;
	hlist_add_head_rcu(&map->node, &mapper->buckets[hash_long(ip, MAPPER_BITS)]);
	return 0;
}

/*
 * Removes the value of a function, and returns it; NULL if there is none. Others may be searching
 * the map, but not changing it.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper,
				   unsigned long ip)
{
	struct mapped_ip *map = mapper_find(mapper, ip);
	void *data;

	if (!map)
		return NULL;

	data = map->data;
	hlist_del_rcu(&map->node);
	/* A reader may be walking the chain. */
	kfree_rcu(map, rcu);
	return data;
}

/*
 * Frees a map that nobody uses any more, or NULL, after @free_func, or NULL, was called with each
 * value that is left.
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
