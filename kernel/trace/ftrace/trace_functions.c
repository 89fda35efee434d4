// SPDX-License-Identifier: GPL-2.0-only
/*
 * The "function" tracer, and the commands of set_ftrace_filter that act on tracing
 * itself: traceon, traceoff, stacktrace, dump, cpudump.
 *
 * Nothing here decides which functions are traced. The tracer gives the ops of its
 * trace array to the core, and a command gives a probe to probes.c. Both only define
 * what happens when a traced function is called.
 */

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "../trace.h"
#include "callback.h"
#include "core.h"
#include "filter_file.h"
#include "ops.h"
#include "pid.h"

/* The options of the tracer; their combinations index hit_functions. */
enum {
	OPT_STACK	= BIT(0),
	OPT_NO_REPEATS	= BIT(1),
	OPT_ARGS	= BIT(2),
};

static struct tracer_opt func_opts[] = {
	{ TRACER_OPT(func_stack_trace, OPT_STACK) },
	{ .name = "func-no-repeats", .bit = OPT_NO_REPEATS },
#ifdef CONFIG_FUNCTION_TRACE_ARGS
	{ .name = "func-args", .bit = OPT_ARGS },
#endif
	{ }
};

static struct tracer_flags func_flags = {
	.opts = func_opts,
};

static struct tracer function_tracer;

/*
 * The entries of a stack trace above the traced function, if a callback calls
 * __trace_stack() and does not end with that call:
 *
 * - one entry of the recorder: with ORC __ftrace_trace_stack(), which does not
 *   discount itself; otherwise __trace_stack(), which is compiled without a tail call
 * - the callback
 * - the trampoline
 */
#define SKIP_TO_TRACED	3

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Not inlined, because its stack frame would slow the common case. */
static noinline unsigned long function_graph_caller(unsigned long parent_ip,
						    struct ftrace_regs *fregs)
{
	int idx = 0;

	return ftrace_graph_ret_addr(current, &idx, parent_ip,
		(unsigned long *)ftrace_regs_get_stack_pointer(fregs));
}
#endif

/* The caller to show, not the hook that function graph put in its place. */
static __always_inline unsigned long
function_real_caller(unsigned long parent_ip, struct ftrace_regs *fregs)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (unlikely(parent_ip == (unsigned long)return_to_handler))
		return function_graph_caller(parent_ip, fregs);
#endif
	return parent_ip;
}

/*
 * If a call equals the previous call on this CPU, count it instead of recording it.
 * An interrupt between any two lines here can make a count slightly wrong. That is
 * cheaper than preventing it.
 */
static __always_inline bool
function_is_repeat(struct trace_array *tr, struct trace_func_repeats *last,
		   unsigned long ip, unsigned long parent_ip)
{
	/* The count has 16 bits in the ring buffer. */
	if (last->ip != ip || last->parent_ip != parent_ip ||
	    last->count >= U16_MAX)
		return false;

	last->ts_last_call = ring_buffer_time_stamp(tr->array_buffer.buffer);
	last->count++;
	return true;
}

/*
 * The entries of a stack trace between the trampoline and the callback, which inlines this
 * function: the walk of a class with many ops; and ftrace_pid_func(), which the compiler ends
 * with a jump unless there are frame pointers.
 */
static __always_inline unsigned int function_frames_between(void)
{
	if (likely(is_ftrace_trampoline(CALLER_ADDR0)))
		return 0;
	return IS_ENABLED(CONFIG_FRAME_POINTER) && !is_ftrace_trampoline(CALLER_ADDR1) ? 2 : 1;
}

static __always_inline void function_record(struct trace_array *tr, unsigned long ip,
					    unsigned long parent_ip,
					    unsigned int trace_ctx,
					    struct ftrace_regs *fregs, u32 options)
{
	if (options & OPT_NO_REPEATS) {
		struct trace_func_repeats *last = this_cpu_ptr(tr->last_func_repeats);

		if (function_is_repeat(tr, last, ip, parent_ip))
			return;
		if (last->count)
			trace_last_func_repeats(tr, last, trace_ctx);
		last->count = 0;
		last->ip = ip;
		last->parent_ip = parent_ip;
	}

