/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The function tracing API: what the rest of the kernel compiles against.
 *
 * A client describes what it wants in a struct ftrace_ops - a callback and a
 * filter - and registers it. The core sees to it that each traced function
 * calls exactly the callbacks that want it. What an architecture owes the core
 * is in linux/ftrace_arch.h; how the core works is told in
 * Documentation/trace/ftrace-design.rst.
 */
#ifndef _LINUX_FTRACE_H
#define _LINUX_FTRACE_H

#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/linkage.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/trace_clock.h>
#include <linux/trace_recursion.h>
#include <linux/types.h>

#include <asm/ftrace.h>

struct dyn_ftrace;
struct fgraph_ops;
struct ftrace_callback;
struct ftrace_hash;
struct ftrace_ops;
struct ftrace_regs;
struct module;
struct seq_file;
struct trace_array;

#ifdef CONFIG_TRACING
void early_trace_init(void);
void trace_init(void);
void ftrace_boot_snapshot(void);
#else
static inline void early_trace_init(void) { }
static inline void trace_init(void) { }
static inline void ftrace_boot_snapshot(void) { }
#endif

/*
 * Registers of a traced call
 */

#ifdef CONFIG_FUNCTION_TRACER

#include <linux/ftrace_regs.h>

/**
 * struct ftrace_regs - the registers that a callback is given
 *
 * At function entry these are the argument registers, the stack and frame
 * pointer and the instruction pointer; at function return, the return value.
 * An ops with FTRACE_OPS_FL_SAVE_REGS gets all of them, as a pt_regs, from
 * ftrace_get_regs(). Opaque: the layout is the architecture's, use the
 * accessors. What a callback writes to the arguments or, with
 * FTRACE_OPS_FL_IPMODIFY, to the instruction pointer is what the traced
 * function then sees.
 */
struct ftrace_regs {
	/* see struct __arch_ftrace_regs */
};

#define ftrace_regs_size()	sizeof(struct __arch_ftrace_regs)

#ifndef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
static inline struct pt_regs *arch_ftrace_get_regs(struct ftrace_regs *fregs)
{
	return &arch_ftrace_regs(fregs)->regs;
}

#define ftrace_regs_set_instruction_pointer(fregs, ip) do { } while (0)
#endif

/**
 * ftrace_get_regs - the full register set of a traced call
 * @fregs: what the callback was given, may be NULL
 *
 * Return: the pt_regs, or NULL where not all registers were saved.
 * Context: any.
 */
static __always_inline struct pt_regs *ftrace_get_regs(struct ftrace_regs *fregs)
{
	return fregs ? arch_ftrace_get_regs(fregs) : NULL;
}

#if !defined(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS) || \
	defined(CONFIG_HAVE_FTRACE_REGS_HAVING_PT_REGS)
#ifndef arch_ftrace_partial_regs
#define arch_ftrace_partial_regs(regs) do { } while (0)
#endif

/* The pt_regs inside @fregs as far as they were saved; @regs is not needed. */
static __always_inline struct pt_regs *
ftrace_partial_regs(struct ftrace_regs *fregs, struct pt_regs *regs)
{
	regs = &arch_ftrace_regs(fregs)->regs;
	arch_ftrace_partial_regs(regs);
	return regs;
}
#endif

#ifndef arch_ftrace_fill_perf_regs
#define arch_ftrace_fill_perf_regs(fregs, _regs) do { } while (0)
#endif

/* What perf_arch_fetch_caller_regs() would fill in, taken from @fregs. */
static __always_inline struct pt_regs *
ftrace_fill_perf_regs(struct ftrace_regs *fregs, struct pt_regs *regs)
{
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
	arch_ftrace_fill_perf_regs(fregs, regs);
	return regs;
#else
	return &arch_ftrace_regs(fregs)->regs;
#endif
}

/* May the ftrace_regs_get_argument() family be used on @fregs? */
static __always_inline bool ftrace_regs_has_args(struct ftrace_regs *fregs)
{
	return IS_ENABLED(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS) ||
	       ftrace_get_regs(fregs);
}

#endif /* CONFIG_FUNCTION_TRACER */

#ifdef CONFIG_HAVE_FUNCTION_GRAPH_FREGS
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs);
#else
unsigned long ftrace_return_to_handler(unsigned long frame_pointer);
#endif

