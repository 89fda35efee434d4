// SPDX-License-Identifier: GPL-2.0-only
/*
 * What readers of a trace array get from its flight recorder.
 *
 * Who reads the file trace reads a copy of the rings. Who reads pages follows the CPU that records.
 * The reader has a cursor in the ring of each CPU, which makes entries of the function tracer from
 * records, one at a time. trace.c merges them by time with those of other CPUs, and with events in
 * the ring buffer.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace.h>
#include <linux/ftrace_flight.h>
#include <linux/math64.h>
#include <linux/timex.h>

#include "../trace_output.h"
#include "core.h"
#include "flight.h"

/* What a reader has. */
struct flight_iter {
	struct ftrace_flight		*flight;
	enum { READS_COPY, FOLLOWS, PAUSES } how;
	struct ftrace_flight_tree	*tree;		/* NULL: returns are left out */
	bool				pages;
	struct ftrace_flight_cursor	cursor[];	/* of each CPU */
};

/*
 * The time, in the clock of a trace array and in cycles. An NMI or the host can come between two
 * readings: of some pairs, the one that took the shortest time is used. Any context.
 */
struct ftrace_flight_stamp ftrace_flight_stamp_now(struct trace_array *tr)
{
	struct ftrace_flight_stamp stamp = { };
	u64 shortest = U64_MAX;

	guard(irqsave)();
	for (unsigned int i = 0; i < 3; i++) {
		u64 before = get_cycles();
		u64 clock = ring_buffer_time_stamp(tr->array_buffer.buffer);
		u64 took = get_cycles() - before;

		if (took >= shortest)
			continue;
		shortest = took;
		stamp = (struct ftrace_flight_stamp){ .clock = clock, .cycles = before + took / 2 };
	}
	return stamp;
}

static u64 flight_clock(const struct ftrace_flight_cursor *cursor, u64 cycles)
{
	u64 all = cursor->stop.cycles - cursor->start.cycles;

	if ((s64)all <= 0 || cycles < cursor->start.cycles)
		return cursor->start.clock;
	/* A time stamp counter that was set back would make the quotient overflow. */
	cycles = min(cycles, cursor->stop.cycles);
	return cursor->start.clock +
		mul_u64_u64_div_u64(cycles - cursor->start.cycles,
				    cursor->stop.clock - cursor->start.clock, all);
}

static struct ftrace_flight *flight_of(struct trace_iterator *iter)
{
	struct flight_iter *fi = iter->private;

	/* A snapshot is read from a copy only. */
	if (!ftrace_flight_is_read(iter) || IS_ERR(fi) || (iter->snapshot && !fi))
		return NULL;
	return fi ? fi->flight : READ_ONCE(iter->tr->flight);
}

/*
 * Where a reader is in the ring of a CPU; NULL if there is no ring. The tracer may end while a dump
 * is made. So nothing else looks for the recorder: that of a cursor is there as long as the cursor.
 */
struct ftrace_flight_cursor *ftrace_flight_cursor_of(struct trace_iterator *iter, int cpu)
{
	struct ftrace_flight *flight = flight_of(iter);
	struct flight_iter *fi = iter->private;
	struct ftrace_flight_cursor *cursor;

	if (!flight)
		return NULL;
	cursor = fi ? &fi->cursor[cpu] : per_cpu_ptr(flight->cpu, cpu)->dump;
	if (cursor && !cursor->place.pos && !cursor->follows)
		ftrace_flight_rewind(flight, cursor, cpu);
	return cursor;
}

/*
 * A record has only the number of a task; the name is kept elsewhere. It is saved when a task that
 * has made calls stops to run, or somebody reads what it has recorded. Preemption off.
 */
void ftrace_flight_save_name(struct task_struct *task)
{
	__this_cpu_write(trace_taskinfo_save, true);
	tracing_record_taskinfo(task, TRACE_RECORD_CMDLINE | TRACE_RECORD_TGID);
}

static void flight_save_names(void)
{
	int cpu;

	guard(rcu)();
	guard(preempt)();
	for_each_online_cpu(cpu)
		ftrace_flight_save_name(cpu_curr_snapshot(cpu));
}

