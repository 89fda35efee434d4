// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a call site is found with unexpected bytes, although its bytes are right.
 *
 * Each comparison of a site asks here, and the kernel's fault injection decides. So a
 * test chooses one of the comparisons with /proc/PID/fail-nth, if the probability in
 * /sys/kernel/debug/fail_ftrace_site is not 0; "times" 0 spares other tasks. Chance
 * chooses with the other files there, or at boot with fail_ftrace_site=; see
 * Documentation/fault-injection/fault-injection.rst.
 */
#include <linux/fault-inject.h>
#include <linux/ftrace_arch.h>
#include <linux/init.h>

static DECLARE_FAULT_ATTR(fail_ftrace_site);

static int __init faults_set_param(char *str)
{
	return setup_fault_attr(&fail_ftrace_site, str);
}
__setup("fail_ftrace_site=", faults_set_param);

/**
 * ftrace_fault_site - does a test want the bytes of a site to be wrong?
 *
 * Context: Any context.
 * Return: true if the caller must treat the bytes as unexpected.
 */
bool ftrace_fault_site(void)
{
	/* A test of failing allocations uses fail-nth, too, and must not count comparisons. */
	if (!fail_ftrace_site.probability)
		return false;
	return should_fail_ex(&fail_ftrace_site, 1, FAULT_NOWARN);
}

static int __init faults_init(void)
{
	return PTR_ERR_OR_ZERO(fault_create_debugfs_attr("fail_ftrace_site", NULL,
							 &fail_ftrace_site));
}
late_initcall(faults_init);
