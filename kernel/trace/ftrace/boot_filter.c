// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the boot parameters.
 *
 * A parameter is a list of words as for a filter file, with commas between. The words are kept
 * until the sites of the kernel are known; words for modules wait until there is a trace array,
 * and then for their modules.
 */
#include <linux/ftrace.h>
#include <linux/init.h>

#include <asm/setup.h>

#include "boot_filter.h"
#include "commands.h"
#include "core.h"
#include "hash.h"
#include "ops.h"
#include "pending.h"

/*
 * Adds the words of a parameter that can be given several times, all of them or, if there is no
 * room, none.
 */
void __init ftrace_early_append(char *words, size_t size, const char *more)
{
	size_t len = strlen(words);

	if (snprintf(NULL, 0, ",%s", more) >= size - len) {
		pr_warn("ftrace: boot parameter: no room for `%s'\n", more);
		return;
	}
	snprintf(words + len, size - len, "%s%s", len ? "," : "", more);
}

static void __init early_refused(const char *word, int err)
{
	pr_warn("ftrace: boot parameter: no %s `%s'\n",
		err == -ENOMEM ? "memory for" : "function", word);
}

/*
 * The functions that @words, separated by commas, name; NULL without memory. A word that names
 * none is reported. Words for modules go to @pending, if there is a list.
 */
struct ftrace_hash *__init ftrace_set_early_words(struct trace_array *tr,
						  struct list_head *pending, char *words,
						  bool enable)
{
	struct ftrace_hash *hash = ftrace_hash_alloc();
	char *word;

	if (!hash) {
		early_refused(words, -ENOMEM);
		return NULL;
	}
	while ((word = strsep(&words, ","))) {
		int ret = *word ? ftrace_filter_word(tr, hash, pending, word, enable) : 0;

		if (ret < 0)
			early_refused(word, ret);
	}
	return hash;
}

/*
 * Filters for modules, of set_ftrace_notrace and of set_ftrace_filter, until there is a
 * trace array.
 */
static struct list_head early_pending[2] __initdata = {
	LIST_HEAD_INIT(early_pending[0]),
	LIST_HEAD_INIT(early_pending[1]),
};

/* Gives the top level trace array the words for modules of the boot parameters. Boot, one CPU. */
void __init ftrace_early_pending(struct trace_array *tr)
{
	list_splice_init(&early_pending[false], ftrace_pending_of(tr, false));
	list_splice_init(&early_pending[true], ftrace_pending_of(tr, true));
}

/*
 * Sets a filter from a boot parameter: words in @buf, separated by commas; changed. Without memory
 * the filter stays as it is, and this is reported. Boot.
 */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable)
{
	struct list_head *pending = ops == &global_ops ? &early_pending[!!enable] : NULL;
	struct ftrace_hash *hash = ftrace_set_early_words(ops->private, pending, buf, enable);
	int err;

	if (!hash)
		return;
	/* A filter for modules alone must not mean all functions. */
	if (pending && !list_empty(pending))
		hash->flags |= FTRACE_HASH_FL_MOD;
	ftrace_ops_init(ops);
	if (ops != &global_ops)
		ftrace_note_lone_ops(ops);
	scoped_guard(mutex, &ftrace_lock)
		err = ftrace_ops_update_hash(ops, ftrace_hash_of(ops->func_hash, enable), hash,
					     enable, 0);
	/* The first word stands for all: the others were cut off. */
	if (err)
		early_refused(buf, err);
	ftrace_hash_free(hash);
}

static char filter_param[COMMAND_LINE_SIZE] __initdata;
static char notrace_param[COMMAND_LINE_SIZE] __initdata;

/* Tells trace.c not to run self-tests, which would fail with a filter. */
bool ftrace_filter_param __initdata;

static int __init boot_set_filter_param(char *str)
{
	ftrace_filter_param = true;
	ftrace_early_append(filter_param, sizeof(filter_param), str);
	return 1;
}
__setup("ftrace_filter=", boot_set_filter_param);

static int __init boot_set_notrace_param(char *str)
{
	ftrace_filter_param = true;
	ftrace_early_append(notrace_param, sizeof(notrace_param), str);
	return 1;
}
__setup("ftrace_notrace=", boot_set_notrace_param);

/* Sets the filters of the top level trace array, when the sites of the kernel are known. */
void __init ftrace_boot_filters(void)
{
	if (filter_param[0])
		ftrace_set_early_filter(&global_ops, filter_param, 1);
	if (notrace_param[0])
		ftrace_set_early_filter(&global_ops, notrace_param, 0);
}
