// SPDX-License-Identifier: GPL-2.0-only
/*
 * torturer: one worker of torture. Runs a list of operations again and again.
 *
 *	torturer SEQUENCE WORKER SECONDS
 *
 * The one idea: the program decides nothing. Each line of the file SEQUENCE is "WORKER VERB ...",
 * and the program runs the lines of its WORKER in order, again and again, until SECONDS are over. So
 * a failure can be reduced: lines are left out, and the rest is run again. An operation may be
 * refused. Once a second, and at the end, a line says how many operations were run and refused.
 * A pause is no operation.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACING		"/sys/kernel/tracing"
#define MOST_LINES	100000
#define MOST_SYMBOLS	8
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const char usage[] =
	"usage: torturer SEQUENCE WORKER SECONDS\n"
	"Runs the lines \"WORKER VERB ...\" of the file SEQUENCE. Files are relative to " TRACING ".\n"
	"  w FILE TEXT        write TEXT, with truncation; a FILE TEXT: append\n"
	"  read FILE          to the end\n"
	"  mkdir DIR          rmdir DIR\n"
	"  insmod NAME [ARG]  rmmod NAME\n"
	"  perf MS FILTER     the function event of perf, with a filter, for MS milliseconds\n"
	"  fentry MS SYMBOL   a BPF program at the entry of a function\n"
	"  multi MS SYMBOL... a BPF program at several functions, which is an fprobe\n"
	"  fork N             start N processes that run \"true\"\n"
	"  pipe N             two processes exchange N bytes, one at a time\n"
	"  sleep MS\n"
	"  nth N VERB ...     the Nth allocation of the operation fails\n"
	"  failing 0|1        1: from now on allocations of the worker fail at random; 0: no more\n";

static void die(const char *what)
{
	fprintf(stderr, "torturer: %s: %s\n", what, strerror(errno));
	exit(3);
}

static void pause_ms(const char *ms)
{
	usleep(atoi(ms) * 1000);
}

/* word: cut the first word off a line. */
static char *word(char **line)
{
	char *w = strsep(line, " ");

	return w ? w : "";
}

static int write_line(char *line, int flags)
{
	int fd = open(word(&line), flags | O_WRONLY);
	char text[512];
	int ret;

	if (fd < 0)
		return -1;
	ret = snprintf(text, sizeof(text), "%s\n", line ? line : "");
	ret = write(fd, text, ret) == ret ? 0 : -1;
	return close(fd) || ret ? -1 : 0;
}

static int read_all(const char *file)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK);
	static char buf[65536];
	int left = 500;
	ssize_t n;

	if (fd < 0)
		return -1;
	/* The trace may grow as fast as it is read. */
	while (left-- && (n = read(fd, buf, sizeof(buf))) > 0)
		;
	close(fd);
	return 0;
}

static int load_module(char *line)
{
	char file[128];
	int fd, ret;

	snprintf(file, sizeof(file), "/lib/modules/%s.ko", word(&line));
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, line ? line : "", 0);
	close(fd);
	return ret;
}

/* hold: keep what @fd stands for. */
static int hold(int fd, const char *ms)
{
	if (fd < 0)
		return -1;
	pause_ms(ms);
	return close(fd);
}

static int perf_event(char *line)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.disabled = 1,
	};
	FILE *id = fopen("events/ftrace/function/id", "r");
	const char *ms = word(&line);
	unsigned int number = 0;
	int fd, found;

	if (!id)
		return -1;
	found = fscanf(id, "%u", &number);
	fclose(id);
	if (found != 1)
		return -1;
	attr.config = number;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, line) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		close(fd);
		return -1;
	}
	return hold(fd, ms);
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* The number of bytes behind a type of BTF. */
static size_t btf_extra(const struct btf_type *t)
{
	size_t n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return n * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return n * 8;
	}
	return 0;
}

/* The BTF number of a function. */
static int btf_function(const char *name)
{
	static char *btf;
	const struct btf_header *h;
	const char *names, *p, *end;
	struct stat st;

	if (!btf) {
		int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
		ssize_t n, done = 0;

		if (fd < 0)
			return -1;
		if (!fstat(fd, &st))
			btf = malloc(st.st_size);
		while (btf && (n = read(fd, btf + done, st.st_size - done)) > 0)
			done += n;
		close(fd);
		if (!btf || done != st.st_size) {
			free(btf);
			btf = NULL;
			return -1;
		}
	}
	h = (const void *)btf;
	names = btf + h->hdr_len + h->str_off;
	p = btf + h->hdr_len + h->type_off;
	end = p + h->type_len;
	for (int id = 1; p < end; id++) {
		const struct btf_type *t = (const void *)p;

		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC && !strcmp(names + t->name_off, name))
			return id;
		p += sizeof(*t) + btf_extra(t);
	}
	errno = ENOENT;
	return -1;
}

/* A program that does nothing. */
static int bpf_load(union bpf_attr *attr)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	attr->insns = (uintptr_t)nothing;
	attr->insn_cnt = ARRAY_SIZE(nothing);
	attr->license = (uintptr_t)"GPL";
	return bpf(BPF_PROG_LOAD, attr);
}

/* hold_link: keep a program and where it is attached. */
static int hold_link(int prog, int link, const char *ms)
{
	int ret = hold(link, ms);

	close(prog);
	return ret;
}

