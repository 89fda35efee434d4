// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sysctl kernel.ftrace_enabled: 0 switches off all ops that are not permanent.
 */
#include <linux/ftrace.h>
#include <linux/sysctl.h>

#include "core.h"
#include "ipmodify.h"
#include "ops.h"

static int enabled_sysctl(const struct ctl_table *table, int write,
			  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret, old;

	guard(mutex)(&direct_mutex);
	guard(mutex)(&ftrace_lock);
	if (write && ftrace_killed())
		return -ENODEV;

	old = ftrace_enabled;
	ret = proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || !!old == !!ftrace_enabled)
		return ret;

	ret = ftrace_set_enabled(ftrace_enabled);
	if (ret)
		ftrace_enabled = old;
	return ret;
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
