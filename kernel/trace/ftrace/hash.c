// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hashes of call site addresses. The filters of ops are such hashes.
 *
 * A hash that is in use gets no new entries, but is replaced, because fgraph.c reads
 * it at run time, under RCU. When a module is unloaded, the entries of its sites are
 * removed from the hash.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "core.h"
#include "hash.h"
#include "wait.h"

/* Binary logarithm of the number of buckets of a new hash. */
#define FIRST_BITS	4

static struct hlist_head *hash_bucket(const struct ftrace_hash *hash, unsigned long ip)
{
	return &hash->buckets[hash->size_bits ? hash_long(ip, hash->size_bits) : 0];
}

static struct ftrace_hash *hash_alloc(unsigned int size_bits)
{
	struct ftrace_hash *hash __free(kfree) = kzalloc(sizeof(*hash), GFP_KERNEL);

	if (!hash)
		return NULL;
	hash->buckets = kvcalloc(1 << size_bits, sizeof(*hash->buckets), GFP_KERNEL);
	if (!hash->buckets)
		return NULL;
	hash->size_bits = size_bits;
	return no_free_ptr(hash);
}

/**
 * ftrace_hash_alloc - make an empty hash
 *
 * Context: Process context, may sleep.
 * Return: the hash, or NULL.
 */
struct ftrace_hash *ftrace_hash_alloc(void)
{
	return hash_alloc(FIRST_BITS);
}

/* Give more buckets to a hash that nobody else uses. Without memory the hash stays slow. */
static void hash_grow(struct ftrace_hash *hash)
{
	struct ftrace_hash more = { .size_bits = hash->size_bits + 2 };
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	int i;

	more.buckets = kvcalloc(1 << more.size_bits, sizeof(*more.buckets),
				GFP_KERNEL | __GFP_NOWARN);
	if (!more.buckets)
		return;
	for_each_ftrace_entry(hash, entry, tmp, i) {
		hlist_del(&entry->hlist);
		hlist_add_head_rcu(&entry->hlist, hash_bucket(&more, entry->ip));
	}
	kvfree(hash->buckets);
	hash->buckets = more.buckets;
	hash->size_bits = more.size_bits;
}

/**
 * ftrace_hash_free - free a hash that nobody else uses
 * @hash: the hash, or NULL
 */
void ftrace_hash_free(struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	int i;

	if (!hash)
		return;
	for_each_ftrace_entry(hash, entry, tmp, i)
		kfree(entry);
	kvfree(hash->buckets);
	kfree(hash);
}

static void hash_free_rcu(struct rcu_head *rcu)
{
	ftrace_hash_free(container_of(rcu, struct ftrace_hash, rcu));
}

/**
 * ftrace_hash_free_rcu - free a hash that others may be reading
 * @hash: the hash, or NULL
 */
void ftrace_hash_free_rcu(struct ftrace_hash *hash)
{
	if (hash)
		call_rcu(&hash->rcu, hash_free_rcu);
}

/**
 * ftrace_lookup_ip - find an address in a hash
 * @hash: the hash, or NULL
 * @ip: the address
 *
 * Context: Any context; preemption off if the hash is in use.
 * Return: the entry, or NULL.
 */
struct ftrace_func_entry *ftrace_lookup_ip(struct ftrace_hash *hash, unsigned long ip)
{
	struct ftrace_func_entry *entry;

	/* Pairs with WRITE_ONCE() in ftrace_hash_forget(). */
	if (!hash || !READ_ONCE(hash->count))
		return NULL;
	hlist_for_each_entry_rcu_notrace(entry, hash_bucket(hash, ip), hlist)
		if (entry->ip == ip)
			return entry;
	return NULL;
}

/* Puts an entry into a hash that is not in use and lacks its address. */
void ftrace_hash_link(struct ftrace_hash *hash, struct ftrace_func_entry *entry)
{
	if (hash->count > 1UL << hash->size_bits)
		hash_grow(hash);
	hlist_add_head_rcu(&entry->hlist, hash_bucket(hash, entry->ip));
	hash->count++;
	/* The functions that were unloaded do not count any more. */
	hash->flags &= ~FTRACE_HASH_UNLOADED;
}

static struct ftrace_func_entry *hash_add(struct ftrace_hash *hash, unsigned long ip)
{
	struct ftrace_func_entry *entry = ftrace_lookup_ip(hash, ip);

	if (entry)
		return entry;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return NULL;
	entry->ip = ip;
	ftrace_hash_link(hash, entry);
	return entry;
}

/**
 * ftrace_hash_add - add an address to a hash
 * @hash: the hash
 * @ip: the address; may already be in @hash
 * @exact: the function was named, and not found by a glob. If it cannot be traced, the
 *	caller that named it gets an error
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int ftrace_hash_add(struct ftrace_hash *hash, unsigned long ip, bool exact)
{
	struct ftrace_func_entry *entry = hash_add(hash, ip);

	if (!entry)
		return -ENOMEM;
	if (exact)
		entry->direct = FTRACE_ENTRY_NAMED;
	return 0;
}

/**
 * ftrace_hash_del - remove an address from a hash
 * @hash: the hash, not in use
 * @entry: what ftrace_lookup_ip() found; freed
 */
void ftrace_hash_del(struct ftrace_hash *hash, struct ftrace_func_entry *entry)
{
	hlist_del_rcu(&entry->hlist);
	kfree(entry);
	hash->count--;
}

