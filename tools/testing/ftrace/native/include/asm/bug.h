/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A warning with a message prints the message, and then traps. Since Linux 6.19 the trap prints
 * it, from arguments that only the kernel's own handler can read.
 */
#ifndef _NATIVE_ASM_BUG_H
#define _NATIVE_ASM_BUG_H

#include_next <asm/bug.h>

#ifdef HAVE_ARCH_BUG_FORMAT_ARGS
#undef __WARN_printf
#define __WARN_printf(taint, arg...) do {					\
	__warn_printk(arg);							\
	__WARN_FLAGS("", BUGFLAG_NO_CUT_HERE | BUGFLAG_TAINT(taint));		\
} while (0)

#undef WARN_ONCE
#define WARN_ONCE(condition, format...)						\
	DO_ONCE_LITE_IF(condition, WARN, 1, format)
#endif

#endif
