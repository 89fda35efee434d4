// SPDX-License-Identifier: GPL-2.0-only
/*
 * insns: the instructions of a trampoline, for guest scripts. The guest has no disassembler.
 *
 * "insns ADDRESS" reads the bytes of 64-bit code at ADDRESS, as "ftio bytes" prints them. For each
 * instruction, it prints a line: its offset, its bytes, and what it does if it transfers control or
 * counts. The kernel's decoder splits the code into instructions. This program names only the
 * instructions that trampolines consist of. At another instruction the list ends with "unknown" and
 * exit status 1, so a test cannot miss it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <asm/insn.h>

/* The decoder may look behind the last byte. */
static uint8_t code[70000 + MAX_INSN_SIZE];

/* Only for the operands of counters: %rip-relative, or absolute. */
static unsigned long long counter(const struct insn *insn, uint64_t next)
{
	bool relative = X86_MODRM_MOD(insn->modrm.value) == 0 && X86_MODRM_RM(insn->modrm.value) == 5;

	return (relative ? next : 0) + (int64_t)insn->displacement.value;
}

static bool has_prefix(const struct insn *insn, uint8_t prefix)
{
	for (int i = 0; i < insn->prefixes.nbytes; i++)
		if (insn->prefixes.bytes[i] == prefix)
			return true;
	return false;
}

/* Returns what the instruction does, "" if nothing of interest, NULL if it is not known. */
static const char *name(struct insn *insn, uint64_t next)
{
	static char text[80];
	int reg = X86_MODRM_REG(insn->modrm.value);

	switch (insn->opcode.bytes[0]) {
	case 0x50 ... 0x5f:		/* push, pop */
	case 0x9c: case 0x9d:		/* pushf, popf */
	case 0x90:
	case 0x89: case 0x8b: case 0x8d:	/* mov, lea */
	case 0x81: case 0x83: case 0xc7:	/* arithmetic and mov with an immediate */
	case 0xb8 ... 0xbf:
		return "";
	case 0xc1:
		snprintf(text, sizeof(text), "shift/%d %d %s:%llx", reg, insn->immediate.value,
			 has_prefix(insn, 0x65) ? "gs" : "ds", counter(insn, next));
		return text;
	case 0xc3:
		return "ret";
	case 0xcc:
		return "int3";
	case 0xe8: case 0xe9:
		snprintf(text, sizeof(text), "%s %llx", insn->opcode.bytes[0] == 0xe8 ? "call" : "jmp",
			 (unsigned long long)(next + insn->immediate.value));
		return text;
	case 0xff:
		return reg == 2 ? "call indirect" : reg == 4 ? "jmp indirect" :
		       reg == 0 ? "count" : reg == 6 ? "" : NULL;
	case 0x0f:
		if (insn->opcode.bytes[1] == 0x1e && has_prefix(insn, 0xf3) && insn->modrm.value == 0xfa)
			return "endbr64";
		return insn->opcode.bytes[1] == 0x1f ? "nop" : NULL;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t addr;
	unsigned int byte, size = 0;

	if (argc != 2) {
		fputs("usage: insns ADDRESS <BYTES\n", stderr);
		return 2;
	}
	addr = strtoull(argv[1], NULL, 16);
	while (size < sizeof(code) - MAX_INSN_SIZE && scanf("%x", &byte) == 1)
		code[size++] = byte;
	for (unsigned int at = 0; at < size; ) {
		struct insn insn;
		bool bad = insn_decode(&insn, &code[at], size - at, INSN_MODE_64) < 0;
		const char *text = bad ? NULL : name(&insn, addr + at + insn.length);

		if (!text) {
			printf("%x: unknown %02x %02x %02x\n", at, code[at], code[at + 1],
			       code[at + 2]);
			return 1;
		}
		printf("%x:", at);
		for (unsigned int n = 0; n < insn.length; n++)
			printf(" %02x", code[at + n]);
		printf(" | %s\n", text);
		at += insn.length;
	}
	return size ? 0 : 1;
}
