// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach: attach to functions as tools do, detach again, and say what each took, as span.h does.
 *
 * LIST has functions that can be traced, one a line, as available_filter_functions_addrs has them: each has its
 * address before it. COUNT functions are taken from it at equal distances, and all for 0. The BPF programs only
 * return, so no compiler for them is needed. Detaching is done twice where there are many links or events: one by
 * one, and by close_range(), as the exit of a process does it.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "span.h"

static const char usage[] =
	"usage: attach VERB ...\n"
	"  each NAME KIND COUNT LIST  a link for each function; KIND: fentry, fexit or kprobe\n"
	"  multi NAME KIND HOW COUNT LIST  a link for all; KIND: kprobe, kretprobe, session, fentry or fexit;\n"
	"                          HOW: names or addrs; fentry and fexit are by numbers of BTF\n"
	"  glob NAME KIND GLOB LIST  the same of what a tool finds in LIST\n"
	"  hold KIND COUNT LIST FUNCTION COMMAND...  a command meanwhile, on FUNCTION too; COUNT may be none\n"
	"  perf NAME ID...         perf events of these trace events\n"
	"  kprobes NAME KIND LIST  perf events of kprobes; KIND: kprobe or kretprobe\n"
	"  list COUNT LIST         print functions that can have a kprobe, as LIST has them\n";

/* What the headers of the machine that compiles this may not have. */
#define TRACE_KPROBE_MULTI	42
#define TRACE_KPROBE_SESSION	56
#define TRACE_FENTRY_MULTI	59
#define TRACE_FEXIT_MULTI	60
#define LINK_CREATE		28

struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	union {
		struct {
			uint32_t flags, cnt;
			uint64_t syms, addrs, cookies;
		} kprobe;
		struct {
			uint64_t ids, cookies;
			uint32_t cnt;
		} tracing;
	};
};

#define MAX_FUNCTIONS	100000

static struct function {
	const char *name;
	uint64_t addr;
	int id;			/* of BTF */
} functions[MAX_FUNCTIONS];
static int nr_functions;
static struct btf *btf;

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

static int by_addr(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	return f->addr < g->addr ? -1 : f->addr > g->addr;
}

/* Functions of the kernel that match the glob. */
static void read_functions(const char *list, const char *glob)
{
	char line[512], name[256], rest[256];
	FILE *in = fopen(list, "r");
	unsigned long long addr;

	if (!in)
		die(list);
	while (nr_functions < MAX_FUNCTIONS && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%llx %255s %255s", &addr, name, rest) != 2 || fnmatch(glob, name, 0))
			continue;
		functions[nr_functions++] = (struct function){ .name = strdup(name), .addr = addr };
	}
	fclose(in);
}

/* Those with a name of their own. */
static void drop_same_names(void)
{
	int i, n = 0;

	qsort(functions, nr_functions, sizeof(*functions), by_name);
	for (i = 0; i < nr_functions; i++) {
		if ((!i || strcmp(functions[i - 1].name, functions[i].name)) &&
		    (i + 1 == nr_functions || strcmp(functions[i].name, functions[i + 1].name)))
			functions[n++] = functions[i];
	}
	nr_functions = n;
}

static void take(int count)
{
	int i;

	qsort(functions, nr_functions, sizeof(*functions), by_addr);
	if (!count)
		return;
	if (nr_functions < count)
		die("not enough functions");
	for (i = 0; i < count; i++)
		functions[i] = functions[(uint64_t)i * nr_functions / count];
	nr_functions = count;
}

static int load(enum bpf_prog_type type, int attach_type, int id)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type, .attach_btf_id = id);

	return bpf_prog_load(type, "bench", "GPL", insns, 2, &opts);
}

/* Only functions that can have a BPF program: some cannot because of their arguments. */
static void find_btf(int attach_type, int count)
{
	int i, fd, n = 0, step;

	btf = btf__load_vmlinux_btf();
	if (!btf)
		die("BTF of the kernel");
	qsort(functions, nr_functions, sizeof(*functions), by_name);
	for (i = 1; i < (int)btf__type_cnt(btf); i++) {
		const struct btf_type *type = btf__type_by_id(btf, i);
		struct function *f, key;

		if (!btf_is_func(type))
			continue;
		key.name = btf__name_by_offset(btf, type->name_off);
		f = bsearch(&key, functions, nr_functions, sizeof(*functions), by_name);
		if (f)
			f->id = f->id ? -1 : i;
	}
	/* To try each takes long. */
	qsort(functions, nr_functions, sizeof(*functions), by_addr);
	step = count ? nr_functions / (2 * count) ?: 1 : 1;
	for (i = 0; i < nr_functions; i += step) {
		if (functions[i].id <= 0)
			continue;
		fd = load(BPF_PROG_TYPE_TRACING, attach_type, functions[i].id);
		if (fd < 0)
			continue;
		close(fd);
		functions[n++] = functions[i];
	}
	nr_functions = n;
}

