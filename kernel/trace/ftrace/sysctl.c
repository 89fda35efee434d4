// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sysctl kernel.ftrace_enabled: is there function tracing? Users who can write it cannot
 * switch tracing off, because others than they rely on it.
 */
#include <linux/ftrace.h>
#include <linux/sysctl.h>

#include "core.h"

static int enabled_sysctl(const struct ctl_table *table, int write,
			  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret, old;

	guard(mutex)(&ftrace_lock);
	if (write && ftrace_killed())
		return -ENODEV;

	old = ftrace_enabled;
	ret = proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || ftrace_enabled)
		return ret;

	ftrace_enabled = old;
	pr_warn_once("The ftrace_enabled file is deprecated and no longer disables ftrace\n");
	return -EOPNOTSUPP;
}

static struct ctl_table sysctl_table[] = {
	{
		.procname = "ftrace_enabled",
		.mode = 0644,
		.data = &ftrace_enabled,
		.maxlen = sizeof(ftrace_enabled),
		.proc_handler = enabled_sysctl,
	},
};

static int __init enabled_make_sysctl(void)
{
	register_sysctl_init("kernel", sysctl_table);
	return 0;
}
late_initcall(enabled_make_sysctl);
