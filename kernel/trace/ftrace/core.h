/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of the core share. What fgraph.c needs of the core is
 * in ../ftrace_internal.h, which both cores share.
 *
 * Locks, in the order in which they are taken:
 *
 *	event_mutex, trace_types_lock, probe_mutex, direct_mutex,
 *	ftrace_ops_hash.regex_lock, ftrace_lock, module_mutex or the CPU
 *	hotplug lock, text_mutex
 *
 * ftrace_lock guards the tables, the classes, the list of ops and their contents,
 * and every change of a call site.
 */
#ifndef _FTRACE_CORE_H
#define _FTRACE_CORE_H

#include <linux/ftrace_arch.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/trace_seq.h>

#include "../ftrace_internal.h"
#include "../trace.h"

#ifdef CONFIG_DYNAMIC_FTRACE

extern struct mutex direct_mutex;
extern int ftrace_disabled;
extern struct list_head ftrace_ops_registered;

/* In a loop that may be long, let other tasks run from time to time; @n counts the rounds. */
static inline void ftrace_yield(unsigned int n)
{
	/* A round takes some tens of ns, so 4096 rounds take well below a millisecond. */
	if (n % 4096 == 4095)
		cond_resched();
}

/* Registered ops, youngest first; ftrace_lock held. */
#define for_each_ftrace_ops(ops)	\
	list_for_each_entry(ops, &ftrace_ops_registered, list)

/* ops.c */
void ftrace_ops_init(struct ftrace_ops *ops);
bool ftrace_ops_active(const struct ftrace_ops *ops);
int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);
int ftrace_ops_start(struct ftrace_ops *ops);
int ftrace_ops_stop(struct ftrace_ops *ops);
void ftrace_ops_stop_wait(struct ftrace_ops *ops);
bool ftrace_clashes_unseen(struct ftrace_ops *ops, struct ftrace_hash *old,
			   struct ftrace_hash *filter);
int ftrace_set_enabled(bool on);

/* callback.c */
void ftrace_wait_callbacks(void);

/* hash.c */
struct ftrace_hash *ftrace_hash_alloc(void);
struct ftrace_hash *ftrace_hash_dup(struct ftrace_hash *src);
void ftrace_hash_free(struct ftrace_hash *hash);
void ftrace_hash_free_rcu(struct ftrace_hash *hash);
int ftrace_hash_add(struct ftrace_hash *hash, unsigned long ip);
int ftrace_hash_add_exact(struct ftrace_hash *hash, unsigned long ip);
void ftrace_hash_del(struct ftrace_hash *hash, struct ftrace_func_entry *entry);
void ftrace_hash_merge(struct ftrace_hash *hash, struct ftrace_hash *from);
void ftrace_hash_subtract(struct ftrace_hash *hash, struct ftrace_hash *from);
bool ftrace_hash_wants(struct ftrace_ops_hash *hash, unsigned long ip);
bool ftrace_ops_wants(struct ftrace_ops *ops, unsigned long ip);
bool ftrace_ops_exact(struct ftrace_ops *ops, unsigned long ip);

/*
 * Was the function of this entry named, and not found by a glob? In a filter of this
 * core ->direct is free to store this: a direct caller has an ops of its own.
 */
static inline bool ftrace_entry_exact(const struct ftrace_func_entry *entry)
{
	return entry->direct;
}

/* Walk over all entries of a hash. The loop may free the current entry. */
#define for_each_ftrace_entry(_hash, _entry, _tmp, _i)				\
	for ((_i) = 0; (_i) < 1 << (_hash)->size_bits; (_i)++)			\
		hlist_for_each_entry_safe(_entry, _tmp, &(_hash)->buckets[_i], hlist)

/* match.c */
struct ftrace_glob {
	char		*search;
	unsigned int	len;
	int		type;	/* by filter_parse_regex() */
};

bool ftrace_glob_match(const struct ftrace_glob *g, const char *name);
int ftrace_hash_match(struct ftrace_hash *hash, char *glob, const char *mod);
int ftrace_hash_unmatch(struct ftrace_hash *hash, char *glob, const char *mod);

/* filter.c */
int ftrace_ops_update_hash(struct ftrace_ops *ops, struct ftrace_hash __rcu **orig,
			   struct ftrace_hash *new, bool enable);

/* modules.c */
struct ftrace_table;

void ftrace_mod_sort(unsigned long *ips, unsigned int nr);
unsigned int ftrace_mod_convert(const unsigned long *ips, unsigned int nr,
				unsigned long start, unsigned long end);
int ftrace_mod_add(struct module *mod, unsigned long start, unsigned long end,
		   const unsigned long *ips, unsigned int nr, bool live);

/* mod_wait.c */
static inline struct list_head *ftrace_mod_waits(struct trace_array *tr, bool enable)
{
	return enable ? &tr->mod_trace : &tr->mod_notrace;
}

int ftrace_mod_wait_add(struct list_head *waits, const char *func, const char *module);
int ftrace_mod_wait_del(struct list_head *waits, const char *func, const char *module);
int ftrace_mod_wait_copy(struct list_head *waits, const struct list_head *src);
void ftrace_mod_wait_free(struct list_head *waits);
bool ftrace_mod_is_there(const char *module);
void ftrace_mod_wait_over(struct trace_array *tr, bool enable);
void ftrace_mod_wait_apply(struct module *mod);
void ftrace_forget_sites(unsigned long start, unsigned long end);

/* kallsyms.c */
void ftrace_save_init_names(struct ftrace_table *t);
void ftrace_drop_init_names(struct module *mod);
void ftrace_announce_tramp(const struct ftrace_tramp *tramp, bool gone);

/* ipmodify.c */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
struct ftrace_ops *ftrace_ops_on(unsigned long ip, unsigned long flag);
int ftrace_ipmodify_begin(struct ftrace_ops *ops);
void ftrace_ipmodify_end(struct ftrace_ops *ops, bool registered);
void ftrace_ipmodify_gone(struct ftrace_ops *ops);
bool ftrace_ipmodify_asked(struct ftrace_ops *ops);
#else
static inline int ftrace_ipmodify_begin(struct ftrace_ops *ops) { return 0; }
static inline void ftrace_ipmodify_end(struct ftrace_ops *ops, bool registered) { }
static inline void ftrace_ipmodify_gone(struct ftrace_ops *ops) { }
static inline bool ftrace_ipmodify_asked(struct ftrace_ops *ops) { return false; }
#endif

static inline unsigned long ftrace_direct_of(const struct ftrace_ops *ops)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return ops->direct_call;
#endif
	return 0;
}

#endif /* CONFIG_DYNAMIC_FTRACE */

#endif
