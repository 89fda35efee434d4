// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with functions to trace.
 *
 * Only a write of "NAME COUNT" to the parameter "call" calls the functions, so a test knows how
 * often each of them has run. One function is __init: its site must be there while the module loads
 * and be gone afterwards. The sites of two other functions lie in two pages. The compiler's
 * alignment allows this only to cold functions. With the parameter "linger" the module stays for so
 * many ms after it has lost its sites: unloading waits for what the module does in the background.
 */
#include <linux/async.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

/* Not cloned: the compiler may neither inline them nor give them another name. */
static noinline __noclone long ftmod_a_one(long x)
{
	barrier();
	return x + 1;
}

static noinline __noclone long ftmod_a_two(long x, long y)
{
	barrier();
	return x + y;
}

/* The additions keep the calls from becoming jumps. */
static noinline __noclone long ftmod_a_nest(long x)
{
	return ftmod_a_one(x) + ftmod_a_two(x, x) + 1;
}

/* So many bytes of the call in one page, the others in the next. */
#define ACROSS(name, bytes)						\
	asmlinkage void name(void);					\
	asm(".pushsection .text." #name ", \"ax\", @progbits\n"		\
	    ".balign 4096\n"						\
	    ".skip 4096 - " #bytes ", 0xcc\n"				\
	    ".type " #name ", @function\n"				\
	    #name ":\n"							\
	    "call __fentry__\n"						\
	    ASM_RET							\
	    ".size " #name ", . - " #name "\n"				\
	    ".popsection\n")

ACROSS(ftmod_a_edge, 3);
ACROSS(ftmod_a_brim, 4);

static int call_set(const char *val, const struct kernel_param *kp)
{
	unsigned int count, i;
	char name[16];

	if (sscanf(val, "%15s %u", name, &count) != 2)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		if (!strcmp(name, "one"))
			ftmod_a_one(i);
		else if (!strcmp(name, "two"))
			ftmod_a_two(i, i);
		else if (!strcmp(name, "nest"))
			ftmod_a_nest(i);
		else if (!strcmp(name, "edge"))
			ftmod_a_edge();
		else if (!strcmp(name, "brim"))
			ftmod_a_brim();
		else
			return -EINVAL;
	}
	return 0;
}

static const struct kernel_param_ops call_ops = {
	.set = call_set,
};
module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "NAME COUNT: call function ftmod_a_NAME COUNT times");

static noinline __noclone __init int ftmod_a_setup(void)
{
	barrier();
	return 0;
}

static int __init ftmod_a_init(void)
{
	int ret = ftmod_a_setup();

	barrier();
	return ret;
}
module_init(ftmod_a_init);

static unsigned int linger;
module_param(linger, uint, 0400);
MODULE_PARM_DESC(linger, "how many ms unloading takes");

static void ftmod_a_linger(void *data, async_cookie_t cookie)
{
	msleep(linger);
}

static void __exit ftmod_a_exit(void)
{
	if (linger)
		async_schedule(ftmod_a_linger, NULL);
	barrier();
}
module_exit(ftmod_a_exit);

MODULE_DESCRIPTION("Functions for the function tracer's tests");
MODULE_LICENSE("GPL");
