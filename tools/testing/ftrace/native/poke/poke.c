// SPDX-License-Identifier: GPL-2.0-only
/*
 * poke - change instructions while other CPUs execute them, on this machine
 *
 * usage: poke [-hlTv] [-t SECONDS] [-n THREADS] [-c CPU] [-s SEED] [-m LEAST] [-d DELAY]
 *             [-q PERCENT] [-S] [-H] [-M] [-x] [-r] [VARIANT...]
 *
 * The x86 patcher of function tracing (arch/x86/kernel/ftrace/patch.c) changes a call site in three
 * phases: the first byte becomes int3, then the other four bytes are written, then the first
 * byte of the new instruction. All CPUs serialise after each phase. This program runs the patcher's
 * own source in a process: int3 is SIGTRAP, the broadcast is membarrier(
 * MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE), text is written through a second mapping, CPUs
 * are pinned threads. It needs no privileges, no kernel with the series, and no other file.
 *
 * VARIANT is the real protocol or a wrong one; all of them run, one after the other, if none is
 * named:
 *
 *	real		as the kernel does it
 *	no-int3		four bytes, broadcast, first byte: no int3
 *	head-first	int3, broadcast, first byte, broadcast, four bytes
 *	one-store	the instruction in one store of eight bytes
 *	no-sync-1	no broadcast between int3 and the four bytes
 *	no-sync-2	no broadcast between the four bytes and the first byte
 *	no-sync		no broadcast at all
 *	no-core		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED): a barrier on each CPU, but
 *			no promise that the CPU serialises
 *
 * The real protocol must never fail. A wrong variant that fails shows that this CPU, and this
 * test, can tell the difference. A wrong variant that does not fail shows nothing: the manuals
 * of the CPUs still do not allow it.
 *
 *	-t SECONDS	for each variant; 10. Fractions are allowed
 *	-n THREADS	that call sites; one for each CPU but the patcher's
 *	-c CPU		the patcher's
 *	-s SEED		of the choice of sites and changes; printed, else from the clock
 *	-m LEAST	calls in each of the states old, new and trapped that the real
 *			protocol must have seen; 100 for each second, at most 1000
 *	-d DELAY	POINT:KIND:AMOUNT[:ONE_IN] delays one step, and all else is not delayed.
 *			POINT: begin (the batch is published), int3 tail head (before the store),
 *			sync synced (before and after the broadcast), call (before a call), trap
 *			(before the handler), search (it has the batch), found (it has the target),
 *			fence (the handler is counted; the batch is no longer published).
 *			KIND: loop yield signal sleep (AMOUNT: rounds, microseconds), flush-first
 *			flush-last (the cache line of the site's first or last byte). "none": no
 *			delays. Without -d, delays are random
 *	-q PERCENT	throttle: a cgroup gives the process this share of its CPUs. Needs the
 *			right to make a cgroup
 *	-S		no signals that hit threads as NMIs do
 *	-H		no threads that are stopped for milliseconds, wherever they are
 *	-M		no threads that change their CPUs
 *	-x		a wrong variant without a fault counts as a failure, too
 *	-r		repeat until the real protocol fails: --repeat-until-fail
 *	-T		print TAP
 *	-v		print which bytes were mixed
 *	-l		list the variants
 *
 * For each variant the program prints the number of batches and of sites changed, of calls; of
 * those that ran while their site was changing how many did the old thing, the new thing, or
 * trapped; and of faults. Then, if there were faults: of what kind, and at sites that
 * lie across which boundary. A fault is
 *
 *	mixed	a call or jump with bytes of two instructions
 *	illegal	an illegal instruction
 *	stray	int3 where no site is
 *	stuck	int3 at a site that stays
 *	wrong	reached the function of another site, or two functions
 *	stale	ran the old instruction when the change was over, or what was neither
 *	back	ran the old instruction after the new one
 *	other	another signal
 *
 * Status: 0 the real protocol was run and never failed; 1 it failed (or -x); 2 wrong usage, or
 * something does not work here; 3 too few calls were seen during changes for a result;
 * 4 this machine cannot show anything: one CPU, or no such membarrier.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <getopt.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "poke.h"

enum { PASSED, FAILED, USAGE, IDLE, SKIPPED };

static const char *const variant_names[NR_VARIANTS] = {
	"real", "no-int3", "head-first", "one-store", "no-sync-1", "no-sync-2", "no-sync", "no-core",
};

static const char *const fault_names[NR_FAULTS] = {
	"mixed", "illegal", "stray", "stuck", "wrong", "stale", "back", "other",
};

static const char *const kind_names[NR_KINDS] = {
	"in 8 bytes", "across 8", "across 16", "across 32", "across a line", "across a page",
};

static struct options options = { .seconds = 10, .patcher_cpu = -1 };
static bool tap, verbose, expect_faults, repeat;
static u64 least;
static double throttle;	/* percent of the CPUs, 0 for all */
static bool chosen[NR_VARIANTS];

