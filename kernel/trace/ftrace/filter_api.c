// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls by which the kernel changes a filter, by a word or by addresses; and boot parameters.
 *
 * Nobody else changes the filter between the begin of such a change and its commit.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/slab.h>

#include <asm/setup.h>

#include "core.h"
#include "filter_api.h"
#include "filter_edit.h"
#include "hash.h"
#include "ipmodify.h"
#include "ops.h"
#include "table.h"

/* What a call does with a filter: first @reset, then a word or addresses. */
struct filter_call {
	struct ftrace_ops	*ops;
	bool			wanted;		/* the functions to trace, or not to trace */
	bool			reset;		/* start from an empty filter */
	bool			remove;		/* remove the addresses */
	char			*word;
	unsigned long		*ips;
	unsigned int		cnt;
};

/* Add addresses, or remove them. After an error, @hash is of no use. */
static int filter_set_ips(struct ftrace_hash *hash, const struct filter_call *call, bool remove)
{
	guard(mutex)(&ftrace_lock);
	for (unsigned int i = 0; i < call->cnt; i++) {
		unsigned long ip = ftrace_site_of(call->ips[i]);
		struct ftrace_func_entry *entry;

		ftrace_yield(i);
		if (!ip)
			return -EINVAL;
		if (!remove) {
			if (ftrace_hash_add(hash, ip, true))
				return -ENOMEM;
			continue;
		}
		entry = ftrace_lookup_ip(hash, ip);
		if (!entry)
			return -ENOENT;
		ftrace_hash_del(hash, entry);
	}
	return 0;
}

static int filter_change(const struct filter_call *call)
{
	struct ftrace_filter filter = ftrace_filter_of(call->ops, call->wanted);
	struct ftrace_edit edit = { };
	int ret;

	guard(mutex)(&call->ops->func_hash->regex_lock);
	ret = ftrace_edit_begin(&edit, &filter, call->reset);
	if (!ret && call->word)
		ret = ftrace_edit_word(&edit, call->word);
	if (!ret)
		ret = filter_set_ips(edit.hash, call, call->remove);
	return ftrace_edit_commit(&edit, ret);
}

/*
 * The same for a registered ops that changes the instruction pointer: owners of direct callers are
 * asked before it gets functions, and told when it has lost them. Kprobes with a post_handler share
 * such an ops. A task that is in the callback then is not waited for: as always when a filter
 * changes, its call may be one of before. Takes direct_mutex.
 */
static int filter_change_asked(const struct filter_call *call)
{
	struct ftrace_hash *funcs __free(ftrace_hash) = ftrace_hash_alloc();
	int ret;

	if (!funcs)
		return -ENOMEM;
	ret = filter_set_ips(funcs, call, false);
	if (!ret && !call->remove)
		ret = ftrace_ipmodify_begin(call->ops, funcs);
	if (ret)
		return ret;
	ret = filter_change(call);
	if (!call->remove)
		ftrace_ipmodify_end(call->ops, funcs, !ret);
	else if (!ret)
		ftrace_ipmodify_gone(call->ops, funcs);
	return ret;
}

static int filter_set_word(struct ftrace_ops *ops, unsigned char *buf, int len, bool reset,
			   bool wanted)
{
	char *word __free(kfree) = NULL;
	struct filter_call call = { .ops = ops, .wanted = wanted, .reset = reset };

	if (ftrace_killed())
		return -ENODEV;
	if (buf && len <= 0)
		return -EINVAL;

	ftrace_ops_init(ops);
	if (buf) {
		word = kmemdup_nul(buf, len, GFP_KERNEL);
		if (!word)
			return -ENOMEM;
	}
	call.word = word;
	return filter_change(&call);
}

