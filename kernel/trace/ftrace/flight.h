/* SPDX-License-Identifier: GPL-2.0-only */
/* The flight recorder: rings, and what reads them. */
#ifndef _FTRACE_FLIGHT_H
#define _FTRACE_FLIGHT_H

#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/module.h>

#include "../trace.h"

struct ftrace_flight_tree;
struct ftrace_table;

/**
 * struct ftrace_flight_place - a place among the records of a ring, from the oldest to the youngest
 * @pos: address of the record
 * @wrapped: the record is of the current lap, not of the lap before
 */
struct ftrace_flight_place {
	unsigned long	pos;
	bool		wrapped;
};

/**
 * struct ftrace_flight_cursor - where a reader is in the ring of a CPU
 * @flight: the recorder
 * @snap: the ring as it was when the reader began
 * @start: when recording began, as it was known then
 * @stop: when recording stopped the last time, as it was known then
 * @place: the record to look at next
 * @cpu: the CPU whose ring it is
 * @follows: the reader goes on to what the CPU records meanwhile
 * @missed: what came before was overwritten before it was read
 * @time: the time of the last record, in cycles; 0 before the first time in the ring
 * @since: the last time that was recorded
 * @until: the next time that was recorded; U64_MAX if it is not known
 * @step: cycles from a call to the next
 * @ahead: @step is that of the calls at @place
 * @open: no time is known that is behind these calls
 * @gap: the group before is missing, so a task may have been switched
 * @pid: the task that runs
 * @ts: the time of @entry, in the trace clock
 * @early: the entry is not older than that
 * @late: the entry is not younger than that; U64_MAX if nothing is known
 * @ready: @entry is the next call
 * @shown: the last entry of the CPU that was shown is one of the recorder
 * @entry: a call, as the function tracer records it, or a return, whose caller is 0
 */
struct ftrace_flight_cursor {
	const struct ftrace_flight	*flight;
	struct ftrace_flight_cpu	snap;
	struct ftrace_flight_stamp	start;
	struct ftrace_flight_stamp	stop;
	struct ftrace_flight_place	place;
	int				cpu;
	bool				follows;
	bool				missed;
	u64				time;
	u64				since;
	u64				until;
	u64				step;
	bool				ahead;
	bool				open;
	bool				gap;
	u32				pid;
	u64				ts;
	u64				early;
	u64				late;
	bool				ready;
	bool				shown;
	struct ftrace_entry		entry;
};

/**
 * struct ftrace_flight_call - a call in a ring
 * @ip: the call site
 * @parent_ip: the caller; 0 if it is a return
 * @pid: the task
 * @time: when, in cycles of the time stamp counter
 * @early: the time that was recorded before
 * @late: the time that was recorded behind; U64_MAX if there is none
 */
struct ftrace_flight_call {
	unsigned long	ip;
	unsigned long	parent_ip;
	u32		pid;
	u64		time;
	u64		early;
	u64		late;
};

/* "fltring1" */
#define FTRACE_FLIGHT_KEPT	0x31676e6972746c66ULL

/**
 * struct ftrace_flight_header - what is at the start of memory that outlives the kernel
 * @magic: FTRACE_FLIGHT_KEPT if the rest is complete
 * @memory: bytes of all of the memory
 * @ring: bytes of a ring
 * @text: where the kernel was
 * @text_size: bytes of the kernel
 * @start: when recording began, in cycles
 * @clock: the same moment in the trace clock
 * @made: no record is older, in cycles
 * @since: what is older was cleared, in cycles
 * @second: cycles of a second
 * @cpus: number of rings
 * @timed: each record has a time of its own
 * @returns: returns are recorded, too
 * @in_cycles: the trace clock is the time stamp counter
 * @unused: room
 * @kernel: the start of the banner of the kernel
 * @sum: of all before
 */
struct ftrace_flight_header {
	u64	magic;
	u64	memory;
	u64	ring;
	u64	text;
	u64	text_size;
	u64	start;
	u64	clock;
	u64	made;
	u64	since;
	u64	second;
	u32	cpus;
	u8	timed;
	u8	returns;
	u8	in_cycles;
	u8	unused;
	char	kernel[200];
	u32	sum;
};