/*
 * struct ftrace_ops and its flags
 */

/**
 * typedef ftrace_func_t - called at the entry of a traced function
 * @ip: address of the call site
 * @parent_ip: return address of the traced function
 * @op: the ops on whose behalf the call is made
 * @fregs: registers at entry
 *
 * Context: any in which kernel code runs: NMI, entry code, idle without RCU.
 * Must not be traced itself, or ask for FTRACE_OPS_FL_RECURSION.
 */
typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs);

/**
 * enum - flags of a struct ftrace_ops
 * @FTRACE_OPS_FL_ENABLED: registered; the core's
 * @FTRACE_OPS_FL_DYNAMIC: the memory of the ops may be freed once it is
 *	unregistered, so unregistering waits for running callbacks; the core's
 * @FTRACE_OPS_FL_SAVE_REGS: wants all registers
 * @FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED: the same where the architecture can,
 *	and copes with ftrace_get_regs() being NULL elsewhere
 * @FTRACE_OPS_FL_RECURSION: the callback is not to be entered again from
 *	itself; the core guards it, with preemption off
 * @FTRACE_OPS_FL_STUB: a place holder that is never called
 * @FTRACE_OPS_FL_INITIALIZED: locks and lists are set up; the core's
 * @FTRACE_OPS_FL_DELETED: on its way out, may not be registered any more
 * @FTRACE_OPS_FL_IPMODIFY: may change the instruction pointer; one such ops a
 *	function
 * @FTRACE_OPS_FL_PID: obeys set_ftrace_pid of the trace array in ->private
 * @FTRACE_OPS_FL_RCU: to be called only where RCU is watching
 * @FTRACE_OPS_FL_TRACE_ARRAY: ->private is a struct trace_array
 * @FTRACE_OPS_FL_PERMANENT: not subject to kernel.ftrace_enabled
 * @FTRACE_OPS_FL_DIRECT: has ->direct_call in place of a callback; the core's
 * @FTRACE_OPS_FL_SUBOP: runs under another ops, in ->managed; the core's
 * @FTRACE_OPS_FL_OWN_WAIT: a direct caller whose owner waits by itself until no
 *	task is in it; unregistering does not
 *
 * SAVE_REGS, RECURSION, IPMODIFY, RCU, PID, PERMANENT and OWN_WAIT are set before the
 * ops is registered and stay as they are while it is.
 */
enum {
	FTRACE_OPS_FL_ENABLED			= BIT(0),
	FTRACE_OPS_FL_DYNAMIC			= BIT(1),
	FTRACE_OPS_FL_SAVE_REGS			= BIT(2),
	FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED	= BIT(3),
	FTRACE_OPS_FL_RECURSION			= BIT(4),

	FTRACE_OPS_FL_STUB			= BIT(5),
	FTRACE_OPS_FL_INITIALIZED		= BIT(6),
	FTRACE_OPS_FL_DELETED			= BIT(7),

	FTRACE_OPS_FL_IPMODIFY			= BIT(12),
	FTRACE_OPS_FL_PID			= BIT(13),
	FTRACE_OPS_FL_RCU			= BIT(14),
	FTRACE_OPS_FL_TRACE_ARRAY		= BIT(15),
	FTRACE_OPS_FL_PERMANENT			= BIT(16),

	FTRACE_OPS_FL_DIRECT			= BIT(17),
	FTRACE_OPS_FL_SUBOP			= BIT(18),
	FTRACE_OPS_FL_OWN_WAIT			= BIT(19),
};

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#define FTRACE_OPS_FL_SAVE_ARGS		0
#else
#define FTRACE_OPS_FL_SAVE_ARGS		FTRACE_OPS_FL_SAVE_REGS
#endif

/**
 * enum ftrace_ops_cmd - what the core asks of the owner of a direct ops
 * @FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF: the direct ops is being
 *	registered on a function whose instruction pointer another ops changes.
 *	Called with direct_mutex and ftrace_lock held.
 * @FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER: such an ops is being registered
 *	on a function of the direct ops. Called with direct_mutex held.
 * @FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER: such an ops has gone. Called
 *	with direct_mutex held.
 */
enum ftrace_ops_cmd {
	FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF,
	FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER,
	FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER,
};

