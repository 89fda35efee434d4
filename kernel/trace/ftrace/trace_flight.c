// SPDX-License-Identifier: GPL-2.0-only
/*
 * The "flight" tracer: the flight recorder as users see it.
 *
 * The tracer gives the ops of its trace array a recorder, and trampolines do the rest. While
 * somebody reads the file trace, nothing is recorded. The reader has a cursor in the ring of each
 * CPU, which makes entries of the function tracer from records, one at a time. trace.c merges them
 * by time with those of other CPUs, and with events in the ring buffer. For trace_pipe_raw the
 * entries of a CPU are written into pages, as the ring buffer has them.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace.h>
#include <linux/ftrace_flight.h>
#include <linux/math64.h>
#include <linux/smp.h>
#include <linux/trace_clock.h>

#include <trace/events/irq.h>
#include <trace/events/power.h>
#include <trace/events/sched.h>

#include "../trace_output.h"
#include "core.h"
#include "flight.h"

#define OPT_TIME	BIT(0)

/* So that 100,000 calls fit. */
#define DEFAULT_SIZE	SZ_1M
/* With a smaller ring, an interrupt would often find no room. */
#define MIN_SIZE	SZ_16K
#define MAX_SIZE	SZ_1G

/* Of an entry whose flags are not known. No real entry has all of them. */
#define NO_FLAGS	0xff

/* The lengths of data that the header of an event has room for, and the bits of its time. */
#define EVENT_SMALL	(4 * RINGBUF_TYPE_DATA_TYPE_LEN_MAX)
#define EVENT_TIME_BITS	27
/* What an event may need besides its data: an event for the time, its own header and length. */
#define EVENT_HEADERS	(4 * sizeof(u32))

/* In the field commit of a page: there were events before the first one, which were overwritten. */
#define PAGE_MISSED	BIT(31)

static struct tracer_opt flight_opts[] = {
	{ .name = "flight-time", .bit = OPT_TIME },
	{ }
};

static struct tracer_flags flight_flags = {
	.opts = flight_opts,
};

static struct tracer flight_tracer;

/**
 * struct flight_iter - what a reader of the file trace has
 * @flight: the recorder
 * @cursor: of each CPU
 */
struct flight_iter {
	struct ftrace_flight		*flight;
	struct ftrace_flight_cursor	cursor[];
};

/**
 * struct flight_page - a page of the ring buffer, as events/header_page describes it
 * @time: of the first event
 * @commit: bytes of @data that are used
 * @data: events
 */
struct flight_page {
	u64	time;
	local_t	commit;
	u8	data[];
};

static struct ftrace_flight_stamp flight_stamp(struct trace_array *tr)
{
	return (struct ftrace_flight_stamp){
		.clock = ring_buffer_time_stamp(tr->array_buffer.buffer),
		.cycles = get_cycles(),
	};
}

static u64 flight_clock(const struct ftrace_flight *flight, u64 cycles)
{
	u64 all = flight->stop.cycles - flight->start.cycles;

	if ((s64)all <= 0 || cycles < flight->start.cycles)
		return flight->start.clock;
	return flight->start.clock +
		mul_u64_u64_div_u64(cycles - flight->start.cycles,
				    flight->stop.clock - flight->start.clock, all);
}

/* Times are those of the time stamp counter. Clocks that are not computed from it do not fit. */
static int flight_check_clock(u64 (*clock)(void))
{
	if (clock == trace_clock_local || clock == trace_clock_global || clock == trace_clock ||
	    arch_ftrace_clock_is_cycles(clock))
		return 0;
	pr_warn("flight: the trace clock must be local, global, perf or x86-tsc\n");
	return -EINVAL;
}

static void flight_switch(void *data, bool preempt, struct task_struct *prev,
			  struct task_struct *next, unsigned int prev_state)
{
	ftrace_flight_switch(data, prev->pid, next->pid);
	/* A record has only the number of a task; the name is kept elsewhere. */
	__this_cpu_write(trace_taskinfo_save, true);
}

/*
 * Few records say when, and calls in between are spread evenly. So the times are recorded at which
 * a CPU may begin or end to call something else, or nothing for long.
 */
