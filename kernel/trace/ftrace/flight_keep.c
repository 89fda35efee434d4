// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of the flight recorder that outlive the kernel.
 *
 * The recorder of one trace array has its rings in memory that was reserved on the command line,
 * and that a reset leaves alone. The next kernel finds there what the CPUs did until they stopped.
 *
 * Only the records are in this memory, and a header, which is written when recording begins. What
 * else is known of a ring, such as where the next record goes, can be told from the records: the
 * groups of the lap that was not complete have another parity than those behind them. So recording
 * costs nothing more.
 *
 * Records have addresses of functions, and the next kernel may be somewhere else. If it is the same
 * kernel, all its functions have moved by the same distance.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/timex.h>

#include <asm/sections.h>

#include "core.h"
#include "flight.h"

/* How many bytes the records, tasks and cursor of a ring of @size bytes take. */
static unsigned long keep_stride(unsigned long size)
{
	return PAGE_ALIGN(max(ftrace_flight_room(size, false), ftrace_flight_room(size, true)));
}

/* What is before the rings: the header, modules, and names of tasks. */
#define MODS_END	(PAGE_SIZE + FTRACE_FLIGHT_MODS * sizeof(struct ftrace_flight_mod))
#define COMMS_SIZE	(FTRACE_FLIGHT_COMMS * sizeof(struct ftrace_flight_comm))
#define KEEP_HEAD	PAGE_ALIGN(MODS_END + COMMS_SIZE)

/* The memory; there is none if @name is NULL. Changed with trace_types_lock held. */
static struct {
	const char			*name;		/* of the trace array */
	struct ftrace_flight_header	*header;
	unsigned long			memory;
	unsigned long			ring;
	bool				found;		/* the last kernel's rings are there */
	unsigned long			moved;		/* so far has the kernel moved since */
} keep;

/* Bit 0: a recorder has its rings there. The next one must see all that was done with them. */
static unsigned long keep_busy;

static u32 keep_sum(const struct ftrace_flight_header *h)
{
	return jhash(h, offsetof(struct ftrace_flight_header, sum), 0);
}

/* NULL, or why what is in the memory cannot be shown. */
static const char *keep_refuses(const struct ftrace_flight_header *h)
{
	if (h->magic != FTRACE_FLIGHT_KEPT)
		return "nothing was recorded";
	if (h->sum != keep_sum(h))
		return "the header is damaged";
	if (h->memory != keep.memory || h->ring != keep.ring || h->cpus != nr_cpu_ids)
		return "it has another size, or there are other CPUs";
	if (strncmp(h->kernel, linux_banner, sizeof(h->kernel) - 1) ||
	    h->text_size != (u64)(_end - _stext))
		return "it is of another kernel";
	return NULL;
}

/**
 * ftrace_flight_keep_in - let the recorder of a trace array have its rings in some memory
 * @name: the name of the trace array, which stays; NULL to undo it
 * @memory: the memory, which a reset leaves alone
 * @size: number of bytes
 *
 * If the last kernel has recorded something there that this one can show, the next recorder of the
 * trace array has it.
 *
 * Context: Process context. No recorder has its rings in the memory.
 * Return: 0; -EINVAL if @memory is too small; -EBUSY if there is such a memory already.
 */
int ftrace_flight_keep_in(const char *name, void *memory, unsigned long size)
{
	unsigned long room = size > KEEP_HEAD ? (size - KEEP_HEAD) / nr_cpu_ids : 0;
	unsigned long ring = round_down(min(room, FTRACE_FLIGHT_MAX_SIZE), PAGE_SIZE);
	const char *why;

	if (!name) {
		keep.name = NULL;
		keep.found = false;
		clear_bit_unlock(0, &keep_busy);
		return 0;
	}
	if (keep.name)
		return -EBUSY;
	/* What is beside the records takes some pages, too. */
	while (ring >= FTRACE_FLIGHT_MIN_SIZE && keep_stride(ring) > room)
		ring -= PAGE_SIZE;
	if (ring < FTRACE_FLIGHT_MIN_SIZE)
		return -EINVAL;
	keep.name = name;
	keep.header = memory;
	keep.memory = size;
	keep.ring = ring;
	why = keep_refuses(keep.header);
	if (why) {
		pr_info("flight: of the last kernel: %s\n", why);
		return 0;
	}
	keep.found = true;
	keep.moved = (unsigned long)_stext - keep.header->text;
	return 0;
}

