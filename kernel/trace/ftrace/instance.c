// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a trace array has of function tracing: an ops, which its tracer starts and stops, with a
 * filter, lists of tasks, probes and files. The ops of the top level trace array is global_ops;
 * each other trace array has an ops of its own, which lives as long as the trace array.
 */
#include <linux/ftrace.h>
#include <linux/slab.h>

#include "callback.h"
#include "core.h"
#include "filter_api.h"
#include "filter_edit.h"
#include "filter_file.h"
#include "ops.h"
#include "pid.h"

/* Sets up the lists of a new trace array. */
void ftrace_init_trace_array(struct trace_array *tr)
{
	INIT_LIST_HEAD(&tr->func_probes);
	INIT_LIST_HEAD(&tr->mod_trace);
	INIT_LIST_HEAD(&tr->mod_notrace);
}

/* Gives the top level trace array its ops. Boot, before any tracer is registered. */
__init void ftrace_init_global_array_ops(struct trace_array *tr)
{
	ftrace_init_trace_array(tr);
	ftrace_early_words(tr);
	global_ops.private = tr;
	tr->ops = &global_ops;
	/* This copies ->private. */
	init_array_fgraph_ops(tr, &global_ops);
}

/* Gives a new trace array its ops: 0 or -ENOMEM. trace_types_lock held. */
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

/* Frees the ops of a trace array that no longer traces. trace_types_lock held. */
void ftrace_free_ftrace_ops(struct trace_array *tr)
{
	struct ftrace_ops *ops = tr->ops;

	tr->ops = NULL;
	if (ops && ops->callback) {
		/*
		 * After ftrace_kill() call sites call the ops until the next boot, though it is
		 * registered no more: the ops must stay, and must not use @tr.
		 */
		WRITE_ONCE(ops->private, &ftrace_gone_array);
		ftrace_wait_tramps();
		return;
	}
	kfree(ops);
}

/*
 * Creates the filter files of a trace array: 0, -EINVAL if it has no ops, or -ENOMEM. Those of the
 * top level one come from ftrace_init_tracefs_toplevel(). trace_types_lock held, except at boot.
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

/*
 * Cleans up after the filter files of a trace array were removed. Its ops may still be registered.
 * Takes ftrace_lock.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;
	bool wait = false;

	scoped_guard(mutex, &ftrace_lock) {
		if (ops->flags & FTRACE_OPS_FL_ENABLED)
			wait = !ftrace_ops_stop(ops);
		ops->flags |= FTRACE_OPS_FL_DELETED;
		ftrace_mod_words_free(ftrace_mod_words_of(tr, true));
		ftrace_mod_words_free(ftrace_mod_words_of(tr, false));
	}
	if (wait)
		ftrace_ops_stop_wait(ops);
	/* After ftrace_kill() sites still call the ops. */
	if (!ops->callback)
		ftrace_free_filter(ops);
}

/*
 * Frees all that a trace array has for function tracing. Since its tracer was switched off,
 * event_trace_del_tracer() has waited for a grace period of RCU, which covers handlers of the graph
 * tracer. trace_types_lock held.
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