static void complain(const char *format, va_list args)
{
	fputs("poke: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

/* Something does not work on this machine. */
void poke_cannot(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	_exit(USAGE);
}

/* The patcher did what it must not do, or this program did. */
void poke_bug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	_exit(FAILED);
}

static void say(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (tap)
		fputs("# ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/* The value of a line of /proc/cpuinfo, which is the first CPU's. */
static const char *cpuinfo(const char *key)
{
	static char line[256];
	FILE *file = fopen("/proc/cpuinfo", "r");
	char *value = NULL;

	while (file && !value && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && strchr("\t :", line[strlen(key)]))
			value = strchr(line, ':');
	if (file)
		fclose(file);
	if (!value)
		return "unknown";
	value[strcspn(value, "\n")] = 0;
	return value + 1 + strspn(value + 1, " ");
}

static void text_of(char *text, unsigned int a, unsigned int b, unsigned int c)
{
	memcpy(text, &a, 4);
	memcpy(text + 4, &b, 4);
	memcpy(text + 8, &c, 4);
	text[12] = 0;
}

static void print_cpu(void)
{
	unsigned int eax, ebx, ecx, edx, family, model;
	char vendor[13], host[13], name[64];
	bool guest;

	__cpuid(0, eax, ebx, ecx, edx);
	text_of(vendor, ebx, edx, ecx);
	__cpuid(1, eax, ebx, ecx, edx);
	family = eax >> 8 & 15;
	model = eax >> 4 & 15;
	if (family == 6 || family == 15)
		model |= eax >> 12 & 0xf0;
	if (family == 15)
		family += eax >> 20 & 255;
	guest = ecx >> 31;
	snprintf(name, sizeof(name), "%s", cpuinfo("model name"));
	say("CPU %s family %u model %u stepping %u microcode %s: %s", vendor, family, model,
	    eax & 15, cpuinfo("microcode"), name);
	if (guest) {
		__cpuid(0x40000000, eax, ebx, ecx, edx);
		text_of(host, ebx, ecx, edx);
		say("in a virtual machine: %s", host);
	}
}

static unsigned int nr_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

static void print_machine(void)
{
	struct utsname name;

	print_cpu();
	uname(&name);
	say("kernel %s %s", name.release, name.version);
	say("%u CPUs, %u callers, seed %llu, %g s for each variant", nr_cpus(), options.threads,
	    (unsigned long long)options.seed, options.seconds);
}

static void add(struct result *sum, const struct result *result)
{
	u64 *to = (u64 *)sum->counts, *from;

	for (unsigned int i = 0; i <= options.threads; i++) {
		from = (u64 *)&result->counts[i];
		for (unsigned int n = 0; n < sizeof(struct counts) / sizeof(u64); n++)
			to[n] += from[n];
	}
}

static u64 sum_of(const u64 *numbers, unsigned int nr)
{
	u64 sum = 0;

	while (nr--)
		sum += numbers[nr];
	return sum;
}

static void print_list(const char *what, const u64 *numbers, const char *const *names, unsigned int nr)
{
	char line[512];
	size_t used = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (numbers[i])
			used += snprintf(line + used, sizeof(line) - used, "%s %s %llu", used ? "," : "",
					 names[i], (unsigned long long)numbers[i]);
	if (used)
		say("  %s:%s", what, line);
}

static void print_mixes(const u64 *mixes)
{
	for (int mix = 0; verbose && mix < 256; mix++)
		if (mixes[mix])
			say("  last four bytes %s: %llu (N nop, A call, B jump)", text_mix_name(mix),
			    (unsigned long long)mixes[mix]);
}

static void print_result(enum variant which, const struct result *result, const struct counts *sum)
{
	const struct { const char *name; u64 number; } columns[] = {
		{ "batches", result->batches }, { "changed", result->changed },
		{ "broadcasts", result->syncs }, { "calls", sum->calls }, { "old", sum->old },
		{ "new", sum->new }, { "trapped", sum->trapped }, { "late", sum->late },
		{ "signals", sum->signals }, { "halts", sum->halts }, { "moves", result->moves },
		{ "throttled", result->throttled }, { "delays", result->delays },
		{ "faults", sum_of(sum->faults, NR_FAULTS) },
	};
	char line[1024];
	size_t used = 0;

	for (unsigned int i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		used += snprintf(line + used, sizeof(line) - used, " %s %llu", columns[i].name,
				 (unsigned long long)columns[i].number);
	say("%-10s%s", variant_names[which], line);
	print_list("faults", sum->faults, fault_names, NR_FAULTS);
	print_list("at sites", sum->kinds, kind_names, NR_KINDS);
	print_mixes(sum->mixes);
}

static void print_verdict(unsigned int test, enum variant which, int status, u64 faults)
{
	const char *name = variant_names[which];

	if (!tap)
		return;
	if (status == IDLE)
		printf("not ok %u %s: too few calls during changes\n", test, name);
	else if (status)
		printf("not ok %u %s\n", test, name);
	else if (which != REAL && !faults)
		printf("ok %u %s # SKIP no fault seen, which shows nothing\n", test, name);
	else
		printf("ok %u %s\n", test, name);
}

static int verdict(enum variant which, const struct counts *sum, u64 faults, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	if (which != REAL)
		return expect_faults && !faults ? FAILED : PASSED;
	if (faults)
		return FAILED;
	return sum->old < least || sum->new < least || sum->trapped < least ? IDLE : PASSED;
}

/* Run a variant in a process of its own. */
static int run_variant(unsigned int test, enum variant which)
{
	size_t size = sizeof(struct result) + POKE_THREADS * sizeof(struct counts);
	struct result *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0);
	struct {
		struct result result;
		struct counts counts;
	} sum = { };
	int status = 0;
	u64 faults;
	pid_t child;

	if (shared == MAP_FAILED)
		poke_cannot("no memory: %m");
	fflush(stdout);
	child = fork();
	if (child < 0)
		poke_cannot("no process: %m");
	if (!child) {
		variant = which;
		/* A patcher that waits forever has failed, too. */
		alarm(options.seconds * 3 + 60);
		run(&options, shared);
		_exit(0);
	}
	if (throttle && !throttle_begin(child, nr_cpus() * throttle / 100)) {
		kill(child, SIGKILL);
		poke_cannot("cannot throttle: no cgroup can be made");
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (throttle)
		shared->throttled = throttle_end();
	add((struct result *)&sum, shared);
	print_result(which, shared, &sum.counts);
	if (status)
		say("  the process ended with %s %d", WIFSIGNALED(status) ? "signal" : "status",
		    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	/* Wrong bytes can also end the process, which is one more fault. */
	faults = sum_of(sum.counts.faults, NR_FAULTS) + WIFSIGNALED(status);
	status = verdict(which, &sum.counts, faults, status);
	if (throttle && !shared->throttled && status == PASSED)
		status = IDLE;
	if (status == IDLE)
		say("  fewer than %llu calls old, new or trapped, or never throttled: no result",
		    (unsigned long long)least);
	munmap(shared, size);
	print_verdict(test, which, status, faults);
	return status;
}

static int run_all(void)
{
	unsigned int test = 0;
	int worst = PASSED;

	for (int which = REAL; which < NR_VARIANTS; which++) {
		int status;

		if (!chosen[which])
			continue;
		status = run_variant(++test, which);
		if (status == FAILED || worst == PASSED)
			worst = status;
	}
	if (tap)
		printf("1..%u\n", test);
	return worst;
}

static int run_until_fail(void)
{
	for (unsigned int round = 1;; round++) {
		int status;

		say("round %u, seed %llu", round, (unsigned long long)options.seed);
		status = run_variant(round, REAL);
		if (status)
			return status;
		options.seed++;
	}
}

static int find(const char *name, const char *const *names, int nr)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static void usage(const char *why, const char *what)
{
	fprintf(stderr, "poke: %s%s%s\n", why, *what ? ": " : "", what);
	fputs("usage: poke [-hlTv] [-t SECONDS] [-n THREADS] [-c CPU] [-s SEED] [-m LEAST]\n"
	      "            [-d POINT:KIND:AMOUNT[:ONE_IN]] [-q PERCENT] [-S] [-H] [-M] [-x] [-r]\n"
	      "            [VARIANT...]\n", stderr);
	exit(USAGE);
}

static double number(const char *text, double min, double max)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= min && value <= max))
		usage("not a number that is allowed", text);
	return value;
}

static void parse_delay(const char *text)
{
	char copy[64], *rest = copy, *point, *kind, *amount;
	int p, k;

	options.one_mood = true;
	if (!strcmp(text, "none"))
		return;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		usage("not a delay", text);
	point = strsep(&rest, ":");
	kind = strsep(&rest, ":");
	amount = strsep(&rest, ":");
	p = find(point, point_names, NR_POINTS);
	k = kind ? find(kind, delay_names, NR_DELAYS) : -1;
	if (p < 0 || k < 0 || !amount)
		usage("not a delay", text);
	mood.point = p;
	mood.delay = k;
	mood.amount = number(amount, 0, 1e9);
	mood.one_in = rest ? number(rest, 1, 1e9) : 1;
}

static void list_variants(void)
{
	for (int i = 0; i < NR_VARIANTS; i++)
		puts(variant_names[i]);
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "repeat-until-fail", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	double limit = -1;
	int option;

	options.seed = time(NULL);
	while ((option = getopt_long(argc, argv, "hlTvt:n:c:s:m:d:q:SHMxr", longs, NULL)) != -1) {
		switch (option) {
		case 'h':
			puts("usage: poke [OPTION...] [VARIANT...]; poke.c begins with a description");
			exit(PASSED);
		case 'l':
			list_variants();
			exit(PASSED);
		case 'T':
			tap = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 't':
			options.seconds = number(optarg, 0.01, 1e9);
			break;
		case 'n':
			options.threads = number(optarg, 1, POKE_THREADS - 1);
			break;
		case 'c':
			options.patcher_cpu = number(optarg, 0, CPU_SETSIZE - 1);
			break;
		case 's':
			options.seed = number(optarg, 0, 1e15);
			break;
		case 'm':
			limit = number(optarg, 0, 1e15);
			break;
		case 'd':
			parse_delay(optarg);
			break;
		case 'q':
			throttle = number(optarg, 1, 99);
			break;
		case 'S':
			options.no_signals = true;
			break;
		case 'H':
			options.no_halts = true;
			break;
		case 'M':
			options.no_moves = true;
			break;
		case 'x':
			expect_faults = true;
			break;
		case 'r':
			repeat = true;
			break;
		default:
			usage("wrong option", "");
		}
	}
	for (int i = optind; i < argc; i++) {
		int which = find(argv[i], variant_names, NR_VARIANTS);

		if (which < 0)
			usage("no such variant", argv[i]);
		chosen[which] = true;
	}
	if (optind == argc)
		memset(chosen, true, sizeof(chosen));
	least = limit >= 0 ? limit : options.seconds < 10 ? options.seconds * 100 : 1000;
}

/* Returns why nothing can be shown here, NULL if something can. */
static const char *cannot(void)
{
	if (nr_cpus() < 2)
		return "needs two CPUs";
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		return "this kernel has no membarrier that makes CPUs serialise";
	return NULL;
}

int main(int argc, char **argv)
{
	const char *why;

	parse(argc, argv);
	why = cannot();
	if (why) {
		printf(tap ? "1..0 # SKIP %s\n" : "poke: %s\n", why);
		return SKIPPED;
	}
	if (!options.threads)
		options.threads = nr_cpus() - 1;
	if (options.threads >= POKE_THREADS)
		options.threads = POKE_THREADS - 1;
	if (tap)
		puts("TAP version 13");
	print_machine();
	return repeat ? run_until_fail() : run_all();
}
