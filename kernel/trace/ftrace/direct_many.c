// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct callers with many addresses: one ops, and an address to call for each function. All BPF
 * trampolines share one such ops.
 *
 * Its filter has the address of each function, and functions with different addresses have
 * different classes. So a change of any number of functions is one change of the filter, and one
 * plan.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "callback.h"
#include "core.h"
#include "hash.h"
#include "ipmodify.h"
#include "ops.h"
#include "table.h"
#include "wait.h"
#include "wants.h"

/* Makes an empty hash, which grows by itself; NULL without memory. */
struct ftrace_hash *alloc_ftrace_hash(int size_bits)
{
	return ftrace_hash_alloc();
}

/* Frees a hash, or NULL, and its entries. */
void free_ftrace_hash(struct ftrace_hash *hash)
{
	ftrace_hash_free(hash);
}

/*
 * Puts an entry of the caller, whose address @hash lacks, into @hash. ftrace_hash_remove() must
 * take it out before @hash is freed.
 */
void add_ftrace_hash_entry(struct ftrace_hash *hash, struct ftrace_func_entry *entry)
{
	ftrace_hash_link(hash, entry);
}

/* Puts a function that @hash lacks, and what it calls, into @hash. Returns the entry, or NULL. */
struct ftrace_func_entry *add_ftrace_hash_entry_direct(struct ftrace_hash *hash, unsigned long ip,
						       unsigned long direct)
{
	struct ftrace_func_entry *entry = kzalloc_obj(*entry);

	if (!entry)
		return NULL;
	entry->ip = ip;
	entry->direct = direct;
	ftrace_hash_link(hash, entry);
	return entry;
}

/* Takes all entries out of a hash, or NULL, and frees none. */
void ftrace_hash_remove(struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	int i;

	if (ftrace_hash_empty(hash))
		return;
	for_each_ftrace_entry(hash, entry, tmp, i)
		hlist_del(&entry->hlist);
	hash->count = 0;
}

/* How many entries has a hash, or NULL? */
unsigned long ftrace_hash_count(struct ftrace_hash *hash)
{
	return hash ? hash->count : 0;
}

static struct ftrace_hash *many_filter(struct ftrace_ops *ops)
{
	return ftrace_locked(ops->func_hash->filter_hash);
}

static int many_set_filter(struct ftrace_ops *ops, struct ftrace_hash **hash)
{
	return ftrace_ops_update_hash(ops, &ops->func_hash->filter_hash, hash);
}

static bool many_is_registered(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED && ftrace_direct_is_many(ops);
}

/* Does @hash have all functions of @part, with the addresses of @part if @same? */
static bool many_covers(struct ftrace_hash *hash, struct ftrace_hash *part, bool same)
{
	struct ftrace_func_entry *entry, *there;
	struct hlist_node *tmp;
	int i;

	for_each_ftrace_entry(part, entry, tmp, i) {
		there = ftrace_lookup_ip(hash, entry->ip);
		if (!there || (same && there->direct != entry->direct))
			return false;
	}
	return true;
}

/* Can all functions of @hash get a direct caller? */
static int many_check_new(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	struct hlist_node *tmp;
	struct ftrace_table *t;
	int i;

	for_each_ftrace_entry(hash, entry, tmp, i) {
		if (!entry->direct || !ftrace_find_site(entry->ip, &t))
			return -EINVAL;
		if (ftrace_ops_on(entry->ip, FTRACE_OPS_FL_DIRECT))
			return -EINVAL;
		/* While function tracing is switched off, no ops is on a site. */
		if (many_is_registered(ops) && ftrace_lookup_ip(many_filter(ops), entry->ip))
			return -EINVAL;
	}
	return 0;
}

/* The filter of @ops, with the functions and addresses of @hash; NULL without memory. */
static struct ftrace_hash *many_with(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_hash *all __free(ftrace_hash) = ftrace_hash_dup(many_filter(ops));
	struct ftrace_func_entry *entry, *there;
	struct hlist_node *tmp;
	int i;

	if (!all)
		return NULL;
	for_each_ftrace_entry(hash, entry, tmp, i) {
		there = ftrace_lookup_ip(all, entry->ip);
		if (there)
			there->direct = entry->direct;
		else if (!add_ftrace_hash_entry_direct(all, entry->ip, entry->direct))
			return NULL;
	}
	return no_free_ptr(all);
}

static void many_reset(struct ftrace_ops *ops)
{
	struct ftrace_hash *old = many_filter(ops);

	RCU_INIT_POINTER(ops->func_hash->filter_hash, NULL);
	ftrace_hash_free_rcu(old);
	ops->func = NULL;
	ops->flags &= ~(FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS);
}

static int many_start(struct ftrace_ops *ops, struct ftrace_hash **hash)
{
	int ret;

	ops->func = ftrace_stub;
	ops->flags |= FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS;
	ret = many_set_filter(ops, hash);
	if (!ret)
		ret = ftrace_ops_start(ops);
	if (ret)
		many_reset(ops);
	return ret;
}

