/* SPDX-License-Identifier: GPL-2.0-only */
/* What the modules use in another way from version to version: this is the file for Linux 7.3. */
#ifndef _BENCH_BASE_H
#define _BENCH_BASE_H

#include <linux/hrtimer.h>

/* What an fprobe gets of the registers. */
#define bench_regs	ftrace_regs

static __always_inline void bench_timer_init(struct hrtimer *timer,
					     enum hrtimer_restart (*function)(struct hrtimer *),
					     enum hrtimer_mode mode)
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
}

#endif
