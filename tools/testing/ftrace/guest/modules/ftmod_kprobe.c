// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two kprobes with a post_handler. All such kprobes share an ops that may change the instruction
 * pointer, so the second one is a change of the filter of a registered ops.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

/* Of the second one. */
static unsigned int hits;
module_param(hits, uint, 0444);

static void ignore(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static void count(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	hits++;
}

static struct kprobe first = { .symbol_name = "vfs_open", .post_handler = ignore };
static struct kprobe second = { .symbol_name = "vfs_read", .post_handler = count };
static struct kprobe *kprobes[] = { &first, &second };

static int __init ftmod_kprobe_init(void)
{
	return register_kprobes(kprobes, ARRAY_SIZE(kprobes));
}
module_init(ftmod_kprobe_init);

static void __exit ftmod_kprobe_exit(void)
{
	unregister_kprobes(kprobes, ARRAY_SIZE(kprobes));
}
module_exit(ftmod_kprobe_exit);

MODULE_DESCRIPTION("Kprobes that share an ops, for the function tracer's tests");
MODULE_LICENSE("GPL");
