// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf: attach many BPF programs to functions, each to one of its own, and detach them one by one.
 *
 * usage: bpf ATTACH-NAME DETACH-NAME COUNT LIST; prints two lines as benchio does.
 *
 * LIST has functions that can be traced, one a line, and is long enough to take functions at equal distances. The BPF programs
 * only return, so no compiler for them is needed.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAX_NAMES	100000

static void die(const char *what)
{
	fprintf(stderr, "bpf: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *names[MAX_NAMES];
static int nr_names;

static void read_names(const char *list)
{
	char line[512];
	FILE *in = fopen(list, "r");

	if (!in)
		die(list);
	while (nr_names < MAX_NAMES && fgets(line, sizeof(line), in)) {
		line[strcspn(line, " \t\n")] = '\0';
		names[nr_names++] = strdup(line);
	}
	fclose(in);
}

/* Fails if the function cannot have a BPF program: because of its arguments, or because other functions have its name. */
static int load(const struct btf *btf, const char *name)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY);
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);

	if (id < 0)
		return -1;
	opts.attach_btf_id = id;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "bench", "GPL", insns, 2, &opts);
}

static struct {
	struct timespec ts;
	uint64_t ticks;
} from;

static void span_start(void)
{
	clock_gettime(CLOCK_MONOTONIC, &from.ts);
	from.ticks = __rdtsc();
}

static void span_end(const char *name, int count)
{
	uint64_t ticks = __rdtsc() - from.ticks, ns;
	struct timespec to;

	clock_gettime(CLOCK_MONOTONIC, &to);
	ns = (to.tv_sec - from.ts.tv_sec) * 1000000000ULL + to.tv_nsec - from.ts.tv_nsec;
	printf("%s %d %llu %llu %llu\n", name, count, (unsigned long long)ticks, (unsigned long long)ns,
	       (unsigned long long)ticks);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 65536, 65536 };
	int count, i, done = 0, step, *progs, *links;
	struct btf *btf;

	if (argc != 5) {
		fputs("usage: bpf ATTACH-NAME DETACH-NAME COUNT LIST\n", stderr);
		return 2;
	}
	count = atoi(argv[3]);
	read_names(argv[4]);
	btf = btf__load_vmlinux_btf();
	if (!btf)
		die("BTF of the kernel");
	setrlimit(RLIMIT_NOFILE, &limit);
	progs = calloc(count, sizeof(*progs));
	links = calloc(count, sizeof(*links));
	if (!progs || !links)
		die("memory");
	step = nr_names / (2 * count) ?: 1;
	for (i = 0; i < nr_names && done < count; i += step) {
		int fd = load(btf, names[i]);

		if (fd >= 0)
			progs[done++] = fd;
	}
	if (done < count)
		die("not enough functions");

	span_start();
	for (i = 0; i < count; i++) {
		links[i] = bpf_raw_tracepoint_open(NULL, progs[i]);
		if (links[i] < 0)
			die("attaching");
	}
	span_end(argv[1], count);
	span_start();
	for (i = 0; i < count; i++)
		close(links[i]);
	span_end(argv[2], count);
	return 0;
}
