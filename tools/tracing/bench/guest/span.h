/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * span.h: what an operation takes, for the programs that time operations in a guest.
 *
 * Each timed operation prints one line: its name, how many things it did, and three figures: TSC ticks, nanoseconds,
 * and nanoseconds of CPU time. CPU time is that of this process and of all kernel threads, so it holds what an operation
 * hands to a worker, and not the sleep for a grace period. Where guest time counts instructions, all three are instructions.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

struct span {
	uint64_t ticks, ns, cpu;
	uint64_t others[32768];
	bool had[32768];
};

static struct span span;

/* CPU time of all kernel threads since span_start(); with start, only note where they are. */
static uint64_t others(bool start)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t sum = 0;

	if (!proc)
		die("/proc");
	if (start)
		memset(span.had, 0, sizeof(span.had));
	while ((entry = readdir(proc))) {
		unsigned long pid = strtoul(entry->d_name, NULL, 10);
		uint64_t ns;

		if (!isdigit(entry->d_name[0]) || pid >= 32768 || pid == (unsigned long)getpid())
			continue;
		/* The kernel's own encoding of a process's clock. */
		ns = clock_ns(((clockid_t)~pid << 3) | 2);
		if (start) {
			span.others[pid] = ns;
			span.had[pid] = true;
		} else {
			sum += ns - (span.had[pid] ? span.others[pid] : 0);
		}
	}
	closedir(proc);
	return sum;
}

static void span_start(void)
{
	others(true);
	span.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	span.ns = clock_ns(CLOCK_MONOTONIC);
	span.ticks = __rdtsc();
}

static void span_end(void)
{
	span.ticks = __rdtsc() - span.ticks;
	span.ns = clock_ns(CLOCK_MONOTONIC) - span.ns;
	span.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - span.cpu;
	span.cpu += others(false);
}

static void report(const char *name, unsigned long count)
{
	printf("%s %lu %llu %llu %llu\n", name, count, (unsigned long long)span.ticks,
	       (unsigned long long)span.ns, (unsigned long long)span.cpu);
	fflush(stdout);
}
