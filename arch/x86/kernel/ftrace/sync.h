/* SPDX-License-Identifier: GPL-2.0-only */
/* Make every CPU serialise before it executes another call site. */
#ifndef _X86_KERNEL_FTRACE_SYNC_H
#define _X86_KERNEL_FTRACE_SYNC_H

void ftrace_sync_cpus(void);

#endif
