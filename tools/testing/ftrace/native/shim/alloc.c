// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory is of malloc(), so that sanitizers watch it. The n-th allocation of a thread can
 * fail.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "native.h"

/* Indexed by CPU: a thread is a CPU. */
static unsigned long fail_nth[NATIVE_CPUS];
static bool fail_all[NATIVE_CPUS], fail_on[NATIVE_CPUS];
static atomic_long_t live;

kmem_buckets kmalloc_caches[NR_KMALLOC_TYPES];

void native_fail_nth(unsigned long n)
{
	fail_nth[raw_smp_processor_id()] = n;
}

void native_fail_all(bool all)
{
	fail_all[raw_smp_processor_id()] = all;
	fail_on[raw_smp_processor_id()] = false;
}

/* The n-th allocation fails, and all after it, until native_fail_all(false). */
void native_fail_from(unsigned long n)
{
	native_fail_nth(n);
	fail_on[raw_smp_processor_id()] = true;
}

unsigned long native_fail_left(void)
{
	return fail_nth[raw_smp_processor_id()];
}

unsigned long native_live(void)
{
	return atomic_long_read(&live) + native_percpu_live();
}

bool native_alloc_fails(gfp_t gfp)
{
	unsigned long *nth = &fail_nth[raw_smp_processor_id()];

	if (gfpflags_allow_blocking(gfp))
		might_sleep();
	else if (!(gfp & (__GFP_KSWAPD_RECLAIM | __GFP_HIGH)))
		native_fail("an allocation without the flags of any context");
	if (gfp & __GFP_NOFAIL)
		return false;
	if (!fail_all[raw_smp_processor_id()] && (!*nth || --*nth))
		return false;
	fail_all[raw_smp_processor_id()] |= fail_on[raw_smp_processor_id()];
	return true;
}

static void *alloc_aligned(size_t align, size_t size, gfp_t gfp)
{
	void *p;

	if (native_alloc_fails(gfp))
		return NULL;
	p = align > 1 ? host_alloc_aligned(align, size) : host_alloc(size);
	if (!p)
		native_fail("no memory");
	/* What the kernel does not clear has any contents. */
	memset(p, gfp & __GFP_ZERO ? 0 : 0x5a, size);
	atomic_long_inc(&live);
	return p;
}

static void *alloc(size_t size, gfp_t gfp)
{
	return alloc_aligned(1, size, gfp);
}

/* The part that is added has any contents, too. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
void *krealloc_noprof(const void *p, size_t size, gfp_t gfp)
{
	if (ZERO_OR_NULL_PTR(p))
		return alloc(size, gfp);
	return native_alloc_fails(gfp) ? NULL : host_realloc((void *)p, size);
}
#else
void *krealloc_node_align_noprof(const void *p, DECL_TOKEN_PARAMS(size, token), unsigned long align,
				 gfp_t gfp, int node)
{
	if (ZERO_OR_NULL_PTR(p))
		return alloc(size, gfp);
	return native_alloc_fails(gfp) ? NULL : host_realloc((void *)p, size);
}
#endif

static void dealloc(const void *p)
{
	if (ZERO_OR_NULL_PTR(p))
		return;
	atomic_long_dec(&live);
	/* Who uses it later finds neither pointers nor what was there. */
	memset((void *)p, 0x6b, host_size((void *)p));
	host_free((void *)p);
}

unsigned long get_zeroed_page_noprof(gfp_t gfp)
{
	return (unsigned long)alloc_aligned(PAGE_SIZE, PAGE_SIZE, gfp | __GFP_ZERO);
}

void free_pages(unsigned long addr, unsigned int order)
{
	dealloc((void *)addr);
}

void *__kmalloc_noprof(size_t size, gfp_t flags)
{
	return size ? alloc(size, flags) : ZERO_SIZE_PTR;
}

void *__kmalloc_cache_noprof(struct kmem_cache *s, gfp_t flags, size_t size)
{
	return alloc(size, flags);
}

void *__kmalloc_large_noprof(size_t size, gfp_t flags)
{
	return alloc(size, flags);
}

void *__kmalloc_node_track_caller_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node,
					 unsigned long caller)
{
	return __kmalloc_noprof(size, flags);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
void *__kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node)
#else
void *__kvmalloc_node_noprof(DECL_KMALLOC_PARAMS(size, b, token), unsigned long align, gfp_t flags,
			     int node)
#endif
{
	return __kmalloc_noprof(size, flags);
}

void *vmalloc_array_noprof(size_t n, size_t size)
{
	return __kmalloc_noprof(n * size, GFP_KERNEL);
}

void *vmalloc_noprof(unsigned long size)
{
	return __kmalloc_noprof(size, GFP_KERNEL);
}

/* The groups of a flight recorder must be aligned. */
void *vzalloc_noprof(unsigned long size)
{
	return alloc_aligned(PAGE_SIZE, size, GFP_KERNEL | __GFP_ZERO);
}

void *vzalloc_node_noprof(unsigned long size, int node)
{
	return vzalloc_noprof(size);
}

/* A cache only knows the size of its objects. */
struct kmem_cache {
	unsigned int size;
};

struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int size,
					    struct kmem_cache_args *args, slab_flags_t flags)
{
	struct kmem_cache *s = host_alloc(sizeof(*s));

	s->size = size;
	return s;
}

void *kmem_cache_alloc_noprof(struct kmem_cache *s, gfp_t flags)
{
	return alloc(s->size, flags);
}

void kmem_cache_free(struct kmem_cache *s, void *p)
{
	dealloc(p);
}

void kfree(const void *p)
{
	dealloc(p);
}

void kvfree(const void *p)
{
	dealloc(p);
}

void vfree(const void *p)
{
	dealloc(p);
}
