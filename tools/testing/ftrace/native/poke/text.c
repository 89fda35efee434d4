// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call sites, and the functions that they call.
 *
 * A site does nothing, calls function A or jumps to function B; each site has its own two
 * functions. The last four bytes of the three instructions differ in each byte, and every
 * mixture of these bytes can be told from the instructions:
 *
 *	nop		0f 1f 44 00 00
 *	call A		e8 0b 4d 33 06
 *	jmp B		e9 ff 77 5a 16
 *
 * A call or jump with a mixture leads into a region without access rights, where the
 * address of the fault says which bytes the CPU used. 0f 0b and 0f ff are illegal. 0f 1f 4d and
 * 0f 1f 77 are nops of four bytes, and the fifth byte, 06 or 16, is illegal too (00 makes the
 * ret behind it part of an instruction, and int3 follows). Only a mixture that begins with
 * 0f 1f 44 does what the nop does, so nobody can see it.
 *
 * All text is one memfd with two mappings. One can be executed, the other can be written.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "poke.h"

#define PAGE		4096UL
#define LINE		64
#define PAGES		64		/* of sites */
#define SITES_PER_PAGE	(POKE_SITES / PAGES)
#define REGION		((PAGES + 32) * PAGE)	/* with room for the shift of the functions */
#define RESERVED	0x20000000UL	/* all that a mixture can reach */
#define FUNCTION_SIZE	8
#define SITE_SIZE	7		/* with the ret and one int3 */

