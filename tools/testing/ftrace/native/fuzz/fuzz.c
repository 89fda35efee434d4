// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core under libFuzzer, which finds inputs that reach other lines and comparisons.
 *
 * The first byte of an input says what the input is; see what[]. No input may break a rule: what a
 * file shows, written to the file again, changes nothing, and neither does a word that is refused; a
 * boot parameter does what its words do one at a time; the state of the core agrees with itself; and
 * nothing is left when all is undone.
 */
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/string.h>

#include "ftrace/filter_api.h"
#include "ftrace/core.h"
#include "ftrace/tests/ftrace_kunit.h"
#include "ftrace/wants.h"
#include "ftrace/ops.h"
#include "module.h"
#include "native.h"

#define MAX_TEXT	1000

static char was[1 << 16], is[1 << 16];

static void check(const char *what)
{
	const char *bad = ftrace_kunit_state();

	if (bad)
		native_fail("after %s: %s", what, bad);
}

static void read_file(const char *path, char *buf, size_t chunk)
{
	ssize_t len = native_cat(path, buf, sizeof(was), chunk);

	if (len < 0)
		native_fail("%s cannot be read: %zd", path, len);
}

/* Nothing changes if the text of a file is written to the file. */
static void write_back(const char *path)
{
	read_file(path, was, 4096);
	read_file(path, is, 7);
	if (strcmp(was, is))
		native_fail("%s depends on the size of reads:\n%s---\n%s", path, was, is);
	/* Not words: what stands for an empty list, the module of a function, the count of a command. */
	if (was[0] == '#' || !strcmp(was, "no pid\n") || strpbrk(was, "[:"))
		return;
	if (native_echo(path, O_TRUNC, was))
		native_fail("%s does not take what it shows:\n%s", path, was);
	read_file(path, is, 4096);
	if (strcmp(was, is))
		native_fail("%s is another after it has got what it shows:\n%s---\n%s", path, was, is);
}

/* Text in two writes, with the module coming and going on the way. */
static void write_text(const char *path, const char *text, unsigned int options)
{
	size_t len = strlen(text), first = options & 2 ? len / 2 : len;
	struct native_file *f;
	bool refused;

	if (options & 64)
		native_echo(path, O_APPEND, strstr(path, "pid") ? "1 2" : "native_func_101 native_func_102");
	read_file(path, is, 4096);
	f = native_open(path, options & 1 ? O_WRONLY | O_TRUNC : O_WRONLY | O_APPEND);
	if (IS_ERR(f))
		native_fail("%s cannot be opened", path);
	if (options & 4)
		native_mod_load();
	refused = native_write_len(f, text, first) < 0;
	if (first < len)
		refused |= native_write_len(f, text + first, len - first) < 0;
	refused |= native_close(f) < 0;
	check("a write");
	/* Only one word in one write: others may have been accepted. A file that was emptied stays empty. */
	if (refused && !(options & 7) && strcspn(text, " \t\n\v\f\r") + 1 >= len) {
		read_file(path, was, 4096);
		if (strcmp(was, is))
			native_fail("%s has changed by a word that was refused:\n%s---\n%s", path, is, was);
	}
	write_back(path);
	if (options & 8 && !(options & 4))
		native_mod_load();
	if (options & 16)
		native_echo("instances/fuzz/current_tracer", 0, "function");
	check("a load");
	if (options & 12)
		native_mod_release();
	check("an unload");
	read_file(path, was, 100);
}

static void words_of(const char *file, const char *text, unsigned int options)
{
	char path[64];

	if (native_mkdir("fuzz"))
		native_fail("no instance");
	snprintf(path, sizeof(path), "instances/fuzz/%s", file);
	write_text(path, text, options);
	if (native_rmdir("fuzz"))
		native_fail("the instance stays");
}

static void words_filter(const char *text, unsigned int options)
{
	words_of("set_ftrace_filter", text, options);
}

static void words_notrace(const char *text, unsigned int options)
{
	words_of("set_ftrace_notrace", text, options);
}

static void words_pid(const char *text, unsigned int options)
{
	words_of(options & 32 ? "set_ftrace_pid" : "set_ftrace_notrace_pid", text, options);
}

static void words_graph(const char *text, unsigned int options)
{
	const char *path = options & 32 ? "set_graph_function" : "set_graph_notrace";

	write_text(path, text, options & ~16);
	if (native_echo(path, O_TRUNC, ""))
		native_fail("%s cannot be emptied", path);
}

static bool same_functions(struct ftrace_ops *a, struct ftrace_ops *b)
{
	guard(mutex)(&ftrace_lock);
	for (unsigned int f = 0; f < NATIVE_FUNCS; f++)
		if (ftrace_ops_wants(a, (unsigned long)native_funcs[f]) !=
		    ftrace_ops_wants(b, (unsigned long)native_funcs[f]))
			return false;
	return true;
}

/* A boot parameter, given twice, names the functions that its words name one at a time. */
static void words_boot(const char *text, unsigned int options)
{
	int (*set)(struct ftrace_ops *, unsigned char *, int, int) =
		options & 1 ? ftrace_set_filter : ftrace_set_notrace;
	static struct ftrace_ops early, late;
	static char param[MAX_TEXT + 64];
	char *rest = was, *word;

	param[0] = 0;
	ftrace_early_append(param, 2 * (options | 1), text);
	ftrace_early_append(param, sizeof(param), text);
	strscpy(was, param);
	ftrace_set_early_filter(&early, param, options & 1);
	ftrace_ops_init(&late);
	while ((word = strsep(&rest, ",")))
		if (*word)
			set(&late, word, strlen(word), 0);
	/* Words with a colon are for a module, or have a command. */
	if (!strchr(text, ':') && !same_functions(&early, &late))
		native_fail("\"%s\" names other functions than its words", text);
	ftrace_free_filter(&early);
	ftrace_free_filter(&late);
}

static void (*const what[])(const char *text, unsigned int options) = {
	words_filter, words_notrace, words_pid, words_graph, words_boot,
};

/**
 * native_fuzz_begin - boot, before the first input
 */
void native_fuzz_begin(void)
{
	native_boot(0, NULL);
	native_quiet = true;
	native_work = "fuzz";
}

/**
 * native_fuzz - run an input, and end the program if it breaks a rule
 * @data: a digit, then a byte of options and text; or `r', then the choices of a round of the oracle
 * @size: its length
 */
void native_fuzz(const u8 *data, size_t size)
{
	static char text[MAX_TEXT + 1];
	static unsigned long live;
	unsigned long left = 0;
	unsigned int kind;

	if (size < 3 || size > MAX_TEXT)
		return;
	if (data[0] == 'r') {
		native_oracle_choices(data + 1, size - 1);
		return;
	}
	kind = data[0] - '0';
	if (kind >= ARRAY_SIZE(what))
		return;
	memcpy(text, data + 2, size - 2);
	text[size - 2] = 0;
	/* What stays is made once, and what RCU frees is freed later. */
	for (int i = 0; i < 4; i++) {
		what[kind](text, data[1]);
		check("all is undone");
		if (native_live() <= live)
			return;
		native_settle();
		if (native_live() <= live)
			return;
		left = native_live() - live;
		live += left;
	}
	native_fail("%lu pieces of memory are left", left);
}
