// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring buffer of the function tracer: keeps the last events of each CPU in order. They are read
 * through the files of tracefs, which may consume them, or by a test.
 */
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/trace_seq.h>

#include "trace.h"
#include "native.h"

#define ROOM	SZ_16K

struct cpu_ring {
	unsigned int	used;		/* the end of the last event that was committed */
	unsigned int	reserved;	/* the end of an event that is being written */
	unsigned int	read;		/* the first event that was not consumed */
	unsigned long	overruns;
	unsigned long	lost;		/* of these, since an event was consumed */
	u8		data[ROOM] __aligned(8);
};

struct trace_buffer {
	bool		on;
	atomic_t	disabled;
	unsigned long	size;
	struct ftrace_flight *flight;
	struct cpu_ring	*ring[NATIVE_CPUS];
};

struct trace_buffer *__ring_buffer_alloc(unsigned long size, unsigned int flags,
					 struct lock_class_key *key)
{
	struct trace_buffer *b;

	if (native_alloc_fails(GFP_KERNEL))
		return NULL;
	b = host_alloc(sizeof(*b));
	memset(b, 0, sizeof(*b));
	b->on = true;
	b->size = size;
	return b;
}

void ring_buffer_free(struct trace_buffer *b)
{
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		host_free(b->ring[cpu]);
	host_free(b);
}

int ring_buffer_resize(struct trace_buffer *b, unsigned long size, int cpu)
{
	if (native_alloc_fails(GFP_KERNEL))
		return -ENOMEM;
	b->size = size;
	return 0;
}

unsigned long ring_buffer_size(struct trace_buffer *b, int cpu)
{
	return b->size;
}

void ring_buffer_set_flight(struct trace_buffer *b, struct ftrace_flight *flight)
{
	WRITE_ONCE(b->flight, flight);
}

static void mark_flight(struct trace_buffer *b)
{
#ifdef CONFIG_FTRACE_FLIGHT
	struct ftrace_flight *flight = READ_ONCE(b->flight);

	if (flight)
		ftrace_flight_mark(flight);
#endif
}

/* How much later an event is: a case need not wait. */
u64 native_ahead;

static u64 *event_time(struct ring_buffer_event *event)
{
	return (u64 *)&event->array[1];
}

/* As in the kernel, preemption stays off until the event is committed. */
struct ring_buffer_event *ring_buffer_lock_reserve(struct trace_buffer *b, unsigned long length)
{
	unsigned int size = ALIGN(sizeof(struct ring_buffer_event) + 12 + length, 8);
	struct ring_buffer_event *event;
	struct cpu_ring *ring;
	int cpu;

	preempt_disable_notrace();
	cpu = raw_smp_processor_id();
	if (!READ_ONCE(b->on) || atomic_read(&b->disabled)) {
		preempt_enable_notrace();
		return NULL;
	}
	ring = b->ring[cpu];
	if (!ring) {
		ring = host_alloc(sizeof(*ring));
		memset(ring, 0, sizeof(*ring));
		b->ring[cpu] = ring;
	}
	if (ring->reserved != ring->used)
		native_fail("an event is reserved while another one is written");
	if (ring->used + size > ROOM) {
		ring->overruns++;
		ring->lost++;
		ring->used = ring->read = 0;
	}
	event = (void *)ring->data + ring->used;
	event->type_len = 0;
	event->time_delta = size;
	event->array[0] = length;
	ring->reserved = ring->used + size;
	mark_flight(b);
	*event_time(event) = host_clock_ns() + native_ahead;
	mark_flight(b);
	return event;
}

int ring_buffer_unlock_commit(struct trace_buffer *b)
{
	struct cpu_ring *ring = b->ring[raw_smp_processor_id()];

	if (ring->reserved == ring->used)
		native_fail("no event to commit");
	ring->used = ring->reserved;
	preempt_enable_notrace();
	return 0;
}

void *ring_buffer_event_data(struct ring_buffer_event *event)
{
	return &event->array[3];
}

unsigned int ring_buffer_event_length(struct ring_buffer_event *event)
{
	return event->array[0];
}

bool ring_buffer_time_stamp_abs(struct trace_buffer *b)
{
	return false;
}

void ring_buffer_normalize_time_stamp(struct trace_buffer *b, int cpu, u64 *ts) { }

u64 ring_buffer_time_stamp(struct trace_buffer *b)
{
	return host_clock_ns();
}

u64 ring_buffer_event_time_stamp(struct trace_buffer *b, struct ring_buffer_event *event)
{
	return *event_time(event);
}

void ring_buffer_record_disable(struct trace_buffer *b)
{
	atomic_inc(&b->disabled);
}

void ring_buffer_record_enable(struct trace_buffer *b)
{
	if (atomic_dec_return(&b->disabled) < 0)
		native_fail("recording is enabled more often than disabled");
}

void ring_buffer_record_on(struct trace_buffer *b)
{
	WRITE_ONCE(b->on, true);
}

void ring_buffer_record_off(struct trace_buffer *b)
{
	WRITE_ONCE(b->on, false);
}

bool ring_buffer_record_is_set_on(struct trace_buffer *b)
{
	return READ_ONCE(b->on);
}

unsigned long ring_buffer_overruns(struct trace_buffer *b)
{
	unsigned long overruns = 0;

	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		overruns += b->ring[cpu] ? b->ring[cpu]->overruns : 0;
	return overruns;
}

