// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function profiler measures how long a function takes, from its entry to its return.
 * It learns both from the function graph tracer.
 */
#include "core.h"
#include "profile.h"

static int profile_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	struct ftrace_ret_stack *frame;

	ftrace_profile_hit(trace->func);

	frame = ftrace_graph_get_ret_stack(current, 0);
	if (!frame)
		return 0;
	frame->subtime = 0;
	return 1;
}

static void profile_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	/* If the option is set, fgraph has subtracted the time asleep. */
	u64 time = trace->rettime - trace->calltime;
	struct ftrace_ret_stack *frame;

	if (!READ_ONCE(ftrace_profile_children)) {
		frame = ftrace_graph_get_ret_stack(current, 1);
		if (frame)
			frame->subtime += time;

		frame = ftrace_graph_get_ret_stack(current, 0);
		if (frame)
			time -= min(time, frame->subtime);
	}
	ftrace_profile_time(trace->func, time);
}

struct fgraph_ops ftrace_profile_graph = {
	.entryfunc	= profile_entry,
	.retfunc	= profile_return,
};
