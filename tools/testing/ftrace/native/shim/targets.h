/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions to trace: native_func_100() to native_func_599() return their number + @arg. */
#ifndef _NATIVE_TARGETS_H
#define _NATIVE_TARGETS_H

#include <linux/compiler.h>

#define NATIVE_FUNCS	500

typedef int native_func_t(int arg);

/*
 * A function whose name takes more than 127 tokens in the table of kallsyms: no two of its letters
 * are a common pair. It returns @arg, as the function that is behind it does.
 */
#define NATIVE_LONG_NAME	NATIVE_LONG_4( \
	xNqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnArl63XykWZeiNNCiia3anXn9k3ksu9mI4ROnl89S, \
	xm995ytbxAk7jqevt0MLaMRTvetw0tESulEETldq8b8Vw2zbJYAxyL1aCcTlN99mhWp708DwGw5H, \
	xqXDgLVXZx3scB8fnvGNx6jvr7SIftRutlZfOjUStEkUdfMI7zcpVMw0qDPAjd6OcZFv1niUK8iO, \
	x5YAgkBxjd2AsjD7N2kHD9FSUuErsEz5jhy0I9lO7F3vlfFrGYJ3GxeYYXwSLQcWtxJTQr1FqXST)
#define NATIVE_LONG_4(a, b, c, d)	__NATIVE_LONG_4(a, b, c, d)
#define __NATIVE_LONG_4(a, b, c, d)	native_long_##a##b##c##d

native_func_t NATIVE_LONG_NAME, native_after_long;

/* A function of init text, which returns @arg. Only a test of alone.c frees that text. */
native_func_t native_init_func;

/* It returns its arguments, in two registers. */
struct native_pair {
	long	first, second;
};

struct native_pair native_pair_func(long first, long second);

/* It ends with a jump to native_func_100(). */
native_func_t native_tail_func;

extern native_func_t * const native_funcs[NATIVE_FUNCS];

#endif