static void flight_irq_entry(void *data, int irq, struct irqaction *action)
{
	ftrace_flight_mark(data);
}

static void flight_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	ftrace_flight_mark(data);
}

static void flight_timer(void *data, int vector)
{
	ftrace_flight_mark(data);
}

static void flight_idle(void *data, unsigned int state, unsigned int cpu)
{
	ftrace_flight_mark(data);
}

static int flight_watch(struct ftrace_flight *flight)
{
	int ret = register_trace_sched_switch(flight_switch, flight);

	if (ret)
		return ret;
	ret = register_trace_cpu_idle(flight_idle, flight);
	if (ret)
		goto no_idle;
	ret = register_trace_irq_handler_entry(flight_irq_entry, flight);
	if (ret)
		goto no_irq_entry;
	ret = register_trace_irq_handler_exit(flight_irq_exit, flight);
	if (ret)
		goto no_irq_exit;
	ret = arch_ftrace_watch_timer(flight_timer, flight);
	if (ret)
		goto no_timer;
	return 0;

no_timer:
	unregister_trace_irq_handler_exit(flight_irq_exit, flight);
no_irq_exit:
	unregister_trace_irq_handler_entry(flight_irq_entry, flight);
no_irq_entry:
	unregister_trace_cpu_idle(flight_idle, flight);
no_idle:
	unregister_trace_sched_switch(flight_switch, flight);
	return ret;
}

static void flight_unwatch(struct ftrace_flight *flight)
{
	arch_ftrace_unwatch_timer(flight_timer, flight);
	unregister_trace_irq_handler_exit(flight_irq_exit, flight);
	unregister_trace_irq_handler_entry(flight_irq_entry, flight);
	unregister_trace_cpu_idle(flight_idle, flight);
	unregister_trace_sched_switch(flight_switch, flight);
}

/*
 * The tasks that run now; the next ones come by the probe. No CPU is interrupted: a CPU switches
 * its task and calls the probe under the lock of its runqueue, which cpu_curr_snapshot() takes.
 * What the probe has written stays.
 */
static void flight_first_tasks(struct ftrace_flight *flight)
{
	int cpu;

	guard(rcu)();
	guard(preempt)();
	for_each_possible_cpu(cpu) {
		struct task_struct *task = cpu_curr_snapshot(cpu);

		cmpxchg(&per_cpu_ptr(flight->cpu, cpu)->pid, FTRACE_FLIGHT_NOBODY, task->pid);
		__this_cpu_write(trace_taskinfo_save, true);
		tracing_record_taskinfo(task, TRACE_RECORD_CMDLINE);
	}
}

static int flight_start(struct trace_array *tr, struct ftrace_flight *flight)
{
	int ret;

	tr->ops->flight = flight;
	ret = flight_watch(flight);
	if (ret)
		return ret;
	ret = register_ftrace_function(tr->ops);
	if (ret) {
		flight_unwatch(flight);
		return ret;
	}
	flight_first_tasks(flight);
	flight->start = flight_stamp(tr);
	WRITE_ONCE(tr->flight, flight);
	trace_flight_switched(tr);
	return 0;
}

static int flight_tracer_init(struct trace_array *tr)
{
	bool timed = tr->current_trace_flags->val & OPT_TIME;
	struct ftrace_flight *flight;
	int ret;

	if (!tr->ops)
		return -ENOMEM;
	ret = flight_check_clock(trace_clock_func(tr));
	if (ret)
		return ret;
	if (!arch_ftrace_cycles_usable())
		pr_warn("flight: the time stamp counter is not stable, and times may be wrong\n");
	flight = ftrace_flight_make(tr->flight_size ?: DEFAULT_SIZE, tr->name, timed);
	if (!flight)
		return -ENOMEM;

	ftrace_init_array_ops(tr, ftrace_flight_func);
	tracing_start_cmdline_record();
	ret = flight_start(tr, flight);
	if (ret) {
		tr->ops->flight = NULL;
		tracing_stop_cmdline_record();
		ftrace_reset_array_ops(tr);
		ftrace_flight_put(flight);
	}
	return ret;
}

