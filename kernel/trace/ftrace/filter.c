// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: the functions that an ops traces, given by name, glob, number or address.
 *
 * A glob is matched in one walk along sites and symbols. A plain name is looked up
 * the other way round: from the sorted names of kallsyms to the site.
 */
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>

#include "core.h"
#include "names.h"
#include "plan.h"
#include "table.h"

/**
 * ftrace_glob_match - does a name match a glob?
 * @g: the glob, as parsed by filter_parse_regex()
 * @name: the name
 *
 * Return: true if @name matches.
 */
bool ftrace_glob_match(const struct ftrace_glob *g, const char *name)
{
	const char *at;
	size_t len;

	switch (g->type) {
	case MATCH_FULL:
		return !strcmp(name, g->search);
	case MATCH_FRONT_ONLY:
		return !strncmp(name, g->search, g->len);
	case MATCH_MIDDLE_ONLY:
		/* Faster than strstr(), which compares at every character. */
		for (at = name; (at = strchr(at, *g->search)); at++)
			if (!strncmp(at, g->search, g->len))
				return true;
		return false;
	case MATCH_END_ONLY:
		len = strlen(name);
		return len >= g->len && !memcmp(name + len - g->len, g->search, g->len);
	case MATCH_GLOB:
		return glob_match(g->search, name);
	default:
		return false;
	}
}

static struct ftrace_glob match_glob_parse(char *text, bool *not)
{
	struct ftrace_glob g;
	int inverted = 0;

	g.type = filter_parse_regex(text, strlen(text), &g.search, &inverted);
	g.len = strlen(g.search);
	if (not)
		*not = inverted;
	return g;
}

/* One matching pass, and the hash that gets the matching sites. */
struct match {
	struct ftrace_hash	*hash;
	struct ftrace_hash	*within;	/* only sites of this hash; or NULL */
	bool			exact;
	int			found;
};

static int match_site(struct match *m, struct ftrace_table *t, struct ftrace_site *site)
{
	unsigned long ip = site_ip(t, site);
	int ret;

	if (m->within && !ftrace_lookup_ip(m->within, ip)) {
		m->found++;
		return 0;
	}
	if (!m->within && !m->exact && site->state & SITE_FAILED)
		return 0;
	ret = m->exact ? ftrace_hash_add_exact(m->hash, ip) : ftrace_hash_add(m->hash, ip);
	m->found += !ret;
	return ret;
}

/* Does a glob match every name? */
static bool match_glob_any(const struct ftrace_glob *g)
{
	return !g->len && g->type != MATCH_FULL && g->type != MATCH_GLOB;
}

/* The characters that every matching name has. */
static u32 match_glob_chars(const struct ftrace_glob *g)
{
	const char *wild = g->type == MATCH_GLOB ? "*?" : "";
	u32 chars = 0;

	if (g->type == MATCH_GLOB && strpbrk(g->search, "[\\"))
		return 0;
	for (const char *c = g->search; *c; c++)
		if (!strchr(wild, *c))
			chars |= ftrace_name_char(*c);
	return chars;
}

static bool match_names(const struct ftrace_glob *g, u32 chars,
			const struct ftrace_names *names)
{
	/* Too large to be cleared on the stack for each site. ftrace_lock guards this buffer. */
	static char name[FTRACE_NAME_ROOM];

	if (g->type == MATCH_FRONT_ONLY)
		return ftrace_names_prefix(names, g->search, g->len);
	if (!ftrace_names_holds(names, chars))
		return false;
	ftrace_names_get(names, name);
	return ftrace_glob_match(g, name);
}

static int match_table(struct match *m, struct ftrace_table *t,
		       const struct ftrace_glob *g)
{
	u32 chars = match_glob_chars(g);
	bool any = match_glob_any(g);
	struct ftrace_names names;
	int ret;

	ret = ftrace_names_start(&names, t);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < t->nr && !ret; i++) {
		struct ftrace_site *site = &t->sites[i];

		ftrace_yield(i);
		if (any || (ftrace_names_find(&names, site_ip(t, site)) &&
			    match_names(g, chars, &names)))
			ret = match_site(m, t, site);
	}
	ftrace_names_end(&names);
	return ret;
}

