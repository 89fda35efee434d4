// SPDX-License-Identifier: GPL-2.0-only
/* set_ftrace_pid and set_ftrace_notrace_pid: which tasks are traced, and what the files show. */
#include <linux/sched.h>

#include "ftrace/guards.h"
#include "tests.h"

#define PIDS		"instances/p/set_ftrace_pid"
#define NO_PIDS		"instances/p/set_ftrace_notrace_pid"
#define NONE		"no pid\n"

/* A list is looked at when tasks switch, and when a task executes a program. */
#define HOOKS		2U

static struct trace_array *tr;

/* Is a call of a function by a task traced? */
static bool is_traced(pid_t pid)
{
	unsigned int before = native_events_of(tr, TRACE_FN);

	native_become(pid);
	ftrace_kunit_func1(1);
	native_become(OWN);
	return native_events_of(tr, TRACE_FN) > before;
}

/* Which of the tasks 1 to 9 are traced? A bit for each. */
static unsigned int traced_pids(void)
{
	unsigned int traced = 0;

	for (pid_t pid = 1; pid < 10; pid++)
		traced |= is_traced(pid) << pid;
	return traced;
}

#define ALL	0x3feU

static int pids_init(struct kunit *test)
{
	int ret = native_mkdir("p");

	if (ret)
		return ret;
	tr = trace_array_find("p");
	ret = native_echo("instances/p/set_ftrace_filter", O_TRUNC, "ftrace_kunit_func1");
	return ret ?: native_echo("instances/p/current_tracer", 0, "function");
}

static void pids_exit(struct kunit *test)
{
	native_become(OWN);
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/current_tracer", 0, "nop"), 0);
	KUNIT_EXPECT_EQ(test, native_rmdir("p"), 0);
	KUNIT_EXPECT_EQ(test, native_nr_hooks(), 0U);
	KUNIT_EXPECT_EQ(test, native_cmdlines, 0);
	ftrace_kunit_exit(test);
}

SUITE(pids, pids_init, pids_exit);

/* A file that is opened while its instance goes. */
CASE(files_of_gone_instances_do_not_open)
{
	static const char * const files[] = {
		"set_ftrace_filter", "set_ftrace_notrace", "set_ftrace_pid", "set_ftrace_notrace_pid",
	};

	mutex_lock(&trace_types_lock);
	list_del(&tr->list);
	mutex_unlock(&trace_types_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		char path[64];

		snprintf(path, sizeof(path), "instances/p/%s", files[i]);
		KUNIT_EXPECT_EQ(test, PTR_ERR(native_open(path, O_RDWR)), -ENODEV);
	}
	mutex_lock(&trace_types_lock);
	list_add(&tr->list, &ftrace_trace_arrays);
	mutex_unlock(&trace_types_lock);
}

