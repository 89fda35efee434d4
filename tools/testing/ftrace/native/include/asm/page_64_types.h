/* SPDX-License-Identifier: GPL-2.0-only */
/* A process has its text at lower addresses than the kernel. */
#ifndef _NATIVE_ASM_PAGE_64_TYPES_H
#define _NATIVE_ASM_PAGE_64_TYPES_H

#include_next <asm/page_64_types.h>

#undef __START_KERNEL_map
#define __START_KERNEL_map	_AC(0x40000000, UL)

#endif
