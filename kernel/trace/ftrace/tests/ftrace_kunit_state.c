// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does all that the core keeps agree? Many numbers and pointers of the core can be worked out
 * from others. Here they are worked out again, and compared. So a case notices at its end if
 * something went wrong that its own checks do not look at.
 */
#include <linux/ftrace_arch.h>
#include <linux/memory.h>

#include "../callback.h"
#include "../class.h"
#include "../core.h"
#include "../dispatch.h"
#include "../hash.h"
#include "../ops.h"
#include "../table.h"
#include "../text.h"
#include "../walk.h"
#include "../wants.h"
#include "ftrace_kunit.h"

#define RIVALS		(FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)
#define SITE_FLAGS	(SITE_FAILED | SITE_TOUCHED | SITE_MODIFIED)

static bool state_is_registered(const struct ftrace_ops *ops)
{
	struct ftrace_ops *op;

	for_each_ftrace_ops(op)
		if (op == ops)
			return true;
	return false;
}

static unsigned int state_users(const struct ftrace_class *c)
{
	struct ftrace_table *t;
	unsigned int i, users = 0;

	for_each_ftrace_table(t, i)
		for (unsigned int n = 0; n < t->nr; n++)
			users += site_class(&t->sites[n]) == c->id;
	return users;
}

/* The next callback of a walk from the @at-th down, without those of removed ops. */
static const struct ftrace_walk_call *state_next(const struct ftrace_walk *walk, unsigned int *at)
{
	while (*at) {
		const struct ftrace_walk_call *call = &walk->call[--*at];

		if (!call->callback->off)
			return call;
	}
	return NULL;
}

/* The ops of a class, without the direct caller, are in the slots or in the walk. */
static const char *state_dispatch(const struct ftrace_class *c)
{
	const struct ftrace_dispatch *dispatch = c->dispatch;
	const struct ftrace_walk *walk = NULL;
	struct ftrace_callback *direct = NULL;
	bool regs = false;
	unsigned int n = 0, at = 0;

	if (dispatch->walker) {
		walk = ftrace_locked(dispatch->walker->walk);
		at = walk->nr;
	}
	for (unsigned int i = 0; i < c->nr; i++) {
		const struct ftrace_walk_call *call;
		struct ftrace_ops *ops = c->ops[i];

		regs |= !!(ops->flags & FTRACE_OPS_FL_SAVE_REGS);
		if (ops->flags & FTRACE_OPS_FL_DIRECT) {
			direct = ops->callback;
			continue;
		}
		call = walk ? state_next(walk, &at) : NULL;
		if (walk && (!call || call->ops != ops || call->callback != ops->callback ||
			     call->func != ftrace_ops_get_func(ops)))
			return "a walk calls another ops";
		if (!walk && (n >= dispatch->nr || dispatch->slot[n].callback != ops->callback))
			return "a slot calls another ops";
		n++;
	}
	if (walk && (state_next(walk, &at) || n < FTRACE_MIN_WALK ||
		     dispatch->walker->regs != regs))
		return "a walk has more, or too few, or other registers";
	if (!walk && n > FTRACE_MAX_SLOTS)
		return "a trampoline has many slots";
	n = walk ? 1 : n;
	if (dispatch->nr != n + !!direct || (direct && dispatch->slot[n].callback != direct))
		return "the last slot is not that of the direct caller";
	for (unsigned int i = 0; i < dispatch->nr; i++)
		if (dispatch->slot[i].callback &&
		    (dispatch->slot[i].dispatch != dispatch || list_empty(&dispatch->slot[i].list)))
			return "a slot is off, or of another trampoline";
	return NULL;
}

/* What the sites of a class call. */
static const char *state_target(const struct ftrace_class *c)
{
	unsigned long target = ftrace_targets[c->id];

	if (c->walk || c->donor || ftrace_class_waits(c))
		return "a class waits for a trampoline";
	if (c->dispatch && target != c->dispatch->tramp->addr)
		return "a class does not call its trampoline";
	if (!c->dispatch && !ftrace_is_thunk(target) && (!target || target != c->direct))
		return "a class without trampoline calls no direct caller, and has no thunks";
	return c->dispatch ? state_dispatch(c) : NULL;
}

static const char *state_class(const struct ftrace_class *c)
{
	unsigned long direct = 0;

	if (c->users != state_users(c) || !c->users)
		return "a class has another number of sites";
	for (unsigned int i = 0; i < c->nr; i++) {
		const struct ftrace_ops *ops = c->ops[i];

		if (!state_is_registered(ops))
			return "a class has an ops that is not registered";
		if (i && ops->callback->seq >= c->ops[i - 1]->callback->seq)
			return "the ops of a class are not in order";
		if (!ftrace_direct_is_many(ops) && ops->flags & FTRACE_OPS_FL_DIRECT)
			direct = ops->direct_call;
	}
	if (ftrace_class_stale(c))
		return NULL;
	if (!c->nr)
		return "an empty class has a number";
	if (direct && c->direct != direct)
		return "a class has another direct function";
	for (unsigned int id = 1; id < c->id; id++) {
		const struct ftrace_class *other = ftrace_class_nth(id);

		if (other && !ftrace_class_stale(other) && other->nr == c->nr &&
		    other->direct == c->direct &&
		    !memcmp(other->ops, c->ops, c->nr * sizeof(*c->ops)))
			return "two classes are alike";
	}
	return state_target(c);
}