static const u8 insns[NR_STATES][POKE_INSN_SIZE] = {
	[NOP]		= { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	[CALL_A]	= { 0xe8, 0x0b, 0x4d, 0x33, 0x06 },
	[JUMP_B]	= { 0xe9, 0xff, 0x77, 0x5a, 0x16 },
};

struct site sites[POKE_SITES];
u8 *text_writable;
static unsigned long text;		/* where it is executed; the sites come first */
static u16 site_at[REGION];		/* number of the site + 1 */

/* For each state: bytes of a site or function, and bytes where a mixture leads. */
static u8 taken[NR_STATES][REGION], reached[NR_STATES][REGION];

static u32 tail_of(enum state state)
{
	u32 tail;

	memcpy(&tail, insns[state] + 1, sizeof(tail));
	return tail;
}

/* The functions of a state are as far from their sites as the instruction says. */
static unsigned long region_of(enum state state)
{
	return state == NOP ? text : text + (tail_of(state) & 0xffff0000);
}

unsigned long text_target(unsigned int site, enum state state)
{
	if (state == NOP)
		return 0;
	return (sites[site].ip + POKE_INSN_SIZE + tail_of(state)) | (state == JUMP_B ? POKE_JUMP : 0);
}

void text_insn(enum state state, u8 *insn)
{
	memcpy(insn, insns[state], POKE_INSN_SIZE);
}

bool text_holds(unsigned int site, enum state state)
{
	return !memcmp(text_writable + (sites[site].ip - text), insns[state], POKE_INSN_SIZE);
}

int text_site_at(unsigned long ip)
{
	return ip - text < REGION ? site_at[ip - text] - 1 : -1;
}

bool text_has(unsigned long ip)
{
	return ip - text < RESERVED;
}

unsigned long poke_page_of(unsigned long address)
{
	if (address - text >= REGION)
		poke_bug("%lx is not in the text of sites", address);
	return (address - text) / PAGE;
}

/*
 * Which mixture leads from @site to @ip: for each byte of the tail its instruction, two bits
 * each, the first byte lowest. Returns -1 if no mixture leads there.
 */
int text_mix(const struct site *site, unsigned long ip)
{
	u32 tail = ip - (site->ip + POKE_INSN_SIZE);
	int mix = 0;

	for (int byte = 0; byte < 4; byte++) {
		unsigned int state;

		for (state = 0; state < NR_STATES; state++)
			if (insns[state][byte + 1] == (u8)(tail >> 8 * byte))
				break;
		if (state == NR_STATES)
			return -1;
		mix |= state << 2 * byte;
	}
	return mix;
}

const char *text_mix_name(int mix)
{
	static char name[5];

	for (int byte = 0; byte < 4; byte++)
		name[byte] = "NAB?"[mix >> 2 * byte & 3];
	return name;
}

/* Does any mixture of a site at @offset lead into text, or any mixture of another site here? */
static bool collides(unsigned long offset)
{
	for (int s = NOP; s < NR_STATES; s++) {
		unsigned long at = s == NOP ? offset :
				   offset + POKE_INSN_SIZE + (tail_of(s) & 0xffff);

		for (int byte = 0; byte < FUNCTION_SIZE; byte++)
			if (taken[s][at + byte] || reached[s][at + byte])
				return true;
		for (int low = 0; low < 9; low++) {
			unsigned long to = offset + POKE_INSN_SIZE + insns[low % 3][1] +
					   (insns[low / 3][2] << 8);

			if ((s == NOP || low != s * 4) && taken[s][to])
				return true;
		}
	}
	return false;
}

static void mark(unsigned long offset)
{
	for (int s = NOP; s < NR_STATES; s++) {
		unsigned long at = s == NOP ? offset :
				   offset + POKE_INSN_SIZE + (tail_of(s) & 0xffff);

		memset(taken[s] + at, 1, FUNCTION_SIZE);
		for (int low = 0; low < 9; low++)
			if (s == NOP || low != s * 4)
				reached[s][offset + POKE_INSN_SIZE + insns[low % 3][1] +
					   (insns[low / 3][2] << 8)] = 1;
	}
}

static enum kind kind_of(unsigned long ip)
{
	const struct { unsigned int size; enum kind kind; } sizes[] = {
		{ PAGE, ACROSS_PAGE }, { 64, ACROSS_LINE }, { 32, ACROSS_32 },
		{ 16, ACROSS_16 }, { 8, ACROSS_8 },
	};

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (ip % sizes[i].size > sizes[i].size - POKE_INSN_SIZE)
			return sizes[i].kind;
	return IN_8;
}

/* Where in its page the nth site of a page lies: the first one crosses the end. */
static unsigned long place(unsigned int page, unsigned int n, u64 random)
{
	static const u8 sizes[SITES_PER_PAGE] = {
		[1] = 64, 64, 64, 64, 64, 64, 32, 32, 32, 16, 16, 8, 8,
	};
	unsigned int split = 1 + (page + random) % 4;	/* bytes before the boundary */
	unsigned long line = (1 + random / 4 % 62) * LINE;
	unsigned int piece = random / 256 % 8;

	if (!n)
		return PAGE - 1 - page % 4;
	if (!sizes[n])
		return line + piece * 8 + random / 2048 % 4;
	/* Odd multiples of the size are no multiples of a larger one. */
	return line + (2 * piece + 1) * sizes[n] % LINE + (sizes[n] == LINE ? LINE : 0) - split;
}

/* A place from which and to which nothing leads by mistake. */
static unsigned long find_place(unsigned int page, unsigned int n, u64 *random)
{
	unsigned long offset;
	unsigned int tries = 0;

	do {
		if (++tries > 10000)
			poke_cannot("no place for site %u of page %u", n, page);
		*random = *random * 6364136223846793005UL + 1442695040888963407UL;
		offset = page * PAGE + place(page, n, *random >> 40);
	} while (collides(offset));
	mark(offset);
	return offset;
}

static void make_site(unsigned int i, unsigned long offset)
{
	struct site *site = &sites[i];

	*site = (struct site){ .ip = text + offset, .kind = kind_of(offset) };
	site_at[offset] = i + 1;
	memcpy(text_writable + offset, insns[NOP], POKE_INSN_SIZE);
	text_writable[offset + POKE_INSN_SIZE] = 0xc3;			/* ret */
	for (int s = CALL_A; s < NR_STATES; s++) {
		u8 *function = text_writable + s * REGION + offset + POKE_INSN_SIZE +
			       (tail_of(s) & 0xffff);
		u32 number = 1 + i * 2 + (s == JUMP_B);

		memcpy(function, "\x41\x81\xc6", 3);			/* add $number, %r14d */
		memcpy(function + 3, &number, sizeof(number));
		/* A function that is jumped to returns for the site. */
		function[FUNCTION_SIZE - 1] = 0xc3;			/* ret */
	}
}

static void map_text(void)
{
	int fd = memfd_create("text", 0);

	if (fd < 0 || ftruncate(fd, NR_STATES * REGION))
		poke_cannot("no memfd: %m");
	text = (unsigned long)mmap(NULL, RESERVED, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	text_writable = mmap(NULL, NR_STATES * REGION, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if ((void *)text == MAP_FAILED || text_writable == MAP_FAILED)
		poke_cannot("no mapping: %m");
	memset(text_writable, 0xcc, NR_STATES * REGION);
	for (int s = NOP; s < NR_STATES; s++)
		if (mmap((void *)region_of(s), REGION, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED,
			 fd, s * REGION) == MAP_FAILED)
			poke_cannot("no text that can be executed: %m");
	close(fd);
}

static int compare(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

void text_make(u64 seed)
{
	static unsigned long offsets[POKE_SITES];
	unsigned int nr = 0;

	map_text();
	/* First the sites that can only be in one place. */
	for (unsigned int n = 0; n < SITES_PER_PAGE; n++)
		for (unsigned int page = 0; page < PAGES; page++)
			offsets[nr++] = find_place(page, n, &seed);
	qsort(offsets, nr, sizeof(*offsets), compare);
	for (unsigned int i = 0; i < nr; i++)
		make_site(i, offsets[i]);
}
