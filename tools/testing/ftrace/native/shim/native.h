/* SPDX-License-Identifier: GPL-2.0-only */
/* What the shims share. host.h has what they take from the C library. */
#ifndef _NATIVE_H
#define _NATIVE_H

#include <linux/smp.h>
#include <linux/types.h>
#include <linux/version.h>

#include "../host/host.h"

struct task_struct;

/* CPUs that run tests, and those of threads of the shims, which never run tests. */
#define NATIVE_CPUS		16
#define NATIVE_ONLINE		4
#define NATIVE_WORKER_CPU	15

/* A CPU comes online, for those who watch CPUs. */
void native_cpu_comes(unsigned int cpu);

/* Print, and end the program: what was found is a bug of the core, or of a shim. */
void __noreturn __printf(1, 2) native_fail(const char *fmt, ...);

/* What the program is doing. The report of a crash says it. */
extern const char *native_work;

/* The fault that the program has, see ../faults; 0: none. */
extern unsigned int native_fault;

/* From a call to the next: was a text printed? */
void native_log_begin(void);
bool native_log_has(const char *text);

/* How many trampolines perf knows. */
long native_announced(void);
/* How many events told perf the code of the last one; 0 if a part is missing. */
unsigned int native_code_events(void);
/* Does perf want changes of text, from the n-th question on? The last ones that it was told of. */
struct native_poke {
	unsigned long	addr;
	size_t		old_len, new_len;
	u8		before[8], after[8];
};

extern bool native_perf_wants;
extern unsigned int native_perf_sleeps;
extern struct native_poke native_pokes[64];
extern unsigned int native_nr_pokes;

/* How many frames the last stack trace leaves out: those between the trace and what is traced. */
extern unsigned int native_stack_skip;

/* How many warnings there were. */
extern unsigned int native_warnings;

/* Do not print what the core says, except for warnings. */
extern bool native_quiet;

/* On the current thread, the n-th allocation from now fails, if not 0. */
void native_fail_nth(unsigned long n);
unsigned long native_fail_left(void);
/* On the current thread, all allocations fail. */
void native_fail_all(bool all);
void native_fail_from(unsigned long n);
/* Pages of memory that are left, as si_mem_available() says. */
extern long native_pages_left;
/* Returns true if this allocation must fail. */
bool native_alloc_fails(gfp_t gfp);
/* What was allocated and not freed; of memory for all CPUs alone. */
unsigned long native_live(void);
unsigned long native_percpu_live(void);

/* A thread begins or ends to be a CPU. */
struct task_struct *native_task(int cpu);
void native_cpu_begin(struct task_struct *task, int cpu);
void native_cpu_end(void);
/* The current task continues on a CPU that runs no task. */
void native_cpu_move(int to);
/* A CPU enters and leaves the kernel: code with call sites. See context.c. */
bool native_kernel_enter(void);
void native_kernel_exit(void);
void native_kernel_moved(int from);
bool native_is_inside(int cpu);
bool native_others_are_inside(smp_cond_func_t cond, void *info);
void native_text_written(void);
void native_sender_serialised(void);
void native_serialise(void);
/* Broadcasts that left all other CPUs alone; how often a CPU serialised on its way in. */
extern unsigned long native_spared, native_serialised[NATIVE_CPUS];

/* Around a call of the host that sleeps: the task uses nothing that RCU protects. */
void native_sleep_begin(const char *what);
void native_sleep_end(void);
/* Does the task of a CPU run? How long has it run? */
bool native_cpu_runs(int cpu);
unsigned long native_waited(unsigned long us);
unsigned long native_run_ns(int cpu);
/* Does any task wait for a lock? */
struct mutex;
bool native_waits_for(const struct mutex *lock);
/* The task has switched voluntarily. */
void native_quiescent(void);
/* Wait until all work is done and all that waits for RCU is freed. */
void native_settle(void);
/* No work is done before somebody waits for it. */
void native_lazy_work(bool on);

unsigned long native_pv_save_fl(void);
void native_pv_irq_disable(void);
void native_pv_irq_enable(void);
bool native_irqs_off(int cpu);
int native_preempt_count(int cpu);
/* Where a task may sleep or offers its CPU to others, this is called with the name of the file. */
extern void (*native_offers)(const char *file);
/* How often the flight recorder's code gave the CPU to another task. */
extern unsigned long native_preemptions;