/* Without memory, @iter->private is an error. */
static struct flight_iter *flight_iter_make(struct trace_iterator *iter)
{
	struct flight_iter *fi = NULL;

	flight_save_names();
	if (iter->tr->flight)
		fi = kvzalloc(struct_size(fi, cursor, nr_cpu_ids), GFP_KERNEL);
	iter->private = fi ?: ERR_PTR(-ENOMEM);
	return fi;
}

/* There is no memory for a copy, so nothing is recorded meanwhile. */
static void flight_iter_pause(struct trace_iterator *iter, struct flight_iter *fi)
{
	struct ftrace_flight *flight = iter->tr->flight;
	bool records = !atomic_read(&flight->off);

	fi->how = PAUSES;
	fi->flight = ftrace_flight_get(flight);
	snprintf(flight->reader, sizeof(flight->reader), "%s-%d", current->comm,
		 task_pid_nr(current));
	pr_warn("flight: no memory for a copy, nothing is recorded while %s reads\n",
		flight->reader);
	ftrace_flight_pause(flight, true);
	/* While nothing is recorded, the last moment stays. */
	if (records)
		flight->stop = ftrace_flight_stamp_now(iter->tr);
}

/* Without memory for a tree, returns are left out. */
static void flight_iter_tree(struct trace_iterator *iter, bool pages)
{
	struct flight_iter *fi = iter->private;

	if (IS_ERR_OR_NULL(fi) || !iter->tr->flight->returns)
		return;
	fi->tree = ftrace_flight_tree_make(iter->tr->flight->timed,
					   iter->cpu_file != RING_BUFFER_ALL_CPUS);
	fi->pages = pages;
}

/* As ftrace_flight_open(), but returns are left out. */
static void flight_open_copy(struct trace_iterator *iter)
{
	struct flight_iter *fi;

	/* All dumps have one iterator, in which another tracer may have left something. */
	iter->private = NULL;
	if (iter->snapshot && !(iter->tr->flight && iter->tr->flight->spare))
		return;
	/* A dump, with interrupts off, has cursors of its own, and must not wait for locks. */
	if (irqs_disabled()) {
		ftrace_flight_save_name(current);
		return;
	}
	fi = flight_iter_make(iter);
	if (!fi)
		return;
	fi->flight = ftrace_flight_copy(iter->tr->flight, iter->snapshot, iter->cpu_file);
	if (!fi->flight && iter->snapshot) {
		iter->private = ERR_PTR(-ENOMEM);
		kvfree(fi);
	} else if (!fi->flight) {
		flight_iter_pause(iter, fi);
	} else if (!iter->snapshot && !atomic_read(&iter->tr->flight->off)) {
		fi->flight->stop = ftrace_flight_stamp_now(iter->tr);
	}
}

/**
 * ftrace_flight_open - somebody begins to read a trace array that has a flight recorder
 * @iter: the reader
 *
 * The reader gets a copy. Without memory for it, the recorder is paused until the reader comes to
 * ftrace_flight_close(). Without memory for that, @iter->private is an error.
 *
 * Context: Process context, may sleep; with interrupts off nothing is done. trace_types_lock held.
 */
void ftrace_flight_open(struct trace_iterator *iter)
{
	flight_open_copy(iter);
	flight_iter_tree(iter, false);
}

/*
 * Somebody begins to read pages of a CPU, and follows it while it records; or pages of a snapshot.
 * 0 or -ENOMEM. Context as for ftrace_flight_open().
 */
int ftrace_flight_open_raw(struct trace_iterator *iter)
{
	struct flight_iter *fi;

	if (iter->snapshot) {
		flight_open_copy(iter);
		flight_iter_tree(iter, true);
		return PTR_ERR_OR_ZERO(iter->private);
	}
	fi = flight_iter_make(iter);
	if (!fi)
		return -ENOMEM;
	fi->how = FOLLOWS;
	fi->flight = ftrace_flight_get(iter->tr->flight);
	ftrace_flight_follow(fi->flight, &fi->cursor[iter->cpu_file], iter->cpu_file);
	flight_iter_tree(iter, true);
	return 0;
}

