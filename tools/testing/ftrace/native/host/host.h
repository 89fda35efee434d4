/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the shims take from the C library and from the system. Shims are compiled with the
 * headers of the kernel, host.c with those of the C library, this header with both.
 */
#ifndef _HOST_H
#define _HOST_H

/* Memory. */
void *host_alloc(unsigned long size);
void *host_alloc_aligned(unsigned long align, unsigned long size);
void *host_realloc(void *p, unsigned long size);
/* How many bytes there are, at least as many as were asked for. */
unsigned long host_size(void *p);
void host_free(void *p);

/* Memory of the file that has the text: @offset of it at @addr. */
int host_text_create(unsigned long size);
void host_text_copy(unsigned long offset, const void *from, unsigned long size);
void *host_map(void *addr, unsigned long size, unsigned long offset, int write, int exec);
/* Memory for host_map() at fixed addresses outside the image of the program. */
void host_reserve(void *addr, unsigned long size);
void host_forbid(void *addr, unsigned long size);
void host_permit(void *addr, unsigned long size);

/* Threads. host_thread_exit() ends the function of a thread. */
struct host_thread;
struct host_thread *host_thread(void (*func)(void *arg), void *arg);
void host_join(struct host_thread *thread);
/*
 * Send a signal, which calls native_interrupt(). Move a thread, or the calling thread if NULL, to
 * the n-th CPU of the host, modulo.
 */
void host_interrupt(struct host_thread *thread);
void host_pin(struct host_thread *thread, unsigned int n);
unsigned int host_nr_cpus(void);
int host_child(void (*func)(void *arg), void *arg);
_Noreturn void host_thread_exit(void);
void host_set_gs(unsigned long base);
void host_sync_cores(void);

/* A lock, and a condition that is waited for with the lock held. */
void host_lock(void);
void host_unlock(void);
void host_wait(void);
void host_wake(void);

void host_start_ticks(void);
void host_usleep(unsigned long usecs);
void host_yield(void);
/* The clock of the time that the calling thread runs, and the time of such a clock. */
int host_own_clock(void);
unsigned long host_run_ns(int clock);
unsigned long host_clock_ns(void);

void host_write(const char *text, unsigned long len);
const char *host_getenv(const char *name);
/* Read standard input to its end. */
void host_serialise(void);
long host_read(char *text, unsigned long size);
int host_stack(void **stack, int nr);
_Noreturn void host_abort(void);
_Noreturn void host_exit(int status);

/*
 * Registers at a trap, as far as shims change them. The functions are of shims; they return
 * 0 if the trap is not theirs.
 */
struct host_regs {
	unsigned long ip, sp, flags;
};

int native_trap(struct host_regs *regs);
void native_interrupt(struct host_regs *regs);
/* X86_EFLAGS_TF is set, and an instruction was executed. */
void native_step(struct host_regs *regs);
int native_bug(struct host_regs *regs);
/* An instruction that only a kernel may execute. */
int native_privileged(struct host_regs *regs);
int native_main(int argc, char **argv);
void native_tick(void);
/* For a fuzzer; see ../fuzz/fuzz.c. */
void native_fuzz_begin(void);
void native_fuzz(const unsigned char *data, unsigned long size);
void native_backtrace(void);
void native_print_symbol(const char *what, unsigned long addr);
/* What the program was doing, in a line and in more. The report of a crash says it. */
const char *native_doing(void);
void native_details(void);

#endif
