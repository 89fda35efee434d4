// SPDX-License-Identifier: GPL-2.0-only
/*
 * The half of the oracle that a user sees: instances of the function tracer, with the files of
 * their filters and tasks, and users of the graph tracer. The model of an instance is what its
 * files must show; the events of its buffer are compared with what the model says is traced.
 */
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/glob.h>
#include <linux/version.h>

#include "trace.h"
#include "oracle.h"

#define NR_INSTANCES	2
#define NR_WORDS	8
#define NR_PIDS		6

/* A word for the module. */
struct word {
	char	glob[24];
	bool	applied;
	bool	hidden;	/* waits since the module was unloaded */
};

/* A filter file: functions, words that the next write can remove, whether empty means none. */
struct set {
	funcs_t		funcs;
	bool		none;
	unsigned int	nr;
	struct word	word[NR_WORDS];	/* the last one written first */
};

struct instance {
	bool			exists, traces, dirty;
	struct set		set[2];		/* notrace and filter */
	unsigned int		pids[2];	/* not to trace and to trace, a bit for each; 0: no list */
	struct trace_array	*tr;
};

static struct instance instances[NR_INSTANCES];
static unsigned int own_pid;

static const char *path(unsigned int i, const char *file)
{
	static char buf[64];

	snprintf(buf, sizeof(buf), "instances/o%u/%s", i, file);
	return buf;
}

static const char * const set_files[] = { "set_ftrace_notrace", "set_ftrace_filter" };
static const char * const pid_files[] = { "set_ftrace_notrace_pid", "set_ftrace_pid" };

static bool waits(const struct set *set)
{
	for (unsigned int w = 0; w < set->nr; w++)
		if (!set->word[w].applied)
			return true;
	return false;
}

/* Which functions pass a filter file. */
static funcs_t passed_by(const struct set *filter, const struct set *unwanted)
{
	funcs_t funcs = filter->funcs || filter->none ? filter->funcs : ALL_FUNCS;

	return funcs & ~unwanted->funcs;
}

static bool instance_wants(const struct instance *in, unsigned int f)
{
	return in->exists && in->traces && passed_by(&in->set[1], &in->set[0]) >> f & 1;
}

static bool traces_task(const struct instance *in)
{
	return (!in->pids[1] || in->pids[1] >> own_pid & 1) && !(in->pids[0] >> own_pid & 1);
}

unsigned int users_of(unsigned int f)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < NR_INSTANCES; i++)
		nr += instance_wants(&instances[i], f);
	return nr;
}

/* The contents of a filter file by the model. */
static void write_set(const struct set *set, bool filter, char *buf, size_t size)
{
	size_t len = 0;
	char name[24];

	buf[0] = 0;
	if (!set->funcs && !set->none)
		len += scnprintf(buf, size, filter ? "#### all functions enabled ####\n" :
				 "#### no functions disabled ####\n");
	for (unsigned int f = 0; f < NR_FUNCS; f++) {
		if (!(set->funcs >> f & 1))
			continue;
		oracle_listed_name(f, name);
		len += scnprintf(buf + len, size - len, f < NR_KERNEL ? "%s\n" : "%s [native_mod]\n",
				 name);
	}
	for (unsigned int w = 0; w < set->nr; w++)
		if (!set->word[w].applied && !set->word[w].hidden)
			len += scnprintf(buf + len, size - len, "%s:mod:native_mod\n",
					 set->word[w].glob);
}

static void compare(const char *file, const char *want)
{
	static char text[8192];
	ssize_t ret = native_cat(file, text, sizeof(text), own_pid % 2 ? 4096 : 50);

	if (ret < 0)
		fail("%s cannot be read: %zd", file, ret);
	else if (strcmp(text, want))
		fail("%s is \"%s\", not \"%s\"", file, text, want);
}

static void compare_set(unsigned int i, bool filter)
{
	static char want[8192];

	write_set(&instances[i].set[filter], filter, want, sizeof(want));
	compare(path(i, set_files[filter]), want);
}

static void compare_pids(unsigned int i, bool traced)
{
	char want[64];
	size_t len = 0;

	for (unsigned int pid = 0; pid < NR_PIDS; pid++)
		if (instances[i].pids[traced] >> pid & 1)
			len += scnprintf(want + len, sizeof(want) - len, "%u\n", pid);
	compare(path(i, pid_files[traced]), len ? want : "no pid\n");
}

