// SPDX-License-Identifier: GPL-2.0-only
/*
 * An oracle: random operations on ops, compared with a model of a few lines that knows for each
 * function which ops must be called, in which order.
 *
 * A round is a list of operations in text, one a line, made from a seed or read from standard
 * input. After each operation all functions are called. At the end of a round everything is
 * removed, and no memory and no class may be left.
 */
#include <linux/execmem.h>
#include <linux/ftrace_arch.h>
#include <linux/glob.h>
#include <linux/module.h>
#include <linux/set_memory.h>
#include <linux/unaligned.h>

#include "ftrace/class.h"
#include "ftrace/core.h"
#include "ftrace/modules.h"
#include "ftrace/ops.h"
#include "native.h"
#include "targets.h"

#define NR_OPS		10	/* as the user of the oracle sees them */
#define NR_CROWD	66	/* more than a trampoline has slots */
#define FIRST_CROWD	NR_OPS
#define ALL_OPS		(NR_OPS + NR_CROWD)
#define NR_KERNEL	40	/* native_func_100() to native_func_139() */
#define NR_MOD		8
#define NR_FUNCS	(NR_KERNEL + NR_MOD)
#define MOD_FUNC_SIZE	32
#define LINE_SIZE	64

typedef u64 funcs_t;		/* a bit for each function */
#define ALL_FUNCS	((1ULL << NR_FUNCS) - 1)
#define MOD_FUNCS	(ALL_FUNCS & ~((1ULL << NR_KERNEL) - 1))

/* What the model knows of an ops. */
struct model {
	funcs_t		filter, unwanted;
	bool		registered;
	unsigned int	age;		/* registered later: larger */
	int		direct;		/* the direct function, 0 or 1; -1 if it is no direct caller */
};

static struct model model[ALL_OPS];
static struct ftrace_ops ops[ALL_OPS];
static unsigned int age;
static bool enabled, loaded, partly;	/* partly: the module came without memory */

static struct module mod;
static struct mod_kallsyms kallsyms;
static unsigned long mod_ips[NR_MOD];
static Elf_Sym syms[1 + NR_MOD];
static char strtab[1 + NR_MOD * 16];
static u8 *mod_text;

/* What the call of a function did. */
static unsigned char seen[2 * ALL_OPS];
static unsigned int nr_seen;
static unsigned long seen_ip;
static bool wrong_ip;
unsigned int oracle_direct[2];

void oracle_direct_a(void);
void oracle_direct_b(void);
/* An odd address would be one to jump to. */
asm(".text\n"
    ".balign 16\n"
    "oracle_direct_a: incl oracle_direct(%rip)\n\tret\n"
    ".balign 16\n"
    "oracle_direct_b: incl 4+oracle_direct(%rip)\n\tret\n");

/* A number in an operation; 0 if there is none. */
static unsigned long number(const char *text)
{
	unsigned long n = 0;

	return kstrtoul(text, 10, &n) ? 0 : n;
}

static unsigned long direct_addr(int n)
{
	return (unsigned long)(n ? oracle_direct_b : oracle_direct_a);
}

static void note(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		 struct ftrace_regs *fregs)
{
	wrong_ip |= ip != seen_ip;
	if (nr_seen < sizeof(seen))
		seen[nr_seen++] = (unsigned long)op->private;
}

static int mod_func(unsigned int n, int arg)
{
	return ((native_func_t *)mod_ips[n])(arg);
}

static unsigned long func_ip(unsigned int f)
{
	return f < NR_KERNEL ? (unsigned long)native_funcs[f] : mod_ips[f - NR_KERNEL];
}

static void func_name(unsigned int f, char *name)
{
	if (f < NR_KERNEL)
		sprintf(name, "native_func_%u", 100 + f);
	else
		sprintf(name, "oracle_mod_%u", f - NR_KERNEL);
}

/*
 * The model of a word: which functions does it name? The first two functions have two names. A
 * glob looks at the name that is listed, which is the alias.
 */