	ftrace_record_call(tr, ip, parent_ip, trace_ctx, options & OPT_ARGS ? fregs : NULL);
	if (options & OPT_STACK)
		__trace_stack(tr, trace_ctx, SKIP_TO_TRACED + function_frames_between());
}

static __always_inline void function_record_hit(unsigned long ip, unsigned long parent_ip,
						struct ftrace_ops *op,
						struct ftrace_regs *fregs, u32 options)
{
	struct trace_array *tr = op->private;
	int bit;

	if (unlikely(!READ_ONCE(tr->function_enabled)))
		return;

	/* First of all: unless arguments are recorded, @fregs need not be kept over a call then. */
	parent_ip = function_real_caller(parent_ip, fregs);
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	if (likely(!ftrace_recording_off(tr, options & OPT_NO_REPEATS)))
		function_record(tr, ip, parent_ip, tracing_gen_ctx_dec(), fregs, options);

	ftrace_test_recursion_unlock(bit);
}

/*
 * Taking a stack trace is slow and needs much stack: an interrupt in the middle that
 * also took a stack trace would nest too deep.
 */
static __always_inline void
function_record_hit_stack(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs, u32 options)
{
	struct trace_array *tr = op->private;
	struct trace_array_cpu *data;
	unsigned long flags;

	if (unlikely(!READ_ONCE(tr->function_enabled)))
		return;

	local_irq_save(flags);
	data = this_cpu_ptr(tr->array_buffer.data);
	if (likely(ftrace_record_begin(data)))
		function_record(tr, ip, function_real_caller(parent_ip, fregs),
				tracing_gen_ctx_flags(flags), fregs, options | OPT_STACK);
	ftrace_record_end(data);
	local_irq_restore(flags);
}

#define FUNCTION_HIT(name, record, options)					\
static void name(unsigned long ip, unsigned long parent_ip,			\
		 struct ftrace_ops *op, struct ftrace_regs *fregs)		\
{										\
	record(ip, parent_ip, op, fregs, options);				\
}

FUNCTION_HIT(function_hit, function_record_hit, 0)
FUNCTION_HIT(function_hit_once, function_record_hit, OPT_NO_REPEATS)
FUNCTION_HIT(function_stack_hit, function_record_hit_stack, 0)
FUNCTION_HIT(function_stack_hit_once, function_record_hit_stack, OPT_NO_REPEATS)
#ifdef CONFIG_FUNCTION_TRACE_ARGS
FUNCTION_HIT(function_args_hit, function_record_hit, OPT_ARGS)
FUNCTION_HIT(function_args_hit_once, function_record_hit, OPT_ARGS | OPT_NO_REPEATS)
FUNCTION_HIT(function_args_stack_hit, function_record_hit_stack, OPT_ARGS)
FUNCTION_HIT(function_args_stack_hit_once, function_record_hit_stack, OPT_ARGS | OPT_NO_REPEATS)
#endif

static const ftrace_func_t hit_functions[] = {
	[0]					= function_hit,
	[OPT_STACK]				= function_stack_hit,
	[OPT_NO_REPEATS]			= function_hit_once,
	[OPT_STACK | OPT_NO_REPEATS]		= function_stack_hit_once,
#ifdef CONFIG_FUNCTION_TRACE_ARGS
	[OPT_ARGS]				= function_args_hit,
	[OPT_ARGS | OPT_STACK]			= function_args_stack_hit,
	[OPT_ARGS | OPT_NO_REPEATS]		= function_args_hit_once,
	[OPT_ARGS | OPT_STACK | OPT_NO_REPEATS]	= function_args_stack_hit_once,
#endif
};