/* Returns 0, or -errno to refuse; -EAGAIN where the caller is to try again. */
typedef int (*ftrace_ops_func_t)(struct ftrace_ops *op, enum ftrace_ops_cmd cmd);

/**
 * struct ftrace_ops_hash - the filter of an ops
 * @notrace_hash: call sites not wanted; empty: none
 * @filter_hash: call sites wanted; empty: all
 * @regex_lock: serialises those who change the filter; taken before ftrace_lock
 */
struct ftrace_ops_hash {
	struct ftrace_hash __rcu	*notrace_hash;
	struct ftrace_hash __rcu	*filter_hash;
	struct mutex			regex_lock;	/* filters */
};

/**
 * struct ftrace_ops - a callback and the functions that it is for
 * @func: the callback; while registered the core may put a filter of its own
 *	in front of it, see @saved_func
 * @flags: FTRACE_OPS_FL_*
 * @private: the owner's
 * @saved_func: the owner's callback
 * @local_hash: the filter
 * @func_hash: where the filter is: @local_hash, or one that ops share
 * @list: in the list of registered ops, or in @subop_list of @managed
 * @subop_list: ops that run under this one
 * @ops_func: see enum ftrace_ops_cmd
 * @managed: the ops that this one runs under
 * @seq: order of registration; younger ops are called first
 * @callback: the core's part of it while it is registered
 * @trampoline: not looked at
 * @direct_call: the function to call in place of a callback
 */
struct ftrace_ops {
	ftrace_func_t			func;
	unsigned long			flags;
	void				*private;
	ftrace_func_t			saved_func;
#ifdef CONFIG_DYNAMIC_FTRACE
	struct ftrace_ops_hash		local_hash;
	struct ftrace_ops_hash		*func_hash;
	struct list_head		list;
	struct list_head		subop_list;
	ftrace_ops_func_t		ops_func;
	struct ftrace_ops		*managed;
	u64				seq;
	struct ftrace_callback		*callback;
	unsigned long			trampoline;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	unsigned long			direct_call;
#endif
#endif
};

/* An address in a struct ftrace_hash. */
struct ftrace_func_entry {
	struct hlist_node	hlist;
	unsigned long		ip;
	bool			exact;	/* named as such, not found by a glob */
};

/*
 * Registration, filters, look-ups
 */

#ifdef CONFIG_FUNCTION_TRACER
extern int ftrace_enabled;

int register_ftrace_function(struct ftrace_ops *ops);
int unregister_ftrace_function(struct ftrace_ops *ops);
void ftrace_kill(void);
int ftrace_lookup_symbols(const char **sorted_syms, size_t cnt,
			  unsigned long *addrs);
void ftrace_stub(unsigned long ip, unsigned long parent_ip,
		 struct ftrace_ops *op, struct ftrace_regs *fregs);

static inline void tracer_disable(void)
{
	ftrace_enabled = 0;
}

/* The caller sees to it that nobody else changes ftrace_enabled in between. */
static inline int __ftrace_enabled_save(void)
{
	return xchg(&ftrace_enabled, 0);
}

static inline void __ftrace_enabled_restore(int enabled)
{
	ftrace_enabled = enabled;
}
#else
/* Macros: struct members that they name need not exist. */
#define register_ftrace_function(ops) ({ 0; })
#define unregister_ftrace_function(ops) ({ 0; })
static inline void ftrace_kill(void) { }
static inline void tracer_disable(void) { }
static inline int __ftrace_enabled_save(void) { return 0; }
static inline void __ftrace_enabled_restore(int enabled) { }

static inline int ftrace_lookup_symbols(const char **sorted_syms, size_t cnt,
					unsigned long *addrs)
{
	return -EOPNOTSUPP;
}
#endif /* CONFIG_FUNCTION_TRACER */

#ifdef CONFIG_DYNAMIC_FTRACE
/**
 * struct dyn_ftrace - one call site
 * @off: its address, as an offset from the start of its table's text
 * @state: the number of its class and flags; see kernel/trace/ftrace/table.h
 */
struct dyn_ftrace {
	u32	off;
	u32	state;
};

/* What a file opened with ftrace_regex_open() or listed by the core shows. */
enum {
	FTRACE_ITER_FILTER	= BIT(0),
	FTRACE_ITER_NOTRACE	= BIT(1),
	FTRACE_ITER_ENABLED	= BIT(2),
	FTRACE_ITER_TOUCHED	= BIT(3),
	FTRACE_ITER_ADDRS	= BIT(4),
};

