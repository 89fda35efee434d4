/* SPDX-License-Identifier: GPL-2.0-only */
/* Heirs: classes with many ops that take over a trampoline. */
#ifndef _FTRACE_HEIRS_H
#define _FTRACE_HEIRS_H

#include <linux/ftrace_arch.h>

int ftrace_heirs_prepare(const struct ftrace_patch *batch, unsigned int nr);
void ftrace_heirs_take(const struct ftrace_patch *batch, unsigned int nr);

#endif
