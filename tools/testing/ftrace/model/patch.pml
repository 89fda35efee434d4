/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The patcher: bytes of sites, the batch, and the int3 handler (arch/x86/kernel/ftrace/patch.c).
 *
 * Two changes follow each other at once. Each gives all sites the next instruction, and a site is
 * a chunk of the pipeline. Instructions are numbered: 0 is in the sites at the start, change n
 * writes instruction n. The batch of change n is called n, too, and so is its trampoline.
 *
 * A CPU runs a site in two contexts: a task or interrupt, and an NMI. A context fetches each byte
 * at any time, and executes what it has fetched at any later time, until the CPU serialises.
 *
 * For each variable that the patching CPU writes, there are two: x_w is what this CPU has written,
 * x is what other CPUs see. The stores become visible late and in any order, unless a barrier is
 * between them.
 *
 * What a run contains:
 *	SITES=n		chunks (2)
 *	CPUS=n		CPUs; CPU 0 patches, the others run sites (2)
 *	NMI0, NMI1	NMIs, and on CPU 0 interrupts, hit sites
 *	RESCHED		another task may want CPU 0 at any time
 *	HOTPLUG		CPU 1 comes online
 * A variant leaves out what a NO_ names, or broadcast number NO_BROADCAST of each change.
 */
#include "claim.pml"

#ifndef SITES
#define SITES		2
#endif
#ifndef CPUS
#define CPUS		2
#endif
#ifndef NO_BROADCAST
#define NO_BROADCAST	0
#endif
#define CHANGES		2

CLAIMS one_instruction;		/* what a CPU executes is the bytes of one instruction */
CLAIMS int3_is_found;		/* each int3 of ours finds a batch */
CLAIMS batch_is_there;		/* the handler looks at no batch that was freed */
CLAIMS batch_is_whole;		/* ... or that is not complete */
CLAIMS nr_is_of_batch;		/* the number of sites is that of the batch */
CLAIMS trampoline_is_fresh;	/* no CPU executes what was there before the trampoline */
CLAIMS off_cpu_without_int3;	/* no site holds int3 while the patching task is off its CPU */

/* Bytes: the number of their instruction, or one of these. A site is a head and a tail. */
#define INT3	(CHANGES + 1)
#define TORN	(CHANGES + 2)		/* the tail is partly of one instruction, partly of another */
#define NOTHING	(CHANGES + 3)		/* nothing was fetched */

byte head_w[SITES], head[SITES];
byte tail_w[SITES], tail[SITES];
byte batch_w, batch;			/* transit.patch; 0 is NULL */
byte nr_w, nr;				/* transit.nr and .targets: those of which batch? */
byte content_w, content;		/* which batch is in the memory of the batch */
byte tramp_w, tramp;			/* the youngest trampoline that was written */
byte allocated;				/* the batch that the memory is allocated for; 0: freed */

bit ipi[CPUS];				/* a broadcast waits for this CPU */
bit irqs_off[CPUS], in_nmi[CPUS];
bit online[CPUS] = 1;
bit hotplug_lock;
byte count_w[CPUS], count[CPUS];	/* handlers */

/* What a context has fetched: contexts 0 .. CPUS-1 are tasks and interrupts, then come NMIs. */
#define CONTEXT(cpu, nmi)	((cpu) + (nmi) * CPUS)
byte got_head[2 * CPUS] = NOTHING, got_tail[2 * CPUS] = NOTHING;
/* Before a trampoline was written, a CPU may have fetched what was there. */
bit got_before[CPUS * CHANGES];
#define GOT_BEFORE(cpu, n)	got_before[(cpu) * CHANGES + (n) - 1]

/* All stores of the patching CPU so far become visible. */
inline patcher_stores()
{
	for (i : 0 .. SITES - 1) {
		head[i] = head_w[i];
		tail[i] = tail_w[i]
	}
	i = 0;
	batch = batch_w;
	nr = nr_w;
	content = content_w;
	tramp = tramp_w
}

/* One store of the patching CPU becomes visible. */
active [SITES] proctype text_becomes_visible()
{
end:	do
	:: atomic { head[_pid] != head_w[_pid] -> head[_pid] = head_w[_pid] }
	:: atomic { tail[_pid] != tail_w[_pid] ->
		tail[_pid] = (tail[_pid] == TORN -> tail_w[_pid] : TORN) }
	od
}

active proctype data_becomes_visible()
{
end:	do
	:: atomic { batch != batch_w -> batch = batch_w }
	:: atomic { nr != nr_w -> nr = nr_w }
	:: atomic { content != content_w -> content = content_w }
	:: atomic { tramp != tramp_w -> tramp = tramp_w }
	od
}

