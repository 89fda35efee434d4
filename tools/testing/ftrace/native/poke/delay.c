// SPDX-License-Identifier: GPL-2.0-only
/* Delays between any two steps, as in the tests of rseq. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "poke.h"

const char *const point_names[NR_POINTS] = {
	"int3", "tail", "head", "sync", "synced", "begin", "fence", "search", "call", "trap", "found",
};

const char *const delay_names[NR_DELAYS] = {
	"loop", "yield", "signal", "sleep", "flush-first", "flush-last",
};

volatile struct mood mood = { .point = -1 };

static void flush(const void *at)
{
	__asm__ volatile("clflush (%0)" : : "r"(at) : "memory");
}

/* @at: the bytes of the site, in any mapping */
void delay_now(enum point point, const void *at)
{
	struct mood now = mood;

	if (now.point != (int)point || (now.one_in > 1 && thread_random() % now.one_in))
		return;
	__atomic_fetch_add(&result->delays, 1, __ATOMIC_RELAXED);
	switch (now.delay) {
	case LOOP:
		for (unsigned int i = 0; i < now.amount; i++)
			__asm__ volatile("" : : : "memory");
		break;
	case YIELD:
		sched_yield();
		break;
	case SIGNAL:
		raise(SIGUSR1);
		break;
	case SLEEP:
		usleep(now.amount);
		break;
	case FLUSH_FIRST:
		if (at)
			flush(at);
		break;
	default:
		if (at)
			flush((const u8 *)at + POKE_INSN_SIZE - 1);
		break;
	}
}
