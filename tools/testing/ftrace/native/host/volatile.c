// SPDX-License-Identifier: GPL-2.0-only
/*
 * For ThreadSanitizer: a volatile access that is not of READ_ONCE() and WRITE_ONCE(), see
 * include/asm/rwonce.h, is meant to race.
 */
#ifdef __SANITIZE_THREAD__
#define ACCESSES(size)								\
void __tsan_volatile_read##size(void *addr);					\
void __tsan_volatile_write##size(void *addr);					\
void __tsan_unaligned_volatile_read##size(void *addr);				\
void __tsan_unaligned_volatile_write##size(void *addr);				\
void __tsan_volatile_read##size(void *addr)					\
{										\
}										\
void __tsan_volatile_write##size(void *addr)					\
{										\
}										\
void __tsan_unaligned_volatile_read##size(void *addr)				\
{										\
}										\
void __tsan_unaligned_volatile_write##size(void *addr)				\
{										\
}

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
#endif