unsigned long ftrace_location(unsigned long ip);
unsigned long ftrace_location_range(unsigned long start, unsigned long end);
int ftrace_text_reserved(const void *start, const void *end);
bool is_ftrace_trampoline(unsigned long addr);

int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip,
			 int remove, int reset);
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset);
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len,
		      int reset);
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len,
		       int reset);
void ftrace_set_global_filter(unsigned char *buf, int len, int reset);
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset);
void ftrace_free_filter(struct ftrace_ops *ops);
void ftrace_ops_set_global_filter(struct ftrace_ops *ops);
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable);

int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file);
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos);
int ftrace_regex_release(struct inode *inode, struct file *file);

void ftrace_init(void);
void ftrace_free_init_mem(void);
void ftrace_free_mem(struct module *mod, void *start, void *end);
void ftrace_module_init(struct module *mod);
void ftrace_module_enable(struct module *mod);
void ftrace_release_mod(struct module *mod);

int ftrace_mod_get_kallsym(unsigned int symnum, unsigned long *value,
			   char *type, char *name, char *module_name,
			   int *exported);
#else /* !CONFIG_DYNAMIC_FTRACE */
static inline unsigned long ftrace_location(unsigned long ip) { return 0; }
static inline bool is_ftrace_trampoline(unsigned long addr) { return false; }

static inline int ftrace_text_reserved(const void *start, const void *end)
{
	return 0;
}

/* Macros: an ops need not be declared where there is nothing to trace. */
#define ftrace_set_filter_ip(ops, ip, remove, reset) ({ -ENODEV; })
#define ftrace_set_filter_ips(ops, ips, cnt, remove, reset) ({ -ENODEV; })
#define ftrace_set_filter(ops, buf, len, reset) ({ -ENODEV; })
#define ftrace_set_notrace(ops, buf, len, reset) ({ -ENODEV; })
#define ftrace_free_filter(ops) do { } while (0)
#define ftrace_ops_set_global_filter(ops) do { } while (0)
#define ftrace_set_early_filter(ops, buf, enable) do { } while (0)
#define ftrace_regex_open(tr, ops, flag, inode, file) ({ -ENODEV; })

static inline ssize_t
ftrace_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
		    loff_t *ppos)
{
	return -ENODEV;
}

static inline int ftrace_regex_release(struct inode *inode, struct file *file)
{
	return -ENODEV;
}

static inline void ftrace_init(void) { }
static inline void ftrace_free_mem(struct module *mod, void *start, void *end) { }
static inline void ftrace_module_init(struct module *mod) { }
static inline void ftrace_module_enable(struct module *mod) { }
static inline void ftrace_release_mod(struct module *mod) { }

static inline void ftrace_free_init_mem(void)
{
	ftrace_boot_snapshot();
}

static inline int ftrace_mod_get_kallsym(unsigned int symnum, unsigned long *value,
					 char *type, char *name,
					 char *module_name, int *exported)
{
	return -1;
}
#endif /* CONFIG_DYNAMIC_FTRACE */

#if defined(CONFIG_DYNAMIC_FTRACE) && defined(CONFIG_MODULES)
int ftrace_mod_address_lookup(unsigned long addr, unsigned long *size,
			      unsigned long *off, char **modname,
			      const unsigned char **modbuildid, char *sym);
#else
static inline int
ftrace_mod_address_lookup(unsigned long addr, unsigned long *size,
			  unsigned long *off, char **modname,
			  const unsigned char **modbuildid, char *sym)
{
	return 0;
}
#endif

#define FTRACE_CALLSITE_SECTION	"__mcount_loc"

/*
 * Direct calls: a function of the client's in place of a callback
 */

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr);
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr,
			     bool free_filters);
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr);
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr);
void ftrace_stub_direct_tramp(void);
#else
static inline int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	return -ENODEV;
}

static inline int unregister_ftrace_direct(struct ftrace_ops *ops,
					   unsigned long addr, bool free_filters)
{
	return -ENODEV;
}

static inline int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	return -ENODEV;
}

static inline int modify_ftrace_direct_nolock(struct ftrace_ops *ops,
					      unsigned long addr)
{
	return -ENODEV;
}