static const char *state_classes(void)
{
	const char *bad = NULL;

	if (ftrace_class_nth(0)->nr || ftrace_targets[0])
		return "class 0 is not that of nops";
	for (unsigned int id = 1; id < ftrace_nr_classes && !bad; id++) {
		const struct ftrace_class *c = ftrace_class_nth(id);

		if (c ? c->id != id : !!ftrace_targets[id])
			return "a class has another number";
		bad = c ? state_class(c) : NULL;
	}
	return bad;
}

static bool state_hash_is_whole(struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	unsigned long count = 0;
	struct hlist_node *tmp;
	int i;

	if (!hash)
		return true;
	for_each_ftrace_entry(hash, entry, tmp, i) {
		if (ftrace_lookup_ip(hash, entry->ip) != entry)
			return false;
		count++;
	}
	return count == hash->count;
}

static const char *state_callback(const struct ftrace_ops *ops)
{
	const struct ftrace_callback *cb = ops->callback;
	bool counts = ops->flags & FTRACE_OPS_FL_DYNAMIC && !(ops->flags & FTRACE_OPS_FL_DIRECT);
	unsigned int slots = 0, classes = 0;
	const struct ftrace_slot *slot;

	list_for_each_entry(slot, &cb->slots, list) {
		if (slot->callback != cb)
			return "a slot is in the list of another callback";
		slots++;
	}
	for (unsigned int id = 1; id < ftrace_nr_classes; id++)
		classes += ftrace_class_nth(id) && ftrace_class_has(ftrace_class_nth(id), ops);
	if (cb->off || cb->nr_slots != slots || cb->nr_classes != classes ||
	    cb->users != 1 + slots + cb->nr_walks)
		return "a callback is off, or has other slots, classes or users";
	if (!!cb->count != counts)
		return "tasks in a callback are not counted";
	return NULL;
}

static const char *state_ops(void)
{
	struct ftrace_ops *ops, *last = NULL;
	const char *bad = NULL;

	for_each_ftrace_ops(ops) {
		if (!(ops->flags & FTRACE_OPS_FL_ENABLED) || !ops->callback)
			return "an ops is registered by half";
		if (!(ops->flags & FTRACE_OPS_FL_DYNAMIC) &&
		    !is_kernel_core_data((unsigned long)ops))
			return "an ops that can be freed is not waited for";
		if (last && ops->callback->seq > last->callback->seq)
			return "the list of ops is not in order";
		if (!state_hash_is_whole(ftrace_locked(ops->func_hash->filter_hash)) ||
		    !state_hash_is_whole(ftrace_locked(ops->func_hash->notrace_hash)))
			return "a filter has other functions than its chains";
		bad = bad ?: state_callback(ops);
		last = ops;
	}
	return bad;
}

/* Has a site the ops that want it? With many ops on a site, one may have been refused. */
static bool state_site_is_wanted(const struct ftrace_class *c, unsigned long ip)
{
	struct ftrace_ops *ops;

	for_each_ftrace_ops(ops) {
		bool wants = ftrace_ops_active(ops) && ftrace_ops_wants(ops, ip);

		if (wants != ftrace_class_has(c, ops) && !(wants && ops->flags & RIVALS) &&
		    list_empty(&ops->subop_list))
			return false;
	}
	return true;
}

static const char *state_site(const struct ftrace_table *t, const struct ftrace_site *site)
{
	unsigned long ip = site_ip(t, site);
	const struct ftrace_class *c;
	u32 id = site_class(site);

	if (id >= ftrace_nr_classes || !ftrace_class_nth(id) ||
	    site->state & ~(SITE_CLASS_MASK | SITE_FLAGS))
		return "a site has no class, or unknown flags";
	if (ip + MCOUNT_INSN_SIZE > t->end)
		return "a site is not in the text of its table";
	if (!id)
		return NULL;
	c = ftrace_class_nth(id);
	if (!t->live || !(site->state & SITE_TOUCHED))
		return "a site is traced and not marked";
	if (ftrace_class_flag(c, RIVALS) && !(site->state & SITE_MODIFIED))
		return "a site is modified and not marked";
	if (site->state & SITE_FAILED)
		return NULL;
	if (!arch_ftrace_site_calls(ip, ftrace_targets[id]))
		return "a site does not call what its class calls";
	if (!ftrace_class_stale(c) && !state_site_is_wanted(c, ip))
		return "a site has another set of ops than it should";
	return NULL;
}

static const char *state_tables(void)
{
	unsigned long sites = 0, pages = 0, groups = 0, end = 0;
	struct ftrace_table *t;
	const char *bad = NULL;
	unsigned int i;

	guard(mutex)(&text_mutex);
	for_each_ftrace_table(t, i) {
		if (t->start < end || t->end <= t->start)
			return "the tables are not in order";
		end = t->end;
		for (unsigned int n = 0; n < t->nr && !bad; n++) {
			if (n && t->sites[n].off <= t->sites[n - 1].off)
				return "the sites of a table are not in order";
			bad = state_site(t, &t->sites[n]);
		}
		sites += t->nr;
		pages += DIV_ROUND_UP(t->nr * sizeof(*t->sites), PAGE_SIZE);
		groups += !!t->nr;
	}
	if (sites != ftrace_update_tot_cnt || pages != ftrace_number_of_pages ||
	    groups != ftrace_number_of_groups)
		return "the number of sites is another one";
	return bad;
}

/* What does not agree, or NULL. */
const char *ftrace_kunit_state(void)
{
	guard(mutex)(&ftrace_lock);
	return state_classes() ?: state_ops() ?: state_tables();
}

/* The end of a case. */
void ftrace_kunit_exit(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_state() ?: "", "");
}