/*
 * Has @ops lost its last function, and many_end() not come to its end? After ftrace_kill() nobody
 * calls that.
 */
static bool many_is_ending(const struct ftrace_ops *ops)
{
	return ops->func && ftrace_direct_is_many(ops) && !(ops->flags & FTRACE_OPS_FL_ENABLED) &&
	       !ftrace_killed();
}

/* Returns 1 if it must be tried again later. */
static int many_add(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_hash *all __free(ftrace_hash) = NULL;
	int ret;

	if (many_is_ending(ops))
		return 1;
	if (!many_is_registered(ops) && (ops->func || ops->flags & FTRACE_OPS_FL_ENABLED ||
					 !ftrace_hash_empty(many_filter(ops))))
		return -EINVAL;
	ret = many_check_new(ops, hash);
	if (ret)
		return ret;
	all = many_with(ops, hash);
	if (!all)
		return -ENOMEM;
	return many_is_registered(ops) ? many_set_filter(ops, &all) : many_start(ops, &all);
}

/*
 * Has more functions, those of @hash, call something before anything else, and registers @ops if
 * it is not. Waits while the last functions of @ops go. 0, or an error with nothing changed:
 * -EINVAL if @hash is empty or names something that is not a function, or a function that has a
 * direct caller, or if @ops is in use for something else or has a filter; -ERANGE if an address is
 * too far away; -ENOMEM; or an error of ftrace_ops_start(). Takes direct_mutex.
 */
int update_ftrace_direct_add(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	int ret;

	if (ftrace_hash_empty(hash))
		return -EINVAL;
	ftrace_ops_init(ops);
	for (;;) {
		scoped_guard(mutex, &direct_mutex) {
			guard(mutex)(&ftrace_lock);
			ret = many_add(ops, hash);
		}
		if (ret <= 0)
			return ret;
		/* update_ftrace_direct_del() waits for a grace period, without a lock. */
		ftrace_assert_may_wait();
		usleep_range(1000, 2000);
	}
}

/* Returns 1 if the ops must be ended by many_end(). */
static int many_del(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_hash *rest __free(ftrace_hash) = NULL;
	int ret;

	if (!many_is_registered(ops) || !many_covers(many_filter(ops), hash, true))
		return -EINVAL;
	/* The last functions go without any memory. */
	if (many_covers(hash, many_filter(ops), true)) {
		ret = ftrace_ops_stop(ops);
		if (ret || ops->flags & FTRACE_OPS_FL_DYNAMIC)
			return ret ?: 1;
		many_reset(ops);
		return 0;
	}
	rest = ftrace_hash_dup(many_filter(ops));
	if (!rest)
		return -ENOMEM;
	ftrace_hash_subtract(rest, hash);
	return many_set_filter(ops, &rest);
}

static void many_end(struct ftrace_ops *ops)
{
	ftrace_ops_stop_wait(ops);
	guard(mutex)(&ftrace_lock);
	many_reset(ops);
}

/*
 * Undoes update_ftrace_direct_add() for some functions, and unregisters @ops if it has none any
 * more. 0, or an error with nothing changed: -EINVAL if @hash is empty, or has a function that
 * @ops does not have or that calls another address; -ENOMEM; -ENODEV after ftrace_kill(). Takes
 * direct_mutex.
 */
int update_ftrace_direct_del(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	int ret;

	if (ftrace_hash_empty(hash))
		return -EINVAL;
	scoped_guard(mutex, &direct_mutex) {
		guard(mutex)(&ftrace_lock);
		ret = many_del(ops, hash);
	}
	/* A direct caller may wait for something that takes direct_mutex. */
	if (ret > 0)
		many_end(ops);
	else if (!ret && !(ops->flags & FTRACE_OPS_FL_OWN_WAIT))
		ftrace_wait_tramps();
	return min(ret, 0);
}

static int many_mod(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_hash *all __free(ftrace_hash) = NULL;

	if (!many_is_registered(ops) || !many_covers(many_filter(ops), hash, false))
		return -EINVAL;
	all = many_with(ops, hash);
	return all ? many_set_filter(ops, &all) : -ENOMEM;
}

/*
 * Changes what some functions call: at every moment a call goes to the old address or to the new.
 * @do_direct_lock is false in an &ftrace_ops.ops_func, which has direct_mutex. 0, or an error with
 * nothing changed: -EINVAL if @hash is empty, or has a function that @ops does not have, or no
 * address for one; -ERANGE; -ENOMEM; or the answer of the owner, as modify_ftrace_direct_nolock().
 */
int update_ftrace_direct_mod(struct ftrace_ops *ops, struct ftrace_hash *hash, bool do_direct_lock)
{
	int ret;

	if (ftrace_hash_empty(hash))
		return -EINVAL;
	if (do_direct_lock)
		mutex_lock(&direct_mutex);
	else if (WARN_ON_ONCE(!mutex_is_locked(&direct_mutex)))
		return -EINVAL;
	scoped_guard(mutex, &ftrace_lock)
		ret = many_mod(ops, hash);
	if (do_direct_lock)
		mutex_unlock(&direct_mutex);
	return ret;
}
