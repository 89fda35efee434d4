// SPDX-License-Identifier: GPL-2.0-only
/*
 * benchio: time single operations on control files, without a shell's forks around them. What it prints is in span.h.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "span.h"

#define PARAMETERS	"/sys/module/bench_ftrace/parameters/"

static const char usage[] =
	"usage: benchio VERB ...\n"
	"  write NAME TIMES FILE TEXT [UNDO]  write TEXT; after each but the last write UNDO, if given, untimed\n"
	"  toggle NAME-ON NAME-OFF TIMES FILE ON OFF  write ON and OFF in turn\n"
	"  stall NAME TIMES FILE ON OFF  toggle, and print the longest time that a program on CPU 1 was held up\n"
	"  names NAME FILE LIST N  write the first N lines of LIST; fewer, if they take more than 3 s\n"
	"  append NAME FILE LIST N  add the first N lines of LIST to FILE one by one; fewer, if they take more than 3 s\n"
	"  file NAME FILE LIST     write all of LIST\n"
	"  read NAME TIMES FILE    read to the end\n"
	"  first NAME TIMES FILE   read up to the first line that does not begin with #\n"
	"  run NAME COUNT COMMAND  have the bench_ftrace module do COMMAND, which does COUNT things\n"
	"  tell COMMAND            the same, not timed\n"
	"  urge COMMAND            the same, not timed, as a SCHED_FIFO task\n"
	"  load NAME MODULE        insert the module file\n"
	"  stats CPU               do stat() until killed\n"
	"  mark                    run into an int3 of our own, as a mark in an emulator's log\n";

static void put_all(int fd, const char *file, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n <= 0)
			die(file);
		text += n;
		size -= n;
	}
}

/* As the shell's > does. */
static void put(const char *file, const char *text, size_t size)
{
	int fd = open(file, O_WRONLY | O_TRUNC);

	if (fd < 0)
		die(file);
	put_all(fd, file, text, size);
	if (close(fd))
		die(file);
}

static void put_timed(const char *name, const char *file, const char *text)
{
	span_start();
	put(file, text, strlen(text));
	span_end();
	report(name, 1);
}

/* A file of the kernel makes a line when it is asked for more than it has made. */
static void read_timed(const char *name, const char *file, bool whole)
{
	static char buffer[65536];
	ssize_t n;
	int fd;
	char before = '\n';

	span_start();
	fd = open(file, O_RDONLY);
	if (fd < 0)
		die(file);
	do {
		n = read(fd, buffer, whole ? sizeof(buffer) : 1);
		if (!whole && n > 0 && before == '\n' && *buffer != '#')
			break;
		before = *buffer;
	} while (n > 0);
	if (n < 0)
		die(file);
	close(fd);
	span_end();
	report(name, 1);
}

/* As "cat LIST > FILE" does: several names a write, closed at the end. */
static void names(const char *name, const char *file, const char *list, unsigned long count)
{
	static char text[4096];
	FILE *in = fopen(list, "r");
	unsigned long done = 0;
	size_t size = 0;
	uint64_t end;
	int fd;

	if (!in)
		die(list);
	span_start();
	end = clock_ns(CLOCK_MONOTONIC) + 3000000000ULL;
	fd = open(file, O_WRONLY | O_TRUNC);
	if (fd < 0)
		die(file);
	while (done < count && fgets(text + size, 256, in)) {
		size += strlen(text + size);
		done++;
		if (done % 20 && done < count)
			continue;
		put_all(fd, file, text, size);
		size = 0;
		if (clock_ns(CLOCK_MONOTONIC) > end)
			break;
	}
	if (close(fd))
		die(file);
	span_end();
	fclose(in);
	report(name, done);
}

/* As "echo LINE >> FILE" does for each. */
static void append(const char *name, const char *file, const char *list, unsigned long count)
{
	char line[256];
	FILE *in = fopen(list, "r");
	unsigned long done = 0;
	uint64_t end;

	if (!in)
		die(list);
	span_start();
	end = clock_ns(CLOCK_MONOTONIC) + 3000000000ULL;
	while (done < count && clock_ns(CLOCK_MONOTONIC) < end && fgets(line, sizeof(line), in)) {
		int fd = open(file, O_WRONLY | O_APPEND);

		if (fd < 0)
			die(file);
		put_all(fd, file, line, strlen(line));
		if (close(fd))
			die(file);
		done++;
	}
	span_end();
	fclose(in);
	report(name, done);
}

/* As "cat LIST > FILE" does, by large writes. */
static void file(const char *name, const char *file, const char *list)
{
	static char text[1 << 20];
	FILE *in = fopen(list, "r");
	size_t size;

	if (!in)
		die(list);
	size = fread(text, 1, sizeof(text), in);
	fclose(in);
	span_start();
	put(file, text, size);
	span_end();
	report(name, 1);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("choosing the CPU");
}