/* Reset the counts of an earlier run, and allocate the memory if it is needed. */
static int function_prepare_repeats(struct trace_array *tr, u32 options)
{
	int cpu;

	if (!(options & OPT_NO_REPEATS))
		return 0;

	if (!tr->last_func_repeats) {
		tr->last_func_repeats = alloc_percpu(struct trace_func_repeats);
		return tr->last_func_repeats ? 0 : -ENOMEM;
	}

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(tr->last_func_repeats, cpu), 0,
		       sizeof(struct trace_func_repeats));
	return 0;
}

static int function_tracer_init(struct trace_array *tr)
{
	u32 options = ftrace_tracer_options(tr, &func_flags);
	int ret;

	if (!tr->ops)
		return -ENOMEM;

	ret = function_prepare_repeats(tr, options);
	if (ret)
		return ret;

	ftrace_init_array_ops(tr, hit_functions[options]);
	tr->array_buffer.cpu = raw_smp_processor_id();
	tracing_start_cmdline_record();

	/* While functions are still being patched, those already patched must not be traced. */
	tr->function_enabled = 0;
	ret = register_ftrace_function(tr->ops);
	if (ret) {
		tracing_stop_cmdline_record();
		ftrace_reset_array_ops(tr);
		return ret;
	}
	WRITE_ONCE(tr->function_enabled, 1);
	return 0;
}

static void function_tracer_reset(struct trace_array *tr)
{
	WRITE_ONCE(tr->function_enabled, 0);
	unregister_ftrace_function(tr->ops);
	tracing_stop_cmdline_record();
	ftrace_reset_array_ops(tr);
}

static void function_tracer_start(struct trace_array *tr)
{
	tracing_reset_online_cpus(&tr->array_buffer);
}

static int function_tracer_set_flag(struct trace_array *tr, u32 old_flags,
				    u32 bit, int set)
{
	u32 options = set ? old_flags | bit : old_flags & ~bit;
	int ret;

	/* Otherwise the tracer uses the flag when it starts. */
	if (tr->current_trace != &function_tracer)
		return 0;

	ret = function_prepare_repeats(tr, options);
	if (ret)
		return ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_pid_change_func(tr->ops, hit_functions[options]);
	mutex_unlock(&ftrace_lock);
	return ret;
}

static struct tracer function_tracer __tracer_data = {
	.name		= "function",
	.init		= function_tracer_init,
	.reset		= function_tracer_reset,
	.start		= function_tracer_start,
	.FTRACE_TRACER_FLAGS = &func_flags,
	.set_flag	= function_tracer_set_flag,
	.allow_instances = true,
#ifdef CONFIG_FTRACE_STARTUP_TEST
	.selftest	= trace_selftest_startup_function,
#endif
};

/**
 * ftrace_init_global_array_ops - give the top level trace array its ops
 * @tr: the top level trace array
 *
 * Context: Boot, before any tracer is registered.
 */
__init void ftrace_init_global_array_ops(struct trace_array *tr)
{
	ftrace_init_trace_array(tr);
	ftrace_early_pending(tr);
	global_ops.private = tr;
	tr->ops = &global_ops;
	/* This copies ->private. */
	init_array_fgraph_ops(tr, &global_ops);
}

/**
 * ftrace_allocate_ftrace_ops - give a new trace array its ops
 * @tr: a trace array that is being created, not the top level one
 *
 * Context: Process context, may sleep. trace_types_lock held.
 * Return: 0, or -ENOMEM.
 */
int ftrace_allocate_ftrace_ops(struct trace_array *tr)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);

	if (!ops)
		return -ENOMEM;

	ops->func = ftrace_stub;
	ops->flags = FTRACE_OPS_FL_PID;
	ops->private = tr;
	ftrace_ops_init(ops);
	tr->ops = ops;
	return 0;
}

/**
 * ftrace_free_ftrace_ops - free the ops of a trace array
 * @tr: a trace array that is not the top level one, and no longer traces
 *
 * Context: Process context, may sleep. trace_types_lock held.
 */
