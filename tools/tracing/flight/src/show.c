// SPDX-License-Identifier: GPL-2.0-only
/* Calls as text, and for other programs: as trace events, and as folded stacks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "flight.h"

static void show_call(const struct flight *flight, const struct call *call, FILE *out)
{
	const struct task *task = &flight->tasks[call->task];

	fprintf(out, "%16s-%-7d [%03u] %6" PRIu64 ".%06" PRIu64 ": ", task->comm, task->pid,
		call->cpu, call->time / 1000000000, call->time / 1000 % 1000000);
}

void show_flat(const struct flight *flight, bool reverse, FILE *out)
{
	for (size_t i = 0; i < flight->nr_calls; i++) {
		size_t nr = reverse ? flight->nr_calls - 1 - i : i;
		const struct call *call = &flight->calls[nr];

		show_call(flight, call, out);
		fprintf(out, "%s <-%s\n", flight->names[call->func], flight->names[call->caller]);
	}
}

static uint64_t time_of(const struct span *span)
{
	return span->end - span->start;
}

/* The caller of a call; NULL if it is the call below, or nobody knows it. */
static const char *other_caller(const struct flight *flight, const struct span *spans, size_t nr)
{
	uint32_t parent = spans[nr].parent, caller = flight->calls[nr].caller;

	if (parent != NO_SPAN && spans[parent].func == caller)
		return NULL;
	return strcmp(flight->names[caller], "?") ? flight->names[caller] : NULL;
}

void show_tree(const struct flight *flight, FILE *out)
{
	struct span *spans = flight_spans(flight);

	for (size_t i = 0; i < flight->nr_calls; i++) {
		const struct span *span = &spans[i];
		const char *caller = other_caller(flight, spans, i);

		show_call(flight, &flight->calls[i], out);
		fprintf(out, "%10.3f us | %*s%s%s%s%s\n", time_of(span) / 1000.0,
			2 * span->depth, "", flight->names[span->func], caller ? " <-" : "",
			caller ?: "", span->interrupt ? " [interrupt]" : "");
	}
	free(spans);
}

static const struct span *sorted_spans;

static int longer(const void *a, const void *b)
{
	const struct span *x = &sorted_spans[*(const uint32_t *)a];
	const struct span *y = &sorted_spans[*(const uint32_t *)b];
	uint64_t p = time_of(x), q = time_of(y);

	return p == q ? 0 : p < q ? 1 : -1;
}

/* Not those that have spent nearly all their time in one call: this one has them as its callers. */
void show_slowest(const struct flight *flight, unsigned int nr, FILE *out)
{
	struct span *spans = flight_spans(flight);
	uint32_t *order = xrealloc(NULL, flight->nr_calls, sizeof(*order));
	bool *only_calls = calloc(flight->nr_calls + 1, sizeof(*only_calls));
	size_t nr_shown = 0;

	if (!only_calls)
		die("no memory");
	for (size_t i = 0; i < flight->nr_calls; i++) {
		uint32_t parent = spans[i].parent;

		if (parent != NO_SPAN && time_of(&spans[i]) >= time_of(&spans[parent]) / 10 * 9)
			only_calls[parent] = true;
	}
	for (size_t i = 0; i < flight->nr_calls; i++)
		if (!only_calls[i])
			order[nr_shown++] = i;
	free(only_calls);
	sorted_spans = spans;
	qsort(order, nr_shown, sizeof(*order), longer);
	for (size_t i = 0; i < nr && i < nr_shown; i++) {
		const struct span *span = &spans[order[i]];

		show_call(flight, &flight->calls[order[i]], out);
		fprintf(out, "%10.3f us | %s", time_of(span) / 1000.0, flight->names[span->func]);
		for (uint32_t at = order[i]; at != NO_SPAN; at = spans[at].parent) {
			const char *caller = other_caller(flight, spans, at);

			if (caller)
				fprintf(out, " <- %s", caller);
			if (spans[at].parent != NO_SPAN)
				fprintf(out, " <- %s", flight->names[spans[spans[at].parent].func]);
		}
		fprintf(out, "\n");
	}
	free(order);
	free(spans);
}

/* A gzip file, which all readers of trace events know. */
static gzFile open_gz(const char *path)
{
	size_t len = strlen(path);
	/* "T": as it is. */
	gzFile out = gzopen(path, len > 3 && !strcmp(path + len - 3, ".gz") ? "wb1" : "wbT");

	if (!out)
		die("%s: %s", path, strerror(errno));
	gzbuffer(out, 1 << 17);
	return out;
}