/* Moves all addresses from @from to @hash. Needs no memory. */
void ftrace_hash_merge(struct ftrace_hash *hash, struct ftrace_hash *from)
{
	struct ftrace_func_entry *entry, *there;
	struct hlist_node *tmp;
	unsigned int n = 0;
	int i;

	if (!hash->count) {
		swap(hash->buckets, from->buckets);
		swap(hash->size_bits, from->size_bits);
		swap(hash->count, from->count);
		/* The functions that were unloaded do not count any more. */
		if (hash->count)
			hash->flags &= ~FTRACE_HASH_UNLOADED;
		return;
	}
	for_each_ftrace_entry(from, entry, tmp, i) {
		ftrace_yield(n++);
		there = ftrace_lookup_ip(hash, entry->ip);
		if (there) {
			there->direct |= entry->direct;
			continue;
		}
		hlist_del(&entry->hlist);
		from->count--;
		ftrace_hash_link(hash, entry);
	}
}

/**
 * ftrace_hash_subtract - remove all addresses of a hash from another hash
 * @hash: the hash that loses the addresses
 * @from: the addresses to remove, or NULL
 */
void ftrace_hash_subtract(struct ftrace_hash *hash, struct ftrace_hash *from)
{
	struct ftrace_func_entry *entry, *found;
	struct hlist_node *tmp;
	unsigned int n = 0;
	int i;

	if (ftrace_hash_empty(from))
		return;
	for_each_ftrace_entry(from, entry, tmp, i) {
		ftrace_yield(n++);
		found = ftrace_lookup_ip(hash, entry->ip);
		if (found)
			ftrace_hash_del(hash, found);
	}
}

/**
 * ftrace_hash_dup - copy a hash
 * @src: the hash, NULL for an empty copy
 *
 * Context: Process context, may sleep.
 * Return: the copy, or NULL.
 */
struct ftrace_hash *ftrace_hash_dup(struct ftrace_hash *src)
{
	struct ftrace_hash *hash __free(ftrace_hash) = NULL;
	struct ftrace_func_entry *entry, *copy;
	struct hlist_node *tmp;
	int i;

	if (!src)
		return ftrace_hash_alloc();
	hash = hash_alloc(max_t(int, FIRST_BITS, ilog2(src->count | 1)));
	if (!hash)
		return NULL;

	hash->flags = src->flags;
	for_each_ftrace_entry(src, entry, tmp, i) {
		ftrace_yield(hash->count);
		copy = hash_add(hash, entry->ip);
		if (!copy)
			return NULL;
		copy->direct = entry->direct;
	}
	return no_free_ptr(hash);
}

/*
 * Entries that were taken out of filters in use. Each points to the next one with ->pprev of its
 * node, which no reader looks at. Guarded by ftrace_lock.
 */
static struct hlist_node *forgotten;

static void hash_free_forgotten(struct work_struct *work)
{
	struct hlist_node *node, *next;

	scoped_guard(mutex, &ftrace_lock) {
		node = forgotten;
		forgotten = NULL;
	}
	ftrace_wait_rcu();
	for (; node; node = next) {
		next = (struct hlist_node *)node->pprev;
		kfree(hlist_entry(node, struct ftrace_func_entry, hlist));
	}
}

static DECLARE_WORK(forgotten_work, hash_free_forgotten);

/* Take an entry out of a hash that is in use, and free the entry later. Needs no memory. */
static void hash_forget_entry(struct ftrace_hash *hash, struct ftrace_func_entry *entry)
{
	hlist_del_rcu(&entry->hlist);
	entry->hlist.pprev = (struct hlist_node **)forgotten;
	forgotten = &entry->hlist;
	WRITE_ONCE(hash->count, hash->count - 1);
}

/**
 * ftrace_hash_forget - remove text that is about to be freed from a filter
 * @hash: the filter, which is in use, or NULL
 * @start: first address of the text
 * @end: first address after the text
 *
 * Context: Process context, may sleep. ftrace_lock held.
 */
void ftrace_hash_forget(struct ftrace_hash *hash, unsigned long start, unsigned long end)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	unsigned long flags;
	int i;

	lockdep_assert_held(&ftrace_lock);
	if (!hash || !hash->count)
		return;
	/*
	 * If all functions of the filter are removed, the filter must not mean all
	 * functions, not even for a moment: fgraph.c reads the filter without a
	 * lock, in ftrace_hash_wants() and ftrace_lookup_ip().
	 */
	flags = hash->flags;
	WRITE_ONCE(hash->flags, flags | FTRACE_HASH_UNLOADED);
	/*
	 * Write the flag before the count. ftrace_hash_empty() of trace.h has no
	 * barrier to pair with, and reads the count first.
	 */
	smp_wmb();
	for_each_ftrace_entry(hash, entry, tmp, i) {
		if (entry->ip < start || entry->ip >= end)
			continue;
		hash_forget_entry(hash, entry);
	}
	/* Early at boot there is no workqueue. The next call then queues the work. */
	if (forgotten && system_dfl_wq)
		queue_work(system_dfl_wq, &forgotten_work);
	if (hash->count)
		WRITE_ONCE(hash->flags, flags);
}

/*
 * Moves functions of text that is about to be freed to @taken, whose entries the caller frees.
 * Nobody reads @hash without ftrace_lock. ftrace_lock held.
 */
void ftrace_hash_take(struct ftrace_hash *hash, unsigned long start, unsigned long end,
		      struct hlist_head *taken)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	int i;

	lockdep_assert_held(&ftrace_lock);
	for_each_ftrace_entry(hash, entry, tmp, i) {
		if (entry->ip < start || entry->ip >= end)
			continue;
		hlist_del(&entry->hlist);
		hlist_add_head(&entry->hlist, taken);
		hash->count--;
	}
	if (!hash->count)
		hash->flags |= FTRACE_HASH_UNLOADED;
}