void do_mkdir(unsigned int n, const char *arg)
{
	struct instance *in = &instances[n % NR_INSTANCES];
	bool may_fail;
	char name[8];

	/* There trace_array_create_systems() frees not all after __update_tracer() has failed. */
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0))
		native_fail_nth(0);
	may_fail = native_fail_left();
	snprintf(name, sizeof(name), "o%u", n % NR_INSTANCES);
	if (!oracle_check_ret(native_mkdir(name), in->exists ? -EEXIST : 0))
		return;
	/* An instance can lack files for which there was no memory. */
	if (may_fail && !native_fail_left()) {
		if (native_rmdir(name))
			fail("an instance without files cannot be removed");
		return;
	}
	*in = (struct instance){ .exists = true, .tr = trace_array_find(name) };
}

void do_rmdir(unsigned int n, const char *arg)
{
	struct instance *in = &instances[n % NR_INSTANCES];
	char name[8];
	int ret;

	snprintf(name, sizeof(name), "o%u", n % NR_INSTANCES);
	ret = native_rmdir(name);
	/* Needs no memory. */
	if (ret != (in->exists ? 0 : -ENODEV))
		fail("rmdir returns %d", ret);
	*in = (struct instance){ };
}

/* "function" or "nop" */
void do_tracer(unsigned int n, const char *arg)
{
	struct instance *in = &instances[n % NR_INSTANCES];
	bool on = arg[0] == 'f';

	if (!in->exists)
		return;
	if (oracle_check_ret(native_echo(path(n % NR_INSTANCES, "current_tracer"), 0,
					 on ? "function" : "nop"), 0))
		in->traces = on;
	/* Without memory, the old tracer has gone, and the new one has not come. */
	else
		in->traces = false;
}

/* Apply a word to a set: 0, or -EINVAL and nothing changed. */
static int model_word(struct set *set, const char *word)
{
	bool del = word[0] == '!', gone = false;
	char glob[24];
	const char *mod = strchr(word, ':');
	funcs_t funcs;

	word += del;
	strscpy(glob, word, min_t(size_t, sizeof(glob), mod ? mod - word + 1 : strlen(word) + 1));
	funcs = oracle_named_by(glob) & (mod ? MOD_FUNCS : ALL_FUNCS);
	if (del) {
		for (unsigned int w = 0; mod && w < set->nr; ) {
			if (strcmp(glob, "*") && strcmp(glob, set->word[w].glob)) {
				w++;
				continue;
			}
			memmove(&set->word[w], &set->word[w + 1],
				(--set->nr - w) * sizeof(set->word[0]));
			gone = true;
		}
		set->funcs &= ~funcs;
		return funcs || gone ? 0 : -EINVAL;
	}
	if (funcs) {
		set->funcs |= funcs;
		set->none = false;
		return 0;
	}
	if (!mod || oracle_loaded)
		return -EINVAL;
	for (unsigned int w = 0; w < set->nr; w++) {
		if (strcmp(glob, set->word[w].glob))
			continue;
		memmove(&set->word[w], &set->word[w + 1], (--set->nr - w) * sizeof(set->word[0]));
		break;
	}
	memmove(&set->word[1], &set->word[0], set->nr * sizeof(set->word[0]));
	set->word[0] = (struct word){ };
	strscpy(set->word[0].glob, glob);
	set->nr++;
	return 0;
}

/* "f=WORD" or "n+WORD,WORD": write to the filter or notrace file, with O_TRUNC if "=". */
void do_write(unsigned int n, const char *arg)
{
	unsigned int i = n % NR_INSTANCES;
	struct instance *in = &instances[i];
	bool filter = arg[0] == 'f', truncate = arg[1] == '=', changed = false;
	char words[LINE_SIZE], *rest = words, *word;
	struct set *old = &in->set[filter], set = truncate ? (struct set){ } : *old;
	int ret, want = 0;

	if (!in->exists || old->nr > NR_WORDS - 3)
		truncate = true;
	if (!in->exists)
		return;
	if (truncate)
		set = (struct set){ };
	else if (waits(&set))
		set.none = false;
	strscpy(words, arg + 2);
	for (unsigned int c = 0; words[c]; c++)
		if (words[c] == ',')
			words[c] = ' ';
	ret = native_echo(path(i, set_files[filter]), truncate ? O_TRUNC : O_APPEND, words);
	while (!want && (word = strsep(&rest, " "))) {
		if (*word)
			want = model_word(&set, word);
		changed |= *word && !want;
	}
	if (ret == -ENOMEM && !native_fail_left()) {
		/* Some words may have had their memory. The file says what happened. */
		in->dirty = true;
		return;
	}
	if (ret != want)
		fail("a write of \"%s\" returns %d, not %d", words, ret, want);
	if (!changed && !(truncate && !want))
		return;
	if (waits(&set))
		set.none = true;
	if (!set.funcs && !set.none)
		set.nr = 0;
	*old = set;
}