/**
 * ftrace_flight_close - the reader has come to an end
 * @iter: the reader
 *
 * Context: Process context, may sleep. trace_types_lock held.
 */
void ftrace_flight_close(struct trace_iterator *iter)
{
	struct flight_iter *fi = iter->private;

	iter->private = NULL;
	if (IS_ERR_OR_NULL(fi))
		return;
	if (fi->how == PAUSES)
		ftrace_flight_pause(fi->flight, false);
	if (fi->how == READS_COPY)
		ftrace_flight_free(fi->flight);
	else
		ftrace_flight_put(fi->flight);
	ftrace_flight_tree_free(fi->tree);
	kvfree(fi);
}

/* The tree of a reader; NULL if returns are left out. Any context. */
struct ftrace_flight_tree *ftrace_flight_tree_of(const struct trace_iterator *iter)
{
	const struct flight_iter *fi = iter->private;

	return IS_ERR_OR_NULL(fi) ? NULL : fi->tree;
}

/* The same, if lines are read: it is told of each entry that was found. */
static struct ftrace_flight_tree *flight_tree(const struct trace_iterator *iter)
{
	struct ftrace_flight_tree *tree = ftrace_flight_tree_of(iter);

	return tree && !((struct flight_iter *)iter->private)->pages ? tree : NULL;
}

/* What kallsyms may be asked for the name of an address in a ring. Any context. */
static unsigned long flight_name(const struct ftrace_flight *flight, unsigned long addr, u64 cycles)
{
	return flight->last ? ftrace_flight_last_name(addr, cycles) :
	       ftrace_flight_name(addr, cycles);
}

/* Get the next call of a CPU, or the next return if there is a tree. */
static bool flight_fill(struct trace_iterator *iter, struct ftrace_flight_cursor *cursor)
{
	struct ftrace_flight_call call;

	if (cursor->ready)
		return true;
	do {
		if (!ftrace_flight_next(cursor->flight, cursor, &call))
			return false;
	} while (!call.parent_ip && !ftrace_flight_tree_of(iter));
	/* Flags are not known. Tools refuse lines with characters that are none of flags. */
	cursor->entry.ent = (struct trace_entry){ .type = TRACE_FN, .pid = call.pid };
	cursor->entry.ip = flight_name(cursor->flight, call.ip, call.time);
	cursor->entry.parent_ip = flight_name(cursor->flight, call.parent_ip, call.time);
	/* Who follows the CPU has come to calls that are later than what was known of the clock. */
	if (cursor->follows && call.time > cursor->stop.cycles) {
		/* Written when recording is switched on or off. */
		cursor->start = data_race(cursor->flight->start);
		/* As above. */
		cursor->stop = data_race(cursor->flight->stop);
		if (call.time > cursor->stop.cycles)
			cursor->stop = ftrace_flight_stamp_now(iter->tr);
	}
	cursor->ts = flight_clock(cursor, call.time);
	cursor->early = flight_clock(cursor, call.early);
	cursor->late = call.late == U64_MAX ? U64_MAX : flight_clock(cursor, call.late);
	cursor->ready = true;
	return true;
}

/*
 * Does a reader read a flight recorder? This function and those below are called in any context,
 * with preemption off unless the reader has opened a file.
 */
bool trace_flight_reads(struct trace_iterator *iter)
{
	return flight_of(iter);
}

/*
 * The older one of @ent, the next entry of a CPU in the ring buffer or NULL, and of the next entry
 * of the flight recorder. @ts is the time of @ent, and becomes that of the entry that is returned;
 * so does @lost, how many entries were lost before. Both may be NULL.
 */
struct trace_entry *trace_flight_peek(struct trace_iterator *iter, int cpu,
				      struct trace_entry *ent, u64 *ts, unsigned long *lost)
{
	struct ftrace_flight_cursor *cursor = ftrace_flight_cursor_of(iter, cpu);