static funcs_t named_by(const char *glob)
{
	bool exact = !strpbrk(glob, "*?[");
	funcs_t funcs = 0;
	char name[24];

	for (unsigned int f = 0; f < (loaded ? NR_FUNCS : NR_KERNEL); f++) {
		/* Without memory a module has no sites. */
		if (partly && f >= NR_KERNEL && !ftrace_location(func_ip(f)))
			break;
		func_name(f, name);
		if ((f >= 2 || exact) && glob_match(glob, name))
			funcs |= 1ULL << f;
		if (f < 2) {
			sprintf(name, "native_alias_%u", 100 + f);
			if (glob_match(glob, name))
				funcs |= 1ULL << f;
		}
	}
	return funcs;
}

static funcs_t wanted_by(const struct model *m)
{
	return (m->filter ?: ALL_FUNCS) & ~m->unwanted;
}

static bool picky(unsigned int n)
{
	return ops[n].flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT);
}

/* Only one ops that changes the instruction pointer, or one direct caller, is on a function. */
static bool clashes(unsigned int n)
{
	for (unsigned int i = 0; i < NR_OPS; i++)
		if (i != n && model[i].registered && picky(i) &&
		    wanted_by(&model[i]) & wanted_by(&model[n]))
			return true;
	return false;
}

static char failure[256];

#define fail(...) do {						\
	if (!failure[0])					\
		snprintf(failure, sizeof(failure), __VA_ARGS__);	\
} while (0)

static void check_func(unsigned int f)
{
	unsigned int n = 0, last = UINT_MAX, hits[2] = { };
	int want = f < NR_KERNEL ? 100 + (int)f : 1000 + (int)(f - NR_KERNEL), got;
	bool weak = f >= NR_KERNEL && partly;

	nr_seen = 0;
	wrong_ip = false;
	seen_ip = func_ip(f);
	memset(oracle_direct, 0, sizeof(oracle_direct));
	got = f < NR_KERNEL ? native_funcs[f](0) : mod_func(f - NR_KERNEL, 0);
	if (got != want)
		fail("function %u returns %d, not %d", f, got, want);
	if (wrong_ip)
		fail("function %u: another ip", f);

	/* The youngest ops is called first. */
	while (enabled) {
		int next = -1;

		for (unsigned int i = 0; i < ALL_OPS; i++)
			if (model[i].registered && model[i].age < last && (wanted_by(&model[i]) >> f & 1) &&
			    (next < 0 || model[i].age > model[next].age))
				next = i;
		if (next < 0)
			break;
		last = model[next].age;
		if (model[next].direct >= 0) {
			hits[model[next].direct]++;
		} else if (n < nr_seen && seen[n] == next) {
			n++;
		} else if (!weak) {
			fail("function %u: call %u is not of ops %d", f, n, next);
			return;
		}
	}
	if (n != nr_seen)
		fail("function %u: %u calls, not %u; ops %u is called", f, nr_seen, n, seen[n]);
	for (int i = 0; i < 2; i++)
		if (oracle_direct[i] != hits[i])
			fail("function %u: direct function %d is called %u times, not %u", f, i,
			     oracle_direct[i], hits[i]);
}

static void check_all(void)
{
	for (unsigned int f = 0; f < (loaded ? NR_FUNCS : NR_KERNEL) && !failure[0]; f++)
		check_func(f);
}

/* An operation has returned @ret, and @want is what it must return if there is memory. */
static bool judge(int ret, int want)
{
	bool no_memory = ret == -ENOMEM && !native_fail_left();

	if (ret != want && !no_memory)
		fail("returns %d, not %d", ret, want);
	return !ret;
}

