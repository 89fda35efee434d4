// SPDX-License-Identifier: GPL-2.0-only
/*
 * For ThreadSanitizer: READ_ONCE() and WRITE_ONCE() are volatile accesses, which do not race with
 * each other. On x86 a store comes after all that was done before, and a load before all that
 * is done later (Intel SDM vol. 3A, 9.2.2). So a value that was stored by one and is loaded by the
 * other orders the two threads.
 */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);

#define ACCESSES(size)								\
void __tsan_volatile_read##size(void *addr);					\
void __tsan_volatile_write##size(void *addr);					\
void __tsan_unaligned_volatile_read##size(void *addr);				\
void __tsan_unaligned_volatile_write##size(void *addr);				\
void __tsan_volatile_read##size(void *addr)					\
{										\
	__tsan_acquire(addr);							\
}										\
void __tsan_volatile_write##size(void *addr)					\
{										\
	__tsan_release(addr);							\
}										\
void __tsan_unaligned_volatile_read##size(void *addr)				\
{										\
	__tsan_acquire(addr);							\
}										\
void __tsan_unaligned_volatile_write##size(void *addr)				\
{										\
	__tsan_release(addr);							\
}

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
#endif
