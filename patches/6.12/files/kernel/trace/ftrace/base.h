/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core uses of the rest of the kernel in another way from version to version:
 * this is the file for Linux 6.12.
 */
#ifndef _FTRACE_BASE_H
#define _FTRACE_BASE_H

#include <linux/kallsyms.h>
#include <linux/workqueue.h>

#include "../trace.h"

/* The workqueue for work that may run on any CPU. */
#define ftrace_any_cpu_wq	system_unbound_wq

/* A trace has no arguments of a call with interrupts off: BTF can sleep. */
#define FTRACE_ARGS_NEED_IRQS	true

/* Define &ftrace_ops.ops_func. */
#define FTRACE_OPS_FUNC(name)	int name(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)

/* Ask the owner of a direct caller about the function at @ip. */
static inline int ftrace_ask_owner(struct ftrace_ops *direct, unsigned long ip,
				   enum ftrace_ops_cmd cmd)
{
	return direct->ops_func(direct, cmd);
}

/* Does this CPU record no events of a trace array? */
static __always_inline bool ftrace_recording_off(struct trace_array *tr, bool repeats)
{
	return this_cpu_read(tr->array_buffer.data->disabled.counter);
}

/* Returns true if no code that this code interrupts has done the same. */
static __always_inline bool ftrace_record_begin(struct trace_array_cpu *data)
{
	return atomic_inc_return(&data->disabled) == 1;
}

static __always_inline void ftrace_record_end(struct trace_array_cpu *data)
{
	atomic_dec(&data->disabled);
}

/* Record a call of the function at @ip, and the arguments in @fregs if not NULL. */
static __always_inline void ftrace_record_call(struct trace_array *tr, unsigned long ip,
					       unsigned long parent_ip, unsigned int trace_ctx,
					       struct ftrace_regs *fregs)
{
	if (IS_ENABLED(CONFIG_FUNCTION_TRACE_ARGS) && fregs)
		trace_function_args(tr, ip, parent_ip, trace_ctx, fregs);
	else
		trace_function(tr, ip, parent_ip, trace_ctx);
}

/* All trace arrays share the options of a tracer. */
#define FTRACE_TRACER_FLAGS	flags

static inline u32 ftrace_tracer_options(struct trace_array *tr, const struct tracer_flags *flags)
{
	return flags->val;
}

/* Only the graph tracer has subops. */
static inline bool ftrace_sub_is_graph(const struct ftrace_ops *sub)
{
	return true;
}

/* The function profiler shows names. */
static inline void ftrace_profile_name(char *name, unsigned long ip)
{
	kallsyms_lookup(ip, NULL, NULL, NULL, name);
}

/* kernel.ftrace_enabled switches tracing off. */
static inline int ftrace_refuse_off(void)
{
	return 0;
}

/* The file dyn_ftrace_total_info shows no times. */
static inline void ftrace_boot_took(u64 ns) { }
static inline void ftrace_module_took(u64 ns) { }

#endif