/* Has the last kernel recorded something that was not taken or forgotten yet? */
bool ftrace_flight_found(const char *name)
{
	return keep.name && name && !strcmp(name, keep.name) && keep.found;
}

/* @flight becomes the recorder of the last kernel, as it was when it stopped. */
static void keep_fill(struct ftrace_flight *flight)
{
	const struct ftrace_flight_header *h = keep.header;
	u64 clock = h->in_cycles ? h->second : NSEC_PER_SEC;

	flight->timed = h->timed;
	flight->returns = h->returns && IS_ENABLED(CONFIG_FTRACE_FLIGHT_RETURNS);
	flight->start = (struct ftrace_flight_stamp){ .cycles = h->start, .clock = h->clock };
	flight->stop = (struct ftrace_flight_stamp){
		.cycles = h->start + h->second * FTRACE_FLIGHT_SECONDS,
		.clock = h->clock + clock * FTRACE_FLIGHT_SECONDS,
	};
	flight->since = h->since;
	/* The next recorder of the trace array begins anew. */
	keep.found = false;
}

/* The modules are left alone: one may be written down just now. */
static void keep_clear(void)
{
	memset(keep.header, 0, PAGE_SIZE);
	for (unsigned long at = MODS_END; at < keep.memory; at += PAGE_SIZE) {
		memset((void *)keep.header + at, 0, min(PAGE_SIZE, keep.memory - at));
		cond_resched();
	}
}

/*
 * Is @flight, which is being made, the recorder whose rings are in the memory? Then it gets the
 * size that fits, and the memory is cleared: a CPU that stays offline has no ring, but the next
 * kernel looks for one. If @flight is that of the last kernel, it becomes that instead. -EBUSY if
 * tasks may still write into the rings of the one before. trace_types_lock held.
 */
int ftrace_flight_keep_take(struct ftrace_flight *flight)
{
	if (!keep.name || !flight->name || strcmp(flight->name, keep.name))
		return 0;
	if (test_and_set_bit_lock(0, &keep_busy))
		return -EBUSY;
	flight->persistent = true;
	flight->size = keep.ring;
	if (flight->last)
		keep_fill(flight);
	else
		keep_clear();
	return 0;
}

/* A recorder is freed. */
void ftrace_flight_keep_drop(const struct ftrace_flight *flight)
{
	if (flight->persistent)
		clear_bit_unlock(0, &keep_busy);
}

/* What the header of the memory says. */
const struct ftrace_flight_header *ftrace_flight_keep_header(void)
{
	return keep.header;
}

/* The memory for modules. */
struct ftrace_flight_mod *ftrace_flight_keep_mods(void)
{
	return (void *)keep.header + PAGE_SIZE;
}

/* The memory for names of tasks. */
struct ftrace_flight_comm *ftrace_flight_keep_comms(void)
{
	return (void *)keep.header + MODS_END;
}

/* The memory for the ring of a CPU. */
void *ftrace_flight_keep_ring(int cpu)
{
	return (void *)keep.header + KEEP_HEAD + cpu * keep_stride(keep.ring);
}

/*
 * Recording begins, or what was recorded is about to be cleared: what is older is not to be found.
 * @second: cycles of a second; @in_cycles: the trace clock is the time stamp counter. If the
 * machine is reset in the middle of this, the sum is wrong. trace_types_lock held.
 */
void ftrace_flight_keep_start(const struct ftrace_flight *flight, u64 second, bool in_cycles)
{
	struct ftrace_flight_header *h = keep.header;

	*h = (struct ftrace_flight_header){
		.magic = FTRACE_FLIGHT_KEPT,
		.memory = keep.memory,
		.ring = keep.ring,
		.cpus = nr_cpu_ids,
		.timed = flight->timed,
		.returns = flight->returns,
		.in_cycles = in_cycles,
		.text = (unsigned long)_stext,
		.text_size = _end - _stext,
		.start = flight->start.cycles,
		.clock = flight->start.clock,
		.made = flight->made,
		.since = get_cycles(),
		.second = second,
	};
	strscpy(h->kernel, linux_banner);
	h->sum = keep_sum(h);
}