static void prepare(const char *kind, const char *count, const char *list)
{
	read_functions(list, "*");
	drop_same_names();
	if (*kind == 'f')
		find_btf(strcmp(kind, "fexit") ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT, atoi(count));
	take(atoi(count));
}

/* A link for the functions from the first on. */
static int link_many(const char *kind, const char *how, int first, int count)
{
	static const char *names[MAX_FUNCTIONS];
	static uint64_t addrs[MAX_FUNCTIONS];
	static uint32_t ids[MAX_FUNCTIONS];
	static int progs[2][2] = { { -1, -1 }, { -1, -1 } };
	struct link_create attr = { 0 };
	int tracing = *kind == 'f', special = !strcmp(kind, "fexit") || !strcmp(kind, "session"), i;
	int *prog = &progs[tracing][special];

	attr.attach_type = tracing ? (special ? TRACE_FEXIT_MULTI : TRACE_FENTRY_MULTI)
				   : (special ? TRACE_KPROBE_SESSION : TRACE_KPROBE_MULTI);
	if (*prog < 0)
		*prog = load(tracing ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_KPROBE, attr.attach_type, 0);
	if (*prog < 0)
		return -1;
	for (i = 0; i < count; i++) {
		names[i] = functions[first + i].name;
		addrs[i] = functions[first + i].addr;
		ids[i] = functions[first + i].id;
	}
	attr.prog_fd = *prog;
	if (tracing) {
		attr.tracing.ids = (uintptr_t)ids;
		attr.tracing.cnt = count;
	} else {
		attr.kprobe.flags = !strcmp(kind, "kretprobe");
		attr.kprobe.cnt = count;
		if (!strcmp(how, "names"))
			attr.kprobe.syms = (uintptr_t)names;
		else
			attr.kprobe.addrs = (uintptr_t)addrs;
	}
	return syscall(__NR_bpf, LINK_CREATE, &attr, sizeof(attr));
}

static void tell(const char *what, const char *name, int count, bool passed)
{
	char text[128];

	snprintf(text, sizeof(text), "%s_%s", what, name);
	report(text, count);
	if (!passed)
		return;
	snprintf(text, sizeof(text), "%s_%s_passed", what, name);
	report(text, count);
}

static void detach(const char *name, int fd)
{
	span_start();
	close(fd);
	span_end();
	tell("detach", name, 1, true);
}

static void multi(const char *name, const char *kind, const char *how)
{
	int fd;

	span_start();
	fd = link_many(kind, how, 0, nr_functions);
	span_end();
	if (fd < 0) {
		/* Linux 6.12 has no links for many BTF functions, and no sessions before 6.10. */
		fprintf(stderr, "attach: no %s: %s\n", name, strerror(errno));
		return;
	}
	tell("attach", name, 1, false);
	detach(name, fd);
}

static void glob(const char *name, const char *kind, const char *pattern, const char *list)
{
	int fd;

	span_start();
	read_functions(list, pattern);
	fd = link_many(kind, "addrs", 0, nr_functions);
	span_end();
	if (fd < 0)
		die("attaching");
	tell("attach", name, 1, false);
	detach(name, fd);
}

static int *fds, nr_fds;

static void opened(int fd)
{
	if (fd < 0)
		die("attaching");
	/* Numbers in one row, without those that were open before. */
	if (nr_fds && fd != fds[nr_fds - 1] + 1)
		die("numbers of files");
	fds[nr_fds++] = fd;
}

static void close_all(const char *what, const char *name)
{
	int i;

	span_start();
	if (!what) {
		for (i = 0; i < nr_fds; i++)
			close(fds[i]);
		what = "detach";
	} else if (syscall(__NR_close_range, fds[0], fds[nr_fds - 1], 0)) {
		die("close_range");
	}
	span_end();
	tell(what, name, nr_fds, true);
	nr_fds = 0;
	/* What is freed later shall not be in the next figure. */
	sleep(1);
}

