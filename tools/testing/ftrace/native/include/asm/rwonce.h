/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For ThreadSanitizer READ_ONCE() and WRITE_ONCE() are atomic. On x86 a load comes before all that
 * is done later, and a store after all that was done before (Intel SDM vol. 3A, 9.2.2).
 */
#ifndef _NATIVE_ASM_RWONCE_H
#define _NATIVE_ASM_RWONCE_H

#include <asm-generic/rwonce.h>

#ifdef __SANITIZE_THREAD__
#define NATIVE_ACCESS(type)							\
	case sizeof(type):							\
		*(type *)to = __atomic_load_n((const type *)from, __ATOMIC_ACQUIRE); \
		break

static __always_inline void native_load(void *to, const volatile void *from, unsigned int size)
{
	switch (size) {
	NATIVE_ACCESS(unsigned char);
	NATIVE_ACCESS(unsigned short);
	NATIVE_ACCESS(unsigned int);
	NATIVE_ACCESS(unsigned long);
	}
}

#undef NATIVE_ACCESS
#define NATIVE_ACCESS(type)							\
	case sizeof(type):							\
		__atomic_store_n((type *)to, *(const type *)from, __ATOMIC_RELEASE); \
		break

static __always_inline void native_store(volatile void *to, const void *from, unsigned int size)
{
	switch (size) {
	NATIVE_ACCESS(unsigned char);
	NATIVE_ACCESS(unsigned short);
	NATIVE_ACCESS(unsigned int);
	NATIVE_ACCESS(unsigned long);
	}
}

#undef __READ_ONCE
#define __READ_ONCE(x) ({							\
	union { __unqual_scalar_typeof(x) v; char bytes[1]; } __once;		\
	native_load(__once.bytes, &(x), sizeof(x));				\
	__once.v;								\
})

#undef __WRITE_ONCE
#define __WRITE_ONCE(x, val) do {						\
	union { __unqual_scalar_typeof(x) v; char bytes[1]; } __once = { .v = (val) }; \
	native_store(&(x), __once.bytes, sizeof(x));				\
} while (0)
#endif

#endif
