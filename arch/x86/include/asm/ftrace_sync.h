/* SPDX-License-Identifier: GPL-2.0-only */
/* What a CPU does on its way into the kernel, because it was not interrupted outside. */
#ifndef _ASM_X86_FTRACE_SYNC_H
#define _ASM_X86_FTRACE_SYNC_H

#include <linux/atomic.h>
#include <linux/percpu.h>

extern atomic_long_t ftrace_sync_steps;
DECLARE_PER_CPU(long, ftrace_synced);

void ftrace_sync_now(void);

/**
 * ftrace_sync_entry - serialise if call sites have changed since this CPU did so
 *
 * Context: RCU has just begun to watch this CPU, after a full barrier; or an NMI or a warning, that
 *	may have come before the CPU had done this. Before anything that can be traced.
 */
static __always_inline void ftrace_sync_entry(void)
{
	if (unlikely(raw_atomic_long_read(&ftrace_sync_steps) != raw_cpu_read(ftrace_synced)))
		ftrace_sync_now();
}

#endif