static int fentry(char *line)
{
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_TRACING };
	union bpf_attr attach = { };
	const char *ms = word(&line);
	int id = btf_function(word(&line));
	int fd;

	if (id < 0)
		return -1;
	load.expected_attach_type = BPF_TRACE_FENTRY;
	load.attach_btf_id = id;
	fd = bpf_load(&load);
	if (fd < 0)
		return -1;
	attach.raw_tracepoint.prog_fd = fd;
	return hold_link(fd, bpf(BPF_RAW_TRACEPOINT_OPEN, &attach), ms);
}

static int multi(char *line)
{
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_KPROBE };
	union bpf_attr attach = { };
	const char *symbols[MOST_SYMBOLS];
	const char *ms = word(&line);
	unsigned int n = 0;
	int fd;

	while (line && n < MOST_SYMBOLS)
		symbols[n++] = word(&line);
	load.expected_attach_type = BPF_TRACE_KPROBE_MULTI;
	fd = bpf_load(&load);
	if (fd < 0)
		return -1;
	attach.link_create.prog_fd = fd;
	attach.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attach.link_create.kprobe_multi.cnt = n;
	attach.link_create.kprobe_multi.syms = (uintptr_t)symbols;
	return hold_link(fd, bpf(BPF_LINK_CREATE, &attach), ms);
}

static int forks(int n)
{
	while (n--) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static int pipes(int n)
{
	int to[2], from[2];
	char c = 0;
	pid_t pid;

	if (pipe(to) || pipe(from))
		die("pipe");
	pid = fork();
	if (!pid) {
		close(to[1]);
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	while (pid > 0 && n--)
		if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
			break;
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
	return waitpid(pid, NULL, 0) < 0 ? -1 : 0;
}

static int run(char *line);

/* A switch of failures can be opened, although allocations fail at random. */
static int open_switch(const char *file)
{
	int fd;

	while ((fd = open(file, O_RDWR | O_CLOEXEC)) < 0)
		if (errno != ENOMEM)
			die(file);
	return fd;
}

/* The task's allocations count fail-nth down to zero. */
static int with_failure(char *line)
{
	static int fd = -1;
	const char *n = word(&line);
	int ret;

	if (fd < 0)
		fd = open_switch("/proc/self/fail-nth");
	if (pwrite(fd, n, strlen(n), 0) < 0)
		die("write fail-nth");
	ret = run(line);
	if (pwrite(fd, "0", 1, 0) < 0)
		die("write fail-nth");
	return ret;
}

/* The share of the allocations that fail is set in torture.sh. */
static int fail_at_random(const char *on)
{
	int fd = open_switch("/proc/self/make-it-fail");

	if (write(fd, on, 1) != 1)
		die("/proc/self/make-it-fail");
	return close(fd);
}

static int run(char *line)
{
	const char *verb = word(&line);

	if (!strcmp(verb, "w"))
		return write_line(line, O_TRUNC);
	if (!strcmp(verb, "a"))
		return write_line(line, O_APPEND);
	if (!strcmp(verb, "read"))
		return read_all(word(&line));
	if (!strcmp(verb, "mkdir"))
		return mkdir(word(&line), 0755);
	if (!strcmp(verb, "rmdir"))
		return rmdir(word(&line));
	if (!strcmp(verb, "insmod"))
		return load_module(line);
	if (!strcmp(verb, "rmmod"))
		return syscall(SYS_delete_module, word(&line), O_NONBLOCK);
	if (!strcmp(verb, "perf"))
		return perf_event(line);
	if (!strcmp(verb, "fentry"))
		return fentry(line);
	if (!strcmp(verb, "multi"))
		return multi(line);
	if (!strcmp(verb, "fork"))
		return forks(atoi(word(&line)));
	if (!strcmp(verb, "pipe"))
		return pipes(atoi(word(&line)));
	if (!strcmp(verb, "sleep")) {
		pause_ms(word(&line));
		return 0;
	}
	if (!strcmp(verb, "nth"))
		return with_failure(line);
	if (!strcmp(verb, "failing"))
		return fail_at_random(word(&line));
	fprintf(stderr, "torturer: no verb %s\n", verb);
	exit(2);
}

static char *lines[MOST_LINES];
static size_t nr_lines;

static void read_lines(const char *file, const char *worker)
{
	FILE *in = fopen(file, "r");
	size_t len = strlen(worker), room = 0;
	char *line = NULL;

	if (!in)
		die(file);
	while (getline(&line, &room, in) > 0) {
		if (strncmp(line, worker, len) || line[len] != ' ')
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (nr_lines == MOST_LINES)
			die("too many lines");
		lines[nr_lines] = strdup(line + len + 1);
		if (!lines[nr_lines++])
			die("memory");
	}
	free(line);
	fclose(in);
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

int main(int argc, char **argv)
{
	unsigned long at = 0, done = 0, refused = 0;
	time_t end, said = 0;
	char copy[1024];

	if (argc != 4) {
		fputs(usage, stderr);
		return 2;
	}
	read_lines(argv[1], argv[2]);
	if (chdir(TRACING))
		die(TRACING);
	/* No memory is allocated later, when allocations may fail. One line is one write(). */
	setvbuf(stdout, malloc(BUFSIZ), _IOLBF, BUFSIZ);
	end = now() + atoi(argv[3]);
	while (nr_lines && now() < end) {
		const char *line = lines[at++ % nr_lines];
		bool counts = strncmp(line, "sleep ", 6) && strncmp(line, "failing ", 8);

		snprintf(copy, sizeof(copy), "%s", line);
		refused += run(copy) && counts;
		done += counts;
		if (now() != said) {
			said = now();
			printf("@at %s %lu %lu\n", argv[2], done, refused);
		}
	}
	printf("@at %s %lu %lu\n", argv[2], done, refused);
	return 0;
}