/* The module as the loader has it before its text becomes read-only. */
static void mod_make(void)
{
	u8 code[MOD_FUNC_SIZE];
	char *name = strtab + 1;

	host_map(mod_text, PAGE_SIZE, native_text_offset((unsigned long)mod_text), 1, 0);
	mod = (struct module){ .name = "oracle_mod", .state = MODULE_STATE_COMING };
	mod.mem[MOD_TEXT] = (struct module_memory){ .base = mod_text, .size = PAGE_SIZE };
	mod.ftrace_callsites = mod_ips;
	mod.num_ftrace_callsites = NR_MOD;
	kallsyms = (struct mod_kallsyms){
		.symtab = syms, .num_symtab = 1 + NR_MOD, .strtab = strtab,
	};
	RCU_INIT_POINTER(mod.kallsyms, &kallsyms);
	for (unsigned int i = 0; i < NR_MOD; i++) {
		mod_ips[i] = (unsigned long)mod_text + i * MOD_FUNC_SIZE;
		memset(code, INT3_INSN_OPCODE, sizeof(code));
		arch_ftrace_insn(mod_ips[i], MCOUNT_ADDR, code);
		code[5] = 0xb8;			/* mov $1000 + i, %eax */
		put_unaligned(1000 + i, (u32 *)(code + 6));
		code[10] = RET_INSN_OPCODE;
		memcpy((void *)mod_ips[i], code, sizeof(code));
		syms[1 + i] = (Elf_Sym){
			.st_name = name - strtab, .st_value = mod_ips[i], .st_size = MOD_FUNC_SIZE,
			.st_info = STB_GLOBAL << 4 | STT_FUNC, .st_shndx = 1,
		};
		name += sprintf(name, "oracle_mod_%u", i) + 1;
	}
}

static void do_register(unsigned int n, const char *arg)
{
	struct model *m = &model[n];
	int ret, want = 0;

	if (m->registered)
		want = -EBUSY;
	else if (!ops[n].func || (picky(n) && !m->filter))
		want = -EINVAL;
	else if (picky(n) && clashes(n))
		want = -EBUSY;
	ret = register_ftrace_function(&ops[n]);
	if (!judge(ret, want))
		return;
	m->registered = true;
	m->age = ++age;
}

static void do_direct(unsigned int n, const char *arg)
{
	struct model *m = &model[n];
	int ret, want = 0, to = arg[0] == 'b';

	if (m->registered || ops[n].func || !m->filter)
		want = -EINVAL;
	else if (clashes(n))
		want = -EBUSY;
	ret = register_ftrace_direct(&ops[n], direct_addr(to));
	if (!judge(ret, want))
		return;
	m->registered = true;
	m->direct = to;
	m->age = ++age;
}

static void do_modify(unsigned int n, const char *arg)
{
	struct model *m = &model[n];
	bool is_direct = m->registered && m->direct >= 0;
	int to = arg[0] == 'b';

	if (judge(modify_ftrace_direct(&ops[n], direct_addr(to)), is_direct ? 0 : -EINVAL))
		m->direct = to;
}

/* Removal needs no memory. */
static void do_unregister(unsigned int n, const char *arg)
{
	struct model *m = &model[n];
	int ret, want = m->registered ? 0 : -EBUSY;

	if (m->direct >= 0)
		ret = unregister_ftrace_direct(&ops[n], direct_addr(m->direct), false);
	else
		ret = unregister_ftrace_function(&ops[n]);
	if (ret != want)
		fail("returns %d, not %d", ret, want);
	m->registered = false;
	m->direct = -1;
}

/* "=word", "+word" or "!word"; "=" alone empties the set. */
static void change_set(unsigned int n, const char *arg, funcs_t *set,
		       int (*func)(struct ftrace_ops *ops, unsigned char *buf, int len, int reset))
{
	struct model *m = &model[n], old = *m;
	char word[LINE_SIZE];
	funcs_t funcs = arg[1] ? named_by(arg + 1) : 0;
	int want = arg[1] && !funcs ? -EINVAL : 0;

	if (arg[0] == '!')
		*set &= ~funcs;
	else
		*set = (arg[0] == '=' ? 0 : *set) | funcs;
	if (!want && m->registered && picky(n) && clashes(n))
		want = -EBUSY;
	strscpy(word, arg[0] == '!' ? arg : arg + 1);
	if (!judge(func(&ops[n], arg[1] ? (u8 *)word : NULL, strlen(word), arg[0] == '='), want))
		*m = old;
}

static void do_filter(unsigned int n, const char *arg)
{
	change_set(n, arg, &model[n].filter, ftrace_set_filter);
}

