/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Claims: assertions with names.
 *
 * If a claim does not hold, spin says "assertion violated" and the name. So a variant of a model
 * can be expected to break one claim and no other.
 */

/* The names. */
#define CLAIMS byte

#define CLAIM(name, holds) if :: (holds) :: else -> assert(name) fi
