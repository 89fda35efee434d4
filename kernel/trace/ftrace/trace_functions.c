// SPDX-License-Identifier: GPL-2.0-only
/*
 * The "function" tracer.
 *
 * Nothing here decides which functions are traced. The tracer gives the ops of its trace array to
 * the core, and defines what happens when a traced function is called.
 */

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>

#include "callback.h"
#include "commands.h"
#include "core.h"
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

		/* A call that the ring buffer refuses is no repeat. */
		if (!tracer_tracing_is_on(tr))
			return;
		if (function_is_repeat(tr, last, ip, parent_ip))
			return;
		if (last->count)
			trace_last_func_repeats(tr, last, trace_ctx);
		last->count = 0;
		last->ip = ip;
		last->parent_ip = parent_ip;
	}

	trace_function(tr, ip, parent_ip, trace_ctx, options & OPT_ARGS ? fregs : NULL);
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

	function_record(tr, ip, parent_ip, tracing_gen_ctx_dec(), fregs, options);
	ftrace_test_recursion_unlock(bit);
}

/*
 * Taking a stack trace is slow and needs much stack: an interrupt in the middle that
 * also took a stack trace would nest too deep.
 */
static DEFINE_PER_CPU(unsigned int, stack_hits);

static __always_inline void
function_record_hit_stack(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs, u32 options)
{
	struct trace_array *tr = op->private;
	unsigned long flags;

	if (unlikely(!READ_ONCE(tr->function_enabled)))
		return;

	local_irq_save(flags);
	if (likely(__this_cpu_inc_return(stack_hits) == 1))
		function_record(tr, ip, function_real_caller(parent_ip, fregs),
				tracing_gen_ctx_flags(flags), fregs, options | OPT_STACK);
	__this_cpu_dec(stack_hits);
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
	u32 options = tr->current_trace_flags->val;
	int ret;

	ret = function_prepare_repeats(tr, options);
	if (ret)
		return ret;

	ftrace_init_array_ops(tr, hit_functions[options]);
	tr->array_buffer.cpu = raw_smp_processor_id();
	tracing_start_cmdline_record();

	ret = register_ftrace_function(tr->ops);
	if (ret) {
		tracing_stop_cmdline_record();
		ftrace_reset_array_ops(tr);
		return ret;
	}
	/* While functions were still being patched, those already patched were not traced. */
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

	guard(mutex)(&ftrace_lock);
	return ftrace_pid_change_func(tr->ops, hit_functions[options]);
}

static struct tracer function_tracer __tracer_data = {
	.name		= "function",
	.init		= function_tracer_init,
	.reset		= function_tracer_reset,
	.start		= function_tracer_start,
	.default_flags	= &func_flags,
	.set_flag	= function_tracer_set_flag,
	.allow_instances = true,
#ifdef CONFIG_FTRACE_STARTUP_TEST
	.selftest	= trace_selftest_startup_function,
#endif
};

/*
 * Registers the function tracer and the commands. Boot; starts tracing if the command line
 * requests it.
 */
__init int init_function_trace(void)
{
	ftrace_init_commands();
	return register_tracer(&function_tracer);
}
