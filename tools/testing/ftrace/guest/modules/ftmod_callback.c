// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives the in-kernel API of the function tracer: ops, filters, callbacks. It uses what all kernels
 * have, so that it also runs on the base.
 *
 * There are two kinds of tests. A write to "step" does one API call on one of four ops and returns
 * the error to the writer, so the script decides the order of calls and sees the exact errno;
 * "hits" says how often each ops was called. A write to "run" does a whole test, about what the
 * callback sees (registers, stack, parent); "result" has a line for each check.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "run.h"

static noinline __noclone long ftmod_cb_one(long a, long b)
{
	barrier();
	return 1000 + 10 * a + b;
}

static noinline __noclone long ftmod_cb_two(long a, long b)
{
	barrier();
	return 2000 + 10 * a + b;
}

static noinline __noclone long ftmod_cb_many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	barrier();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static noinline __noclone long ftmod_cb_outer(long a)
{
	return ftmod_cb_one(a, 1) + 1;
}

/* The ops of "step" and "run". */

struct test_ops {
	struct ftrace_ops ops;
	atomic_t hits;
	/* What the last call saw. */
	unsigned long ip;
	unsigned long parent_ip;
	bool full_regs;
	long args[6];
	unsigned long return_ip;
	unsigned long regs_ip;
};

static void notrace count_hit(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	struct test_ops *t = container_of(op, struct test_ops, ops);

	atomic_inc(&t->hits);
	WRITE_ONCE(t->ip, ip);
	WRITE_ONCE(t->parent_ip, parent_ip);
}

static void notrace look_at_regs(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				 struct ftrace_regs *fregs)
{
	struct test_ops *t = container_of(op, struct test_ops, ops);
	int i;

	count_hit(ip, parent_ip, op, fregs);
	t->full_regs = ftrace_get_regs(fregs);
	for (i = 0; i < ARRAY_SIZE(t->args); i++)
		t->args[i] = ftrace_regs_get_argument(fregs, i);
	t->return_ip = *(unsigned long *)ftrace_regs_get_stack_pointer(fregs);
	t->regs_ip = ftrace_regs_get_instruction_pointer(fregs);
}

static void notrace change_first_argument(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
					  struct ftrace_regs *fregs)
{
	count_hit(ip, parent_ip, op, fregs);
	if (IS_ENABLED(CONFIG_X86_64))
		ftrace_get_regs(fregs)->di = 7;
	else
		ftrace_get_regs(fregs)->ax = 7;
}

/* Calls the function that it traces: without recursion protection the stack would overflow. */
static void notrace call_again(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	count_hit(ip, parent_ip, op, fregs);
	ftmod_cb_one(0, 0);
}

/*
 * Calls a function that others trace: then the trampoline of this callback is in the middle of the
 * stack.
 */
static void notrace call_one(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
	count_hit(ip, parent_ip, op, fregs);
	ftmod_cb_one(0, 0);
}

static unsigned long stack[32];
static unsigned int stack_len;

static void notrace save_stack(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	count_hit(ip, parent_ip, op, fregs);
	stack_len = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
}

/* A glob is taken apart in place, so no string constant may be passed on. */
static int set_filter(struct test_ops *t, const char *name, bool reset)
{
	unsigned char copy[KSYM_NAME_LEN];

	strscpy(copy, name);
	return ftrace_set_filter(&t->ops, copy, strlen(copy), reset);
}

static int start_ops(struct test_ops *t, ftrace_func_t func, unsigned long flags, const char *name)
{
	int ret;

	memset(t, 0, sizeof(*t));
	t->ops.func = func;
	t->ops.flags = flags;
	ret = set_filter(t, name, true);
	if (!ret)
		ret = register_ftrace_function(&t->ops);
	if (ret) {
		check(false, "start on %s: error %d", name, ret);
		ftrace_free_filter(&t->ops);
	}
	return ret;
}

static void stop_ops(struct test_ops *t)
{
	int ret = unregister_ftrace_function(&t->ops);

	if (ret)
		check(false, "stop: error %d", ret);
	ftrace_free_filter(&t->ops);
}

static bool in_function(unsigned long addr, const char *name)
{
	char sym[KSYM_SYMBOL_LEN];

	snprintf(sym, sizeof(sym), "%ps", (void *)addr);
	/* "name [module]" */
	return str_has_prefix(sym, name) && strchr(" ", sym[strlen(name)]);
}

static bool in_syscall_entry(unsigned long addr)
{
	return in_function(addr, "do_syscall_64") || in_function(addr, "do_int80_syscall_32") ||
	       in_function(addr, "do_fast_syscall_32");
}

static struct test_ops tests[2];

