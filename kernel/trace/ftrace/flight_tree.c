// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of calls that a reader gets if returns are recorded.
 *
 * A record does not say how deep a call is, nor when the call of a return was made. So the reader
 * keeps the calls of each task that have not returned yet. Entries come in the order of time, those
 * of all CPUs, so the tree of a task continues on another CPU. A call whose return was not recorded
 * ends with the function that has made it.
 *
 * Who reads one CPU does not see what a task did on another one before it was last switched to. The
 * call of a return may have been there, and an older one is still open: so nothing is known of its
 * duration.
 */
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>

#include "../trace.h"
#include "../trace_output.h"
#include "flight.h"

/* So many calls of a task are kept, a page. If there are more, the outermost are forgotten. */
#define MAX_OPEN	254

/* Who follows a CPU for long sees many tasks end. If there are so many, all are forgotten. */
#define MAX_TASKS	1024

#define INDENT		2

#define NO_DURATION	U64_MAX

/* A call that has not returned; it was not made before @early. */
struct open_call {
	unsigned long	ip;
	u64		early;
};

/* Each CPU has an idle task; all have the number 0. */
struct tree_task {
	struct hlist_node	node;
	u64			key;
	unsigned int		nr;
	struct open_call	open[MAX_OPEN];
};

/* The line of the entry that was found last. */
struct tree_line {
	enum { OPENS, CLOSES, LEAF } kind;
	unsigned int	depth;
	bool		bare;		/* the function above is not the caller */
	u64		duration;	/* not longer, if times are not exact; or NO_DURATION */
};

struct ftrace_flight_tree {
	struct tree_line	line;
	bool			exact;
	bool			one_cpu;
	unsigned int		nr_tasks;
	u64			ran;	/* one_cpu: the task of the last entry, since when */
	u64			since;
	DECLARE_HASHTABLE(tasks, 8);
};

/*
 * @exact: a duration is that, and not only a limit. @one_cpu: entries of others do not come. NULL
 * without memory.
 */
struct ftrace_flight_tree *ftrace_flight_tree_make(bool exact, bool one_cpu)
{
	struct ftrace_flight_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL);

	if (tree) {
		tree->exact = exact;
		tree->one_cpu = one_cpu;
	}
	return tree;
}

/* The reader begins anew. */
void ftrace_flight_tree_clear(struct ftrace_flight_tree *tree)
{
	struct tree_task *task;
	struct hlist_node *next;
	int i;

	hash_for_each_safe(tree->tasks, i, next, task, node) {
		hash_del(&task->node);
		kfree(task);
	}
	tree->nr_tasks = 0;
	tree->ran = 0;
}

void ftrace_flight_tree_free(struct ftrace_flight_tree *tree)
{
	if (!tree)
		return;
	ftrace_flight_tree_clear(tree);
	kfree(tree);
}

static u64 tree_key(s32 pid, int cpu)
{
	return pid > 0 ? pid : (u64)(cpu + 1) << 32;
}

static struct tree_task *tree_task(struct ftrace_flight_tree *tree, u64 key)
{
	struct tree_task *task;

	hash_for_each_possible(tree->tasks, task, node, key)
		if (task->key == key)
			return task;
	task = kzalloc(sizeof(*task), GFP_KERNEL);
	if (!task)
		return NULL;
	task->key = key;
	hash_add(tree->tasks, &task->node, key);
	tree->nr_tasks++;
	return task;
}

/* The open calls from the outermost up to that of the function at @addr; 0 if it is not open. */
static unsigned int tree_find(const struct tree_task *task, unsigned long addr)
{
	unsigned long size, offset, start;
	unsigned int nr = task->nr;

	if (!nr || !kallsyms_lookup_size_offset(addr, &size, &offset))
		return 0;
	start = addr - offset;
	while (nr && task->open[nr - 1].ip - start >= size)
		nr--;
	return nr;
}

static void tree_runs(struct ftrace_flight_tree *tree, u64 key, u64 time)
{
	if (!tree->one_cpu || tree->ran == key)
		return;
	tree->ran = key;
	tree->since = time;
}

static void tree_call(struct ftrace_flight_tree *tree, struct tree_task *task, unsigned long ip,
		      unsigned long parent_ip, u64 early)
{
	unsigned int caller = tree_find(task, parent_ip);

	task->nr = caller ?: task->nr;
	tree->line = (struct tree_line){ OPENS, task->nr, !caller, NO_DURATION };
	if (task->nr == MAX_OPEN) {
		task->nr /= 2;
		memmove(task->open, task->open + task->nr, task->nr * sizeof(*task->open));
	}
	task->open[task->nr++] = (struct open_call){ ip, early };
}

static void tree_return(struct ftrace_flight_tree *tree, struct tree_task *task, unsigned long ip,
			u64 late)
{
	unsigned int nr = task->nr;

	while (nr && task->open[nr - 1].ip != ip)
		nr--;
	/* If the call is older than the ring, nothing that is open was called outside of it. */
	task->nr = 0;
	if (!nr)
		return;
	task->nr = nr - 1;
	tree->line.depth = task->nr;
	if (late != U64_MAX && task->open[task->nr].early >= tree->since)
		tree->line.duration = late - min(late, task->open[task->nr].early);
}

/*
 * A reader has found the entry of @cursor, of @cpu. @ret is its return if that is the next entry,
 * so that one line shows both; else NULL. Process context, may sleep.
 */
