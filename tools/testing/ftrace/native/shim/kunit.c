// SPDX-License-Identifier: GPL-2.0-only
/* KUnit runs each case in a thread, which takes the CPU of the thread that waits. */
#include <kunit/test.h>
#include <kunit/try-catch.h>
#include <linux/sched.h>

#include "native.h"

void kunit_try_catch_throw(struct kunit_try_catch *try_catch)
{
	try_catch->try_result = -EFAULT;
	native_cpu_end();
	host_thread_exit();
}

static void case_main(void *arg)
{
	static struct task_struct task = { .comm = "kunit_case", .flags = PF_KTHREAD, .pid = 2 };
	struct kunit_try_catch *try_catch = arg;

	native_cpu_begin(&task, 0);
	try_catch->try(try_catch->context);
	native_cpu_end();
}

void kunit_try_catch_run(struct kunit_try_catch *try_catch, void *context)
{
	struct task_struct *task = native_task(0);

	try_catch->context = context;
	try_catch->try_result = 0;
	native_cpu_end();
	host_join(host_thread(case_main, try_catch));
	native_cpu_begin(task, 0);
	if (try_catch->try_result) {
		try_catch->try_result = 0;
		try_catch->catch(try_catch->context);
	}
}