static void do_notrace(unsigned int n, const char *arg)
{
	change_set(n, arg, &model[n].unwanted, ftrace_set_notrace);
}

/* "+5" or "-5": the address of a function; "=5": this one only. */
static void do_ip(unsigned int n, const char *arg)
{
	struct model *m = &model[n], old = *m;
	unsigned int f = number(arg + 1) % NR_KERNEL;
	int want = 0;

	if (arg[0] == '-') {
		if (!(m->filter >> f & 1))
			want = -ENOENT;
		m->filter &= ~(1ULL << f);
	} else {
		m->filter = (arg[0] == '=' ? 0 : m->filter) | 1ULL << f;
	}
	if (!want && m->registered && picky(n) && clashes(n))
		want = -EBUSY;
	if (!judge(ftrace_set_filter_ip(&ops[n], func_ip(f), arg[0] == '-', arg[0] == '='), want))
		*m = old;
}

/* Another kind of ops; only if the ops is not registered. */
static void do_kind(unsigned int n, const char *arg)
{
	if (model[n].registered)
		return;
	ftrace_free_filter(&ops[n]);
	ops[n] = (struct ftrace_ops){ .func = note, .private = (void *)(unsigned long)n };
	model[n] = (struct model){ .direct = -1 };
	switch (arg[0]) {
	case 'r':
		ops[n].flags = FTRACE_OPS_FL_SAVE_REGS;
		break;
	case 'g':
		ops[n].flags = FTRACE_OPS_FL_RECURSION;
		break;
	case 'u':
		ops[n].flags = FTRACE_OPS_FL_RCU;
		break;
	case 'i':
		ops[n].flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS;
		break;
	case 'd':
		ops[n].func = NULL;
		break;
	}
}

static void do_off(unsigned int n, const char *arg)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_set_enabled(false);
	mutex_unlock(&ftrace_lock);
	if (judge(ret, 0))
		enabled = false;
}

static void do_on(unsigned int n, const char *arg)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_set_enabled(true);
	mutex_unlock(&ftrace_lock);
	if (judge(ret, 0))
		enabled = true;
}

static void do_load(unsigned int n, const char *arg)
{
	bool may_fail = native_fail_left();

	if (loaded)
		return;
	mod_make();
	ftrace_module_init(&mod);
	set_memory_rox((unsigned long)mod_text, 1);
	ftrace_module_enable(&mod);
	loaded = true;
	partly = may_fail && !native_fail_left();
}

static void do_unload(unsigned int n, const char *arg)
{
	if (loaded)
		ftrace_release_mod(&mod);
	loaded = false;
	partly = false;
}

/* The module's own init function fails, or the loader before that. */
static void do_failed_load(unsigned int n, const char *arg)
{
	if (loaded)
		return;
	mod_make();
	ftrace_module_init(&mod);
	set_memory_rox((unsigned long)mod_text, 1);
	if (arg[0] == 'l')
		ftrace_module_enable(&mod);
	ftrace_release_mod(&mod);
}

/* Many ops on the functions of one glob. */
static void do_crowd(unsigned int n, const char *arg)
{
	for (unsigned int i = FIRST_CROWD; i < ALL_OPS && !failure[0]; i++) {
		if (model[i].registered)
			continue;
		do_kind(i, "p");
		do_filter(i, "=native_func_13*");
		if (model[i].filter)
			do_register(i, "");
	}
}

static void do_disperse(unsigned int n, const char *arg)
{
	unsigned int keep = number(arg);

	for (unsigned int i = FIRST_CROWD + keep; i < ALL_OPS; i++)
		if (model[i].registered)
			do_unregister(i, "");
}

static void do_fail(unsigned int n, const char *arg)
{
	native_fail_nth(number(arg));
}