static void flight_tracer_reset(struct trace_array *tr)
{
	struct ftrace_flight *flight = tr->flight;

	ftrace_flight_off(flight, true);
	unregister_ftrace_function(tr->ops);
	flight_unwatch(flight);
	WRITE_ONCE(tr->flight, NULL);
	WRITE_ONCE(tr->ops->flight, NULL);
	tracing_stop_cmdline_record();
	ftrace_reset_array_ops(tr);
	ftrace_flight_put(flight);
}

static int flight_tracer_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	/* A record has one size as long as the tracer runs. */
	return tr->current_trace == &flight_tracer ? -EBUSY : 0;
}

static struct ftrace_flight *flight_of(struct trace_iterator *iter)
{
	struct flight_iter *fi = iter->private;

	if (iter->trace != &flight_tracer || iter->snapshot || IS_ERR(fi))
		return NULL;
	return fi ? fi->flight : READ_ONCE(iter->tr->flight);
}

static struct ftrace_flight_cursor *flight_cursor(struct trace_iterator *iter, int cpu)
{
	struct ftrace_flight *flight = flight_of(iter);
	struct flight_iter *fi = iter->private;
	struct ftrace_flight_cursor *cursor;

	if (!flight)
		return NULL;
	cursor = fi ? &fi->cursor[cpu] : &flight->dump[cpu];
	if (!cursor->place.pos)
		ftrace_flight_rewind(flight, cursor, cpu);
	return cursor;
}

static void flight_tracer_open(struct trace_iterator *iter)
{
	struct ftrace_flight *flight = iter->tr->flight;
	struct flight_iter *fi;

	/* A dump, with interrupts off, has cursors of its own. */
	if (iter->snapshot || irqs_disabled())
		return;
	fi = kvzalloc(struct_size(fi, cursor, nr_cpu_ids), GFP_KERNEL);
	if (!fi) {
		iter->private = ERR_PTR(-ENOMEM);
		return;
	}
	fi->flight = ftrace_flight_get(flight);
	iter->private = fi;
	ftrace_flight_pause(flight, true);
	if (tracer_tracing_is_on(iter->tr))
		flight->stop = flight_stamp(iter->tr);
}

static void flight_tracer_close(struct trace_iterator *iter)
{
	struct flight_iter *fi = iter->private;

	iter->private = NULL;
	if (IS_ERR_OR_NULL(fi))
		return;
	ftrace_flight_pause(fi->flight, false);
	ftrace_flight_put(fi->flight);
	kvfree(fi);
}

/* What was read would be gone, and recording cannot stop at each read. */
static void flight_tracer_pipe_open(struct trace_iterator *iter)
{
	iter->private = ERR_PTR(-EOPNOTSUPP);
}

static ssize_t flight_tracer_read(struct trace_iterator *iter, struct file *filp,
				  char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return -EOPNOTSUPP;
}

static ssize_t flight_tracer_splice_read(struct trace_iterator *iter, struct file *filp,
					 loff_t *ppos, struct pipe_inode_info *pipe,
					 size_t len, unsigned int flags)
{
	return -EOPNOTSUPP;
}

/* Get the next call of a CPU. */
static bool flight_fill(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor)
{
	struct ftrace_flight_call call;

	if (cursor->ready)
		return true;
	if (!ftrace_flight_next(flight, cursor, &call))
		return false;
	cursor->entry.ent = (struct trace_entry){
		.type = TRACE_FN, .flags = NO_FLAGS, .preempt_count = NO_FLAGS, .pid = call.pid };
	cursor->entry.ip = call.ip;
	cursor->entry.parent_ip = call.parent_ip;
	cursor->ts = flight_clock(flight, call.time);
	cursor->ready = true;
	return true;
}

/**
 * trace_flight_reads - does a reader read a flight recorder?
 * @iter: the reader
 *
 * Context: Any context, preemption off unless the reader is of an open file.
 * Return: true if it does.
 */
bool trace_flight_reads(struct trace_iterator *iter)
{
	return flight_of(iter);
}

