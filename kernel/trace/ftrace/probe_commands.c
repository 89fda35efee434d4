// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands that act on tracing itself: traceon, traceoff, stacktrace, dump, cpudump.
 *
 * Each gives the functions a probe (probes.c), and only defines what happens when a traced function
 * is called.
 */
#include <linux/ftrace.h>
#include <linux/stacktrace.h>

#include "commands.h"
#include "core.h"

/*
 * A command as the user sees it. "vfs_read:traceoff" and "vfs_read:traceoff:3" are
 * two probes that can coexist and are removed separately, so each command has two
 * probe_ops. The counted one has an init(), which makes probes.c give it a mapper of
 * counters.
 */
struct probe_command {
	struct ftrace_func_command	command;
	struct ftrace_probe_ops		always;
	struct ftrace_probe_ops		counted;
	/* The number to use instead of the number that the user gives, if any. */
	char				*number;
	bool				ignore_param;
};

/* The counter of "vfs_read:traceoff:", which has a counter but no number. */
#define UNLIMITED	(-1L)

static long *command_counter_of(void *data, unsigned long ip)
{
	return data ? (long *)ftrace_func_mapper_find_ip(data, ip) : NULL;
}

/*
 * Several CPUs can find tracing on at the same time and turn it off. That is
 * harmless, but together they turned tracing off once, so only one CPU must count.
 * So act first and count last, and count only if no other CPU has counted since the
 * counter was read: a CPU that reads the new counter also sees the state that was
 * counted.
 */
static void command_switch_tracing(struct trace_array *tr, bool on, unsigned long ip,
				   struct ftrace_probe_ops *ops, void *data)
{
	long *counter = NULL, left = UNLIMITED;

	if (ops->init) {
		counter = command_counter_of(data, ip);
		if (!counter)	/* The probe is being removed. */
			return;
		/* Pairs with cmpxchg() below. */
		left = smp_load_acquire(counter);
		if (!left)
			return;
	}

	if (tracer_tracing_is_on(tr) == on)
		return;
	if (on)
		tracer_tracing_on(tr);
	else
		tracer_tracing_off(tr);

	if (left != UNLIMITED)
		cmpxchg(counter, left, left - 1);
}

/* Used by commands for which every call of the function is a separate event. */
static bool command_take_one(struct ftrace_probe_ops *ops, unsigned long ip, void *data)
{
	long *counter, left;

	if (!ops->init)
		return true;

	counter = command_counter_of(data, ip);
	if (!counter)	/* The probe is being removed. */
		return false;

	left = READ_ONCE(*counter);
	do {
		if (left == UNLIMITED)
			return true;
		if (!left)
			return false;
	} while (!try_cmpxchg(counter, &left, left - 1));
	return true;
}

static void command_traceon_hit(unsigned long ip, unsigned long parent_ip,
				struct trace_array *tr, struct ftrace_probe_ops *ops,
				void *data)
{
	command_switch_tracing(tr, true, ip, ops, data);
}

static void command_traceoff_hit(unsigned long ip, unsigned long parent_ip,
				 struct trace_array *tr, struct ftrace_probe_ops *ops,
				 void *data)
{
	command_switch_tracing(tr, false, ip, ops, data);
}

/*
 * The entries of a stack trace between the trampoline and the caller of this function: the callback
 * of the probe, and the walk of a class with many ops.
 */
static noinline unsigned int command_frames_between(void)
{
	unsigned long entries[3];

	/* The caller, the callback of the probe, and what called that. */
	if (stack_trace_save(entries, ARRAY_SIZE(entries), 1) < ARRAY_SIZE(entries))
		return 1;
	return is_ftrace_trampoline(entries[2]) ? 1 : 2;
}

static void command_stacktrace_hit(unsigned long ip, unsigned long parent_ip,
				   struct trace_array *tr, struct ftrace_probe_ops *ops,
				   void *data)
{
	/* A stack trace that is not recorded does not count. */
	if (!tracer_tracing_is_on(tr) || !command_take_one(ops, ip, data))
		return;

	__trace_stack(tr, tracing_gen_ctx_dec(), SKIP_TO_TRACED + command_frames_between());
	/* A tail call would change that number. */
	barrier();
}

