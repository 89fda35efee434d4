/* SPDX-License-Identifier: GPL-2.0-only */
/* A process has its modules at lower addresses than the kernel. */
#ifndef _NATIVE_ASM_PGTABLE_64_TYPES_H
#define _NATIVE_ASM_PGTABLE_64_TYPES_H

#include_next <asm/pgtable_64_types.h>

#undef MODULES_END
#define MODULES_END		_AC(0x70000000, UL)

/* Only the base's patcher uses struct page, those of text; see bench/base.c. */
#undef VMEMMAP_START
#define VMEMMAP_START		_AC(0x80000000, UL)

#endif
