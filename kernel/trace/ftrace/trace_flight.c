// SPDX-License-Identifier: GPL-2.0-only
/*
 * The "flight" tracer: the flight recorder as users see it.
 *
 * The tracer gives the ops of its trace array a recorder, and trampolines do the rest.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace.h>
#include <linux/ftrace_flight.h>
#include <linux/smp.h>
#include <linux/trace_clock.h>

#include <trace/events/irq.h>
#include <trace/events/power.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "../trace.h"
#include "core.h"
#include "dispatch.h"
#include "flight.h"
#include "guards.h"
#include "pid.h"

#define OPT_TIME	BIT(0)
#define OPT_RETURNS	BIT(1)

/* So that 100,000 calls fit. */
static unsigned long default_size __ro_after_init = SZ_1M;

static int __init flight_set_size(char *text)
{
	unsigned long long size = memparse(text, &text);

	if (*text || size < FTRACE_FLIGHT_MIN_SIZE || size > FTRACE_FLIGHT_MAX_SIZE)
		return 0;
	default_size = PAGE_ALIGN(size);
	return 1;
}
__setup("trace_flight_size=", flight_set_size);

static struct tracer_opt flight_opts[] = {
	{ .name = "flight-time", .bit = OPT_TIME },
#ifdef CONFIG_FTRACE_FLIGHT_RETURNS
	{ .name = "flight-returns", .bit = OPT_RETURNS },
#endif
	{ }
};

static struct tracer_flags flight_flags = {
	.opts = flight_opts,
};

static struct tracer flight_tracer;

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
	if (ftrace_flight_switch(data, prev->pid, next->pid))
		ftrace_flight_save_name(prev);
	ftrace_flight_comms_note(data, next->pid, next->comm);
}

/*
 * A thread that executes a program takes the number of its process, without a switch. Then it gets
 * the name of the program.
 */
static void flight_rename(void *data, struct task_struct *task, const char *comm)
{
	struct ftrace_flight *flight = data;
	u32 pid;

	guard(preempt_notrace)();
	ftrace_flight_comms_note(flight, task->pid, comm);
	pid = this_cpu_read(flight->cpu->pid);
	if (task == current && pid != task->pid && pid != FTRACE_FLIGHT_NOBODY)
		ftrace_flight_switch(flight, pid, task->pid);
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
	ret = register_trace_task_rename(flight_rename, flight);
	if (ret)
		goto no_rename;
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
	unregister_trace_task_rename(flight_rename, flight);
no_rename:
	unregister_trace_sched_switch(flight_switch, flight);
	return ret;
}

static void flight_unwatch(struct ftrace_flight *flight)
{
	arch_ftrace_unwatch_timer(flight_timer, flight);
	unregister_trace_irq_handler_exit(flight_irq_exit, flight);
	unregister_trace_irq_handler_entry(flight_irq_entry, flight);
	unregister_trace_cpu_idle(flight_idle, flight);
	unregister_trace_task_rename(flight_rename, flight);
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

		ftrace_flight_comms_note(flight, task->pid, task->comm);
		cmpxchg(&per_cpu_ptr(flight->cpu, cpu)->pid, FTRACE_FLIGHT_NOBODY, task->pid);
	}
}

/* What &ftrace_flight.thresh is with these options. */
static u64 flight_thresh(u32 opts)
{
	if (!(opts & OPT_TIME) || !(opts & OPT_RETURNS))
		return 0;
	return arch_ftrace_cycles_of(READ_ONCE(tracing_thresh));
}

static struct ftrace_flight *flight_make(struct trace_array *tr, u32 opts)
{
	struct ftrace_flight *flight = ftrace_flight_make(tr->flight_size ?: default_size, tr->name,
							  opts & OPT_TIME);

