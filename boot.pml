/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Boot, and the loading of a module: calls become nops in text that does not run yet
 * (arch_ftrace_init_site() and arch_ftrace_init_done() in arch/x86/kernel/ftrace/sites.c).
 *
 * The CPU that writes may have fetched the old bytes before, and then runs the text.
 */
#include "claim.pml"

CLAIMS nop_is_executed;		/* the CPU executes both parts of the nop */

#define CALL	0
#define NOP	1
#define NOTHING	2
byte head = CALL, tail = CALL;
byte got_head = NOTHING, got_tail = NOTHING;
bit runs;

active proctype fetches()
{
end:	do
	:: got_head = head
	:: got_tail = tail
	:: atomic { runs && got_head != NOTHING && got_tail != NOTHING ->
		CLAIM(nop_is_executed, got_head == NOP && got_tail == NOP) }
	od
}

active proctype writes()
{
	/* arch_ftrace_init_site(): memcpy() writes in any order. */
	if
	:: head = NOP; tail = NOP
	:: tail = NOP; head = NOP
	fi;
#ifndef NO_SYNC_CORE
	/* arch_ftrace_init_done() */
	atomic {
		got_head = NOTHING;
		got_tail = NOTHING }
#endif
	runs = 1
}
