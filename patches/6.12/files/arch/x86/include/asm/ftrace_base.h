/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What asm/ftrace.h declares for some versions only: nothing for Linux 6.12.
 */
