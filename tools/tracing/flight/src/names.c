// SPDX-License-Identifier: GPL-2.0-only
/* Names of functions of the kernel that runs, from its addresses. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flight.h"

/* By address; and the number of each that has a name in the file. */
struct symbol {
	uint64_t	addr;
	char		*name;
	uint32_t	nr;		/* + 1 */
};

static struct symbol *symbols;
static size_t nr_symbols;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[256], module[128];
	uint64_t addr;
	char type;

	symbols = grow(symbols, nr_symbols, sizeof(*symbols));
	symbols[nr_symbols++] = (struct symbol){ .name = "?" };
	if (!f)
		die("/proc/kallsyms: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		int n = sscanf(line, "%" SCNx64 " %c %255s %127s", &addr, &type, name, module);
		struct symbol *s;

		if (n < 3 || !strchr("tTwW", type))
			continue;
		symbols = grow(symbols, nr_symbols, sizeof(*symbols));
		s = &symbols[nr_symbols++];
		*s = (struct symbol){ .addr = addr };
		if (asprintf(&s->name, "%s%s%s", name, n == 4 ? " " : "", n == 4 ? module : "") < 0)
			die("no memory");
	}
	fclose(f);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
	if (!nr_symbols || !symbols[nr_symbols - 1].addr)
		die("/proc/kallsyms has no addresses");
}

/*
 * The number of a name, which the file gets if it is new. All code of the kernel is in the upper
 * 2 GB. 0 is not known.
 */
uint32_t name_of(struct flight *flight, uint32_t address)
{
	size_t low = 0, high = nr_symbols;
	uint64_t addr = (int32_t)address;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].addr <= addr)
			low = middle;
		else
			high = middle;
	}
	if (!symbols[low].nr) {
		flight->names = grow(flight->names, flight->nr_names, sizeof(*flight->names));
		flight->names[flight->nr_names++] = symbols[low].name;
		symbols[low].nr = flight->nr_names;
	}
	return symbols[low].nr - 1;
}