/**
 * trace_flight_peek - look at the next entry of a CPU
 * @iter: the reader
 * @cpu: the CPU
 * @ent: the next entry in the ring buffer, NULL if there is none
 * @ts: the time of @ent; here is put the time of the entry that is returned
 *
 * Context: As trace_flight_reads().
 * Return: the older one of @ent and of the next entry of the flight recorder.
 */
struct trace_entry *trace_flight_peek(struct trace_iterator *iter, int cpu,
				      struct trace_entry *ent, u64 *ts)
{
	struct ftrace_flight_cursor *cursor = flight_cursor(iter, cpu);

	if (!cursor || !flight_fill(flight_of(iter), cursor))
		return ent;
	if (ent && ts && *ts <= cursor->ts)
		return ent;
	if (ts)
		*ts = cursor->ts;
	iter->ent_size = sizeof(cursor->entry);
	return &cursor->entry.ent;
}

/**
 * trace_flight_advance - go behind the entry that a reader has found
 * @iter: the reader
 *
 * Context: As trace_flight_reads().
 * Return: true if the entry is of a flight recorder.
 */
bool trace_flight_advance(struct trace_iterator *iter)
{
	struct ftrace_flight_cursor *cursor = flight_cursor(iter, iter->cpu);

	if (!cursor)
		return false;
	cursor->shown = iter->ent == &cursor->entry.ent;
	if (cursor->shown)
		cursor->ready = false;
	return cursor->shown;
}

/**
 * trace_flight_consumed - is the entry that a reader has shown one of a flight recorder?
 * @iter: the reader
 *
 * Context: As trace_flight_reads().
 * Return: true if it is, so there is nothing to remove from the ring buffer.
 */
bool trace_flight_consumed(struct trace_iterator *iter)
{
	struct ftrace_flight_cursor *cursor = flight_cursor(iter, iter->cpu);

	return cursor && cursor->shown;
}

/**
 * trace_flight_rewind - go to the oldest entry of a CPU
 * @iter: the reader
 * @cpu: the CPU
 *
 * Context: As trace_flight_reads().
 */
void trace_flight_rewind(struct trace_iterator *iter, int cpu)
{
	struct ftrace_flight_cursor *cursor = flight_cursor(iter, cpu);

	if (cursor)
		ftrace_flight_rewind(flight_of(iter), cursor, cpu);
}

/**
 * trace_flight_empty - has a flight recorder no more entries?
 * @iter: the reader
 *
 * Context: As trace_flight_reads().
 * Return: true if there is none.
 */
bool trace_flight_empty(struct trace_iterator *iter)
{
	struct ftrace_flight *flight = flight_of(iter);
	int cpu;

	if (!flight)
		return true;
	for_each_tracing_cpu(cpu) {
		if (iter->cpu_file != RING_BUFFER_ALL_CPUS && iter->cpu_file != cpu)
			continue;
		if (flight_fill(flight, flight_cursor(iter, cpu)))
			return false;
	}
	return true;
}

/**
 * trace_flight_raw_open - somebody begins to read pages of a CPU
 * @iter: the reader
 *
 * A flight recorder is paused until trace_flight_raw_close().
 *
 * Context: Process context, may sleep. trace_types_lock held.
 * Return: 0, or -ENOMEM.
 */
int trace_flight_raw_open(struct trace_iterator *iter)
{
	if (iter->trace != &flight_tracer)
		return 0;
	flight_tracer_open(iter);
	return PTR_ERR_OR_ZERO(iter->private);
}

/**
 * trace_flight_raw_close - somebody ends to read pages of a CPU
 * @iter: the reader
 *
 * Context: Process context, may sleep. trace_types_lock held.
 */
void trace_flight_raw_close(struct trace_iterator *iter)
{
	if (iter->trace == &flight_tracer)
		flight_tracer_close(iter);
}

/* Write the entry that @iter has found behind the @used bytes of a page. Returns the bytes used. */
static unsigned int flight_page_add(struct flight_page *page, unsigned int used, u64 delta,
				    const struct trace_iterator *iter, bool shown)
{
	struct ring_buffer_event *event = (void *)page->data + used;
	unsigned int size = ALIGN(iter->ent_size, 4);
	bool large = size > EVENT_SMALL;
	struct trace_entry *ent;

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
	ent = (void *)&event->array[large];
	memcpy(ent, iter->ent, iter->ent_size);
	/* There is no way to say that they are not known. */
	if (shown) {
		ent->flags = 0;
		ent->preempt_count = 0;
	}
	return (void *)ent + size - (void *)page->data;
}

