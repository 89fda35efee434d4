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

struct module;

/* Names are written in whole words. */
#define FTRACE_NAME_ROOM	(KSYM_NAME_LEN + sizeof(u64))

/* The bit of a character. Several characters share a bit. */
static inline u32 ftrace_name_char(char c)
{
	return BIT((u8)c % 32);
}

/* A symbol of a module: its address, and its index in the symbol table of the module. */
struct ftrace_modsym {
	unsigned long	addr;
	unsigned int	index;
};

/**
 * struct ftrace_names - a position in the symbols, in the order of addresses
 * @addr: address of the symbol found
 * @mod: walk along the symbols of this module, or of the kernel if NULL
 * @idx: index of the symbol found, in the symbols of the kernel or in @syms
 * @stream: where the name of the symbol starts in the kernel's compressed names
 * @next: index of the first symbol with a larger address
 * @next_stream: where the name of symbol @next starts
 * @syms: the symbols of a module, sorted
 * @nr: number of symbols in @syms, or in the kernel
 * @kallsyms: the symbols of the module that @syms was made from
 * @found: a symbol was found: @addr, @idx and @stream are valid
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
int ftrace_names_start(struct ftrace_names *n, struct module *mod, unsigned long start,
		       unsigned long end);
bool ftrace_names_find(struct ftrace_names *n, unsigned long ip);
unsigned int ftrace_names_get(const struct ftrace_names *n, char *buf);
bool ftrace_names_holds(const struct ftrace_names *n, u32 chars);
bool ftrace_names_has(struct module *mod, const char *name);
void ftrace_names_end(struct ftrace_names *n);
void ftrace_names_pause(struct ftrace_names *n);
bool ftrace_names_resume(struct ftrace_names *n);
void ftrace_names_drop(struct ftrace_names *n);

#endif
