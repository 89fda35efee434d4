/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the program share. poke.c says what the program does. */
#ifndef POKE_H
#define POKE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;

/* A thread is what the patcher takes for a CPU. Thread 0 patches. */
#define POKE_THREADS		1024
#define POKE_SITES		1024
#define POKE_WINDOW_SIZE	(4UL << 20)
#define POKE_INSN_SIZE		5
#define POKE_JUMP		(1UL << 63)

/* What can be between a store and the next; the first is right. */
enum variant {
	REAL, NO_INT3, HEAD_FIRST, ONE_STORE, NO_SYNC_INT3_TAIL, NO_SYNC_TAIL_HEAD, NO_SYNC,
	NO_CORE,
	NR_VARIANTS
};

/* What a site does. */
enum state { NOP, CALL_A, JUMP_B, NR_STATES };

/* The widest boundary that a site lies across. */
enum kind { IN_8, ACROSS_8, ACROSS_16, ACROSS_32, ACROSS_LINE, ACROSS_PAGE, NR_KINDS };

/* What a call can do wrong. */
enum fault {
	MIXED,		/* ran a call or a jump with bytes of two instructions */
	ILLEGAL,	/* illegal instruction */
	STRAY,		/* a breakpoint where there is no site */
	STUCK,		/* a site holds int3 and belongs to no batch, again and again */
	WRONG,		/* reached the function of another site, or two functions */
	STALE,		/* ran an old instruction although the batch was over */
	BACK,		/* ran the old instruction after the new one */
	OTHER,		/* another signal */
	NR_FAULTS
};

struct site {
	unsigned long	ip;
	u64		word;	/* see word_make() in run.c */
	u32		tail;	/* of a variant: bytes that are stored later */
	u8		kind;
	u8		state;	/* when no batch is running */
};

/* What one thread counted. In memory that the parent process sees. */
struct counts {
	u64	calls, old, new, trapped, late, signals, halts;
	u64	faults[NR_FAULTS];
	u64	kinds[NR_KINDS];	/* faults again */
	u64	mixes[256];		/* MIXED again, by bytes; see text_mix() */
} __attribute__((__aligned__(64)));

/* What a run did. */
struct result {
	u64		batches, changed, syncs, delays, moves, throttled;
	struct counts	counts[];	/* one a thread */
};

struct options {
	double		seconds;
	u64		seed;
	unsigned int	threads;
	int		patcher_cpu;
	bool		quiet_mood;	/* no delays */
	bool		one_mood;	/* only the delay of -d */
	bool		no_signals;
	bool		no_halts;
	bool		no_moves;
};

/* A place in the protocol where a thread can be delayed, and how. */
enum point {
	AT_INT3, AT_TAIL, AT_HEAD, AT_SYNC, AT_SYNCED, AT_BEGIN, AT_FENCE, AT_SEARCH, AT_CALL,
	AT_TRAP, AT_FOUND, NR_POINTS
};

enum delay { LOOP, YIELD, SIGNAL, SLEEP, FLUSH_FIRST, FLUSH_LAST, NR_DELAYS };

struct mood {
	int		point;		/* -1: no delays */
	int		delay;
	unsigned int	amount;		/* rounds of the loop; microseconds */
	unsigned int	one_in;
};

struct pt_regs {
	unsigned long	ip, sp;
};

/* poke.c */
void poke_cannot(const char *format, ...) __attribute__((__noreturn__, __format__(__printf__, 1, 2)));
void poke_bug(const char *format, ...) __attribute__((__noreturn__, __format__(__printf__, 1, 2)));

/* text.c: sites, the functions that they call, and nothing in between */
extern struct site sites[POKE_SITES];
extern u8 *text_writable;
void text_make(u64 seed);
int text_site_at(unsigned long ip);
bool text_has(unsigned long ip);
int text_mix(const struct site *site, unsigned long ip);
const char *text_mix_name(int mix);
unsigned long text_target(unsigned int site, enum state state);
void text_insn(enum state state, u8 *insn);
bool text_holds(unsigned int site, enum state state);
unsigned long poke_page_of(unsigned long address);

/* delay.c */
extern const char *const point_names[NR_POINTS], *const delay_names[NR_DELAYS];
extern volatile struct mood mood;
void delay_now(enum point point, const void *at);

static inline void delay(enum point point, const void *at)
{
	if (__builtin_expect(mood.point == (int)point, 0))
		delay_now(point, at);
}

/* write.c: the stores and broadcasts of the patcher, and what the variants make of them */
extern enum variant variant;
void sync_init(void);
void poke_store_byte(u8 *alias, u8 byte);
void poke_store_tail(u8 *alias, u32 tail);
void poke_window_set(unsigned long offset, unsigned long page);
void poke_window_clear(unsigned long offset);
void poke_window_load(bool load);
void poke_sync(void);
bool poke_need_resched(void);
void poke_relax(void);

/* throttle.c */
bool throttle_begin(int pid, double cpus);
u64 throttle_end(void);

/* run.c */
extern struct result *result;
unsigned int poke_thread(void);
u64 thread_random(void);
void run(const struct options *options, struct result *result);

/* call.S */
struct frame;
unsigned int call_site(struct frame *frame, unsigned long ip);
extern char call_recover[], call_fault[];

#endif
