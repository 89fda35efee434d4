// SPDX-License-Identifier: GPL-2.0-only
/* A module, and what the loader of modules does with it. */
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/module_symbol.h>
#include <linux/set_memory.h>
#include <linux/unaligned.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

#include "../module/internal.h"
#include "module.h"
#include "native.h"

#define FUNC_SIZE	32

unsigned long native_mod_ips[NATIVE_MOD_FUNCS];
struct module *native_module;
const char *native_mod_name = "native_mod";
int native_mod_without_call = -1;

/* Pages of its own: nobody reads it when it is gone. */
static struct {
	struct module	mod;
} __aligned(PAGE_SIZE) place;
/* The symbols of a module that starts, and those that stay, which have other indices. */
static struct mod_kallsyms kallsyms, core_kallsyms;
static unsigned long sites[NATIVE_MOD_FUNCS];
static u8 *text, *places[2];
static bool init_is_free;

/* Symbols that are not the name of a function, most of them at the address of one. */
static const struct {
	const char	*name;
	unsigned int	func;
	u16		shndx;
} others[] = {
	{ "", 1, 1 },
	{ "$x", 2, 1 },
	{ "native_mod_undef", 3, SHN_UNDEF },
	/* The first of two names is used; that of the kernel is preferred to that of a module. */
	{ "native_mod_alias", 4, 1 },
	{ "native_func_250", 5, 1 },
	/* Behind the functions. */
	{ "native_mod_data", 20, 1 },
};

#define OTHERS		ARRAY_SIZE(others)
/* The first of these are before the names. */
#define OTHERS_FIRST	3

static Elf_Sym syms[1 + OTHERS + NATIVE_MOD_FUNCS];
static char strtab[1 + (OTHERS + NATIVE_MOD_FUNCS) * 20];

/* Symbols are in no order, but those of init text come last. */
static Elf_Sym *sym_of(unsigned int i)
{
	return &syms[1 + (i < NATIVE_MOD_INIT ? OTHERS_FIRST + i * 5 % NATIVE_MOD_INIT :
						OTHERS + i)];
}

static Elf_Sym *sym_of_other(unsigned int i)
{
	return &syms[1 + (i < OTHERS_FIRST ? i : NATIVE_MOD_INIT + i)];
}

/* Is it a symbol that kallsyms has? */
static bool sym_is_name(const Elf_Sym *sym)
{
	const char *name = strtab + sym->st_name;

	return sym->st_shndx != SHN_UNDEF && *name && !is_mapping_symbol(name);
}

/* Let the module have its text at one of two places. */
static void settle(unsigned int place)
{
	char *name = strtab + 1;

	text = places[place];
	for (unsigned int i = 0; i < NATIVE_MOD_FUNCS; i++) {
		unsigned int init = i >= NATIVE_MOD_INIT ? PAGE_SIZE : 0;

		native_mod_ips[i] = (unsigned long)text + init + i * FUNC_SIZE;
		*sym_of(i) = (Elf_Sym){
			.st_name = name - strtab, .st_value = native_mod_ips[i],
			.st_size = FUNC_SIZE, .st_info = STB_GLOBAL << 4 | STT_FUNC,
			.st_shndx = 1,
		};
		name += sprintf(name, "native_mod_%u", i) + 1;
	}
	for (unsigned int i = 0; i < OTHERS; i++) {
		*sym_of_other(i) = (Elf_Sym){
			.st_name = others[i].name[0] ? name - strtab : 0,
			.st_value = (unsigned long)text + others[i].func * FUNC_SIZE,
			.st_size = FUNC_SIZE,
			.st_info = STB_GLOBAL << 4 | STT_FUNC, .st_shndx = others[i].shndx,
		};
		name += sprintf(name, "%s", others[i].name) + 1;
	}
}

/**
 * native_mod_setup - find room for the module, before anything is measured
 */
void native_mod_setup(void)
{
	if (text)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++)
		places[i] = execmem_alloc(EXECMEM_MODULE_TEXT, 2 * PAGE_SIZE);
	settle(0);
}

