// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module of test.d/ftrace/func_failed_site.tc. The function ftrace_site_good()
 * can be traced. The function ftrace_site_bad() is in the list of call sites, but has
 * no call. A write to the parameter "call" calls both functions.
 */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static noinline void ftrace_site_good(void)
{
	barrier();
}

static notrace noinline void ftrace_site_bad(void)
{
	barrier();
}

/* What ftrace finds there is not what it expects. */
#if defined(CONFIG_X86) && defined(CONFIG_DYNAMIC_FTRACE)
static void *const no_site __used __section("__mcount_loc") = ftrace_site_bad;
#endif

static int call_set(const char *val, const struct kernel_param *kp)
{
	ftrace_site_good();
	ftrace_site_bad();
	return 0;
}

static const struct kernel_param_ops call_ops = {
	.set = call_set,
};
module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "written to: call both functions");

MODULE_DESCRIPTION("A call site that is none, for the function tracer's tests");
MODULE_LICENSE("GPL");
