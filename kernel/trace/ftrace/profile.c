// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function profiler: how often each function was called, and for how long.
 *
 * Each CPU has a table of its own with a record for each function, found by
 * hashing the function's address and looking on from there. A record is taken
 * by writing the address into a free one, and is never given back, so that
 * neither needs a lock, in any context. Records survive until the profiler is
 * switched on again, for trace_stat/function<cpu> to show.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../trace_stat.h"
#include "core.h"
#include "profile.h"

struct profile_record {
	unsigned long	ip;
	unsigned long	hits;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	u64		time;
	u64		time_squared;	/* U64_MAX: it was too much */
#endif
};

struct profile {
	struct profile_record	*records;	/* NULL until first used */
	unsigned int		bits;		/* log2 of their number */
	unsigned int		used;
	struct tracer_stat	stat;
};

static DEFINE_PER_CPU(struct profile, profiles);

/* Guards the switch, and the reset of records that comes with it. */
static DEFINE_MUTEX(profile_mutex);
static bool profiling;

/*
 * Find the record of a function. One is taken if there is none and @take is
 * set, unless that would fill the table: there must be a free one to end the
 * search for a function that is not there. Preemption is off.
 */
static struct profile_record *find_record(struct profile *profile,
					  unsigned long ip, bool take)
{
	unsigned int mask = (1U << profile->bits) - 1;
	unsigned int i = hash_long(ip, profile->bits);
	struct profile_record *rec;
	unsigned long taken;

	for (;; i = (i + 1) & mask) {
		rec = &profile->records[i];
		taken = READ_ONCE(rec->ip);
		if (!taken) {
			if (!take || profile->used >= mask - mask / 16)
				return NULL;
			/* An interrupt may have been faster. */
			taken = cmpxchg_local(&rec->ip, 0, ip);
			if (!taken) {
				profile->used++;
				return rec;
			}
		}
		if (taken == ip)
			return rec;
	}
}

/*
 * The profile to count in, NULL if none. Interrupts are off, so that no more is
 * counted once who switched it off has waited for RCU; and they are off without
 * a word to those who trace that, for whom it would be a thing of the function
 * that is being counted.
 */
static struct profile *this_profile(void)
{
	/* Pairs with set_profiling(). */
	return smp_load_acquire(&profiling) ? this_cpu_ptr(&profiles) : NULL;
}

