// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with false friends: bytes that resemble the compiler's call at the head of a function.
 *
 * guest-programs removes the table of call sites from this module. So the kernel looks for calls at
 * the heads of functions, and must leave alone all functions and data that ASM_FRIEND() makes.
 */
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/unaligned.h>

#include "run.h"

/* The operand of an instruction that reads a variable. */
#ifdef CONFIG_X86_64
#define VARIABLE(name)	#name "(%rip)"
#else
#define VARIABLE(name)	#name
#endif

#define BYTES_OF_CALL	".byte 0xe8; .long __fentry__ - . - 4\n"
#define SIZE_OF(name)	".size " #name ", . - " #name "\n"

#define ASM_FRIEND(section, name, type, code)				\
	asmlinkage void name(void);					\
	asm(".pushsection " section "\n"				\
	    ".type " #name ", " type "\n"				\
	    #name ":\n"							\
	    code							\
	    ".popsection\n")

static void *const __used ftmod_friends_pointer = &__fentry__;

ASM_FRIEND(".text", ftmod_friends_middle, "@function",
	   "nop; call __fentry__\n" ASM_RET SIZE_OF(ftmod_friends_middle));
ASM_FRIEND(".text", ftmod_friends_leaf, "@function",
	   ASM_RET SIZE_OF(ftmod_friends_leaf));
ASM_FRIEND(".text", ftmod_friends_other, "@function",
	   "call ftmod_friends_leaf\n" ASM_RET SIZE_OF(ftmod_friends_other));
ASM_FRIEND(".text", ftmod_friends_jump, "@function",
	   "jmp __fentry__\n" SIZE_OF(ftmod_friends_jump));
ASM_FRIEND(".text", ftmod_friends_indirect, "@function",
	   "call *" VARIABLE(ftmod_friends_pointer) "\n" ASM_RET SIZE_OF(ftmod_friends_indirect));
ASM_FRIEND(".text", ftmod_friends_label, "@notype",
	   "call __fentry__\n" ASM_RET SIZE_OF(ftmod_friends_label));
ASM_FRIEND(".text", ftmod_friends_sizeless, "@function",
	   "call __fentry__\n" ASM_RET);
ASM_FRIEND(".text", ftmod_friends_table, "@object",
	   BYTES_OF_CALL SIZE_OF(ftmod_friends_table));
ASM_FRIEND(".data", ftmod_friends_data, "@function",
	   BYTES_OF_CALL SIZE_OF(ftmod_friends_data));

/* A true friend, which the compiler makes. */
static noinline __noclone long ftmod_friends_true(long x)
{
	barrier();
	return x + 1;
}

static notrace noinline __noclone long ftmod_friends_notrace(long x)
{
	barrier();
	return x + 2;
}

/* Does a friend hold an instruction with a 32-bit distance, @offset bytes from its start? */
static void check_call(const char *name, const void *friend, int offset, u8 opcode, const void *target)
{
	const u8 *insn = friend + offset;
	const void *end = insn + 5;

	check(*insn == opcode && end + get_unaligned((const s32 *)(insn + 1)) == target,
	      "%s is %*ph", name, 5, insn);
}

#define CHECK_CALL(friend, offset, opcode, target)	\
	check_call(#friend, friend, offset, opcode, target)

/* Each friend has the bytes that the compiler or the assembler gave it. */
static void run_bytes(void)
{
	CHECK_CALL(ftmod_friends_middle, 1, 0xe8, __fentry__);
	CHECK_CALL(ftmod_friends_other, 0, 0xe8, ftmod_friends_leaf);
	CHECK_CALL(ftmod_friends_jump, 0, 0xe9, __fentry__);
	check(!memcmp(ftmod_friends_indirect, "\xff\x15", 2),
	      "ftmod_friends_indirect is %*ph", 6, ftmod_friends_indirect);
	CHECK_CALL(ftmod_friends_label, 0, 0xe8, __fentry__);
	CHECK_CALL(ftmod_friends_sizeless, 0, 0xe8, __fentry__);
	CHECK_CALL(ftmod_friends_table, 0, 0xe8, __fentry__);
	CHECK_CALL(ftmod_friends_data, 0, 0xe8, __fentry__);
}

static void run_calls(void)
{
	ftmod_friends_middle();
	ftmod_friends_other();
	ftmod_friends_jump();
	ftmod_friends_indirect();
	ftmod_friends_label();
	ftmod_friends_sizeless();
	check(ftmod_friends_true(1) + ftmod_friends_notrace(1) == 5, "all functions return");
}

const struct run runs[] = {
	{ "bytes", run_bytes },
	{ "calls", run_calls },
	{ }
};

static int __init ftmod_friends_init(void)
{
	return 0;
}
module_init(ftmod_friends_init);

static void __exit ftmod_friends_exit(void)
{
}
module_exit(ftmod_friends_exit);

MODULE_DESCRIPTION("False friends of call sites, for the function tracer's tests");
MODULE_LICENSE("GPL");
