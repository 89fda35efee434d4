// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of many call sites at once.
 *
 * kallsyms_lookup() searches for one address. Sites and symbols are both sorted by
 * address, so the names of all sites cost one walk along both: one step for each
 * symbol, which does not expand its name, and one expansion for each name that the
 * caller wants. If symbols share an address, the first symbol is used, as in
 * kallsyms_lookup(). The symbols of the kernel are already sorted. The symbols of a
 * module are sorted once for each walk.
 */
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/unaligned.h>

#include "../../kallsyms_internal.h"
#ifdef CONFIG_MODULES
#include "../../module/internal.h"
#endif
#include "core.h"
#include "names.h"

/* What a byte of a compressed name stands for. */
static struct token {
	u32	chars;	/* the characters of the token, by ftrace_name_char() */
	u16	at;	/* where the text of the token starts */
	u8	len;
} tokens[256] __ro_after_init;

/* Prepares the table of tokens. Boot, before all other functions of this file. */
void __init ftrace_names_init(void)
{
	for (int i = 0; i < ARRAY_SIZE(tokens); i++) {
		struct token *token = &tokens[i];

		token->at = kallsyms_token_index[i];
		token->len = strlen(&kallsyms_token_table[token->at]);
		for (int c = 0; c < token->len; c++)
			token->chars |= ftrace_name_char(kallsyms_token_table[token->at + c]);
	}
}

/* A compressed name is a length of one or two bytes, then that number of tokens. */
static const u8 *names_tokens(unsigned int stream, unsigned int *nr)
{
	const u8 *data = &kallsyms_names[stream];
	unsigned int len = *data++;

	if (len & 0x80)
		len = (len & 0x7f) | *data++ << 7;
	*nr = len;
	return data;
}

static unsigned int names_skip(unsigned int stream)
{
	unsigned int nr;
	const u8 *data = names_tokens(stream, &nr);

	return data + nr - kallsyms_names;
}

