// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that fails to load after the kernel knows its sites: the init function calls one
 * traceable function, and then returns an error.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/module.h>

static noinline __noclone int ftmod_fail_one(void)
{
	barrier();
	return -ENODEV;
}

static int __init ftmod_fail_init(void)
{
	int ret = ftmod_fail_one();

	barrier();
	return ret;
}
module_init(ftmod_fail_init);

static void __exit ftmod_fail_exit(void)
{
}
module_exit(ftmod_fail_exit);

MODULE_DESCRIPTION("A module that refuses to load, for the function tracer's tests");
MODULE_LICENSE("GPL");
