/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _FTRACE_KUNIT_H
#define _FTRACE_KUNIT_H

#include <linux/compiler.h>

int ftrace_kunit_func1(int arg);
int ftrace_kunit_func2(int arg);
int ftrace_kunit_func3(int arg);
int ftrace_kunit_func4(int arg);

#endif