/* So many seconds after the start a kernel may record: 8 years. */
#define FTRACE_FLIGHT_SECONDS	BIT_ULL(28)

/**
 * struct ftrace_flight_mod - a module, in memory that outlives the kernel
 * @base: where its text was
 * @came: when it was loaded, in cycles; 0 if before recording began
 * @gone: when it was unloaded, in cycles; 0 if it was there until the end
 * @now: where its text is now, 0 if it is nowhere; of this kernel
 * @thunks: where the thunks of its sites were, by their targets; 0 if it had none
 * @size: bytes of its text; 0 if there is no module
 * @sites: a hash of the places of its call sites
 * @name: its name
 */
struct ftrace_flight_mod {
	u64	base;
	u64	came;
	u64	gone;
	u64	now;
	u64	thunks[FTRACE_NR_THUNKS];
	u32	size;
	u32	sites;
	char	name[MODULE_NAME_LEN];
};

/* So many are written down. The first one is the kernel itself, which has thunks only. */
#define FTRACE_FLIGHT_MODS	256

/**
 * struct ftrace_flight_comm - the name of a task, in memory that outlives the kernel
 * @pid: the task; 0 if there is none
 * @comm: its name
 */
struct ftrace_flight_comm {
	u32	pid;
	char	comm[TASK_COMM_LEN];
};

/* For so many tasks there is room. */
#define FTRACE_FLIGHT_COMMS	1638

/* With a smaller ring, an interrupt would often find no room. */
#define FTRACE_FLIGHT_MIN_SIZE	((unsigned long)SZ_16K)
#define FTRACE_FLIGHT_MAX_SIZE	((unsigned long)SZ_1G)

#ifdef CONFIG_FTRACE_FLIGHT
/* Where an ops records its calls; NULL if it has a callback. */
static inline struct ftrace_flight *ftrace_ops_flight(const struct ftrace_ops *ops)
{
	return READ_ONCE(ops->flight);
}

/* The thunk that sites which only @ops has jump to; 0 if they call a trampoline. */
static inline unsigned long ftrace_ops_thunk(const struct ftrace_ops *ops)
{
	const struct ftrace_flight *flight = ftrace_ops_flight(ops);

	if (!flight || !flight->returns)
		return 0;
	return FTRACE_THUNK((flight->timed ? FTRACE_THUNK_TIMED : 0) |
			    (ops->guard ? FTRACE_THUNK_GUARDED : 0));
}

/* Has a CPU a ring? It gets one before it first comes online, if there is memory. */
static inline bool ftrace_flight_has_ring(const struct ftrace_flight_cpu *c)
{
	/* Then all else of the ring; pairs with flight_ring_make(). */
	return smp_load_acquire(&c->base);
}

/*
 * A lap ends at the first group that begins behind the last record. Until its owner has begun the
 * next lap, each context that interrupts it may reserve a group behind it: softirq, interrupt, NMI,
 * and exceptions such as a machine check.
 */
#define FTRACE_FLIGHT_OVERRUN	8

static inline unsigned long ftrace_flight_groups(unsigned long size, bool timed)
{
	return size / (timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP) +
	       FTRACE_FLIGHT_OVERRUN;
}

static inline unsigned long ftrace_flight_pids_size(unsigned long groups)
{
	return ALIGN(groups * sizeof(u32), sizeof(u64));
}

/* The memory for a ring of @size bytes, with what is behind it. */
static inline unsigned long ftrace_flight_room(unsigned long size, bool timed)
{
	unsigned long groups = ftrace_flight_groups(size, timed);

	return groups * (timed ? FTRACE_FLIGHT_TIMED_GROUP : FTRACE_FLIGHT_GROUP) +
	       ftrace_flight_pids_size(groups) + sizeof(struct ftrace_flight_cursor);
}

/* A lap of a ring and where in it the next record goes, as &ftrace_flight_cpu.next has it. */
struct ftrace_flight_at {
	u64	lap;
	u64	next;
};

