// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_fprobe: what fprobes pay to come and to go.
 *
 *	echo "FUNCTION FUNCTION..." > /sys/module/bench_fprobe/parameters/names
 *	echo attach|detach > /sys/module/bench_fprobe/parameters/run
 *	cat /sys/module/bench_fprobe/parameters/result
 *
 * Each function named gets an fprobe of its own. The result is what bench_ftrace says of its commands: TSC ticks and
 * nanoseconds.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fprobe.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/tsc.h>

#include "base.h"

#define NR_PROBES	100

static struct fprobe probes[NR_PROBES];
static char *names[NR_PROBES];
static unsigned int nr_names, nr_attached;
static char *text;
static char result[64];

static int notrace bench_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			       struct bench_regs *regs, void *data)
{
	return 0;
}

static notrace int attach(void)
{
	int ret = 0;

	while (nr_attached < nr_names && !ret) {
		struct fprobe *fp = &probes[nr_attached];

		memset(fp, 0, sizeof(*fp));
		fp->entry_handler = bench_entry;
		ret = register_fprobe(fp, names[nr_attached], NULL);
		nr_attached += !ret;
	}
	return ret;
}

static notrace void detach(void)
{
	while (nr_attached)
		unregister_fprobe(&probes[--nr_attached]);
}

static notrace int run_set(const char *command, const struct kernel_param *kp)
{
	u64 ns = ktime_get_mono_fast_ns();
	u64 ticks = rdtsc_ordered();
	int ret = 0;

	if (sysfs_streq(command, "attach"))
		ret = attach();
	else if (sysfs_streq(command, "detach"))
		detach();
	else
		ret = -EINVAL;
	ticks = rdtsc_ordered() - ticks;
	ns = ktime_get_mono_fast_ns() - ns;
	snprintf(result, sizeof(result), "%llu %llu\n", ticks, ns);
	return ret;
}

static notrace int result_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", result);
}

static notrace int names_set(const char *list, const struct kernel_param *kp)
{
	char *rest, *name;

	if (nr_attached)
		return -EBUSY;
	kfree(text);
	nr_names = 0;
	text = rest = kstrdup(list, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	while ((name = strsep(&rest, "\n ")) && nr_names < NR_PROBES) {
		if (*name)
			names[nr_names++] = name;
	}
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
static const struct kernel_param_ops result_ops = { .get = result_get };
static const struct kernel_param_ops names_ops = { .set = names_set };

module_param_cb(run, &run_ops, NULL, 0200);
module_param_cb(result, &result_ops, NULL, 0400);
module_param_cb(names, &names_ops, NULL, 0200);

static int __init bench_init(void)
{
	return 0;
}

static void __exit bench_exit(void)
{
	detach();
	kfree(text);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Benchmarks of fprobes");
MODULE_LICENSE("GPL");