static void command_dump_hit(unsigned long ip, unsigned long parent_ip,
			     struct trace_array *tr, struct ftrace_probe_ops *ops,
			     void *data)
{
	if (command_take_one(ops, ip, data))
		ftrace_dump(DUMP_ALL);
}

static void command_cpudump_hit(unsigned long ip, unsigned long parent_ip,
				struct trace_array *tr, struct ftrace_probe_ops *ops,
				void *data)
{
	if (command_take_one(ops, ip, data))
		ftrace_dump(DUMP_ORIG);
}

static int command_counter_init(struct ftrace_probe_ops *ops, struct trace_array *tr,
				unsigned long ip, void *init_data, void **data)
{
	if (!*data)
		*data = allocate_ftrace_func_mapper();
	if (!*data)
		return -ENOMEM;

	/* For each function, the mapper stores its counter. */
	return ftrace_func_mapper_add_ip(*data, ip, init_data);
}

static void command_counter_free(struct ftrace_probe_ops *ops, struct trace_array *tr,
				 unsigned long ip, void *data)
{
	if (ip)
		ftrace_func_mapper_remove_ip(data, ip);
	else
		free_ftrace_func_mapper(data, NULL);
}

static struct probe_command probe_commands[] = {
	{ .command.name = "traceon", .always.func = command_traceon_hit },
	{ .command.name = "traceoff", .always.func = command_traceoff_hit },
	{ .command.name = "stacktrace", .always.func = command_stacktrace_hit },
	/* A second dump of all buffers would show the same again. */
	{ .command.name = "dump", .always.func = command_dump_hit,
	  .ignore_param = true, .number = "1" },
	{ .command.name = "cpudump", .always.func = command_cpudump_hit,
	  .ignore_param = true },
};

static int command_print(struct seq_file *m, unsigned long ip,
			 struct ftrace_probe_ops *ops, void *data)
{
	struct probe_command *cmd = probe_commands;
	long *counter = command_counter_of(data, ip);

	while (ops != &cmd->always && ops != &cmd->counted)
		cmd++;

	seq_printf(m, "%ps:%s:", (void *)ip, cmd->command.name);
	if (counter)
		seq_printf(m, "count=%ld\n", READ_ONCE(*counter));
	else
		seq_puts(m, "unlimited\n");
	return 0;
}

/* "glob:name" or "glob:name:param" was written to a filter file of @tr. */
static int command_run(struct trace_array *tr, struct ftrace_hash *hash,
		       char *glob, char *name, char *param, int wanted)
{
	struct probe_command *cmd = probe_commands;
	struct ftrace_probe_ops *ops;
	long count = UNLIMITED;
	char *number;
	int ret;

	if (!tr)
		return -ENODEV;
	/* A command makes no sense in set_ftrace_notrace. */
	if (!wanted)
		return -EINVAL;

	while (strcmp(name, cmd->command.name))
		cmd++;

	number = cmd->ignore_param ? cmd->number : strsep(&param, ":");
	ops = number ? &cmd->counted : &cmd->always;

	if (*glob == '!')
		return unregister_ftrace_function_probe_func(glob + 1, tr, ops);

	if (number && *number) {
		ret = kstrtoul(number, 0, (unsigned long *)&count);
		if (ret)
			return ret;
	}

	ret = register_ftrace_function_probe(glob, tr, ops, (void *)count);
	return min(ret, 0);
}

/* Registers the commands that act on tracing itself. */
__init void ftrace_init_commands(void)
{
	for (int i = 0; i < ARRAY_SIZE(probe_commands); i++) {
		struct probe_command *cmd = &probe_commands[i];

		cmd->command.func = command_run;
		cmd->always.print = command_print;
		cmd->counted = cmd->always;
		cmd->counted.init = command_counter_init;
		cmd->counted.free = command_counter_free;
		/* Fails only if two commands have one name. */
		WARN_ON(register_ftrace_command(&cmd->command));
	}
}
