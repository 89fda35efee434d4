/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The window: other page tables for a moment (arch/x86/kernel/ftrace_patch.c).
 *
 * CPU 0 patches. It loads the page tables of the window and then again those of its task, twice,
 * and the window maps another page of text each time. NMIs read user memory. Another CPU unmaps a
 * page of the task, twice: it clears the entry, flushes the TLBs that it believes to need it
 * (should_flush_tlb()), and frees the page.
 *
 * The TLB of CPU 0 may fetch an entry whenever the page tables are loaded. It keeps the entries
 * of the task while the window is loaded. The stores of CPU 0 become visible late.
 *
 * A variant leaves out what a NO_ names. A barrier() left out lets the two steps around it change
 * places.
 */
#include "claim.pml"

CLAIMS page_is_there;		/* no page is used that was freed */
CLAIMS loaded_mm_is_true;	/* loaded_mm names what is loaded, or says that this is changing */
CLAIMS right_page_is_written;	/* the window does not write through an old entry of the TLB */

#define TASK		1	/* the mm of the task; values of loaded_mm and CR3 */
#define WINDOW		2	/* ftrace_mm */
#define SWITCHING	3	/* LOADED_MM_SWITCHING */
byte loaded_w = TASK, loaded = TASK;	/* as CPU 0 and as other CPUs see it */
byte cr3 = TASK;
bit irqs_off;

#define CHANGES		2
#define NOTHING		9

byte page;			/* the version of the page that the entry maps */
byte freed;			/* versions below this were freed */
byte gen_w, gen;		/* tlb_gen of the task's mm, as the other CPU wrote it and as seen */
byte seen_gen;			/* the generation that the TLB of CPU 0 is at */
byte tlb = NOTHING;		/* the version of the page in the TLB */
bit ipi;

byte text;			/* the page of text that the window maps */
byte text_tlb = NOTHING;	/* ... and that the TLB has for the window */

/* User memory is read, if allowed. */
inline use_page()
{
	if
	:: tlb == NOTHING -> tlb = page
	:: else
	fi;
	CLAIM(page_is_there, tlb >= freed)
}

active proctype nmi()
{
end:	do
	:: atomic {
		CLAIM(loaded_mm_is_true, loaded_w == SWITCHING || loaded_w == cr3);
		/* nmi_uaccess_okay() */
		loaded_w == TASK -> use_page() }
	od
}

active proctype hardware()
{
end:	do
	:: atomic { loaded != loaded_w -> loaded = loaded_w }
	:: atomic { gen != gen_w -> gen = gen_w }
	:: atomic { cr3 == TASK && tlb == NOTHING -> tlb = page }
	:: atomic { cr3 == WINDOW && text_tlb == NOTHING -> text_tlb = text }
	od
}

/* flush_tlb_func() */
active proctype interrupt()
{
end:	do
	:: atomic { ipi && !irqs_off ->
		if
		:: loaded_w == TASK && seen_gen != gen -> tlb = NOTHING; seen_gen = gen
		:: else
		fi;
		ipi = 0 }
	od
}

active proctype unmaps()
{
	byte change;

	do
	:: change < CHANGES ->
		atomic {
			change++;
			page = change }
		/* inc_mm_tlb_gen(), an atomic operation with a full barrier */
		atomic {
			gen_w = change;
#ifndef NO_MB_GEN
			gen = gen_w
#endif
			}
		atomic { ipi = (loaded == TASK || loaded == SWITCHING) }
		!ipi;
		freed = change
	:: else -> break
	od
}

inline write_cr3(mm)
{
	atomic {
		cr3 = mm;
#ifndef NO_SERIALISING_CR3
		loaded = loaded_w;
#endif
#ifndef NO_FLUSH_WINDOW
		text_tlb = (mm == WINDOW -> NOTHING : text_tlb)
#endif
	}
}

inline window_load()
{
#ifndef NO_BARRIER_LOAD_1
	loaded_w = SWITCHING;
#endif
#ifdef NO_BARRIER_LOAD_2
	loaded_w = WINDOW;
#endif
	write_cr3(WINDOW);
#ifdef NO_BARRIER_LOAD_1
	loaded_w = SWITCHING;
#endif
#ifndef NO_BARRIER_LOAD_2
	loaded_w = WINDOW;
#endif
}

inline window_catch_up()
{
	now_gen = gen;
	atomic {
		if
		:: seen_gen != now_gen -> tlb = NOTHING; seen_gen = now_gen
		:: else
		fi;
		now_gen = 0 }
}

inline window_unload()
{
	loaded_w = SWITCHING;
	write_cr3(TASK);
#ifdef NO_BARRIER_UNLOAD
	loaded_w = TASK;
#endif
#ifndef NO_CATCH_UP
	window_catch_up();
#endif
#ifndef NO_BARRIER_UNLOAD
	loaded_w = TASK;
#endif
}

active proctype patcher()
{
	byte now_gen;

	do
	:: text < CHANGES ->
		text++;
#ifndef NO_IRQS_OFF
		irqs_off = 1;
#endif
		window_load();
		atomic {
			if
			:: text_tlb == NOTHING -> text_tlb = text
			:: else
			fi;
			CLAIM(right_page_is_written, text_tlb == text) }
		window_unload();
		irqs_off = 0;
		atomic { use_page() }
	:: else -> break
	od
}
