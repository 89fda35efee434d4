// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words that ftfuzz writes: valid, nearly valid and hostile ones.
 *
 * The idea: a nearly valid word gets further into the kernel than nonsense does, so most words are
 * made of functions that exist, with something done to them. No word has a character that ends
 * words, so each is one word to the kernel.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftfuzz-words.h"

/* --- chance ----------------------------------------------------------------------------------- */

static uint64_t state;

/* SplitMix64. */
static uint64_t any(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

unsigned int below(unsigned int n)
{
	return any() % n;
}

bool one_in(unsigned int n)
{
	return !below(n);
}

void chance_from(uint64_t a, uint64_t b, uint64_t c)
{
	state = a;
	state = any() + b;
	state = any() + c;
}

/* --- text ------------------------------------------------------------------------------------- */

void add_bytes(struct text *t, const void *bytes, size_t len)
{
	if (len > sizeof(t->bytes) - t->len)
		len = sizeof(t->bytes) - t->len;
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
}

void add(struct text *t, const char *format, ...)
{
	char buf[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(buf, sizeof(buf), format, args);
	va_end(args);
	add_bytes(t, buf, strlen(buf));
}

void add_char(struct text *t, char c, size_t count)
{
	while (count--)
		add_bytes(t, &c, 1);
}

void add_quoted(struct text *t, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t same = 1;

		while (i + same < len && bytes[i + same] == bytes[i])
			same++;
		if (isprint((unsigned char)bytes[i]) && bytes[i] != '\\')
			add_bytes(t, bytes + i, 1);
		else
			add(t, "\\x%02x", (unsigned char)bytes[i]);
		if (same > 8) {
			add(t, "{%zu times}", same);
			i += same - 1;
		}
	}
}

bool ends_word(unsigned char c)
{
	return !c || c == ' ' || (c >= 9 && c <= 13) || c == 0xa0;
}

/* --- words ------------------------------------------------------------------------------------ */

struct function {
	char *name;
	char *addr;
};

static struct function *functions;
static size_t function_count;

void read_functions(char *list)
{
	size_t room = 0;

	for (char *line = strtok(list, "\n"); line; line = strtok(NULL, "\n")) {
		char *name = strchr(line, ' ');

		if (function_count == room) {
			room = room ? 2 * room : 4096;
			functions = realloc(functions, room * sizeof(*functions));
			if (!functions)
				abort();
		}
		*name++ = 0;
		name[strcspn(name, " ")] = 0;
		functions[function_count++] = (struct function){ .name = name, .addr = line };
	}
}

static const char *some_name(void)
{
	static const char *const often[] = {
		"vfs_read", "vfs_write", "vfs_open", "ksys_read", "schedule", "ftmod_a_one",
	};

	return one_in(4) ? PICK(often) : functions[below(function_count)].name;
}

/* A character that ends no word. */
static char some_char(void)
{
	static const char often[] = "*?[]!\\:-^0x.,#$%&'\"`|<>(){}@~=+_/aZ";
	unsigned char c;

	if (one_in(2))
		return often[below(sizeof(often) - 1)];
	do
		c = below(256);
	while (ends_word(c));
	return c;
}

static void hostile_word(struct text *t)
{
	static const unsigned int lengths[] = {
		100, 510, 511, 512, 513, 1023, 1024, 4095, 4096, 5000, 20000,
	};
	static const char *const odd[] = {
		"!", "!!", "!!vfs_read", "*!", "[", "[]", "[!", "[a-", "[^", "]", "\\", "*\\", "?",
		"??", "**", "***?", "-", "--", ":", "::", ":::", "!:", ":!", ":mod", ":mod:",
		"*:mod:", ":mod:!", "!:mod:", "0", "-1", "00", "0x", "0x0", "1-2",
		"0xffffffffffffffff", "18446744073709551615", "18446744073709551616", "4294967296",
		"%s%n", "../trace", "vfs_read,", "vfs_read:", ":vfs_read", "nosuch", "nosuch*",
		"*nosuch", "*nosuch*", "no?such", "(null)", "#",
	};
	char c;

	switch (below(4)) {
	case 0:
		c = some_char();
		add_char(t, one_in(2) ? 'a' : c, PICK(lengths) - below(3));
		break;
	case 1:
		for (unsigned int n = 1 + below(20); n; n--) {
			c = some_char();
			add_bytes(t, &c, 1);
		}
		break;
	default:
		add(t, "%s", PICK(odd));
	}
}

/* A function, or what looks like one. A command on all functions takes long: WIDE allows it. */
static void function_word(struct text *t, bool wide)
{
	struct function *f = &functions[below(function_count)];
	char name[256];
	size_t len, at;

	snprintf(name, sizeof(name), "%s", some_name());
	len = strlen(name);
	at = below(len);
	switch (below(16)) {
	case 0:
		name[at] = some_char();
		add(t, "%s", name);
		break;
	case 1:
		add(t, "%.*s%s", (int)at, name, name + at + 1);
		break;
	case 2:
		add(t, "%.*s*", (int)(wide ? at : len - 1), name);
		break;
	case 3:
		add(t, "*%s", name + (wide ? at : 1));
		break;
	case 4:
		add(t, "*%s*", name + (wide ? at : 0));
		break;
	case 5:
		name[at] = '?';
		add(t, "%s", name);
		break;
	case 6:
		add(t, "%.*s[%s%c-%c]*%s", (int)at, name, one_in(2) ? "!" : "", some_char(),
		    name[at], name + at + 1);
		break;
	case 7:
		add(t, "%u", below(2 * function_count));
		break;
	case 8:
		add(t, "0x%s", f->addr);
		break;
	case 9:
		add(t, "0x%lx", strtoul(f->addr, NULL, 16) + below(64));
		break;
	case 10:
		add(t, "%s", wide && one_in(4) ? "*" : "nosuch");
		break;
	case 11:
		hostile_word(t);
		break;
	default:
		add(t, "%s", name);
	}
}

static void module_word(struct text *t)
{
	static const char *const modules[] = {
		"ftmod_a", "ftmod_a", "ftmod_a", "!ftmod_a", "ftmod_b", "ftmod_c", "ftmod*", "*",
		"?", "!", "", "no[such", "kernel",
	};

	if (one_in(4))
		add(t, "%s", one_in(2) ? "*" : "");
	else
		function_word(t, true);
	add(t, ":mod:");
	if (one_in(8))
		hostile_word(t);
	else
		add(t, "%s", PICK(modules));
}

const char *const command_names[] = {
	"traceon", "traceoff", "stacktrace", "snapshot", "dump", "cpudump",
	"enable_event:sched:sched_switch", "disable_event:sched:sched_switch",
	"enable_event:sched:sched_wakeup", NULL,
};

/*
 * A dump to the console takes long: only functions that nothing calls have one. A stack trace takes
 * long in an emulator: on all functions, with timer interrupts, the guest would do nothing else. The
 * kernel can refuse the beginning of a word and take the rest as a word, so no end of such a word
 * may match more than the word does. The snapshot command is set on one function: trace.c counts one
 * user for each write that sets the command, and takes away one for each write that removes it. It
 * warns when one glob is removed name by name.
 */
static void command_word(struct text *t)
{
	static const char *const odd[] = {
		"enable_event:sched:nosuch", "enable_event:sched", "enable_event", "enable_event::",
		"nosuch", "", "mod", "TRACEON", "traceo", "traceon:traceon",
	};
	static const char *const counts[] = {
		"", "", "", "", ":0", ":1", ":3", ":1000000", ":", ":-1", ":x", ":1x", "::",
		":18446744073709551616", ":0x10", ":unlimited", ":count=1", ":1:1",
	};
	static const char *const quiet[] = {
		"ftmod_a_one", "ftmod_a_two", "ftmod_a_t?o", "ftmod_?_one", "*_a_one",
	};
	const char *command = command_names[below(ARRAY_SIZE(command_names) - 1)];

	if (one_in(3))
		command = PICK(odd);

	if (!strcmp(command, "snapshot"))
		add(t, "ftmod_a_one");
	else if (strstr(command, "dump") || one_in(2))
		add(t, "%s", PICK(quiet));
	else if (!strcmp(command, "stacktrace"))
		add(t, "%s", some_name());
	else
		function_word(t, one_in(20));
	add(t, ":%s%s", command, PICK(counts));
}

void filter_word(struct text *t)
{
	if (one_in(5))
		add(t, "!");
	switch (below(8)) {
	case 0:
		module_word(t);
		break;
	case 1:
	case 2:
		command_word(t);
		break;
	case 3:
		hostile_word(t);
		break;
	default:
		function_word(t, one_in(4));
	}
}

void pid_word(struct text *t)
{
	static const char *const odd[] = {
		"0", "-1", "x", "1x", "01", "0x1", "4194303", "4194304", "4194305", "2147483647",
		"2147483648", "4294967295", "4294967297", "9223372036854775807",
		"99999999999999999999", "+1", "1,2", "1-2", "!1", "*",
	};

	switch (below(6)) {
	case 0:
		add(t, "%s", PICK(odd));
		break;
	case 1:
		hostile_word(t);
		break;
	case 2:
		add(t, "%d", getpid());
		break;
	default:
		add(t, "%u", 1 + below(one_in(2) ? 100 : 4194304));
	}
}

void tracer_word(struct text *t)
{
	static const char *const names[] = {
		"nop", "nop", "nop", "nop", "function", "function", "function", "function_graph",
		"functio", "function_", "Function", "nosuch", "nop nop", "function\nnop", "blk",
	};

	if (one_in(4))
		hostile_word(t);
	else
		add(t, "%s", PICK(names));
}

/*
 * The option func_stack_trace itself is not here: without a filter it takes a stack trace in each
 * function, as a command on all functions would. Nor is a word with this end, or with more behind.
 */
void option_word(struct text *t)
{
	static const char *const names[] = {
		"func_stack_trac", "func-no-repeats", "function-fork", "overwrite", "irq-info",
		"markers", "event-fork", "disable_on_free", "pause-on-trace", "hash-ptr",
		"funcgraph-irqs", "sleep-time", "nosuch", "no", "nono", "func", "fun_stack_trace",
		"funcgraph-retval", "sym-addr", "context-info",
	};

	if (one_in(4))
		hostile_word(t);
	else
		add(t, "%s%s", one_in(2) ? "no" : "", PICK(names));
}

void number_word(struct text *t)
{
	static const char *const numbers[] = {
		"0", "1", "1", "1", "2", "-1", "", "x", "1x", "0x1", "1 0", "4294967295",
		"4294967296", "99999999999999999999", "-0",
	};

	if (one_in(6))
		hostile_word(t);
	else
		add(t, "%s", PICK(numbers));
}

