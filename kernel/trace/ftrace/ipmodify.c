// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing of a function by a direct caller and an ops that changes the instruction pointer
 * (livepatch).
 *
 * Both may be on one function if the direct caller can return to the address that the
 * instruction pointer is set to. The core asks its owner before the second of the two is
 * registered, or gets the function in its filter; see enum ftrace_ops_cmd.
 */
#include <linux/ftrace_arch.h>

#include "callback.h"
#include "class.h"
#include "core.h"
#include "hash.h"
#include "ipmodify.h"
#include "table.h"

/**
 * ftrace_ops_on - find an ops on a site by a flag
 * @ip: address of the site
 * @flag: FTRACE_OPS_FL_DIRECT or FTRACE_OPS_FL_IPMODIFY
 *
 * Context: ftrace_lock held.
 * Return: the ops, or NULL. A site has at most one ops with the flag.
 */
struct ftrace_ops *ftrace_ops_on(unsigned long ip, unsigned long flag)
{
	struct ftrace_table *t;
	struct ftrace_site *site = ftrace_find_site(ip, &t);
	struct ftrace_class *c;

	lockdep_assert_held(&ftrace_lock);
	if (!site)
		return NULL;
	c = ftrace_class_nth(site_class(site));
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->ops[i]->flags & flag)
			return c->ops[i];
	return NULL;
}

/*
 * If there is a direct caller at @ip, ask its owner to share the function, or tell the owner that
 * the direct caller is alone on the function again. Returns 1 if there is one, else 0; or the
 * refusal. An owner that is told, but is busy, goes on as if its direct caller shared the function.
 * This is only slower.
 */
static int ipmodify_ask(unsigned long ip, enum ftrace_ops_cmd cmd)
{
	struct ftrace_ops *direct, *peer;
	int ret;

	scoped_guard(mutex, &ftrace_lock) {
		direct = ftrace_ops_on(ip, FTRACE_OPS_FL_DIRECT);
		peer = ftrace_ops_on(ip, FTRACE_OPS_FL_IPMODIFY);
	}
	if (!direct)
		return 0;
	/* The direct caller still shares the function with another ops, which was there before. */
	if (cmd == FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER && peer)
		return 1;
	ret = ftrace_direct_agrees(direct, ip, cmd);
	if (!ret)
		ftrace_direct_agreed(direct);
	return ret && cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER ? ret : 1;
}

/*
 * The same for the first *@asked direct callers on the functions of @filter; puts the number of
 * those that were asked there. Returns 0 or the first refusal.
 */
static int ipmodify_ask_all(struct ftrace_hash *filter, enum ftrace_ops_cmd cmd,
			    unsigned int *asked)
{
	struct ftrace_func_entry *entry;
	unsigned int left = *asked;
	struct hlist_node *tmp;
	int i, ret;

	*asked = 0;
	if (ftrace_hash_empty(filter))
		return 0;
	for_each_ftrace_entry(filter, entry, tmp, i) {
		if (*asked == left)
			return 0;
		ret = ipmodify_ask(entry->ip, cmd);
		if (ret < 0)
			return ret;
		*asked += ret;
	}
	return 0;
}

/* @funcs, or all functions of @ops. */
static struct ftrace_hash *ipmodify_funcs(struct ftrace_ops *ops, struct ftrace_hash *funcs)
{
	/* The filter of such an ops belongs to the owner of @ops, who is the caller. */
	return funcs ?: rcu_dereference_protected(ops->func_hash->filter_hash, true);
}

static void ipmodify_tell(struct ftrace_ops *ops, struct ftrace_hash *funcs)
{
	unsigned int all = UINT_MAX;

	ipmodify_ask_all(ipmodify_funcs(ops, funcs), FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER,
			 &all);
}

/*
 * If @ops changes the instruction pointer, asks the owners of direct callers on @funcs, or if that
 * is NULL on all functions of @ops, to share them, and then returns 0 with direct_mutex held, until
 * ftrace_ipmodify_end(). Else -EBUSY, -EAGAIN or the owner's error.
 */
int ftrace_ipmodify_begin(struct ftrace_ops *ops, struct ftrace_hash *funcs)
{
	unsigned int asked = UINT_MAX;
	int ret;

	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return 0;

	mutex_lock(&direct_mutex);
	ftrace_direct_ask_for(ops);
	funcs = ipmodify_funcs(ops, funcs);
	ret = ipmodify_ask_all(funcs, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER, &asked);
	if (!ret)
		return 0;
	ipmodify_ask_all(funcs, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER, &asked);
	ftrace_direct_ask_for(NULL);
	mutex_unlock(&direct_mutex);
	return ret;
}

/* Ends what ftrace_ipmodify_begin() began; takes back the question if @ops did not get @funcs. */
void ftrace_ipmodify_end(struct ftrace_ops *ops, struct ftrace_hash *funcs, bool got)
{
	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return;
	ftrace_direct_ask_for(NULL);
	if (!got)
		ipmodify_tell(ops, funcs);
	mutex_unlock(&direct_mutex);
}

/* Tells the owners of direct callers that @ops has lost @funcs, or all. Takes direct_mutex. */
void ftrace_ipmodify_gone(struct ftrace_ops *ops, struct ftrace_hash *funcs)
{
	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return;
	guard(mutex)(&direct_mutex);
	ipmodify_tell(ops, funcs);
}