	/* Somebody may take a snapshot before the next look at the file. */
	if (flight && tr->flight_spare && !flight->persistent && ftrace_flight_make_spare(flight)) {
		ftrace_flight_put(flight);
		return NULL;
	}
	if (!flight)
		return NULL;
	if (opts & OPT_RETURNS && ftrace_pid_make_guard(tr)) {
		ftrace_flight_put(flight);
		return NULL;
	}
	flight->returns = opts & OPT_RETURNS;
	scoped_guard(mutex, &ftrace_lock)
		flight->guard = flight->returns ? ftrace_guard_get(tr->function_guard) : NULL;
	flight->thresh = flight_thresh(opts);
	if (flight->persistent)
		ftrace_flight_mods_keep(ftrace_flight_keep_mods(), false);
	if (flight->returns && !flight->timed && tracing_thresh)
		pr_warn("flight: without flight-time, quick calls are recorded, too\n");
	return flight;
}

static void flight_keep(struct trace_array *tr, const struct ftrace_flight *flight)
{
	if (flight->persistent)
		ftrace_flight_keep_start(flight, arch_ftrace_cycles_of(NSEC_PER_SEC),
					 arch_ftrace_clock_is_cycles(trace_clock_func(tr)));
}

/* Starts a recorder, also one that has been stopped. If that fails, its reference is dropped. */
static int flight_start(struct trace_array *tr, struct ftrace_flight *flight)
{
	int ret;

	if (!flight->start.cycles)
		flight->start = ftrace_flight_stamp_now(tr);
	tr->ops->flight = flight;
	ret = flight_watch(flight);
	if (ret)
		goto no_watch;
	ret = flight->returns ? ftrace_flight_returns_start(flight) : 0;
	if (ret)
		goto no_returns;
	ret = register_ftrace_function(tr->ops);
	if (ret)
		goto no_calls;
	flight_first_tasks(flight);
	flight_keep(tr, flight);
	WRITE_ONCE(tr->flight, flight);
	ring_buffer_set_flight(tr->array_buffer.buffer, flight);
	trace_flight_switched(tr);
	return 0;

no_calls:
	if (flight->returns)
		ftrace_flight_returns_stop(flight);
no_returns:
	flight_unwatch(flight);
no_watch:
	tr->ops->flight = NULL;
	ftrace_flight_put(flight);
	return ret;
}

/* Shows what the last kernel recorded: there is nothing to stop. */
static int flight_show_last(struct trace_array *tr)
{
	unsigned int other = ftrace_flight_check_last();
	struct ftrace_flight *flight = ftrace_flight_make_last(tr->name);

	if (!flight)
		return -ENOMEM;
	flight->other = other;
	ftrace_flight_mods_keep(ftrace_flight_keep_mods(), true);
	WRITE_ONCE(tr->flight, flight);
	return 0;
}

static void flight_stop(struct trace_array *tr)
{
	struct ftrace_flight *flight = tr->flight;

	/* No memory, when an option was changed. */
	if (!flight)
		return;
	if (flight->last) {
		WRITE_ONCE(tr->flight, NULL);
		ftrace_flight_put(flight);
		return;
	}
	ftrace_flight_off(flight, true);
	unregister_ftrace_function(tr->ops);
	if (flight->returns)
		ftrace_flight_returns_stop(flight);
	flight_unwatch(flight);
	WRITE_ONCE(tr->flight, NULL);
	/* Pairs with trace_flight_snapshot(). */
	smp_mb();
	ring_buffer_set_flight(READ_ONCE(tr->array_buffer.buffer), NULL);
	WRITE_ONCE(tr->ops->flight, NULL);
	ftrace_flight_put(flight);
}