static const struct {
	const char	*name;
	void		(*func)(unsigned int n, const char *arg);
	unsigned int	weight;
} verbs[] = {
	{ "register", do_register, 12 }, { "unregister", do_unregister, 8 },
	{ "filter", do_filter, 12 }, { "notrace", do_notrace, 6 }, { "ip", do_ip, 8 },
	{ "kind", do_kind, 6 }, { "direct", do_direct, 5 }, { "modify", do_modify, 3 },
	{ "off", do_off, 1 }, { "on", do_on, 3 },
	{ "load", do_load, 3 }, { "unload", do_unload, 2 }, { "failed_load", do_failed_load, 1 },
	{ "crowd", do_crowd, 1 }, { "disperse", do_disperse, 1 }, { "fail", do_fail, 10 },
};

/* "VERB OPS ARGUMENT" */
static void run_line(const char *line)
{
	char verb[16] = "", arg[LINE_SIZE] = "";
	unsigned int n = 0;

	if (sscanf(line, "%15s %u %63s", verb, &n, arg) < 1)
		return;
	for (unsigned int v = 0; v < ARRAY_SIZE(verbs); v++) {
		if (strcmp(verb, verbs[v].name))
			continue;
		verbs[v].func(n % NR_OPS, arg);
		if (verbs[v].func != do_fail) {
			native_fail_nth(0);
			check_all();
		}
		return;
	}
	fail("no such operation");
}

static u64 state;

