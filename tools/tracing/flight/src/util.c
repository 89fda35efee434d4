// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdlib.h>

#include "flight.h"

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "flight: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

void *xrealloc(void *p, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		die("no memory");
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		die("no memory");
	return p;
}

/* Room for one more behind @nr elements. */
void *grow(void *p, size_t nr, size_t size)
{
	/* A power of two has just been filled. */
	return nr & (nr - 1) ? p : xrealloc(p, nr ? 2 * nr : 1, size);
}
