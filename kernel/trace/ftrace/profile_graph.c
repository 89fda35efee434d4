// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function profiler measures how long a function takes, from its entry to its return.
 * It learns both from the function graph tracer.
 */
#include <linux/trace_clock.h>

#include "core.h"
#include "profile.h"

/* What is known of a call while it runs. All times are in ns. */
struct profile_call {
	u64	start;
	u64	asleep;		/* how long the task had slept before */
	u64	children;	/* what the functions took that this call made */
};

/* The option sleep-time of the graph tracer sets this. */
bool fprofile_no_sleep_time;

static int profile_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			 struct ftrace_regs *fregs)
{
	struct profile_call *call;

	ftrace_profile_hit(trace->func);

	call = fgraph_reserve_data(gops->idx, sizeof(*call));
	if (!call)
		return 0;
	call->children = 0;
	call->asleep = current->ftrace_sleeptime;
	call->start = trace_clock_local();
	return 1;
}

static void profile_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
			   struct ftrace_regs *fregs)
{
	struct profile_call *call = fgraph_retrieve_data(gops->idx, NULL), *caller;
	u64 time;

	if (!call)
		return;
	time = trace_clock_local() - call->start;
	if (READ_ONCE(fprofile_no_sleep_time))
		time -= min(time, current->ftrace_sleeptime - call->asleep);

	if (!READ_ONCE(ftrace_profile_children)) {
		caller = fgraph_retrieve_parent_data(gops->idx, NULL, 1);
		if (caller)
			caller->children += time;
		time -= min(time, call->children);
	}
	ftrace_profile_time(trace->func, time);
}

struct fgraph_ops ftrace_profile_graph = {
	.entryfunc	= profile_entry,
	.retfunc	= profile_return,
};
