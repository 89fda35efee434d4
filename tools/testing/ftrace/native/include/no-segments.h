/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compiler tells ThreadSanitizer the address of a per-CPU variable without the base of %gs, so
 * that all CPUs seem to use the same one. Assembler code is not looked at.
 */
#undef CONFIG_USE_X86_SEG_SUPPORT
#undef CONFIG_CC_HAS_NAMED_AS
