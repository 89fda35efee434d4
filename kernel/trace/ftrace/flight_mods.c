// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules of the last kernel: where their text was is written beside rings that outlive the kernel.
 * A function of one of them is shown by name while this kernel has the same module.
 *
 * A caller may be a thunk, if its function has made a tail call. So it is also written down where
 * thunks were: they are sorted like the sites, and the same code has the same sites.
 */
#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/jhash.h>
#include <linux/module.h>

#include <asm/sections.h>

#include "core.h"
#include "flight.h"
#include "table.h"

/* Changed with ftrace_lock held. */
static struct {
	struct ftrace_flight_mod	*mod;	/* NULL: nothing is kept */
	bool				last;	/* those of the last kernel */
} mods;

/* Was it there at @cycles? */
static bool mods_there(const struct ftrace_flight_mod *m, u64 cycles)
{
	return m->came <= cycles && m->gone - 1 >= cycles;
}

#ifdef CONFIG_MODULES
/* A free entry; or that of a module that was unloaded before all others. */
static struct ftrace_flight_mod *mods_room(void)
{
	struct ftrace_flight_mod *found = NULL;

	for (unsigned int i = 1; i < FTRACE_FLIGHT_MODS; i++) {
		struct ftrace_flight_mod *m = &mods.mod[i];

		if (!m->size)
			return m;
		if (m->gone && (!found || m->gone < found->gone))
			found = m;
	}
	return found;
}

static void mods_add(const struct module *mod, u32 sites, u64 when)
{
	const struct module_memory *text = &mod->mem[MOD_TEXT];
	u64 base = (unsigned long)text->base;
	struct ftrace_flight_mod *m;

	/* What was there before is gone. */
	for (m = mods.mod; m < mods.mod + FTRACE_FLIGHT_MODS; m++)
		if (!m->gone && m->base < base + text->size && base < m->base + m->size)
			WRITE_ONCE(m->gone, when);
	m = mods_room();
	if (!m)
		return;
	/* The next kernel may find this half written: without a size, as x86 keeps the order. */
	WRITE_ONCE(m->size, 0);
	barrier();
	m->base = base;
	m->sites = sites;
	m->came = when;
	m->gone = 0;
	memset(m->thunks, 0, sizeof(m->thunks));
	strscpy(m->name, mod->name);
	barrier();
	WRITE_ONCE(m->size, text->size);
}

static bool mods_same(const struct ftrace_flight_mod *m, const struct module *mod, u32 sites)
{
	return m->size == mod->mem[MOD_TEXT].size && m->sites == sites &&
	       !strncmp(m->name, mod->name, sizeof(m->name));
}

/**
 * ftrace_flight_mods_note - a module is loaded, or is about to be freed
 * @mod: the module; its text runs no more if it goes
 * @sites: a hash of the places of its call sites
 * @when: the time in cycles, 0 if it was there before
 * @comes: it is loaded
 *
 * Context: Process context. ftrace_lock held.
 */
void ftrace_flight_mods_note(const struct module *mod, u32 sites, u64 when, bool comes)
{
	unsigned long base = (unsigned long)mod->mem[MOD_TEXT].base;

	lockdep_assert_held(&ftrace_lock);
	if (comes && mods.mod && !mods.last)
		mods_add(mod, sites, when);
	for (unsigned int i = 0; mods.mod && i < FTRACE_FLIGHT_MODS; i++) {
		struct ftrace_flight_mod *m = &mods.mod[i];

		if (mods.last && mods_same(m, mod, sites))
			WRITE_ONCE(m->now, comes ? base : 0);
		else if (!mods.last && !comes && m->base == base && !m->gone)
			WRITE_ONCE(m->gone, when);
	}
}

/* The table of a module's text that stays; NULL if it has no call site. */
static const struct ftrace_table *mods_table(const struct module *mod)
{
	struct ftrace_table *t;
	unsigned int i;

	for_each_ftrace_table(t, i)
		if (t->mod == mod && t->start == (unsigned long)mod->mem[MOD_TEXT].base)
			return t;
	return NULL;
}

static u32 mods_hash(const struct ftrace_table *t)
{
	u32 hash = 0;

	for (unsigned int i = 0; t && i < t->nr; i++)
		hash = jhash_1word(t->sites[i].off, hash);
	return hash;
}

/* The notifier is told of the others, or has been. */
static void mods_note_table(const struct ftrace_table *t)
{
	if (t->mod && t == mods_table(t->mod) && t->mod->state != MODULE_STATE_UNFORMED &&
	    t->mod->state != MODULE_STATE_GOING)
		ftrace_flight_mods_note(t->mod, mods_hash(t), 0, true);
}

