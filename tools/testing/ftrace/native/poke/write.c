// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stores and broadcasts of the patcher, and what the wrong variants make of them.
 *
 * The patcher's own source does everything else, so a variant differs from the real protocol
 * in one thing. Where a variant leaves out the broadcast between two phases, it makes the
 * stores of both phases one after the other, when the patcher makes the second.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "poke.h"

#define PAGE	4096UL
#define INT3	0xcc

enum variant variant;

static unsigned long window[POKE_WINDOW_SIZE / PAGE];	/* page of the text + 1 */
static __thread bool loaded;

void poke_window_set(unsigned long offset, unsigned long page)
{
	window[offset / PAGE] = page + 1;
}

void poke_window_clear(unsigned long offset)
{
	window[offset / PAGE] = 0;
}

void poke_window_load(bool load)
{
	loaded = load;
}

/* The byte that an address in the window stands for. */
static u8 *window_at(const u8 *alias)
{
	unsigned long offset = (unsigned long)alias - 512 * PAGE;
	unsigned long page;

	if (!loaded || offset >= POKE_WINDOW_SIZE)
		poke_bug("a store to %p, outside of the window", alias);
	page = window[offset / PAGE];
	if (!page)
		poke_bug("a store to a page that is not mapped");
	/* A site that crosses the end of its page needs the next page of text there. */
	if (offset % PAGE > PAGE - POKE_INSN_SIZE && window[offset / PAGE + 1] != page + 1)
		poke_bug("the window does not map the rest of a site");
	return text_writable + (page - 1) * PAGE + offset % PAGE;
}

static struct site *site_of(const u8 *at)
{
	return &sites[text_site_at(sites[0].ip + (at - text_writable) -
				   (sites[0].ip & (PAGE - 1)))];
}

static void store_int3(u8 *at)
{
	delay(AT_INT3, at);
	__atomic_store_n(at, INT3, __ATOMIC_RELAXED);
}

static void store_tail(u8 *at, u32 tail)
{
	delay(AT_TAIL, at);
	/* One store, even if it crosses a line: as put_unaligned() in the kernel. */
	__asm__ volatile("movl %1, %0" : "=m"(*(u32 *)(at + 1)) : "r"(tail) : "memory");
}

static void store_head(u8 *at, u8 head)
{
	delay(AT_HEAD, at);
	__atomic_store_n(at, head, __ATOMIC_RELAXED);
}

/* The whole instruction, and the bytes behind it as they are, which nobody changes. */
static void store_at_once(u8 *at, u8 head, u32 tail)
{
	u64 all;

	delay(AT_HEAD, at);
	memcpy(&all, at, sizeof(all));
	all &= ~0xffffffffffUL;
	all |= (u64)tail << 8 | head;
	__asm__ volatile("movq %1, %0" : "=m"(*(u64 *)at) : "r"(all) : "memory");
}

/* The first byte that belongs to a tail; the tails of all instructions differ. */
static u8 head_of(u32 tail)
{
	u8 insn[POKE_INSN_SIZE];

	for (int s = NOP; s < NR_STATES; s++) {
		text_insn(s, insn);
		if (insn[1] == (u8)tail)
			return insn[0];
	}
	poke_bug("a tail %x of no instruction", tail);
}

static void phase_int3(u8 *at)
{
	switch (variant) {
	case NO_INT3:
	case ONE_STORE:
	case NO_SYNC_INT3_TAIL:
		break;
	default:
		store_int3(at);
		break;
	}
}

static void phase_tail(u8 *at, u32 tail)
{
	site_of(at)->tail = tail;
	switch (variant) {
	case HEAD_FIRST:
		store_head(at, head_of(tail));
		break;
	case NO_SYNC_INT3_TAIL:
		store_int3(at);
		store_tail(at, tail);
		break;
	case ONE_STORE:
	case NO_SYNC_TAIL_HEAD:
		break;
	default:
		store_tail(at, tail);
		break;
	}
}

static void phase_head(u8 *at, u8 head)
{
	u32 tail = site_of(at)->tail;

	switch (variant) {
	case HEAD_FIRST:
		store_tail(at, tail);
		break;
	case NO_SYNC_TAIL_HEAD:
		store_tail(at, tail);
		store_head(at, head);
		break;
	case ONE_STORE:
		store_at_once(at, head, tail);
		break;
	default:
		store_head(at, head);
		break;
	}
}

/* The patcher stores one byte: int3, or the first byte of the new instruction. */
void poke_store_byte(u8 *alias, u8 byte)
{
	u8 *at = window_at(alias);

	if (byte == INT3)
		phase_int3(at);
	else
		phase_head(at, byte);
}

/* The patcher stores the last four bytes of the new instruction. */
void poke_store_tail(u8 *alias, u32 tail)
{
	phase_tail(window_at(alias - 1), tail);
}

static int membarrier(int command)
{
	return syscall(__NR_membarrier, command, 0, 0);
}

void sync_init(void)
{
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) ||
	    membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
		poke_cannot("no membarrier that makes CPUs serialise: %m");
}

/* Make every CPU that runs a thread of ours serialise. */
void poke_sync(void)
{
	unsigned int eax, ebx, ecx, edx;

	result->syncs++;
	if (variant == NO_SYNC)
		return;
	delay(AT_SYNC, NULL);
	if (membarrier(variant == NO_CORE ? MEMBARRIER_CMD_PRIVATE_EXPEDITED :
					    MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE))
		poke_cannot("membarrier: %m");
	/* This CPU, too. */
	__cpuid(0, eax, ebx, ecx, edx);
	delay(AT_SYNCED, NULL);
}

/* Now and then the pipeline must be emptied. */
bool poke_need_resched(void)
{
	return !(thread_random() % 64);
}

void poke_relax(void)
{
	sched_yield();
}
