// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a disabled call site cost? Time functions that begin with each of the sequences that
 * can fill the five bytes of a call.
 *
 * All functions are the same except for the five bytes at their heads, so the difference to the
 * empty function is the cost of these bytes.
 */
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

#define RUNS	10000000
#define ROUNDS	5

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct nop {
	const char *name;
	void (*func)(void);
	int insns;
};

#define FUNCTION(name, code)							\
	static __attribute__((naked)) void name(void)				\
	{									\
		asm(code "ret");						\
	}

#define BYTES(bytes)	".byte " bytes "\n"

#ifdef __x86_64__
#define LEA	"0x48, 0x8d, 0x74, 0x26, 0x00"
#else
#define LEA	"0x3e, 0x8d, 0x74, 0x26, 0x00"
#endif
#define P6	"0x0f, 0x1f, 0x44, 0x00, 0x00"
#define JMP3	"0xeb, 0x03, 0x90, 0x90, 0x90"
#define JMP5	"0xe9, 0x00, 0x00, 0x00, 0x00"
#define TWO	"0x66, 0x66, 0x90, 0x66, 0x90"
#define PREFIX	"0x66, 0x66, 0x66, 0x66, 0x90"

FUNCTION(nop_empty, "")
FUNCTION(nop_jmp3, BYTES(JMP3))
FUNCTION(nop_jmp5, BYTES(JMP5))
FUNCTION(nop_two, BYTES(TWO))
FUNCTION(nop_prefix, BYTES(PREFIX))
FUNCTION(nop_p6, BYTES(P6))
FUNCTION(nop_lea, BYTES(LEA))

static const struct nop nops[] = {
	{ "empty function", nop_empty, 0 },
	{ "jmp +3", nop_jmp3, 1 },
	{ "jmp +5", nop_jmp5, 1 },
	{ "pair of nops", nop_two, 2 },
	{ "prefixed nop", nop_prefix, 1 },
	{ "P6 nop", nop_p6, 1 },
	{ "lea", nop_lea, 1 },
};

static void print_row(const struct nop *n)
{
	const unsigned char *byte = (const unsigned char *)n->func;

	printf("%-16s", n->name);
	for (int i = 0; i < 5; i++) {
		if (n->insns)
			printf(" %02x", byte[i]);
		else
			printf("   ");
	}
	printf(" %13d", n->insns);
}

/* What arch/x86/include/asm/nops.h has for five bytes. */
#ifdef __x86_64__
#define KERNEL_NOP	"P6 nop"
#else
#define KERNEL_NOP	"lea"
#endif

static unsigned long long cycles(void (*func)(void))
{
	unsigned long long start = __rdtsc();

	for (int i = 0; i < RUNS; i++)
		func();
	return __rdtsc() - start;
}

/* The shortest round: interrupts and other tasks only make a round longer. */
static double cycles_a_call(void (*func)(void))
{
	unsigned long long best = -1ULL;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned long long c = cycles(func);

		if (c < best)
			best = c;
	}
	return (double)best / RUNS;
}

int main(void)
{
	double empty = 0;

	printf("%d calls, the best of %d rounds, in cycles of rdtsc\n\n", RUNS, ROUNDS);
	printf("%-16s %-14s %13s %9s %9s\n", "head", "bytes", "instructions", "a call", "more");
	for (unsigned int i = 0; i < ARRAY_SIZE(nops); i++) {
		const struct nop *n = &nops[i];
		double c = cycles_a_call(n->func);

		if (!i)
			empty = c;
		print_row(n);
		printf(" %9.2f %9.2f%s\n", c, c - empty,
		       strcmp(n->name, KERNEL_NOP) ? "" : "  the kernel's");
	}
	printf("\nThe site must be one instruction. A task that was preempted between two instructions\n"
	       "returns to the second one later. If the five bytes are a call by then, the task executes\n"
	       "the middle of the call. So the pair of nops cannot be used. In \"jmp +3\" only the jump\n"
	       "is executed; it is one instruction, too.\n");
	return 0;
}
