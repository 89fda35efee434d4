/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of many call sites at once: a walk along the symbols beside the sites.
 */
#ifndef _FTRACE_NAMES_H
#define _FTRACE_NAMES_H

#include <linux/bits.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/types.h>

struct ftrace_table;
struct module;

/* A name is written a word at a time. */
#define FTRACE_NAME_ROOM	(KSYM_NAME_LEN + sizeof(u64))

/* A bit for a character, which it shares with others. */
static inline u32 ftrace_name_char(char c)
{
	return BIT((u8)c % 32);
}

/* A symbol of a module: its address, and where it stands in the module's table. */
struct ftrace_modsym {
	unsigned long	addr;
	unsigned int	index;
};

/**
 * struct ftrace_names - a place in the symbols, in the order of addresses
 * @addr: address of the symbol found
 * @mod: walk along the symbols of this module, or of the kernel if NULL
 * @idx: the symbol found, among the kernel's or in @syms
 * @stream: where its name starts in the kernel's compressed names
 * @next: the first symbol with a larger address
 * @next_stream: where its name starts
 * @syms: a module's symbols, sorted
 * @nr: how many; for the kernel, all of its symbols
 * @kallsyms: the module's symbols that @syms was made from
 * @found: @addr, @idx and @stream are those of a symbol
 */
struct ftrace_names {
	unsigned long		addr;
	struct module		*mod;
	unsigned int		idx;
	unsigned int		stream;
	unsigned int		next;
	unsigned int		next_stream;
	struct ftrace_modsym	*syms;
	unsigned int		nr;
	const void		*kallsyms;
	bool			found;
};

void __init ftrace_names_init(void);
int ftrace_names_start(struct ftrace_names *n, const struct ftrace_table *t);
bool ftrace_names_find(struct ftrace_names *n, unsigned long ip);
unsigned int ftrace_names_get(const struct ftrace_names *n, char *buf);
bool ftrace_names_prefix(const struct ftrace_names *n, const char *prefix,
			 unsigned int len);
bool ftrace_names_holds(const struct ftrace_names *n, u32 chars);
void ftrace_names_end(struct ftrace_names *n);
void ftrace_names_pause(struct ftrace_names *n);
bool ftrace_names_resume(struct ftrace_names *n);
void ftrace_names_drop(struct ftrace_names *n);

#endif
