// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
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

/* A number of at most @most in decimal digits. */
unsigned long parse_number(const char *text, unsigned long most)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n > most)
		die("no number, or too large: %s", text);
	return n;
}
