/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NATIVE_BENCH_H
#define NATIVE_BENCH_H

#include <linux/ftrace.h>

#include "../shim/native.h"

#define BENCH_MAX_OPS	40
#define BENCH_RUNS	4001

extern struct ftrace_ops bench_ops[BENCH_MAX_OPS];
extern u64 *bench_result;
extern unsigned int bench_runs;

void bench_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		    struct ftrace_regs *fregs);
/* Register @nr ops, from the @first on, on one function; and remove all. */
void bench_begin(unsigned int first, unsigned int nr, unsigned int func, unsigned long flags);
void bench_end(void);
/* Call the first function, and print a row; print what bench_result has, in @unit of @per. */
void bench_calls(const char *name);
void bench_row(const char *name, const char *unit, u64 per);
void bench_all_calls(unsigned int runs);

#endif
