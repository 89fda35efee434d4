// SPDX-License-Identifier: GPL-2.0-only
/* What the shims take from the C library and from the system. */
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <linux/membarrier.h>

#include "host.h"

#define STACK_SIZE	(1UL << 20)

void *host_alloc(unsigned long size)
{
	return malloc(size ? size : 1);
}

void *host_alloc_aligned(unsigned long align, unsigned long size)
{
	return aligned_alloc(align, (size + align - 1) / align * align);
}

void *host_realloc(void *p, unsigned long size)
{
	return realloc(p, size);
}

unsigned long host_size(void *p)
{
	return malloc_usable_size(p);
}

void host_free(void *p)
{
	free(p);
}

static int text_fd = -1;

int host_text_create(unsigned long size)
{
	text_fd = memfd_create("text", 0);
	return text_fd < 0 ? -1 : ftruncate(text_fd, size);
}

void host_text_copy(unsigned long offset, const void *from, unsigned long size)
{
	/* Not by the C library: ThreadSanitizer does not let it read the text of the program. */
	if (syscall(SYS_pwrite64, text_fd, from, size, offset) != (long)size)
		host_abort();
}

void *host_map(void *addr, unsigned long size, unsigned long offset, int write, int exec)
{
	int prot = PROT_READ | (write ? PROT_WRITE : 0) | (exec ? PROT_EXEC : 0);
	void *p = mmap(addr, size, prot, MAP_SHARED | (addr ? MAP_FIXED : 0), text_fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

void host_reserve(void *addr, unsigned long size)
{
	if (mmap(addr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
	    addr)
		host_abort();
}

/* Any use is a crash. */
void host_forbid(void *addr, unsigned long size)
{
	mprotect(addr, size, PROT_NONE);
}

void host_permit(void *addr, unsigned long size)
{
	mprotect(addr, size, PROT_READ | PROT_WRITE);
}

struct host_thread {
	pthread_t thread;
	void (*func)(void *arg);
	void *arg;
	jmp_buf end;
};

static __thread struct host_thread *this_thread;

/* Signals have a stack of their own, so that a full stack is reported. */
static void signal_stack(void)
{
	stack_t stack = { .ss_size = STACK_SIZE };

	stack.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	sigaltstack(&stack, NULL);
}

static void signal_stack_free(void)
{
	stack_t stack = { .ss_flags = SS_DISABLE }, old;

	sigaltstack(&stack, &old);
	munmap(old.ss_sp, STACK_SIZE);
}

static void *thread_main(void *arg)
{
	this_thread = arg;
	signal_stack();
	if (!setjmp(this_thread->end))
		this_thread->func(this_thread->arg);
	signal_stack_free();
	return NULL;
}

struct host_thread *host_thread(void (*func)(void *arg), void *arg)
{
	struct host_thread *t = calloc(1, sizeof(*t));

	t->func = func;
	t->arg = arg;
	if (pthread_create(&t->thread, NULL, thread_main, t))
		host_abort();
	return t;
}

void host_join(struct host_thread *t)
{
	pthread_join(t->thread, NULL);
	free(t);
}

void host_interrupt(struct host_thread *t)
{
	pthread_kill(t->thread, SIGUSR1);
}

/*
 * Call a function, which ends the program, in a child. Only before there are other threads, which
 * could hold a lock of malloc().
 */
int host_child(void (*func)(void *arg), void *arg)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
		func(arg);
		host_abort();
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 || status;
}

static cpu_set_t usable;

unsigned int host_nr_cpus(void)
{
	return CPU_COUNT(&usable);
}

void host_pin(struct host_thread *t, unsigned int n)
{
	cpu_set_t set;
	int cpu = -1;

	for (n %= host_nr_cpus(); ; n--) {
		for (cpu++; !CPU_ISSET(cpu, &usable); cpu++)
			;
		if (!n)
			break;
	}
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(t ? t->thread : pthread_self(), sizeof(set), &set);
}

void host_thread_exit(void)
{
	longjmp(this_thread->end, 1);
}

void host_set_gs(unsigned long base)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, base);
}

/* Every thread serialises before it returns to its code. */
void host_sync_cores(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		host_abort();
}

