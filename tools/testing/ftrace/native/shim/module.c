// SPDX-License-Identifier: GPL-2.0-only
/* A module, and what the loader of modules does with it. */
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/set_memory.h>
#include <linux/unaligned.h>

#include <asm/text-patching.h>

#include "../module/internal.h"
#include "module.h"
#include "native.h"

#define FUNC_SIZE	32

unsigned long native_mod_ips[NATIVE_MOD_FUNCS];
struct module *native_module;

static struct module mod;
static struct mod_kallsyms kallsyms;
static unsigned long sites[NATIVE_MOD_FUNCS];
static Elf_Sym syms[1 + NATIVE_MOD_FUNCS];
static char strtab[1 + NATIVE_MOD_FUNCS * 16];
static u8 *text, *places[2];

/* Symbols are in no order, but those of init text come last. */
static Elf_Sym *sym_of(unsigned int i)
{
	return &syms[1 + (i < NATIVE_MOD_INIT ? i * 5 % NATIVE_MOD_INIT : i)];
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
	host_map(text, 2 * PAGE_SIZE, native_text_offset((unsigned long)text), 1, 0);
	mod = (struct module){ .name = "native_mod", .state = MODULE_STATE_UNFORMED };
	mod.mem[MOD_TEXT] = (struct module_memory){ .base = text, .size = PAGE_SIZE };
	mod.mem[MOD_INIT_TEXT] = (struct module_memory){
		.base = text + PAGE_SIZE, .size = PAGE_SIZE };
	kallsyms = (struct mod_kallsyms){
		.symtab = syms, .num_symtab = 1 + NATIVE_MOD_FUNCS, .strtab = strtab,
	};
	RCU_INIT_POINTER(mod.kallsyms, &kallsyms);
	for (unsigned int i = 0; i < NATIVE_MOD_FUNCS; i++) {
		write_func(i);
		/* The linker need not sort them. */
		sites[NATIVE_MOD_FUNCS - 1 - i] = native_mod_ips[i];
	}
	if (listed) {
		mod.ftrace_callsites = sites;
		mod.num_ftrace_callsites = NATIVE_MOD_FUNCS;
	}
	ftrace_module_init(&mod);
}

/**
 * native_mod_enable - let the module be seen, and its functions run and be traced
 */
void native_mod_enable(void)
{
	mod.state = MODULE_STATE_COMING;
	WRITE_ONCE(native_module, &mod);
	set_memory_rox((unsigned long)text, 2);
	ftrace_module_enable(&mod);
}

/**
 * native_mod_started - the init function of the module has returned 0
 */
void native_mod_started(void)
{
	mod.state = MODULE_STATE_LIVE;
	ftrace_free_mem(&mod, text + PAGE_SIZE, text + 2 * PAGE_SIZE);
	/* The symbols of init code go, too. */
	mutex_lock(&module_mutex);
	kallsyms.num_symtab = 1 + NATIVE_MOD_INIT;
	mod.mem[MOD_INIT_TEXT] = (struct module_memory){ };
	mutex_unlock(&module_mutex);
	host_forbid(text + PAGE_SIZE, PAGE_SIZE);
}

/**
 * native_mod_release - the module is unloaded, or a step of its load has failed
 */
void native_mod_release(void)
{
	mod.state = MODULE_STATE_GOING;
	ftrace_release_mod(&mod);
	WRITE_ONCE(native_module, NULL);
	synchronize_rcu();
	host_forbid(text, 2 * PAGE_SIZE);
}

void native_mod_load(void)
{
	native_mod_init(true);
	native_mod_enable();
	native_mod_started();
}

struct module *find_module(const char *name)
{
	struct module *m = READ_ONCE(native_module);

	return m && !strcmp(m->name, name) ? m : NULL;
}

int module_kallsyms_on_each_symbol(const char *modname,
				   int (*fn)(void *, const char *, unsigned long), void *data)
{
	int ret = 0;

	if (!native_module || (modname && strcmp(modname, native_module->name)))
		return 0;
	guard(mutex)(&module_mutex);
	for (unsigned int i = 1; i < kallsyms.num_symtab && !ret; i++)
		ret = fn(data, strtab + syms[i].st_name, syms[i].st_value);
	return ret;
}

unsigned long module_kallsyms_lookup_name(const char *name)
{
	for (unsigned int i = 1; native_module && i < kallsyms.num_symtab; i++)
		if (!strcmp(name, strtab + syms[i].st_name))
			return syms[i].st_value;
	return 0;
}

int module_address_lookup(unsigned long addr, unsigned long *size, unsigned long *offset,
			  char **modname, const unsigned char **modbuildid, char *namebuf)
{
	for (unsigned int i = 1; native_module && i < kallsyms.num_symtab; i++) {
		if (addr - syms[i].st_value >= syms[i].st_size)
			continue;
		if (size)
			*size = syms[i].st_size;
		if (offset)
			*offset = addr - syms[i].st_value;
		if (modname)
			*modname = native_module->name;
		if (modbuildid)
			*modbuildid = NULL;
		return strscpy(namebuf, strtab + syms[i].st_name, KSYM_NAME_LEN);
	}
	return 0;
}
