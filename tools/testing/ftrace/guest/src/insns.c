// SPDX-License-Identifier: GPL-2.0-only
/*
 * insns: the instructions of a trampoline, for guest scripts. The guest has no disassembler.
 *
 * "insns ADDRESS" reads the bytes of 64-bit code at ADDRESS, as "ftio bytes" prints them. For each
 * instruction, it prints a line: its offset, its bytes, and what it does if it transfers control or
 * counts. It knows the instructions that trampolines consist of, and no others: an unknown
 * instruction ends the list with "unknown" and exit status 1, so nothing stays unseen.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t code[70000];
static unsigned int size;

/* One instruction, with what has been decoded of it. */
struct insn {
	uint64_t next;		/* address of the next instruction */
	unsigned int at, len;
	bool gs, wide, repeat;
	uint8_t mod, reg, rm;
	int64_t disp;
};

/* The first bytes beyond the end are 0, and the end is checked for each instruction. */
static int64_t number(struct insn *i, unsigned int bytes)
{
	int64_t value = 0;

	memcpy(&value, &code[i->at + i->len], bytes);
	i->len += bytes;
	return bytes == 1 ? (int8_t)value : bytes == 4 ? (int32_t)value : value;
}

/* The operand that ModRM describes, with SIB and displacement (Intel SDM vol. 2A, 2.1.5). */
static void operand(struct insn *i)
{
	uint8_t modrm = number(i, 1), base;

	i->mod = modrm >> 6;
	i->reg = modrm >> 3 & 7;
	i->rm = modrm & 7;
	if (i->mod == 3)
		return;
	base = i->rm == 4 ? number(i, 1) & 7 : i->rm;
	if (i->mod == 1)
		i->disp = number(i, 1);
	else if (i->mod == 2 || (!i->mod && base == 5))
		i->disp = number(i, 4);
}

/* Only for the operands of counters: %rip-relative, or absolute. */
static uint64_t operand_address(const struct insn *i)
{
	return !i->mod && i->rm == 5 ? i->next + i->disp : (uint64_t)i->disp;
}

/* Returns what the instruction does, "" if nothing of interest, NULL if it is not known. */
static const char *decode(struct insn *i, uint64_t addr)
{
	static char text[80];
	int64_t value;
	uint8_t op;

	for (;;) {
		op = number(i, 1);
		if (op == 0x65)
			i->gs = true;
		else if (op == 0xf3)
			i->repeat = true;
		else if (op >= 0x48 && op <= 0x4f)
			i->wide = true;
		else if (op != 0x66 && op != 0x2e && (op < 0x40 || op > 0x47))
			break;
	}
	switch (op) {
	case 0x50 ... 0x5f:		/* push, pop */
	case 0x9c: case 0x9d:		/* pushf, popf */
	case 0x90:
		return "";
	case 0x89: case 0x8b: case 0x8d:	/* mov, lea */
		operand(i);
		return "";
	case 0x81: case 0xc7:		/* arithmetic and mov with an immediate */
		operand(i);
		number(i, 4);
		return "";
	case 0x83:
		operand(i);
		number(i, 1);
		return "";
	case 0xb8 ... 0xbf:
		number(i, i->wide ? 8 : 4);
		return "";
	case 0xc1:
		operand(i);
		value = number(i, 1);
		i->next = addr + i->at + i->len;
		snprintf(text, sizeof(text), "shift/%d %d %s:%llx", i->reg, (int)value,
			 i->gs ? "gs" : "ds", (unsigned long long)operand_address(i));
		return text;
	case 0xc3:
		return "ret";
	case 0xcc:
		return "int3";
	case 0xe8: case 0xe9:
		value = number(i, 4);
		snprintf(text, sizeof(text), "%s %llx", op == 0xe8 ? "call" : "jmp",
			 (unsigned long long)(addr + i->at + i->len + value));
		return text;
	case 0xff:
		operand(i);
		return i->reg == 2 ? "call indirect" : i->reg == 4 ? "jmp indirect" :
		       i->reg == 0 ? "count" : i->reg == 6 ? "" : NULL;
	case 0x0f:
		op = number(i, 1);
		if (op == 0x1e && i->repeat && code[i->at + i->len] == 0xfa) {
			number(i, 1);
			return "endbr64";
		}
		if (op != 0x1f)
			return NULL;
		operand(i);
		return "nop";
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t addr;
	unsigned int byte;

	if (argc != 2) {
		fputs("usage: insns ADDRESS <BYTES\n", stderr);
		return 2;
	}
	addr = strtoull(argv[1], NULL, 16);
	while (size < sizeof(code) - 32 && scanf("%x", &byte) == 1)
		code[size++] = byte;
	for (unsigned int at = 0; at < size; ) {
		struct insn i = { .at = at };
		const char *text = decode(&i, addr);

		if (!text || at + i.len > size) {
			printf("%x: unknown %02x %02x %02x\n", at, code[at], code[at + 1],
			       code[at + 2]);
			return 1;
		}
		printf("%x:", at);
		for (unsigned int n = 0; n < i.len; n++)
			printf(" %02x", code[at + n]);
		printf(" | %s\n", text);
		at += i.len;
	}
	return size ? 0 : 1;
}
