// SPDX-License-Identifier: GPL-2.0-only
/*
 * A slow callback. Loading the module registers the callback, unloading the module unregisters it
 * while tasks are in the callback. A task that stayed too long would run freed text.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/module.h>

static void notrace dwell(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs)
{
	mdelay(1);
}

static struct ftrace_ops ops = { .func = dwell };

static int __init ftmod_visit_init(void)
{
	char name[] = "ftmod_rm_one";
	int ret = ftrace_set_filter(&ops, name, strlen(name), 1);

	return ret ?: register_ftrace_function(&ops);
}
module_init(ftmod_visit_init);

static void __exit ftmod_visit_exit(void)
{
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
}
module_exit(ftmod_visit_exit);

MODULE_DESCRIPTION("A slow callback for the function tracer's tests");
MODULE_LICENSE("GPL");