/**
 * trace_flight_read_page - write the next entries of a CPU into a page
 * @iter: the reader
 * @rpage: the page
 *
 * Context: As trace_flight_reads(). The caller has the lock of readers of the CPU.
 * Return: 0, or -ENODATA if there are no more entries.
 */
int trace_flight_read_page(struct trace_iterator *iter, struct buffer_data_read_page *rpage)
{
	struct ftrace_flight_cursor *cursor = flight_cursor(iter, iter->cpu_file);
	struct flight_page *page = ring_buffer_read_page_data(rpage);
	unsigned int room = ring_buffer_read_page_size(rpage) - sizeof(*page);
	unsigned int used = 0;
	u32 missed = 0;
	u64 last = 0;

	memset(page, 0, room + sizeof(*page));
	while (trace_find_next_entry_inc(iter)) {
		bool lost = !cursor->shown && iter->lost_events;

		if (!used) {
			page->time = iter->ts;
			last = iter->ts;
			missed = lost ? PAGE_MISSED : 0;
		} else if (lost || used + EVENT_HEADERS + ALIGN(iter->ent_size, 4) > room) {
			/* It is the first one of the next page. */
			cursor->ready = cursor->shown;
			break;
		}
		used = flight_page_add(page, used, iter->ts - last, iter, cursor->shown);
		last = iter->ts;
		if (!cursor->shown)
			ring_buffer_consume(iter->array_buffer->buffer, iter->cpu, NULL, NULL);
	}
	local_set(&page->commit, used | missed);
	return used ? 0 : -ENODATA;
}

/**
 * trace_flight_switched - tell a flight recorder whether its trace array records
 * @tr: the trace array
 *
 * Context: Any context.
 */
void trace_flight_switched(struct trace_array *tr)
{
	struct ftrace_flight *flight;
	int cpu, disabled;

	guard(preempt_notrace)();
	flight = READ_ONCE(tr->flight);
	if (!flight)
		return;
	/* Somebody else may switch at the same time. Who is last finds the last value. */
	do {
		disabled = READ_ONCE(tr->buffer_disabled);
		ftrace_flight_off(flight, disabled);
	} while (disabled != READ_ONCE(tr->buffer_disabled));
	if (disabled) {
		flight->stop = flight_stamp(tr);
		return;
	}
	for_each_possible_cpu(cpu)
		flight->dump[cpu].place.pos = 0;
}

/**
 * trace_flight_clear - forget what a flight recorder has recorded
 * @tr: the trace array
 * @which: the CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: Process context. trace_types_lock held.
 */
void trace_flight_clear(struct trace_array *tr, int which)
{
	struct ftrace_flight *flight = tr->flight;
	struct ftrace_flight_stamp now;
	int cpu;

	if (!flight)
		return;
	now = flight_stamp(tr);
	/* The clock may be another one. */
	if (which == RING_BUFFER_ALL_CPUS) {
		flight->start = now;
		flight->stop = now;
	}
	for_each_possible_cpu(cpu)
		if (which == RING_BUFFER_ALL_CPUS || which == cpu)
			WRITE_ONCE(per_cpu_ptr(flight->cpu, cpu)->since, now.cycles);
}

/**
 * trace_flight_clock - may a trace array have a clock?
 * @tr: the trace array
 * @clock: the clock
 *
 * Context: Process context. trace_types_lock held.
 * Return: 0, or -EINVAL if a flight recorder cannot compute the clock.
 */
int trace_flight_clock(struct trace_array *tr, u64 (*clock)(void))
{
	return tr->flight ? flight_check_clock(clock) : 0;
}

/**
 * trace_flight_flags - show the flags of an entry of a flight recorder as unknown
 * @s: where to show them
 * @entry: any entry
 *
 * Context: Any context.
 * Return: true if the entry is one of a flight recorder.
 */