CASE(refused_writes_change_nothing)
{
	struct native_file *f;

	echo(test, PIDS, O_TRUNC, "3 5", 0, "3\n5\n");
	echo(test, PIDS, O_TRUNC, "no", -EINVAL, "3\n5\n");
	echo(test, PIDS, O_APPEND, "7 no", -EINVAL, "3\n5\n");
	echo(test, PIDS, O_TRUNC, "-1", -EINVAL, "3\n5\n");
	f = open_file(test, PIDS, O_WRONLY | O_TRUNC);
	KUNIT_EXPECT_EQ(test, native_write_len(f, (__force char *)NATIVE_BAD_USER, 4), -EFAULT);
	KUNIT_EXPECT_EQ(test, native_write_len(f, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, PIDS, "3\n5\n");
	/* After a refused write a right one takes the place of the list. */
	f = open_file(test, PIDS, O_WRONLY | O_TRUNC);
	KUNIT_EXPECT_EQ(test, native_write(f, "x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_write(f, "8"), 0);
	KUNIT_EXPECT_EQ(test, native_write(f, "9"), 0);
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, PIDS, "8\n9\n");
	KUNIT_EXPECT_EQ(test, traced_pids(), 1U << 8 | 1U << 9);
}

/* A list, and a tracer that is started and stopped. */
static noinline void repeat(void)
{
	for (int i = 0; i < 20; i++)
		ftrace_kunit_func1(1);
}

static int set_no_repeats(void *unused)
{
	int ret = native_echo("instances/p/options/func-no-repeats", 0, "1");

	/* After an error the old callback is called. */
	if (ret) {
		unsigned int before = native_events_of(tr, TRACE_FN);

		native_become(3);
		repeat();
		native_become(OWN);
		if (native_events_of(tr, TRACE_FN) != before + 20)
			return -EINVAL;
	}
	return ret;
}

static void clear_no_repeats(void *unused)
{
	native_echo("instances/p/options/func-no-repeats", 0, "0");
}

CASE(options_fail_without_memory)
{
	struct native_op op = { set_no_repeats, clear_no_repeats };

	echo(test, PIDS, O_TRUNC, "3", 0, "3\n");
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 0U);
}

CASE(tracers_come_and_go)
{
	unsigned int before;

	KUNIT_EXPECT_EQ(test, native_echo("instances/p/current_tracer", 0, "nop"), 0);
	echo(test, PIDS, O_TRUNC, "3 5", 0, "3\n5\n");
	KUNIT_EXPECT_EQ(test, traced_pids(), 0U);
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/current_tracer", 0, "function"), 0);
	KUNIT_EXPECT_EQ(test, traced_pids(), 1U << 3 | 1U << 5);
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/func-no-repeats", 0, "1"), 0);
	/* The new callback is called for the tasks of the list. */
	native_become(3);
	before = native_events_of(tr, TRACE_FN);
	repeat();
	KUNIT_EXPECT_LE(test, native_events_of(tr, TRACE_FN), before + 2);
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/func-no-repeats", 0, "0"), 0);
	before = native_events_of(tr, TRACE_FN);
	repeat();
	KUNIT_EXPECT_EQ(test, native_events_of(tr, TRACE_FN), before + 20);
	native_become(OWN);
	KUNIT_EXPECT_EQ(test, traced_pids(), 1U << 3 | 1U << 5);
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/current_tracer", 0, "nop"), 0);
	echo(test, PIDS, O_TRUNC, "", 0, NONE);
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/current_tracer", 0, "function"), 0);
	KUNIT_EXPECT_EQ(test, traced_pids(), ALL);
	/* An option that was set while all tasks were traced stays when some are chosen. */
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/func-no-repeats", 0, "1"), 0);
	echo(test, PIDS, O_TRUNC, "3", 0, "3\n");
	native_become(3);
	before = native_events_of(tr, TRACE_FN);
	repeat();
	KUNIT_EXPECT_LE(test, native_events_of(tr, TRACE_FN), before + 2);
	native_become(OWN);
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/func-no-repeats", 0, "0"), 0);
	echo(test, PIDS, O_TRUNC, "", 0, NONE);
	/* Instances with lists can be removed. */
	echo(test, PIDS, O_TRUNC, "3 5", 0, "3\n5\n");
	echo(test, NO_PIDS, O_TRUNC, "3", 0, "3\n");
}

/* trace_pid_write() says -1. */
#define PIDS_NEED_MEMORY	.lenient = true, .error = -1

static int write_pids(void *data)
{
	int ret = native_echo(PIDS, O_TRUNC, data);

	/* A write that succeeds has tasks checked. */
	return ret || native_nr_hooks() == HOOKS ? ret : -EINVAL;
}

static void clear_pids(void *data)
{
	native_echo(PIDS, O_TRUNC, "");
}

/* What was in the list stays. */
static int append_pids(const char *words, const char *want)
{
	int ret = native_echo(PIDS, O_APPEND, words);
	unsigned long left = native_fail_left();
	char text[32];

	if (ret)
		return ret;
	native_fail_nth(0);
	native_cat(PIDS, text, sizeof(text), sizeof(text));
	native_fail_nth(left);
	return strcmp(text, want) ? -EINVAL : 0;
}

static int add_pids(void *words)
{
	return append_pids(words, "3\n4\n5\n");
}

static void restore_pids(void *data)
{
	native_echo(PIDS, O_TRUNC, "3");
}

static int add_to_processes(void *words)
{
	return append_pids(words, "3\n4\ntgid:5\n");
}

static void restore_processes(void *data)
{
	native_echo(PIDS, O_TRUNC, "3 tgid:5");
}

static int stay_unpreempted(int arg)
{
	guard(preempt)();
	native_stay();
	return arg;
}

/* A switch or a fork may look at the old lists, with preemption off: they are freed later. */
CASE(lists_wait_for_readers)
{
	struct task_struct *reader;

	restore_pids(NULL);
	reader = native_call_until_inside(stay_unpreempted);
	native_echo(PIDS, O_TRUNC, "4");
	KUNIT_EXPECT_EQ(test, READ_ONCE(native_inside), 2U);
	kthread_stop(reader);
	clear_pids(NULL);
}

/* A CPU that has checked no task yet traces none. */
CASE(other_cpus_wait)
{
	int *verdict = &per_cpu_ptr(tr->array_buffer.data, 3)->ftrace_ignore_pid;

	restore_pids(NULL);
	KUNIT_EXPECT_EQ(test, *verdict, FTRACE_PID_IGNORE);
	KUNIT_ASSERT_NOT_NULL(test, tr->function_guard);
	KUNIT_EXPECT_EQ(test, *per_cpu_ptr(tr->function_guard->word, 3), FTRACE_PID_IGNORE);
	clear_pids(NULL);
	KUNIT_EXPECT_EQ(test, *verdict, FTRACE_PID_TRACE);
	KUNIT_EXPECT_EQ(test, *per_cpu_ptr(tr->function_guard->word, 3), FTRACE_PID_TRACE);
	/* A CPU outside the kernel is checked from here: the idle task, 0, is not in the list. */
	echo(test, NO_PIDS, O_TRUNC, "7", 0, "7\n");
	KUNIT_EXPECT_EQ(test, *verdict, 0);
	KUNIT_EXPECT_EQ(test, *per_cpu_ptr(tr->function_guard->word, 3), 0);
	echo(test, NO_PIDS, O_TRUNC, "", 0, NONE);
}

static void set_mask(unsigned long mask)
{
	*cpumask_bits(tr->tracing_cpumask) = mask;
	ftrace_cpumask_changed(tr);
}

/* On a CPU that tracing_cpumask leaves out, trampolines do not call the callback, list or not. */
CASE(masked_cpus_call_nothing)
{
	static struct ftrace_ops ops;

	ops = (struct ftrace_ops){
		.func = ftrace_kunit_note_x, .flags = FTRACE_OPS_FL_PID, .private = tr,
	};
	KUNIT_ASSERT_EQ(test, raw_smp_processor_id(), 0);
	register_on(test, &ops, ftrace_kunit_func2);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "x");
	set_mask(0xfffe);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "");
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "");
	set_mask(1);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "x");
	/* A list that is not there is removed. */
	clear_pids(NULL);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "x");
	/* The same with a list that has the task. */
	echo(test, PIDS, O_TRUNC, "2", 0, "2\n");
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "x");
	set_mask(0xfffe);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "");
	clear_pids(NULL);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "");
	set_mask(0xffff);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "x");
	/* A list goes on to choose tasks when the mask changes. */
	echo(test, PIDS, O_TRUNC, "3", 0, "3\n");
	set_mask(1);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "");
	clear_pids(NULL);
	set_mask(0xffff);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
}

