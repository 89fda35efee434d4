// SPDX-License-Identifier: GPL-2.0-only
/* The filter files, and the files that list functions, as a user writes and reads them. */

#include "ftrace/filter_edit.h"
#include "tests.h"

#define FILTER		"set_ftrace_filter"
#define NOTRACE		"set_ftrace_notrace"

SUITE(files, NULL, ftrace_kunit_exit);

/* The rest of a word that was too long is no word. */
CASE(long_words_are_refused)
{
	static char word[2048];
	struct native_file *f;

	echo(test, FILTER, O_TRUNC, "native_func_201", 0, "native_func_201\n");
	memset(word, 'x', sizeof(word) - 1);
	f = open_file(test, FILTER, O_WRONLY | O_TRUNC);
	KUNIT_EXPECT_EQ(test, native_write_len(f, word, sizeof(word) - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_write_len(f, "native_func_202 ", 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_write_len(f, "native_func_203 ", 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_func_201\n");
	/* The longest that is taken has room for the longest symbol as it is printed. */
	memset(word, '*', KSYM_SYMBOL_LEN + 3);
	memcpy(word, "native_func_202", 15);
	word[KSYM_SYMBOL_LEN + 3] = '\0';
	echo(test, FILTER, O_TRUNC, word, 0, "native_func_202\n");
	word[KSYM_SYMBOL_LEN + 3] = '*';
	word[KSYM_SYMBOL_LEN + 4] = '\0';
	echo(test, FILTER, O_APPEND, word, -EINVAL, "native_func_202\n");
	echo(test, FILTER, O_TRUNC, " ", 0, NO_FILTER);
}

/* A word may be written in pieces, with the file position as the kernel moves it. */
CASE(words_are_written_in_pieces)
{
	static const char * const pieces[] = { "nat", "ive_func_2", "11", " ", "native_func_212 native" };
	struct native_file *f = open_file(test, FILTER, O_RDWR | O_TRUNC);

	for (unsigned int i = 0; i < ARRAY_SIZE(pieces); i++)
		KUNIT_EXPECT_EQ(test, native_write(f, pieces[i]), 0);
	KUNIT_EXPECT_EQ(test, native_write_len(f, NULL, 0), 0);
	/* Nothing has changed yet. */
	native_expect_file(test, FILTER, NO_FILTER);
	KUNIT_EXPECT_EQ(test, native_write(f, "_func_213"), 0);
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_func_211\nnative_func_212\nnative_func_213\n");

	f = open_file(test, FILTER, O_WRONLY | O_TRUNC);
	KUNIT_EXPECT_EQ(test, native_write_len(f, (__force char *)NATIVE_BAD_USER, 4), -EFAULT);
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_func_211\nnative_func_212\nnative_func_213\n");
	echo(test, FILTER, O_TRUNC, " ", 0, NO_FILTER);
}

/* What was written is applied when the last of several descriptors is closed. */
CASE(descriptors_are_counted)
{
	struct native_file *f = begin_write(test, FILTER, O_TRUNC, "native_func_211 ");

	KUNIT_EXPECT_EQ(test, native_close_one(f), 0);
	native_expect_file(test, FILTER, NO_FILTER);
	KUNIT_EXPECT_EQ(test, native_write(f, "native_func_21"), 0);
	KUNIT_EXPECT_EQ(test, native_close_one(f), 0);
	KUNIT_EXPECT_EQ(test, native_write(f, "3 nosuch"), 0);
	/* The error of the last word is that of the last close. */
	KUNIT_EXPECT_EQ(test, native_close_one(f), 0);
	KUNIT_EXPECT_EQ(test, native_close(f), -EINVAL);
	native_expect_file(test, FILTER, "native_func_211\nnative_func_213\n");
	echo(test, FILTER, O_TRUNC, " ", 0, NO_FILTER);

	/* A write of another task has a reference, too, and may end after the last close. */
	f = open_file(test, FILTER, O_WRONLY | O_TRUNC);
	KUNIT_EXPECT_EQ(test, native_close_one(f), 0);
	KUNIT_EXPECT_EQ(test, native_write(f, "native_func_211 "), 0);
	native_drop(f);
	native_expect_file(test, FILTER, "native_func_211\n");
	echo(test, FILTER, O_TRUNC, " ", 0, NO_FILTER);
}

/* Words that wait for a module. */
CASE(words_wait_for_modules)
{
	native_mod_setup();
	echo(test, FILTER, O_TRUNC, "native_func_201 *_[13]:mod:native_mod native_mod_6:mod:native_mod",
	     0, "native_func_201\nnative_mod_6:mod:native_mod\n*_[13]:mod:native_mod\n");
	echo(test, NOTRACE, O_TRUNC, "native_mod_3:mod:native_mod", 0,
	     "native_mod_3:mod:native_mod\n");
	echo(test, NOTRACE, O_APPEND, "native_mod_2:mod:other", 0,
	     "native_mod_2:mod:other\nnative_mod_3:mod:native_mod\n");
	native_mod_live();
	native_expect_file(test, FILTER, "native_func_201\nnative_mod_1 [native_mod]\n"
					 "native_mod_3 [native_mod]\nnative_mod_6 [native_mod]\n");
	native_expect_file(test, NOTRACE, "native_mod_3 [native_mod]\nnative_mod_2:mod:other\n");
	native_mod_started();
	native_expect_file(test, FILTER, "native_func_201\nnative_mod_1 [native_mod]\n"
					 "native_mod_3 [native_mod]\n");
	native_mod_release();
	/* The words wait again, and are not shown, unless they are written again. */
	native_expect_file(test, FILTER, "native_func_201\n");
	echo(test, FILTER, O_APPEND, "*_[13]:mod:native_mod", 0,
	     "native_func_201\n*_[13]:mod:native_mod\n");
	native_mod_load();
	native_mod_release();
	echo(test, FILTER, O_APPEND, "*_[13]:mod:native_mod *_[13]:mod:native_mod", 0,
	     "native_func_201\n*_[13]:mod:native_mod\n");
	/* The last one that was written is shown first. */
	echo(test, FILTER, O_APPEND, "native_mod_6:mod:native_mod", 0,
	     "native_func_201\nnative_mod_6:mod:native_mod\n*_[13]:mod:native_mod\n");
	echo(test, FILTER, O_APPEND, "*_[13]:mod:native_mod", 0,
	     "native_func_201\n*_[13]:mod:native_mod\nnative_mod_6:mod:native_mod\n");
	native_mod_load();
	native_mod_release();
	native_expect_file(test, FILTER, "native_func_201\n");
	native_expect_file(test, NOTRACE, "native_mod_2:mod:other\n");
	/* A filter for modules alone does not mean all functions. */
	echo(test, FILTER, O_APPEND, "!native_func_201", 0, "");
	KUNIT_EXPECT_FALSE(test, ftrace_ops_test(&global_ops, ftrace_location((unsigned long)
									      native_funcs[101]), NULL));
	echo(test, FILTER, O_APPEND, "!native_mod_6:mod:native_mod", 0, "");
	echo(test, FILTER, O_APPEND, "!native_mod_6:mod:native_mod", -EINVAL, "");
	echo(test, FILTER, O_APPEND, "native_func_1[0]1:mod:nat*", -EINVAL, "");
	/* A second load, in which the module fails. */
	native_mod_live();
	native_expect_file(test, FILTER, "native_mod_1 [native_mod]\nnative_mod_3 [native_mod]\n");
	native_mod_release();
	native_expect_file(test, FILTER, "*_[13]:mod:native_mod\n");
	/* The filter had functions, which have gone: it does not mean all functions. */
	echo(test, FILTER, O_APPEND, "!*:mod:native_mod", 0, "");
	echo(test, FILTER, O_APPEND, "native_func_201", 0, "native_func_201\n");
	echo(test, FILTER, O_APPEND, "!native_func_201", 0, NO_FILTER);
	echo(test, NOTRACE, O_TRUNC, "", 0, NO_NOTRACE);
}

/* A word that waits beside functions that have gone: without the word, the filter is empty still. */
CASE(gone_functions_stay_gone)
{
	native_mod_load();
	echo(test, FILTER, O_TRUNC, "native_mod_2", 0, "native_mod_2 [native_mod]\n");
	echo(test, FILTER, O_APPEND, "*:mod:other", 0, "native_mod_2 [native_mod]\n*:mod:other\n");
	native_mod_release();
	native_expect_file(test, FILTER, "*:mod:other\n");
	echo(test, FILTER, O_APPEND, "!*:mod:other", 0, "");
	KUNIT_EXPECT_FALSE(test, ftrace_ops_test(&global_ops, ftrace_location((unsigned long)
									      native_funcs[101]), NULL));
	echo(test, FILTER, O_TRUNC, "", 0, NO_FILTER);
	/* A word that waits alone, and never had functions. */
	echo(test, FILTER, O_TRUNC, "*:mod:other", 0, "*:mod:other\n");
	echo(test, FILTER, O_APPEND, "!*:mod:other", 0, NO_FILTER);
}

/* What a module that comes says of the words that wait for it. */
CASE(words_without_functions_are_no_error)
{
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC,
					  "nosuch:mod:native_mod native_mod_1:mod:native_mod"), 0);
	native_log_begin();
	native_mod_load();
	KUNIT_EXPECT_FALSE(test, native_log_has("is not applied"));
	native_expect_file(test, "set_ftrace_filter", "native_mod_1 [native_mod]\n");
	native_mod_release();
	/* Without functions, the filter does not mean all functions. */
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_notrace", O_TRUNC, "nosuch:mod:native_mod"), 0);
	native_mod_load();
	native_expect_file(test, "set_ftrace_notrace", "");
	native_mod_release();
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_notrace", O_TRUNC, ""), 0);
	/* Each word waits again, and is shown when the module has failed to load. */
	native_expect_file(test, "set_ftrace_filter", "");
	native_mod_live();
	native_mod_release();
	native_expect_file(test, "set_ftrace_filter", "native_mod_1:mod:native_mod\nnosuch:mod:native_mod\n");
	native_log_begin();
	native_mod_init(true);
	/* Neither of the allocations of the words. */
	for (unsigned int n = 1; n < 40 && !native_log_has("is not applied"); n++) {
		native_mod_release();
		native_mod_init(true);
		WITHOUT(n, native_mod_enable());
	}
	KUNIT_EXPECT_TRUE(test, native_log_has("native_mod: a filter that waited for it is not applied, error -12\n"));
	native_mod_release();
	KUNIT_EXPECT_EQ(test, native_echo("set_ftrace_filter", O_TRUNC, ""), 0);
}

/* Functions of a module leave the filters with it, even if the filter was empty then. */
CASE(functions_leave_with_the_module)
{
	native_mod_load();
	echo(test, FILTER, O_TRUNC, "native_mod_2", 0, "native_mod_2 [native_mod]\n");
	echo(test, NOTRACE, O_TRUNC, "native_mod_[12]:mod:native_mod", 0,
	     "native_mod_1 [native_mod]\nnative_mod_2 [native_mod]\n");
	echo(test, FILTER, O_APPEND, "*:mod:native_*", 0,
	     "native_mod_0 [native_mod]\nnative_mod_1 [native_mod]\nnative_mod_2 [native_mod]\n"
	     "native_mod_3 [native_mod]\nnative_mod_4 [native_mod]\nnative_mod_5 [native_mod]\n");
	native_mod_release();
	native_expect_file(test, FILTER, "");
	native_expect_file(test, NOTRACE, "");
	KUNIT_EXPECT_FALSE(test, ftrace_ops_test(&global_ops, ftrace_location((unsigned long)
									      native_funcs[101]), NULL));
	/* The module is there again, and its functions are not in the filters. */
	native_mod_load();
	native_expect_file(test, FILTER, "");
	native_expect_file(test, NOTRACE, "");
	native_mod_release();
	echo(test, FILTER, O_TRUNC, "", 0, NO_FILTER);
	echo(test, NOTRACE, O_TRUNC, "", 0, NO_NOTRACE);
}

/* A module comes and goes while a filter file is open. */
CASE(files_are_open_during_a_load)
{
	struct native_file *f;

	native_mod_load();
	echo(test, FILTER, O_TRUNC, "native_mod_2 native_func_201", 0,
	     "native_func_201\nnative_mod_2 [native_mod]\n");
	f = begin_write(test, FILTER, O_APPEND, "native_mod_3 native_func_202 ");
	native_mod_release();
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_func_201\nnative_func_202\n");
	/* Nor when the module comes to the same place again. */
	native_mod_load();
	native_expect_file(test, FILTER, "native_func_201\nnative_func_202\n");
	native_mod_release();

	f = begin_write(test, FILTER, O_TRUNC, "native_mod_3:mod:native_mod ");
	native_mod_load();
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_mod_3 [native_mod]\n");
	native_mod_release();
	native_expect_file(test, FILTER, "");

	native_mod_load();
	native_expect_file(test, FILTER, "native_mod_3 [native_mod]\n");
	f = begin_write(test, FILTER, O_TRUNC, "native_mod_4 ");
	native_mod_release();
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "");
	echo(test, FILTER, O_TRUNC, "", 0, NO_FILTER);
}

/* A module comes or goes while a file is open that has words for it. */
CASE(words_follow_their_module)
{
	struct native_file *f;

	/* The module goes: the word waits again, and is not shown. */
	echo(test, FILTER, O_TRUNC, "native_mod_[13]:mod:native_mod", 0, "native_mod_[13]:mod:native_mod\n");
	native_mod_load();
	f = begin_write(test, FILTER, O_APPEND, "!* native_func_201 ");
	native_mod_release();
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_func_201\n");
	native_mod_load();
	native_expect_file(test, FILTER, "native_func_201\nnative_mod_1 [native_mod]\n"
					 "native_mod_3 [native_mod]\n");
	/* It goes and comes to another place: its functions are in the filter there. */
	f = begin_write(test, FILTER, O_APPEND, "native_func_202 ");
	native_mod_release();
	native_mod_move();
	native_mod_load();
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_func_201\nnative_func_202\nnative_mod_1 [native_mod]\n"
					 "native_mod_3 [native_mod]\n");
	/* Init text goes, and the word of the module does not bring back what was taken out. */
	native_mod_release();
	echo(test, FILTER, O_TRUNC, "native_mod_[136]:mod:native_mod", 0, "native_mod_[136]:mod:native_mod\n");
	native_mod_live();
	native_expect_file(test, FILTER, "native_mod_1 [native_mod]\nnative_mod_3 [native_mod]\n"
					 "native_mod_6 [native_mod]\n");
	f = begin_write(test, FILTER, O_APPEND, "!native_mod_1 ");
	native_mod_started();
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	native_expect_file(test, FILTER, "native_mod_3 [native_mod]\n");
	/* Its functions are taken out by name, and do not come back. */
	echo(test, FILTER, O_APPEND, "!native_mod_3", 0, NO_FILTER);
	native_mod_release();
	native_mod_load();
	native_expect_file(test, FILTER, NO_FILTER);
	native_mod_release();
	echo(test, FILTER, O_TRUNC, "", 0, NO_FILTER);
}

