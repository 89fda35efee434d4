/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the KUnit tests of the core share: functions to trace, ops that note their
 * calls, and what the core knows of a site.
 *
 * A suite has ftrace_kunit_exit(), which looks at the state of the core at the end of each case. A
 * failed KUNIT_ASSERT_*() ends the task of the case at once. So a case passes each ops
 * to ftrace_kunit_add_ops() before the first use of the ops, and asserts nothing while
 * it holds a lock.
 */
#ifndef _FTRACE_KUNIT_H
#define _FTRACE_KUNIT_H

#include <kunit/test.h>
#include <linux/ftrace.h>

struct ftrace_class;
struct ftrace_site;
struct ftrace_table;

typedef int (*test_func_t)(int arg);

/* What a site calls that another writer has changed: it returns at once. */
#define FTRACE_KUNIT_STRANGE	MCOUNT_ADDR

int ftrace_kunit_func1(int arg);
int ftrace_kunit_func2(int arg);
int ftrace_kunit_func3(int arg);
int ftrace_kunit_func4(int arg);

void ftrace_kunit_note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);
void ftrace_kunit_note_x(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);
const char *ftrace_kunit_calls_of(test_func_t func);

int ftrace_kunit_alone(struct kunit *test);
void ftrace_kunit_add_ops(struct kunit *test, struct ftrace_ops *ops);
int ftrace_kunit_filter(struct ftrace_ops *ops, test_func_t func, bool reset);

struct ftrace_site *ftrace_kunit_site(test_func_t func, struct ftrace_table **t);
struct ftrace_class *ftrace_kunit_class(test_func_t func);
unsigned long ftrace_kunit_tramp(test_func_t func);
bool ftrace_kunit_site_calls(test_func_t func, unsigned long target);
void ftrace_kunit_write_site(test_func_t func, unsigned long from, unsigned long to);
void ftrace_kunit_mend_site(void *func);
void ftrace_kunit_break_site(struct kunit *test, test_func_t func);
unsigned int ftrace_kunit_nr_classes(void);
void ftrace_kunit_forget(struct kunit_suite *suite);
const char *ftrace_kunit_state(void);
void ftrace_kunit_exit(struct kunit *test);

#endif
