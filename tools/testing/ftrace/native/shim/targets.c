// SPDX-License-Identifier: GPL-2.0-only
/* Functions to trace, some of which have two names. */
#include <linux/init.h>

#include "targets.h"

#define FUNC(n)							\
noinline __noclone int native_func_##n(int arg)					\
{									\
	return arg + n;							\
}

noinline __noclone int NATIVE_LONG_NAME(int arg)
{
	return arg;
}

noinline __noclone int native_after_long(int arg)
{
	return arg;
}

noinline __noclone __init int native_init_func(int arg)
{
	return arg;
}

noinline struct native_pair native_pair_func(long first, long second)
{
	barrier();
	return (struct native_pair){ first, second };
}

__attribute__((naked)) int native_tail_func(int arg)
{
	asm("jmp native_func_100");
}

#define LIST10(m, n) \
	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define LIST100(m, n) \
	LIST10(m, n##0) LIST10(m, n##1) LIST10(m, n##2) LIST10(m, n##3) LIST10(m, n##4) \
	LIST10(m, n##5) LIST10(m, n##6) LIST10(m, n##7) LIST10(m, n##8) LIST10(m, n##9)
#define LIST500(m) LIST100(m, 1) LIST100(m, 2) LIST100(m, 3) LIST100(m, 4) LIST100(m, 5)

LIST500(FUNC)

int native_alias_100(int arg) __alias(native_func_100);
int native_alias_101(int arg) __alias(native_func_101);

#define NAME(n) native_func_##n,

native_func_t * const native_funcs[NATIVE_FUNCS] = {
	LIST500(NAME)
};
