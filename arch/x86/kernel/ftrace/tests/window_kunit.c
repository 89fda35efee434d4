// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of the window that text is written through: the state that an NMI and the
 * other CPUs see.
 *
 * One CPU patches all the time, another CPU sends NMIs to it. A panic in such an NMI
 * may call switch_mm(), so loaded_mm must name an mm, also in the window. An NMI that
 * came into the window stays there until the other CPU has looked at the page tables
 * of the window and at its own.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/tlbflush.h>

/* How long an NMI stays in the window, in turns of a loop. */
#define LONGEST_STAY	20000

static atomic_t in_window, named, wrong, interruptible, elsewhere;
static unsigned int patcher;

/* The CPUs that have not answered an NMI yet. */
static struct cpumask asked;

/* The page tables of the window, once an NMI has seen them. */
static struct mm_struct *window_mm;

/* An NMI stays in the window. */
static atomic_t staying;

/* The function that writes through the window, and its size. */
static unsigned long step, step_size;

static bool window_mm_is(const struct mm_struct *mm, unsigned long cr3)
{
	return mm && __pa(mm->pgd) == cr3;
}

static bool window_in_step(const struct pt_regs *regs)
{
	return regs->ip - step < step_size;
}

static void window_stay(struct mm_struct *mm)
{
	WRITE_ONCE(window_mm, mm);
	/* Pairs with atomic_read_acquire() in window_look(): window_mm is set. */
	atomic_set_release(&staying, 1);
	for (unsigned int n = 0; n < LONGEST_STAY && atomic_read(&staying); n++)
		cpu_relax();
	atomic_set(&staying, 0);
}

static void window_nmi_in_patcher(struct pt_regs *regs)
{
	struct mm_struct *mm = this_cpu_read(cpu_tlbstate.loaded_mm);
	unsigned long cr3 = read_cr3_pa();
	bool named_here = mm != LOADED_MM_SWITCHING && window_mm_is(mm, cr3);

	if (mm != LOADED_MM_SWITCHING && !named_here)
		atomic_inc(&wrong);
	/*
	 * A kernel thread has the page tables of a task, or those of the kernel. While the
	 * scheduler switches tasks, it can have others, and no active_mm.
	 */
	if (window_in_step(regs) && !window_mm_is(current->active_mm, cr3) &&
	    !window_mm_is(&init_mm, cr3)) {
		atomic_inc(&in_window);
		atomic_add(named_here, &named);
		if (named_here)
			window_stay(mm);
	}
}

static int window_nmi(unsigned int type, struct pt_regs *regs)
{
	unsigned int cpu = raw_smp_processor_id();

	if (!cpumask_test_and_clear_cpu(cpu, &asked))
		return NMI_DONE;
	if (cpu == patcher)
		window_nmi_in_patcher(regs);
	if (window_mm_is(READ_ONCE(window_mm), read_cr3_pa())) {
		atomic_add(cpu != patcher, &elsewhere);
		atomic_add(!!(regs->flags & X86_EFLAGS_IF), &interruptible);
	}
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

/* What the page tables of the window map. */
struct window_pages {
	unsigned int	nr;
	unsigned int	executable;
};

static int window_count_page(pte_t *pte, unsigned long addr, void *data)
{
	struct window_pages *pages = data;

	pages->nr++;
	pages->executable += !(pte_flags(ptep_get(pte)) & _PAGE_NX);
	return 0;
}

/* If an NMI stays in the window, look at the page tables. Returns true if it still stays. */
static bool window_look(struct kunit *test, struct window_pages *pages)
{
	/* Pairs with atomic_set_release() in window_stay(). */
	if (!atomic_read_acquire(&staying))
		return false;
	KUNIT_EXPECT_EQ(test, apply_to_existing_page_range(window_mm, 0, TASK_SIZE_MAX,
							   window_count_page, pages), 0);
	if (window_mm_is(window_mm, read_cr3_pa()))
		atomic_inc(&elsewhere);
	return atomic_cmpxchg(&staying, 1, 0);
}

/* Send an NMI to each other CPU that has answered the last one. */
static void window_ask(const struct cpumask *others)
{
	if (!cpumask_empty(&asked))
		return;
	cpumask_copy(&asked, others);
	__apic_send_IPI_mask(others, NMI_VECTOR);
}

/* Returns how often this CPU has looked while an NMI stayed in the window. */
static unsigned int window_watch(struct kunit *test, struct window_pages *pages)
{
	unsigned long end = jiffies + 20 * HZ;
	static struct cpumask others;
	unsigned int looks = 0;

	cpumask_andnot(&others, cpu_online_mask, cpumask_of(0));
	while (looks < 3 && time_before(jiffies, end)) {
		window_ask(&others);
		for (unsigned int n = 0; n < LONGEST_STAY && !cpumask_empty(&asked); n++) {
			looks += window_look(test, pages);
			cpu_relax();
		}
		usleep_range(50, 500);
	}
	return looks;
}

static void nmi_in_the_window(struct kunit *test)
{
	struct window_pages pages = { };
	struct task_struct *task;
	unsigned int looks = 0;

	patcher = cpumask_any_but(cpu_online_mask, 0);
	if (patcher >= nr_cpu_ids) {
		kunit_skip(test, "one CPU cannot interrupt itself in the window");
		return;
	}
	step = kallsyms_lookup_name("pipeline_write");
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(step, &step_size, NULL));
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	KUNIT_ASSERT_EQ(test, register_nmi_handler(NMI_LOCAL, window_nmi, 0, "ftrace_kunit"), 0);
	task = kthread_create_on_cpu(window_patch_loop, NULL, patcher, "ftrace_kunit/%u");
	if (!IS_ERR(task)) {
		wake_up_process(task);
		looks = window_watch(test, &pages);
		kthread_stop(task);
	}
	unregister_nmi_handler(NMI_LOCAL, "ftrace_kunit");
	set_cpus_allowed_ptr(current, cpu_possible_mask);

	KUNIT_EXPECT_GE(test, atomic_read(&in_window), 3);
	KUNIT_EXPECT_GE(test, atomic_read(&named), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&interruptible), 0);
	/* No other CPU has the window. */
	KUNIT_EXPECT_GE(test, looks, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&elsewhere), 0);
	/* CPUs without NX have no such bit. */
	KUNIT_EXPECT_GE(test, pages.nr, 3);
	if (__supported_pte_mask & _PAGE_NX)
		KUNIT_EXPECT_EQ(test, pages.executable, 0);
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