inline refetch_trampolines(cpu)
{
	GOT_BEFORE(cpu, 1) = 0;
	GOT_BEFORE(cpu, 2) = 0
}

inline serialise(cpu)
{
	got_head[CONTEXT(cpu, 0)] = NOTHING;
	got_tail[CONTEXT(cpu, 0)] = NOTHING;
	got_head[CONTEXT(cpu, 1)] = NOTHING;
	got_tail[CONTEXT(cpu, 1)] = NOTHING;
	refetch_trampolines(cpu);
	count[cpu] = count_w[cpu]
}

/* A CPU other than the patching CPU answers broadcasts; its stores become visible. */
proctype interrupts(byte cpu)
{
end:	do
	:: atomic { ipi[cpu] && !irqs_off[cpu] && !in_nmi[cpu] -> serialise(cpu); ipi[cpu] = 0 }
	:: atomic { count[cpu] != count_w[cpu] -> count[cpu] = count_w[cpu] }
	od
}

/* The context is not interrupted by an NMI, or is this NMI. */
#define RUNS	(in_nmi[cpu] == nmi)
/* What the CPU reads. */
#define SEEN(x)	(cpu == 0 -> x##_w : x)

/* The context executes what it has fetched, if that is a whole instruction other than int3. */
inline execute()
{
	if
	:: got_head[me] < INT3 && got_tail[me] != NOTHING ->
		CLAIM(one_instruction, got_tail[me] == got_head[me]);
		if
		:: got_head[me] > 0 ->
			CLAIM(trampoline_is_fresh, SEEN(tramp) >= got_head[me] &&
			      !GOT_BEFORE(cpu, got_head[me]))
		:: else
		fi
	:: else
	fi
}

/* A context fetches a site, and executes the site or another user's int3. */
proctype runs(byte cpu; bit nmi)
{
	byte site, me = CONTEXT(cpu, nmi);
	byte mine;		/* the count of this CPU */
	byte found;		/* the batch that the handler found */
	bit ours;		/* the int3 is ours */
#ifdef NO_ACQUIRE_BATCH
	byte early_nr;
#endif

	select(site : 0 .. SITES - 1);
end:	do
	:: atomic { got_head[me] != head[site] ->
		if
		:: got_head[me] = head[site]
		:: cpu == 0 -> got_head[me] = head_w[site]
		fi;
		execute() }
	:: atomic { got_tail[me] != tail[site] ->
		if
		:: got_tail[me] = tail[site]
		:: cpu == 0 -> got_tail[me] = tail_w[site]
		/* The tail crosses a cache line, and one half was fetched before. */
		:: got_tail[me] != NOTHING -> got_tail[me] = TORN
		fi;
		execute() }
	:: atomic { tramp < CHANGES -> GOT_BEFORE(cpu, tramp + 1) = 1 }

	/* The trap. An interrupt on CPU 0 is modelled as an NMI, so this is not a second NMI. */
	:: atomic { !in_nmi[cpu] ->
		if
		:: got_head[me] == INT3 -> ours = 1
		:: ours = 0
		fi;
		in_nmi[cpu] = nmi;
#ifndef NO_IRQS_OFF
		irqs_off[cpu] = irqs_off[cpu] || !nmi
#endif
		}
		/* ftrace_int3_handler() */
		atomic { RUNS -> mine = count_w[cpu] }
		atomic { RUNS -> count_w[cpu] = mine + 1; mine = 0 }
		atomic { RUNS ->
#ifndef NO_MB_COUNT
			count[cpu] = count_w[cpu];
#endif
#ifdef NO_ACQUIRE_BATCH
			early_nr = SEEN(nr) }
		atomic { RUNS ->
#endif
			found = SEEN(batch);
			CLAIM(int3_is_found, !ours || found)
#ifdef NO_RELEASE_COUNT
			; count_w[cpu]--
#endif
			}
		if
		:: atomic { RUNS && found ->
#ifdef NO_ACQUIRE_BATCH
			CLAIM(nr_is_of_batch, early_nr == found);
			early_nr = 0;
#endif
			CLAIM(batch_is_there, allocated == found);
			CLAIM(batch_is_whole, SEEN(content) == found);
			CLAIM(nr_is_of_batch, SEEN(nr) == found) }
		:: !found
		fi;
		atomic { RUNS ->
#ifndef NO_RELEASE_COUNT
			count_w[cpu]--;
#endif
#ifndef NO_IRET
			refetch_trampolines(cpu);
#endif
			if
			:: ours -> CLAIM(trampoline_is_fresh, SEEN(tramp) >= found &&
					 !GOT_BEFORE(cpu, found))
			:: else
			fi;
			found = 0;
			ours = 0;
			in_nmi[cpu] = 0;
			irqs_off[cpu] = irqs_off[cpu] && nmi }
	od
}

