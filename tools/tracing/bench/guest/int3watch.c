// SPDX-License-Identifier: GPL-2.0-only
/*
 * int3watch: what another CPU sees of the call sites while they are changed.
 *
 * A patcher on CPU 0 writes ON and OFF to a control file in turn. Meanwhile CPU 1 scans the kernel
 * image: CPU 1 reads the first byte of every call site, again and again, in memory that is mapped
 * from /dev/mem. So a scan makes no system call. A scan goes down in addresses, and the patcher
 * goes up. They meet once in a change, so a scan sees no more int3 than there were at this moment.
 * (A scan that goes up could move along with the patcher and find int3 at every site.) A scan in
 * which one change ended and the next began saw two moments, and does not count for the maximum.
 *
 * The task that has CPU 0 tells whether the patcher is off its CPU during a whole scan: a
 * SCHED_FIFO task that takes CPU 0 at random moments (-s), or a SCHED_IDLE task that gets CPU 0
 * when no other task wants it (-i). Each of these tasks counts in memory. The SCHED_IDLE task
 * cannot tell whether the patcher ran between two counts, but the patcher's CPU time can: the
 * kernel adds to this time when the patcher leaves its CPU.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define TRACEFS		"/sys/kernel/tracing/"
#define INT3		0xcc
#define MAX_SPINS	1000

static const char usage[] =
	"usage: int3watch [OPTIONS] FILE ON OFF\n"
	"Write ON and OFF to FILE in turn on CPU 0. Meanwhile read all call sites on CPU 1, and print what was seen:\n"
	"sites, changes, scans, scan_ns (one scan, on average), max (most int3 in a scan), site_us (microseconds that sites\n"
	"held int3, summed), off_scans and off_max (the same of scans while the patcher was off its CPU).\n"
	"  -n N    changes to make, or with -l spins to measure (default: 20)\n"
	"  -t SEC  at most so long (default: 60)\n"
	"  -s MS   a SCHED_FIFO task takes CPU 0 for MS at random moments\n"
	"  -i      a SCHED_IDLE task on CPU 0 tells when the patcher is off its CPU\n"
	"  -g DIR  the patcher is put into the cgroup of DIR at random moments, for 300 ms each\n"
	"  -l      do stat() on CPU 1 instead of reading sites; needs -s. Prints the nanoseconds that one takes while CPU 0 is\n"
	"          taken: idle_*, where ON is written and nobody patches, and spin_*; of the spins the median, the slowest\n"
	"          but a tenth (slow), and the worst\n";

static struct shared {
	/* Odd while the SCHED_FIFO task has CPU 0. */
	volatile uint32_t spin;
	/* What the SCHED_IDLE task has counted. */
	volatile uint32_t beats;
	/* Changes begun, and whether that were all. */
	volatile uint32_t changes;
	volatile uint32_t done;
	/* Of each spin. */
	volatile uint32_t spin_ns[MAX_SPINS];
	volatile uint32_t calls[MAX_SPINS];
} *shared;

static uint64_t ticks_per_ms;

static void die(const char *what)
{
	fprintf(stderr, "int3watch: %s: %s\n", what, strerror(errno));
	exit(3);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void calibrate(void)
{
	uint64_t ns = now_ns(), ticks = __rdtsc();

	usleep(50000);
	ticks = __rdtsc() - ticks;
	ticks_per_ms = ticks * 1000000 / (now_ns() - ns);
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd))
		die(file);
}

static void run_as(int cpu, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, policy, &param))
		die("choosing CPU and priority");
}