/* This thread alone; Intel SDM vol. 3A and AMD APM vol. 2, "Serializing Instructions". */
void host_serialise(void)
{
	unsigned int a = 0, b, c = 0, d;

	asm volatile("cpuid" : "+a" (a), "=b" (b), "+c" (c), "=d" (d) : : "memory");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

void host_lock(void)
{
	pthread_mutex_lock(&lock);
}

void host_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void host_wait(void)
{
	pthread_cond_wait(&cond, &lock);
}

void host_wake(void)
{
	pthread_cond_broadcast(&cond);
}

void host_usleep(unsigned long usecs)
{
	usleep(usecs);
}

void host_yield(void)
{
	sched_yield();
}

int host_own_clock(void)
{
	clockid_t clock;

	pthread_getcpuclockid(pthread_self(), &clock);
	return clock;
}

unsigned long host_run_ns(int clock)
{
	struct timespec t = { };

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

/* Not a multiple of the time stamp counter, which may have begun with the clock. */
unsigned long host_clock_ns(void)
{
	return host_run_ns(CLOCK_MONOTONIC) + 1000000000000UL;
}

const char *host_getenv(const char *name)
{
	return getenv(name);
}

long host_read(char *text, unsigned long size)
{
	unsigned long n = 0;
	long got;

	while (n < size && (got = read(0, text + n, size - n)) > 0)
		n += got;
	return n;
}

void host_write(const char *text, unsigned long len)
{
	fwrite(text, 1, len, stdout);
	fflush(stdout);
}

int host_stack(void **stack, int nr)
{
	return backtrace(stack, nr);
}

static _Noreturn void end(void)
{
#ifdef NATIVE_FUZZ
	/* Then libFuzzer writes the input to a file. */
	abort();
#endif
	_exit(3);
}

static void on_alarm(int sig)
{
	end();
}

/* A report may need a lock, of malloc perhaps, that what was interrupted holds. */
static void limit_report(void)
{
	signal(SIGALRM, on_alarm);
	alarm(5);
}

/*
 * Only the first of several threads is reported. The stack may lead to where nothing can be read.
 */
void host_abort(void)
{
	static __thread bool aborts;
	static bool any_aborts;

	limit_report();
	if (!aborts) {
		while (__atomic_exchange_n(&any_aborts, true, __ATOMIC_SEQ_CST))
			pause();
		aborts = true;
		printf("# while: %s\n", native_doing());
		native_details();
		native_backtrace();
	}
	fflush(stdout);
	end();
}

void host_exit(int status)
{
	fflush(stdout);
	exit(status);
}

/* The trap instructions of the kernel: int3, and ud2 of a warning. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct host_regs regs = { g[REG_RIP], g[REG_RSP], g[REG_EFL] };

	/* A debug exception. Some hypervisors lose the bit of DR6 that would make it TRAP_TRACE. */
	if (sig == SIGTRAP && g[REG_TRAPNO] == 1) {
		native_step(&regs);
		g[REG_EFL] = regs.flags;
		return;
	}
	if ((sig == SIGTRAP && native_trap(&regs)) || (sig == SIGILL && native_bug(&regs)) ||
	    (sig == SIGSEGV && native_privileged(&regs))) {
		g[REG_RIP] = regs.ip;
		g[REG_RSP] = regs.sp;
		return;
	}
	limit_report();
	printf("# signal %d at %p, address %p\n", sig, (void *)regs.ip, info->si_addr);
	/* A call of no function has no frame: who called it? */
	if (regs.ip < 4096)
		native_print_symbol("called from", *(unsigned long *)regs.sp);
	fflush(stdout);
	host_abort();
}

/* Another thread sent a signal: anywhere, as an NMI comes. */
static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct host_regs regs = { g[REG_RIP], g[REG_RSP], g[REG_EFL] };
	int saved = errno;

	native_interrupt(&regs);
	errno = saved;
}

static void signals_init(void)
{
	static const int signals[] = { SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE };
	void *stack;
	struct sigaction sa = {
		.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	struct sigaction interrupt = {
		.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
	};

	signal_stack();
	/* The first call loads a library, which a signal handler may not do. */
	backtrace(&stack, 1);
	sigaction(SIGUSR1, &interrupt, NULL);
	sched_getaffinity(0, sizeof(usable), &usable);
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
}

static void *ticker(void *unused)
{
	for (;;) {
		usleep(4000);
		native_tick();
	}
	return NULL;
}

/* jiffies go on from now on. */
void host_start_ticks(void)
{
	pthread_t tick;

	pthread_create(&tick, NULL, ticker, NULL);
}

static void begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signals_init();
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0)) {
		printf("Bail out! membarrier() of this kernel cannot serialise all CPUs\n");
		exit(1);
	}
}

#ifndef NATIVE_FUZZ
int main(int argc, char **argv)
{
	begin();
	return native_main(argc, argv);
}
#else
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	begin();
	native_fuzz_begin();
	return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)
{
	native_fuzz(data, size);
	return 0;
}
#endif
