// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of many call sites at once.
 *
 * kallsyms_lookup() searches for one address. Sites and symbols are both sorted
 * by address, so the names of all sites cost one walk along both: a step a
 * symbol, without expanding its name, and one expansion for each name that
 * somebody wants. Of symbols that share an address the first counts, as in
 * kallsyms_lookup(). The kernel's symbols are sorted as they are, a module's
 * are sorted once for each walk.
 */
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "../../kallsyms_internal.h"
#ifdef CONFIG_MODULES
#include "../../module/internal.h"
#endif
#include "core.h"
#include "names.h"
#include "table.h"

/* What a byte of a compressed name stands for. */
static struct token {
	u32	chars;	/* the characters in it, as ftrace_name_char() has them */
	u16	at;	/* where its text starts */
	u8	len;
} tokens[256] __ro_after_init;

/**
 * ftrace_names_init - look at the tokens of compressed names
 *
 * Context: boot, before all else here.
 */
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

/* A compressed name is a length of one or two bytes, then as many tokens. */
static const u8 *name_tokens(unsigned int stream, unsigned int *nr)
{
	const u8 *data = &kallsyms_names[stream];
	unsigned int len = *data++;

	if (len & 0x80)
		len = (len & 0x7f) | *data++ << 7;
	*nr = len;
	return data;
}

static unsigned int skip_name(unsigned int stream)
{
	unsigned int nr;
	const u8 *data = name_tokens(stream, &nr);

	return data + nr - kallsyms_names;
}

#ifdef CONFIG_MODULES
static bool modsym_before(const struct ftrace_modsym *x, const struct ftrace_modsym *y)
{
	return x->addr != y->addr ? x->addr < y->addr : x->index < y->index;
}

/* How many symbols from the first on are in order. */
static unsigned int run_length(const struct ftrace_modsym *syms, unsigned int nr)
{
	unsigned int i = min(nr, 1U);

	while (i < nr && modsym_before(&syms[i - 1], &syms[i]))
		i++;
	return i;
}

/* Of each two neighbouring runs make one; returns how many there are then. */
static unsigned int merge_runs(const struct ftrace_modsym *syms, unsigned int nr,
			       struct ftrace_modsym *to)
{
	const struct ftrace_modsym *a = syms, *end = syms + nr;
	unsigned int runs = 0;

	for (; a < end; runs++) {
		const struct ftrace_modsym *b = a + run_length(a, end - a);
		const struct ftrace_modsym *a_end = b, *b_end = b + run_length(b, end - b);

		while (a < a_end && b < b_end)
			*to++ = modsym_before(b, a) ? *b++ : *a++;
		while (a < a_end)
			*to++ = *a++;
		while (b < b_end)
			*to++ = *b++;
		a = b_end;
	}
	return runs;
}

/*
 * An assembler writes symbols as it comes upon them, so that most of a module's
 * are in a few long runs, which sort() would take apart.
 */
static int sort_modsyms(struct ftrace_names *n)
{
	struct ftrace_modsym *other = kvmalloc_array(max(n->nr, 1U), sizeof(*other),
						     GFP_KERNEL);
	unsigned int runs;

	if (!other)
		return -ENOMEM;
	do {
		runs = merge_runs(n->syms, n->nr, other);
		swap(n->syms, other);
	} while (runs > 1);
	kvfree(other);
	return 0;
}

/* module_mutex held, so that the symbols of init code stay while we look. */
static struct mod_kallsyms *modsyms(struct module *mod)
{
	return rcu_dereference_protected(mod->kallsyms, lockdep_is_held(&module_mutex));
}

static int modsyms_start(struct ftrace_names *n, const struct ftrace_table *t)
{
	struct mod_kallsyms *k = modsyms(t->mod);

	n->syms = kvmalloc_array(max(k->num_symtab, 1U), sizeof(*n->syms), GFP_KERNEL);
	if (!n->syms)
		return -ENOMEM;
	n->kallsyms = k;

	for (unsigned int i = 1; i < k->num_symtab; i++) {
		const Elf_Sym *sym = &k->symtab[i];
		const char *name;

		ftrace_yield(i);
		if (sym->st_value < t->start || sym->st_value >= t->end ||
		    sym->st_shndx == SHN_UNDEF)
			continue;
		name = k->strtab + sym->st_name;
		if (!*name || is_mapping_symbol(name))
			continue;
		n->syms[n->nr++] = (struct ftrace_modsym){ sym->st_value, i };
	}
	if (!sort_modsyms(n))
		return 0;
	kvfree(n->syms);
	return -ENOMEM;
}

static const char *modsym_name(const struct ftrace_names *n)
{
	struct mod_kallsyms *k = modsyms(n->mod);

	return k->strtab + k->symtab[n->syms[n->idx].index].st_name;
}

static void modsyms_lock(void)
{
	mutex_lock(&module_mutex);
}

static void modsyms_unlock(void)
{
	mutex_unlock(&module_mutex);
}
#else
static const void *modsyms(struct module *mod)
{
	return NULL;
}

static int modsyms_start(struct ftrace_names *n, const struct ftrace_table *t)
{
	return -EINVAL;
}

static const char *modsym_name(const struct ftrace_names *n)
{
	return "";
}

static void modsyms_lock(void) { }
static void modsyms_unlock(void) { }
#endif

static __always_inline unsigned long sym_addr(const struct ftrace_names *n,
					      unsigned int idx)
{
	return n->mod ? n->syms[idx].addr : kallsyms_sym_address(idx);
}

