// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that are written to a filter file, `function:command': finds the command by its name.
 *
 * Who has a command registers it: probe_commands.c, and other files of the kernel.
 */
#include <linux/ftrace.h>
#include <linux/list.h>

#include "commands.h"
#include "core.h"
#include "filter_edit.h"

static LIST_HEAD(commands);

static struct ftrace_func_command *command_find(const char *name)
{
	struct ftrace_func_command *cmd;

	list_for_each_entry(cmd, &commands, list)
		if (!strcmp(cmd->name, name))
			return cmd;
	return NULL;
}

/**
 * register_ftrace_command - add a command of the filter files
 * @cmd: the command, which must stay
 *
 * Context: Boot, one at a time: the list of commands has no lock.
 * Return: 0, or -EBUSY if there is a command of that name.
 */
__init int register_ftrace_command(struct ftrace_func_command *cmd)
{
	if (command_find(cmd->name))
		return -EBUSY;
	list_add(&cmd->list, &commands);
	return 0;
}

/**
 * unregister_ftrace_command - undo register_ftrace_command()
 * @cmd: the command
 *
 * Context: As for register_ftrace_command().
 * Return: 0, or -ENODEV if there is no command of that name.
 */
__init int unregister_ftrace_command(struct ftrace_func_command *cmd)
{
	struct ftrace_func_command *found = command_find(cmd->name);

	if (!found)
		return -ENODEV;
	list_del_init(&found->list);
	return 0;
}

/*
 * The &ftrace_edit.command of a file: 1 if the command was carried out, -EINVAL if there is none of
 * this name, or an error with nothing changed. Takes what the command takes.
 */
int ftrace_run_command(struct ftrace_edit *edit, char *func, char *name, char *params)
{
	struct ftrace_func_command *cmd = command_find(name);

	if (!cmd)
		return -EINVAL;
	return cmd->func(edit->filter.tr, edit->hash, func, name, params, edit->filter.wanted) ?: 1;
}
