/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chance, text, and the words that ftfuzz writes.
 */
#ifndef FTFUZZ_WORDS_H
#define FTFUZZ_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PICK(array)	((array)[below(ARRAY_SIZE(array))])
#define TEXT_MAX	65536

struct text {
	char bytes[TEXT_MAX];
	size_t len;
};

/* The same numbers lead to the same words. */
void chance_from(uint64_t a, uint64_t b, uint64_t c);
unsigned int below(unsigned int n);
bool one_in(unsigned int n);

void add_bytes(struct text *t, const void *bytes, size_t len);
void add_char(struct text *t, char c, size_t count);
void add(struct text *t, const char *format, ...);
/* Add bytes as a person can read them. */
void add_quoted(struct text *t, const char *bytes, size_t len);

/* Learn the functions. LIST has lines of "ADDRESS NAME", and is changed and kept. */
void read_functions(char *list);

/* Add a word to T: for a file that holds a filter, pids, a tracer, an option, a number. */
void filter_word(struct text *t);
void pid_word(struct text *t);
void tracer_word(struct text *t);
void option_word(struct text *t);
void number_word(struct text *t);

/* Does a character end a word? */
bool ends_word(unsigned char c);

/* What filter_word() makes of commands, to take them away again. */
extern const char *const command_names[];

#endif
