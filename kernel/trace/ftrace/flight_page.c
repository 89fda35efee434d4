// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of trace_pipe_raw with what a flight recorder has recorded.
 *
 * The entries of a CPU are written into pages, one after the other, in the format that the ring
 * buffer has and events/header_page describes. So programs that read pages need not know that there
 * was no ring buffer.
 */
#include <linux/ftrace.h>
#include <linux/ftrace_flight.h>
#include <linux/ring_buffer.h>

#include "../trace.h"
#include "flight.h"

/* The lengths of data that the header of an event has room for, and the bits of its time. */
#define EVENT_SMALL	(4 * RINGBUF_TYPE_DATA_TYPE_LEN_MAX)
#define EVENT_TIME_BITS	27
/* What an event may need besides its data: an event for the time, its own header and length. */
#define EVENT_HEADERS	(4 * sizeof(u32))

/* In the field commit of a page: there were events before the first one, which were overwritten. */
#define PAGE_MISSED	BIT(31)

/* A page of the ring buffer, as events/header_page describes it. */
struct flight_page {
	u64	time;	/* of the first event */
	local_t	commit;	/* bytes of @data that are used */
	u8	data[];
};

/* Somebody begins to read pages of a CPU. 0 or -ENOMEM. trace_types_lock held, as below. */
int trace_flight_raw_open(struct trace_iterator *iter)
{
	return ftrace_flight_is_read(iter) ? ftrace_flight_open_raw(iter) : 0;
}

/* Somebody stops reading pages of a CPU. */
void trace_flight_raw_close(struct trace_iterator *iter)
{
	if (ftrace_flight_is_read(iter))
		ftrace_flight_close(iter);
}

/* The tree completes the events of a page. */
static void flight_page_finish(struct flight_page *page, unsigned int used,
			       struct ftrace_flight_tree *tree, int cpu)
{
	void *at = page->data;
	u64 time = page->time;

	while (at < (void *)page->data + used) {
		struct ring_buffer_event *event = at;
		bool large = !event->type_len;

		time += event->time_delta;
		at = &event->array[large];
		if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
			time += (u64)event->array[0] << EVENT_TIME_BITS;
			at = &event->array[1];
			continue;
		}
		ftrace_flight_tree_fill(tree, at, time, cpu);
		at = event->array + (large ? event->array[0] / 4 : event->type_len);
	}
}

/* Write the entry that @iter has found behind the @used bytes of a page. Returns the bytes used. */
static unsigned int flight_page_add(struct flight_page *page, unsigned int used, u64 delta,
				    const struct trace_iterator *iter)
{
	struct ring_buffer_event *event = (void *)page->data + used;
	unsigned int size = ALIGN(iter->ent_size, 4);
	bool large = size > EVENT_SMALL;

	if (delta >> EVENT_TIME_BITS) {
		event->type_len = RINGBUF_TYPE_TIME_EXTEND;
		event->time_delta = delta & GENMASK(EVENT_TIME_BITS - 1, 0);
		event->array[0] = delta >> EVENT_TIME_BITS;
		event = (void *)&event->array[1];
		delta = 0;
	}
	event->type_len = large ? 0 : size / 4;
	event->time_delta = delta;
	if (large)
		event->array[0] = size + sizeof(event->array[0]);
	memcpy(&event->array[large], iter->ent, iter->ent_size);
	return (u8 *)&event->array[large] + size - page->data;
}

/*
 * Writes the next entries of a CPU into a page: 0, or -ENODATA if there are no more; or not yet
 * enough for a page, if @full and it has only calls, which come with the next ones. Process
 * context, may sleep. The caller has the lock of readers of the CPU.
 */
int trace_flight_read_page(struct trace_iterator *iter, struct buffer_data_read_page *rpage,
			   bool full)
{
	struct ftrace_flight_cursor *cursor = ftrace_flight_cursor_of(iter, iter->cpu_file);
	struct flight_page *page = ring_buffer_read_page_data(rpage);
	unsigned int room = ring_buffer_read_page_size(rpage) - sizeof(*page);
	struct ftrace_flight_tree *tree = ftrace_flight_tree_of(iter);
	struct ftrace_flight_cursor begin = *cursor;
	union ftrace_flight_graph graph;
	unsigned int used = 0;
	u32 missed = 0;
	u64 last = 0;

	full &= !trace_flight_ended(iter);
	memset(page, 0, room + sizeof(*page));
	while (trace_find_next_entry_inc(iter)) {
		bool lost = iter->lost_events;

		if (tree && cursor->shown) {
			iter->ent_size = ftrace_flight_graph(&cursor->entry, &graph);
			iter->ent = (void *)&graph;
		}
		if (!used) {
			page->time = iter->ts;
			last = iter->ts;
			missed = lost ? PAGE_MISSED : 0;
		} else if (lost || used + EVENT_HEADERS + ALIGN(iter->ent_size, 4) > room) {
			/* It begins the next page. If it is an event, the call stays ready. */
			cursor->ready |= cursor->shown;
			cursor->missed |= cursor->shown && lost;
			full = false;
			break;
		}
		/* An event can be older than a call that was read before the event was written. */
		iter->ts = max(iter->ts, last);
		used = flight_page_add(page, used, iter->ts - last, iter);
		last = iter->ts;
		if (!cursor->shown) {
			ring_buffer_consume(iter->array_buffer->buffer, iter->cpu, NULL, NULL);
			full = false;
		}
	}
	if (full) {
		*cursor = begin;
		used = 0;
	}
	if (tree && missed)
		ftrace_flight_tree_clear(tree);
	if (tree)
		flight_page_finish(page, used, tree, iter->cpu_file);
	local_set(&page->commit, used | missed);
	return used ? 0 : -ENODATA;
}
