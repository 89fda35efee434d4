/* SPDX-License-Identifier: GPL-2.0-only */
/* Matching: the functions that a name, a glob, a number or an address stands for. */
#ifndef _FTRACE_MATCH_H
#define _FTRACE_MATCH_H

#include <linux/types.h>

struct ftrace_hash;

/**
 * struct ftrace_glob - a parsed glob
 * @search: the text to look for
 * @len: length of @search
 * @type: where @search must be; by filter_parse_regex()
 */
struct ftrace_glob {
	char		*search;
	unsigned int	len;
	int		type;
};

bool ftrace_glob_match(const struct ftrace_glob *g, const char *name);
int ftrace_hash_match(struct ftrace_hash *hash, char *glob, const char *mod, bool del);
int ftrace_hash_word(struct ftrace_hash *hash, const char *word, const char *mod);

#endif