/* What the last kernel has recorded is not to be found any more. trace_types_lock held. */
void ftrace_flight_keep_forget(void)
{
	keep.header->magic = 0;
}

/* The word of the record in a slot that a lap of parity @odd has written; 0 if it has not. */
static u64 keep_word(const struct ftrace_flight *flight, unsigned long pos, bool odd)
{
	u64 word = ((const u64 *)pos)[flight->timed];

	return odd == !(word & FTRACE_FLIGHT_EVEN) ? word : 0;
}

/*
 * Where was the CPU, whose ring is at @base, when it stopped? In the last of the groups that have
 * the parity of the first one, behind the last record with this parity. What the lap before has
 * left ends with the last record that has the other one. Groups that ftrace_flight_check_last() has
 * cleared may be of either lap.
 */
void ftrace_flight_keep_find_ring(const struct ftrace_flight *flight, struct ftrace_flight_cpu *c,
				  unsigned long base)
{
	unsigned long group = flight->timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP;
	unsigned long size = flight->timed ? FTRACE_FLIGHT_TIMED_RECORD : FTRACE_FLIGHT_RECORD;
	unsigned long at = base, next = base, pos = base;
	bool odd;

	while (pos < c->behind && !keep_word(flight, pos, true) && !keep_word(flight, pos, false))
		pos += group;
	odd = pos < c->behind && keep_word(flight, pos, true);
	for (; pos < c->behind && !keep_word(flight, pos, !odd); pos += group)
		if (keep_word(flight, pos, odd))
			at = pos + group;
	for (pos = max(at, base + group) - group; pos < at; pos += size)
		if (keep_word(flight, pos, odd))
			next = pos + size;
	at = c->behind;
	while (at > next && !keep_word(flight, at - size, !odd))
		at -= size;
	c->next = (u64)next << 1 | odd;
	c->laps = odd;
	c->end = at;
	/* How many more there were is not known. */
	c->records = (at - next) / size;
	c->stopped = U64_MAX;
	/* No task has this number. */
	c->pid = PID_MAX_LIMIT;
	memset(c->dump, 0, sizeof(*c->dump));
}

/* Where a function of the last kernel is now, 0 if it was in a module. Any context. */
unsigned long ftrace_flight_keep_name(unsigned long addr)
{
	unsigned long now = addr + keep.moved;

	return now >= (unsigned long)_stext && now < (unsigned long)_end ? now : 0;
}

/* The name of the trace array is a part of it, and stays. */
static char keep_wanted[64];

static int __init keep_set(char *text)
{
	strscpy(keep_wanted, text);
	return 1;
}
__setup("trace_flight_keep=", keep_set);

/*
 * Makes the trace array. If there is something to show, it has the tracer that shows it. NULL, or
 * what is wrong.
 */
static const char *__init keep_begin(char *memory)
{
	const char *name = strsep(&memory, "@"), *why = NULL;
	phys_addr_t start, size;
	struct trace_array *tr;

	if (!memory || !*name)
		return "it must be NAME@MEMORY";
	if (!reserve_mem_find_by_name(memory, &start, &size))
		return "there is no such memory";
	if (ftrace_flight_keep_in(name, phys_to_virt(start), size))
		return "the memory is too small";
	tr = trace_array_get_by_name(name, NULL);
	if (!tr)
		return "the instance cannot be made";
	if (ftrace_flight_found(name) && tracing_set_tracer(tr, "flight"))
		why = "what the last kernel recorded cannot be shown";
	trace_array_put(tr);
	return why;
}

static int __init keep_init(void)
{
	const char *why = *keep_wanted ? keep_begin(keep_wanted) : NULL;

	if (why)
		pr_warn("trace_flight_keep: %s\n", why);
	return 0;
}
late_initcall(keep_init);
