/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core uses of the rest of the kernel in another way from version to version:
 * this is the file for Linux 7.3.
 */
#ifndef _FTRACE_BASE_H
#define _FTRACE_BASE_H

#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include <asm/sections.h>

#include "../trace.h"

/* The workqueue for work that may run on any CPU. */
#define ftrace_any_cpu_wq	system_dfl_wq

/* A trace has the arguments of calls with interrupts off, too. */
#define FTRACE_ARGS_NEED_IRQS	false

/* Define &ftrace_ops.ops_func. */
#define FTRACE_OPS_FUNC(name)	\
	int name(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd)

/* Ask the owner of a direct caller about the function at @ip. */
static inline int ftrace_ask_owner(struct ftrace_ops *direct, unsigned long ip,
				   enum ftrace_ops_cmd cmd)
{
	return direct->ops_func(direct, ip, cmd);
}

/* The ring buffer itself refuses events. What counts @repeats of an event must not count then. */
static __always_inline bool ftrace_recording_off(struct trace_array *tr, bool repeats)
{
	return repeats && !tracer_tracing_is_on(tr);
}

/* Returns true if no code that this code interrupts has done the same. */
static __always_inline bool ftrace_record_begin(struct trace_array_cpu *data)
{
	return local_inc_return(&data->disabled) == 1;
}

static __always_inline void ftrace_record_end(struct trace_array_cpu *data)
{
	local_dec(&data->disabled);
}

/* Record a call of the function at @ip, and the arguments in @fregs if not NULL. */
static __always_inline void ftrace_record_call(struct trace_array *tr, unsigned long ip,
					       unsigned long parent_ip, unsigned int trace_ctx,
					       struct ftrace_regs *fregs)
{
	trace_function(tr, ip, parent_ip, trace_ctx, fregs);
}

/* Each trace array has options of its own. These are the first ones. */
#define FTRACE_TRACER_FLAGS	default_flags

static inline u32 ftrace_tracer_options(struct trace_array *tr, const struct tracer_flags *flags)
{
	return tr->current_trace_flags->val;
}

static inline bool ftrace_sub_is_graph(const struct ftrace_ops *sub)
{
	return sub->flags & FTRACE_OPS_FL_GRAPH;
}

/*
 * The function profiler shows names. With the option prof-text-offset, it shows offsets
 * from the start of the text, which tools can find in the object file.
 */
static inline void ftrace_profile_name(char *name, unsigned long ip)
{
	struct trace_array *tr = trace_get_global_array();
	struct module *mod;

	if (tr && tr->trace_flags & TRACE_ITER(PROF_TEXT_OFFSET)) {
		if (core_kernel_text(ip)) {
			snprintf(name, KSYM_SYMBOL_LEN, "  _text+%#lx", ip - (unsigned long)_text);
			return;
		}
		guard(rcu)();
		mod = __module_text_address(ip);
		if (mod) {
			snprintf(name, KSYM_SYMBOL_LEN, "  %s+%#lx", mod->name,
				 ip - (unsigned long)mod->mem[MOD_TEXT].base);
			return;
		}
	}
	kallsyms_lookup(ip, NULL, NULL, NULL, name);
}

/* kernel.ftrace_enabled does not switch tracing off any more. */
static inline int ftrace_refuse_off(void)
{
	pr_warn_once("The ftrace_enabled file is deprecated and no longer disables ftrace\n");
	return -EOPNOTSUPP;
}

/* The file dyn_ftrace_total_info shows the times. */
#define FTRACE_SHOWS_TIMES

static inline void ftrace_boot_took(u64 ns)
{
	ftrace_update_time = ns;
}

static inline void ftrace_module_took(u64 ns)
{
	ftrace_total_mod_time += ns;
}

#endif
