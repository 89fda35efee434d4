// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trees from calls. A call that has a return ends there. The ends of others are inferred: a call
 * belongs below the youngest open call of its task that is its caller, and what is above that has
 * ended by then.
 *
 * An interrupt or exception comes from a function asm_*; if the caller is not known, its first
 * function tells. It lies on top of what the task does, and ends nothing. A caller that is no
 * traced function, because it was inlined or is notrace, is known by its other calls: they are
 * side by side. What begins in user mode ends all calls.
 */
#include <stdlib.h>
#include <string.h>

#include "flight.h"

/* The open calls of a task. */
struct stack {
	uint32_t	*span;
	uint32_t	*caller;
	unsigned int	depth, room;
	uint64_t	next;	/* the next call is not before that */
};

static void push(struct stack *s, uint32_t span, uint32_t caller)
{
	if (s->depth == s->room) {
		s->room = 2 * s->room + 16;
		s->span = xrealloc(s->span, s->room, sizeof(*s->span));
		s->caller = xrealloc(s->caller, s->room, sizeof(*s->caller));
	}
	s->span[s->depth] = span;
	s->caller[s->depth++] = caller;
}

/* The calls above @depth have ended at @time, or when they returned. None ends after its caller. */
static void cut(struct stack *s, unsigned int depth, uint64_t time, struct span *spans)
{
	for (unsigned int i = depth; i < s->depth; i++) {
		struct span *span = &spans[s->span[i]];

		if (span->returns && span->end < time)
			time = span->end < s->next ? s->next : span->end;
		span->end = time;
	}
	s->depth = depth < s->depth ? depth : s->depth;
}

/* How many of the open calls have not returned at @time, as is known. */
static unsigned int not_returned(const struct stack *s, uint64_t time, const struct span *spans)
{
	unsigned int depth = 0;

	for (unsigned int i = 0; i < s->depth; i++) {
		const struct span *span = &spans[s->span[i]];

		if (span->returns && span->end <= time)
			break;
		depth = span->returns ? i + 1 : depth;
	}
	return depth;
}

/* How many of the open calls are not above one that has returned at @time. */
static unsigned int open_at(const struct stack *s, uint64_t time, const struct span *spans)
{
	unsigned int depth = 0;

	while (depth < s->depth &&
	       !(spans[s->span[depth]].returns && spans[s->span[depth]].end <= time))
		depth++;
	return depth;
}

/* The last return. How long calls without one go on, nobody knows: the task may have ended. */
static uint64_t last_end(const struct stack *s, const struct span *spans)
{
	uint64_t time = s->next;

	for (unsigned int i = 0; i < s->depth; i++)
		if (spans[s->span[i]].returns && spans[s->span[i]].end > time)
			time = spans[s->span[i]].end;
	return time;
}

enum {
	TRACED		= 1,	/* its own calls are recorded */
	INTERRUPT	= 2,
	FROM_USER	= 4,	/* called by user mode only */
	TO_USER		= 8,	/* the last one before user mode */
	IN_INTERRUPT	= 16,	/* called by interrupts only */
};

static bool only_in_interrupts(const char *name)
{
	return !strncmp(name, "__sysvec_", 9) || !strcmp(name, "__common_interrupt") ||
	       !strcmp(name, "irq_enter_rcu") || !strcmp(name, "irq_exit_rcu");
}

static unsigned char kind_of(const char *name)
{
	return (strncmp(name, "asm_", 4) ? 0 : INTERRUPT) |
	       (only_in_interrupts(name) ? IN_INTERRUPT : 0) |
	       (strncmp(name, "do_syscall_", 11) ? 0 : FROM_USER) |
	       (strstr(name, "exit_to_user_mode") ? TO_USER : 0);
}

/* How many of the open calls go on when a function is called. */
static unsigned int below(const struct stack *s, const struct call *call, const struct span *spans,
			  const unsigned char *kinds)
{
	unsigned char open = 0;

	for (unsigned int depth = s->depth; depth; depth--) {
		if (spans[s->span[depth - 1]].func == call->caller)
			return depth;
		if (s->caller[depth - 1] == call->caller)
			return depth - 1;
		open |= kinds[s->caller[depth - 1]];
	}
	if (kinds[call->caller] & (FROM_USER | TO_USER) || open & TO_USER)
		return 0;
	/* If the caller is traced, its call is older than all that is known. */
	return kinds[call->caller] & TRACED ? 0 : s->depth;
}

/* An interrupt is over when the CPU goes on with another task. */
static void end_interrupts(const struct flight *flight, struct span *spans)
{
	static const struct span *next[UINT16_MAX];
	static uint64_t end[UINT16_MAX];

	for (size_t i = flight->nr_calls; i--; ) {
		struct span *span = &spans[i];

		if (!next[span->cpu])
			end[span->cpu] = UINT64_MAX;
		else if (next[span->cpu]->task != span->task)
			end[span->cpu] = next[span->cpu]->start;
		next[span->cpu] = span;
		if (span->interrupt && span->end > end[span->cpu])
			span->end = end[span->cpu];
	}
}

/*
 * A span for each call, in the order of the calls. Those of a task or of a CPU start 2 ns or more
 * apart, and none is empty: clocks are coarse, and who draws spans would not know which one is on
 * top.
 */
struct span *flight_spans(const struct flight *flight)
{
	static uint64_t next[UINT16_MAX];
	struct span *spans = xrealloc(NULL, flight->nr_calls, sizeof(*spans));
	struct stack *stacks = calloc(flight->nr_tasks + 1, sizeof(*stacks));
	unsigned char *kinds = xrealloc(NULL, flight->nr_names, sizeof(*kinds));

	if (!stacks)
		die("no memory");
	for (size_t i = 0; i < flight->nr_names; i++)
		kinds[i] = kind_of(flight->names[i]);
	for (size_t i = 0; i < flight->nr_calls; i++)
		kinds[flight->calls[i].func] |= TRACED;
	for (size_t i = 0; i < flight->nr_calls; i++) {
		const struct call *call = &flight->calls[i];
		struct stack *s = &stacks[call->task];
		struct span *span = &spans[i], *parent;
		uint64_t time = call->time;
		unsigned int depth, known;

		if (time < next[call->cpu])
			time = next[call->cpu];
		if (time < s->next)
			time = s->next;
		next[call->cpu] = time + 2;
		cut(s, open_at(s, call->time, spans), time, spans);
		known = not_returned(s, call->time, spans);
		depth = below(s, call, spans, kinds);
		cut(s, depth > known ? depth : known, time, spans);
		parent = s->depth ? &spans[s->span[s->depth - 1]] : NULL;
		*span = (struct span){
			.start = time, .end = call->end, .returns = call->end,
			.func = call->func, .task = call->task,
			.cpu = call->cpu, .parent = parent ? parent - spans : NO_SPAN,
			.depth = parent && parent->depth < UINT16_MAX ? parent->depth + 1 : 0,
			.interrupt = kinds[call->caller] & INTERRUPT ||
				     kinds[call->func] & IN_INTERRUPT ||
				     (parent && parent->interrupt) };
		s->next = time + 2;
		push(s, i, call->caller);
	}
	for (size_t i = 0; i < flight->nr_tasks; i++) {
		cut(&stacks[i], 0, last_end(&stacks[i], spans), spans);
		free(stacks[i].span);
		free(stacks[i].caller);
	}
	free(stacks);
	free(kinds);
	end_interrupts(flight, spans);
	return spans;
}