#ifdef CONFIG_MODULES
static int names_modsym_cmp(const void *a, const void *b)
{
	const struct ftrace_modsym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* module_mutex is held, so that the symbols of init code stay during the walk. */
static struct mod_kallsyms *names_modsyms(struct module *mod)
{
	return rcu_dereference_protected(mod->kallsyms, lockdep_is_held(&module_mutex));
}

static int names_modsyms_start(struct ftrace_names *n, unsigned long start, unsigned long end)
{
	struct mod_kallsyms *k = names_modsyms(n->mod);

	n->syms = kvmalloc_array(max(k->num_symtab, 1U), sizeof(*n->syms), GFP_KERNEL);
	if (!n->syms)
		return -ENOMEM;
	n->kallsyms = k;

	for (unsigned int i = 1; i < k->num_symtab; i++) {
		const Elf_Sym *sym = &k->symtab[i];
		const char *name;

		ftrace_yield(i);
		if (sym->st_value < start || sym->st_value >= end ||
		    sym->st_shndx == SHN_UNDEF)
			continue;
		name = k->strtab + sym->st_name;
		if (!*name || is_mapping_symbol(name))
			continue;
		n->syms[n->nr++] = (struct ftrace_modsym){ sym->st_value, i };
	}
	sort(n->syms, n->nr, sizeof(*n->syms), names_modsym_cmp, NULL);
	return 0;
}

/*
 * Does @mod have a symbol @name, in its text or not? One comparison for each symbol takes less
 * time than a walk, which sorts the symbols. ftrace_lock held, so that the sites of @mod stay.
 */
bool ftrace_names_has(struct module *mod, const char *name)
{
	struct mod_kallsyms *k;

	lockdep_assert_held(&ftrace_lock);
	guard(mutex)(&module_mutex);
	k = names_modsyms(mod);
	for (unsigned int i = 1; i < k->num_symtab; i++) {
		if (!strcmp(k->strtab + k->symtab[i].st_name, name))
			return true;
		ftrace_yield(i);
	}
	return false;
}

static const char *names_modsym_name(const struct ftrace_names *n)
{
	struct mod_kallsyms *k = names_modsyms(n->mod);

	return k->strtab + k->symtab[n->syms[n->idx].index].st_name;
}

static void names_modsyms_lock(void)
{
	mutex_lock(&module_mutex);
}

static void names_modsyms_unlock(void)
{
	mutex_unlock(&module_mutex);
}
#else
static const void *names_modsyms(struct module *mod)
{
	return NULL;
}

static int names_modsyms_start(struct ftrace_names *n, unsigned long start, unsigned long end)
{
	return -EINVAL;
}

bool ftrace_names_has(struct module *mod, const char *name)
{
	return false;
}

static const char *names_modsym_name(const struct ftrace_names *n)
{
	return "";
}

static void names_modsyms_lock(void) { }
static void names_modsyms_unlock(void) { }
#endif

static __always_inline unsigned long names_sym_addr(const struct ftrace_names *n,
						    unsigned int idx)
{
	return n->mod ? n->syms[idx].addr : kallsyms_sym_address(idx);
}

/* Find the last symbol of the kernel at or before @ip, and where its name starts. */
static void names_seek(struct ftrace_names *n, unsigned long ip)
{
	unsigned int lo = 0, hi = n->nr;

	while (hi - lo > 1) {
		unsigned int mid = (lo + hi) / 2;

		if (kallsyms_sym_address(mid) <= ip)
			lo = mid;
		else
			hi = mid;
	}

	/*
	 * There is a marker every 256 names. Start at the marker before: of symbols
	 * with the same address, the walk must pass the first.
	 */
	lo = max(lo >> 8, 1U) - 1;
	n->next = lo << 8;
	n->next_stream = kallsyms_markers[lo];
}

/**
 * ftrace_names_start - begin a walk along the symbols of a range of text
 * @n: the walk
 * @mod: the module that the text belongs to, or NULL for the kernel
 * @start: first address of the text
 * @end: first address after the text
 *
 * Until ftrace_names_end(), module_mutex is held if @mod is not NULL.
 *
 * Context: Process context, may sleep. ftrace_lock held.
 * Return: 0, and the caller must call ftrace_names_end(); or -ENOMEM.
 */
int ftrace_names_start(struct ftrace_names *n, struct module *mod, unsigned long start,
		       unsigned long end)
{
	lockdep_assert_held(&ftrace_lock);
	*n = (struct ftrace_names){ .mod = mod };

	if (!mod) {
		n->nr = kallsyms_num_syms;
		names_seek(n, start);
		return 0;
	}

	names_modsyms_lock();
	if (!names_modsyms_start(n, start, end))
		return 0;
	names_modsyms_unlock();
	return -ENOMEM;
}

/* Lets others change the symbols until ftrace_names_resume(). */
void ftrace_names_pause(struct ftrace_names *n)
{
	if (n->mod)
		names_modsyms_unlock();
}

/*
 * Goes on with a paused walk whose module still exists. If the symbols have changed, ends it and
 * returns false. ftrace_lock held.
 */
bool ftrace_names_resume(struct ftrace_names *n)
{
	lockdep_assert_held(&ftrace_lock);
	if (!n->mod)
		return true;
	names_modsyms_lock();
	if (n->kallsyms == names_modsyms(n->mod))
		return true;
	ftrace_names_end(n);
	return false;
}

/* Ends a paused walk. */
void ftrace_names_drop(struct ftrace_names *n)
{
	kvfree(n->syms);
}

/**
 * ftrace_names_end - end a walk
 * @n: the walk
 */
void ftrace_names_end(struct ftrace_names *n)
{
	ftrace_names_pause(n);
	ftrace_names_drop(n);
}

/**
 * ftrace_names_find - walk on to the symbol that an address belongs to
 * @n: the walk
 * @ip: the address, not less than in the call before
 *
 * Context: Between ftrace_names_start() and ftrace_names_end().
 * Return: true if there is a symbol; @n->addr is its address.
 */
bool ftrace_names_find(struct ftrace_names *n, unsigned long ip)
{
	while (n->next < n->nr && names_sym_addr(n, n->next) <= ip) {
		unsigned long addr = names_sym_addr(n, n->next);

		if (!n->found || addr != n->addr) {
			n->found = true;
			n->idx = n->next;
			n->stream = n->next_stream;
			n->addr = addr;
		}
		n->next++;
		if (!n->mod)
			n->next_stream = names_skip(n->next_stream);
	}
	return n->found;
}

/*
 * Write the text of a token without its first @skip characters. Most tokens have two
 * or three characters: a whole word is written, and the next token overwrites the
 * excess. Behind the text of the last token lies the index of the tokens, so reading
 * a whole word there is safe.
 */
static __always_inline char *names_token_put(const struct token *token, unsigned int skip,
					     char *to)
{
	const char *from = &kallsyms_token_table[token->at + skip];
	unsigned int len = token->len - skip;

	put_unaligned(get_unaligned((const u64 *)from), (u64 *)to);
	if (unlikely(len > sizeof(u64)))
		memcpy(to + sizeof(u64), from + sizeof(u64), len - sizeof(u64));
	return to + len;
}

/**
 * ftrace_names_get - expand the name of the symbol found
 * @n: the walk
 * @buf: where the name goes, FTRACE_NAME_ROOM bytes
 *
 * Context: As for ftrace_names_find().
 * Return: length of the name.
 */
unsigned int ftrace_names_get(const struct ftrace_names *n, char *buf)
{
	char *to = buf;
	unsigned int nr;
	const u8 *data;

	if (n->mod)
		return max(strscpy(buf, names_modsym_name(n), KSYM_NAME_LEN), 0);

	/* The first character is the type of the symbol. */
	data = names_tokens(n->stream, &nr);
	to = names_token_put(&tokens[data[0]], 1, to);
	for (unsigned int i = 1; i < nr; i++)
		to = names_token_put(&tokens[data[i]], 0, to);
	*to = '\0';
	return to - buf;
}

/* Can the name of the symbol found have these characters, in any order? See ftrace_name_char(). */
bool ftrace_names_holds(const struct ftrace_names *n, u32 chars)
{
	unsigned int nr;
	const u8 *data;

	if (n->mod)
		return true;

	data = names_tokens(n->stream, &nr);
	for (unsigned int i = 0; i < nr && chars; i++)
		chars &= ~tokens[data[i]].chars;
	return !chars;
}
