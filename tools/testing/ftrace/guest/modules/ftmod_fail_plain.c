// SPDX-License-Identifier: GPL-2.0-only
/* ftmod_fail without init text: the init function stays, as in a driver that has no __init. */
#include <linux/init.h>

#undef __init
#define __init
#define ftmod_fail_one ftmod_plain_one
#include "ftmod_fail.c"
