// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpfmulti: one BPF program on many functions by one link (tracing_multi, since Linux 7.2), which
 * counts the calls of each.
 *
 * usage: bpfmulti [-x] [-s] [-f N] FUNCTION... -- COMMAND [ARGUMENT]...
 *
 * Attaches to all FUNCTIONs at once, runs COMMAND, detaches, and prints a line for each function,
 * its name and its calls. COMMAND can be a further bpfmulti.
 *
 *	-x	at the return of the functions
 *	-s	leave out the functions to which no program of BPF can be attached
 *	-f	the Nth allocation of memory by the kernel fails while the link is made
 *
 * Exit status: that of COMMAND; 2 if there is nothing to attach, 3 if the kernel refuses the link,
 * 4 if the link needed less than N allocations.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The headers of Debian 12 do not know them. */
#define FENTRY_MULTI	59
#define FEXIT_MULTI	60

#define MAX_FUNCTIONS	4096

static const char *names[MAX_FUNCTIONS];
static uint32_t ids[MAX_FUNCTIONS];
static uint64_t cookies[MAX_FUNCTIONS];
static int nr;

static void die(int status, const char *what)
{
	fprintf(stderr, "bpfmulti: %s: %s\n", what, strerror(errno));
	exit(status);
}

/* Can a program be attached to this function alone? */
static int attachable(int id)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = id);
	int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "alone", "GPL", insns, 2, &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A program that adds 1 to the counter whose number is the cookie. */
static int load(int type, int map)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_attach_cookie },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_0, .off = -4 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type);

	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "count", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), &opts);
}

static int attach(int prog, int type)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t ids, cookies;
		uint32_t count, zero[8];
	} attr = {
		.prog_fd = prog, .attach_type = type, .ids = (uintptr_t)ids,
		.cookies = (uintptr_t)cookies, .count = nr,
	};

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

/* attach(), while an allocation fails. Sets @left to 1 or more if the number @n was not reached. */
static int attach_without_memory(int prog, int type, const char *n, int *left)
{
	char text[16] = "";
	int fd = open("/proc/self/fail-nth", O_RDWR);
	int link, err;

	if (fd < 0 || write(fd, n, strlen(n)) < 0)
		die(2, "fail-nth");
	link = attach(prog, type);
	err = errno;
	if (pread(fd, text, sizeof(text) - 1, 0) < 0 || write(fd, "0", 1) < 0)
		die(2, "fail-nth");
	close(fd);
	*left = atoi(text);
	errno = err;
	return link;
}

int main(int argc, char **argv)
{
	int skip = 0, type = FENTRY_MULTI, left = 0, opt, i, map, prog, link, status;
	const char *fail = NULL;
	struct btf *btf;

	while ((opt = getopt(argc, argv, "+xsf:")) != -1) {
		if (opt == 'x')
			type = FEXIT_MULTI;
		else if (opt == 's')
			skip = 1;
		else if (opt == 'f')
			fail = optarg;
		else
			return 2;
	}
	btf = btf__load_vmlinux_btf();
	if (!btf)
		die(2, "BTF of the kernel");
	for (i = optind; i < argc && strcmp(argv[i], "--") && nr < MAX_FUNCTIONS; i++) {
		int id = btf__find_by_name_kind(btf, argv[i], BTF_KIND_FUNC);

		if (skip && (id < 0 || !attachable(id)))
			continue;
		if (id < 0)
			die(2, argv[i]);
		names[nr] = argv[i];
		cookies[nr] = nr;
		ids[nr++] = id;
	}
	if (i + 1 >= argc || strcmp(argv[i], "--") || !nr) {
		fputs("usage: bpfmulti [-x] [-s] [-f N] FUNCTION... -- COMMAND [ARGUMENT]...\n", stderr);
		return 2;
	}

	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "calls", 4, 8, nr, NULL);
	if (map < 0)
		die(2, "map");
	prog = load(type, map);
	if (prog < 0)
		die(2, "program");
	/* The kernel sorts its copies of the ids, with their cookies. */
	link = fail ? attach_without_memory(prog, type, fail, &left) : attach(prog, type);
	if (link < 0)
		die(3, "link");
	if (!fork()) {
		execvp(argv[i + 1], argv + i + 1);
		die(2, argv[i + 1]);
	}
	wait(&status);
	close(link);
	for (uint32_t key = 0; key < (uint32_t)nr; key++) {
		uint64_t calls = 0;

		bpf_map_lookup_elem(map, &key, &calls);
		printf("%s %llu\n", names[key], (unsigned long long)calls);
	}
	if (left > 0)
		return 4;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
