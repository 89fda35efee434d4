// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call sites of a module that has no table of call sites.
 *
 * A module that was built elsewhere, or stripped, can lack the section __mcount_loc. But the
 * compiler puts its call at the head of a function, and the symbols say where functions are. So
 * the core looks there, before the text of the module runs, and nowhere else: a call in the
 * middle of a function is not the compiler's, and other bytes can be data.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/elf.h>
#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"
#include "text.h"

static bool heads_in_text(const struct module *mod, enum mod_mem_type type,
			  const Elf_Sym *sym)
{
	return within_module_mem_type(sym->st_value, mod, type) &&
	       within_module_mem_type(sym->st_value + sym->st_size - 1, mod, type);
}

/*
 * Is this the symbol of a function in executable memory of @mod? Labels and data in text
 * have another type, and undefined symbols have an address of other text.
 */
static bool heads_is_function(const struct module *mod, const Elf_Sym *sym)
{
	return ELF_ST_TYPE(sym->st_info) == STT_FUNC &&
	       (heads_in_text(mod, MOD_TEXT, sym) || heads_in_text(mod, MOD_INIT_TEXT, sym));
}

/*
 * Finds the calls at the heads of functions of a module that has not run, and makes them nops,
 * also if there is no memory for the list. Returns the sites in no order, for kvfree(), or NULL,
 * and sets @nr.
 */
unsigned long *ftrace_heads_convert(struct module *mod, unsigned int *nr)
{
	/* Nobody else changes the symbols yet. */
	const struct mod_kallsyms *k = rcu_dereference_protected(mod->kallsyms, true);
	unsigned long *ips = kvmalloc_array(k->num_symtab, sizeof(*ips), GFP_KERNEL);
	unsigned int found = 0;

	for (unsigned int i = 1; i < k->num_symtab; i++) {
		const Elf_Sym *sym = &k->symtab[i];
		unsigned long ip;

		ftrace_yield(i);
		if (!heads_is_function(mod, sym))
			continue;
		/* With the second name of a function, there is a nop and no call. */
		ip = arch_ftrace_find_call(sym->st_value, sym->st_size);
		if (!ip || arch_ftrace_init_site(ip))
			continue;
		if (ips)
			ips[found] = ip;
		found++;
	}
	arch_ftrace_init_done();

	if (found)
		pr_info("%s: no table of call sites, but %u calls at the heads of functions\n",
			mod->name, found);
	if (found && !ips)
		pr_warn("%s: no memory for its call sites, not traced\n", mod->name);
	*nr = ips ? found : 0;
	return ips;
}
