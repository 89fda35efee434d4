/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What arch/x86/kernel/ftrace/patch.c takes from the kernel. The compiler reads this file
 * first; all headers that the patcher includes, other than the series' own, are empty here.
 *
 * The page table of the window is an array, and its entries are pages of the memfd that
 * holds the text. Stores go through the array, see poke_store_byte() in write.c. So the
 * kernel does not have to change a mapping, which would make all CPUs serialise.
 */
#ifndef POKE_KERNEL_H
#define POKE_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "poke.h"

#define CONFIG_DYNAMIC_FTRACE	1
#define IS_ENABLED(CONFIG_option)	0

/* Annotations. */
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define noinline		__attribute__((__noinline__))
#define noinstr			noinline
#define __init
#define __ro_after_init
#define __percpu
#define __maybe_unused		__attribute__((__unused__))
#define ____cacheline_aligned_in_smp __attribute__((__aligned__(64)))
#define NOKPROBE_SYMBOL(function)
#define __acquire(lock)		((void)(lock))
#define RCU			0
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define panic(...)		poke_bug(__VA_ARGS__)
#define lockdep_assert_held(lock) ((void)0)
#define lockdep_assert_cpus_held() ((void)0)
#define min(a, b)		((a) < (b) ? (a) : (b))
#define DIV_ROUND_UP(a, b)	(((a) + (b) - 1) / (b))

/* Memory. The stores of the patcher to call sites are told apart by their types. */
#define WRITE_ONCE(x, new) do {							\
	if (__builtin_types_compatible_p(__typeof__(x), u8))			\
		poke_store_byte((u8 *)&(x), (unsigned long)(new));		\
	else									\
		__atomic_store_n(&(x), new, __ATOMIC_RELAXED);			\
} while (0)
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define get_unaligned(p) \
	(((const struct { __typeof__(*(p)) v; } __attribute__((__packed__)) *)(p))->v)
#define put_unaligned(v, p)	poke_store_tail((u8 *)(p), v)
#define barrier()		__asm__ volatile("" : : : "memory")
#define smp_mb()		do {						\
	__atomic_thread_fence(__ATOMIC_SEQ_CST);				\
	delay(AT_FENCE, NULL);							\
} while (0)
#define smp_wmb()		do {						\
	__atomic_thread_fence(__ATOMIC_RELEASE);				\
	delay(AT_BEGIN, NULL);							\
} while (0)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_cond_load_acquire(p, condition) ({		\
	__typeof__(*(p)) VAL;				\
	for (;;) {					\
		VAL = smp_load_acquire(p);		\
		if (condition)				\
			break;				\
		poke_relax();				\
	}						\
	VAL; })

/* CPUs are threads. Interrupts are signals, and nothing here may block them. */
#define DEFINE_PER_CPU(type, name) \
	struct { __typeof__(type) v; } __attribute__((__aligned__(64))) name[POKE_THREADS]
#define raw_cpu_ptr(p)		(&(*(p))[poke_thread()].v)
#define per_cpu_ptr(p, cpu)	(&(*(p))[cpu].v)
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < POKE_THREADS; (cpu)++)
#define preempt_disable()	barrier()
#define preempt_enable()	barrier()
#define need_resched()		poke_need_resched()
#define cond_resched()		poke_relax()
#define guard(lock)		poke_guard_##lock
#define poke_guard_irqsave()	((void)0)

/* The mm of the window. */
typedef struct { unsigned long pte; } pte_t;
typedef int spinlock_t;
typedef unsigned long pgprot_t;

struct mm_struct { int unused; };

#define PAGE_SIZE		4096UL
#define PAGE_SHIFT		12
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define PMD_SIZE		(512 * PAGE_SIZE)
#define PMD_MASK		(~(PMD_SIZE - 1))
#define PTRS_PER_PTE		512
#define PAGE_KERNEL		0UL
#define _PAGE_GLOBAL		0UL
#define __pgprot(x)		(x)
#define pgprot_val(x)		(x)
#define offset_in_page(address)	((unsigned long)(address) & ~PAGE_MASK)
#define _stext			((char *)0)
#define _etext			((char *)POKE_WINDOW_SIZE - PMD_SIZE)
#define __is_kernel(address)	false
#define __pa_symbol(address)	(address)
#define vmalloc_to_pfn(address)	poke_page_of((unsigned long)(address))
#define paravirt_enter_mmap(mm)	((void)(mm))
#define pte_unmap_unlock(pte, lock) ((void)(pte), (void)(lock))
#define pfn_pte(pfn, protection) ((void)(protection), (pte_t){ pfn })
#define set_pte_at(mm, address, ptep, new) \
	((void)(ptep), poke_window_set((address) - PMD_SIZE, (new).pte))
#define pte_clear(mm, address, ptep) ((void)(ptep), poke_window_clear((address) - PMD_SIZE))

static struct mm_struct poke_mm __maybe_unused, init_mm __maybe_unused;
static pte_t poke_pte __maybe_unused;

#define mm_alloc()		(&poke_mm)
#define get_locked_pte(mm, address, lock) ((void)(mm), *(lock) = NULL, &poke_pte)

/* Only between these two may the window be used. */
#define use_temporary_mm(mm)	(poke_window_load((mm) == &poke_mm), NULL)
#define unuse_temporary_mm(prev) ((void)(prev), poke_window_load(false))
#define set_notrack_mm(mm)	((void)(mm))
#define flush_tlb_mm_range(mm, start, end, shift, tables) \
	((void)(mm), (void)(start), (void)(end))
#define mmap_read_lock(mm)	((void)(mm))
#define mmap_read_unlock(mm)	((void)(mm))
#define lass_stac()		((void)0)
#define lass_clac()		((void)0)

/* Nobody records changes of text. */
#define perf_text_poke_wanted()	false
#define perf_event_text_poke(...) ((void)0)

/* Instructions. A target with the highest bit set is jumped to. */
#define MCOUNT_INSN_SIZE	5
#define CALL_INSN_SIZE		5
#define CALL_INSN_OPCODE	0xe8
#define JMP32_INSN_OPCODE	0xe9
#define INT3_INSN_SIZE		1
#define INT3_INSN_OPCODE	0xcc
#define ftrace_is_jmp(target)	(!!((target) & POKE_JUMP))
#define ftrace_jmp_get(target)	((target) & ~POKE_JUMP)
#define arch_ftrace_sync	poke_sync

static const u8 poke_nop[] __maybe_unused = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const u8 *const x86_nops[] __maybe_unused = { [5] = poke_nop };

#define user_mode(regs)		((void)(regs), false)

static inline void int3_emulate_jmp(struct pt_regs *regs, unsigned long target)
{
	regs->ip = target;
}

static inline void int3_emulate_push(struct pt_regs *regs, unsigned long value)
{
	regs->sp -= sizeof(unsigned long);
	*(unsigned long *)regs->sp = value;
}

static inline void *__inline_bsearch(const void *key, const void *base, size_t nr, size_t size,
				     int (*compare)(const void *key, const void *element))
{
	const char *first = base;

	delay(AT_SEARCH, NULL);
	while (nr) {
		const char *middle = first + nr / 2 * size;
		int order = compare(key, middle);

		if (!order)
			return (void *)middle;
		if (order > 0) {
			first = middle + size;
			nr--;
		}
		nr /= 2;
	}
	return NULL;
}

/* Nobody takes a lock here. */
struct mutex { int unused; };
struct ftrace_ops;
typedef void (*ftrace_func_t)(void);

extern struct mutex text_mutex;
int ftrace_int3_handler(struct pt_regs *regs);

#endif