unsigned long ring_buffer_overrun_cpu(struct trace_buffer *b, int cpu)
{
	return b->ring[cpu] ? b->ring[cpu]->overruns : 0;
}

unsigned long ring_buffer_entries_cpu(struct trace_buffer *b, int cpu)
{
	const struct cpu_ring *ring = b->ring[cpu];
	unsigned long n = 0;

	for (unsigned int at = 0; ring && at < ring->used; n++)
		at += ((struct ring_buffer_event *)(ring->data + at))->time_delta;
	return n;
}

void ring_buffer_reset_cpu(struct trace_buffer *b, int cpu)
{
	if (b->ring[cpu])
		b->ring[cpu]->used = b->ring[cpu]->reserved = b->ring[cpu]->read = 0;
}

static void reset(struct trace_buffer *b)
{
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		ring_buffer_reset_cpu(b, cpu);
}

void ring_buffer_reset_online_cpus(struct trace_buffer *b)
{
	reset(b);
}

void ring_buffer_reset(struct trace_buffer *b)
{
	reset(b);
}

void ring_buffer_set_clock(struct trace_buffer *b, u64 (*clock)(void)) { }
void ring_buffer_wake_waiters(struct trace_buffer *b, int cpu) { }
void ring_buffer_change_overwrite(struct trace_buffer *b, int val) { }

bool ring_buffer_empty(struct trace_buffer *b)
{
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		if (b->ring[cpu] && b->ring[cpu]->used)
			return false;
	return true;
}

bool ring_buffer_empty_cpu(struct trace_buffer *b, int cpu)
{
	return !b->ring[cpu] || b->ring[cpu]->used == b->ring[cpu]->read;
}

static struct ring_buffer_event *event_at(struct trace_buffer *b, int cpu, unsigned int at, u64 *ts)
{
	struct ring_buffer_event *event;

	if (!b->ring[cpu] || at >= b->ring[cpu]->used)
		return NULL;
	event = (void *)b->ring[cpu]->data + at;
	if (ts)
		*ts = *event_time(event);
	return event;
}

struct ring_buffer_event *ring_buffer_peek(struct trace_buffer *b, int cpu, u64 *ts,
					   unsigned long *lost_events)
{
	if (!b->ring[cpu])
		return NULL;
	if (lost_events)
		*lost_events = b->ring[cpu]->lost;
	return event_at(b, cpu, b->ring[cpu]->read, ts);
}

struct ring_buffer_event *ring_buffer_consume(struct trace_buffer *b, int cpu, u64 *ts,
					      unsigned long *lost_events)
{
	struct ring_buffer_event *event = ring_buffer_peek(b, cpu, ts, lost_events);

	if (event) {
		b->ring[cpu]->read += event->time_delta;
		b->ring[cpu]->lost = 0;
	}
	return event;
}

struct ring_buffer_iter {
	struct trace_buffer	*b;
	int			cpu;
	unsigned int		at;
};

struct ring_buffer_iter *ring_buffer_read_start(struct trace_buffer *b, int cpu, gfp_t flags)
{
	struct ring_buffer_iter *iter = host_alloc(sizeof(*iter));

	*iter = (struct ring_buffer_iter){ b, cpu };
	return iter;
}

void ring_buffer_read_finish(struct ring_buffer_iter *iter)
{
	host_free(iter);
}

void ring_buffer_iter_reset(struct ring_buffer_iter *iter)
{
	iter->at = 0;
}

struct ring_buffer_event *ring_buffer_iter_peek(struct ring_buffer_iter *iter, u64 *ts)
{
	return event_at(iter->b, iter->cpu, iter->at, ts);
}

void ring_buffer_iter_advance(struct ring_buffer_iter *iter)
{
	iter->at += ring_buffer_iter_peek(iter, NULL)->time_delta;
}

int ring_buffer_iter_empty(struct ring_buffer_iter *iter)
{
	return !ring_buffer_iter_peek(iter, NULL);
}

bool ring_buffer_iter_dropped(struct ring_buffer_iter *iter)
{
	return false;
}

/* Only a flight recorder makes pages. */
struct buffer_data_read_page {
	u64	data[PAGE_SIZE / sizeof(u64)];
};

int ring_buffer_alloc_read_page(struct trace_buffer *b, int cpu,
				struct buffer_data_read_page **page)
{
	if (!*page)
		*page = host_alloc(sizeof(**page));
	/* What a page has not got from us must not be shown. */
	memset(*page, 0x5a, sizeof(**page));
	return 0;
}

void ring_buffer_free_read_page(struct trace_buffer *b, int cpu, struct buffer_data_read_page *page)
{
	host_free(page);
}

void *ring_buffer_read_page_data(struct buffer_data_read_page *page)
{
	return page->data;
}

unsigned int ring_buffer_read_page_size(struct buffer_data_read_page *page)
{
	return page ? sizeof(page->data) : 0;
}

/**
 * native_events - look at the events of a trace array, the oldest first
 * @tr: the trace array
 * @func: called for each event; if it returns false, no further events are looked at
 * @data: for @func
 */
void native_events(struct trace_array *tr, bool (*func)(struct trace_entry *entry, void *data),
		   void *data)
{
	struct trace_buffer *b = tr->array_buffer.buffer;

	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++) {
		struct cpu_ring *ring = b->ring[cpu];

		for (unsigned int at = 0; ring && at < ring->used; ) {
			struct ring_buffer_event *event = (void *)ring->data + at;

			if (!func(ring_buffer_event_data(event), data))
				return;
			at += event->time_delta;
		}
	}
}