static void check_regs(struct test_ops *t, const char *what, bool full)
{
	long got = ftmod_cb_many(11, 12, 13, 14, 15, 16, 17, 18);

	check(got == 11 + 24 + 39 + 56 + 75 + 96 + 119 + 144, "%s: the function gets its 8 arguments", what);
	check(t->args[0] == 11 && t->args[1] == 12 && t->args[2] == 13 && t->args[3] == 14 && t->args[4] == 15 &&
	      t->args[5] == 16, "%s: the callback sees the 6 in registers", what);
	check(t->full_regs == full, "%s: full pt_regs %s", what, full ? "given" : "not given");
	check(in_function(t->regs_ip, "ftmod_cb_many"), "%s: regs->ip is in the function: %ps", what,
	      (void *)t->regs_ip);
	check(t->return_ip == t->parent_ip, "%s: the stack pointer points to the return address", what);
}

static void run_regs(void)
{
	struct test_ops *a = &tests[0], *b = &tests[1];
	long got;

	if (start_ops(a, look_at_regs, 0, "ftmod_cb_many"))
		return;
	check_regs(a, "no flags", false);
	if (start_ops(b, look_at_regs, FTRACE_OPS_FL_SAVE_REGS, "ftmod_cb_many"))
		return;
	check_regs(b, "SAVE_REGS beside another ops", true);
	stop_ops(a);
	check_regs(b, "SAVE_REGS alone", true);
	stop_ops(b);
	if (start_ops(a, look_at_regs, FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED, "ftmod_cb_many"))
		return;
	check_regs(a, "SAVE_REGS if supported", true);
	stop_ops(a);

	if (start_ops(a, change_first_argument, FTRACE_OPS_FL_SAVE_REGS, "ftmod_cb_one"))
		return;
	got = ftmod_cb_one(1, 2);
	check(got == 1072, "a changed argument register reaches the function: %ld", got);
	stop_ops(a);
}

static void run_recursion(void)
{
	struct test_ops *a = &tests[0], *b = &tests[1];
	int hits;

	if (start_ops(a, call_again, FTRACE_OPS_FL_RECURSION, "ftmod_cb_one"))
		return;
	ftmod_cb_one(1, 1);
	hits = atomic_read(&a->hits);
	/*
	 * One more level is allowed, because an interrupt in the middle of the bookkeeping looks
	 * the same.
	 */
	check(hits >= 1 && hits <= 2, "RECURSION alone: no endless recursion, %d hits", hits);
	if (start_ops(b, count_hit, 0, "ftmod_cb_one"))
		return;
	atomic_set(&a->hits, 0);
	ftmod_cb_one(1, 1);
	hits = atomic_read(&a->hits);
	check(hits >= 1 && hits <= 2, "RECURSION beside another: no endless recursion, %d hits", hits);
	check(atomic_read(&b->hits) >= 1, "an ops beside one with RECURSION is called: %d hits", atomic_read(&b->hits));
	stop_ops(b);
	stop_ops(a);
	if (start_ops(a, count_hit, FTRACE_OPS_FL_RCU, "ftmod_cb_one"))
		return;
	ftmod_cb_one(1, 1);
	check(atomic_read(&a->hits) == 1, "RCU: called once, %d hits", atomic_read(&a->hits));
	stop_ops(a);
}

static void check_stack(const char *what)
{
	int one = -1, outer = -1, entry = -1, i;

	ftmod_cb_outer(1);
	for (i = 0; i < stack_len; i++) {
		if (one < 0 && in_function(stack[i], "ftmod_cb_one"))
			one = i;
		if (outer < 0 && in_function(stack[i], "ftmod_cb_outer"))
			outer = i;
		if (entry < 0 && in_syscall_entry(stack[i]))
			entry = i;
	}
	check(one >= 0, "%s: the stack holds the traced function", what);
	check(outer >= 0 && outer == one + 1, "%s: and its caller right above it", what);
	check(entry > outer, "%s: and goes on to the system call", what);
	for (i = 0; i < stack_len && (one < 0 || outer != one + 1 || entry < outer); i++)
		note("# %pS", (void *)stack[i]);
}

static void run_stack(void)
{
	struct test_ops *a = &tests[0], *b = &tests[1];

	if (start_ops(a, save_stack, 0, "ftmod_cb_one"))
		return;
	check_stack("one ops");
	if (start_ops(b, count_hit, 0, "ftmod_cb_one"))
		return;
	check_stack("two ops");
	stop_ops(a);
	stop_ops(b);
	if (start_ops(a, save_stack, FTRACE_OPS_FL_SAVE_REGS, "ftmod_cb_one"))
		return;
	check_stack("SAVE_REGS");
	if (start_ops(b, count_hit, 0, "ftmod_cb_one"))
		return;
	check_stack("SAVE_REGS and another");
	stop_ops(a);
	stop_ops(b);
	if (start_ops(a, save_stack, FTRACE_OPS_FL_RECURSION, "ftmod_cb_one"))
		return;
	check_stack("RECURSION");
	stop_ops(a);
}