/* Returns 0 in the child, which does not outlive us. */
static pid_t start(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void stop(pid_t pid)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* The sites of the kernel image, from the highest down, in memory of ours. */
struct sites {
	const volatile uint8_t **at;
	unsigned int count;
};

static unsigned long symbol(const char *wanted)
{
	FILE *in = fopen("/proc/kallsyms", "r");
	unsigned long addr, found = 0;
	char line[1024], name[512];

	if (!in)
		die("/proc/kallsyms");
	while (!found && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%lx %*c %511s", &addr, name) == 2 && !strcmp(name, wanted))
			found = addr;
	}
	fclose(in);
	if (!found)
		die(wanted);
	return found;
}

static off_t text_offset(void)
{
	FILE *in = fopen("/proc/iomem", "r");
	unsigned long long from = 0;
	char line[256];

	if (!in)
		die("/proc/iomem");
	while (fgets(line, sizeof(line), in)) {
		if (strstr(line, ": Kernel code"))
			from = strtoull(line, NULL, 16);
	}
	fclose(in);
	if (!from)
		die("/proc/iomem does not tell where the kernel is");
	return from;
}

static const volatile uint8_t *map_text(unsigned long text, unsigned long end)
{
	int fd = open("/dev/mem", O_RDONLY);
	const void *map;

	if (fd < 0)
		die("/dev/mem");
	map = mmap(NULL, end - text, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, text_offset());
	if (map == MAP_FAILED)
		die("mapping the kernel's text");
	close(fd);
	return map;
}

static int downwards(const void *a, const void *b)
{
	const uint8_t *x = *(uint8_t *const *)a, *y = *(uint8_t *const *)b;

	return (x < y) - (x > y);
}

static void find_sites(struct sites *sites)
{
	unsigned long text = symbol("_text"), end = symbol("_etext"), addr;
	const volatile uint8_t *map = map_text(text, end);
	unsigned int size = 0, strange = 0;
	char line[1024];
	FILE *in = fopen(TRACEFS "available_filter_functions_addrs", "r");

	if (!in)
		die("available_filter_functions_addrs");
	while (fgets(line, sizeof(line), in)) {
		uint8_t byte;

		/* Not those of modules. */
		addr = strtoul(line, NULL, 16);
		if (addr < text || addr >= end)
			continue;
		if (sites->count == size) {
			size = size ? 2 * size : 4096;
			sites->at = realloc(sites->at, size * sizeof(*sites->at));
			if (!sites->at)
				die("memory");
		}
		byte = map[addr - text];
		/* The nop of 64 bits, of 32 bits, and a call. */
		strange += byte != 0x0f && byte != 0x3e && byte != 0xe8;
		sites->at[sites->count++] = map + (addr - text);
	}
	fclose(in);
	if (!sites->count || strange > sites->count / 100) {
		fprintf(stderr, "int3watch: %u of %u sites are neither a nop nor a call\n", strange, sites->count);
		exit(3);
	}
	qsort(sites->at, sites->count, sizeof(*sites->at), downwards);
}

static unsigned int scan(const struct sites *sites)
{
	unsigned int count = 0, i;

	for (i = 0; i < sites->count; i++)
		count += *sites->at[i] == INT3;
	return count;
}

static void join(const char *group, const char *sub, pid_t pid)
{
	char procs[256], text[16];

	snprintf(procs, sizeof(procs), "%s%s/cgroup.procs", group, sub);
	snprintf(text, sizeof(text), "%d", pid);
	put(procs, text);
}

static void patch(const char *file, const char *on, const char *off, unsigned int times)
{
	unsigned int i;

	run_as(0, SCHED_OTHER, 0);
	for (i = 0; i < times; i++) {
		shared->changes++;
		put(file, i % 2 ? off : on);
	}
	shared->done = 1;
	_exit(0);
}

/* Take CPU 0 at random moments; the pauses are as long again, on average. */
static void spin(unsigned int ms)
{
	srand(1);
	run_as(0, SCHED_FIFO, 50);
	for (;;) {
		unsigned int n = shared->spin / 2;
		uint64_t from, ns;

		usleep(rand() % (2000 * ms) + 500);
		from = now_ns();
		shared->spin++;
		do {
			ns = now_ns() - from;
		} while (ns < ms * 1000000ULL);
		if (n < MAX_SPINS)
			shared->spin_ns[n] = ns;
		shared->spin++;
	}
}

/*
 * The patcher stays in the group for three periods of a tenth of a second, and then leaves the
 * group for a while. If a change takes a second of CPU, a patcher that is always throttled would
 * need a minute to its first int3.
 */
static void throttle(const char *group, pid_t patcher)
{
	srand(2);
	run_as(0, SCHED_FIFO, 50);
	for (;;) {
		join(group, "", patcher);
		usleep(300000);
		join(group, "/..", patcher);
		usleep(rand() % 200000 + 500);
	}
}

static void beat(void)
{
	run_as(0, SCHED_IDLE, 0);
	for (;;)
		shared->beats++;
}

/* What scans saw while the patcher was off its CPU. */
struct off {
	uint64_t scans;
	unsigned int max;
};

static void off_add(struct off *off, const struct off *more)
{
	off->scans += more->scans;
	if (more->max > off->max)
		off->max = more->max;
}

static uint64_t ran_ns(clockid_t patcher)
{
	struct timespec ts;

	/* A patcher that has ended runs no more. */
	if (clock_gettime(patcher, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * After each scan: was the patcher off its CPU in the scans before this one? A scan waits in @waiting
 * until the SCHED_IDLE task counts again. If the patcher's CPU time has not grown since the count
 * before, the patcher was off its CPU in all scans that wait.
 */
static void off_decide(struct off *off, struct off *waiting, unsigned int seen, clockid_t patcher)
{
	const struct off this = { .scans = 1, .max = seen };
	static uint32_t last_beats;
	static uint64_t last_ran;
	uint64_t ran;

	if (shared->beats == last_beats) {
		off_add(waiting, &this);
		return;
	}
	last_beats = shared->beats;
	ran = ran_ns(patcher);
	if (ran == last_ran) {
		off_add(off, waiting);
		*waiting = this;
	} else {
		*waiting = (struct off){ 0 };
	}
	last_ran = ran;
}

static void watch(const struct sites *sites, uint64_t deadline, pid_t patcher)
{
	struct off off = { 0 }, waiting = { 0 };
	uint64_t ticks = 0, site_ticks = 0, scans = 0;
	unsigned int max = 0, apart = 0;
	clockid_t clock;

	if (clock_getcpuclockid(patcher, &clock))
		die("the patcher's CPU time");
	while (!shared->done && now_ns() < deadline) {
		uint32_t change = shared->changes, spin = shared->spin;
		uint64_t took = __rdtsc();
		unsigned int seen;

		seen = scan(sites);
		took = __rdtsc() - took;
		if (spin & 1 && shared->spin == spin)
			off_add(&off, &(const struct off){ .scans = 1, .max = seen });
		else
			off_decide(&off, &waiting, seen, clock);
		ticks += took;
		site_ticks += took * seen;
		scans++;
		if (shared->changes != change)
			apart++;
		else if (seen > max)
			max = seen;
	}
	printf("sites %u\nchanges %u\nscans %llu\nscan_ns %llu\nmax %u\nsite_us %llu\noff_scans %llu\noff_max %u\n",
	       sites->count, shared->changes, (unsigned long long)scans,
	       (unsigned long long)(scans ? ticks * 1000 / ticks_per_ms * 1000 / scans : 0), max,
	       (unsigned long long)(site_ticks * 1000 / ticks_per_ms), (unsigned long long)off.scans, off.max);
	printf("left_out %u\n", apart);
}

static int upwards(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What a stat() takes in so many spins, from the next one on. */
static void load(const char *name, unsigned int spins, uint64_t deadline)
{
	static uint32_t cost[MAX_SPINS];
	unsigned int from = (shared->spin + 1) / 2, to = from + spins, i, n;

	while (shared->spin / 2 < to && !shared->done && now_ns() < deadline) {
		struct stat st;
		uint32_t spin;

		stat("/proc/self/status", &st);
		spin = shared->spin;
		if (spin & 1 && spin / 2 < to)
			shared->calls[spin / 2]++;
	}
	to = shared->spin / 2 < to ? shared->spin / 2 : to;
	n = to > from ? to - from : 0;
	if (!n) {
		fputs("int3watch: nothing was measured in that time\n", stderr);
		exit(3);
	}
	for (i = 0; i < n; i++)
		cost[i] = shared->spin_ns[from + i] / (shared->calls[from + i] ? shared->calls[from + i] : 1);
	qsort(cost, n, sizeof(cost[0]), upwards);
	printf("%s_spins %u\n%s_median %u\n%s_slow %u\n%s_worst %u\n", name, n, name, cost[n / 2], name, cost[n * 9 / 10],
	       name, cost[n - 1]);
}

int main(int argc, char **argv)
{
	unsigned int times = 20, seconds = 60, spin_ms = 0;
	pid_t patcher, spinner = 0, idler = 0, throttler = 0;
	bool idle = false, calls = false;
	const char *group = NULL;
	struct sites sites = { 0 };
	uint64_t deadline;
	int opt;

	while ((opt = getopt(argc, argv, "n:t:s:ig:l")) != -1) {
		switch (opt) {
		case 'n':
			times = atoi(optarg);
			break;
		case 't':
			seconds = atoi(optarg);
			break;
		case 's':
			spin_ms = atoi(optarg);
			break;
		case 'i':
			idle = true;
			break;
		case 'g':
			group = optarg;
			break;
		case 'l':
			calls = true;
			break;
		default:
			argc = 0;
		}
	}
	if (argc - optind != 3 || (calls && (!spin_ms || times > MAX_SPINS / 3))) {
		fputs(usage, stderr);
		return 2;
	}
	argv += optind;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	calibrate();
	if (!calls)
		find_sites(&sites);
	run_as(1, SCHED_OTHER, 0);
	if (spin_ms) {
		put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
		spinner = start();
		if (!spinner)
			spin(spin_ms);
	}
	if (idle) {
		idler = start();
		if (!idler)
			beat();
	}
	if (calls) {
		put(argv[0], argv[1]);
		load("idle", times, now_ns() + seconds * 1000000000ULL);
	}

	deadline = now_ns() + seconds * 1000000000ULL;
	patcher = start();
	if (!patcher)
		patch(argv[0], argv[1], argv[2], calls ? UINT32_MAX : times);
	if (group) {
		throttler = start();
		if (!throttler)
			throttle(group, patcher);
	}
	if (calls)
		load("spin", times, deadline);
	else
		watch(&sites, deadline, patcher);
	stop(spinner);
	stop(idler);
	stop(throttler);
	/* It first ends its change, which may take a throttled one a minute. */
	if (group && !shared->done)
		join(group, "/..", patcher);
	stop(patcher);
	put(argv[0], argv[2]);
	return 0;
}