bool trace_flight_flags(struct trace_seq *s, struct trace_entry *entry)
{
	if (entry->flags != NO_FLAGS || entry->preempt_count != NO_FLAGS)
		return false;
	trace_seq_puts(s, "?????");
	return true;
}

static void flight_count(const struct ftrace_flight *flight, int cpu, u64 *written, u64 *kept,
			 u64 *lost)
{
	const struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu);
	unsigned int size = flight->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
	unsigned long pos = (long)READ_ONCE(c->next) >> 1, end = READ_ONCE(c->end);
	u64 in_lap = (pos - c->base) / size;

	*written += READ_ONCE(c->records) + in_lap;
	*kept += in_lap + (end > pos ? (end - pos) / size : 0);
	*lost += READ_ONCE(c->lost);
}

/**
 * trace_flight_stats - show the counts of a CPU
 * @tr: the trace array
 * @s: where to show them
 * @cpu: the CPU
 *
 * Context: Process context.
 */
void trace_flight_stats(struct trace_array *tr, struct trace_seq *s, int cpu)
{
	u64 written = 0, kept = 0, lost = 0;

	guard(mutex)(&trace_types_lock);
	if (!tr->flight)
		return;
	flight_count(tr->flight, cpu, &written, &kept, &lost);
	trace_seq_printf(s, "flight records: %llu\n", kept);
	trace_seq_printf(s, "flight overrun: %llu\n", written - kept);
	trace_seq_printf(s, "flight lost: %llu\n", lost);
}

static void flight_tracer_print_header(struct seq_file *m)
{
	struct trace_iterator *iter = m->private;
	struct ftrace_flight *flight = flight_of(iter);
	u64 written = 0, kept = 0, lost = 0;
	int cpu;

	if (!flight) {
		seq_puts(m, "# no memory to read the flight recorder\n");
		return;
	}
	for_each_tracing_cpu(cpu)
		flight_count(flight, cpu, &written, &kept, &lost);
	seq_printf(m, "# records-in-rings/records-written: %llu/%llu   lost: %llu   #P:%d\n#\n",
		   kept, written, lost, num_online_cpus());
	seq_puts(m, "# interrupts, need-resched, context and preemption are not recorded: ?????\n#\n");
	seq_puts(m, "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		    "#              | |         |   |||||     |         |\n");
}

static ssize_t flight_size_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	char buf[24];
	int n = scnprintf(buf, sizeof(buf), "%lu\n", (tr->flight_size ?: DEFAULT_SIZE) / SZ_1K);

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, n);
}

static ssize_t flight_size_write(struct file *filp, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	unsigned long kb;
	int ret = kstrtoul_from_user(ubuf, cnt, 10, &kb);

	if (ret)
		return ret;
	if (kb < MIN_SIZE / SZ_1K || kb > MAX_SIZE / SZ_1K)
		return -EINVAL;
	guard(mutex)(&trace_types_lock);
	if (tr->flight)
		return -EBUSY;
	tr->flight_size = PAGE_ALIGN(kb * SZ_1K);
	*ppos += cnt;
	return cnt;
}

static const struct file_operations flight_size_fops = {
	.open		= tracing_open_generic_tr,
	.read		= flight_size_read,
	.write		= flight_size_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

/**
 * trace_flight_files - create the files of a trace array
 * @tr: the trace array
 * @parent: its directory
 *
 * Context: Process context, may sleep.
 */
void trace_flight_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("flight_size_kb", TRACE_MODE_WRITE, parent, tr, &flight_size_fops);
}

static struct tracer flight_tracer __tracer_data = {
	.name		= "flight",
	.init		= flight_tracer_init,
	.reset		= flight_tracer_reset,
	.open		= flight_tracer_open,
	.close		= flight_tracer_close,
	.pipe_open	= flight_tracer_pipe_open,
	.read		= flight_tracer_read,
	.splice_read	= flight_tracer_splice_read,
	.print_header	= flight_tracer_print_header,
	.default_flags	= &flight_flags,
	.set_flag	= flight_tracer_set_flag,
	.allow_instances = true,
};

static int __init flight_tracer_register(void)
{
	return register_tracer(&flight_tracer);
}
core_initcall(flight_tracer_register);
