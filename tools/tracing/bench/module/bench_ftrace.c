// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_ftrace: what a kernel user of function tracing pays, measured from inside.
 *
 * The module has functions to trace, empty callbacks to trace them with, and a command file:
 *
 *	echo COMMAND > /sys/module/bench_ftrace/parameters/run
 *	cat /sys/module/bench_ftrace/parameters/result
 *
 * The result is the time of the command's measured part as two numbers, TSC ticks and nanoseconds, or what the
 * command's line below says. Only API that is the same in every kernel under comparison is used, and the module
 * itself is notrace: with all sites enabled it measures the kernel, not its own tracing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <asm/ibt.h>
#include <asm/linkage.h>
#include <asm/tsc.h>

#include "base.h"

#define NR_OPS	1100

/* A thousand functions of one ops each, in a table. */
#define FUNC(n)		static noinline void bench_fn_##n(void) { asm volatile(""); }
#define FUNC10(n)	FUNC(n##0) FUNC(n##1) FUNC(n##2) FUNC(n##3) FUNC(n##4) \
			FUNC(n##5) FUNC(n##6) FUNC(n##7) FUNC(n##8) FUNC(n##9)
#define FUNC100(n)	FUNC10(n##0) FUNC10(n##1) FUNC10(n##2) FUNC10(n##3) FUNC10(n##4) \
			FUNC10(n##5) FUNC10(n##6) FUNC10(n##7) FUNC10(n##8) FUNC10(n##9)
#define NAME(n)		bench_fn_##n,
#define NAME10(n)	NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) \
			NAME(n##5) NAME(n##6) NAME(n##7) NAME(n##8) NAME(n##9)
#define NAME100(n)	NAME10(n##0) NAME10(n##1) NAME10(n##2) NAME10(n##3) NAME10(n##4) \
			NAME10(n##5) NAME10(n##6) NAME10(n##7) NAME10(n##8) NAME10(n##9)

FUNC100(0) FUNC100(1) FUNC100(2) FUNC100(3) FUNC100(4)
FUNC100(5) FUNC100(6) FUNC100(7) FUNC100(8) FUNC100(9)

static void (*const each[])(void) = {
	NAME100(0) NAME100(1) NAME100(2) NAME100(3) NAME100(4)
	NAME100(5) NAME100(6) NAME100(7) NAME100(8) NAME100(9)
};

static noinline void bench_target(void)
{
	asm volatile("");
}

static noinline void bench_other(void)
{
	asm volatile("");
}

static void notrace bench_callback(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/* What a site calls directly: it has only to return. */
void bench_direct(void);
asm(".pushsection .text, \"ax\"\n"
    ".type bench_direct, @function\n"
    "bench_direct:\n"
    ASM_ENDBR
    ASM_RET
    ".size bench_direct, . - bench_direct\n"
    ".popsection\n");

static struct ftrace_ops ops[NR_OPS];
static char result[64];

struct span {
	u64 ticks;
	u64 ns;
};

static notrace void span_start(struct span *span)
{
	span->ns = ktime_get_mono_fast_ns();
	span->ticks = rdtsc_ordered();
}

static notrace void span_end(struct span *span)
{
	u64 ticks = rdtsc_ordered() - span->ticks;
	u64 ns = ktime_get_mono_fast_ns() - span->ns;

	snprintf(result, sizeof(result), "%llu %llu\n", ticks, ns);
}

/*
 * "prepare FIRST COUNT each|target|other|all [regs] [recursion] [direct] [own]": filters set, nothing registered. Own: as a BPF
 * trampoline, which waits for its code itself and, where it can, tells function tracing not to.
 */
static notrace int prepare(unsigned int first, unsigned int count, const char *where,
			   const char *how)
{
	unsigned int i;
	int ret;

	for (i = first; i < first + count; i++) {
		void *func = bench_target;

		if (!strcmp(where, "each"))
			func = each[i % ARRAY_SIZE(each)];
		else if (!strcmp(where, "other"))
			func = bench_other;
		ftrace_free_filter(&ops[i]);
		memset(&ops[i], 0, sizeof(ops[i]));
		/* A direct caller's ops gets its function from the core. */
		if (!strstr(how, "direct"))
			ops[i].func = bench_callback;
		if (strstr(how, "regs"))
			ops[i].flags |= FTRACE_OPS_FL_SAVE_REGS;
		if (strstr(how, "recursion"))
			ops[i].flags |= FTRACE_OPS_FL_RECURSION;
#ifdef BENCH_OWN_WAIT
		if (strstr(how, "own"))
			ops[i].flags |= FTRACE_OPS_FL_OWN_WAIT;
#endif
		if (!strcmp(where, "all"))
			continue;
		ret = ftrace_set_filter_ip(&ops[i], (unsigned long)func, 0, 0);
		if (ret)
			return ret;
	}
	return 0;
}

/* "register|unregister|all|direct|undirect FIRST COUNT"; all: what is registered gets all functions. */
static notrace int change(const char *verb, unsigned int first, unsigned int count)
{
	unsigned long direct = (unsigned long)bench_direct;
	struct span span;
	unsigned int i;
	int ret = 0;

	span_start(&span);
	for (i = first; i < first + count && !ret; i++) {
		if (!strcmp(verb, "register"))
			ret = register_ftrace_function(&ops[i]);
		else if (!strcmp(verb, "unregister"))
			ret = unregister_ftrace_function(&ops[i]);
		else if (!strcmp(verb, "all"))
			ret = ftrace_set_filter(&ops[i], NULL, 0, 1);
		else if (!strcmp(verb, "direct"))
			ret = register_ftrace_direct(&ops[i], direct);
		else
			ret = unregister_ftrace_direct(&ops[i], direct, false);
	}
	span_end(&span);
	return ret;
}

/* "call COUNT": with interrupts off, so that nothing else is counted. */
static notrace void call(unsigned int count)
{
	unsigned long flags;
	struct span span;
	unsigned int i;

	local_irq_save(flags);
	span_start(&span);
	for (i = 0; i < count; i++)
		bench_target();
	span_end(&span);
	local_irq_restore(flags);
}

/*
 * "late on PERIOD-NS", "late off": a timer on the CPU of the caller, and the most nanoseconds it ever came too late: the longest
 * stretch that this CPU had interrupts off.
 */
static struct hrtimer late_timer;
static u64 late_period, late_max;

static notrace enum hrtimer_restart late_fire(struct hrtimer *timer)
{
	s64 late = ktime_to_ns(ktime_sub(ktime_get(), hrtimer_get_expires(timer)));

	if (late > (s64)late_max)
		late_max = late;
	hrtimer_forward_now(timer, ns_to_ktime(late_period));
	return HRTIMER_RESTART;
}

static notrace void late(const char *how, unsigned int period)
{
	if (!strcmp(how, "on")) {
		late_max = 0;
		late_period = max(period, 5000U);
		bench_timer_init(&late_timer, late_fire, HRTIMER_MODE_REL_PINNED_HARD);
		hrtimer_start(&late_timer, ns_to_ktime(late_period),
			      HRTIMER_MODE_REL_PINNED_HARD);
	} else if (late_period) {
		hrtimer_cancel(&late_timer);
		late_period = 0;
		snprintf(result, sizeof(result), "%llu %llu\n", late_max, late_max);
	}
}

static notrace int run_set(const char *text, const struct kernel_param *kp)
{
	char verb[16], word[16];
	unsigned int first, count = 0;

	if (sscanf(text, "prepare %u %u %15s", &first, &count, word) == 3) {
		if (first >= NR_OPS || count > NR_OPS - first)
			return -EINVAL;
		return prepare(first, count, word, text);
	}
	if (sscanf(text, "call %u", &count) == 1) {
		call(count);
		return 0;
	}
	if (sscanf(text, "late %15s %u", word, &count) >= 1) {
		late(word, count);
		return 0;
	}
	if (sscanf(text, "%15s %u %u", verb, &first, &count) == 3) {
		if (first >= NR_OPS || count > NR_OPS - first)
			return -EINVAL;
		return change(verb, first, count);
	}
	return -EINVAL;
}

static notrace int result_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", result);
}

static const struct kernel_param_ops run_ops = { .set = run_set };
static const struct kernel_param_ops result_ops = { .get = result_get };

module_param_cb(run, &run_ops, NULL, 0200);
module_param_cb(result, &result_ops, NULL, 0400);

static int __init bench_init(void)
{
	bench_other();
	return 0;
}

static void __exit bench_exit(void)
{
	late("off", 0);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Benchmarks of function tracing");
MODULE_LICENSE("GPL");
