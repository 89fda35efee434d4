// SPDX-License-Identifier: GPL-2.0-only
/*
 * An oracle: random operations on ops, compared with a model of a few lines that knows for each
 * function which ops must be called, in which order.
 *
 * A round is a list of operations in text, one a line, made from a seed or read from standard
 * input. After each operation all functions are called. At the end of a round everything is
 * removed, and no memory and no class may be left.
 */
#include <linux/ftrace_arch.h>
#include <linux/glob.h>

#include "ftrace/class.h"
#include "ftrace/core.h"
#include "ftrace/tests/ftrace_kunit.h"
#include "ftrace/guards.h"
#include "ftrace/ipmodify.h"
#include "ftrace/ops.h"
#include "oracle.h"

#define NR_OPS		10	/* as the user of the oracle sees them */
#define NR_CROWD	66	/* more than a trampoline has slots */
#define FIRST_CROWD	NR_OPS
#define ALL_OPS		(NR_OPS + NR_CROWD)
#define CHECK_EVERY	8	/* operations from one look at the core's state to the next */

/* What the model knows of an ops. */
struct model {
	funcs_t		filter, unwanted;
	bool		registered;
	unsigned int	age;		/* registered later: larger */
	int		direct;		/* the direct function, 0 or 1; -1 if it is no direct caller */
	bool		guarded;
};

static struct model model[ALL_OPS];
static struct ftrace_ops ops[ALL_OPS];
static struct ftrace_guard *guards[NR_OPS];
static bool turns_away[NR_OPS];	/* what the words of all CPUs say */
static unsigned int age;
bool oracle_enabled, oracle_loaded;
bool oracle_partly;	/* the module came without memory */

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
	return ((native_func_t *)native_mod_ips[n])(arg);
}

unsigned long oracle_func_ip(unsigned int f)
{
	return f < NR_KERNEL ? (unsigned long)native_funcs[f] : native_mod_ips[f - NR_KERNEL];
}

static void func_name(unsigned int f, char *name)
{
	if (f < NR_KERNEL)
		sprintf(name, "native_func_%u", 100 + f);
	else
		sprintf(name, "native_mod_%u", f - NR_KERNEL);
}

/* The first two functions have two names, and the alias is listed. */
void oracle_listed_name(unsigned int f, char *name)
{
	if (f < 2)
		sprintf(name, "native_alias_%u", 100 + f);
	else
		func_name(f, name);
}

/*
 * The model of a word: which functions does it name? The first two functions have two names. A
 * glob looks at the name that is listed, which is the alias.
 */