#ifdef HOTPLUG
proctype comes_online()
{
	atomic {
#ifndef NO_HOTPLUG_LOCK
		!hotplug_lock -> hotplug_lock = 1;
#endif
		run runs(1, 0);
		run interrupts(1)
	}
	online[1] = 1;
#ifndef NO_HOTPLUG_LOCK
	hotplug_lock = 0
#endif
}
#endif

/* The patcher is not interrupted. */
#define ALONE	!in_nmi[0]

/* arch_ftrace_sync() */
inline broadcast()
{
	atomic { ALONE ->
#ifndef NO_MB_BROADCAST
		patcher_stores();
#endif
		for (i : 1 .. CPUS - 1) {
			ipi[i] = online[i]
		}
#ifndef NO_BROADCAST_SELF
		serialise(0)
#endif
	}
	atomic {
		for (i : 1 .. CPUS - 1) {
			ALONE && !ipi[i]
		}
		i = 0
	}
}

/* One step of the pipeline, with up to one site that enters; pipeline_step(). */
inline step()
{
	atomic { ALONE ->
		if
		:: heads < tails -> head_w[heads] = change
		:: else
		fi;
		if
		:: tails < int3s -> tail_w[tails] = change
		:: else
		fi;
		if
		:: more -> head_w[int3s] = INT3
		:: else
		fi;
		heads = tails;
		tails = int3s;
		int3s = int3s + more
	}
#if NO_BROADCAST
	broadcasts++;
	if
	:: broadcasts != NO_BROADCAST -> broadcast()
	:: else
	fi
#else
	broadcast()
#endif
}

/* Another task gets CPU 0. */
inline leave_cpu()
{
	atomic {
		for (i : 0 .. SITES - 1) {
			CLAIM(off_cpu_without_int3, head_w[i] != INT3)
		}
		i = 0
	}
}

active proctype patcher()
{
	byte change, heads, tails, int3s, more, broadcasts, i;

	atomic {
#ifdef HOTPLUG
		online[1] = 0;
		run comes_online();
#else
		for (i : 1 .. CPUS - 1) {
			run runs(i, 0);
			run interrupts(i)
		}
		i = 0;
#endif
#ifdef NMI0
		run runs(0, 1);
#endif
#ifdef NMI1
		run runs(1, 1)
#endif
	}

next_change:
	/* cpus_read_lock() */
	atomic { !hotplug_lock -> hotplug_lock = 1 }
	/* The trampoline and the batch are complete. */
	atomic { ALONE ->
		change++;
		allocated = change;
		tramp_w = change;
		content_w = change;
		nr_w = change }
	/* arch_ftrace_patch() */
	atomic { ALONE ->
#ifndef NO_RELEASE_BATCH
		patcher_stores();
#endif
		batch_w = change }
#ifndef NO_WMB_INT3
	atomic { ALONE -> patcher_stores() }
#endif

	/* pipeline_run() */
	do
	:: heads == SITES -> break
	:: heads < SITES && int3s < SITES -> more = 1; step()
	:: heads < SITES && int3s == SITES -> more = 0; step()
#ifdef RESCHED
	/* need_resched(): the pipeline is emptied, then another task gets the CPU. */
	:: heads < int3s -> more = 0; step()
#ifdef NO_EMPTY_PIPELINE
	:: true ->
#else
	:: heads == int3s ->
#endif
		leave_cpu()
#endif
#ifdef NO_PREEMPT_OFF
	:: leave_cpu()
#endif
	od;

	/* transit_end() */
	atomic { ALONE -> batch_w = 0 }
#ifndef NO_MB_TRANSIT_END
	atomic { ALONE -> patcher_stores() }
#endif
#ifdef NO_ACQUIRE_COUNTS
	/* The batch is freed before the counts are read. */
	allocated = 0;
#endif
#ifndef NO_WAIT_HANDLERS
	atomic {
		for (i : 1 .. CPUS - 1) {
			ALONE && !count[i]
		}
		i = 0
	}
#endif
	atomic {
		allocated = 0;
		heads = 0;
		tails = 0;
		int3s = 0;
		broadcasts = 0;
		hotplug_lock = 0
	}
	if
	:: change < CHANGES -> goto next_change
	:: else
	fi
}
