/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions to trace: native_func_100() to native_func_599() return their number + @arg. */
#ifndef _NATIVE_TARGETS_H
#define _NATIVE_TARGETS_H

#include <linux/compiler.h>

#define NATIVE_FUNCS	500

typedef int native_func_t(int arg);

extern native_func_t * const native_funcs[NATIVE_FUNCS];

#endif