void native_boot(int nr, char **params);
/*
 * The n-th allocation of ftrace_init() fails, if not 0; or the n-th of those for the window, for
 * which the kernel panics.
 */
extern unsigned int native_boot_fails, native_window_fails;
unsigned long native_text_offset(unsigned long addr);
void native_text_init(void);
void native_percpu_init(void);
void native_work_init(void);
void native_text_done(void);
void native_text_end(void);

/* Where the byte at an address of text can be written. */
char *native_text_alias(unsigned long addr);
/* Is this address in memory for the code of trampolines and modules? */
bool native_is_arena(unsigned long addr);
/* How many pieces of this memory are in use. */
unsigned int native_nr_execmem(void);
/* Does a broadcast wait until each task has run, or only until each CPU has serialised? */
extern bool native_broadcast_waits;
/* How many there were, and how often a page was mapped to be written. */
unsigned long native_broadcasts(void);
extern void (*native_at_broadcast)(void);
unsigned long native_maps(void);
unsigned long native_loads(void);
/* On each CPU: traps of the core, and traps of a batch that was over when the trap was handled. */
extern unsigned long native_traps[NATIVE_CPUS], native_late[NATIVE_CPUS];

/* Files of tracefs and of /proc/sys/kernel; see tracefs.c. */
struct native_file;
#define NATIVE_BAD_USER		((void __user *)1)
struct native_file *native_open(const char *path, int flags);
fmode_t native_mode(const struct native_file *f);
ssize_t native_write_len(struct native_file *f, const char *text, size_t len);
int native_write(struct native_file *f, const char *text);
ssize_t native_read(struct native_file *f, char *buf, size_t size);
void native_rewind(struct native_file *f);
int native_close(struct native_file *f);
int native_close_one(struct native_file *f);
void native_drop(struct native_file *f);
int native_echo(const char *path, int flags, const char *text);
ssize_t native_cat(const char *path, char *buf, size_t size, size_t chunk);
int native_mkdir(const char *name);
int native_rmdir(const char *name);
int native_sysctl_write(const char *name, const char *text);
int native_sysctl_read(const char *name);

/* The events of a trace array; see ring_buffer.c. */
struct trace_array;
struct trace_entry;
void native_events(struct trace_array *tr, bool (*func)(struct trace_entry *entry, void *data),
		   void *data);

/* Names of code that is not there; see module.c. */
struct native_symbol {
	unsigned long	addr, size;
	const char	*name;
};

extern const struct native_symbol *native_symbols;

/* Tasks switch, fork and end; see tracepoint.c. How many probes tracepoints have. */
void native_become(pid_t pid);
void native_exec(pid_t pid);
void native_rename(struct task_struct *task);
void native_fork(pid_t parent, pid_t child);
void native_exit(pid_t pid);
void native_fork_in(pid_t parent, pid_t from_process, pid_t child, pid_t to_process);
void native_exit_in(pid_t pid, pid_t process);
unsigned int native_nr_hooks(void);
/* How often saved_cmdlines was switched on and not off again. */
extern int native_cmdlines;
extern unsigned int native_names;
extern pid_t native_name;
extern u64 native_ahead;

/* The module of module.h while it can be found, or NULL. */
extern struct module *native_module;

/* Functions of a user of the graph tracer; newer versions pass registers. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define NATIVE_GRAPH_ENTER(name) \
	int name(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
#define NATIVE_GRAPH_RETURN(name) \
	void name(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
#else
#define NATIVE_GRAPH_ENTER(name) \
	int name(struct ftrace_graph_ent *trace, struct fgraph_ops *gops, struct ftrace_regs *fregs)
#define NATIVE_GRAPH_RETURN(name) \
	void name(struct ftrace_graph_ret *trace, struct fgraph_ops *gops, struct ftrace_regs *fregs)
#endif

/* Compare random operations with a model; see oracle.c. */
int native_oracle(int argc, char **argv);
int native_bench(int argc, char **argv);
void native_oracle_choices(const u8 *data, size_t size);
/* A test that takes all signals and single steps; else NULL, and the torture test does. */
extern void (*native_interrupts)(struct host_regs *regs, bool step);
/* Do everything at once; see ../torture/. */
int native_torture(int argc, char **argv);
void native_torture_details(void);

#endif
