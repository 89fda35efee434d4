// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refuses a task the memory that the kernel's fault injection cannot refuse: per-CPU memory, and
 * large memory as a whole. A kvmalloc() of which failslab refuses one half is granted by vmalloc().
 *
 * A write of N to "nth" makes the Nth of these allocations of the writing task fail. A read says how
 * many were left before it. A write of 0 ends this.
 *
 * An ops with IPMODIFY sends the allocator's call to a function that returns NULL. So the module
 * needs no kprobes; but when kernel.ftrace_enabled is 0, nothing is refused.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>

static struct task_struct *victim;
static unsigned int left;
static bool refuses;

static notrace noinline __noclone void *no_memory(void)
{
	return NULL;
}

/* Only the victim itself changes the variables after it was named, so no lock is needed. */
static void notrace refuse(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			   struct ftrace_regs *fregs)
{
	if (READ_ONCE(victim) != current || !in_task() || !refuses)
		return;
	if (left && --left)
		return;
	refuses = false;
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)no_memory);
}

static struct ftrace_ops refuse_ops = {
	.func	= refuse,
	.flags	= FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
};

static int nth_set(const char *val, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(val, 0, &n);

	if (ret)
		return ret;
	WRITE_ONCE(victim, NULL);
	refuses = n;
	if (!n)
		return 0;
	left = n;
	WRITE_ONCE(victim, current);
	return 0;
}

static int nth_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%u\n", left);
}

static const struct kernel_param_ops nth_ops = {
	.set = nth_set,
	.get = nth_get,
};
module_param_cb(nth, &nth_ops, NULL, 0600);
MODULE_PARM_DESC(nth, "N: the Nth allocation fails; how many are left");

static int __init ftmod_refuse_init(void)
{
	static const char *const needed[] = {
		"__kvmalloc_node_noprof", "__vmalloc_node_range_noprof", "pcpu_alloc_noprof",
	};
	/* On some kernels, memory for code does not come from vmalloc(). */
	static const char *const more[] = {
		"execmem_alloc", "execmem_alloc_rw",
	};
	/* A glob is taken apart in place. */
	unsigned char copy[KSYM_NAME_LEN];
	int ret = 0;

	for (int i = 0; i < ARRAY_SIZE(needed) && !ret; i++) {
		strscpy(copy, needed[i]);
		ret = ftrace_set_filter(&refuse_ops, copy, strlen(copy), 0);
	}
	for (int i = 0; i < ARRAY_SIZE(more) && !ret; i++) {
		strscpy(copy, more[i]);
		ftrace_set_filter(&refuse_ops, copy, strlen(copy), 0);
	}
	if (!ret)
		ret = register_ftrace_function(&refuse_ops);
	if (ret)
		ftrace_free_filter(&refuse_ops);
	return ret;
}
module_init(ftmod_refuse_init);

static void __exit ftmod_refuse_exit(void)
{
	unregister_ftrace_function(&refuse_ops);
	ftrace_free_filter(&refuse_ops);
}
module_exit(ftmod_refuse_exit);

MODULE_DESCRIPTION("Refused memory for the function tracer's tests");
MODULE_LICENSE("GPL");
