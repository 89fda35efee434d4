// SPDX-License-Identifier: GPL-2.0-only
/* Functions to trace, some of which have two names. */
#include "targets.h"

#define FUNC(n)							\
noinline __noclone int native_func_##n(int arg)					\
{									\
	return arg + n;							\
}

#define FUNC10(n) \
	FUNC(n##0) FUNC(n##1) FUNC(n##2) FUNC(n##3) FUNC(n##4) \
	FUNC(n##5) FUNC(n##6) FUNC(n##7) FUNC(n##8) FUNC(n##9)
#define FUNC100(n) \
	FUNC10(n##0) FUNC10(n##1) FUNC10(n##2) FUNC10(n##3) FUNC10(n##4) \
	FUNC10(n##5) FUNC10(n##6) FUNC10(n##7) FUNC10(n##8) FUNC10(n##9)

FUNC100(1) FUNC100(2) FUNC100(3) FUNC100(4) FUNC100(5)

int native_alias_100(int arg) __alias(native_func_100);
int native_alias_101(int arg) __alias(native_func_101);

#define NAME(n) native_func_##n,
#define NAME10(n) \
	NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) \
	NAME(n##5) NAME(n##6) NAME(n##7) NAME(n##8) NAME(n##9)
#define NAME100(n) \
	NAME10(n##0) NAME10(n##1) NAME10(n##2) NAME10(n##3) NAME10(n##4) \
	NAME10(n##5) NAME10(n##6) NAME10(n##7) NAME10(n##8) NAME10(n##9)

native_func_t * const native_funcs[NATIVE_FUNCS] = {
	NAME100(1) NAME100(2) NAME100(3) NAME100(4) NAME100(5)
};