/* The callback of an ops is its own again when the ops is unregistered. */
CASE(callbacks_come_back)
{
	static struct ftrace_ops ops;

	ops = (struct ftrace_ops){
		.func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_PID, .private = tr,
	};
	ftrace_kunit_add_ops(test, &ops);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&ops, ftrace_kunit_func2, true), 0);
	restore_pids(NULL);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_PTR_NE(test, (void *)ops.func, (void *)ftrace_kunit_note);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)ops.func, (void *)ftrace_kunit_note);
	clear_pids(NULL);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)ops.func, (void *)ftrace_kunit_note);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
}

/* The option function-fork. */
CASE(children_are_traced)
{
	echo(test, PIDS, O_TRUNC, "3", 0, "3\n");
	echo(test, NO_PIDS, O_TRUNC, "6", 0, "6\n");
	native_fork(3, 4);
	native_expect_file(test, PIDS, "3\n");
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/function-fork", 0, "1"), 0);
	KUNIT_EXPECT_EQ(test, native_nr_hooks(), HOOKS + 2);
	native_fork(3, 4);
	native_fork(5, 7);
	native_fork(6, 8);
	native_expect_file(test, PIDS, "3\n4\n");
	native_expect_file(test, NO_PIDS, "6\n8\n");
	KUNIT_EXPECT_EQ(test, traced_pids(), 1U << 3 | 1U << 4);
	native_exit(3);
	native_exit(6);
	native_expect_file(test, PIDS, "4\n");
	native_expect_file(test, NO_PIDS, "8\n");
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/function-fork", 0, "0"), 0);
	KUNIT_EXPECT_EQ(test, native_nr_hooks(), HOOKS);
	native_exit(4);
	native_expect_file(test, PIDS, "4\n");
}

/* Numbers of processes, which come last. */
CASE(lists_choose_processes)
{
	static const char * const wrong[] = {
		"tgid:", "tgid:x", "tgid:12x", "tgid: 12", "tgid12", "x tgid:12", "tgid:12 tgid:", "pid:12",
	};

	echo(test, PIDS, O_TRUNC, "tgid:40 3 tgid:20", 0, "3\ntgid:20\ntgid:40\n");
	KUNIT_EXPECT_EQ(test, traced_pids(), 1U << 3);
	current->tgid = 20;
	native_become(OWN);
	echo(test, PIDS, O_APPEND, "tgid:30", 0, "3\ntgid:20\ntgid:30\ntgid:40\n");
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		echo(test, PIDS, O_APPEND, wrong[i], -EINVAL, "3\ntgid:20\ntgid:30\ntgid:40\n");
	echo(test, PIDS, O_APPEND, "tgid:4000000000", -EPERM, "3\ntgid:20\ntgid:30\ntgid:40\n");
	echo(test, PIDS, O_APPEND, "4000000000", -EPERM, "3\ntgid:20\ntgid:30\ntgid:40\n");
	echo(test, NO_PIDS, O_TRUNC, "tgid:20", 0, "tgid:20\n");
	echo(test, PIDS, O_TRUNC, "tgid:20", 0, "tgid:20\n");
	echo(test, PIDS, O_TRUNC, "", 0, NONE);
	echo(test, NO_PIDS, O_TRUNC, "", 0, NONE);
	current->tgid = 0;
}