static int match_symbol(void *data, unsigned long addr)
{
	struct ftrace_table *t = ftrace_table_of(addr);
	struct ftrace_site *site;

	if (!t)
		return 0;
	site = ftrace_find_site_in(t, addr, addr + FTRACE_MCOUNT_MAX_OFFSET);
	return site ? match_site(data, t, site) : 0;
}

/* Match by number, counted from 1 as in available_filter_functions, or by address. */
static int match_number(struct match *m, const char *number)
{
	struct ftrace_table *t;
	struct ftrace_site *site;
	unsigned long n;
	unsigned int i;

	if (kstrtoul(number, 0, &n) || !n)
		return 0;

	site = ftrace_find_site(n, &t);
	if (!site)
		site = ftrace_find_site(ftrace_location(n), &t);
	if (site)
		return match_site(m, t, site);

	n--;
	for_each_ftrace_table(t, i) {
		if (!t->live)
			continue;
		if (n < t->nr)
			return match_site(m, t, &t->sites[n]);
		n -= t->nr;
	}
	return 0;
}

/* Does a table belong to a module that `:mod:' names? An empty name: to any module. */
static bool match_mod(const struct ftrace_table *t, const struct ftrace_glob *mod,
		      bool not)
{
	bool match = t->mod && (!mod->len || ftrace_glob_match(mod, module_name(t->mod)));

	return match != not;
}

static int match_all(struct match *m, struct ftrace_glob *func, const char *mod)
{
	struct ftrace_glob mod_glob = { };
	struct ftrace_table *t;
	bool mod_not = false;
	char *copy = NULL;
	unsigned int i;
	int ret = 0;

	if (mod) {
		copy = kstrdup(mod, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		mod_glob = match_glob_parse(copy, &mod_not);
		if (mod_glob.type == MATCH_INDEX)
			mod_glob.type = MATCH_FULL;
		/* An empty name matches all names. */
		if (!func->len && func->type == MATCH_FULL)
			func->type = MATCH_FRONT_ONLY;
	}
	m->exact = func->type == MATCH_FULL || func->type == MATCH_INDEX;

	if (func->type == MATCH_INDEX) {
		ret = match_number(m, func->search);
	} else if (func->len || func->type != MATCH_FULL) {
		bool by_name = func->type == MATCH_FULL;

		/* `:mod:!name' also matches the functions of the kernel itself. */
		if (by_name && (!mod || mod_not))
			ret = kallsyms_on_each_match_symbol(match_symbol, func->search, m);
		for_each_ftrace_table(t, i) {
			if (ret)
				break;
			if (by_name && !t->mod)
				continue;
			if (!mod || match_mod(t, &mod_glob, mod_not))
				ret = match_table(m, t, func);
		}
	}
	kfree(copy);
	return ret ?: m->found;
}

static int match_locked(struct match *m, char *glob, const char *mod)
{
	struct ftrace_glob func = match_glob_parse(glob, NULL);

	if (!m->hash)
		return -ENOMEM;
	guard(mutex)(&ftrace_lock);
	return match_all(m, &func, mod);
}

/**
 * ftrace_hash_match - add all functions that a glob matches to a hash
 * @hash: the hash
 * @glob: name, glob, number or address; without a leading `!'
 * @mod: name or glob of the modules to search, with a leading `!' for all other
 *	modules, empty for all modules; NULL for the kernel and all modules
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 * Return: number of functions found, also of those already in @hash; or -ENOMEM
 *	with nothing changed.
 */
int ftrace_hash_match(struct ftrace_hash *hash, char *glob, const char *mod)
{
	struct match m = { .hash = ftrace_hash_alloc() };
	int ret = match_locked(&m, glob, mod);

	if (ret > 0)
		ftrace_hash_merge(hash, m.hash);
	ftrace_hash_free(m.hash);
	return ret;
}

/**
 * ftrace_hash_unmatch - remove all functions that a glob matches from a hash
 * @hash: the hash, not in use
 * @glob: as for ftrace_hash_match()
 * @mod: as for ftrace_hash_match()
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 * Return: number of functions that match, in @hash or not; or -ENOMEM with nothing
 *	changed.
 */
int ftrace_hash_unmatch(struct ftrace_hash *hash, char *glob, const char *mod)
{
	struct match m = { .hash = ftrace_hash_alloc(), .within = hash };
	int ret = match_locked(&m, glob, mod);

	if (ret > 0)
		ftrace_hash_subtract(hash, m.hash);
	ftrace_hash_free(m.hash);
	return ret;
}

/* Do @ops, or an ops that runs under it, use the filter @hash? */
static bool filter_ops_uses(struct ftrace_ops *ops, struct ftrace_ops_hash *hash)
{
	struct ftrace_ops *sub;

	if (list_empty(&ops->subop_list))
		return ops->func_hash == hash;
	list_for_each_entry(sub, &ops->subop_list, list)
		if (sub->func_hash == hash)
			return true;
	return false;
}

/**
 * ftrace_ops_update_hash - give an ops another filter
 * @ops: the ops, registered or not; other ops may share its filter
 * @orig: &ops->func_hash->filter_hash or &ops->func_hash->notrace_hash
 * @new: the new filter; the caller keeps it
 * @enable: true: functions to trace; false: functions not to trace
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, or an error with nothing changed: -EINVAL if an ops that changes the
 *	instruction pointer would get all functions; -EBUSY, see
 *	ftrace_clashes_unseen(); or an error of ftrace_plan_run().
 */
int ftrace_ops_update_hash(struct ftrace_ops *ops, struct ftrace_hash __rcu **orig,
			   struct ftrace_hash *new, bool enable)
{
	struct ftrace_hash *old = rcu_dereference_protected(*orig, true);
	struct ftrace_scope scope = { .hash = { old, new } };
	struct ftrace_change *changes;
	struct ftrace_hash *copy = NULL;
	struct ftrace_ops *op;
	unsigned int nr = 0, looked = 0;
	int ret = 0;

	/* An ops that changes the instruction pointer must not get all functions. */
	if (enable && ftrace_hash_empty(new) && ops->flags & FTRACE_OPS_FL_ENABLED &&
	    ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT))
		return -EINVAL;
	if (enable && ops->flags & FTRACE_OPS_FL_ENABLED &&
	    ftrace_clashes_unseen(ops, old, new))
		return -EBUSY;

	if (!ftrace_hash_empty(new)) {
		copy = ftrace_hash_dup(new);
		if (!copy)
			return -ENOMEM;
	}

	for_each_ftrace_ops(op) {
		nr += filter_ops_uses(op, ops->func_hash);
		ftrace_yield(looked++);
	}
	changes = kvcalloc(max(nr, 1U), sizeof(*changes), GFP_KERNEL);
	if (!changes) {
		ftrace_hash_free(copy);
		return -ENOMEM;
	}

	rcu_assign_pointer(*orig, copy);
	if (nr) {
		nr = 0;
		for_each_ftrace_ops(op)
			if (filter_ops_uses(op, ops->func_hash))
				changes[nr++] = (struct ftrace_change){
					op, ftrace_ops_active(op) };

		/* An empty filter means all functions. */
		scope.all = enable && (ftrace_hash_empty(old) || ftrace_hash_empty(copy));
		ret = ftrace_plan_run(changes, nr, &scope, FTRACE_PLAN_NAMED);
	}
	if (ret) {
		rcu_assign_pointer(*orig, old);
		swap(old, copy);
	}
	ftrace_hash_free_rcu(old);
	kvfree(changes);
	return ret;
}