/* io_uring does not take the lock of the file position, so writers of one open file may come together. */
struct writer {
	struct native_file	*f;
	const char		*word;
	unsigned int		refused;
};

static int write_again_and_again(void *data)
{
	struct writer *w = data;

	for (unsigned int i = 0; i < 500; i++)
		w->refused += native_write(w->f, w->word) != 0;
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

CASE(writers_take_turns)
{
	struct writer writers[] = { { .word = "native_func_201 " }, { .word = "!native_func_2* " } };
	struct native_file *f = begin_write(test, FILTER, O_APPEND, "");
	struct task_struct *tasks[2];

	for (unsigned int i = 0; i < 2; i++) {
		writers[i].f = f;
		tasks[i] = kthread_run_on_cpu(write_again_and_again, &writers[i], 2 + i, "files/%u");
	}
	for (unsigned int i = 0; i < 2; i++) {
		kthread_stop(tasks[i]);
		KUNIT_EXPECT_EQ(test, writers[i].refused, 0U);
	}
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	echo(test, FILTER, O_TRUNC, "", 0, NO_FILTER);
}

/* As long as a pending filter becomes functions, no copy of the filter is made. */
static int open_during_a_load(void *data)
{
	struct native_file *f = native_open(FILTER, O_WRONLY | O_APPEND);

	smp_store_release((bool *)data, true);
	return IS_ERR(f) ? PTR_ERR(f) : native_close(f);
}

CASE(copies_wait_for_a_load)
{
	struct task_struct *task;
	bool opened = false;

	task = kthread_create_on_cpu(open_during_a_load, &opened, 2, "files/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	mutex_lock(&global_ops.func_hash->regex_lock);
	wake_up_process(task);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, smp_load_acquire(&opened));
	mutex_unlock(&global_ops.func_hash->regex_lock);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), 0);
	KUNIT_EXPECT_TRUE(test, opened);
}

