// SPDX-License-Identifier: GPL-2.0-only
/*
 * Matching: the functions that a name, a glob, a number or an address stands for.
 *
 * A glob is matched in one walk along sites and symbols. A plain name is looked up the other way
 * round: from the sorted names of kallsyms to the site. So are many names at once.
 */
#include <linux/bsearch.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"
#include "hash.h"
#include "match.h"
#include "names.h"
#include "table.h"

/* Does @name match a glob that filter_parse_regex() has parsed? */
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
	ret = ftrace_hash_add(m->hash, ip, m->exact);
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

	ret = ftrace_names_start(&names, t->mod, t->start, t->end);
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

	site = ftrace_find_site(ftrace_site_of(n), &t);
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
	char *copy __free(kfree) = NULL;
	struct ftrace_glob mod_glob = { };
	struct ftrace_table *t;
	bool mod_not = false;
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
			if (by_name && (!t->mod || !ftrace_names_has(t->mod, func->search)))
				continue;
			if (!mod || match_mod(t, &mod_glob, mod_not))
				ret = match_table(m, t, func);
		}
	}
	return ret ?: m->found;
}

/**
 * ftrace_hash_match - add all functions that a glob matches to a hash, or remove them
 * @hash: the hash
 * @glob: name, glob, number or address; without a leading `!'; modified
 * @mod: name or glob of the modules to search, with a leading `!' for all other
 *	modules, empty for all modules; NULL for the kernel and all modules
 * @del: remove the functions
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: number of functions that match, in @hash or not; or -ENOMEM with nothing changed.
 */
int ftrace_hash_match(struct ftrace_hash *hash, char *glob, const char *mod, bool del)
{
	struct ftrace_hash *matching __free(ftrace_hash) = ftrace_hash_alloc();
	struct match m = { .hash = matching, .within = del ? hash : NULL };
	bool not;
	struct ftrace_glob func = match_glob_parse(glob, &not);
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (!matching)
		return -ENOMEM;
	/* The caller has taken one `!' off, and no name starts with another one. */
	if (not)
		return 0;
	ret = match_all(&m, &func, mod);
	if (ret > 0 && del)
		ftrace_hash_subtract(hash, matching);
	else if (ret > 0)
		ftrace_hash_merge(hash, matching);
	return ret;
}

/**
 * ftrace_hash_word - change a hash by one word of a filter
 * @hash: the hash, not in use
 * @word: name, glob, number or address of the functions to add; with `!' before it, to
 *	remove
 * @mod: as for ftrace_hash_match()
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0; -EINVAL if no function matches; or -ENOMEM. After an error nothing has changed.
 */
int ftrace_hash_word(struct ftrace_hash *hash, const char *word, const char *mod)
{
	bool del = *word == '!';
	/* Matching writes into the glob, and the caller may have to show the word. */
	char *glob __free(kfree) = kstrdup(word + del, GFP_KERNEL);
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (!glob)
		return -ENOMEM;
	ret = ftrace_hash_match(hash, glob, mod, del);
	return ret > 0 ? 0 : ret ?: -EINVAL;
}

/* Store the address of a symbol that is a traceable function. */
static int lookup_in_kernel(void *data, unsigned long addr)
{
	unsigned long *found = data;

	if (!ftrace_location(addr))
		return 0;
	*found = addr;
	return 1;
}

/* A lookup of names in modules. */
struct lookup {
	const char	**syms;
	size_t		cnt;
	unsigned long	*addrs;
	size_t		missing;
};

static int lookup_cmp_name(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

static int lookup_in_module(void *data, const char *name, unsigned long addr)
{
	struct lookup *l = data;
	const char **sym;

	sym = bsearch(&name, l->syms, l->cnt, sizeof(*l->syms), lookup_cmp_name);
	if (!sym || l->addrs[sym - l->syms])
		return 0;
	if (!ftrace_location(addr))
		return 0;
	l->addrs[sym - l->syms] = addr;
	return !--l->missing;
}

/**
 * ftrace_lookup_symbols - find the addresses of traceable functions by name
 * @sorted_syms: names, sorted by strcmp()
 * @cnt: number of names
 * @addrs: where the addresses go, in the same order
 *
 * The symbols of the kernel are sorted by name, so each name takes a binary search. The
 * symbols of modules are not sorted by name. If a name is not in the kernel, all
 * modules are walked once.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ESRCH if a name is not that of a traceable function.
 */
int ftrace_lookup_symbols(const char **sorted_syms, size_t cnt, unsigned long *addrs)
{
	struct lookup l = { sorted_syms, cnt, addrs };

	for (size_t i = 0; i < cnt; i++) {
		addrs[i] = 0;
		kallsyms_on_each_match_symbol(lookup_in_kernel, sorted_syms[i], &addrs[i]);
		l.missing += !addrs[i];
		cond_resched();
	}
	if (!l.missing)
		return 0;
	return module_kallsyms_on_each_symbol(NULL, lookup_in_module, &l) > 0 ? 0 : -ESRCH;
}
