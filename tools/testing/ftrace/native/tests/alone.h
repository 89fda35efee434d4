/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests that need a program of their own: each boots in a child. See alone.c. */
#ifndef _NATIVE_ALONE_H
#define _NATIVE_ALONE_H

/* Run them all before this program boots. Returns how many failed. */
unsigned int native_alone(void);

#endif