static struct ftrace_hash __rcu **filter_hash_of(struct ftrace_ops *ops, bool enable)
{
	return enable ? &ops->func_hash->filter_hash : &ops->func_hash->notrace_hash;
}

/* Make a copy of the filter to change; an empty filter if @reset. */
static struct ftrace_hash *filter_begin(struct ftrace_ops *ops, bool enable, bool reset)
{
	struct ftrace_hash *old = rcu_dereference_protected(*filter_hash_of(ops, enable), true);

	/* Unloading a module removes its sites from the filter. */
	guard(mutex)(&ftrace_lock);
	return ftrace_hash_dup(reset ? NULL : old);
}

static int filter_commit(struct ftrace_ops *ops, struct ftrace_hash *hash, bool enable)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_ops_update_hash(ops, filter_hash_of(ops, enable), hash, enable);
}

static int filter_set_regex(struct ftrace_ops *ops, unsigned char *buf, int len, bool reset,
			    bool enable)
{
	struct ftrace_hash *hash;
	char *copy = NULL;
	int ret = 0;

	if (unlikely(ftrace_disabled))
		return -ENODEV;
	if (buf && len <= 0)
		return -EINVAL;

	ftrace_ops_init(ops);
	guard(mutex)(&ops->func_hash->regex_lock);

	hash = filter_begin(ops, enable, reset);
	if (buf)
		copy = kmemdup_nul(buf, len, GFP_KERNEL);
	if (!hash || (buf && !copy)) {
		ret = -ENOMEM;
		goto out;
	}
	if (copy && copy[0] == '!')
		ret = ftrace_hash_unmatch(hash, copy + 1, NULL);
	else if (copy)
		ret = ftrace_hash_match(hash, copy, NULL);
	if (copy && !ret)
		ret = -EINVAL;
	if (ret >= 0)
		ret = filter_commit(ops, hash, enable);
out:
	kfree(copy);
	ftrace_hash_free(hash);
	return ret;
}

