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
#include "core.h"
#include "filter_edit.h"
#include "hash.h"
#include "ops.h"

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

static int __init early_set(struct ftrace_edit *edit, const struct ftrace_set *set, char *words)
{
	int ret = ftrace_edit_begin(edit, set, true);
	char *word;

	if (ret)
		return ret;
	while ((word = strsep(&words, ","))) {
		ret = *word ? ftrace_edit_word(edit, word) : 0;
		if (ret)
			early_refused(word, ret);
	}
	return ftrace_edit_commit(edit);
}

/*
 * Sets a filter to @words of a boot parameter, separated by commas; changed. A word that names no
 * function is reported. Without memory the filter stays as it is, and this is reported. Boot.
 */
void __init ftrace_early_set(const struct ftrace_set *set, char *words)
{
	struct ftrace_edit edit = { };
	int ret = early_set(&edit, set, words);

	/* The first word stands for all: the others may have been cut off. */
	if (ret)
		early_refused(words, ret);
	ftrace_edit_end(&edit);
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

/* Sets the filter of an ops from a boot parameter, as ftrace_early_set(). Boot. */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable)
{
	struct ftrace_set set;

	ftrace_ops_init(ops);
	set = ftrace_set_of(ops, NULL, enable);
	if (ops == &global_ops)
		set.pending = &early_pending[!!enable];
	else
		ftrace_note_lone_ops(ops);
	ftrace_early_set(&set, buf);
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
