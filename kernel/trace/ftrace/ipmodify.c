// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing of a function by a direct caller and an ops that changes the instruction pointer
 * (livepatch).
 *
 * Both may be on one function if the direct caller can return to the address that the
 * instruction pointer is set to. The core asks its owner before the second of the two is
 * registered; see enum ftrace_ops_cmd.
 */
#include <linux/ftrace_arch.h>

#include "class.h"
#include "core.h"
#include "hash.h"
#include "ipmodify.h"
#include "table.h"

/* Direct callers do not change while the owner of one of them is asked. */
DEFINE_MUTEX(direct_mutex);

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
 * Ask the owner of each direct caller on a function of @ops to share the function, or
 * tell the owner that the direct caller is alone on the function again. Ask at most
 * *@asked owners, and put the number of owners that were asked there. Returns 0 or the
 * first refusal. An owner that is told, but is busy, goes on as if its direct caller
 * shared the function. This is only slower.
 */
static int ipmodify_ask_all(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd, int *asked)
{
	struct ftrace_func_entry *entry;
	struct ftrace_hash *filter;
	struct hlist_node *tmp;
	int i, left = *asked, ret;

	/* The filter of such an ops belongs to the owner of @ops, who is the caller. */
	filter = rcu_dereference_protected(ops->func_hash->filter_hash, true);
	*asked = 0;
	if (ftrace_hash_empty(filter))
		return 0;
	for_each_ftrace_entry(filter, entry, tmp, i) {
		struct ftrace_ops *direct, *peer;

		scoped_guard(mutex, &ftrace_lock) {
			direct = ftrace_ops_on(entry->ip, FTRACE_OPS_FL_DIRECT);
			peer = ftrace_ops_on(entry->ip, FTRACE_OPS_FL_IPMODIFY);
		}
		if (!direct)
			continue;
		if (!left--)
			return 0;
		/*
		 * The direct caller still shares the function with the ops that was
		 * there before @ops.
		 */
		if (cmd == FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER && peer)
			continue;
		ret = ftrace_direct_agrees(direct, entry->ip, cmd);
		if (ret && cmd == FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER)
			return ret;
		++*asked;
	}
	return 0;
}

/*
 * If @ops changes the instruction pointer, asks the owners of direct callers on its functions to
 * share them, and then returns 0 with direct_mutex held, until ftrace_ipmodify_end(). Else
 * -EBUSY, -EAGAIN or the owner's error.
 */
int ftrace_ipmodify_begin(struct ftrace_ops *ops)
{
	int asked = INT_MAX, ret;

	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return 0;

	mutex_lock(&direct_mutex);
	ret = ipmodify_ask_all(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER, &asked);
	if (!ret)
		return 0;
	ipmodify_ask_all(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER, &asked);
	mutex_unlock(&direct_mutex);
	return ret;
}

/*
 * Ends what ftrace_ipmodify_begin() began; an ops that was not registered takes back the
 * question.
 */
void ftrace_ipmodify_end(struct ftrace_ops *ops, bool registered)
{
	int all = INT_MAX;

	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return;
	if (!registered)
		ipmodify_ask_all(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER, &all);
	mutex_unlock(&direct_mutex);
}

/* Tells the owners of direct callers that @ops was unregistered. Takes direct_mutex. */
void ftrace_ipmodify_gone(struct ftrace_ops *ops)
{
	int all = INT_MAX;

	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		return;
	guard(mutex)(&direct_mutex);
	ipmodify_ask_all(ops, FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER, &all);
}
