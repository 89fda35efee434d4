// SPDX-License-Identifier: GPL-2.0-only
/*
 * What others are told of code that only the core knows: trampolines, and functions that were
 * traced and are freed, but whose addresses are still in the trace. These are functions of a
 * module's init text, and all functions of a module that failed to load.
 *
 * kallsyms gets the names, perf is told when a trampoline comes and goes, and who walks a stack can
 * ask whether an address is in one.
 */
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "class.h"
#include "core.h"
#include "kallsyms.h"
#include "names.h"
#include "table.h"

#define TRAMP_MOD	"__builtin__ftrace"

/* A function whose text was freed. */
struct init_name {
	struct list_head	list;	/* in init_names, by module and ascending address */
	struct module		*mod;	/* NULL if the module failed to load */
	char			module[MODULE_NAME_LEN];
	unsigned long		addr;
	unsigned long		size;
	struct rcu_head		rcu;
	char			name[];
};

/* Changed with ftrace_lock held, read under RCU. */
static LIST_HEAD(init_names);

/*
 * Keeps the names of functions that were traced in the text of @t, which is about to be freed.
 * Without memory for a name its address is shown. ftrace_lock held.
 */
void ftrace_save_init_names(struct ftrace_table *t)
{
	struct ftrace_names names;
	char name[FTRACE_NAME_ROOM];

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_names_start(&names, t->mod, t->start, t->end))
		return;
	for (unsigned int i = 0; i < t->nr; i++) {
		unsigned long size, offset;
		struct init_name *entry;
		unsigned int len;

		ftrace_yield(i);
		if (!(t->sites[i].state & SITE_TOUCHED) ||
		    !ftrace_names_find(&names, site_ip(t, &t->sites[i])) ||
		    !kallsyms_lookup_size_offset(names.addr, &size, &offset))
			continue;
		len = ftrace_names_get(&names, name);
		entry = kzalloc(struct_size(entry, name, len + 1), GFP_KERNEL);
		if (!entry)
			break;
		entry->mod = t->mod;
		strscpy(entry->module, module_name(t->mod), sizeof(entry->module));
		entry->addr = names.addr;
		entry->size = size;
		memcpy(entry->name, name, len);
		list_add_tail_rcu(&entry->list, &init_names);
	}
	ftrace_names_end(&names);
}

static void init_name_drop(struct init_name *entry)
{
	list_del_rcu(&entry->list);
	kfree_rcu(entry, rcu);
}

/* Frees the names that were kept for @mod. Takes ftrace_lock. */
void ftrace_drop_init_names(struct module *mod)
{
	struct init_name *entry, *tmp;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry_safe(entry, tmp, &init_names, list)
		if (entry->mod == mod)
			init_name_drop(entry);
}

/*
 * @mod failed to load and is about to be freed. Its names stay until it fails again or its text
 * is used by another module. Takes ftrace_lock.
 */
void ftrace_keep_failed_names(struct module *mod)
{
	struct init_name *entry, *tmp;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry_safe(entry, tmp, &init_names, list) {
		if (entry->mod == mod)
			/* Pairs with READ_ONCE() in init_name_buildid(). */
			WRITE_ONCE(entry->mod, NULL);
		else if (!entry->mod && !strcmp(entry->module, module_name(mod)))
			init_name_drop(entry);
	}
}

/* Frees the kept names of functions in text that is used again. ftrace_lock held. */
void ftrace_drop_failed_names(unsigned long start, unsigned long end)
{
	struct init_name *entry, *tmp;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry_safe(entry, tmp, &init_names, list)
		if (!entry->mod && entry->addr < end && entry->addr + entry->size > start)
			init_name_drop(entry);
}

#ifdef CONFIG_MODULES
static const unsigned char *init_name_buildid(const struct init_name *entry)
{
	struct module *mod = READ_ONCE(entry->mod);

	return mod ? module_buildid(mod) : NULL;
}

/*
 * Finds a name that only the core has, and puts it into @sym, KSYM_NAME_LEN bytes. The other
 * pointers may be NULL. Returns the length of the name, 0 if there is none. The name of the module
 * stays for a grace period of RCU after the module has gone. Any context except NMI.
 */
int ftrace_mod_address_lookup(unsigned long addr, unsigned long *size,
			      unsigned long *off, char **modname,
			      const unsigned char **modbuildid, char *sym)
{
	const struct ftrace_tramp *tramp;
	struct init_name *entry;

	guard(preempt_notrace)();

	tramp = arch_ftrace_tramp_find(addr);
	if (tramp) {
		if (size)
			*size = tramp->size;
		if (off)
			*off = addr - tramp->addr;
		if (modname)
			*modname = TRAMP_MOD;
		if (modbuildid)
			*modbuildid = NULL;
		return strscpy(sym, FTRACE_TRAMP_SYM, KSYM_NAME_LEN);
	}

	list_for_each_entry_rcu(entry, &init_names, list, true) {
		if (addr - entry->addr >= entry->size)
			continue;
		if (size)
			*size = entry->size;
		if (off)
			*off = addr - entry->addr;
		if (modname)
			*modname = entry->module;
		if (modbuildid)
			*modbuildid = init_name_buildid(entry);
		return strscpy(sym, entry->name, KSYM_NAME_LEN);
	}
	return 0;
}
#endif

/*
 * Symbol number @symnum, from 0, for /proc/kallsyms: 0, or -ERANGE if there are no more. Any
 * context except NMI; kdb calls this function with all other CPUs stopped.
 */
int ftrace_mod_get_kallsym(unsigned int symnum, unsigned long *value,
			   char *type, char *name, char *module_name, int *exported)
{
	const struct ftrace_tramp *tramp;
	struct init_name *entry;

	guard(preempt_notrace)();
	*exported = 0;

	list_for_each_entry_rcu(entry, &init_names, list, true) {
		if (symnum--)
			continue;
		*value = entry->addr;
		*type = 'T';
		strscpy(name, entry->name, KSYM_NAME_LEN);
		strscpy(module_name, entry->module, MODULE_NAME_LEN);
		return 0;
	}

	tramp = arch_ftrace_tramp_nth(symnum);
	if (!tramp)
		return -ERANGE;
	*value = tramp->addr;
	*type = 't';
	strscpy(name, FTRACE_TRAMP_SYM, KSYM_NAME_LEN);
	strscpy(module_name, TRAMP_MOD, MODULE_NAME_LEN);
	return 0;
}

/*
 * The size of an event, header and code together, has 16 bits. So a large trampoline
 * takes several events.
 */
#define CODE_PER_EVENT	SZ_32K

/* Tells perf about a trampoline that may appear in samples, or is about to be freed. */
void ftrace_announce_tramp(const struct ftrace_tramp *tramp, bool gone)
{
	unsigned int len;

	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, tramp->addr, tramp->size,
			   gone, FTRACE_TRAMP_SYM);
	for (unsigned int at = 0; !gone && at < tramp->size; at += len) {
		void *code = (void *)tramp->addr + at;

		len = min(tramp->size - at, CODE_PER_EVENT);
		perf_event_text_poke(code, NULL, 0, code, len);
	}
}

/**
 * is_ftrace_trampoline - is an address in a trampoline or a thunk?
 * @addr: the address
 *
 * Context: Any context.
 * Return: true if it is.
 */
bool is_ftrace_trampoline(unsigned long addr)
{
	guard(preempt_notrace)();
	return arch_ftrace_tramp_find(addr) || ftrace_thunk_function(addr, false);
}
