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
 * @ip: the call site of the function
 *
 * Context: Any context. In an RCU read-side critical section, or with all removals
 *	excluded.
 * Return: where the value is, or NULL if the map has none for @ip.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper,
				  unsigned long ip)
{
	struct mapped_ip *map = mapper_find(mapper, ip);

	return map ? &map->data : NULL;
}

/**
 * ftrace_func_mapper_add_ip - give a function a value
 * @mapper: the map
 * @ip: the call site of the function
 * @data: the value
 *
 * Context: Process context, may sleep. Others may be searching the map, but not
 *	changing it.
 * Return: 0, -EBUSY if @ip has a value, or -ENOMEM.
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

/**
 * ftrace_func_mapper_remove_ip - remove the value of a function
 * @mapper: the map
 * @ip: the call site of the function
 *
 * Context: As for ftrace_func_mapper_add_ip().
 * Return: the value, or NULL if there is none.
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

/**
 * free_ftrace_func_mapper - free a map
 * @mapper: the map, which nobody uses any more; or NULL
 * @free_func: called with each value that is left; or NULL
 *
 * Context: Process context, and what @free_func needs.
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