funcs_t oracle_named_by(const char *glob)
{
	bool exact = !strpbrk(glob, "*?[");
	funcs_t funcs = 0;
	char name[24];

	for (unsigned int f = 0; f < (oracle_loaded ? NR_FUNCS : NR_KERNEL); f++) {
		/* Without memory a module has no sites. */
		if (oracle_partly && f >= NR_KERNEL && !ftrace_location(oracle_func_ip(f)))
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

char oracle_failure[512];

static void check_func(unsigned int f)
{
	unsigned int n = 0, last = UINT_MAX, hits[2] = { };
	int want = f < NR_KERNEL ? 100 + (int)f : 1000 + (int)(f - NR_KERNEL), got;
	bool weak = f >= NR_KERNEL && oracle_partly;

	nr_seen = 0;
	wrong_ip = false;
	seen_ip = oracle_func_ip(f);
	memset(oracle_direct, 0, sizeof(oracle_direct));
	got = f < NR_KERNEL ? native_funcs[f](0) : mod_func(f - NR_KERNEL, 0);
	if (got != want)
		fail("function %u returns %d, not %d", f, got, want);
	if (wrong_ip)
		fail("function %u: another ip", f);

	/* The youngest ops is called first. */
	while (oracle_enabled) {
		int next = -1;

		for (unsigned int i = 0; i < ALL_OPS; i++)
			if (model[i].registered && model[i].age < last && (wanted_by(&model[i]) >> f & 1) &&
			    (next < 0 || model[i].age > model[next].age))
				next = i;
		if (next < 0)
			break;
		last = model[next].age;
		if (model[next].guarded && turns_away[next])
			continue;
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

/* Each traced function is listed, with the number of its ops. */
static void check_listed(void)
{
	static char text[1 << 20];
	unsigned int listed[NR_FUNCS] = { };
	char *rest = text, *line;

	if (native_cat("enabled_functions", text, sizeof(text), sizeof(text)) < 0)
		fail("enabled_functions cannot be read");
	while ((line = strsep(&rest, "\n"))) {
		char name[24], want[24];
		unsigned int nr;

		if (sscanf(line, "%23s (%u)", name, &nr) < 2 &&
		    sscanf(line, "%23s [native_mod] (%u)", name, &nr) < 2)
			continue;
		for (unsigned int f = 0; f < NR_FUNCS; f++) {
			oracle_listed_name(f, want);
			if (!strcmp(name, want))
				listed[f] = nr;
		}
	}
	for (unsigned int f = 0; f < (oracle_loaded ? NR_FUNCS : NR_KERNEL); f++) {
		unsigned int want = 0;

		for (unsigned int i = 0; i < ALL_OPS; i++)
			want += model[i].registered && wanted_by(&model[i]) >> f & 1;
		want += users_of(f);
		/* Without memory the graph tracer may stay where nobody wants it. */
		if (listed[f] == want + 1)
			want += !users_graph_wants(f) ? users_graph_left() : 0;
		want += users_graph_wants(f);
		if (listed[f] != (oracle_enabled ? want : 0) && !(oracle_partly && f >= NR_KERNEL))
			fail("function %u is listed with %u ops, not %u", f, listed[f], want);
	}
}

static bool check_always;	/* a list of operations that is reduced */

static void check_all(void)
{
	static unsigned int nr;
	const char *bad;

	users_before_calls();
	for (unsigned int f = 0; f < (oracle_loaded ? NR_FUNCS : NR_KERNEL) && !oracle_failure[0]; f++)
		check_func(f);
	users_after_calls();
	if (oracle_failure[0] || (nr++ % CHECK_EVERY && !check_always))
		return;
	check_listed();
	bad = ftrace_kunit_state();
	/* Without memory, ops are not on the functions of a module that they want. */
	if (bad && !oracle_partly)
		fail("%s", bad);
}

/* An operation has returned @ret, and @want is what it must return if there is memory. */
bool oracle_check_ret(int ret, int want)
{
	bool no_memory = ret == -ENOMEM && !native_fail_left();

	if (ret != want && !no_memory)
		fail("returns %d, not %d", ret, want);
	return !ret;
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
	if (!oracle_check_ret(ret, want))
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
	if (!oracle_check_ret(ret, want))
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

	if (oracle_check_ret(modify_ftrace_direct(&ops[n], direct_addr(to)), is_direct ? 0 : -EINVAL))
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
	funcs_t funcs = arg[1] ? oracle_named_by(arg + 1) : 0;
	int want = arg[1] && !funcs ? -EINVAL : 0;

	if (arg[0] == '!')
		*set &= ~funcs;
	else
		*set = (arg[0] == '=' ? 0 : *set) | funcs;
	if (!want && m->registered && picky(n) && clashes(n))
		want = -EBUSY;
	strscpy(word, arg[0] == '!' ? arg : arg + 1);
	if (!oracle_check_ret(func(&ops[n], arg[1] ? (u8 *)word : NULL, strlen(word), arg[0] == '='), want))
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
	if (!oracle_check_ret(ftrace_set_filter_ip(&ops[n], oracle_func_ip(f), arg[0] == '-', arg[0] == '='), want))
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

/* Give an ops its guard, or take the guard away. */
static void do_guard(unsigned int n, const char *arg)
{
	bool on = arg[0] == 'y';
	int ret;

	if (!ops[n].func || model[n].direct >= 0)
		return;
	mutex_lock(&ftrace_lock);
	ret = ftrace_ops_set_func(&ops[n], ops[n].func, on ? guards[n] : NULL);
	mutex_unlock(&ftrace_lock);
	if (oracle_check_ret(ret, 0))
		model[n].guarded = on;
}

/* What the guard of an ops says, whether the ops has the guard or not. */
static void do_word(unsigned int n, const char *arg)
{
	int cpu;

	turns_away[n] = arg[0] == 'y';
	for_each_possible_cpu(cpu)
		WRITE_ONCE(*per_cpu_ptr(guards[n]->word, cpu), turns_away[n] ? guards[n]->skip : cpu + 1);
}

static void do_off(unsigned int n, const char *arg)
{
	int ret = native_sysctl_write("ftrace_enabled", "0");

	/* Newer versions of Linux do not let a user switch tracing off. */
	if (ret != -EOPNOTSUPP && oracle_check_ret(ret, 0))
		oracle_enabled = false;
}

static void do_on(unsigned int n, const char *arg)
{
	if (oracle_check_ret(native_sysctl_write("ftrace_enabled", "1"), 0))
		oracle_enabled = true;
}

static void do_load(unsigned int n, const char *arg)
{
	bool may_fail = native_fail_left();

	if (oracle_loaded)
		return;
	native_mod_load();
	oracle_loaded = true;
	oracle_partly = may_fail && !native_fail_left();
	native_fail_nth(0);
	users_loaded(oracle_partly);
}

static void do_unload(unsigned int n, const char *arg)
{
	if (!oracle_loaded)
		return;
	native_mod_release();
	oracle_loaded = false;
	oracle_partly = false;
	users_unloaded(false);
}

/* The module's own init function fails, or the loader before that. */
static void do_failed_load(unsigned int n, const char *arg)
{
	bool may_fail = native_fail_left(), weak;

	if (oracle_loaded)
		return;
	native_mod_init(true);
	if (arg[0] == 'l')
		native_mod_enable();
	native_mod_release();
	weak = may_fail && !native_fail_left();
	native_fail_nth(0);
	if (arg[0] == 'l')
		users_loaded(weak);
	users_unloaded(true);
}

/* Many ops on the functions of one glob. */
static void do_crowd(unsigned int n, const char *arg)
{
	for (unsigned int i = FIRST_CROWD; i < ALL_OPS && !oracle_failure[0]; i++) {
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
	{ "guard", do_guard, 6 }, { "word", do_word, 6 },
	{ "off", do_off, 1 }, { "on", do_on, 3 },
	{ "load", do_load, 3 }, { "unload", do_unload, 2 }, { "failed_load", do_failed_load, 1 },
	{ "crowd", do_crowd, 1 }, { "disperse", do_disperse, 1 }, { "fail", do_fail, 10 },
	{ "mkdir", do_mkdir, 3 }, { "rmdir", do_rmdir, 1 }, { "tracer", do_tracer, 5 },
	{ "write", do_write, 14 }, { "pid", do_pid, 4 }, { "become", do_become, 4 },
	{ "graph", do_graph, 6 }, { "gfilter", do_gfilter, 4 },
};

static u64 state;

/* A fuzzer makes the choices: a byte for each; see ../fuzz/fuzz.c. */
static const u8 *choice, *choice_end;

static unsigned int rnd(unsigned int below)
{
	if (choice_end)
		return choice < choice_end ? *choice++ % below : 0;
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

/*
 * Any of these words, which name no functions but those of the model; those of IPMODIFY and direct
 * ops name few functions, and none of the module.
 */
static const char * const words[] = {
	"native_func_10?", "native_func_1[0-2]5", "*func_12*", "native_func_117", "native_func_13*",
	"*_func_1[0-3]3", "native_alias_100", "native_func_100", "native_mod_*", "native_mod_3",
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

/* For a filter file: words with and without the module. */
static void make_words(char *arg)
{
	static const char * const mods[] = {
		"native_mod_*:mod:native_mod", "*_[13]:mod:native_mod", "native_mod_2:mod:native_mod",
		"*:mod:native_mod", "nosuch:mod:native_mod",
	};
	unsigned int len;

	len = sprintf(arg, "%c%c", "ffn"[rnd(3)], "=++"[rnd(3)]);
	for (unsigned int nr = rnd(3); nr; nr--) {
		const char *word = rnd(3) ? words[rnd(ARRAY_SIZE(words))] : mods[rnd(ARRAY_SIZE(mods))];

		len += scnprintf(arg + len, LINE_SIZE - 20 - len, "%s%s%s", rnd(4) ? "" : "!", word,
				 nr > 1 ? "," : "");
	}
}

static void make_line(char *line)
{
	static const char * const pids[] = { "135", "241", "525" };
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
	else if (verbs[v].func == do_guard || verbs[v].func == do_word)
		sprintf(arg, "%c", "yyn"[rnd(3)]);
	else if (verbs[v].func == do_failed_load)
		sprintf(arg, "%c", "el"[rnd(2)]);
	else if (verbs[v].func == do_fail)
		sprintf(arg, "%u", 1 + rnd(rnd(2) ? 6 : 40));
	else if (verbs[v].func == do_disperse)
		sprintf(arg, "%u", rnd(2) * 3);
	else if (verbs[v].func == do_tracer)
		sprintf(arg, "%s", rnd(3) ? "function" : "nop");
	else if (verbs[v].func == do_write)
		make_words(arg);
	else if (verbs[v].func == do_pid)
		sprintf(arg, "%c%.*s", "tn"[rnd(2)], rnd(4), pids[rnd(ARRAY_SIZE(pids))]);
	else if (verbs[v].func == do_graph)
		sprintf(arg, "%s", rnd(3) ? "on" : "off");
	else if (verbs[v].func == do_gfilter)
		sprintf(arg, "%s", few[rnd(ARRAY_SIZE(few))]);
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
	oracle_failure[0] = 0;
	oracle_enabled = true;
	for (unsigned int i = 0; i < ALL_OPS; i++) {
		ops[i] = (struct ftrace_ops){ .func = note, .private = (void *)(unsigned long)i };
		model[i] = (struct model){ .direct = -1 };
	}
	for (unsigned int i = 0; i < NR_OPS; i++)
		do_word(i, "n");
	users_begin();
}

/* What was there before the first round: pieces of memory, and classes. */
static unsigned long live = ULONG_MAX;
static unsigned int classes = UINT_MAX;

static void end(void)
{
	native_fail_nth(0);
	do_on(0, "");
	for (unsigned int i = 0; i < ALL_OPS; i++) {
		if (model[i].registered)
			do_unregister(i, "");
		ftrace_free_filter(&ops[i]);
	}
	/* The names of functions that a failed load left are kept until their text is used again. */
	do_unload(0, "");
	do_load(0, "");
	do_unload(0, "");
	check_all();
	users_end();
	native_settle();
	if (native_live() > live)
		fail("%lu pieces of memory are left", native_live() - live);
	if (ftrace_kunit_nr_classes() > classes)
		fail("%u classes are left", ftrace_kunit_nr_classes() - classes);
}

/* "VERB OPS ARGUMENT" */
static void run_line(const char *line)
{
	char verb[16] = "", arg[LINE_SIZE] = "";
	unsigned int n = 0;

	if (sscanf(line, "%15s %u %79s", verb, &n, arg) < 1)
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

/* A round that makes what stays: arrays of classes, stacks of the graph tracer. */
static void warm_up(void)
{
	static const char * const lines[] = {
		"crowd", "load", "mkdir 0", "tracer 0 function", "pid 0 t1", "pid 0 n2",
		"gfilter 0 native_func_10?", "gfilter 1 native_func_11*", "gfilter 2 native_func_117",
		"graph 0 on", "graph 1 on", "graph 2 on",
	};

	begin();
	for (unsigned int i = 0; i < ARRAY_SIZE(lines); i++)
		run_line(lines[i]);
	end();
}

static void say(const char *what)
{
	host_write(what, strlen(what));
	host_write("\n", 1);
}

/*
 * A round from standard input, whose lines are there already if it fails. It runs twice: the first
 * time makes what stays.
 */
static int replay(void)
{
	static char text[1 << 16], copy[1 << 16];
	long size = host_read(text, sizeof(text) - 1);

	text[max(size, 0L)] = 0;
	check_always = true;
	for (int i = 0; i < 2 && !oracle_failure[0]; i++) {
		char *rest = copy, *line;

		strscpy(copy, text);
		begin();
		while ((line = strsep(&rest, "\n")) && !oracle_failure[0])
			if (line[0])
				run_line(line);
		if (!oracle_failure[0])
			end();
		live = native_live();
	}
	say(oracle_failure[0] ? oracle_failure : "# passes");
	return !!oracle_failure[0];
}

static void prepare(void)
{
	native_quiet = true;
	native_work = "oracle";
	native_mod_setup();
	for (unsigned int i = 0; i < NR_OPS; i++) {
		guards[i] = ftrace_guard_make(i % 2 ? -1 : 0x7654321);
		if (!guards[i])
			native_fail("no memory for guards");
	}
}

static void prepare_rounds(void)
{
	prepare();
	warm_up();
	native_settle();
	live = native_live();
	classes = ftrace_kunit_nr_classes();
}

/* Run at most @nr operations, and print all if one is not as the model. Returns their number. */
static unsigned long run_round(unsigned long nr, bool show)
{
	static char lines[4096][LINE_SIZE];
	unsigned long i;

	nr = min(nr, ARRAY_SIZE(lines));
	begin();
	for (i = 0; i < nr && !oracle_failure[0]; i++) {
		if (choice_end && choice == choice_end)
			break;
		make_line(lines[i]);
		if (show)
			say(lines[i]);
		run_line(lines[i]);
	}
	end();
	if (oracle_failure[0])
		for (unsigned long n = 0; n < i; n++)
			say(lines[n]);
	return i;
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
	unsigned long seed, rounds, total = 0, start = host_clock_ns();

	if (argc < 3) {
		prepare();
		return replay();
	}
	prepare_rounds();
	seed = number(argv[0]);
	rounds = number(argv[1]);
	for (unsigned long r = 0; r < rounds; r++) {
		static char work[32];

		snprintf(work, sizeof(work), "oracle, seed %lu", seed + r);
		native_work = work;
		state = seed + r;
		total += run_round(number(argv[2]), argc > 3);
		if (oracle_failure[0]) {
			snprintf(work, sizeof(work), "# seed %lu", seed + r);
			say(work);
			host_write("# ", 2);
			say(oracle_failure);
			return 1;
		}
	}
	start = (host_clock_ns() - start) / NSEC_PER_MSEC;
	native_quiet = false;
	printk("# oracle: %lu operations in %lu rounds from seed %lu, in %lu ms\n", total, rounds, seed,
	       start);
	return 0;
}

/**
 * native_oracle_choices - run a round whose choices somebody else has made
 * @data: the choices, a byte for each; the round ends when they are used up
 * @size: their number
 *
 * Ends the program if an operation does not do what the model does.
 */
void native_oracle_choices(const u8 *data, size_t size)
{
	static bool ready;

	if (!ready)
		prepare_rounds();
	ready = true;
	/* Other inputs may have made more of what stays. */
	native_settle();
	live = native_live();
	choice = data;
	choice_end = data + size;
	run_round(size, host_getenv("NATIVE_SHOW"));
	if (oracle_failure[0])
		native_fail("%s", oracle_failure);
}
