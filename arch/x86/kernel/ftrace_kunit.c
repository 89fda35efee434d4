// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of the window that text is written through: the state that an NMI sees.
 *
 * One CPU patches all the time, another CPU sends NMIs to it. A panic in such an NMI
 * may call switch_mm(), so loaded_mm must name an mm, also in the window.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>

#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/tlbflush.h>

static atomic_t nmis, in_window, named, wrong;
static unsigned int patcher;

/* The function that loads the window, and its size. */
static unsigned long step, step_size;

static bool window_mm_is(const struct mm_struct *mm, unsigned long cr3)
{
	return __pa(mm->pgd) == cr3;
}

static int window_nmi(unsigned int type, struct pt_regs *regs)
{
	struct mm_struct *mm = this_cpu_read(cpu_tlbstate.loaded_mm);
	unsigned long cr3 = read_cr3_pa();
	bool named_here = mm != LOADED_MM_SWITCHING && window_mm_is(mm, cr3);

	if (raw_smp_processor_id() != patcher || !atomic_add_unless(&nmis, -1, 0))
		return NMI_DONE;
	/*
	 * A kernel thread has the page tables of a task, or those of the kernel. While the
	 * scheduler switches tasks, it can have others, and no active_mm.
	 */
	if (regs->ip - step < step_size && !window_mm_is(current->active_mm, cr3) &&
	    !window_mm_is(&init_mm, cr3)) {
		atomic_inc(&in_window);
		atomic_add(named_here, &named);
	}
	if (mm != LOADED_MM_SWITCHING && !named_here)
		atomic_inc(&wrong);
	return NMI_HANDLED;
}

static void window_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			    struct ftrace_regs *fregs)
{
}

static int window_patch_loop(void *unused)
{
	static struct ftrace_ops ops = { .func = window_callback };

	while (!kthread_should_stop()) {
		if (!register_ftrace_function(&ops))
			unregister_ftrace_function(&ops);
		cond_resched();
	}
	return 0;
}

static void nmi_in_the_window(struct kunit *test)
{
	unsigned long end = jiffies + 20 * HZ;
	struct task_struct *task;

	patcher = cpumask_any_but(cpu_online_mask, 0);
	if (patcher >= nr_cpu_ids) {
		kunit_skip(test, "one CPU cannot interrupt itself in the window");
		return;
	}
	step = kallsyms_lookup_name("pipeline_step");
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(step, &step_size, NULL));
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	KUNIT_ASSERT_EQ(test, register_nmi_handler(NMI_LOCAL, window_nmi, 0, "ftrace_kunit"), 0);
	task = kthread_create_on_cpu(window_patch_loop, NULL, patcher, "ftrace_kunit/%u");
	if (!IS_ERR(task)) {
		wake_up_process(task);
		while (atomic_read(&named) < 3 && time_before(jiffies, end)) {
			if (atomic_add_unless(&nmis, 1, 1))
				__apic_send_IPI_mask(cpumask_of(patcher), NMI_VECTOR);
			usleep_range(50, 500);
		}
		kthread_stop(task);
	}
	unregister_nmi_handler(NMI_LOCAL, "ftrace_kunit");
	set_cpus_allowed_ptr(current, cpu_possible_mask);

	KUNIT_EXPECT_GE(test, atomic_read(&in_window), 3);
	KUNIT_EXPECT_GE(test, atomic_read(&named), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong), 0);
}

static struct kunit_case ftrace_x86_cases[] = {
	KUNIT_CASE_SLOW(nmi_in_the_window),
	{ }
};

static struct kunit_suite ftrace_x86_suite = {
	.name = "ftrace_x86",
	.test_cases = ftrace_x86_cases,
};

kunit_test_suite(ftrace_x86_suite);