/* An instance has its own filters, which go with it. */
static void make_and_remove_instance(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, native_mkdir("a"), 0);
	echo(test, "instances/a/" FILTER, O_TRUNC, "native_func_201 native_func_202:mod:other", 0,
	     "native_func_201\nnative_func_202:mod:other\n");
	echo(test, "instances/a/" NOTRACE, O_TRUNC, "native_func_203 native_func_202:mod:other", 0,
	     "native_func_203\nnative_func_202:mod:other\n");
	echo(test, "instances/a/" NOTRACE, O_APPEND, "x*:mod:third", 0,
	     "native_func_203\nx*:mod:third\nnative_func_202:mod:other\n");
	native_expect_file(test, FILTER, NO_FILTER);
	KUNIT_EXPECT_EQ(test, native_rmdir("a"), 0);
}

CASE(instances_leave_nothing)
{
	struct native_file *f;

	native_expect_no_leak(test, make_and_remove_instance);
	KUNIT_ASSERT_EQ(test, native_mkdir("a"), 0);
	KUNIT_EXPECT_EQ(test, native_mkdir("a"), -EEXIST);
	f = open_file(test, "instances/a/" FILTER, O_RDWR);
	KUNIT_EXPECT_EQ(test, native_rmdir("a"), -EBUSY);
	KUNIT_EXPECT_EQ(test, native_close(f), 0);
	KUNIT_EXPECT_EQ(test, native_rmdir("a"), 0);
	KUNIT_EXPECT_EQ(test, native_rmdir("a"), -ENODEV);
}