static int flight_tracer_init(struct trace_array *tr)
{
	struct ftrace_flight *flight;
	int ret;

	if (!tr->ops)
		return -ENOMEM;
	if (ftrace_flight_found(tr->name))
		return flight_show_last(tr);
	ret = flight_check_clock(trace_clock_func(tr));
	if (ret)
		return ret;
	if (!arch_ftrace_cycles_usable())
		pr_warn("flight: the time stamp counter is not stable, and times may be wrong\n");

	flight = flight_make(tr, tr->current_trace_flags->val);
	if (!flight)
		return -ENOMEM;

	ftrace_init_array_ops(tr, ftrace_flight_func);
	ret = flight_start(tr, flight);
	if (ret)
		ftrace_reset_array_ops(tr);
	return ret;
}

static void flight_tracer_reset(struct trace_array *tr)
{
	flight_stop(tr);
	ftrace_reset_array_ops(tr);
}

static u32 flight_opts_of(const struct ftrace_flight *flight)
{
	return (flight->timed ? OPT_TIME : 0) | (flight->returns ? OPT_RETURNS : 0);
}

/*
 * A record has one size as long as a recorder runs, so another one takes its place; if it cannot
 * start, the old one goes on. Options of the command line come when the tracer has started.
 */
static int flight_restart(struct trace_array *tr, u32 opts)
{
	struct ftrace_flight *old = tr->flight, *new;
	int ret;

	if (old && flight_opts_of(old) == opts && old->thresh == flight_thresh(opts))
		return 0;
	/* There is one place for rings that outlive the kernel. */
	if (old && old->persistent)
		return -EBUSY;
	new = flight_make(tr, opts);
	if (!new)
		return -ENOMEM;
	ftrace_flight_get(old);
	flight_stop(tr);
	ret = flight_start(tr, new);
	if (!ret)
		ftrace_flight_put(old);
	else if (!old || flight_start(tr, old))
		pr_warn("flight: no memory, and nothing is recorded\n");
	return ret;
}

static int flight_tracer_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	if (tr->current_trace != &flight_tracer)
		return 0;
	return flight_restart(tr, set ? old_flags | bit : old_flags & ~bit);
}

static int flight_tracer_update_thresh(struct trace_array *tr)
{
	return flight_restart(tr, tr->current_trace_flags->val);
}

/* Who reads trace_pipe wants each event once, as it comes, and gets no calls. */
static void flight_tracer_pipe_open(struct trace_iterator *iter)
{
	iter->private = ERR_PTR(-EOPNOTSUPP);
}

/* Tells a flight recorder whether its trace array records. Any context. */
void trace_flight_switched(struct trace_array *tr)
{
	struct ftrace_flight *flight;
	int disabled;

	guard(preempt_notrace)();
	flight = READ_ONCE(tr->flight);
	if (!flight || flight->last)
		return;
	/* Somebody else may switch at the same time. Who is last finds the last value. */
	do {
		disabled = READ_ONCE(tr->buffer_disabled);
		ftrace_flight_off(flight, disabled);
	} while (disabled != READ_ONCE(tr->buffer_disabled));
	if (disabled)
		flight->stop = ftrace_flight_stamp_now(tr);
}

/*
 * There is no memory for the tracer @name. Rings of recorders that have ended, and the trampolines
 * that use them, are freed after grace periods. Waits for these if another recorder needs the
 * memory; then it is worth another try, and true is returned. Process context, may sleep; no lock
 * of ftrace_assert_may_wait() held.
 */
bool trace_flight_wait(const char *name)
{
	if (strcmp(name, flight_tracer.name))
		return false;
	ftrace_dispatches_wait();
	ftrace_flight_wait();
	return true;
}

/* Forgets what a flight recorder has recorded on a CPU, or on all. trace_types_lock held. */
void trace_flight_clear(struct trace_array *tr, int which)
{
	struct ftrace_flight *flight = tr->flight;
	bool all = which == RING_BUFFER_ALL_CPUS;
	int cpu;

	lockdep_assert_held(&trace_types_lock);
	if (!flight)
		return;
	/* The clock may be another one. */
	if (all && !flight->last) {
		flight->start = ftrace_flight_stamp_now(tr);
		flight->stop = flight->start;
	}
	/* First: CPUs record times that are later, before their next calls. */
	if (all && flight->last)
		ftrace_flight_keep_forget();
	else if (all)
		flight_keep(tr, flight);
	for_each_possible_cpu(cpu)
		if (all || which == cpu)
			ftrace_flight_clear(flight, cpu);
}