#ifdef CONFIG_FPROBE
static bool exit_begun, exit_done;

/* The type of @regs depends on the version of Linux. */
static void notrace stay_at_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, void *regs,
				 void *data)
{
	unsigned long end = jiffies + HZ / 2;

	WRITE_ONCE(exit_begun, true);
	while (time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(exit_done, true);
}

static int call_one_once(void *unused)
{
	return ftmod_cb_one(1, 1) == 0;
}

static void run_fprobe(void)
{
	static struct fprobe probe = { .exit_handler = (void *)stay_at_exit };
	int ret;

	/* An exit handler cannot be preempted. */
	if (num_online_cpus() < 2) {
		note("ok # SKIP the only CPU cannot hold a task in an exit handler");
		return;
	}
	ret = register_fprobe(&probe, "ftmod_cb_one", NULL);
	check(!ret, "an fprobe with an exit handler: %d", ret);
	if (ret)
		return;
	if (!IS_ERR(kthread_run(call_one_once, NULL, "ftmod_callback")))
		for (int i = 0; i < 1000 && !READ_ONCE(exit_begun); i++)
			msleep(20);
	check(exit_begun, "a task is in the exit handler");
	unregister_fprobe(&probe);
	check(exit_done, "unregistering the fprobe waits for it");
}
#else
static void run_fprobe(void)
{
	note("ok # SKIP no fprobes in this kernel");
}
#endif

const struct run runs[] = {
	{ "regs", run_regs },
	{ "recursion", run_recursion },
	{ "stack", run_stack },
	{ "fprobe", run_fprobe },
	{ }
};

/* Single steps. */

static struct test_ops steps[4];

static int step_set(const char *val, const struct kernel_param *kp)
{
	char verb[16], arg[64] = "";
	struct test_ops *t;
	unsigned int n;
	char *name = arg;

	if (sscanf(val, "%u %15s %63s", &n, verb, arg) < 2 || n >= ARRAY_SIZE(steps))
		return -EINVAL;
	t = &steps[n];
	if (!t->ops.func)
		t->ops.func = count_hit;

	if (!strcmp(verb, "filter"))
		return ftrace_set_filter(&t->ops, name, strlen(name), 1);
	if (!strcmp(verb, "flags"))
		return kstrtoul(arg, 16, &t->ops.flags);
	if (!strcmp(verb, "nested")) {
		t->ops.func = call_one;
		return 0;
	}
	if (!strcmp(verb, "register"))
		return register_ftrace_function(&t->ops);
	if (!strcmp(verb, "unregister"))
		return unregister_ftrace_function(&t->ops);
	if (!strcmp(verb, "forget")) {
		if (t->ops.flags & FTRACE_OPS_FL_ENABLED)
			return -EBUSY;
		ftrace_free_filter(&t->ops);
		memset(t, 0, sizeof(*t));
		return 0;
	}
	if (strcmp(verb, "call"))
		return -EINVAL;
	for (n = 0; n < ARRAY_SIZE(steps); n++)
		atomic_set(&steps[n].hits, 0);
	ftmod_cb_one(1, 2);
	ftmod_cb_two(1, 2);
	ftmod_cb_two(1, 2);
	return 0;
}

static const struct kernel_param_ops step_ops = {
	.set = step_set,
};
module_param_cb(step, &step_ops, NULL, 0200);
MODULE_PARM_DESC(step, "OPS VERB [ARGUMENT]: one API call");

static int hits_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%d %d %d %d\n", atomic_read(&steps[0].hits), atomic_read(&steps[1].hits),
			 atomic_read(&steps[2].hits), atomic_read(&steps[3].hits));
}

static const struct kernel_param_ops hits_ops = {
	.get = hits_get,
};
module_param_cb(hits, &hits_ops, NULL, 0400);
MODULE_PARM_DESC(hits, "how often each ops was called by the last \"call\"");

static int __init ftmod_callback_init(void)
{
	return 0;
}
module_init(ftmod_callback_init);

static void __exit ftmod_callback_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].ops.flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(&steps[i].ops);
		ftrace_free_filter(&steps[i].ops);
	}
}
module_exit(ftmod_callback_exit);

MODULE_DESCRIPTION("The in-kernel API of the function tracer, called from a shell");
MODULE_LICENSE("GPL");
