// SPDX-License-Identifier: GPL-2.0-only
/* What the shims take from the C library and from the system. */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

void host_unmap(void *addr, unsigned long size)
{
	munmap(addr, size);
}

/* Any use is a crash. */
void host_forbid(void *addr, unsigned long size)
{
	mprotect(addr, size, PROT_NONE);
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

unsigned long host_clock_ns(void)
{
	return host_run_ns(CLOCK_MONOTONIC);
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

void host_abort(void)
{
	printf("# while: %s\n", native_doing());
	native_backtrace();
	fflush(stdout);
	_exit(3);
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

	if (sig == SIGTRAP ? native_trap(&regs) : sig == SIGILL && native_bug(&regs)) {
		g[REG_RIP] = regs.ip;
		g[REG_RSP] = regs.sp;
		return;
	}
	/* The lock of malloc may be held. */
	signal(SIGALRM, SIG_DFL);
	alarm(5);
	printf("# signal %d at %p, address %p\n", sig, (void *)regs.ip, info->si_addr);
	fflush(stdout);
	host_abort();
}

static void signals_init(void)
{
	static const int signals[] = { SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE };
	struct sigaction sa = {
		.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	signal_stack();
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

int main(int argc, char **argv)
{
	pthread_t tick;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signals_init();
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0)) {
		printf("Bail out! membarrier() of this kernel cannot serialise all CPUs\n");
		return 1;
	}
	pthread_create(&tick, NULL, ticker, NULL);
	return native_main(argc, argv);
}