/* Look at the clock all the time; remember the longest time without a look. */
static void watch_clock(volatile uint64_t *longest, const volatile bool *stop)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC);

	while (!*stop) {
		uint64_t now;

		/* An emulator takes long to tell the time. */
		for (volatile int i = 0; i < 200; i++)
			;
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - before > *longest)
			*longest = now - before;
		before = now;
	}
}

static void stall(const char *name, unsigned long times, const char *file, const char *on,
		  const char *off)
{
	struct shared {
		volatile uint64_t longest;
		volatile bool stop;
	} *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned long i;
	pid_t pid;

	if (shared == MAP_FAILED)
		die("mmap");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		run_on(1);
		/* What comes before the program has its CPU to itself does not count. */
		usleep(20000);
		watch_clock(&shared->longest, &shared->stop);
		_exit(0);
	}
	usleep(100000);
	shared->longest = 0;
	for (i = 0; i < times; i++) {
		put(file, on, strlen(on));
		put(file, off, strlen(off));
	}
	usleep(20000);
	shared->stop = true;
	waitpid(pid, NULL, 0);
	span.ticks = span.cpu = span.ns = shared->longest;
	report(name, 1);
}

/* The module times what it does; the CPU time is ours, as it may sleep. */
static void run(const char *name, unsigned long count, const char *command)
{
	unsigned long long ticks, ns;
	FILE *in;

	span_start();
	put(PARAMETERS "run", command, strlen(command));
	span_end();
	if (!name)
		return;
	in = fopen(PARAMETERS "result", "r");
	if (!in || fscanf(in, "%llu %llu", &ticks, &ns) != 2)
		die("result");
	fclose(in);
	span.ticks = ticks;
	span.ns = ns;
	report(name, count);
}

static void load(const char *name, const char *file)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		die(file);
	span_start();
	/* finit_module() */
	if (syscall(313, fd, "", 0))
		die(file);
	span_end();
	close(fd);
	report(name, 1);
}

static void stats(int cpu)
{
	struct stat st;

	run_on(cpu);
	for (;;)
		stat("/proc/self/status", &st);
}

static void ignore(int sig)
{
	(void)sig;
}

static void mark(void)
{
	signal(SIGTRAP, ignore);
	asm volatile("int3");
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	unsigned long i, times;

	run_on(0);
	if (!strcmp(verb, "write") && (argc == 6 || argc == 7)) {
		times = strtoul(argv[3], NULL, 10);
		for (i = 0; i < times; i++) {
			put_timed(argv[2], argv[4], argv[5]);
			if (argc == 7 && i < times - 1)
				put(argv[4], argv[6], strlen(argv[6]));
		}
	} else if (!strcmp(verb, "toggle") && argc == 8) {
		times = strtoul(argv[4], NULL, 10);
		for (i = 0; i < times; i++) {
			put_timed(argv[2], argv[5], argv[6]);
			put_timed(argv[3], argv[5], argv[7]);
		}
	} else if (!strcmp(verb, "stall") && argc == 7) {
		stall(argv[2], strtoul(argv[3], NULL, 10), argv[4], argv[5], argv[6]);
	} else if (!strcmp(verb, "names") && argc == 6) {
		names(argv[2], argv[3], argv[4], strtoul(argv[5], NULL, 10));
	} else if (!strcmp(verb, "append") && argc == 6) {
		append(argv[2], argv[3], argv[4], strtoul(argv[5], NULL, 10));
	} else if (!strcmp(verb, "file") && argc == 5) {
		file(argv[2], argv[3], argv[4]);
	} else if ((!strcmp(verb, "read") || !strcmp(verb, "first")) && argc == 5) {
		times = strtoul(argv[3], NULL, 10);
		for (i = 0; i < times; i++)
			read_timed(argv[2], argv[4], verb[0] == 'r');
	} else if (!strcmp(verb, "run") && argc == 5) {
		run(argv[2], strtoul(argv[3], NULL, 10), argv[4]);
	} else if (!strcmp(verb, "tell") && argc == 3) {
		run(NULL, 0, argv[2]);
	} else if (!strcmp(verb, "urge") && argc == 3) {
		struct sched_param param = { .sched_priority = 1 };

		if (sched_setscheduler(0, SCHED_FIFO, &param))
			die("sched_setscheduler");
		run(NULL, 0, argv[2]);
	} else if (!strcmp(verb, "load") && argc == 4) {
		load(argv[2], argv[3]);
	} else if (!strcmp(verb, "stats") && argc == 3) {
		stats(atoi(argv[2]));
	} else if (!strcmp(verb, "mark")) {
		mark();
	} else {
		fputs(usage, stderr);
		return 2;
	}
	return 0;
}