static void each(const char *name, const char *kind)
{
	int *progs = calloc(nr_functions, sizeof(*progs)), i, round;
	int type = strcmp(kind, "fexit") ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT;

	if (*kind == 'f') {
		for (i = 0; i < nr_functions; i++) {
			progs[i] = load(BPF_PROG_TYPE_TRACING, type, functions[i].id);
			if (progs[i] < 0)
				die(functions[i].name);
		}
	} else {
		close(link_many(kind, "names", 0, 1));
	}
	for (round = 0; round < 2; round++) {
		span_start();
		for (i = 0; i < nr_functions; i++) {
			opened(*kind == 'f' ? bpf_raw_tracepoint_open(NULL, progs[i])
					    : link_many(kind, "names", i, 1));
		}
		span_end();
		if (!round)
			tell("attach", name, nr_fds, true);
		close_all(round ? "exit" : NULL, name);
	}
}

static int open_perf(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	return syscall(__NR_perf_event_open, attr, -1, 0, -1, 0);
}

static void perf(const char *name, int count, char **ids)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	int i;

	span_start();
	for (i = 0; i < count; i++) {
		attr.config = strtoul(ids[i], NULL, 10);
		opened(open_perf(&attr));
	}
	span_end();
	tell("attach", name, count, true);
	close_all("exit", name);
}

static int open_kprobe(const char *function, bool at_return)
{
	static struct perf_event_attr attr;
	FILE *in;

	if (!attr.type) {
		in = fopen("/sys/bus/event_source/devices/kprobe/type", "r");
		if (!in || fscanf(in, "%u", &attr.type) != 1)
			die("the type of kprobes");
		fclose(in);
	}
	attr.config = at_return;
	attr.kprobe_func = (uintptr_t)function;
	return open_perf(&attr);
}

static void kprobes(const char *name, const char *kind)
{
	bool at_return = !strcmp(kind, "kretprobe");
	int i;

	span_start();
	for (i = 0; i < nr_functions; i++)
		opened(open_kprobe(functions[i].name, at_return));
	span_end();
	tell("attach", name, nr_fds, true);
	close_all("exit", name);
}

/* Is a kprobe allowed there? An event with its name, too? */
static bool can_probe(const char *function)
{
	int fd = strchr(function, '.') ? -1 : open_kprobe(function, false);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* In the place of a function that cannot be probed is the next one. */
static void list_probes(int count)
{
	int i, from = 0;

	for (i = 0; i < count; i++, from++) {
		if (from < (int64_t)i * nr_functions / count)
			from = (int64_t)i * nr_functions / count;
		while (from < nr_functions && !can_probe(functions[from].name))
			from++;
		if (from == nr_functions)
			die("not enough functions");
		printf("%llx %s\n", (unsigned long long)functions[from].addr, functions[from].name);
	}
}

/* With the program on that function too, which may be a module's. */
static void hold(const char *kind, const char *function, char **command)
{
	int status;
	pid_t pid;

	functions[nr_functions++] = (struct function){ .name = function };
	if (link_many(kind, "names", 0, nr_functions) < 0)
		die("attaching");
	pid = fork();
	if (!pid) {
		execv(command[0], command);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		die(command[0]);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	struct rlimit limit = { 65536, 65536 };

	setrlimit(RLIMIT_NOFILE, &limit);
	fds = calloc(65536, sizeof(*fds));
	if (!strcmp(verb, "each") && argc == 6) {
		prepare(argv[3], argv[4], argv[5]);
		each(argv[2], argv[3]);
	} else if (!strcmp(verb, "multi") && argc == 7) {
		prepare(argv[3], argv[5], argv[6]);
		multi(argv[2], argv[3], argv[4]);
	} else if (!strcmp(verb, "glob") && argc == 6) {
		glob(argv[2], argv[3], argv[4], argv[5]);
	} else if (!strcmp(verb, "hold") && argc > 6) {
		if (strcmp(argv[3], "none"))
			prepare(argv[2], argv[3], argv[4]);
		hold(argv[2], argv[5], argv + 6);
	} else if (!strcmp(verb, "perf") && argc > 3) {
		perf(argv[2], argc - 3, argv + 3);
	} else if (!strcmp(verb, "kprobes") && argc == 5) {
		prepare(argv[3], "0", argv[4]);
		kprobes(argv[2], argv[3]);
	} else if (!strcmp(verb, "list") && argc == 4) {
		prepare("kprobe", "0", argv[3]);
		list_probes(atoi(argv[2]));
	} else {
		fputs(usage, stderr);
		return 2;
	}
	return 0;
}