static void count_hit(unsigned long ip)
{
	struct profile_record *rec = NULL;
	struct profile *profile;
	unsigned long flags;

	raw_local_irq_save(flags);
	profile = this_profile();
	if (profile)
		rec = find_record(profile, ip, true);
	if (rec)
		rec->hits++;
	raw_local_irq_restore(flags);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static bool graph_time = true;

/**
 * ftrace_graph_graph_time_control - carry out the option graph-time
 * @enable: the time of a function includes that of the functions it calls
 */
void ftrace_graph_graph_time_control(bool enable)
{
	graph_time = enable;
}

static int profile_entry(struct ftrace_graph_ent *trace,
			 struct fgraph_ops *gops)
{
	struct ftrace_ret_stack *frame;

	count_hit(trace->func);

	frame = ftrace_graph_get_ret_stack(current, 0);
	if (!frame)
		return 0;
	frame->subtime = 0;
	return 1;
}

static void add_time(struct profile_record *rec, u64 time)
{
	u64 squared;

	rec->time += time;
	if (check_mul_overflow(time, time, &squared) ||
	    check_add_overflow(rec->time_squared, squared, &rec->time_squared))
		rec->time_squared = U64_MAX;
}

static void profile_return(struct ftrace_graph_ret *trace,
			   struct fgraph_ops *gops)
{
	/* fgraph has taken off the time asleep, if that is wanted. */
	u64 time = trace->rettime - trace->calltime;
	struct profile_record *rec = NULL;
	struct ftrace_ret_stack *frame;
	struct profile *profile;
	unsigned long flags;

	if (!READ_ONCE(graph_time)) {
		frame = ftrace_graph_get_ret_stack(current, 1);
		if (frame)
			frame->subtime += time;

		frame = ftrace_graph_get_ret_stack(current, 0);
		if (frame)
			time -= min(time, frame->subtime);
	}

	raw_local_irq_save(flags);
	profile = this_profile();
	/* If it was called on another CPU, there may be none on this one. */
	if (profile)
		rec = find_record(profile, trace->func, false);
	if (rec)
		add_time(rec, time);
	raw_local_irq_restore(flags);
}

static struct fgraph_ops profile_ops = {
	.entryfunc	= profile_entry,
	.retfunc	= profile_return,
};

static int start_profiling(void)
{
	ftrace_ops_set_global_filter(&profile_ops.ops);
	return register_ftrace_graph(&profile_ops);
}

static void stop_profiling(void)
{
	unregister_ftrace_graph(&profile_ops);
}

static int compare_records(const void *p1, const void *p2)
{
	const struct profile_record *a = p1, *b = p2;

	return (a->time > b->time) - (a->time < b->time);
}

static int print_headers(struct seq_file *m)
{
	seq_puts(m, "  Function                               Hit    Time            Avg             s^2\n"
		    "  --------                               ---    ----            ---             ---\n");
	return 0;
}

/*
 * The sample variance: the mean of the squares less the square of the mean,
 * times n / (n - 1). With the mean as quotient and remainder of the sum of
 * times, nothing exceeds the sum of squares.
 */
static u64 variance(u64 time, u64 squared, unsigned long n)
{
	u64 mean = div64_ul(time, n);
	u64 rest = time - mean * n;
	u64 square, mean_square;

	if (n < 2)
		return 0;
	if (squared == U64_MAX)
		return U64_MAX;

	mean_square = div64_ul(squared, n);
	square = mean * mean + div64_ul(2 * mean * rest, n);
	/* The CPU that counts may be between the two. */
	if (mean_square < square)
		return 0;
	mean_square -= square;
	return mean_square + div64_ul(mean_square, n - 1);
}

/* As tracing_thresh would have it, in ns, for the average. */
static bool below_threshold(const struct profile_record *rec, unsigned long hits)
{
	return tracing_thresh && div64_ul(rec->time, hits) < tracing_thresh;
}

static void print_times(struct seq_file *m, struct profile_record *rec,
			unsigned long hits)
{
	static struct trace_seq s;	/* too big for the stack */
	u64 time = rec->time;

	lockdep_assert_held(&profile_mutex);

	trace_seq_init(&s);
	trace_seq_puts(&s, "    ");
	trace_print_graph_duration(time, &s);
	trace_seq_puts(&s, "    ");
	trace_print_graph_duration(div64_ul(time, hits), &s);
	trace_seq_puts(&s, "    ");
	/* What it takes to be ns, and shows as us, is a thousandth of ns^2. */
	trace_print_graph_duration(div_u64(variance(time, rec->time_squared, hits),
					   1000), &s);
	trace_print_seq(m, &s);
}
#else
static void profile_call(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	count_hit(ip);
}

static struct ftrace_ops profile_ops = {
	.func	= profile_call,
};

static int start_profiling(void)
{
	ftrace_ops_set_global_filter(&profile_ops);
	return register_ftrace_function(&profile_ops);
}

static void stop_profiling(void)
{
	unregister_ftrace_function(&profile_ops);
}

static int compare_records(const void *p1, const void *p2)
{
	const struct profile_record *a = p1, *b = p2;

	return (a->hits > b->hits) - (a->hits < b->hits);
}

static int print_headers(struct seq_file *m)
{
	seq_puts(m, "  Function                               Hit\n"
		    "  --------                               ---\n");
	return 0;
}

static bool below_threshold(const struct profile_record *rec, unsigned long hits)
{
	return false;
}

static void print_times(struct seq_file *m, struct profile_record *rec,
			unsigned long hits)
{
}
#endif

static int print_record(struct seq_file *m, void *v)
{
	struct profile_record *rec = v;
	char name[KSYM_SYMBOL_LEN];
	unsigned long hits;

	guard(mutex)(&profile_mutex);
	/* It may have been reset since the file was opened. */
	hits = READ_ONCE(rec->hits);
	if (!hits)
		return -EBUSY;
	if (below_threshold(rec, hits))
		return 0;

	kallsyms_lookup(rec->ip, NULL, NULL, NULL, name);
	seq_printf(m, "  %-30.30s  %10lu", name, hits);
	print_times(m, rec, hits);
	seq_putc(m, '\n');
	return 0;
}

/* The first record from the @i-th on that counts something. */
static void *next_record(struct profile *profile, unsigned int i)
{
	for (; profile->records && i < 1U << profile->bits; i++)
		if (READ_ONCE(profile->records[i].hits))
			return &profile->records[i];
	return NULL;
}

static void *first_stat(struct tracer_stat *stat)
{
	return next_record(container_of(stat, struct profile, stat), 0);
}

/* All that it gets is a record: see whose it is. */
static void *next_stat(void *prev, int idx)
{
	struct profile_record *rec = prev;
	struct profile *profile;
	int cpu;

	for_each_possible_cpu(cpu) {
		profile = per_cpu_ptr(&profiles, cpu);
		if (profile->records && rec >= profile->records &&
		    rec < profile->records + (1UL << profile->bits))
			return next_record(profile, rec - profile->records + 1);
	}
	return NULL;
}

static int reset_profile(struct profile *profile, int cpu)
{
	unsigned long functions = ftrace_update_tot_cnt;
	struct profile_record *records;
	unsigned int bits;

	if (profile->records) {
		memset(profile->records, 0,
		       sizeof(*profile->records) << profile->bits);
		profile->used = 0;
		return 0;
	}

	/*
	 * The table stays for good, for readers of trace_stat keep pointers to
	 * records. So leave room for modules.
	 */
	bits = order_base_2(functions + functions / 4 + 16);
	records = kvzalloc_node(sizeof(*records) << bits, GFP_KERNEL,
				cpu_to_node(cpu));
	if (!records)
		return -ENOMEM;

	profile->bits = bits;
	profile->records = records;
	return 0;
}

static int set_profiling(bool on)
{
	int cpu, ret;

	guard(mutex)(&profile_mutex);
	if (on == profiling)
		return 0;

	if (!on) {
		WRITE_ONCE(profiling, false);
		stop_profiling();
		/* The next reset must not meet one that still counts. */
		synchronize_rcu();
		return 0;
	}

	for_each_possible_cpu(cpu) {
		ret = reset_profile(per_cpu_ptr(&profiles, cpu), cpu);
		if (ret)
			return ret;
	}

	/* Who sees this sees the tables. */
	smp_store_release(&profiling, true);
	ret = start_profiling();
	if (ret)
		WRITE_ONCE(profiling, false);
	return ret;
}

static ssize_t profile_read(struct file *file, char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	const char *state = READ_ONCE(profiling) ? "1\n" : "0\n";

	return simple_read_from_buffer(ubuf, cnt, ppos, state, 2);
}

static ssize_t profile_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	unsigned long on;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &on);
	if (!ret)
		ret = set_profiling(on);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations profile_fops = {
	.open	= tracing_open_generic,
	.read	= profile_read,
	.write	= profile_write,
	.llseek	= default_llseek,
};

/**
 * ftrace_profile_tracefs - make the files of the function profiler
 * @d_tracer: the top directory of tracefs
 *
 * Context: Boot.
 */
__init void ftrace_profile_tracefs(struct dentry *d_tracer)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tracer_stat *stat = &per_cpu(profiles, cpu).stat;

		stat->name = kasprintf(GFP_KERNEL, "function%d", cpu);
		if (!stat->name)
			break;
		stat->stat_start = first_stat;
		stat->stat_next = next_stat;
		stat->stat_cmp = compare_records;
		stat->stat_show = print_record;
		stat->stat_headers = print_headers;
		if (register_stat_tracer(stat)) {
			pr_warn("no profile of the functions of CPU %d\n", cpu);
			kfree(stat->name);
			break;
		}
	}

	trace_create_file("function_profile_enabled", TRACE_MODE_WRITE, d_tracer,
			  NULL, &profile_fops);
}
