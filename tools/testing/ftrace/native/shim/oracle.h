/* SPDX-License-Identifier: GPL-2.0-only */
/* What the two halves of the oracle share: ops in oracle.c, instances and graph users in users.c. */
#ifndef _NATIVE_ORACLE_H
#define _NATIVE_ORACLE_H

#include <linux/types.h>

#include "module.h"
#include "native.h"

#define NR_KERNEL	40	/* native_func_100() to native_func_139() */
#define NR_MOD		NATIVE_MOD_INIT
#define NR_FUNCS	(NR_KERNEL + NR_MOD)
#define LINE_SIZE	80

typedef u64 funcs_t;		/* a bit for each function */
#define ALL_FUNCS	((1ULL << NR_FUNCS) - 1)
#define MOD_FUNCS	(ALL_FUNCS & ~((1ULL << NR_KERNEL) - 1))

extern bool oracle_enabled, oracle_loaded, oracle_partly;
extern char oracle_failure[512];

#define fail(...) do {							\
	if (!oracle_failure[0])						\
		snprintf(oracle_failure, sizeof(oracle_failure), __VA_ARGS__);	\
} while (0)

unsigned long oracle_func_ip(unsigned int f);
void oracle_listed_name(unsigned int f, char *name);
funcs_t oracle_named_by(const char *glob);
/* An operation has returned @ret, and @want is what it must return if there is memory. */
bool oracle_check_ret(int ret, int want);

/* users.c */
void users_begin(void);
void users_end(void);
/* Before and after all functions are called once. */
void users_before_calls(void);
void users_after_calls(void);
/* Does a user of the graph tracer want the function? How many instances trace it? */
unsigned int users_of(unsigned int f);
bool users_graph_wants(unsigned int f);
bool users_graph_left(void);
/* The module is there; or gone. */
void users_loaded(bool weak);
void users_unloaded(bool failed);

void do_mkdir(unsigned int n, const char *arg);
void do_rmdir(unsigned int n, const char *arg);
void do_tracer(unsigned int n, const char *arg);
void do_write(unsigned int n, const char *arg);
void do_pid(unsigned int n, const char *arg);
void do_become(unsigned int n, const char *arg);
void do_graph(unsigned int n, const char *arg);
void do_gfilter(unsigned int n, const char *arg);

#endif
