// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the KUnit tests of the core share.
 *
 * A callback notes its call as a letter. So a case compares one string to see which ops
 * were called, and in which order.
 */
#include <linux/cpu.h>
#include <linux/ftrace_arch.h>
#include <linux/memory.h>

#include "../class.h"
#include "../core.h"
#include "../dispatch.h"
#include "../ops.h"
#include "../table.h"
#include "ftrace_kunit.h"

/* The letters of the ops that were called. */
static char called[16];
static unsigned int nr_called;

static void kunit_note_letter(char letter)
{
	if (nr_called < sizeof(called) - 1)
		called[nr_called++] = letter;
}

/* A callback: notes the letter in the ->private of the ops. */
void ftrace_kunit_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	kunit_note_letter((char)(unsigned long)ops->private);
}

/* Another callback for the same ops: notes an x. */
void ftrace_kunit_note_x(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	kunit_note_letter('x');
}

/* Call a function, and return the letters of the ops that were called. */
const char *ftrace_kunit_calls_of(test_func_t func)
{
	memset(called, 0, sizeof(called));
	nr_called = 0;
	func(1);
	return called;
}

/* The init function of suites whose cases look at all that is on their functions. */
int ftrace_kunit_alone(struct kunit *test)
{
	if (ftrace_kunit_class(ftrace_kunit_func1)->nr)
		kunit_skip(test, "a tracer has traced the functions since boot");
	return 0;
}

static void kunit_end_ops(struct ftrace_ops *ops)
{
	bool registered = ops->flags & FTRACE_OPS_FL_ENABLED;
	int ret;

	/* An ops that is not registered any more is refused. */
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		ret = unregister_ftrace_direct(ops, 0, false);
	else
		ret = unregister_ftrace_function(ops);
	WARN_ON(registered && ret);
	ftrace_free_filter(ops);
}

KUNIT_DEFINE_ACTION_WRAPPER(kunit_end_ops_action, kunit_end_ops, struct ftrace_ops *);

/* When the case ends, unregister an ops that is still registered, and free its filter. */
void ftrace_kunit_add_ops(struct kunit *test, struct ftrace_ops *ops)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, kunit_end_ops_action, ops), 0);
}

int ftrace_kunit_filter(struct ftrace_ops *ops, test_func_t func, bool reset)
{
	return ftrace_set_filter_ip(ops, (unsigned long)func, 0, reset);
}

struct ftrace_site *ftrace_kunit_site(test_func_t func, struct ftrace_table **t)
{
	return ftrace_find_site(ftrace_location((unsigned long)func), t);
}

struct ftrace_class *ftrace_kunit_class(test_func_t func)
{
	struct ftrace_table *t;

	return ftrace_class_nth(site_class(ftrace_kunit_site(func, &t)));
}

/* Returns 0 if the function is not traced. */
unsigned long ftrace_kunit_tramp(test_func_t func)
{
	struct ftrace_class *c = ftrace_kunit_class(func);

	return c->nr ? c->dispatch->tramp->addr : 0;
}

bool ftrace_kunit_site_calls(test_func_t func, unsigned long target)
{
	guard(mutex)(&text_mutex);
	return arch_ftrace_site_calls(ftrace_location((unsigned long)func), target);
}

/* Change what the site of a function calls. The core does not know of the change. */
void ftrace_kunit_write_site(test_func_t func, unsigned long from, unsigned long to)
{
	const unsigned long targets[] = { from, to };
	struct ftrace_table *t;
	struct ftrace_site *site = ftrace_kunit_site(func, &t);
	const struct ftrace_patch patch = { site_ip(t, site), site, 0, 1 };

	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	arch_ftrace_patch(&(struct ftrace_batch){ &patch, 1, targets });
}

/* Give the site the bytes that the core expects, and let the core use the site again. */
void ftrace_kunit_mend_site(void *func)
{
	struct ftrace_table *t;
	struct ftrace_site *site = ftrace_kunit_site(func, &t);

	guard(mutex)(&ftrace_lock);
	if (ftrace_kunit_site_calls(func, FTRACE_KUNIT_STRANGE))
		ftrace_kunit_write_site(func, FTRACE_KUNIT_STRANGE,
					ftrace_targets[site_class(site)]);
	site->state &= ~SITE_FAILED;
}

/* Write unexpected bytes to the site. When the case ends, the site is mended. */
void ftrace_kunit_break_site(struct kunit *test, test_func_t func)
{
	unsigned long call = ftrace_targets[ftrace_kunit_class(func)->id];

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ftrace_kunit_mend_site, func), 0);
	ftrace_kunit_write_site(func, call, FTRACE_KUNIT_STRANGE);
	KUNIT_ASSERT_TRUE(test, ftrace_kunit_site_calls(func, FTRACE_KUNIT_STRANGE));
}

unsigned int ftrace_kunit_nr_classes(void)
{
	unsigned int nr = 0;

	guard(mutex)(&ftrace_lock);
	for (unsigned int id = 1; id < ftrace_nr_classes; id++)
		nr += !!ftrace_class_nth(id);
	return nr;
}

/*
 * Restore the flags of the sites, so that the listing files do not show the tests. A tracer that
 * has traced the sites since boot needs the flags.
 */
void ftrace_kunit_forget(struct kunit_suite *suite)
{
	static const test_func_t all[] = {
		ftrace_kunit_func1, ftrace_kunit_func2, ftrace_kunit_func3,
		ftrace_kunit_func4,
	};

	guard(mutex)(&ftrace_lock);
	for (int i = 0; i < ARRAY_SIZE(all); i++) {
		struct ftrace_table *t;
		struct ftrace_site *site = ftrace_kunit_site(all[i], &t);

		/* A site that failed at boot has other bytes, and stays failed. */
		if (!site_class(site) && ftrace_kunit_site_calls(all[i], 0))
			site->state = 0;
	}
}