struct ftrace_flight *ftrace_flight_make(unsigned long size, const char *name, bool timed);
struct ftrace_flight *ftrace_flight_make_last(const char *name);
struct ftrace_flight *ftrace_flight_alike(const struct ftrace_flight *flight, int which);
void ftrace_flight_free(struct ftrace_flight *copy);
struct ftrace_flight_at ftrace_flight_where(const struct ftrace_flight_cpu *c);
struct ftrace_flight *ftrace_flight_get(struct ftrace_flight *flight);
void ftrace_flight_put(struct ftrace_flight *flight);
void ftrace_flight_wait(void);
void ftrace_flight_off(struct ftrace_flight *flight, bool off);
void ftrace_flight_pause(struct ftrace_flight *flight, bool pause);
void ftrace_flight_clear(struct ftrace_flight *flight, int cpu);
int ftrace_flight_make_spare(struct ftrace_flight *flight);
void ftrace_flight_free_spare(struct ftrace_flight *flight);
void ftrace_flight_exchange(struct ftrace_flight *flight, int cpu);
void ftrace_flight_forget(struct ftrace_flight *flight, int cpu);
u64 ftrace_flight_now(void);
void ftrace_flight_text_gone(unsigned long start, unsigned long end, bool named);
unsigned long ftrace_flight_name(unsigned long addr, u64 cycles);
bool ftrace_flight_switch(struct ftrace_flight *flight, u32 prev, u32 next);
void ftrace_flight_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs);

/* flight_read.c */
struct ftrace_flight *ftrace_flight_copy(const struct ftrace_flight *flight, bool snapshot,
					 int which);
void ftrace_flight_rewind(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			  int cpu);
void ftrace_flight_follow(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			  int cpu);
bool ftrace_flight_next(const struct ftrace_flight *flight, struct ftrace_flight_cursor *cursor,
			struct ftrace_flight_call *call);
bool ftrace_flight_plausible(const struct ftrace_flight_header *h, const u64 *record, bool first);
u32 ftrace_flight_pid_after(u64 word, u32 pid);

/* flight_check.c */
unsigned int ftrace_flight_check_last(void);

/* flight_keep.c */
int ftrace_flight_keep_in(const char *name, void *memory, unsigned long size);
bool ftrace_flight_found(const char *name);
int ftrace_flight_keep_take(struct ftrace_flight *flight);
void ftrace_flight_keep_drop(const struct ftrace_flight *flight);
const struct ftrace_flight_header *ftrace_flight_keep_header(void);
void *ftrace_flight_keep_ring(int cpu);
void ftrace_flight_keep_start(const struct ftrace_flight *flight, u64 second, bool in_cycles);
void ftrace_flight_keep_find_ring(const struct ftrace_flight *flight, struct ftrace_flight_cpu *c,
				  unsigned long base);
void ftrace_flight_keep_forget(void);
struct ftrace_flight_mod *ftrace_flight_keep_mods(void);
struct ftrace_flight_comm *ftrace_flight_keep_comms(void);
unsigned long ftrace_flight_keep_name(unsigned long addr);

/* flight_comms.c */
void ftrace_flight_comms_note(const struct ftrace_flight *flight, u32 pid, const char *comm);
void ftrace_flight_last_comm(u32 pid, char comm[TASK_COMM_LEN]);

/* flight_mods.c */
void ftrace_flight_mods_note(const struct module *mod, u32 sites, u64 when, bool comes);
void ftrace_flight_mods_keep(struct ftrace_flight_mod *mod, bool last);
void ftrace_flight_mods_thunks(const struct ftrace_table *t);
unsigned long ftrace_flight_last_name(unsigned long addr, u64 cycles);

/* flight_iter.c */
struct ftrace_flight_stamp ftrace_flight_stamp_now(struct trace_array *tr);
void ftrace_flight_save_name(struct task_struct *task);
void ftrace_flight_open(struct trace_iterator *iter);
int ftrace_flight_open_raw(struct trace_iterator *iter);
void ftrace_flight_close(struct trace_iterator *iter);
struct ftrace_flight_cursor *ftrace_flight_cursor_of(struct trace_iterator *iter, int cpu);
struct ftrace_flight_tree *ftrace_flight_tree_of(const struct trace_iterator *iter);
void ftrace_flight_print_header(struct seq_file *m);
enum print_line_t ftrace_flight_print_line(struct trace_iterator *iter);

