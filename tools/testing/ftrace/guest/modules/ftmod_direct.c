// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct callers of this module's own functions.
 *
 * A write to "step" does one call of the API and returns the error to the writer:
 *	"one", "all"	register a direct caller of the first function, or of all functions
 *	"modify"	the other of two trampolines is called from now on
 *	"unregister"	the direct caller goes
 * A read of "calls" calls each function once, and says for each trampoline how often it was called.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include <asm/asm-offsets.h>

static noinline __noclone long ftmod_direct_one(long x)
{
	barrier();
	return x + 1;
}

static noinline __noclone long ftmod_direct_two(long x)
{
	barrier();
	return x + 2;
}

static noinline __noclone long ftmod_direct_three(long x)
{
	barrier();
	return x + 3;
}

extern unsigned int ftmod_direct_first, ftmod_direct_second;
unsigned int ftmod_direct_first, ftmod_direct_second;

/* The operand of an instruction that changes a variable. */
#ifdef CONFIG_X86_64
#define VARIABLE(name)	#name "(%rip)"
#else
#define VARIABLE(name)	#name
#endif

#define TRAMPOLINE(name, counter)				\
	asmlinkage void name(void);				\
	asm(".pushsection .text, \"ax\", @progbits\n"		\
	    ".type " #name ", @function\n"			\
	    #name ":\n"						\
	    ASM_ENDBR						\
	    CALL_DEPTH_ACCOUNT					\
	    "lock incl " VARIABLE(counter) "\n"			\
	    ASM_RET						\
	    ".size " #name ", . - " #name "\n"			\
	    ".popsection\n")

TRAMPOLINE(ftmod_direct_tramp, ftmod_direct_first);
TRAMPOLINE(ftmod_direct_other, ftmod_direct_second);

static struct ftrace_ops ops;
static unsigned long called;

static int start(bool all)
{
	unsigned long ips[] = {
		(unsigned long)ftmod_direct_one,
		(unsigned long)ftmod_direct_two,
		(unsigned long)ftmod_direct_three,
	};
	int ret;

	if (called)
		return -EBUSY;
	ret = ftrace_set_filter_ips(&ops, ips, all ? ARRAY_SIZE(ips) : 1, 0, 1);
	if (!ret)
		ret = register_ftrace_direct(&ops, (unsigned long)ftmod_direct_tramp);
	if (ret)
		ftrace_free_filter(&ops);
	else
		called = (unsigned long)ftmod_direct_tramp;
	return ret;
}

static int modify(void)
{
	unsigned long first = (unsigned long)ftmod_direct_tramp;
	unsigned long other = called == first ? (unsigned long)ftmod_direct_other : first;
	int ret = modify_ftrace_direct(&ops, other);

	if (!ret)
		called = other;
	return ret;
}

static int stop(void)
{
	int ret = unregister_ftrace_direct(&ops, called, true);

	if (!ret)
		called = 0;
	return ret;
}

static int step_set(const char *val, const struct kernel_param *kp)
{
	if (sysfs_streq(val, "one"))
		return start(false);
	if (sysfs_streq(val, "all"))
		return start(true);
	if (sysfs_streq(val, "modify"))
		return modify();
	if (sysfs_streq(val, "unregister"))
		return stop();
	return -EINVAL;
}

static const struct kernel_param_ops step_ops = {
	.set = step_set,
};
module_param_cb(step, &step_ops, NULL, 0200);
MODULE_PARM_DESC(step, "one, all, modify or unregister");

static int calls_get(char *buf, const struct kernel_param *kp)
{
	long sum;

	ftmod_direct_first = 0;
	ftmod_direct_second = 0;
	sum = ftmod_direct_one(10) + ftmod_direct_two(10) + ftmod_direct_three(10);
	return sysfs_emit(buf, "%u %u %s\n", ftmod_direct_first, ftmod_direct_second,
			  sum == 36 ? "right" : "wrong");
}

static const struct kernel_param_ops calls_ops = {
	.get = calls_get,
};
module_param_cb(calls, &calls_ops, NULL, 0400);
MODULE_PARM_DESC(calls, "calls the functions: how often each trampoline was called");

static void __exit ftmod_direct_exit(void)
{
	if (called)
		stop();
}
module_exit(ftmod_direct_exit);

MODULE_DESCRIPTION("Direct callers for the function tracer's tests");
MODULE_LICENSE("GPL");