#endif /* CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS */

/*
 * The stack tracer, kernel/trace/trace_stack.c
 */

#ifdef CONFIG_STACK_TRACER
extern int stack_tracer_enabled;
int stack_trace_sysctl(const struct ctl_table *table, int write, void *buffer,
		       size_t *lenp, loff_t *ppos);

/* Changed only by the two functions below. */
DECLARE_PER_CPU(int, disable_stack_tracer);

/* RCU holds the stack tracer off this CPU with these, preemption disabled. */
static inline void stack_tracer_disable(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_PREEMPT))
		WARN_ON_ONCE(!irqs_disabled() && !preempt_count());
	this_cpu_inc(disable_stack_tracer);
}

static inline void stack_tracer_enable(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_PREEMPT))
		WARN_ON_ONCE(!irqs_disabled() && !preempt_count());
	this_cpu_dec(disable_stack_tracer);
}
#else
static inline void stack_tracer_disable(void) { }
static inline void stack_tracer_enable(void) { }
#endif

/*
 * The function graph tracer, kernel/trace/fgraph.c
 */

/* Entry of a function in a trace; packed, user space reads it. */
struct ftrace_graph_ent {
	unsigned long func;
	int depth;
} __packed;

/* Its return; @overrun counts calls that found the shadow stack full. */
struct ftrace_graph_ret {
	unsigned long func;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	unsigned long retval;
#endif
	int depth;
	unsigned int overrun;
	unsigned long long calltime;
	unsigned long long rettime;
} __packed;

/* An entry function returns 0 where the return is not to be traced. */
typedef int (*trace_func_graph_ent_t)(struct ftrace_graph_ent *, struct fgraph_ops *);
typedef void (*trace_func_graph_ret_t)(struct ftrace_graph_ret *, struct fgraph_ops *);

int ftrace_graph_entry_stub(struct ftrace_graph_ent *trace, struct fgraph_ops *gops);
bool ftrace_pids_enabled(struct ftrace_ops *ops);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* Traced by the function tracer, but not by the graph tracer. */
#define __notrace_funcgraph	notrace

#define FTRACE_RETFUNC_DEPTH		50
#define FTRACE_RETSTACK_ALLOC_SIZE	32

/*
 * Where the architecture has no callback of its own for the graph tracer, the
 * ops of the graph tracer is a place holder and its calls go through a list.
 */
#ifdef ftrace_graph_func
#define FTRACE_OPS_GRAPH_STUB	0
#define FGRAPH_NO_DIRECT	0
#else
#define ftrace_graph_func	ftrace_stub
#define FTRACE_OPS_GRAPH_STUB	FTRACE_OPS_FL_STUB
#define FGRAPH_NO_DIRECT	1
#endif

/**
 * struct fgraph_ops - callbacks at the entry and the return of a function
 * @entryfunc: at entry
 * @retfunc: at return, if @entryfunc asked for it
 * @ops: filter
 * @private: the owner's
 * @saved_func: @entryfunc while a PID filter stands in front of it
 * @idx: slot in the shadow stack's bitmaps
 */
struct fgraph_ops {
	trace_func_graph_ent_t	entryfunc;
	trace_func_graph_ret_t	retfunc;
	struct ftrace_ops	ops;
	void			*private;
	trace_func_graph_ent_t	saved_func;
	int			idx;
};

/* A frame of the shadow stack of return addresses. */
struct ftrace_ret_stack {
	unsigned long ret;
	unsigned long func;
	unsigned long long calltime;
#ifdef CONFIG_FUNCTION_PROFILER
	unsigned long long subtime;
#endif
#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
	unsigned long fp;
#endif
	unsigned long *retp;
};

DECLARE_STATIC_KEY_FALSE(kill_ftrace_graph);

/* True once ftrace_graph_stop() has given up on a corrupted shadow stack. */
static inline bool ftrace_graph_is_dead(void)
{
	return static_branch_unlikely(&kill_ftrace_graph);
}

extern trace_func_graph_ret_t ftrace_graph_return;
extern trace_func_graph_ent_t ftrace_graph_entry;

/* Entered by the return of a traced function; in assembly. */
void return_to_handler(void);