/**
 * native_mod_move - let the next load be at another place
 */
void native_mod_move(void)
{
	settle(text == places[0]);
}

/* A call for tracing, then "lea 1000 + i(%rdi), %eax; ret". */
static void write_func(unsigned int i)
{
	u8 *code = (u8 *)native_mod_ips[i];

	memset(code, INT3_INSN_OPCODE, FUNC_SIZE);
	if (i == native_mod_without_call)
		memset(code, BYTES_NOP1, MCOUNT_INSN_SIZE);
	else
		arch_ftrace_insn(native_mod_ips[i], MCOUNT_ADDR, code);
	code[5] = 0x8d;
	code[6] = 0x87;
	put_unaligned(1000 + i, (u32 *)(code + 7));
	code[11] = RET_INSN_OPCODE;
}

/**
 * native_mod_init - load the module up to the step at which its text is not yet read-only
 * @listed: the compiler has listed the sites; otherwise its symbols lead to them
 */
void native_mod_init(bool listed)
{
	native_mod_setup();
	init_is_free = false;
	host_permit(&place, sizeof(place));
	host_map(text, 2 * PAGE_SIZE, native_text_offset((unsigned long)text), 1, 0);
	place.mod = (struct module){ .state = MODULE_STATE_UNFORMED };
	strscpy(place.mod.name, native_mod_name, sizeof(place.mod.name));
	place.mod.mem[MOD_TEXT] = (struct module_memory){ .base = text, .size = PAGE_SIZE };
	place.mod.mem[MOD_INIT_TEXT] = (struct module_memory){
		.base = text + PAGE_SIZE, .size = PAGE_SIZE };
	kallsyms = (struct mod_kallsyms){
		.symtab = syms, .num_symtab = ARRAY_SIZE(syms), .strtab = strtab,
	};
	RCU_INIT_POINTER(place.mod.kallsyms, &kallsyms);
	for (unsigned int i = 0; i < NATIVE_MOD_FUNCS; i++) {
		write_func(i);
		/* The linker need not sort them. */
		sites[NATIVE_MOD_FUNCS - 1 - i] = native_mod_ips[i];
	}
	if (listed) {
		place.mod.ftrace_callsites = sites;
		place.mod.num_ftrace_callsites = NATIVE_MOD_FUNCS;
	}
	ftrace_module_init(&place.mod);
}

/**
 * native_mod_enable - let the module be seen, and its functions run and be traced
 */
void native_mod_enable(void)
{
	place.mod.state = MODULE_STATE_COMING;
	WRITE_ONCE(native_module, &place.mod);
	host_map(text, 2 * PAGE_SIZE, native_text_offset((unsigned long)text), 0, 1);
	ftrace_module_enable(&place.mod);
}

/**
 * native_mod_free_init - first step of native_mod_started(): the sites of init code go
 */
void native_mod_free_init(void)
{
	place.mod.state = MODULE_STATE_LIVE;
	ftrace_free_mem(&place.mod, text + PAGE_SIZE, text + 2 * PAGE_SIZE);
	init_is_free = true;
}

/**
 * native_mod_started - the init function of the module has returned 0
 */
void native_mod_started(void)
{
	if (!init_is_free)
		native_mod_free_init();
	/* The symbols of init code go, too. */
	mutex_lock(&module_mutex);
	core_kallsyms = (struct mod_kallsyms){
		.symtab = syms + OTHERS_FIRST,
		.num_symtab = 1 + OTHERS - OTHERS_FIRST + NATIVE_MOD_INIT,
		.strtab = strtab,
	};
	rcu_assign_pointer(place.mod.kallsyms, &core_kallsyms);
	place.mod.mem[MOD_INIT_TEXT] = (struct module_memory){ };
	mutex_unlock(&module_mutex);
	host_forbid(text + PAGE_SIZE, PAGE_SIZE);
}

/**
 * native_mod_release - the module is unloaded, or a step of its load has failed
 */