static int mods_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	const struct ftrace_table *t;
	u64 when;

	if (!READ_ONCE(mods.mod) || (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING))
		return NOTIFY_OK;
	when = ftrace_flight_now();
	guard(mutex)(&ftrace_lock);
	t = mods_table(mod);
	ftrace_flight_mods_note(mod, mods_hash(t), when, state == MODULE_STATE_COMING);
	if (t)
		ftrace_flight_mods_thunks(t);
	return NOTIFY_OK;
}

static struct notifier_block mods_block = { .notifier_call = mods_notify };

static int __init mods_init(void)
{
	return register_module_notifier(&mods_block);
}
core_initcall(mods_init);
#else
static void mods_note_table(const struct ftrace_table *t) { }
#endif

/**
 * ftrace_flight_mods_keep - begin to write modules down, or to look up those of the last kernel
 * @mod: where they are, &FTRACE_FLIGHT_MODS of them; NULL for no more of both
 * @last: they are those of the last kernel
 *
 * Context: Process context, may sleep. Takes ftrace_lock.
 */
void ftrace_flight_mods_keep(struct ftrace_flight_mod *mod, bool last)
{
	struct ftrace_table *t;
	unsigned int i;

	guard(mutex)(&ftrace_lock);
	mods.mod = mod;
	mods.last = last;
	if (!mod)
		return;
	if (!last)
		memset(mod, 0, FTRACE_FLIGHT_MODS * sizeof(*mod));
	for (i = 0; i < FTRACE_FLIGHT_MODS; i++)
		mod[i].now = 0;
	if (last)
		mod[0].now = (unsigned long)_stext;
	for_each_ftrace_table(t, i) {
		mods_note_table(t);
		ftrace_flight_mods_thunks(t);
	}
}

/**
 * ftrace_flight_mods_thunks - write down where the thunks of a table are
 * @t: the table; that of init text is left out
 *
 * Context: Process context. ftrace_lock held.
 */
void ftrace_flight_mods_thunks(const struct ftrace_table *t)
{
	lockdep_assert_held(&ftrace_lock);
	for (unsigned int i = 0; mods.mod && !mods.last && i < FTRACE_FLIGHT_MODS; i++) {
		struct ftrace_flight_mod *m = &mods.mod[i];

		if (i ? m->gone || m->base != t->start : t->start != (unsigned long)_stext)
			continue;
		for (unsigned int kind = 0; kind < FTRACE_NR_THUNKS; kind++)
			WRITE_ONCE(m->thunks[kind], t->thunks[kind] ? t->thunks[kind]->base : 0);
	}
}

/*
 * The site whose thunk was at an address; 0 if there was none in @m. @t has the sites of @m now, or
 * is NULL.
 */
static unsigned long mods_site(const struct ftrace_flight_mod *m, unsigned long addr,
			       const struct ftrace_table *t)
{
	for (unsigned int kind = 0; t && kind < FTRACE_NR_THUNKS; kind++) {
		unsigned long nr = ftrace_thunk_nr(addr - m->thunks[kind]);

		if (m->thunks[kind] && nr < READ_ONCE(t->nr))
			return site_ip(t, &t->sites[nr]);
	}
	return 0;
}

/* The same, for the kernel and all modules. Any context. */
static unsigned long mods_find_thunk(unsigned long addr, u64 cycles)
{
	unsigned long site = 0;

	/* Tables stay meanwhile. */
	guard(preempt_notrace)();
	for (unsigned int i = 0; mods.mod && i < FTRACE_FLIGHT_MODS && !site; i++) {
		const struct ftrace_flight_mod *m = &mods.mod[i];
		unsigned long now = READ_ONCE(m->now);

		if (now && mods_there(m, cycles))
			site = mods_site(m, addr, ftrace_table_of(now));
	}
	return site;
}

/*
 * A module that came to the place of another one is younger: of those that were there at @cycles,
 * it is the first one to go.
 */
static unsigned long mods_find(unsigned long addr, u64 cycles)
{
	const struct ftrace_flight_mod *found = NULL;
	unsigned long now;

	for (unsigned int i = 0; mods.mod && i < FTRACE_FLIGHT_MODS; i++) {
		const struct ftrace_flight_mod *m = &mods.mod[i];

		if (addr - m->base < m->size && mods_there(m, cycles) &&
		    (!found || m->gone - 1 < found->gone - 1))
			found = m;
	}
	now = found ? READ_ONCE(found->now) : 0;
	return now ? addr - found->base + now : 0;
}

/* Is shown in place of a name that is not known. */
static noinline void unknown_in_last_kernel(void)
{
}

/* Where a function is now that the last kernel has called at @cycles. Any context. */
unsigned long ftrace_flight_last_name(unsigned long addr, u64 cycles)
{
	/* A return has no caller. */
	if (!addr)
		return 0;
	return ftrace_flight_keep_name(addr) ?: mods_find(addr, cycles) ?:
	       mods_find_thunk(addr, cycles) ?: (unsigned long)unknown_in_last_kernel;
}