/* No other tracer opens files so. */
static inline bool ftrace_flight_is_read(const struct trace_iterator *iter)
{
	return iter->trace && iter->trace->open == ftrace_flight_open;
}
#else
static inline struct ftrace_flight *ftrace_ops_flight(const struct ftrace_ops *ops)
{
	return NULL;
}

static inline unsigned long ftrace_ops_thunk(const struct ftrace_ops *ops)
{
	return 0;
}

static inline struct ftrace_flight *ftrace_flight_get(struct ftrace_flight *flight)
{
	return NULL;
}

static inline void ftrace_flight_put(struct ftrace_flight *flight) { }
static inline void ftrace_flight_text_gone(unsigned long start, unsigned long end, bool named) { }
#endif

/* returns.c */

/* An event of the function graph tracer. */
union ftrace_flight_graph {
	struct ftrace_graph_ent_entry	call;
	struct ftrace_graph_ret_entry	ret;
};

#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
int ftrace_thunks_make(struct ftrace_table *t, unsigned long target);
int ftrace_flight_returns_start(struct ftrace_flight *flight);
void ftrace_flight_returns_stop(struct ftrace_flight *flight);

/* Is an entry of a task's stack one that was pushed? There is a place for one behind the last. */
static inline bool ftrace_return_in_use(const struct ftrace_return *entry)
{
	return (unsigned long)entry % PAGE_SIZE < FTRACE_RETURN_FULL;
}

/* A CPU is not online: its idle task does not return from where the CPU went. */
static inline void ftrace_flight_reset_idle(int cpu)
{
	struct task_struct *idle = idle_task(cpu);

	if (!idle || !idle->flight_returns)
		return;
	memset((void *)(idle->flight_returns & PAGE_MASK), 0, PAGE_SIZE);
	idle->flight_returns |= FTRACE_RETURN_FULL;
}

/* flight_tree.c */
struct ftrace_flight_tree *ftrace_flight_tree_make(bool exact, bool one_cpu);
void ftrace_flight_tree_free(struct ftrace_flight_tree *tree);
void ftrace_flight_tree_clear(struct ftrace_flight_tree *tree);
void ftrace_flight_tree_add(struct ftrace_flight_tree *tree,
			    const struct ftrace_flight_cursor *cursor,
			    const struct ftrace_flight_cursor *ret, int cpu);
void ftrace_flight_tree_print(const struct ftrace_flight_tree *tree, struct trace_iterator *iter);
unsigned int ftrace_flight_graph(const struct ftrace_entry *entry,
				 union ftrace_flight_graph *graph);
void ftrace_flight_tree_fill(struct ftrace_flight_tree *tree, struct trace_entry *ent, u64 time,
			     int cpu);
#else
static inline void ftrace_flight_reset_idle(int cpu) { }

static inline int ftrace_thunks_make(struct ftrace_table *t, unsigned long target)
{
	return -EOPNOTSUPP;
}

static inline int ftrace_flight_returns_start(struct ftrace_flight *flight)
{
	return -EOPNOTSUPP;
}

static inline void ftrace_flight_returns_stop(struct ftrace_flight *flight) { }

static inline struct ftrace_flight_tree *ftrace_flight_tree_make(bool exact, bool one_cpu)
{
	return NULL;
}

static inline void ftrace_flight_tree_free(struct ftrace_flight_tree *tree) { }
static inline void ftrace_flight_tree_clear(struct ftrace_flight_tree *tree) { }
static inline void ftrace_flight_tree_add(struct ftrace_flight_tree *tree,
					  const struct ftrace_flight_cursor *cursor,
					  const struct ftrace_flight_cursor *ret, int cpu) { }
static inline void ftrace_flight_tree_print(const struct ftrace_flight_tree *tree,
					    struct trace_iterator *iter) { }

static inline unsigned int ftrace_flight_graph(const struct ftrace_entry *entry,
					       union ftrace_flight_graph *graph)
{
	return 0;
}

static inline void ftrace_flight_tree_fill(struct ftrace_flight_tree *tree,
					   struct trace_entry *ent, u64 time, int cpu) { }
#endif

#endif
