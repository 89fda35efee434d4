// SPDX-License-Identifier: GPL-2.0-only
/* What does nothing, or says that there is nothing: perf, hardware, modules, tracepoints. */
#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/cpuhotplug.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/ratelimit.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/suspend.h>
#include <linux/srcu.h>
#include <linux/trace_clock.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include <asm/nops.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#include <kunit/attributes.h>

#include "trace.h"
#include "native.h"

__visible const char linux_banner[] = "a kernel that is a program";

int check_tsc_unstable(void) { return 0; }
unsigned int tsc_khz = 1000000;

/* Pages of memory that are left. A case may change it. */
long native_pages_left = LONG_MAX;
long si_mem_available(void) { return native_pages_left; }

DEFINE_MUTEX(text_mutex);
DEFINE_MUTEX(module_mutex);
DEFINE_MUTEX(event_mutex);

static const unsigned char nop5[] = { BYTES_NOP5 };
static const unsigned char nop2[] = { BYTES_NOP2 };
const unsigned char * const x86_nops[] = { [2] = nop2, [5] = nop5 };
struct cpuinfo_x86 boot_cpu_data = { .x86_capability = { BIT(X86_FEATURE_TSC) } };

/* No mitigation wants it: only what "faults" makes of the core. */
void (*x86_return_thunk)(void);

void trace_hardirqs_on(void) { }
void trace_hardirqs_off(void) { }

u64 notrace sched_clock(void)
{
	return host_clock_ns();
}

u64 notrace trace_clock_local(void)
{
	return host_clock_ns();
}

void ktime_get_ts64(struct timespec64 *ts)
{
	*ts = ns_to_timespec64(host_clock_ns());
}

/* No perf event, unless a test wants changes of text. */
#ifdef CONFIG_PERF_EVENTS
bool native_perf_wants;
unsigned int native_perf_sleeps;
struct native_poke native_pokes[64];
unsigned int native_nr_pokes;

bool perf_text_poke_wanted(void)
{
	if (native_perf_sleeps) {
		native_perf_sleeps--;
		return false;
	}
	return native_perf_wants;
}

static void note_poke(const void *addr, const void *old_bytes, size_t old_len,
		      const void *new_bytes, size_t new_len)
{
	struct native_poke *poke = &native_pokes[native_nr_pokes++ % ARRAY_SIZE(native_pokes)];

	if (!native_perf_wants || old_len > sizeof(poke->before) || new_len > sizeof(poke->after))
		native_fail("perf is told of a change of %lx, which it does not want",
			    (unsigned long)addr);
	*poke = (struct native_poke){ (unsigned long)addr, old_len, new_len };
	memcpy(poke->before, old_bytes, old_len);
	memcpy(poke->after, new_bytes, new_len);
}

static atomic_long_t announced;

/* The code of the last trampoline that came: perf is told of it in pieces, one after the other. */
static unsigned long code_at, code_end;
static unsigned int code_events;

/* An event, header and code together, has 16 bits for its size. */
#define CODE_ROOM	(U16_MAX - 64)

void perf_event_text_poke(const void *addr, const void *old_bytes, size_t old_len,
			  const void *new_bytes, size_t new_len)
{
	if (new_bytes != addr) {
		note_poke(addr, old_bytes, old_len, new_bytes, new_len);
		return;
	}
	if (old_len || (unsigned long)addr != code_at || !new_len || new_len > CODE_ROOM ||
	    new_len > code_end - code_at)
		native_fail("perf is told %zu bytes of code at %lx", new_len, (unsigned long)addr);
	code_at += new_len;
	code_events++;
}

void perf_event_ksymbol(u16 ksym_type, u64 addr, u32 len, bool unregister, const char *sym)
{
	if (atomic_long_add_return(unregister ? -1 : 1, &announced) < 0)
		native_fail("perf is told that trampolines go which have not come");
	if (ksym_type != PERF_RECORD_KSYMBOL_TYPE_OOL || strcmp(sym, "ftrace_trampoline"))
		native_fail("perf is told of %s, type %u", sym, ksym_type);
	if (unregister)
		return;
	if (code_at != code_end)
		native_fail("perf is not told the end of the code before %lx", code_end);
	code_at = addr;
	code_end = addr + len;
	code_events = 0;
}

unsigned int native_code_events(void)
{
	return code_at == code_end ? code_events : 0;
}