void ftrace_free_ftrace_ops(struct trace_array *tr)
{
	struct ftrace_ops *ops = tr->ops;

	tr->ops = NULL;
	if (ops && ops->flags & FTRACE_OPS_FL_ENABLED) {
		/*
		 * After ftrace_kill() call sites call the ops until the next boot:
		 * the ops must stay, and must not use @tr.
		 */
		WRITE_ONCE(ops->private, &ftrace_gone_array);
		ftrace_wait_callbacks();
		return;
	}
	kfree(ops);
}

/**
 * ftrace_create_function_files - create the filter files of a trace array
 * @tr: the trace array
 * @parent: its directory
 *
 * The top level array is left out: ftrace_init_tracefs_toplevel() creates its files.
 *
 * Context: Process context, may sleep. trace_types_lock held, except at boot.
 * Return: 0, -EINVAL if @tr has no ops, or -ENOMEM.
 */
int ftrace_create_function_files(struct trace_array *tr, struct dentry *parent)
{
	int ret = -EINVAL;

	if (tr->flags & TRACE_ARRAY_FL_GLOBAL)
		return 0;
	if (tr->ops)
		ret = allocate_fgraph_ops(tr, tr->ops);
	if (!ret)
		ftrace_create_filter_files(tr, parent);
	return ret;
}

/**
 * ftrace_destroy_function_files - free all that a trace array has for function tracing
 * @tr: a trace array that is about to be freed
 *
 * Context: Process context, may sleep. trace_types_lock held.
 */
void ftrace_destroy_function_files(struct trace_array *tr)
{
	free_fgraph_ops(tr);
	ftrace_destroy_filter_files(tr->ops);
	ftrace_free_pids(tr);
	ftrace_free_ftrace_ops(tr);
}

/**
 * ftrace_reset_array_ops - undo ftrace_init_array_ops()
 * @tr: the trace array; its ops must not be registered
 *
 * Context: Process context. trace_types_lock held.
 */
void ftrace_reset_array_ops(struct trace_array *tr)
{
	tr->ops->func = ftrace_stub;
}

/**
 * ftrace_init_array_ops - set the callback of the ops of a trace array
 * @tr: the trace array; its ops must not be registered
 * @func: the callback of the tracer that is about to start
 *
 * Context: Process context. trace_types_lock held.
 */
void ftrace_init_array_ops(struct trace_array *tr, ftrace_func_t func)
{
	WARN(tr->ops->func != ftrace_stub, "function tracing is busy: %ps\n",
	     tr->ops->func);
	tr->ops->private = tr;
	tr->ops->func = func;
}

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

static void command_stacktrace_hit(unsigned long ip, unsigned long parent_ip,
				   struct trace_array *tr, struct ftrace_probe_ops *ops,
				   void *data)
{
	/* A stack trace that is not recorded does not count. */
	if (!tracer_tracing_is_on(tr) || !command_take_one(ops, ip, data))
		return;

	/* One entry more: the callback of the probe, which called this function. */
	__trace_stack(tr, tracing_gen_ctx_dec(), SKIP_TO_TRACED + 1);
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
		       char *glob, char *name, char *param, int enable)
{
	struct probe_command *cmd = probe_commands;
	struct ftrace_probe_ops *ops;
	long count = UNLIMITED;
	char *number;
	int ret;

	if (!tr)
		return -ENODEV;
	/* A command makes no sense in set_ftrace_notrace. */
	if (!enable)
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

/**
 * init_function_trace - register the function tracer and its commands
 *
 * Context: Boot; starts tracing if the command line requests it.
 * Return: 0, or the error of register_tracer().
 */
__init int init_function_trace(void)
{
	struct probe_command *cmd;
	int i;

	for (i = 0; i < ARRAY_SIZE(probe_commands); i++) {
		cmd = &probe_commands[i];
		cmd->command.func = command_run;
		cmd->always.print = command_print;
		cmd->counted = cmd->always;
		cmd->counted.init = command_counter_init;
		cmd->counted.free = command_counter_free;
		/* Fails only if two commands have one name. */
		WARN_ON(register_ftrace_command(&cmd->command));
	}

	return register_tracer(&function_tracer);
}
