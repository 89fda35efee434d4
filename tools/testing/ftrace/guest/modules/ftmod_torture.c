// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a torture needs in the kernel.
 *
 * The NMIs that the host injects are nobody's: this module takes and counts them. The handler
 * calls a traceable function, because an NMI can hit a call site at any time. And there are ops
 * whose callback takes long: a write of 1 to "ops" registers new ops, a write of 0 unregisters and
 * frees the ops, and a write of N to "call" calls the traced function N times. So a task is in a
 * trampoline, and in a callback, while others change what the function calls.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <asm/nmi.h>

#define ALIVE	0x616c6976
#define LONG_MS	20

static atomic_t nmis;

static noinline __noclone void ftmod_torture_nmi(void)
{
	atomic_inc(&nmis);
}

static int handle(unsigned int type, struct pt_regs *regs)
{
	ftmod_torture_nmi();
	return NMI_HANDLED;
}

static int nmis_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&nmis));
}

static const struct kernel_param_ops nmis_ops = {
	.get = nmis_get,
};
module_param_cb(nmis, &nmis_ops, NULL, 0400);
MODULE_PARM_DESC(nmis, "how many NMIs came");

static noinline __noclone void ftmod_torture_slow(void)
{
	barrier();
}

struct slow_ops {
	struct ftrace_ops ops;
	unsigned int alive;
};

static struct slow_ops *slow;
static DEFINE_MUTEX(lock);

static void notrace slow_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	struct slow_ops *s = container_of(op, struct slow_ops, ops);

	/* Not a sleep: a task that sleeps is in no trampoline, says RCU. */
	mdelay(LONG_MS);
	WARN_ON_ONCE(READ_ONCE(s->alive) != ALIVE);
}

static void slow_remove(void)
{
	if (!slow)
		return;
	unregister_ftrace_function(&slow->ops);
	ftrace_free_filter(&slow->ops);
	WRITE_ONCE(slow->alive, 0);
	kfree(slow);
	slow = NULL;
}

static int slow_add(void)
{
	int ret;

	if (slow)
		return -EEXIST;
	slow = kzalloc(sizeof(*slow), GFP_KERNEL);
	if (!slow)
		return -ENOMEM;
	slow->alive = ALIVE;
	slow->ops.func = slow_func;
	ret = ftrace_set_filter_ip(&slow->ops, (unsigned long)ftmod_torture_slow, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&slow->ops);
	if (ret) {
		ftrace_free_filter(&slow->ops);
		kfree(slow);
		slow = NULL;
	}
	return ret;
}

static int ops_set(const char *val, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(val, &on);

	if (ret)
		return ret;
	mutex_lock(&lock);
	if (on)
		ret = slow_add();
	else
		slow_remove();
	mutex_unlock(&lock);
	return ret;
}

static const struct kernel_param_ops ops_ops = {
	.set = ops_set,
};
module_param_cb(ops, &ops_ops, NULL, 0200);
MODULE_PARM_DESC(ops, "1: register ops with a slow callback, 0: unregister and free the ops");

/* Other writers of parameters must not wait meanwhile. */
static int call_set(const char *val, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(val, 0, &n);

	kernel_param_unlock(THIS_MODULE);
	while (!ret && n--)
		ftmod_torture_slow();
	kernel_param_lock(THIS_MODULE);
	return ret;
}

static const struct kernel_param_ops call_ops = {
	.set = call_set,
};
module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "N: call the function of the ops N times");

static int __init ftmod_torture_init(void)
{
	return register_nmi_handler(NMI_UNKNOWN, handle, 0, "ftmod_torture");
}
module_init(ftmod_torture_init);

static void __exit ftmod_torture_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "ftmod_torture");
	slow_remove();
}
module_exit(ftmod_torture_exit);

MODULE_DESCRIPTION("NMIs and slow callbacks for the function tracer's torture");
MODULE_LICENSE("GPL");