/* A file that is only written allows pwrite(), and others do not. */
CASE(files_have_modes)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR };

	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++) {
		struct native_file *f = open_file(test, FILTER, flags[i]);

		KUNIT_EXPECT_EQ(test, !!(native_mode(f) & FMODE_PWRITE), flags[i] == O_WRONLY);
		KUNIT_EXPECT_EQ(test, native_close(f), 0);
	}
}

/* The ops of an instance is still registered when its files go. */
CASE(ops_end_with_their_files)
{
	struct trace_array *tr;

	KUNIT_ASSERT_EQ(test, native_mkdir("a"), 0);
	tr = trace_array_find("a");
	KUNIT_EXPECT_EQ(test, native_echo("instances/a/" FILTER, O_TRUNC, "ftrace_kunit_func1"), 0);
	ftrace_init_array_ops(tr, ftrace_kunit_note);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(tr->ops), 0);
	ftrace_destroy_filter_files(tr->ops);
	KUNIT_EXPECT_FALSE(test, tr->ops->flags & FTRACE_OPS_FL_ENABLED);
	KUNIT_EXPECT_NULL(test, tr->ops->callback);
	KUNIT_EXPECT_FALSE(test, tr->ops->func_hash->filter_hash);
	/* Such an ops is registered no more. */
	KUNIT_EXPECT_EQ(test, register_ftrace_function(tr->ops), -EINVAL);
	native_expect_file(test, "enabled_functions", "");
	KUNIT_EXPECT_EQ(test, native_rmdir("a"), 0);
}