long native_announced(void)
{
	return atomic_long_read(&announced);
}
#endif

/* KUnit. */
DEFINE_STATIC_KEY_FALSE(kunit_running);
struct kunit_hooks_table kunit_hooks;
void kunit_print_attr(void *test_or_suite, bool is_test, unsigned int test_level) { }
void add_taint(unsigned int flag, enum lockdep_ok ok) { }
bool static_key_initialized = true;

/* Messages are never too many. */
int ___ratelimit(struct ratelimit_state *rs, const char *func)
{
	return 1;
}

/* CPUs come only if a test says so, and never go. One state has instances. Nobody dies. */
struct atomic_notifier_head panic_notifier_list;
static int (*cpu_comes)(unsigned int cpu, struct hlist_node *node);
static HLIST_HEAD(cpu_instances);

int __cpuhp_setup_state(enum cpuhp_state state, const char *name, bool invoke,
			int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu),
			bool multi_instance)
{
	if (multi_instance)
		cpu_comes = (void *)startup;
	return multi_instance;
}

int __cpuhp_state_add_instance(enum cpuhp_state state, struct hlist_node *node, bool invoke)
{
	int cpu, ret = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		ret = cpu_comes(cpu, node);
		if (ret)
			break;
	}
	host_lock();
	if (!ret)
		hlist_add_head(node, &cpu_instances);
	host_unlock();
	cpus_read_unlock();
	return ret;
}

int __cpuhp_state_remove_instance(enum cpuhp_state state, struct hlist_node *node, bool invoke)
{
	cpus_read_lock();
	host_lock();
	hlist_del(node);
	host_unlock();
	cpus_read_unlock();
	return 0;
}

void native_cpu_comes(unsigned int cpu)
{
	struct hlist_node *node;

	hlist_for_each(node, &cpu_instances)
		cpu_comes(cpu, node);
}

int atomic_notifier_chain_register(struct atomic_notifier_head *nh, struct notifier_block *n)
{
	return 0;
}

int register_die_notifier(struct notifier_block *nb)
{
	return 0;
}

int register_pm_notifier(struct notifier_block *nb)
{
	return 0;
}

int unregister_pm_notifier(struct notifier_block *nb)
{
	return 0;
}

int register_module_notifier(struct notifier_block *nb)
{
	return 0;
}

/* No events but those of functions. Who removes a trace array waits for tasks in its events. */
int event_trace_init(void) { return 0; }
void trace_event_init(void) { }

struct trace_event_file *__find_event_file(struct trace_array *tr, const char *system,
					   const char *event)
{
	return NULL;
}

int event_trace_add_tracer(struct dentry *parent, struct trace_array *tr)
{
	return 0;
}

int event_trace_del_tracer(struct trace_array *tr)
{
	synchronize_rcu();
	return 0;
}

unsigned int native_stack_skip;

/* The frames of the host. Its signals have no frame here. */
unsigned int stack_trace_save(unsigned long *store, unsigned int size, unsigned int skip)
{
	void *stack[64];
	unsigned int nr = host_stack(stack, ARRAY_SIZE(stack)), n = 0;

	native_stack_skip = skip;
	for (skip++; skip < nr && n < size; skip++)
		store[n++] = (unsigned long)stack[skip];
	return n;
}

/* The largest pid. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
int pid_max = PID_MAX_DEFAULT;
#else
struct pid_namespace init_pid_ns = { .pid_max = PID_MAX_DEFAULT };
#endif

/* The names of tasks. */
int native_cmdlines;

int trace_create_savedcmd(void)
{
	return 0;
}

/* How often the name of a task was saved, and whose the last time. */
unsigned int native_names;
pid_t native_name;

void tracing_record_taskinfo(struct task_struct *task, int flags)
{
	native_names++;
	native_name = task->pid;
}

void trace_find_cmdline(int pid, char comm[])
{
	strscpy(comm, "task", TASK_COMM_LEN);
}

void mutex_destroy(struct mutex *lock) { }

int nonseekable_open(struct inode *inode, struct file *file)
{
	return 0;
}

void tracing_start_cmdline_record(void)
{
	native_cmdlines++;
}

void tracing_stop_cmdline_record(void)
{
	if (!native_cmdlines--)
		native_fail("names of tasks are switched off twice");
}
