// SPDX-License-Identifier: GPL-2.0-only
/*
 * A livepatch of a function of ftmod_a. So a test can spoil a patched function, and get the function
 * back by loading ftmod_a again.
 */
#include <linux/compiler.h>
#include <linux/livepatch.h>
#include <linux/module.h>

static noinline __noclone long patched_one(long x)
{
	barrier();
	return x + 100;
}

static struct klp_func funcs[] = {
	{
		.old_name = "ftmod_a_one",
		.new_func = patched_one,
	}, { }
};

static struct klp_object objs[] = {
	{
		.name = "ftmod_a",
		.funcs = funcs,
	}, { }
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

static int __init ftmod_patch_init(void)
{
	return klp_enable_patch(&patch);
}
module_init(ftmod_patch_init);

static void __exit ftmod_patch_exit(void)
{
}
module_exit(ftmod_patch_exit);

MODULE_DESCRIPTION("A livepatch for the function tracer's tests");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