int register_ftrace_graph(struct fgraph_ops *ops);
void unregister_ftrace_graph(struct fgraph_ops *ops);
void ftrace_graph_stop(void);
int ftrace_enable_ftrace_graph_caller(void);
int ftrace_disable_ftrace_graph_caller(void);
int function_graph_enter(unsigned long ret, unsigned long func,
			 unsigned long frame_pointer, unsigned long *retp);
void *fgraph_reserve_data(int idx, int size_bytes);
void *fgraph_retrieve_data(int idx, int *size_bytes);
unsigned long *fgraph_get_task_var(struct fgraph_ops *gops);
struct ftrace_ret_stack *ftrace_graph_get_ret_stack(struct task_struct *task, int skip);
unsigned long ftrace_graph_ret_addr(struct task_struct *task, int *idx,
				    unsigned long ret, unsigned long *retp);
void ftrace_graph_init_task(struct task_struct *t);
void ftrace_graph_exit_task(struct task_struct *t);
void ftrace_graph_init_idle_task(struct task_struct *t, int cpu);

static inline void pause_graph_tracing(void)
{
	atomic_inc(&current->tracing_graph_pause);
}

static inline void unpause_graph_tracing(void)
{
	atomic_dec(&current->tracing_graph_pause);
}
#else
#define __notrace_funcgraph
#define register_ftrace_graph(ops) ({ -1; })
#define unregister_ftrace_graph(ops) do { } while (0)

static inline void ftrace_graph_init_task(struct task_struct *t) { }
static inline void ftrace_graph_exit_task(struct task_struct *t) { }
static inline void ftrace_graph_init_idle_task(struct task_struct *t, int cpu) { }
static inline void pause_graph_tracing(void) { }
static inline void unpause_graph_tracing(void) { }

static inline unsigned long
ftrace_graph_ret_addr(struct task_struct *task, int *idx, unsigned long ret,
		      unsigned long *retp)
{
	return ret;
}
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

/*
 * Who called: return addresses for latency traces
 */

#ifndef ftrace_return_address0
#define ftrace_return_address0 __builtin_return_address(0)
#endif

#ifndef ftrace_return_address
#ifdef CONFIG_FRAME_POINTER
#define ftrace_return_address(n) __builtin_return_address(n)
#else
#define ftrace_return_address(n) 0UL
#endif
#endif

#define CALLER_ADDR0 ((unsigned long)ftrace_return_address0)
#define CALLER_ADDR1 ((unsigned long)ftrace_return_address(1))
#define CALLER_ADDR2 ((unsigned long)ftrace_return_address(2))
#define CALLER_ADDR3 ((unsigned long)ftrace_return_address(3))
#define CALLER_ADDR4 ((unsigned long)ftrace_return_address(4))
#define CALLER_ADDR5 ((unsigned long)ftrace_return_address(5))
#define CALLER_ADDR6 ((unsigned long)ftrace_return_address(6))

/* The first caller that is not one of the locking functions themselves. */
static __always_inline unsigned long get_lock_parent_ip(void)
{
	if (!in_lock_functions(CALLER_ADDR0))
		return CALLER_ADDR0;
	return in_lock_functions(CALLER_ADDR1) ? CALLER_ADDR2 : CALLER_ADDR1;
}

#ifdef CONFIG_TRACE_PREEMPT_TOGGLE
void trace_preempt_on(unsigned long a0, unsigned long a1);
void trace_preempt_off(unsigned long a0, unsigned long a1);
#else
/* Macros, so that nothing is made of the CALLER_ADDRn in the arguments. */
#define trace_preempt_on(a0, a1) do { } while (0)
#define trace_preempt_off(a0, a1) do { } while (0)
#endif

/*
 * Other parts of tracing that have always been declared here
 */

#ifdef CONFIG_TRACING
enum ftrace_dump_mode;

#define MAX_TRACER_SIZE		100
extern char ftrace_dump_on_oops[];
extern int tracepoint_printk;
extern int __disable_trace_on_warning;

int ftrace_dump_on_oops_enabled(void);
void disable_trace_on_warning(void);
int tracepoint_printk_sysctl(const struct ctl_table *table, int write,
			     void *buffer, size_t *lenp, loff_t *ppos);
#else
static inline void disable_trace_on_warning(void) { }
#endif

#ifdef CONFIG_FTRACE_SYSCALLS
unsigned long arch_syscall_addr(int nr);
#endif

#endif /* _LINUX_FTRACE_H */
