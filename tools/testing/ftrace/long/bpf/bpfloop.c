// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpfloop: attach and detach BPF programs in several processes at the same time, and see that
 * each operation ends.
 *
 * usage: bpfloop SECONDS DEADLINE [stuck]
 *
 * There are two workers for each way to attach a program: perf event on a tracepoint, raw
 * tracepoint, fentry and fexit, kprobe and kretprobe, kprobe.multi and its return. A worker
 * attaches a few programs and detaches them. Every other time, the worker has a child that
 * attaches them, waits as bpftrace does, and is ended by SIGTERM or SIGKILL, so that the exit of a
 * process detaches them.
 *
 * The parent watches. If an operation of a worker takes more than DEADLINE seconds, the parent
 * shows the stacks of the workers and of all blocked tasks here, and those of all tasks on the
 * console, and leaves with status 3. With "stuck" one worker has an operation that never ends.
 *
 * bpftrace 0.17 looks whether it was told to end only if epoll_wait() has failed with EINTR. It
 * goes on forever if the signal comes when the 100 ms of an epoll_wait() are just over. That looks
 * like a task that was not woken, so the children count how often it would have happened.
 *
 * The programs only return, so no compiler for them is needed.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))
#define TRACEFS		"/sys/kernel/tracing/"
#define KPROBE_PMU	"/sys/bus/event_source/devices/kprobe/type"
#define MAX_LINKS	6
#define MAX_ADDRS	200

/* A function in which tasks sleep, functions that load() calls all the time, and one in between. */
static const char *const functions[] = {
	"do_nanosleep", "vfs_read", "vfs_write", "__task_pid_nr_ns", "do_sys_openat2", "pipe_read",
};

/* The first never fires in a guest without network; bpftrace's own test waits for it. */
static const char *const tracepoints[] = {
	"napi/napi_poll", "sched/sched_switch", "raw_syscalls/sys_enter", "timer/hrtimer_start",
};

static const char *const raw_tracepoints[] = {
	"napi_poll", "sched_switch", "sys_enter", "hrtimer_start",
};

static struct btf *btf;
static uint64_t addrs[MAX_ADDRS];
static unsigned int nr_addrs, kprobe_pmu;

static void die(const char *what)
{
	fprintf(stderr, "bpfloop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* The file has one number, or there is no file. */
static unsigned int read_number(const char *name)
{
	FILE *in = fopen(name, "r");
	unsigned int n = 0;

	if (in) {
		if (fscanf(in, "%u", &n) != 1)
			n = 0;
		fclose(in);
	}
	return n;
}

/* How a program is attached. All return a descriptor; the program is detached when it is closed. */

static int load_at(enum bpf_prog_type type, struct bpf_prog_load_opts *opts)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(type, "loop", "GPL", insns, ARRAY_SIZE(insns), opts);
}

static int load_prog(enum bpf_prog_type type, enum bpf_attach_type attach_type)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type);

	return load_at(type, &opts);
}

/* The link, or the event, holds the program. */
static int attached(int prog, int link)
{
	int err = errno;

	close(prog);
	errno = err;
	return link;
}

static int attach_event(struct perf_event_attr *attr, enum bpf_prog_type type)
{
	int prog = load_prog(type, 0), event;

	if (prog < 0)
		return -1;
	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	attr->wakeup_events = 1;
	event = syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event >= 0 && (ioctl(event, PERF_EVENT_IOC_SET_BPF, prog) ||
			   ioctl(event, PERF_EVENT_IOC_ENABLE, 0))) {
		close(event);
		event = -1;
	}
	return attached(prog, event);
}

static int attach_tracepoint(unsigned int n)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	char name[128];

	snprintf(name, sizeof(name), TRACEFS "events/%s/id",
		 tracepoints[n % ARRAY_SIZE(tracepoints)]);
	attr.config = read_number(name);
	return attach_event(&attr, BPF_PROG_TYPE_TRACEPOINT);
}

static int attach_raw(unsigned int n)
{
	int prog = load_prog(BPF_PROG_TYPE_RAW_TRACEPOINT, 0);
	const char *name = raw_tracepoints[n % ARRAY_SIZE(raw_tracepoints)];

	return prog < 0 ? -1 : attached(prog, bpf_raw_tracepoint_open(name, prog));
}

