/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests inside a module: a write of NAME to "run" does the test NAME, "result" has a line for each
 * check.
 *
 * A module defines runs[], with an entry for each test, and includes this file before.
 */
#ifndef _FTMOD_RUN_H
#define _FTMOD_RUN_H

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

static char result[PAGE_SIZE - 1];
static size_t result_len;

#define note(fmt, ...)										\
	(result_len += scnprintf(result + result_len, sizeof(result) - result_len, fmt "\n", ##__VA_ARGS__))
#define check(cond, fmt, ...)	note("%s " fmt, (cond) ? "ok" : "not ok", ##__VA_ARGS__)

struct run {
	const char *name;
	void (*func)(void);
};

extern const struct run runs[];

static int run_set(const char *val, const struct kernel_param *kp)
{
	const struct run *r;

	for (r = runs; r->name; r++) {
		if (!sysfs_streq(val, r->name))
			continue;
		result_len = 0;
		r->func();
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = {
	.set = run_set,
};
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "NAME: do a test");

static int result_get(char *buf, const struct kernel_param *kp)
{
	memcpy(buf, result, result_len);
	return result_len;
}

static const struct kernel_param_ops result_ops = {
	.get = result_get,
};
module_param_cb(result, &result_ops, NULL, 0400);
MODULE_PARM_DESC(result, "what the last test found, a line a check");

#endif
