/* SPDX-License-Identifier: GPL-2.0-only */
/* What the shims share. host.h has what they take from the C library. */
#ifndef _NATIVE_H
#define _NATIVE_H

#include <linux/types.h>

#include "../host/host.h"

struct task_struct;

/* CPUs that run tests, and those of threads of the shims, which never run tests. */
#define NATIVE_CPUS		8
#define NATIVE_ONLINE		4
#define NATIVE_WORKER_CPU	7

/* Print, and end the program: what was found is a bug of the core, or of a shim. */
void __noreturn __printf(1, 2) native_fail(const char *fmt, ...);

/* What the program is doing. The report of a crash says it. */
extern const char *native_work;

/* How many warnings there were. */
extern unsigned int native_warnings;

/* Do not print what the core says, except for warnings. */
extern bool native_quiet;

/* On the current thread, the n-th allocation from now fails, if not 0. */
void native_fail_nth(unsigned long n);
unsigned long native_fail_left(void);
/* Returns true if this allocation must fail. */
bool native_alloc_fails(gfp_t gfp);
/* What was allocated and not freed. */
unsigned long native_live(void);

/* A thread begins or ends to be a CPU. */
struct task_struct *native_task(int cpu);
void native_cpu_begin(struct task_struct *task, int cpu);
void native_cpu_end(void);

/* Around a call of the host that sleeps: the task uses nothing that RCU protects. */
void native_sleep_begin(const char *what);
void native_sleep_end(void);
/* Does the task of a CPU run? How long has it run? */
bool native_cpu_runs(int cpu);
unsigned long native_run_ns(int cpu);
/* The task has switched voluntarily. */
void native_quiescent(void);
/* Wait until all work is done and all that waits for RCU is freed. */
void native_settle(void);

unsigned long native_pv_save_fl(void);
void native_pv_irq_disable(void);
void native_pv_irq_enable(void);
bool native_irqs_off(int cpu);
int native_preempt_count(int cpu);

unsigned long native_text_offset(unsigned long addr);
void native_text_init(void);
void native_percpu_init(void);
void native_work_init(void);
void native_text_done(void);
void native_pv_init(void);

/* Compare random operations with a model; see oracle.c. */
int native_oracle(int argc, char **argv);

#endif