static int attach_trampoline(unsigned int n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int id = btf__find_by_name_kind(btf, functions[n / 2 % ARRAY_SIZE(functions)],
					BTF_KIND_FUNC);
	int prog;

	if (id < 0)
		return -1;
	opts.attach_btf_id = id;
	opts.expected_attach_type = n & 1 ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	prog = load_at(BPF_PROG_TYPE_TRACING, &opts);
	return prog < 0 ? -1 : attached(prog, bpf_raw_tracepoint_open(NULL, prog));
}

static int attach_kprobe(unsigned int n)
{
	struct perf_event_attr attr = {
		.type = kprobe_pmu,
		.config = n & 1,
		.config1 = (uintptr_t)functions[n / 2 % ARRAY_SIZE(functions)],
	};

	return attach_event(&attr, BPF_PROG_TYPE_KPROBE);
}

/* To one function, or to functions all over the kernel. */
static int attach_multi(unsigned int n)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	const char *name = functions[n / 4 % ARRAY_SIZE(functions)];
	int prog = load_prog(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI);

	if (prog < 0)
		return -1;
	opts.kprobe_multi.flags = n & 1 ? BPF_F_KPROBE_MULTI_RETURN : 0;
	if (n & 2) {
		opts.kprobe_multi.cnt = 1;
		opts.kprobe_multi.syms = &name;
	} else {
		opts.kprobe_multi.cnt = nr_addrs;
		opts.kprobe_multi.addrs = addrs;
	}
	return attached(prog, bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts));
}

static const struct way {
	const char *name;
	int (*attach)(unsigned int n);
} ways[] = {
	{ "tracepoint", attach_tracepoint },
	{ "raw tracepoint", attach_raw },
	{ "fentry and fexit", attach_trampoline },
	{ "kprobe and kretprobe", attach_kprobe },
	{ "kprobe.multi", attach_multi },
};

#define NR_WORKERS	(2 * ARRAY_SIZE(ways))

/**
 * struct worker - what the parent knows of a worker, in memory that both share
 * @pid: the worker
 * @child: its child, if any
 * @doing: the operation that is going on
 * @since: when it began, in ms; 0 between two operations
 * @attached: number of programs
 * @detached: number of programs
 * @refused: how often a program could not be attached
 * @err: why the last of them
 * @longest: the operation that took longest, in ms
 * @ended: number of children that ended by SIGTERM
 * @deaf: how many of them would not have ended if they were bpftrace 0.17
 * @gone: the worker has ended
 * @failed: it has ended too early; stderr says why
 */
struct worker {
	pid_t				pid, child;
	char				doing[32];
	uint64_t			since;
	unsigned long			attached, detached, refused;
	int				err;
	uint64_t			longest;
	unsigned long			ended, deaf;
	bool				gone, failed;
};

static struct worker *me;

static uint64_t since(const struct worker *w)
{
	return __atomic_load_n(&w->since, __ATOMIC_ACQUIRE);
}

static void begin(const char *what)
{
	snprintf(me->doing, sizeof(me->doing), "%s", what);
	__atomic_store_n(&me->since, now_ms(), __ATOMIC_RELEASE);
}

static void end(void)
{
	uint64_t took = now_ms() - me->since;

	__atomic_store_n(&me->since, 0, __ATOMIC_RELEASE);
	if (took > me->longest)
		me->longest = took;
}

static void count_attached(int fd)
{
	if (fd >= 0) {
		me->attached++;
	} else {
		me->refused++;
		me->err = errno;
	}
}

static void in_one_process(const struct way *way, int nr)
{
	int links[MAX_LINKS], i;

	for (i = 0; i < nr; i++) {
		begin("attach");
		links[i] = way->attach(rand());
		end();
		count_attached(links[i]);
	}
	sleep_ms(rand() % 20);
	for (i = 0; i < nr; i++) {
		if (links[i] < 0)
			continue;
		begin("detach");
		close(links[i]);
		end();
		me->detached++;
	}
}

static volatile sig_atomic_t told;

