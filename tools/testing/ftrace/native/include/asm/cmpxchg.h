/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ThreadSanitizer does not look at assembler code, so for it these are the compiler's. On x86 each
 * is a full barrier (Intel SDM vol. 3A, 9.2.3.9).
 */
#ifndef _NATIVE_ASM_CMPXCHG_H
#define _NATIVE_ASM_CMPXCHG_H

#include_next <asm/cmpxchg.h>

#ifdef __SANITIZE_THREAD__
#undef arch_xchg
#define arch_xchg(ptr, v) ({							\
	__typeof__(*(ptr)) __new = (v), __was;					\
	__atomic_exchange(ptr, &__new, &__was, __ATOMIC_SEQ_CST);		\
	__was;									\
})

#undef arch_try_cmpxchg
#define arch_try_cmpxchg(ptr, pold, new) ({					\
	__typeof__(*(ptr)) __new = (new);					\
	__atomic_compare_exchange(ptr, pold, &__new, false, __ATOMIC_SEQ_CST,	\
				  __ATOMIC_SEQ_CST);				\
})

#undef arch_cmpxchg
#define arch_cmpxchg(ptr, old, new) ({						\
	__typeof__(*(ptr)) __was = (old);					\
	arch_try_cmpxchg(ptr, &__was, new);					\
	__was;									\
})
#endif

#endif