	if (!cursor || !flight_fill(iter, cursor))
		return ent;
	if (ent && ts && *ts <= cursor->ts)
		return ent;
	if (ts)
		*ts = cursor->ts;
	if (lost)
		*lost = cursor->missed;
	iter->ent_size = sizeof(cursor->entry);
	return &cursor->entry.ent;
}

/* Is an event between a call and its return? */
static bool flight_has_event(struct trace_iterator *iter, const struct ftrace_flight_cursor *ret)
{
	struct ring_buffer_iter *events = trace_buffer_iter(iter, iter->cpu);
	u64 ts;

	return events && ring_buffer_iter_peek(events, &ts) && ts <= ret->ts;
}

/* Tells the tree of an entry, and of the next one, too, if that is its return. */
static void flight_add(struct trace_iterator *iter, struct ftrace_flight_tree *tree,
		       struct ftrace_flight_cursor *cursor)
{
	struct ftrace_flight_cursor ret = *cursor;

	if (cursor->entry.parent_ip && flight_fill(iter, &ret) && !ret.entry.parent_ip &&
	    ret.entry.ip == cursor->entry.ip && ret.entry.ent.pid == cursor->entry.ent.pid &&
	    !flight_has_event(iter, &ret)) {
		ftrace_flight_tree_add(tree, cursor, &ret, iter->cpu);
		ret.entry = cursor->entry;
		ret.ready = false;
		*cursor = ret;
		return;
	}
	ftrace_flight_tree_add(tree, cursor, NULL, iter->cpu);
}

/* Goes behind the entry that a reader has found. Returns true if it is of a flight recorder. */
bool trace_flight_advance(struct trace_iterator *iter)
{
	struct ftrace_flight_cursor *cursor = ftrace_flight_cursor_of(iter, iter->cpu);

	if (!cursor)
		return false;
	cursor->shown = iter->ent == &cursor->entry.ent;
	if (cursor->shown) {
		cursor->ready = false;
		cursor->missed = false;
		if (flight_tree(iter))
			flight_add(iter, flight_tree(iter), cursor);
	}
	return cursor->shown;
}

/*
 * Is the entry that a reader has shown one of a flight recorder, so that there is nothing to
 * remove from the ring buffer?
 */
bool trace_flight_consumed(struct trace_iterator *iter)
{
	struct ftrace_flight_cursor *cursor = ftrace_flight_cursor_of(iter, iter->cpu);

	return cursor && cursor->shown;
}

/* Who has made the call that a reader has found, if it was in the last kernel? */
bool trace_flight_last_comm(struct trace_iterator *iter, char comm[TASK_COMM_LEN])
{
	struct ftrace_flight_cursor *cursor = ftrace_flight_cursor_of(iter, iter->cpu);

	if (!cursor || !cursor->flight->last || !cursor->shown)
		return false;
	ftrace_flight_last_comm(cursor->entry.ent.pid, comm);
	return true;
}

/* Goes to the oldest entry of a CPU. */
void trace_flight_rewind(struct trace_iterator *iter, int cpu)
{
	struct ftrace_flight_cursor *cursor = ftrace_flight_cursor_of(iter, cpu);

	if (cursor)
		ftrace_flight_rewind(cursor->flight, cursor, cpu);
	if (flight_tree(iter))
		ftrace_flight_tree_clear(flight_tree(iter));
}

/* Has a flight recorder no more entries? */
bool trace_flight_empty(struct trace_iterator *iter)
{
	int cpu;

	for_each_tracing_cpu(cpu) {
		struct ftrace_flight_cursor *cursor;

		if (iter->cpu_file != RING_BUFFER_ALL_CPUS && iter->cpu_file != cpu)
			continue;
		cursor = ftrace_flight_cursor_of(iter, cpu);
		if (cursor && flight_fill(iter, cursor))
			return false;
	}
	return true;
}

/* Has a reader who follows a CPU nothing to wait for, because recording is switched off? */
bool trace_flight_ended(struct trace_iterator *iter)
{
	struct ftrace_flight *flight = flight_of(iter);

	return flight && atomic_read(&flight->off) & 1;
}