/* With the option function-fork, the processes that processes make, too. */
CASE(child_processes_are_traced)
{
	echo(test, PIDS, O_TRUNC, "tgid:30", 0, "tgid:30\n");
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/function-fork", 0, "1"), 0);
	/* A thread of the process; a process that it makes; a process of another one. */
	native_fork_in(30, 30, 31, 30);
	native_fork_in(31, 30, 33, 33);
	native_fork_in(40, 40, 44, 44);
	native_expect_file(test, PIDS, "tgid:30\ntgid:33\n");
	/* A process ends with its first thread. */
	native_exit_in(31, 30);
	native_expect_file(test, PIDS, "tgid:30\ntgid:33\n");
	native_exit_in(30, 30);
	native_expect_file(test, PIDS, "tgid:33\n");
	KUNIT_EXPECT_EQ(test, native_echo("instances/p/options/function-fork", 0, "0"), 0);
}

/* Words of any length that a number can have. */
CASE(long_numbers_are_read)
{
	char word[160] = "0x";

	memset(word + 2, '0', 125);
	word[126] = '5';
	echo(test, PIDS, O_TRUNC, word, 0, "5\n");
	memset(word + 2, '0', 126);
	word[127] = '6';
	word[128] = 0;
	echo(test, PIDS, O_TRUNC, word, -EINVAL, "5\n");
	/* Blanks around. */
	echo(test, PIDS, O_TRUNC, "  7\x20\n\t 8\x20\x20\n", 0, "7\n8\n");
	echo(test, PIDS, O_TRUNC, "", 0, NONE);
}

CASE(writes_fail_without_memory)
{
	struct native_op op = { write_pids, clear_pids, "4 5", PIDS_NEED_MEMORY };

	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 5U);
	native_expect_file(test, PIDS, NONE);
	KUNIT_EXPECT_EQ(test, native_nr_hooks(), 0U);
	KUNIT_EXPECT_EQ(test, traced_pids(), ALL);
	restore_pids(NULL);
	op = (struct native_op){ add_pids, restore_pids, "4 5", PIDS_NEED_MEMORY };
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	restore_processes(NULL);
	op.run = add_to_processes;
	op.undo = restore_processes;
	op.data = "4";
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	restore_pids(NULL);
	native_expect_file(test, PIDS, "3\n");
	KUNIT_EXPECT_EQ(test, traced_pids(), 1U << 3);
}

static struct ftrace_ops second_ops;

/* After an error, an ops that was changed before the error calls its own callback again. */
static int write_pids_of_two(void *data)
{
	int ret = write_pids(data);

	return !ret || second_ops.func == ftrace_kunit_note ? ret : -EINVAL;
}

CASE(all_ops_or_none_change)
{
	struct native_op op = { write_pids_of_two, clear_pids, "4", PIDS_NEED_MEMORY };

	second_ops = (struct ftrace_ops){
		.func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_PID, .private = tr,
	};
	register_on(test, &second_ops, ftrace_kunit_func2);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 5U);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&second_ops), 0);
}

#define NEW_PIDS	"instances/q/set_ftrace_pid"

static int write_new_pids(void *data)
{
	int ret = native_echo(NEW_PIDS, O_TRUNC, "4");
	struct trace_array *array;

	if (ret)
		return ret;
	array = trace_array_find("q");
	return array->function_guard ? 0 : -EINVAL;
}

static void clear_new_pids(void *data)
{
	native_echo(NEW_PIDS, O_TRUNC, "");
	native_rmdir("q");
	native_mkdir("q");
}

/* The first pid of an array makes its guard. */
CASE(first_pids_need_memory)
{
	struct native_op op = { write_new_pids, clear_new_pids, NULL, PIDS_NEED_MEMORY };

	KUNIT_ASSERT_EQ(test, native_mkdir("q"), 0);
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 3U);
	KUNIT_EXPECT_EQ(test, native_rmdir("q"), 0);
}

static void files_leave_nothing(struct kunit *test)
{
	restore_pids(NULL);
	native_echo(NO_PIDS, O_TRUNC, "4");
	native_echo(PIDS, O_APPEND, "no");
	native_echo(NO_PIDS, O_APPEND, "5");
	clear_pids(NULL);
	native_echo(NO_PIDS, O_TRUNC, "");
}

CASE(writes_leave_nothing)
{
	native_expect_no_leak(test, files_leave_nothing);
}