void native_mod_release(void)
{
	place.mod.state = MODULE_STATE_GOING;
	ftrace_release_mod(&place.mod);
	WRITE_ONCE(native_module, NULL);
	synchronize_rcu();
	host_forbid(text, 2 * PAGE_SIZE);
#ifndef __SANITIZE_ADDRESS__
	/* Its search for leaks reads all variables. */
	host_forbid(&place, sizeof(place));
#endif
}

void native_mod_live(void)
{
	native_mod_init(true);
	native_mod_enable();
}

void native_mod_load(void)
{
	native_mod_live();
	native_mod_started();
}

struct module *find_module(const char *name)
{
	struct module *m = READ_ONCE(native_module);

	if (!rcu_read_lock_any_held())
		native_fail("find_module(), and the module may go");
	return m && !strcmp(m->name, name) ? m : NULL;
}

/* The symbols of the module, of which there are none while it cannot be found. */
static const struct mod_kallsyms *its_kallsyms(void)
{
	static const struct mod_kallsyms none;

	return READ_ONCE(native_module) ? rcu_dereference_raw(place.mod.kallsyms) : &none;
}

int module_kallsyms_on_each_symbol(const char *modname,
				   int (*fn)(void *, const char *, unsigned long), void *data)
{
	const struct mod_kallsyms *k;
	int ret = 0;

	guard(mutex)(&module_mutex);
	k = its_kallsyms();
	if (!k->num_symtab || (modname && strcmp(modname, place.mod.name)))
		return 0;
	for (unsigned int i = 1; i < k->num_symtab && !ret; i++)
		if (k->symtab[i].st_shndx != SHN_UNDEF)
			ret = fn(data, k->strtab + k->symtab[i].st_name, k->symtab[i].st_value);
	return ret;
}

unsigned long module_kallsyms_lookup_name(const char *name)
{
	const struct mod_kallsyms *k = its_kallsyms();

	for (unsigned int i = 1; i < k->num_symtab; i++)
		if (sym_is_name(&k->symtab[i]) && !strcmp(name, k->strtab + k->symtab[i].st_name))
			return k->symtab[i].st_value;
	return 0;
}

bool is_module_text_address(unsigned long addr)
{
	return READ_ONCE(native_module) &&
	       (within_module_mem_type(addr, &place.mod, MOD_TEXT) ||
		within_module_mem_type(addr, &place.mod, MOD_INIT_TEXT));
}

/* Names of code that is in no module, and not in the program; the last one has no size. */
const struct native_symbol *native_symbols;

static int symbol_lookup(unsigned long addr, unsigned long *size, unsigned long *offset,
			 char **modname, const unsigned char **modbuildid, char *namebuf)
{
	const struct native_symbol *symbol = native_symbols;

	while (symbol && symbol->size && addr - symbol->addr >= symbol->size)
		symbol++;
	if (!symbol || !symbol->size)
		return 0;
	if (size)
		*size = symbol->size;
	if (offset)
		*offset = addr - symbol->addr;
	if (modname)
		*modname = NULL;
	if (modbuildid)
		*modbuildid = NULL;
	return strscpy(namebuf, symbol->name, KSYM_NAME_LEN);
}

int module_address_lookup(unsigned long addr, unsigned long *size, unsigned long *offset,
			  char **modname, const unsigned char **modbuildid, char *namebuf)
{
	const struct mod_kallsyms *k = its_kallsyms();

	for (unsigned int i = 1; i < k->num_symtab; i++) {
		const Elf_Sym *sym = &k->symtab[i];

		if (addr - sym->st_value >= sym->st_size || !sym_is_name(sym))
			continue;
		if (size)
			*size = sym->st_size;
		if (offset)
			*offset = addr - sym->st_value;
		if (modname)
			*modname = place.mod.name;
		if (modbuildid)
			*modbuildid = NULL;
		return strscpy(namebuf, k->strtab + sym->st_name, KSYM_NAME_LEN);
	}
	return symbol_lookup(addr, size, offset, modname, modbuildid, namebuf);
}
