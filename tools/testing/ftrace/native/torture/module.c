// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that are called: those of the program, those of a module that stays, and those
 * of modules that come and go.
 *
 * The compiler aligns functions, so their sites never lie across a cache line. The functions of
 * modules are written here, and lie where a CPU reads a site in two pieces.
 */
#include <linux/delay.h>
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/module.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include <asm/text-patching.h>

#include "ftrace/text.h"
#include "../shim/targets.h"
#include "torture.h"

/* The first functions of targets.c have two names. */
#define FIRST_TARGET	2
#define FIRST_NAME	100

/* Each page of a module has this many functions; the last one ends on the next page. */
#define PER_PAGE	8
#define LINES_APART	7
#define NR_ARGS		6

/* What makes the result of one kind of function different from that of another. */
#define PLACED_RESULT	10000
#define MODULE_RESULT	20000

/* A module, as the loader has it. */
struct loaded {
	struct module		mod;
	struct mod_kallsyms	kallsyms;
	unsigned int		pages;
	unsigned long		ips[NR_PLACED];
	Elf_Sym			syms[1 + NR_PLACED];
	char			strtab[1 + NR_PLACED * 16];
};

static struct loaded *placed;

/* What a caller may call. */
static struct slot {
	struct loaded	*loaded;
	bool		live, partly;
} slots[NR_MODS];

/* mov %rdi, %rax; then add the other arguments and @add; ret */
void torture_emit_sum(u8 *buf, s32 add)
{
	static const u8 sum[] = {
		0x48, 0x89, 0xf8, 0x48, 0x01, 0xf0, 0x48, 0x01, 0xd0, 0x48, 0x01, 0xc8,
		0x4c, 0x01, 0xc0, 0x4c, 0x01, 0xc8, 0x48, 0x05,
	};

	memcpy(buf, sum, sizeof(sum));
	put_unaligned(add, (u32 *)(buf + sizeof(sum)));
	buf[sizeof(sum) + sizeof(add)] = RET_INSN_OPCODE;
}

static long sum_of(const long *args)
{
	long sum = 0;

	for (int i = 0; i < NR_ARGS; i++)
		sum += args[i];
	return sum;
}

/* Where function @n of a module is, in the order of addresses: its site has 1 to 4 bytes before a line or a page begins. */
static unsigned int offset_of(unsigned int n)
{
	unsigned int page = n / PER_PAGE, split = 1 + n % 4;

	if (n % PER_PAGE == PER_PAGE - 1)
		return (page + 1) * PAGE_SIZE - split;
	return page * PAGE_SIZE + (n % PER_PAGE + 1) * LINES_APART * 64 - split;
}

static void module_write(struct loaded *l, const char *name, unsigned int nr, s32 result)
{
	struct module *mod = &l->mod;
	u8 *text = mod->mem[MOD_TEXT].base;
	char *string = l->strtab + 1;

	memset(text, INT3_INSN_OPCODE, l->pages * PAGE_SIZE);
	mod->ftrace_callsites = l->ips;
	mod->num_ftrace_callsites = nr;
	l->kallsyms = (struct mod_kallsyms){
		.symtab = l->syms, .num_symtab = 1 + nr, .strtab = l->strtab,
	};
	RCU_INIT_POINTER(mod->kallsyms, &l->kallsyms);
	for (unsigned int n = 0; n < nr; n++) {
		u8 *func = text + offset_of(n);

		l->ips[n] = (unsigned long)func;
		arch_ftrace_insn(l->ips[n], MCOUNT_ADDR, func);
		torture_emit_sum(func + MCOUNT_INSN_SIZE, result + n);
		l->syms[1 + n] = (Elf_Sym) {
			.st_name = string - l->strtab, .st_value = l->ips[n], .st_size = 64,
			.st_info = STB_GLOBAL << 4 | STT_FUNC, .st_shndx = 1,
		};
		string += sprintf(string, "%s_%02u", name, n) + 1;
	}
}

/* Memory may be missing on purpose. */
static struct loaded *module_alloc_text(const char *name, unsigned int nr, s32 result)
{
	struct loaded *l = kzalloc(sizeof(*l), GFP_KERNEL);
	u8 *text;

	if (!l)
		return NULL;
	l->pages = nr / PER_PAGE + 1;
	text = execmem_alloc(EXECMEM_MODULE_TEXT, l->pages * PAGE_SIZE);
	if (!text) {
		kfree(l);
		return NULL;
	}
	l->mod = (struct module){ .state = MODULE_STATE_COMING };
	strscpy(l->mod.name, name);
	l->mod.mem[MOD_TEXT] = (struct module_memory){
		.base = text, .size = l->pages * PAGE_SIZE,
	};
	module_write(l, name, nr, result);
	return l;
}

static void module_free(struct loaded *l)
{
	execmem_free(l->mod.mem[MOD_TEXT].base);
	memset(l, 0x6b, sizeof(*l));
	kfree(l);
}

static void module_protect(struct loaded *l)
{
	/* As in code_make(). */
	while (set_memory_rox((unsigned long)l->mod.mem[MOD_TEXT].base, l->pages))
		;
}

/* The module that stays. */
void torture_module_make(void)
{
	placed = module_alloc_text("torture", NR_PLACED, PLACED_RESULT);
	ftrace_module_init(&placed->mod);
	module_protect(placed);
	ftrace_module_enable(&placed->mod);
}