void ftrace_flight_tree_add(struct ftrace_flight_tree *tree,
			    const struct ftrace_flight_cursor *cursor,
			    const struct ftrace_flight_cursor *ret, int cpu)
{
	u64 key = tree_key(cursor->entry.ent.pid, cpu);
	struct tree_task *task = tree_task(tree, key);

	tree_runs(tree, key, cursor->early);
	tree->line = (struct tree_line){ .kind = cursor->entry.parent_ip ? OPENS : CLOSES,
					 .bare = true, .duration = NO_DURATION };
	if (!task)
		return;
	if (!cursor->entry.parent_ip) {
		tree_return(tree, task, cursor->entry.ip, cursor->late);
		return;
	}
	tree_call(tree, task, cursor->entry.ip, cursor->entry.parent_ip, cursor->early);
	if (!ret)
		return;
	tree_return(tree, task, ret->entry.ip, ret->late);
	tree->line.kind = LEAF;
}

static void tree_print_duration(const struct ftrace_flight_tree *tree, struct trace_seq *s)
{
	u64 duration = tree->line.duration;

	if (duration == NO_DURATION) {
		trace_seq_puts(s, "                ");
		return;
	}
	/* Behind a space: a line that begins with "#" is a comment. */
	trace_seq_printf(s, " %c ", tree->exact ? trace_find_mark(duration) : '<');
	trace_print_graph_duration(duration, s);
	trace_seq_puts(s, "  ");
}

/* Prints the entry that was found last. The context of a line is printed. */
void ftrace_flight_tree_print(const struct ftrace_flight_tree *tree, struct trace_iterator *iter)
{
	static const char * const ends[] = { [OPENS] = "() {", [LEAF] = "();" };
	const struct ftrace_entry *entry = (const struct ftrace_entry *)iter->ent;
	const struct tree_line *line = &tree->line;
	struct trace_seq *s = &iter->seq;

	if (iter->iter_flags & TRACE_FILE_TIME_IN_NS)
		tree_print_duration(tree, s);
	trace_seq_printf(s, "|  %*s", line->depth * INDENT, "");
	if (line->kind == CLOSES) {
		trace_seq_printf(s, "} /* %ps */\n", (void *)entry->ip);
		return;
	}
	trace_seq_printf(s, "%ps%s", (void *)entry->ip, ends[line->kind]);
	if (line->bare)
		trace_seq_printf(s, " /* <-%ps */", (void *)entry->parent_ip);
	trace_seq_putc(s, '\n');
}

/* The times follow there. One version declares them in another structure. */
#define GRAPH_TIMES	offsetofend(struct ftrace_graph_ret_entry, ret.overrun)

struct graph_times {
	u64	call;
	u64	ret;
} __packed;

/* Events that are not complete. Nothing else in a page has these types. */
#define CALL_BEGUN	__TRACE_FIRST_TYPE
#define RETURN_BEGUN	U16_MAX

/*
 * Makes an event of the function graph tracer from an entry, for ftrace_flight_tree_fill(): until
 * then, the depth of a call is its caller. Returns the size. Any context.
 */
unsigned int ftrace_flight_graph(const struct ftrace_entry *entry, union ftrace_flight_graph *graph)
{
	memset(graph, 0, sizeof(*graph));
	if (entry->parent_ip) {
		graph->call.ent = entry->ent;
		graph->call.ent.type = CALL_BEGUN;
		graph->call.graph_ent.func = entry->ip;
		graph->call.graph_ent.depth = entry->parent_ip;
		return sizeof(graph->call);
	}
	graph->ret.ent = entry->ent;
	graph->ret.ent.type = RETURN_BEGUN;
	graph->ret.ret.func = entry->ip;
	return GRAPH_TIMES + sizeof(struct graph_times);
}

/*
 * Completes an event of a page of @cpu that was made by ftrace_flight_graph(): the depth, and of a
 * return the times. Other events stay as they are. Process context, may sleep.
 */
void ftrace_flight_tree_fill(struct ftrace_flight_tree *tree, struct trace_entry *ent, u64 time,
			     int cpu)
{
	union ftrace_flight_graph *graph = (void *)ent;
	u64 key = tree_key(ent->pid, cpu);
	struct graph_times *times;
	struct tree_task *task;

	if (ent->type != CALL_BEGUN && ent->type != RETURN_BEGUN)
		return;
	if (tree->nr_tasks >= MAX_TASKS)
		ftrace_flight_tree_clear(tree);
	tree_runs(tree, key, time);
	tree->line = (struct tree_line){ .duration = NO_DURATION };
	task = tree_task(tree, key);
	if (ent->type == CALL_BEGUN) {
		ent->type = TRACE_GRAPH_ENT;
		if (task)
			tree_call(tree, task, graph->call.graph_ent.func,
				  graph->call.graph_ent.depth, time);
		graph->call.graph_ent.depth = tree->line.depth;
		return;
	}
	ent->type = TRACE_GRAPH_RET;
	if (task)
		tree_return(tree, task, graph->ret.ret.func, time);
	graph->ret.ret.depth = tree->line.depth;
	times = (void *)graph + GRAPH_TIMES;
	times->ret = time;
	/* Since the task was switched to, if it was called earlier or nobody knows. */
	times->call = time - min(tree->line.duration, time - tree->since);
}
