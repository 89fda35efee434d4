// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thousands of ops, all on one function, or each on a function of its own.
 *
 * A write of N to "same" registers N more ops on a function of this module. A write of N to "each"
 * registers N more ops; the number of each is the number of its function in
 * available_filter_functions. A read of "call" calls the function of this module and says how many
 * callbacks ran.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#define MOST	10000

static noinline __noclone void ftmod_many_func(void)
{
	barrier();
}

static struct ftrace_ops all_ops[MOST];
static unsigned int nr, calls;

static void notrace count(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs)
{
	WRITE_ONCE(calls, READ_ONCE(calls) + 1);
}

static void notrace nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			    struct ftrace_regs *fregs)
{
}

static int add(bool same)
{
	struct ftrace_ops *ops = &all_ops[nr];
	char number[16];
	int ret;

	if (nr == MOST)
		return -ENOSPC;
	ops->func = same ? count : nothing;
	snprintf(number, sizeof(number), "%u", nr + 1);
	if (same)
		ret = ftrace_set_filter_ip(ops, (unsigned long)ftmod_many_func, 0, 1);
	else
		ret = ftrace_set_filter(ops, number, strlen(number), 1);
	if (!ret)
		ret = register_ftrace_function(ops);
	if (ret)
		ftrace_free_filter(ops);
	nr += !ret;
	return ret;
}

static void remove_all(void)
{
	while (nr--) {
		unregister_ftrace_function(&all_ops[nr]);
		ftrace_free_filter(&all_ops[nr]);
		cond_resched();
	}
}

static int add_more(bool same, unsigned int more)
{
	int ret = 0;

	while (!ret && more--) {
		ret = add(same);
		cond_resched();
	}
	return ret;
}

static int number_set(const char *val, const struct kernel_param *kp)
{
	unsigned int more;

	return kstrtouint(val, 0, &more) ?: add_more(kp->arg, more);
}

static const struct kernel_param_ops number_ops = {
	.set = number_set,
};
module_param_cb(same, &number_ops, &nr, 0200);
MODULE_PARM_DESC(same, "N: register so many more ops of one function; not when the module is loaded");
module_param_cb(each, &number_ops, NULL, 0200);
MODULE_PARM_DESC(each, "N: register so many more ops, each of a function of its own");

static int call_get(char *buf, const struct kernel_param *kp)
{
	WRITE_ONCE(calls, 0);
	ftmod_many_func();
	return sysfs_emit(buf, "%u\n", READ_ONCE(calls));
}

static const struct kernel_param_ops call_ops = {
	.get = call_get,
};
module_param_cb(call, &call_ops, NULL, 0400);
MODULE_PARM_DESC(call, "calls the function: how many callbacks ran");

static unsigned int first;
module_param(first, uint, 0400);
MODULE_PARM_DESC(first, "how many ops of one function the module begins with");

/* After a load that failed, nobody calls ftmod_many_exit(). */
static int __init ftmod_many_init(void)
{
	int ret = add_more(true, first);

	if (ret)
		remove_all();
	return ret;
}
module_init(ftmod_many_init);

static void __exit ftmod_many_exit(void)
{
	remove_all();
}
module_exit(ftmod_many_exit);

MODULE_DESCRIPTION("Ops by the thousand for the function tracer's tests");
MODULE_LICENSE("GPL");