/* The last symbol of the kernel at or before @ip, and where its name starts. */
static void seek(struct ftrace_names *n, unsigned long ip)
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
	 * There is a marker every 256 names. The one before, so that of symbols
	 * with the same address the first is passed.
	 */
	lo = max(lo >> 8, 1U) - 1;
	n->next = lo << 8;
	n->next_stream = kallsyms_markers[lo];
}

/**
 * ftrace_names_start - get ready to walk along the symbols beside a table
 * @n: the walk
 * @t: the table; it may be one that has no sites yet
 *
 * Return: 0, or -ENOMEM. After 0, ftrace_names_end() is due.
 * Context: may sleep, ftrace_lock held. Until the end, module_mutex is held if
 * it is a module's table.
 */
int ftrace_names_start(struct ftrace_names *n, const struct ftrace_table *t)
{
	*n = (struct ftrace_names){ .mod = t->mod };

	if (!n->mod) {
		n->nr = kallsyms_num_syms;
		seek(n, t->start);
		return 0;
	}

	modsyms_lock();
	if (!modsyms_start(n, t))
		return 0;
	modsyms_unlock();
	return -ENOMEM;
}

/**
 * ftrace_names_pause - let others at the symbols until ftrace_names_resume()
 * @n: the walk
 */
void ftrace_names_pause(struct ftrace_names *n)
{
	if (n->mod)
		modsyms_unlock();
}

/**
 * ftrace_names_resume - go on with a walk
 * @n: the walk, whose module, if any, is still there
 *
 * Return: true; false if the symbols are not the same any more, and the walk
 * has been dropped.
 * Context: as for ftrace_names_start().
 */
bool ftrace_names_resume(struct ftrace_names *n)
{
	if (!n->mod)
		return true;
	modsyms_lock();
	if (n->kallsyms == modsyms(n->mod))
		return true;
	ftrace_names_end(n);
	return false;
}

/**
 * ftrace_names_drop - the walk is over that has been paused
 * @n: the walk
 */
void ftrace_names_drop(struct ftrace_names *n)
{
	kvfree(n->syms);
}

/**
 * ftrace_names_end - the walk is over
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
 * @ip: the address, not less than at the call before
 *
 * Return: true if there is one; @n->addr is its address.
 * Context: between ftrace_names_start() and ftrace_names_end().
 */
bool ftrace_names_find(struct ftrace_names *n, unsigned long ip)
{
	while (n->next < n->nr && sym_addr(n, n->next) <= ip) {
		unsigned long addr = sym_addr(n, n->next);

		if (!n->found || addr != n->addr) {
			n->found = true;
			n->idx = n->next;
			n->stream = n->next_stream;
			n->addr = addr;
		}
		n->next++;
		if (!n->mod)
			n->next_stream = skip_name(n->next_stream);
	}
	return n->found;
}

/*
 * The text of a token but for so many characters. Most tokens have two or three:
 * a word is written, of which the next token overwrites what is too much. Behind
 * the last token's text are the places of all, which can be read.
 */
static __always_inline char *token_put(const struct token *token, unsigned int skip,
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
 * ftrace_names_get - the name of the symbol found
 * @n: the walk
 * @buf: where the name goes, FTRACE_NAME_ROOM bytes
 *
 * Return: length of the name.
 * Context: as for ftrace_names_find().
 */
unsigned int ftrace_names_get(const struct ftrace_names *n, char *buf)
{
	char *to = buf;
	unsigned int nr;
	const u8 *data;

	if (n->mod)
		return max(strscpy(buf, modsym_name(n), KSYM_NAME_LEN), 0);

	/* The first character is the type of the symbol. */
	data = name_tokens(n->stream, &nr);
	to = token_put(&tokens[data[0]], 1, to);
	for (unsigned int i = 1; i < nr; i++)
		to = token_put(&tokens[data[i]], 0, to);
	*to = '\0';
	return to - buf;
}

/**
 * ftrace_names_prefix - does the name of the symbol found start with @prefix?
 * @n: the walk
 * @prefix: the prefix
 * @len: its length
 *
 * Most names differ in their first token, so most are never expanded.
 *
 * Return: true if so.
 * Context: as for ftrace_names_find().
 */
bool ftrace_names_prefix(const struct ftrace_names *n, const char *prefix,
			 unsigned int len)
{
	unsigned int nr;
	const u8 *data;

	if (n->mod)
		return !strncmp(modsym_name(n), prefix, len);

	data = name_tokens(n->stream, &nr);
	for (unsigned int i = 0; i < nr && len; i++) {
		const char *c = &kallsyms_token_table[tokens[data[i]].at] + !i;

		for (; *c && len; c++, len--)
			if (*c != *prefix++)
				return false;
	}
	return !len;
}

/**
 * ftrace_names_holds - can the name of the symbol found have these characters?
 * @n: the walk
 * @chars: the characters, each by ftrace_name_char()
 *
 * Return: false if it lacks one; true if it may have all, in whatever order.
 * Context: as for ftrace_names_find().
 */
bool ftrace_names_holds(const struct ftrace_names *n, u32 chars)
{
	unsigned int nr;
	const u8 *data;

	if (n->mod)
		return true;

	data = name_tokens(n->stream, &nr);
	for (unsigned int i = 0; i < nr && chars; i++)
		chars &= ~tokens[data[i]].chars;
	return !chars;
}