static void on_term(int sig)
{
	told = sig;
}

/* The status is 1 if bpftrace 0.17 would have gone on. */
static void child(const struct way *way, int nr, int out)
{
	const struct sigaction act = { .sa_handler = on_term };
	int epoll = epoll_create1(EPOLL_CLOEXEC), ready;
	struct epoll_event event;
	char ok;

	sigaction(SIGTERM, &act, NULL);
	while (nr--) {
		ok = way->attach(rand()) < 0 ? errno : 0;
		if (write(out, &ok, 1) != 1)
			_exit(2);
	}
	do
		ready = epoll_wait(epoll, &event, 1, 100);
	while (!told);
	_exit(ready == 0);
}

/* The test of bpftrace sends the signal whole seconds after the program was attached. */
static unsigned int wait_of_child(void)
{
	return rand() % 4 ? rand() % 150 : 100 * (1 + rand() % 3);
}

static void in_a_child(const struct way *way, int nr)
{
	int ends[2], status, sig = rand() % 4 ? SIGTERM : SIGKILL, there = 0;
	pid_t pid;
	char err;

	if (pipe2(ends, O_CLOEXEC))
		die("pipe");
	begin("attach in a child");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(ends[0]);
		srand(getpid());
		child(way, nr, ends[1]);
	}
	me->child = pid;
	close(ends[1]);
	while (nr--) {
		if (read(ends[0], &err, 1) != 1)
			die("the child is gone");
		errno = err;
		count_attached(err ? -1 : 0);
		there += !err;
	}
	end();
	sleep_ms(wait_of_child());
	begin(sig == SIGTERM ? "SIGTERM to a child" : "SIGKILL to a child");
	kill(pid, sig);
	waitpid(pid, &status, 0);
	end();
	me->child = 0;
	me->detached += there;
	if (sig == SIGTERM) {
		me->ended++;
		me->deaf += WIFEXITED(status) && WEXITSTATUS(status) == 1;
	}
	close(ends[0]);
}

static void work(const struct way *way, uint64_t until, bool stuck)
{
	srand(getpid());
	while (now_ms() < until) {
		int nr = 1 + rand() % MAX_LINKS;

		if (stuck && me->attached) {
			begin("stuck");
			for (;;)
				pause();
		}
		if (rand() & 1)
			in_one_process(way, nr);
		else
			in_a_child(way, nr);
	}
	_exit(0);
}

/* Calls the functions, also as a task that is preempted in one or sleeps in one. */
static void load(void)
{
	char buf[64];
	int ends[2];

	if (nice(5) < 0 || pipe(ends))
		die("load");
	for (unsigned int i = 0;; i++) {
		int fd = open("/proc/self/stat", O_RDONLY);

		if (read(fd, buf, sizeof(buf)) < 0 || write(ends[1], buf, 8) != 8 ||
		    read(ends[0], buf, 8) != 8)
			die("load");
		close(fd);
		syscall(SYS_getpid);
		if (i % 64 == 0)
			sleep_ms(i % 512 ? 1 : 200);
	}
}

static void read_addrs(void)
{
	FILE *in = fopen(TRACEFS "available_filter_functions_addrs", "r");
	unsigned long long addr;
	unsigned int line = 0;
	char name[512];

	while (in && nr_addrs < MAX_ADDRS && fgets(name, sizeof(name), in)) {
		/* Those of modules may go. */
		if (strchr(name, '[') || line++ % 100)
			continue;
		addr = strtoull(name, NULL, 16);
		if (addr)
			addrs[nr_addrs++] = addr;
	}
	if (in)
		fclose(in);
}

static void show_file(const char *what, const char *name)
{
	char line[256];
	FILE *in = fopen(name, "r");

	if (!in)
		return;
	printf("# %s\n", what);
	while (fgets(line, sizeof(line), in))
		printf("#   %s", line);
	fclose(in);
}

