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
static atomic_long_t live;

kmem_buckets kmalloc_caches[NR_KMALLOC_TYPES];

void native_fail_nth(unsigned long n)
{
	fail_nth[raw_smp_processor_id()] = n;
}

unsigned long native_fail_left(void)
{
	return fail_nth[raw_smp_processor_id()];
}

unsigned long native_live(void)
{
	return atomic_long_read(&live);
}

bool native_alloc_fails(gfp_t gfp)
{
	unsigned long *nth = &fail_nth[raw_smp_processor_id()];

	if (gfpflags_allow_blocking(gfp))
		might_sleep();
	return *nth && !(gfp & __GFP_NOFAIL) && !--*nth;
}

static void *alloc(size_t size, gfp_t gfp)
{
	void *p;

	if (native_alloc_fails(gfp))
		return NULL;
	p = host_alloc(size);
	if (!p)
		native_fail("no memory");
	/* What the kernel does not clear has any contents. */
	memset(p, gfp & __GFP_ZERO ? 0 : 0x5a, size);
	atomic_long_inc(&live);
	return p;
}

static void dealloc(const void *p)
{
	if (ZERO_OR_NULL_PTR(p))
		return;
	atomic_long_dec(&live);
	host_free((void *)p);
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

void *vzalloc_noprof(unsigned long size)
{
	return __kmalloc_noprof(size, GFP_KERNEL | __GFP_ZERO);
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
