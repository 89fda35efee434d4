// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two functions of init text, one of which can be traced. After the init text is freed, the parameter
 * "names" shows what the kernel calls their addresses.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static unsigned long traced, quiet;

static noinline __noclone int __init ftmod_in_traced(void)
{
	barrier();
	return 0;
}

/* The compiler makes no call site here. */
static noinline __noclone notrace int __init ftmod_in_quiet(void)
{
	asm volatile("");
	return 0;
}

static int names_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%pS %pS\n", (void *)traced, (void *)quiet);
}

static const struct kernel_param_ops names_ops = {
	.get = names_get,
};
module_param_cb(names, &names_ops, NULL, 0400);
MODULE_PARM_DESC(names, "the names of two functions that are freed");

static int __init ftmod_initname_init(void)
{
	traced = (unsigned long)ftmod_in_traced;
	quiet = (unsigned long)ftmod_in_quiet;
	return ftmod_in_traced() ?: ftmod_in_quiet();
}
module_init(ftmod_initname_init);

static void __exit ftmod_initname_exit(void) { }
module_exit(ftmod_initname_exit);

MODULE_DESCRIPTION("Names of functions whose text is freed");
MODULE_LICENSE("GPL");
