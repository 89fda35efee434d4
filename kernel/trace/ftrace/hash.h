/* SPDX-License-Identifier: GPL-2.0-only */
/* Hashes of call site addresses. */
#ifndef _FTRACE_HASH_H
#define _FTRACE_HASH_H

#include <linux/cleanup.h>
#include <linux/types.h>

#include "../ftrace_internal.h"
#include "../trace.h"

/*
 * The flags of a filter whose functions have all been unloaded, or whose words for modules named
 * none. Empty, it must not mean all functions, whether words wait for modules or not.
 */
#define FTRACE_HASH_FL_GONE	(FTRACE_HASH_FL_MOD << 1)
#define FTRACE_HASH_UNLOADED	(FTRACE_HASH_FL_MOD | FTRACE_HASH_FL_GONE)

/*
 * The ->direct of an entry whose function was named, and not found by a glob; 0 if it was found. In
 * the filter of a direct caller with many addresses ->direct is the address to call, and each
 * function was named. No address is 1, not even one to jump to. A field of its own would double the
 * memory of an entry.
 */
#define FTRACE_ENTRY_NAMED	1UL

struct ftrace_hash *ftrace_hash_alloc(void);
struct ftrace_hash *ftrace_hash_dup(struct ftrace_hash *src);
void ftrace_hash_free(struct ftrace_hash *hash);
void ftrace_hash_free_rcu(struct ftrace_hash *hash);
void ftrace_hash_link(struct ftrace_hash *hash, struct ftrace_func_entry *entry);
int ftrace_hash_add(struct ftrace_hash *hash, unsigned long ip, bool exact);
void ftrace_hash_del(struct ftrace_hash *hash, struct ftrace_func_entry *entry);
void ftrace_hash_merge(struct ftrace_hash *hash, struct ftrace_hash *from);
void ftrace_hash_subtract(struct ftrace_hash *hash, struct ftrace_hash *from);
void ftrace_hash_forget(struct ftrace_hash *hash, unsigned long start, unsigned long end);
void ftrace_hash_take(struct ftrace_hash *hash, unsigned long start, unsigned long end,
		      struct hlist_head *taken);

DEFINE_FREE(ftrace_hash, struct ftrace_hash *, ftrace_hash_free(_T))

/* Walk over all entries of a hash. The loop may free the current entry. */
#define for_each_ftrace_entry(_hash, _entry, _tmp, _i)				\
	for ((_i) = 0; (_i) < 1 << (_hash)->size_bits; (_i)++)			\
		hlist_for_each_entry_safe(_entry, _tmp, &(_hash)->buckets[_i], hlist)

#endif