/* Forgets the snapshot of a CPU, or of all. trace_types_lock held. */
void trace_flight_forget(struct trace_array *tr, int which)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (tr->flight && (which == RING_BUFFER_ALL_CPUS || which == cpu))
			ftrace_flight_forget(tr->flight, cpu);
}

/* Memory for snapshots, now and when the tracer starts. 0 or -ENOMEM. trace_types_lock held. */
int trace_flight_spare(struct trace_array *tr)
{
	int ret = 0;

	if (tr->flight && !tr->flight->spare)
		ret = ftrace_flight_make_spare(tr->flight);
	tr->flight_spare = !ret;
	return ret;
}

/* No more snapshots. trace_types_lock held. */
void trace_flight_no_spare(struct trace_array *tr)
{
	tr->flight_spare = false;
	if (tr->flight)
		ftrace_flight_free_spare(tr->flight);
}

/*
 * Takes a snapshot of what a flight recorder has recorded on a CPU, or on all. @taken is the ring
 * buffer that another one has replaced; NULL if only that of the CPU was. Interrupts off.
 */
void trace_flight_snapshot(struct trace_array *tr, struct trace_buffer *taken, int which)
{
	struct ftrace_flight *flight = READ_ONCE(tr->flight), *spare;
	int cpu;

	if (!flight)
		return;
	if (taken) {
		ring_buffer_set_flight(taken, NULL);
		ring_buffer_set_flight(tr->array_buffer.buffer, flight);
		/* Pairs with flight_stop(), which looks for the buffer afterwards. */
		smp_mb();
		if (READ_ONCE(tr->flight) != flight)
			ring_buffer_set_flight(tr->array_buffer.buffer, NULL);
	}
	spare = READ_ONCE(flight->spare);
	if (spare)
		spare->stop = atomic_read(&flight->off) ? flight->stop :
			      ftrace_flight_stamp_now(tr);
	for_each_possible_cpu(cpu)
		if (which == RING_BUFFER_ALL_CPUS || which == cpu)
			ftrace_flight_exchange(flight, cpu);
}

/*
 * May a trace array have a clock? -EINVAL if its recorder cannot compute it. trace_types_lock
 * held.
 */
int trace_flight_clock(struct trace_array *tr, u64 (*clock)(void))
{
	return tr->flight ? flight_check_clock(clock) : 0;
}

static ssize_t flight_size_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	char buf[24];
	int n = scnprintf(buf, sizeof(buf), "%lu\n", (tr->flight_size ?: default_size) / SZ_1K);

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
	if (kb < FTRACE_FLIGHT_MIN_SIZE / SZ_1K || kb > FTRACE_FLIGHT_MAX_SIZE / SZ_1K)
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

/* Creates the files of a trace array. */
void trace_flight_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("flight_size_kb", TRACE_MODE_WRITE, parent, tr, &flight_size_fops);
}

static struct tracer flight_tracer __tracer_data = {
	.name		= "flight",
	.init		= flight_tracer_init,
	.reset		= flight_tracer_reset,
	.open		= ftrace_flight_open,
	.close		= ftrace_flight_close,
	.pipe_open	= flight_tracer_pipe_open,
	.print_header	= ftrace_flight_print_header,
	.print_line	= ftrace_flight_print_line,
	.default_flags	= &flight_flags,
	.set_flag	= flight_tracer_set_flag,
	.update_thresh	= flight_tracer_update_thresh,
	.allow_instances = true,
};

static int __init flight_tracer_register(void)
{
	return register_tracer(&flight_tracer);
}
core_initcall(flight_tracer_register);
