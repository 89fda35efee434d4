/* SPDX-License-Identifier: GPL-2.0-only */
/* What the modules use in another way from version to version: this is the file for Linux 6.12. */
#ifndef _BENCH_BASE_H
#define _BENCH_BASE_H

#include <linux/hrtimer.h>

/* What an fprobe gets of the registers. */
#define bench_regs	pt_regs

static __always_inline void bench_timer_init(struct hrtimer *timer,
					     enum hrtimer_restart (*function)(struct hrtimer *),
					     enum hrtimer_mode mode)
{
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
}

#endif