/* Without memory, each step of a write fails as a whole. */
static int write_filter(void *data)
{
	return native_echo(FILTER, O_APPEND, data);
}

static void empty_filter(void *data)
{
	native_echo(FILTER, O_TRUNC, " ");
}

CASE(writes_fail_without_memory)
{
	struct native_op op = {
		write_filter, empty_filter, "native_func_2[0-3]? ", .lenient = true, .partial = true,
	};

	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 5U);
	op.data = "native_func_203 native_func_207:mod:other ";
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 10U);
	/* Words that wait are copied. */
	echo(test, NOTRACE, O_TRUNC, "a:mod:b c:mod:d e:mod:f", 0, "e:mod:f\nc:mod:d\na:mod:b\n");
	op.data = "native_func_203 !a:mod:b ";
	KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_TRUNC, "a:mod:b c:mod:d"), 0);
	for (unsigned int n = 1; ; n++) {
		unsigned long left;
		int ret;

		native_fail_nth(n);
		ret = native_echo(FILTER, O_APPEND, op.data);
		left = native_fail_left();
		native_fail_nth(0);
		if (left) {
			KUNIT_EXPECT_EQ(test, ret, 0);
			break;
		}
		/* One of the two words may have had its memory. */
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_TRUNC, "a:mod:b c:mod:d"), 0);
		native_expect_file(test, FILTER, "c:mod:d\na:mod:b\n");
	}
	native_expect_file(test, FILTER, "native_func_203\nc:mod:d\n");
	/* Of a word that is refused no part is left in the open file. */
	for (unsigned int n = 1; ; n++) {
		struct native_file *f;
		unsigned long left;

		KUNIT_EXPECT_EQ(test, native_echo(FILTER, O_TRUNC, ""), 0);
		f = native_open(FILTER, O_WRONLY | O_APPEND);
		native_fail_nth(n);
		native_write(f, "a:mod:b ");
		left = native_fail_left();
		native_fail_nth(0);
		KUNIT_EXPECT_EQ(test, native_write(f, "c:mod:d "), 0);
		KUNIT_EXPECT_EQ(test, native_close(f), 0);
		native_expect_file(test, FILTER, left ? "c:mod:d\na:mod:b\n" : "c:mod:d\n");
		if (left)
			break;
	}
	echo(test, FILTER, O_TRUNC, "", 0, NO_FILTER);
	echo(test, NOTRACE, O_TRUNC, "", 0, NO_NOTRACE);
}

/* What trace.c calls for a new instance. After an error, trace.c itself leaves memory. */
CASE(instances_need_memory)
{
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_EXPECT_EQ(test, ftrace_create_function_files(tr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, WITHOUT(1, ftrace_allocate_ftrace_ops(tr)), -ENOMEM);
	KUNIT_EXPECT_NULL(test, tr->ops);
	KUNIT_ASSERT_EQ(test, ftrace_allocate_ftrace_ops(tr), 0);
	KUNIT_EXPECT_EQ(test, WITHOUT(1, ftrace_create_function_files(tr, NULL)), -ENOMEM);
	ftrace_free_ftrace_ops(tr);
	KUNIT_EXPECT_NULL(test, tr->ops);
}