unsigned long torture_func_ip(unsigned int f)
{
	return f < NR_KERNEL ? (unsigned long)native_funcs[FIRST_TARGET + f] :
			       placed->ips[f - NR_KERNEL];
}

void torture_func_name(unsigned int f, char *name)
{
	if (f < NR_KERNEL)
		sprintf(name, "native_func_%u", FIRST_NAME + FIRST_TARGET + f);
	else
		sprintf(name, "torture_%02u", f - NR_KERNEL);
}

long torture_func_result(unsigned int f, const long *args)
{
	if (f < NR_KERNEL)
		return (int)args[0] + (int)(FIRST_NAME + FIRST_TARGET + f);
	return sum_of(args) + PLACED_RESULT + f - NR_KERNEL;
}

/*
 * The caller is about to call function @n of a module. Returns its address, or 0 if the module
 * is not there.
 */
unsigned long torture_module_enter(struct torturer *me, unsigned int m, unsigned int n,
				   long *result, const long *args)
{
	struct slot *slot = &slots[m];

	WRITE_ONCE(me->users[m], me->users[m] + 1);
	/* Count in, then look; pairs with the barrier in module_going(). */
	smp_mb();
	if (!READ_ONCE(slot->live)) {
		torture_module_leave(me, m);
		return 0;
	}
	*result = sum_of(args) + MODULE_RESULT + n;
	return slot->loaded->ips[n];
}

void torture_module_leave(struct torturer *me, unsigned int m)
{
	smp_store_release(&me->users[m], me->users[m] - 1);
}

/* The module came without memory, or it goes: any part of what it calls may be missing. */
bool torture_module_is_partly(unsigned int m)
{
	return READ_ONCE(slots[m].partly);
}

/* As module_put() and the wait of delete_module(): nobody runs the module any more. */
static void module_going(unsigned int m)
{
	WRITE_ONCE(slots[m].live, false);
	/* Say that the module goes, then look; pairs with the barrier of callers. */
	smp_mb();
	native_sleep_begin("delete_module");
	for (unsigned int i = 0; i < nr_torturers; i++)
		while (smp_load_acquire(&torturers[i].users[m]))
			host_usleep(20);
	native_sleep_end();
}

/* The module's own init function fails, or the loader before that. */
static void module_fail(struct loaded *l, unsigned int m)
{
	torture_doing("fail to load", m, 0);
	if (one_in(2))
		ftrace_module_enable(&l->mod);
	native_fail_nth(0);
	ftrace_release_mod(&l->mod);
	synchronize_rcu();
	module_free(l);
	torturer()->counts.failed_loads++;
}

static void module_load(unsigned int m)
{
	char name[MODULE_NAME_LEN];
	struct loaded *l;

	snprintf(name, sizeof(name), "tmod%u", m);
	torture_doing("load", m, 0);
	l = module_alloc_text(name, MOD_FUNCS, MODULE_RESULT);
	if (!l)
		return;
	ftrace_module_init(&l->mod);
	module_protect(l);
	if (one_in(8)) {
		module_fail(l, m);
		return;
	}
	ftrace_module_enable(&l->mod);
	slots[m].loaded = l;
	torturer()->counts.loads++;
}

/* Callers may come. Without memory not all is traced. */
static void module_live(unsigned int m, bool partly)
{
	slots[m].partly = partly;
	smp_store_release(&slots[m].live, true);
}

static unsigned long module_calls(void)
{
	unsigned long nr = 0;

	for (unsigned int i = 0; i < nr_torturers; i++)
		nr += READ_ONCE(torturers[i].counts.module_calls);
	return nr;
}

/* Time in which modules are called, and others remove what they call: more on a slow machine. */
static void module_linger(void)
{
	unsigned long end = module_calls() + rnd(60), i = 0;

	do {
		msleep(rnd(20));
	} while (module_calls() < end && ++i < 100);
}

static void module_unload(unsigned int m)
{
	struct loaded *l = slots[m].loaded;

	torture_doing("unload", m, 0);
	/* Until the text is freed, work that the module has queued may still run there. */
	WRITE_ONCE(slots[m].partly, true);
	if (one_in(2))
		module_going(m);
	ftrace_release_mod(&l->mod);
	if (slots[m].live)
		module_linger();
	module_going(m);
	/* As the loader does before it frees a module. */
	synchronize_rcu();
	slots[m].loaded = NULL;
	module_free(l);
	torturer()->counts.unloads++;
}

static void act_module(unsigned int m)
{
	bool fails, failed;

	if (slots[m].loaded) {
		module_unload(m);
		return;
	}
	torture_may_fail();
	fails = native_fail_left();
	module_load(m);
	failed = fails && !native_fail_left();
	native_fail_nth(0);
	torturer()->counts.no_memory += failed;
	if (slots[m].loaded)
		module_live(m, failed);
}

void torture_act_module(struct torturer *me)
{
	while (!READ_ONCE(torture_stop)) {
		act_module(rnd(NR_MODS));
		torture_pause(rnd(3000));
	}
	/* The tables of modules that are gone stay until another module comes. */
	for (unsigned int m = 0; m < NR_MODS; m++)
		if (slots[m].loaded)
			module_unload(m);
	while (!slots[0].loaded)
		module_load(0);
	module_unload(0);
}
