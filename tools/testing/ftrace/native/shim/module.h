/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module to trace, "native_mod": native_mod_0() to native_mod_5() in its text, and native_mod_6()
 * and native_mod_7() in its init text. Function n returns 1000 + n + @arg.
 */
#ifndef _NATIVE_MODULE_H
#define _NATIVE_MODULE_H

#include <linux/module.h>

#include "targets.h"

#define NATIVE_MOD_FUNCS	8
#define NATIVE_MOD_INIT		6	/* the first function of the init text */

/* The name of the next load of the module. */
extern const char *native_mod_name;

/* The function that the next load finds without a call; -1: none. */
extern int native_mod_without_call;

/* The functions; they are at the same place at each load, until native_mod_move(). */
extern unsigned long native_mod_ips[NATIVE_MOD_FUNCS];

/*
 * The steps of a load, as the loader does them: a module with the sites in its list, or without a
 * list; its text may run; its init text is freed. Then it goes, at any step.
 */
void native_mod_setup(void);
void native_mod_move(void);
void native_mod_init(bool listed);
void native_mod_enable(void);
void native_mod_free_init(void);
void native_mod_started(void);
void native_mod_release(void);

/* Its text may run, and its init text has not ended; and all steps of a load. */
void native_mod_live(void);
void native_mod_load(void);

#endif