static void flight_count(const struct ftrace_flight *flight, int cpu, u64 *written, u64 *kept,
			 u64 *lost)
{
	const struct ftrace_flight_cpu *c = per_cpu_ptr(flight->cpu, cpu);
	unsigned int size = flight->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
	unsigned long pos, end;
	u64 in_lap;

	if (!ftrace_flight_has_ring(c))
		return;
	pos = (long)READ_ONCE(c->next) >> 1;
	end = READ_ONCE(c->end);
	in_lap = (pos - c->base) / size;
	*written += READ_ONCE(c->records) + in_lap;
	*kept += in_lap + (end > pos ? (end - pos) / size : 0);
	*lost += READ_ONCE(c->lost);
}

/* Shows the counts of a CPU. */
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
	if (atomic_read(&tr->flight->off) > 1)
		trace_seq_printf(s, "flight paused by: %s\n", tr->flight->reader);
}

/*
 * How many calls does a reader of a CPU get, or of all? kdb asks with all other CPUs stopped. Any
 * context.
 */
unsigned long trace_flight_calls(struct trace_array *tr, int which)
{
	const struct ftrace_flight *flight = READ_ONCE(tr->flight);
	struct ftrace_flight_cursor cursor;
	struct ftrace_flight_call call;
	unsigned long calls = 0;
	int cpu;

	if (!flight)
		return 0;
	for_each_tracing_cpu(cpu) {
		if (which != RING_BUFFER_ALL_CPUS && which != cpu)
			continue;
		ftrace_flight_rewind(flight, &cursor, cpu);
		while (ftrace_flight_next(flight, &cursor, &call))
			calls += !!call.parent_ip;
	}
	return calls;
}

/* Prints what is above the first line of the file trace: first our own lines. */
void ftrace_flight_print_header(struct seq_file *m)
{
	struct trace_iterator *iter = m->private;
	struct ftrace_flight *flight = flight_of(iter);
	u64 written = 0, kept = 0, lost = 0;
	int cpu;

	if (!flight && (!iter->snapshot || IS_ERR(iter->private))) {
		seq_puts(m, "# no memory to read the flight recorder\n");
		return;
	}
	if (flight && iter->tr->trace_flags & TRACE_ITER(CONTEXT_INFO)) {
		for_each_tracing_cpu(cpu)
			flight_count(flight, cpu, &written, &kept, &lost);
		seq_printf(m, "# records-in-rings/records-written: %llu/%llu   lost: %llu\n",
			   kept, written, lost);
		if (flight->last)
			seq_puts(m, "# recorded by the last kernel; this one records nothing here\n");
		if (flight->other)
			seq_printf(m, "# %u groups of records were overwritten: calls are missing\n",
				   flight->other);
		seq_printf(m, "# times of events are exact, times of calls are %s\n",
			   flight->timed ? "exact" : "computed from others around them");
		if (flight_tree(iter) && !flight->timed)
			seq_puts(m, "# durations of calls are not longer than shown\n");
		if (atomic_read(&flight->off) > 1)
			seq_printf(m, "# nothing is recorded while %s reads: no memory for a copy\n",
				   flight->reader);
		seq_puts(m, "# of calls, interrupts, need-resched, context and preemption are not recorded\n#\n");
	}
	trace_default_header(m);
}

/* Prints an entry that a reader has found: with returns, as a line of the tree. */
enum print_line_t ftrace_flight_print_line(struct trace_iterator *iter)
{
	u64 flags = iter->tr->trace_flags;

	if (!flight_tree(iter) || iter->ent->type != TRACE_FN || !trace_flight_consumed(iter) ||
	    flags & (TRACE_ITER(BIN) | TRACE_ITER(HEX) | TRACE_ITER(RAW)))
		return TRACE_TYPE_UNHANDLED;
	if (flags & TRACE_ITER(CONTEXT_INFO)) {
		if (iter->iter_flags & TRACE_FILE_LAT_FMT)
			trace_print_lat_context(iter);
		else
			trace_print_context(iter);
	}
	ftrace_flight_tree_print(flight_tree(iter), iter);
	return trace_handle_return(&iter->seq);
}