/* "t135" or "n24", "t" alone: no list. */
void do_pid(unsigned int n, const char *arg)
{
	unsigned int i = n % NR_INSTANCES, pids = 0;
	struct instance *in = &instances[i];
	bool traced = arg[0] == 't';
	char text[32] = "";
	int ret;

	if (!in->exists)
		return;
	for (const char *c = arg + 1; *c; c++) {
		if (*c < '1' || *c >= '0' + NR_PIDS)
			continue;
		pids |= 1U << (*c - '0');
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c ", *c);
	}
	ret = native_echo(path(i, pid_files[traced]), O_TRUNC, text);
	/* trace_pid_write() says -1 if there is no memory. */
	if ((ret == -1 && !native_fail_left()) || !oracle_check_ret(ret, 0))
		return;
	in->pids[traced] = pids;
}

void do_become(unsigned int n, const char *arg)
{
	own_pid = n % NR_PIDS;
	native_become(own_pid);
}

/* Users of the graph tracer. */
#define NR_GRAPHS	3

static struct fgraph_ops graphs[NR_GRAPHS];

static struct {
	funcs_t	filter;
	bool	on;
} graph_model[NR_GRAPHS];

static u64 entered[NR_GRAPHS];
static unsigned long calls[NR_GRAPHS];

static NATIVE_GRAPH_ENTER(enter)
{
	for (unsigned int f = 0; f < NR_FUNCS; f++)
		if (trace->func == oracle_func_ip(f))
			entered[gops - graphs] |= 1ULL << f;
	calls[gops - graphs]++;
	return 1;
}

static NATIVE_GRAPH_RETURN(leave)
{
}

bool users_graph_wants(unsigned int f)
{
	for (unsigned int g = 0; g < NR_GRAPHS; g++)
		if (graph_model[g].on && graph_model[g].filter >> f & 1)
			return true;
	return false;
}

/* A user of the graph tracer has gone without memory: its functions may still be traced. */
static bool graph_left;

bool users_graph_left(void)
{
	return graph_left;
}

/* "on" or "off" */
void do_graph(unsigned int n, const char *arg)
{
	unsigned int g = n % NR_GRAPHS;
	bool on = arg[1] == 'n';

	if (on == graph_model[g].on || !graph_model[g].filter)
		return;
	if (on) {
		graph_model[g].on = oracle_check_ret(register_ftrace_graph(&graphs[g]), 0);
		graph_left &= !graph_model[g].on;
	} else {
		bool may_fail = native_fail_left();

		unregister_ftrace_graph(&graphs[g]);
		graph_model[g].on = false;
		graph_left = may_fail && !native_fail_left();
	}
}

void do_gfilter(unsigned int n, const char *arg)
{
	unsigned int g = n % NR_GRAPHS;
	funcs_t funcs = oracle_named_by(arg) & ~MOD_FUNCS;
	char word[LINE_SIZE];

	strscpy(word, arg);
	if (!funcs)
		return;
	if (oracle_check_ret(ftrace_set_filter(&graphs[g].ops, word, strlen(word), 1), 0))
		graph_model[g].filter = funcs;
}

void users_begin(void)
{
	own_pid = 0;
	native_become(0);
	for (unsigned int g = 0; g < NR_GRAPHS; g++) {
		graphs[g] = (struct fgraph_ops){ .entryfunc = enter, .retfunc = leave };
		graph_model[g].filter = 0;
		graph_model[g].on = false;
	}
}

