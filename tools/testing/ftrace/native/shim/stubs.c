// SPDX-License-Identifier: GPL-2.0-only
/* What does nothing, or says that there is nothing: perf, hardware, modules, tracepoints. */
#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/hw_breakpoint.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/ratelimit.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/nops.h>
#include <asm/processor.h>

#include <kunit/attributes.h>

#include "native.h"

DEFINE_MUTEX(text_mutex);
DEFINE_MUTEX(module_mutex);
DEFINE_MUTEX(event_mutex);

static const unsigned char nop5[] = { BYTES_NOP5 };
const unsigned char * const x86_nops[] = { [5] = nop5 };
struct cpuinfo_x86 boot_cpu_data;

void trace_hardirqs_on(void) { }
void trace_hardirqs_off(void) { }

u64 notrace sched_clock(void)
{
	return host_clock_ns();
}

void ktime_get_ts64(struct timespec64 *ts)
{
	*ts = ns_to_timespec64(host_clock_ns());
}

/* No perf event, and no watchpoint. */
#ifdef CONFIG_PERF_EVENTS
bool perf_text_poke_wanted(void)
{
	return false;
}

void perf_event_text_poke(const void *addr, const void *old_bytes, size_t old_len,
			  const void *new_bytes, size_t new_len)
{
}

void perf_event_ksymbol(u16 ksym_type, u64 addr, u32 len, bool unregister, const char *sym) { }
void hw_breakpoint_restore(void) { }
#endif

/* KUnit. */
DEFINE_STATIC_KEY_FALSE(kunit_running);
struct kunit_hooks_table kunit_hooks;
void kunit_print_attr(void *test_or_suite, bool is_test, unsigned int test_level) { }
void add_taint(unsigned int flag, enum lockdep_ok ok) { }
bool static_key_initialized = true;

/* No modules but those that a test makes. */
struct module *find_module(const char *name)
{
	return NULL;
}

int module_kallsyms_on_each_symbol(const char *modname,
				   int (*fn)(void *, const char *, unsigned long), void *data)
{
	return 0;
}

unsigned long module_kallsyms_lookup_name(const char *name)
{
	return 0;
}

int module_address_lookup(unsigned long addr, unsigned long *size, unsigned long *offset,
			  char **modname, const unsigned char **modbuildid, char *namebuf)
{
	return 0;
}

/* Messages are never too many. */
int ___ratelimit(struct ratelimit_state *rs, const char *func)
{
	return 1;
}

