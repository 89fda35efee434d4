// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function profiler: how often each function was called, and for how long.
 *
 * Each CPU has a table with one record for each function, found by hashing the
 * address of the function and searching on from there. A record is taken by writing
 * the address into a free record, and is never given back. So neither the search nor
 * the taking needs a lock, in any context. Records stay until the profiler is
 * switched on again, so that trace_stat/function<cpu> can show them.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/sections.h>

#include "../trace_stat.h"
#include "core.h"
#include "profile.h"
#include "wait.h"

struct profile_record {
	unsigned long	ip;
	unsigned long	hits;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	u64		time;
	u64		time_squared;	/* U64_MAX: overflow */
#endif
};

struct profile {
	struct profile_record	*records;	/* NULL until first used */
	unsigned int		bits;		/* log2 of the number of records */
	unsigned int		used;
	struct tracer_stat	stat;
};

static DEFINE_PER_CPU(struct profile, profiles);

/* Guards the switch, and the reset of records that comes with it. */
static DEFINE_MUTEX(profile_mutex);
static bool profiling;

/*
 * Find the record of a function. If there is none and @take is set, take a free
 * record, unless that would fill the table: the search for a function without a
 * record ends at a free record. Preemption is off.
 */
static struct profile_record *profile_find_record(struct profile *profile,
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
			/* An interrupt may have taken the record first. */
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
 * Get the record to count in, NULL if profiling is off. The caller has interrupts
 * off: when profiling is switched off, waiting for RCU ends the counting. The caller
 * switches them off without tracing: a tracer of interrupts-off times would blame
 * the function that is being counted.
 */
static struct profile_record *profile_this(unsigned long ip, bool take)
{
	/* Pairs with profile_set(). */
	if (!smp_load_acquire(&profiling))
		return NULL;
	return profile_find_record(this_cpu_ptr(&profiles), ip, take);
}

/* Counts a call of the function at @ip. Any context. */
void ftrace_profile_hit(unsigned long ip)
{
	struct profile_record *rec;
	unsigned long flags;

	raw_local_irq_save(flags);
	rec = profile_this(ip, true);
	if (rec)
		rec->hits++;
	raw_local_irq_restore(flags);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
bool ftrace_profile_children = true;

/* Carries out the option graph-time: the time of a function includes that of those it calls. */
void ftrace_graph_graph_time_control(bool enable)
{
	ftrace_profile_children = enable;
}

static void profile_add_time(struct profile_record *rec, u64 time)
{
	u64 squared;

	rec->time += time;
	if (check_mul_overflow(time, time, &squared) ||
	    check_add_overflow(rec->time_squared, squared, &rec->time_squared))
		rec->time_squared = U64_MAX;
}

/* Adds the time in ns that a call of the function at @ip took. Any context. */
void ftrace_profile_time(unsigned long ip, u64 time)
{
	struct profile_record *rec;
	unsigned long flags;

	raw_local_irq_save(flags);
	/* If the function was called on another CPU, this CPU may have no record. */
	rec = profile_this(ip, false);
	if (rec)
		profile_add_time(rec, time);
	raw_local_irq_restore(flags);
}

static int profile_start(void)
{
	ftrace_ops_set_global_filter(&ftrace_profile_graph.ops);
	return register_ftrace_graph(&ftrace_profile_graph);
}

static void profile_stop(void)
{
	unregister_ftrace_graph(&ftrace_profile_graph);
}

static int profile_compare_records(const void *p1, const void *p2)
{
	const struct profile_record *a = p1, *b = p2;

	return (a->time > b->time) - (a->time < b->time);
}

static int profile_print_headers(struct seq_file *m)
{
	seq_puts(m, "  Function                               Hit    Time            Avg             s^2\n"
		    "  --------                               ---    ----            ---             ---\n");
	return 0;
}

/*
 * The sample variance: (mean of the squares - square of the mean) * n / (n - 1). The
 * mean is kept as quotient and remainder of the sum of times, so that no
 * intermediate value exceeds the sum of squares.
 */
static u64 profile_variance(u64 time, u64 squared, unsigned long n)
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
	/* The counting CPU may have updated only one of the two sums. */
	if (mean_square < square)
		return 0;
	mean_square -= square;
	return mean_square + div64_ul(mean_square, n - 1);
}

/* Is the average below tracing_thresh, which is in ns? */
static bool profile_below_threshold(const struct profile_record *rec, unsigned long hits)
{
	return tracing_thresh && div64_ul(rec->time, hits) < tracing_thresh;
}

static void profile_print_times(struct seq_file *m, struct profile_record *rec,
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
	/* trace_print_graph_duration() takes ns and prints us, so pass ns^2 / 1000. */
	trace_print_graph_duration(div_u64(profile_variance(time, rec->time_squared, hits),
					   1000), &s);
	trace_print_seq(m, &s);
}
#else
static void profile_call(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	ftrace_profile_hit(ip);
}

static struct ftrace_ops profile_ops = {
	.func	= profile_call,
};

static int profile_start(void)
{
	ftrace_ops_set_global_filter(&profile_ops);
	return register_ftrace_function(&profile_ops);
}

static void profile_stop(void)
{
	unregister_ftrace_function(&profile_ops);
}

static int profile_compare_records(const void *p1, const void *p2)
{
	const struct profile_record *a = p1, *b = p2;

	return (a->hits > b->hits) - (a->hits < b->hits);
}

static int profile_print_headers(struct seq_file *m)
{
	seq_puts(m, "  Function                               Hit\n"
		    "  --------                               ---\n");
	return 0;
}

static bool profile_below_threshold(const struct profile_record *rec, unsigned long hits)
{
	return false;
}

static void profile_print_times(struct seq_file *m, struct profile_record *rec,
				unsigned long hits)
{
}
#endif

/*
 * The name of a function. With the option prof-text-offset, it is the offset from the start
 * of the text, which tools can find in the object file.
 */
static void profile_name(char *name, unsigned long ip)
{
	struct trace_array *tr = trace_get_global_array();
	struct module *mod;

	if (tr && tr->trace_flags & TRACE_ITER(PROF_TEXT_OFFSET)) {
		if (core_kernel_text(ip)) {
			snprintf(name, KSYM_SYMBOL_LEN, "  _text+%#lx", ip - (unsigned long)_text);
			return;
		}
		guard(rcu)();
		mod = __module_text_address(ip);
		if (mod) {
			snprintf(name, KSYM_SYMBOL_LEN, "  %s+%#lx", mod->name,
				 ip - (unsigned long)mod->mem[MOD_TEXT].base);
			return;
		}
	}
	kallsyms_lookup(ip, NULL, NULL, NULL, name);
}

static int profile_print_record(struct seq_file *m, void *v)
{
	struct profile_record *rec = v;
	char name[KSYM_SYMBOL_LEN];
	unsigned long hits;

	guard(mutex)(&profile_mutex);
	/* The record may have been reset since the file was opened. */
	hits = READ_ONCE(rec->hits);
	if (!hits)
		return -EBUSY;
	if (profile_below_threshold(rec, hits))
		return 0;

	profile_name(name, rec->ip);
	seq_printf(m, "  %-30.30s  %10lu", name, hits);
	profile_print_times(m, rec, hits);
	seq_putc(m, '\n');
	return 0;
}

/* Find the first record with a count, from the @i-th record on. */
static void *profile_next_record(struct profile *profile, unsigned int i)
{
	for (; profile->records && i < 1U << profile->bits; i++)
		if (READ_ONCE(profile->records[i].hits))
			return &profile->records[i];
	return NULL;
}

static void *profile_first_stat(struct tracer_stat *stat)
{
	return profile_next_record(container_of(stat, struct profile, stat), 0);
}

/* Only the record is passed, so first find the CPU that it belongs to. */
static void *profile_next_stat(void *prev, int idx)
{
	struct profile_record *rec = prev;
	struct profile *profile;
	int cpu;

	for_each_possible_cpu(cpu) {
		profile = per_cpu_ptr(&profiles, cpu);
		if (profile->records && rec >= profile->records &&
		    rec < profile->records + (1UL << profile->bits))
			return profile_next_record(profile, rec - profile->records + 1);
	}
	return NULL;
}

static int profile_reset(struct profile *profile, int cpu)
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
	 * The table is never freed, because readers of trace_stat keep pointers to
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

static int profile_set(bool on)
{
	int cpu, ret;

	guard(mutex)(&profile_mutex);
	if (on == profiling)
		return 0;

	if (!on) {
		WRITE_ONCE(profiling, false);
		profile_stop();
		/* A CPU must not count any more when the next reset comes. */
		ftrace_wait_rcu();
		return 0;
	}

	for_each_possible_cpu(cpu) {
		ret = profile_reset(per_cpu_ptr(&profiles, cpu), cpu);
		if (ret)
			return ret;
	}

	/* A CPU that sees this also sees the tables. Pairs with profile_this(). */
	smp_store_release(&profiling, true);
	ret = profile_start();
	if (ret) {
		WRITE_ONCE(profiling, false);
		/* A task that was in a trampoline since the last run may be counting. */
		ftrace_wait_rcu();
	}
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
		ret = profile_set(on);
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

/* Creates the files of the function profiler. */
__init void ftrace_profile_tracefs(struct dentry *d_tracer)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tracer_stat *stat = &per_cpu(profiles, cpu).stat;

		stat->name = kasprintf(GFP_KERNEL, "function%d", cpu);
		if (!stat->name)
			break;
		stat->stat_start = profile_first_stat;
		stat->stat_next = profile_next_stat;
		stat->stat_cmp = profile_compare_records;
		stat->stat_show = profile_print_record;
		stat->stat_headers = profile_print_headers;
		if (register_stat_tracer(stat)) {
			pr_warn("no profile of the functions of CPU %d\n", cpu);
			kfree(stat->name);
			break;
		}
	}

	trace_create_file("function_profile_enabled", TRACE_MODE_WRITE, d_tracer,
			  NULL, &profile_fops);
}