void users_end(void)
{
	for (unsigned int i = 0; i < NR_INSTANCES; i++)
		if (instances[i].exists)
			do_rmdir(i, "");
	for (unsigned int g = 0; g < NR_GRAPHS; g++) {
		do_graph(g, "off");
		ftrace_free_filter(&graphs[g].ops);
	}
	if (native_nr_hooks())
		fail("%u hooks of tracepoints are left", native_nr_hooks());
	if (native_cmdlines)
		fail("names of tasks are still recorded");
	native_become(0);
}

/* After a write of which a part had no memory: a write that removes all. */
static void clean(unsigned int i)
{
	for (int filter = 0; filter < 2; filter++) {
		if (native_echo(path(i, set_files[filter]), O_TRUNC, ""))
			fail("a filter cannot be emptied");
		instances[i].set[filter] = (struct set){ };
	}
	instances[i].dirty = false;
}

void users_before_calls(void)
{
	for (unsigned int i = 0; i < NR_INSTANCES; i++) {
		if (!instances[i].exists)
			continue;
		if (instances[i].dirty)
			clean(i);
		ring_buffer_reset_online_cpus(instances[i].tr->array_buffer.buffer);
	}
	memset(entered, 0, sizeof(entered));
	memset(calls, 0, sizeof(calls));
}

struct events {
	u64		funcs;
	unsigned int	nr;
};

static bool note_event(struct trace_entry *entry, void *data)
{
	struct events *events = data;

	if (entry->type != TRACE_FN)
		return true;
	events->nr++;
	for (unsigned int f = 0; f < NR_FUNCS; f++)
		if (((struct ftrace_entry *)entry)->ip == oracle_func_ip(f))
			events->funcs |= 1ULL << f;
	return true;
}

void users_after_calls(void)
{
	funcs_t called = oracle_loaded ? ALL_FUNCS : ALL_FUNCS & ~MOD_FUNCS;
	funcs_t weak = oracle_partly ? MOD_FUNCS : 0;

	for (unsigned int i = 0; i < NR_INSTANCES; i++) {
		struct instance *in = &instances[i];
		struct events events = { };
		funcs_t want = 0;

		if (!in->exists)
			continue;
		if (in->traces && oracle_enabled && traces_task(in))
			want = passed_by(&in->set[1], &in->set[0]) & called;
		native_events(in->tr, note_event, &events);
		if ((events.funcs & ~weak) != (want & ~weak) ||
		    (!weak && events.nr != hweight64(want)))
			fail("instance %u has %u events of functions %llx, not %llx", i, events.nr,
			     events.funcs, want);
		for (int k = 0; k < 2; k++) {
			compare_set(i, k);
			compare_pids(i, k);
		}
	}
	for (unsigned int g = 0; g < NR_GRAPHS; g++) {
		funcs_t want = graph_model[g].on && oracle_enabled ? graph_model[g].filter : 0;

		if (entered[g] != want || calls[g] != hweight64(want))
			fail("graph user %u has %lu calls of functions %llx, not %llx", g, calls[g],
			     entered[g], want);
	}
}

/* What waited for the module has its functions. @weak: some may have had no memory. */
void users_loaded(bool weak)
{
	for (unsigned int i = 0; i < NR_INSTANCES; i++) {
		struct instance *in = &instances[i];

		if (weak && in->exists)
			in->dirty = true;
		for (int filter = 0; filter < 2; filter++) {
			struct set *set = &in->set[filter];

			for (unsigned int w = 0; w < set->nr; w++) {
				funcs_t funcs = oracle_named_by(set->word[w].glob) & MOD_FUNCS;

				if (set->word[w].applied)
					continue;
				set->word[w].applied = true;
				set->word[w].hidden = false;
				set->funcs |= funcs;
				if (funcs)
					set->none = false;
			}
		}
	}
}

/* The module was unloaded, or its load has failed. */
void users_unloaded(bool failed)
{
	for (unsigned int i = 0; i < NR_INSTANCES; i++) {
		for (int filter = 0; filter < 2; filter++) {
			struct set *set = &instances[i].set[filter];

			/* An empty filter must not mean all functions. */
			if (set->funcs && !(set->funcs & ~MOD_FUNCS))
				set->none = true;
			set->funcs &= ~MOD_FUNCS;
			for (unsigned int w = 0; w < set->nr; w++)
				if (set->word[w].applied) {
					set->word[w].applied = false;
					set->word[w].hidden = !failed;
				}
		}
	}
}