/**
 * ftrace_set_filter - set the functions that an ops traces
 * @ops: the ops
 * @buf: a name or glob, with `!' before it to remove its functions, or `function:mod:module',
 *	which waits for the module if @ops belongs to a trace array; NULL for none
 * @len: length of @buf
 * @reset: start from an empty filter; with @buf NULL, @ops then traces all functions
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed: -EINVAL if no function matches;
 *	-ENODEV after ftrace_kill(); -ENOMEM; or an error of ftrace_plan_run().
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_word(ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - set the functions that an ops does not trace
 * @ops: the ops
 * @buf: a name or glob, NULL for none
 * @len: length of @buf
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: as ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return filter_set_word(ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - set set_ftrace_filter of the top instance
 * @buf: as for ftrace_set_filter()
 * @len: as for ftrace_set_filter()
 * @reset: as for ftrace_set_filter()
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	filter_set_word(&global_ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - set set_ftrace_notrace of the top instance
 * @buf: as for ftrace_set_notrace()
 * @len: as for ftrace_set_notrace()
 * @reset: as for ftrace_set_notrace()
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	filter_set_word(&global_ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

/**
 * ftrace_set_filter_ips - set the functions that an ops traces, by address
 * @ops: the ops
 * @ips: addresses of functions or of their call sites
 * @cnt: number of addresses
 * @remove: remove the functions from the filter instead of adding them
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: 0, or an error with nothing changed: -EINVAL if an address is not that of
 *	a traced function; -ENOENT if a function to remove is not in the filter;
 *	-ENODEV after ftrace_kill(); -ENOMEM; the answer of the owner of a direct
 *	caller; or an error of ftrace_plan_run().
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset)
{
	struct filter_call call = { .ops = ops, .wanted = true, .reset = reset, .remove = remove,
				    .ips = ips, .cnt = cnt };

	if (ftrace_killed())
		return -ENODEV;

	ftrace_ops_init(ops);
	if (ops->flags & FTRACE_OPS_FL_ENABLED && ops->flags & FTRACE_OPS_FL_IPMODIFY)
		return filter_change_asked(&call);
	return filter_change(&call);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - set a function that an ops traces, by address
 * @ops: the ops
 * @ip: address of the function or of its call site
 * @remove: remove the function from the filter instead of adding it
 * @reset: start from an empty filter
 *
 * Context: Process context, may sleep.
 * Return: as ftrace_set_filter_ips().
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove,
			 int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

/**
 * ftrace_free_filter - free the filter of an ops that is not registered
 * @ops: the ops
 *
 * Context: Process context, may sleep.
 */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *hash;

	ftrace_ops_init(ops);
	if (WARN_ON(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;

	/* If @ops uses the filter of another ops, that filter stays. */
	hash = &ops->local_hash;
	guard(mutex)(&hash->regex_lock);
	ftrace_hash_free_rcu(rcu_replace_pointer(hash->filter_hash, NULL, true));
	ftrace_hash_free_rcu(rcu_replace_pointer(hash->notrace_hash, NULL, true));
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

/**
 * ftrace_ops_set_global_filter - let an ops use set_ftrace_filter and
 *	set_ftrace_notrace of the top instance
 * @ops: the ops, not used before
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	ftrace_ops_init_with(ops, &global_ops.local_hash);
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);

/*
 * Adds the words of a parameter that can be given several times, all of them or, if there is no
 * room, none.
 */
void __init ftrace_early_append(char *words, size_t size, const char *more)
{
	size_t len = strlen(words);

	if (snprintf(NULL, 0, ",%s", more) >= size - len) {
		pr_warn("boot parameter: no room for `%s'\n", more);
		return;
	}
	snprintf(words + len, size - len, "%s%s", len ? "," : "", more);
}

static void __init early_refused(const char *word, int err)
{
	pr_warn("boot parameter: no %s `%s'\n",
		err == -ENOMEM ? "memory for" : "function", word);
}

/*
 * Sets a filter to @words of a boot parameter, separated by commas; changed. A word that names no
 * function is reported. Without memory the filter stays as it is, and this is reported. Boot.
 */
void __init ftrace_early_set(const struct ftrace_filter *filter, char *words)
{
	struct ftrace_edit edit = { };
	int ret = ftrace_edit_begin(&edit, filter, true);
	char *rest = words, *word;

	while (!ret && (word = strsep(&rest, ","))) {
		int err = *word ? ftrace_edit_word(&edit, word) : 0;

		if (err)
			early_refused(word, err);
	}
	ret = ftrace_edit_commit(&edit, ret);
	/* The first word stands for all: the others may have been cut off. */
	if (ret)
		early_refused(words, ret);
}

/* Words for modules, of set_ftrace_notrace and set_ftrace_filter, until there is a trace array. */
static struct list_head early_words[2] __initdata = {
	LIST_HEAD_INIT(early_words[0]),
	LIST_HEAD_INIT(early_words[1]),
};

/* Gives the top level trace array the words for modules of the boot parameters. Boot, one CPU. */
void __init ftrace_early_words(struct trace_array *tr)
{
	list_splice_init(&early_words[false], ftrace_mod_words_of(tr, false));
	list_splice_init(&early_words[true], ftrace_mod_words_of(tr, true));
}

/* Sets the filter of an ops from a boot parameter, as ftrace_early_set(). Boot. */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int wanted)
{
	struct ftrace_filter filter;

	ftrace_ops_init(ops);
	filter = ftrace_filter_of(ops, wanted);
	if (ops == &global_ops)
		filter.words = &early_words[!!wanted];
	else
		ftrace_note_lone_ops(ops);
	ftrace_early_set(&filter, buf);
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