/**
 * ftrace_set_filter - set the functions that an ops traces
 * @ops: the ops
 * @buf: a name or glob, NULL for none
 * @len: length of @buf
 * @reset: start from an empty filter; with @buf NULL, @ops then traces all functions
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed: -EINVAL if no function matches;
 *	-ENODEV after ftrace_kill(); -ENOMEM; or an error of ftrace_plan_run().
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_regex(ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - set the functions that an ops does not trace
 * @ops: the ops
 * @buf: a name or glob, NULL for none
 * @len: length of @buf
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: as ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_regex(ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - set set_ftrace_filter of the top instance
 * @buf: as for ftrace_set_filter()
 * @len: as for ftrace_set_filter()
 * @reset: as for ftrace_set_filter()
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	filter_set_regex(&global_ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - set set_ftrace_notrace of the top instance
 * @buf: as for ftrace_set_notrace()
 * @len: as for ftrace_set_notrace()
 * @reset: as for ftrace_set_notrace()
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	filter_set_regex(&global_ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

static int filter_set_ip(struct ftrace_hash *hash, unsigned long ip, bool remove)
{
	struct ftrace_func_entry *entry;

	ip = ftrace_location(ip);
	if (!ip)
		return -EINVAL;
	if (!remove)
		return ftrace_hash_add_exact(hash, ip);
	entry = ftrace_lookup_ip(hash, ip);
	if (!entry)
		return -ENOENT;
	ftrace_hash_del(hash, entry);
	return 0;
}

/**
 * ftrace_set_filter_ips - set the functions that an ops traces, by address
 * @ops: the ops
 * @ips: addresses of functions or of their call sites
 * @cnt: number of addresses
 * @remove: remove the functions from the filter instead of adding them
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed: -EINVAL if an address is not that of
 *	a traced function; -ENOENT if a function to remove is not in the filter;
 *	-ENODEV after ftrace_kill(); -ENOMEM; or an error of ftrace_plan_run().
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset)
{
	struct ftrace_hash *hash;
	int ret = 0;

	if (unlikely(ftrace_disabled))
		return -ENODEV;

	ftrace_ops_init(ops);
	guard(mutex)(&ops->func_hash->regex_lock);

	hash = filter_begin(ops, true, reset);
	if (!hash)
		return -ENOMEM;
	for (unsigned int i = 0; i < cnt && !ret; i++) {
		ret = filter_set_ip(hash, ips[i], remove);
		ftrace_yield(i);
	}
	if (!ret)
		ret = filter_commit(ops, hash, true);
	ftrace_hash_free(hash);
	return ret;
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - set a function that an ops traces, by address
 * @ops: the ops
 * @ip: address of the function or of its call site
 * @remove: remove the function from the filter instead of adding it
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: as ftrace_set_filter_ips().
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove,
			 int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

/**
 * ftrace_free_filter - free the filter of an ops that is not registered
 * @ops: the ops
 *
 * Context: Process context, may sleep.
 */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *hash;

	ftrace_ops_init(ops);
	if (WARN_ON(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;

	/* If @ops uses the filter of another ops, that filter stays. */
	hash = &ops->local_hash;
	guard(mutex)(&hash->regex_lock);
	ftrace_hash_free_rcu(rcu_replace_pointer(hash->filter_hash, NULL, true));
	ftrace_hash_free_rcu(rcu_replace_pointer(hash->notrace_hash, NULL, true));
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

/**
 * ftrace_ops_set_global_filter - let an ops use set_ftrace_filter and
 *	set_ftrace_notrace of the top instance
 * @ops: the ops, not used before
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	ftrace_ops_init(ops);
	ops->func_hash = &global_ops.local_hash;
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);
