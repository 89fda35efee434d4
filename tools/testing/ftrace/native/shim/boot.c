// SPDX-License-Identifier: GPL-2.0-only
/* What is done once, in this order: as start_kernel() does, as far as there are such parts. */
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>

#include "native.h"

/* The initcalls and the boot parameters of the core, and the initcall of trace.c for its files. */
extern initcall_entry_t __start_native_initcalls[], __stop_native_initcalls[];
extern const struct obs_kernel_param __start_native_params[], __stop_native_params[];

enum system_states system_state;
unsigned int native_boot_fails;

/* As in the kernel, a function of the parameter may keep a pointer to the text or change it. */
static void pass_param(char *param)
{
	const struct obs_kernel_param *p;

	for (p = __start_native_params; p < __stop_native_params; p++)
		if (!strncmp(param, p->str, strlen(p->str)))
			p->setup_func(param + strlen(p->str));
}

/**
 * native_boot - boot
 * @nr: number of parameters
 * @params: boot parameters of the core
 */
void native_boot(int nr, char **params)
{
	initcall_entry_t *call;

	host_start_ticks();
	native_percpu_init();
	native_cpu_begin(&init_task, 0);
	native_work_init();
	native_text_init();
	while (nr--)
		pass_param(*params++);
	seq_file_init();
	native_fail_nth(native_boot_fails);
	ftrace_init();
	early_trace_init();
	native_text_done();
	for (call = __start_native_initcalls; call < __stop_native_initcalls; call++)
		initcall_from_entry(call)();
	native_fail_nth(0);
	system_state = SYSTEM_RUNNING;
}