static void put_string(gzFile out, const char *text)
{
	gzputc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			gzputc(out, '\\');
		if ((unsigned char)*text >= 0x80)
			gzprintf(out, "\\u00%02x", (unsigned char)*text);
		else
			gzputc(out, *text);
	}
	gzputc(out, '"');
}

enum { TASKS = 1, CPUS, INTERRUPTS };

static void put_name(gzFile out, const char *what, int process, unsigned int thread,
		     const char *name)
{
	gzprintf(out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,", what, process);
	gzprintf(out, "\"tid\":%u,\"args\":{\"name\":", thread);
	put_string(out, name);
	gzprintf(out, "}},\n");
}

/*
 * Begins and ends, not durations: readers add these to the start, in floating point, and then
 * slices that end together cross. Ends are 1 ns before the next begin: if the two are at the same
 * time and have the same name, speedscope takes the begin first.
 */
static void put_event(gzFile out, char type, const char *kind, int process, unsigned int thread,
		      uint64_t time, const char *name)
{
	gzprintf(out, "{\"ph\":\"%c\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%u,", type, kind, process,
		 thread);
	gzprintf(out, "\"ts\":%" PRIu64 ".%03u,\"name\":", time / 1000,
		 (unsigned int)(time % 1000));
	put_string(out, name);
}

static void put_slice(gzFile out, char type, const char *kind, int process, unsigned int thread,
		      uint64_t time, const char *name)
{
	put_event(out, type, kind, process, thread, time, name);
	gzprintf(out, "},\n");
}

/* The idle task of each CPU has a track of its own; no PID is that large. */
static unsigned int thread_of(const struct flight *flight, uint32_t task)
{
	uint32_t pid = flight->tasks[task].pid;

	return pid ? pid : (1U << 30) + task;
}

/* An end of an arrow between two tasks. */
static void put_arrow(gzFile out, char end, const struct flight *flight, const struct span *span,
		      size_t nr)
{
	put_event(out, end, "switch", TASKS, thread_of(flight, span->task), span->start, "switch");
	gzprintf(out, ",\"bp\":\"e\",\"id\":%zu},\n", nr);
}

/* What each CPU runs, and arrows from a task to the next one. */
static void put_cpus(gzFile out, const struct flight *flight, const struct span *spans)
{
	static const struct span *last[UINT16_MAX];
	char name[16];

	for (size_t i = 0; i < flight->nr_calls; i++) {
		const struct span *span = &spans[i], *before = last[span->cpu];

		last[span->cpu] = span;
		if (before && before->task == span->task)
			continue;
		if (before) {
			put_slice(out, 'E', "task", CPUS, span->cpu, span->start - 1,
				  flight->tasks[before->task].comm);
			put_arrow(out, 's', flight, before, i);
			put_arrow(out, 'f', flight, span, i);
		}
		put_slice(out, 'B', "task", CPUS, span->cpu, span->start,
			  flight->tasks[span->task].comm);
	}
	for (unsigned int cpu = 0; cpu < ARRAY_SIZE(last); cpu++) {
		if (!last[cpu])
			continue;
		put_slice(out, 'E', "task", CPUS, cpu, last[cpu]->start + 1,
			  flight->tasks[last[cpu]->task].comm);
		snprintf(name, sizeof(name), "CPU %u", cpu);
		put_name(out, "thread_name", CPUS, cpu, name);
		put_name(out, "thread_name", INTERRUPTS, cpu, name);
	}
}

/* A begin and an end for each call, in this order on each track. */
static void put_calls(gzFile out, const struct flight *flight, const struct span *spans)
{
	/* Tracks are the tasks, and then the interrupts of each CPU. */
	size_t nr_tracks = flight->nr_tasks + UINT16_MAX;
	uint32_t *open = xrealloc(NULL, nr_tracks, sizeof(*open));
	/* Of each open call: the one that it lies on. */
	uint32_t *below = xrealloc(NULL, flight->nr_calls, sizeof(*below));

	for (size_t i = 0; i < nr_tracks; i++)
		open[i] = NO_SPAN;
	for (size_t i = 0; i < flight->nr_calls + nr_tracks; i++) {
		bool rest = i >= flight->nr_calls;
		const struct span *span = rest ? NULL : &spans[i];
		size_t track = rest ? i - flight->nr_calls :
			       span->interrupt ? flight->nr_tasks + span->cpu : span->task;
		int process = track < flight->nr_tasks ? TASKS : INTERRUPTS;
		unsigned int thread = process == TASKS ? thread_of(flight, track) :
				      track - flight->nr_tasks;

		while (open[track] != NO_SPAN && (rest || spans[open[track]].end <= span->start)) {
			const struct span *top = &spans[open[track]];

			put_slice(out, 'E', top->returns ? "recorded" : "inferred", process,
				  thread, top->end - 1, flight->names[top->func]);
			open[track] = below[open[track]];
		}
		if (rest)
			continue;
		put_slice(out, 'B', span->returns ? "recorded" : "inferred", process, thread,
			  span->start, flight->names[span->func]);
		below[i] = open[track];
		open[track] = i;
	}
	free(below);
	free(open);
}

void export_chrome(const struct flight *flight, const char *path)
{
	struct span *spans = flight_spans(flight);
	gzFile out = open_gz(path);

	gzprintf(out, "{\"otherData\":{\"inferred ends of calls\":\"from the next calls\"},\n");
	gzprintf(out, "\"traceEvents\":[\n");
	for (size_t i = 0; i < flight->nr_tasks; i++)
		put_name(out, "thread_name", TASKS, thread_of(flight, i), flight->tasks[i].comm);
	put_calls(out, flight, spans);
	put_cpus(out, flight, spans);
	put_name(out, "process_name", CPUS, 0, "CPUs");
	put_name(out, "process_name", INTERRUPTS, 0, "interrupts");
	/* No comma behind the last one. */
	gzprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,", TASKS);
	gzprintf(out, "\"args\":{\"name\":\"tasks\"}}\n]}\n");
	if (gzclose(out) != Z_OK)
		die("%s: cannot be written", path);
	free(spans);
}

/* A place in the tree of all stacks: how many calls were there, and their own time in ns. */
struct node {
	uint32_t	parent, func, task;
	uint32_t	next;		/* with the same hash */
	uint64_t	count, time;
};

void export_folded(const struct flight *flight, const char *path)
{
	uint32_t *heads, *of, mask = 1, nr = 1;
	struct node *nodes = calloc(1, sizeof(*nodes));
	struct span *spans = flight_spans(flight);
	FILE *out = strcmp(path, "-") ? fopen(path, "w") : stdout;
	bool returns = false;

	if (!out)
		die("%s: %s", path, strerror(errno));
	while (mask < flight->nr_calls && mask < 1U << 24)
		mask *= 2;
	mask--;
	heads = calloc(mask + 1, sizeof(*heads));
	of = xrealloc(NULL, flight->nr_calls, sizeof(*of));
	if (!heads || !nodes)
		die("no memory");
	for (size_t i = 0; i < flight->nr_calls; i++) {
		const struct span *span = &spans[i];
		uint32_t parent = span->parent == NO_SPAN ? 0 : of[span->parent], at;
		uint32_t hash = (parent * 2654435761U ^ span->func * 40503U ^ span->task) & mask;

		for (at = heads[hash]; at; at = nodes[at].next)
			if (nodes[at].parent == parent && nodes[at].func == span->func &&
			    nodes[at].task == span->task)
				break;
		if (!at) {
			nodes = grow(nodes, nr, sizeof(*nodes));
			at = nr++;
			nodes[at] = (struct node){ parent, span->func, span->task,
						     heads[hash], 0, 0 };
			heads[hash] = at;
		}
		returns |= span->returns;
		nodes[at].count++;
		nodes[at].time += time_of(span);
		nodes[parent].time -= time_of(span);
		of[i] = at;
	}
	for (uint32_t i = 1; i < nr; i++) {
		uint32_t stack[UINT8_MAX], depth = 0;

		for (uint32_t at = i; at && depth < ARRAY_SIZE(stack); at = nodes[at].parent)
			stack[depth++] = nodes[at].func;
		fprintf(out, "%s", flight->tasks[nodes[i].task].comm);
		while (depth)
			fprintf(out, ";%s", flight->names[stack[--depth]]);
		fprintf(out, " %" PRIu64 "\n", returns ? nodes[i].time : nodes[i].count);
	}
	if (ferror(out) | fclose(out))
		die("%s: %s", path, strerror(errno));
	free(nodes);
	free(heads);
	free(of);
	free(spans);
}
