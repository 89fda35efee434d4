// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enter the kernel with getppid(), and now and then with a page fault, until SIGTERM comes. Then print
 * how often getppid() was called. Between two calls the task stays in user mode for some
 * microseconds, so that a change of call sites finds the CPU outside the kernel.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAULT_EVERY	16
#define MAX_OUTSIDE	1024

static volatile sig_atomic_t stop;

static void on_sigterm(int sig)
{
	stop = sig;
}

int main(void)
{
	volatile char *page;
	unsigned int random = 1;
	unsigned long calls = 0;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	signal(SIGTERM, on_sigterm);
	while (!stop) {
		random = random * 1664525 + 1013904223;
		for (volatile unsigned int spin = (random >> 16) % MAX_OUTSIDE; spin; spin--)
			;
		syscall(SYS_getppid);
		if (++calls % FAULT_EVERY)
			continue;
		madvise((void *)page, 4096, MADV_DONTNEED);
		page[0] = 1;
	}
	printf("%lu\n", calls);
	return 0;
}