static void show_task(const char *pid)
{
	char name[64], what[128], state = '?', comm[32] = "";
	FILE *in;

	snprintf(name, sizeof(name), "/proc/%.10s/stat", pid);
	in = fopen(name, "r");
	if (!in)
		return;
	if (fscanf(in, "%*d (%31[^)]) %c", comm, &state) != 2)
		state = '?';
	fclose(in);
	if (state != 'D' && strcmp(comm, "bpfloop"))
		return;
	snprintf(what, sizeof(what), "%.10s %s, state %c", pid, comm, state);
	snprintf(name, sizeof(name), "/proc/%.10s/stack", pid);
	show_file(what, name);
}

static void tell(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "bpfloop: %s: %s\n", name, strerror(errno));
	close(fd);
}

/* Does not wait for the workers: one of them may never end. */
static void report(const struct worker *w, const char *way)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	printf("not ok %s: '%s' of %d, child %d, has not ended in %llu s\n", way, w->doing, w->pid,
	       w->child, (unsigned long long)(now_ms() - since(w)) / 1000);
	while (proc && (entry = readdir(proc)))
		if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name))
			show_task(entry->d_name);
	fflush(stdout);
	tell("/dev/kmsg", "bpfloop: an operation does not end; all tasks:\n");
	tell("/proc/sysrq-trigger", "w");
	tell("/proc/sysrq-trigger", "t");
	/* For the console to take it. */
	sleep(10);
	exit(3);
}

static bool late(const struct worker *w, unsigned int deadline)
{
	uint64_t from = since(w);

	return from && now_ms() > from + deadline * 1000ULL;
}

static bool all_gone(struct worker *w, unsigned int nr)
{
	bool all = true;

	for (unsigned int i = 0; i < nr; i++) {
		int status;

		if (!w[i].gone && waitpid(w[i].pid, &status, WNOHANG) == w[i].pid) {
			w[i].gone = true;
			w[i].failed = status;
		}
		all &= w[i].gone;
	}
	return all;
}

static void watch(struct worker *w, unsigned int deadline)
{
	while (!all_gone(w, NR_WORKERS)) {
		for (unsigned int i = 0; i < NR_WORKERS; i++)
			if (!w[i].gone && late(&w[i], deadline))
				report(&w[i], ways[i / 2].name);
		sleep_ms(500);
	}
}

static bool sum(const struct worker *w, const struct way *way)
{
	unsigned long attached = w[0].attached + w[1].attached;
	unsigned long detached = w[0].detached + w[1].detached;
	bool good = attached && attached == detached && !w[0].failed && !w[1].failed;
	uint64_t longest = w[0].longest > w[1].longest ? w[0].longest : w[1].longest;

	printf("%s %s: %lu attached, %lu detached, longest %llu ms\n", good ? "ok" : "not ok",
	       way->name, attached, detached, (unsigned long long)longest);
	for (int i = 0; i < 2; i++)
		if (w[i].refused)
			printf("# %lu were refused, the last: %s\n", w[i].refused,
			       strerror(w[i].err));
	printf("# %lu children ended by SIGTERM; bpftrace 0.17 would not have: %lu\n",
	       w[0].ended + w[1].ended, w[0].deaf + w[1].deaf);
	return good;
}

int main(int argc, char **argv)
{
	const size_t size = NR_WORKERS * sizeof(struct worker);
	struct worker *w;
	bool bad = false;
	pid_t loads[2];
	uint64_t until;

	if (argc < 3) {
		fputs("usage: bpfloop SECONDS DEADLINE [stuck]\n", stderr);
		return 2;
	}
	btf = btf__load_vmlinux_btf();
	if (!btf)
		die("BTF of the kernel");
	kprobe_pmu = read_number(KPROBE_PMU);
	read_addrs();
	w = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w == MAP_FAILED)
		die("memory");

	for (int i = 0; i < 2; i++) {
		loads[i] = fork();
		if (!loads[i])
			load();
	}
	until = now_ms() + atoi(argv[1]) * 1000ULL;
	for (unsigned int i = 0; i < NR_WORKERS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			me = &w[i];
			work(&ways[i / 2], until, argc > 3 && !i);
		}
		w[i].pid = pid;
	}
	watch(w, atoi(argv[2]));
	for (int i = 0; i < 2; i++)
		kill(loads[i], SIGKILL);
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++)
		bad |= !sum(&w[2 * i], &ways[i]);
	return bad;
}