static unsigned int rnd(unsigned int below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

/*
 * Any of these words, which name no functions but those of the model; those of IPMODIFY and direct
 * ops name few functions, and none of the module.
 */
static const char * const words[] = {
	"native_func_10?", "native_func_1[0-2]5", "*func_12*", "native_func_117", "native_func_13*",
	"*_func_1[0-3]3", "native_alias_100", "native_func_100", "oracle_mod_*", "oracle_mod_3",
	"*mod_[1-4]", "*_1[0-3]?", "nosuch*", "native_func_1[!14-9]0", "native_func_1[0-3][!5]",
};

static const char * const few[] = {
	"native_func_10?", "native_func_1[0-2]5", "native_func_117", "native_func_11*", "native_alias_100",
};

static void make_word(unsigned int n, char *arg)
{
	bool p = picky(n) || !ops[n].func;

	arg[0] = p ? '=' : "=+!+"[rnd(4)];
	if (!p && !rnd(6)) {
		strscpy(arg, "=", LINE_SIZE);
		return;
	}
	strscpy(arg + 1, p ? few[rnd(ARRAY_SIZE(few))] : words[rnd(ARRAY_SIZE(words))], LINE_SIZE - 1);
}

static void make_line(char *line)
{
	unsigned int total = 0, v = 0, pick, n = rnd(NR_OPS);
	char arg[LINE_SIZE] = "";

	for (unsigned int i = 0; i < ARRAY_SIZE(verbs); i++)
		total += verbs[i].weight;
	for (pick = rnd(total); pick >= verbs[v].weight; v++)
		pick -= verbs[v].weight;

	if (verbs[v].func == do_filter || verbs[v].func == do_notrace)
		make_word(n, arg);
	else if (verbs[v].func == do_ip)
		sprintf(arg, "%c%u", picky(n) || !ops[n].func ? '=' : "+-=+"[rnd(4)], rnd(NR_KERNEL));
	else if (verbs[v].func == do_kind)
		sprintf(arg, "%c", "prguidd"[rnd(7)]);
	else if (verbs[v].func == do_direct || verbs[v].func == do_modify)
		sprintf(arg, "%c", "ab"[rnd(2)]);
	else if (verbs[v].func == do_failed_load)
		sprintf(arg, "%c", "el"[rnd(2)]);
	else if (verbs[v].func == do_fail)
		sprintf(arg, "%u", 1 + rnd(rnd(2) ? 6 : 40));
	else if (verbs[v].func == do_disperse)
		sprintf(arg, "%u", rnd(2) * 3);
	/* register is for ops with a callback, direct for those without; at times it is wrong. */
	if (!rnd(8) && verbs[v].func != do_filter && verbs[v].func != do_notrace)
		sprintf(line, "%s %u %s", verbs[v].name, n, arg);
	else if (verbs[v].func == do_register && !ops[n].func)
		sprintf(line, "direct %u a", n);
	else if (verbs[v].func == do_direct && ops[n].func && model[n].direct < 0)
		sprintf(line, "register %u", n);
	else if (verbs[v].func == do_notrace && (picky(n) || !ops[n].func))
		sprintf(line, "filter %u %s", n, arg);
	else
		sprintf(line, "%s %u %s", verbs[v].name, n, arg);
}

static void begin(void)
{
	failure[0] = 0;
	enabled = true;
	for (unsigned int i = 0; i < ALL_OPS; i++) {
		ops[i] = (struct ftrace_ops){ .func = note, .private = (void *)(unsigned long)i };
		model[i] = (struct model){ .direct = -1 };
	}
}

static void end(unsigned long live, unsigned int classes)
{
	native_fail_nth(0);
	do_on(0, "");
	for (unsigned int i = 0; i < ALL_OPS; i++) {
		if (model[i].registered)
			do_unregister(i, "");
		ftrace_free_filter(&ops[i]);
	}
	do_unload(0, "");
	check_all();
	native_settle();
	if (native_live() > live)
		fail("%lu pieces of memory are left", native_live() - live);
	mutex_lock(&ftrace_lock);
	if (ftrace_nr_classes() > classes)
		fail("%u classes are left", ftrace_nr_classes() - classes);
	mutex_unlock(&ftrace_lock);
}

static void say(const char *what)
{
	host_write(what, strlen(what));
	host_write("\n", 1);
}

/* A round from standard input. Its lines are there already if it fails. */
static int replay(void)
{
	static char text[1 << 16];
	long size = host_read(text, sizeof(text) - 1);
	char *rest = text, *line;

	text[max(size, 0L)] = 0;
	begin();
	while ((line = strsep(&rest, "\n")) && !failure[0])
		if (line[0])
			run_line(line);
	if (!failure[0])
		end(ULONG_MAX, UINT_MAX);
	say(failure[0] ? failure : "# passes");
	return !!failure[0];
}

/**
 * native_oracle - run rounds, or one round from standard input
 * @argc: number of arguments
 * @argv: seed and number of rounds of @argv[2] operations; none to read a round. More
 *	arguments: print each operation before it runs
 *
 * Return: 0, or 1 if an operation did not do what the model does.
 */
int native_oracle(int argc, char **argv)
{
	unsigned long seed, rounds, nr, total = 0, start = host_clock_ns(), live = 0;
	static char lines[4096][LINE_SIZE];
	unsigned int classes = 0;

	native_quiet = true;
	native_work = "oracle";
	mod_text = execmem_alloc(EXECMEM_MODULE_TEXT, PAGE_SIZE);
	mod_make();
	if (argc < 3)
		return replay();
	seed = number(argv[0]);
	rounds = number(argv[1]);
	nr = min(number(argv[2]), 4096UL);
	for (unsigned long r = 0; r < rounds; r++) {
		static char work[32];
		unsigned long i;

		snprintf(work, sizeof(work), "oracle, seed %lu", seed + r);
		native_work = work;
		state = seed + r;
		begin();
		for (i = 0; i < nr && !failure[0]; i++) {
			make_line(lines[i]);
			if (argc > 3)
				say(lines[i]);
			run_line(lines[i]);
		}
		/* The first round makes what stays. */
		end(r ? live : ULONG_MAX, r ? classes : UINT_MAX);
		if (!r) {
			live = native_live();
			mutex_lock(&ftrace_lock);
			classes = ftrace_nr_classes();
			mutex_unlock(&ftrace_lock);
		}
		total += i;
		if (failure[0]) {
			for (unsigned long n = 0; n < i; n++)
				say(lines[n]);
			snprintf(lines[0], LINE_SIZE, "# seed %lu", seed + r);
			say(lines[0]);
			host_write("# ", 2);
			say(failure);
			return 1;
		}
	}
	start = (host_clock_ns() - start) / NSEC_PER_MSEC;
	native_quiet = false;
	printk("# oracle: %lu operations in %lu rounds from seed %lu, in %lu ms\n", total, rounds, seed,
	       start);
	return 0;
}
