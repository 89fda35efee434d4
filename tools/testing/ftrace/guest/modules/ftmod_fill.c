// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills the memory of trampolines with few ops. Common ops are on all functions of this module,
 * which makes each trampoline long. Every other ops is on a function of its own, which makes many
 * trampolines.
 *
 * A write of N to "common" registers N more common ops. A write of N to "more" registers N more ops
 * of one function, in the order of the functions. A read of "size" says how many bytes lie between
 * the trampolines of the last two ops. A read of "call" calls the first function and says how often
 * the ops of this function was called.
 */
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/unaligned.h>

#include <asm/ibt.h>
#include <asm/text-patching.h>

/* The constant keeps the compiler from making one function of all. */
#define FUNCTION(n)								\
	static noinline __noclone void ftmod_fill_##n(void)			\
	{									\
		asm volatile("" : : "i" (0x##n));				\
	}
#define ADDRESS(n)	(unsigned long)ftmod_fill_##n,

#define EACH_4(m, n)	m(n##0) m(n##1) m(n##2) m(n##3)
#define EACH_16(m, n)	EACH_4(m, n##0) EACH_4(m, n##1) EACH_4(m, n##2) EACH_4(m, n##3)
#define EACH_64(m, n)	EACH_16(m, n##0) EACH_16(m, n##1) EACH_16(m, n##2) EACH_16(m, n##3)
#define EACH(m)		EACH_64(m, 1) EACH_64(m, 2)

EACH(FUNCTION)

static unsigned long address[] = { EACH(ADDRESS) };

/* Those of one function each, those of all, and how many are registered. */
static struct ftrace_ops own[ARRAY_SIZE(address)];
static struct ftrace_ops common[ARRAY_SIZE(address)];
static unsigned int nr_own, nr_common;

static atomic_t calls;

static void notrace count(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs)
{
	if (op == &own[0])
		atomic_inc(&calls);
}

static int add(struct ftrace_ops *ops, unsigned long *ips, unsigned int nr)
{
	int ret;

	ops->func = count;
	ret = ftrace_set_filter_ips(ops, ips, nr, 0, 1);
	if (!ret)
		ret = register_ftrace_function(ops);
	if (ret)
		ftrace_free_filter(ops);
	return ret;
}

static int number_set(const char *val, const struct kernel_param *kp)
{
	unsigned int more;
	int ret = kstrtouint(val, 0, &more);

	while (!ret && more--) {
		unsigned int *nr = kp->arg;

		if (*nr == ARRAY_SIZE(address))
			return -ENOSPC;
		if (nr == &nr_common)
			ret = add(&common[*nr], address, ARRAY_SIZE(address));
		else
			ret = add(&own[*nr], &address[*nr], 1);
		*nr += !ret;
	}
	return ret;
}

static const struct kernel_param_ops number_ops = {
	.set = number_set,
};
module_param_cb(common, &number_ops, &nr_common, 0200);
MODULE_PARM_DESC(common, "N: register so many more ops of all functions");
module_param_cb(more, &number_ops, &nr_own, 0200);
MODULE_PARM_DESC(more, "N: register so many more ops of one function");

/* Where the call at a function's head goes. An ENDBR may come first. */
static unsigned long target(unsigned int i)
{
	unsigned long ip = address[i];

	if (*(u8 *)ip != CALL_INSN_OPCODE)
		ip += ENDBR_INSN_SIZE;
	return ip + MCOUNT_INSN_SIZE + get_unaligned((s32 *)(ip + 1));
}

static int size_get(char *buf, const struct kernel_param *kp)
{
	if (nr_own < 2)
		return -ENODATA;
	return sysfs_emit(buf, "%lu\n", target(nr_own - 1) - target(nr_own - 2));
}

static const struct kernel_param_ops size_ops = {
	.get = size_get,
};
module_param_cb(size, &size_ops, NULL, 0400);
MODULE_PARM_DESC(size, "bytes from one trampoline to the next");

static int call_get(char *buf, const struct kernel_param *kp)
{
	atomic_set(&calls, 0);
	ftmod_fill_1000();
	return sysfs_emit(buf, "%d\n", atomic_read(&calls));
}

static const struct kernel_param_ops call_ops = {
	.get = call_get,
};
module_param_cb(call, &call_ops, NULL, 0400);
MODULE_PARM_DESC(call, "calls the first function: how often its ops was called");

static void __exit ftmod_fill_exit(void)
{
	while (nr_own--) {
		unregister_ftrace_function(&own[nr_own]);
		ftrace_free_filter(&own[nr_own]);
	}
	while (nr_common--) {
		unregister_ftrace_function(&common[nr_common]);
		ftrace_free_filter(&common[nr_common]);
	}
}
module_exit(ftmod_fill_exit);

MODULE_DESCRIPTION("Trampolines by the hundred for the function tracer's tests");
MODULE_LICENSE("GPL");
