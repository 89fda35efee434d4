// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder of the kernel: the tracer "flight" in an instance of its own, so that others trace
 * as they like.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <tracefs.h>
#include <unistd.h>

#include "flight.h"

#define INSTANCE	"flight"
#define MAX_CPUS	8192

static struct tracefs_instance *instance;

static void set(const char *file, const char *value)
{
	if (tracefs_instance_file_write(instance, file, value) < 0)
		die("cannot write \"%s\" to %s: %s", value, file, strerror(errno));
}

/* Without a newline the kernel looks at the last word when the file is closed: no error is seen. */
static void append(const char *file, const char *value)
{
	char line[1024];

	if (snprintf(line, sizeof(line), "%s\n", value) >= (int)sizeof(line))
		die("too long: %s", value);
	if (tracefs_instance_file_append(instance, file, line) < 0)
		die("cannot add \"%s\" to %s: %s", value, file, strerror(errno));
}

static char *get(const char *file)
{
	char *text = tracefs_instance_file_read(instance, file, NULL);

	if (!text)
		die("cannot read %s: %s", file, strerror(errno));
	text[strcspn(text, "\n")] = 0;
	return text;
}

static void find_instance(void)
{
	if (!tracefs_instance_exists(INSTANCE))
		die("nothing is recorded: see flight start");
	instance = tracefs_instance_create(INSTANCE);
	if (!instance)
		die("no instance %s: %s", INSTANCE, strerror(errno));
}

/* "0-3,5": these are true in what is returned. */
static bool *parse_cpus(const char *list)
{
	bool *cpus = calloc(MAX_CPUS, sizeof(*cpus));
	char *words = strdupa(list), *word;

	if (!cpus)
		die("no memory");
	while ((word = strsep(&words, ","))) {
		char *end = strchr(word, '-');
		unsigned long from, to;

		if (end)
			*end++ = 0;
		from = parse_number(word, MAX_CPUS - 1);
		to = end ? parse_number(end, MAX_CPUS - 1) : from;
		if (from > to)
			die("no list of CPUs: %s", list);
		while (from <= to)
			cpus[from++] = true;
	}
	return cpus;
}

/* Records on some CPUs, or on all if @cpus is NULL. */
static void set_cpus(const bool *cpus)
{
	static char mask[MAX_CPUS / 4 + MAX_CPUS / 32 + 1];
	int nr = sysconf(_SC_NPROCESSORS_CONF), len = 0;

	for (int digit = (nr - 1) / 4; digit >= 0; digit--) {
		unsigned int bits = 0;

		for (int cpu = 4 * digit; cpu < 4 * digit + 4 && cpu < nr; cpu++)
			bits |= (!cpus || cpus[cpu]) << cpu % 4;
		len += sprintf(mask + len, "%x%s", bits, digit && digit % 8 == 0 ? "," : "");
	}
	set("tracing_cpumask", mask);
}

/* If the instance is new, what fails takes it away. */
static bool is_new;

static void remove_new(void)
{
	if (is_new)
		tracefs_instance_destroy(instance);
}

/* What the threshold of the kernel was. All instances have the same one. */
static char *old_thresh;

static void restore_thresh(void)
{
	if (old_thresh)
		tracefs_instance_file_write(NULL, "tracing_thresh", old_thresh);
	old_thresh = NULL;
}

static void set_thresh(const char *thresh)
{
	old_thresh = tracefs_instance_file_read(NULL, "tracing_thresh", NULL);
	if (!old_thresh || tracefs_instance_file_write(NULL, "tracing_thresh", thresh) < 0)
		die("cannot write %s to tracing_thresh: %s", thresh, strerror(errno));
}

int cmd_start(int argc, char **argv)
{
	static const struct option options[] = {
		{ "time", no_argument, NULL, 't' },
		{ "returns", no_argument, NULL, 'r' },
		{ "slower", required_argument, NULL, 'S' },
		{ "size", required_argument, NULL, 's' },
		{ "cpu", required_argument, NULL, 'c' },
		{ }
	};
	const char **funcs = calloc(argc, sizeof(*funcs)), **pids = calloc(argc, sizeof(*pids));
	unsigned int nr_funcs = 0, nr_pids = 0;
	bool *cpus = NULL;
	bool timed = false, returns = false;
	char size[32] = "", thresh[32] = "0";
	int opt;

	if (!funcs || !pids)
		die("no memory");
	while ((opt = getopt_long(argc, argv, "F:p:", options, NULL)) != -1) {
		switch (opt) {
		case 'F':
			funcs[nr_funcs++] = optarg;
			break;
		case 'p':
			parse_number(optarg, INT_MAX);
			pids[nr_pids++] = optarg;
			break;
		case 't':
			timed = true;
			break;
		case 'r':
			returns = true;
			break;
		case 'S':
			snprintf(thresh, sizeof(thresh), "%lu", parse_number(optarg, INT_MAX));
			timed = true;
			returns = true;
			break;
		case 's':
			snprintf(size, sizeof(size), "%lu", parse_number(optarg, 1024) * 1024);
			break;
		case 'c':
			cpus = parse_cpus(optarg);
			break;
		default:
			return 2;
		}
	}
	if (optind != argc)
		die("start takes no %s", argv[optind]);

	is_new = !tracefs_instance_exists(INSTANCE);
	instance = tracefs_instance_create(INSTANCE);
	if (!instance)
		die("no instance %s: %s", INSTANCE, strerror(errno));
	atexit(remove_new);
	atexit(restore_thresh);
	set("current_tracer", "nop");
	set("set_ftrace_filter", "\n");
	set("set_ftrace_pid", "\n");
	for (unsigned int i = 0; i < nr_funcs; i++)
		append("set_ftrace_filter", funcs[i]);
	for (unsigned int i = 0; i < nr_pids; i++)
		append("set_ftrace_pid", pids[i]);
	if (*size)
		set("flight_size_kb", size);
	set_cpus(cpus);
	set("options/flight-time", timed ? "1" : "0");
	/* Not each kernel has the option. */
	if (returns || tracefs_file_exists(instance, "options/flight-returns"))
		set("options/flight-returns", returns ? "1" : "0");
	/* The recorder keeps the one with which it begins. */
	if (returns)
		set_thresh(thresh);
	set("current_tracer", "flight");
	restore_thresh();
	set("tracing_on", "1");
	is_new = false;
	return 0;
}

int cmd_stop(int argc, char **argv)
{
	if (!tracefs_instance_exists(INSTANCE))
		return 0;
	find_instance();
	set("current_tracer", "nop");
	if (tracefs_instance_destroy(instance))
		die("%s is in use", INSTANCE);
	return 0;
}

int cmd_status(int argc, char **argv)
{
	if (!tracefs_instance_exists(INSTANCE)) {
		printf("off\n");
		return 0;
	}
	find_instance();
	printf("tracer %s, recording %s, %s kB for each CPU\n", get("current_tracer"),
	       tracefs_trace_is_on(instance) > 0 ? "on" : "off", get("flight_size_kb"));
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		char file[64], *stats, *line;

		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
		stats = tracefs_instance_file_read(instance, file, NULL);
		for (line = strtok(stats, "\n"); line; line = strtok(NULL, "\n"))
			if (!strncmp(line, "flight ", 7))
				printf("CPU %d: %s\n", cpu, line + 7);
		free(stats);
	}
	return 0;
}

struct snapshot {
	struct flight		flight;
	struct tep_format_field	*ip, *parent_ip, *entered, *depth, *left;
	int			function_id, entry_id, exit_id;
	struct open		*open;		/* of each task */
	size_t			nr_open;
	struct tep_handle	*tep;
	int			pid;
	uint64_t		last;
	bool			shows;
	size_t			shown;
	uint32_t		*tasks;		/* number + 1 of each task, see task_of() */
	size_t			nr_keys;
};

/* CPUs have an idle task each, and its PID is always 0. */
static uint32_t task_of(struct snapshot *s, int pid, int cpu)
{
	struct flight *flight = &s->flight;
	size_t key = pid > 0 ? MAX_CPUS + (size_t)pid : (size_t)cpu;

	if (key >= s->nr_keys) {
		size_t nr = 2 * key + MAX_CPUS;

		s->tasks = xrealloc(s->tasks, nr, sizeof(*s->tasks));
		memset(s->tasks + s->nr_keys, 0, (nr - s->nr_keys) * sizeof(*s->tasks));
		s->nr_keys = nr;
	}
	if (!s->tasks[key]) {
		flight->tasks = grow(flight->tasks, flight->nr_tasks, sizeof(*flight->tasks));
		flight->tasks[flight->nr_tasks++] =
			(struct task){ pid, pid > 0 ? "<...>" : "<idle>" };
		s->tasks[key] = flight->nr_tasks;
	}
	return s->tasks[key] - 1;
}

/* The calls of a task that have not returned: numbers of calls, and how deep the kernel says. */
struct open {
	struct {
		size_t		call;
		unsigned int	depth;
	} calls[256];
	unsigned int		nr;
};

static struct open *open_calls(struct snapshot *s, uint32_t task)
{
	while (task >= s->nr_open) {
		s->open = grow(s->open, s->nr_open, sizeof(*s->open));
		s->open[s->nr_open++].nr = 0;
	}
	return &s->open[task];
}

/* A function was entered. What the kernel saw on this CPU is not above it any more. */
static uint32_t enter(struct snapshot *s, struct open *open, unsigned int depth, int cpu)
{
	const struct call *calls = s->flight.calls;
	uint32_t caller;

	while (open->nr && calls[open->calls[open->nr - 1].call].cpu == cpu &&
	       open->calls[open->nr - 1].depth >= depth)
		open->nr--;
	caller = open->nr ? calls[open->calls[open->nr - 1].call].func : 0;
	if (open->nr == ARRAY_SIZE(open->calls))
		open->nr = 0;
	open->calls[open->nr].call = s->flight.nr_calls;
	open->calls[open->nr++].depth = depth;
	return caller;
}

/* If the call is older than all that is known, nothing that is open was called outside of it. */
static void leave(struct snapshot *s, struct open *open, uint32_t func, uint64_t time)
{
	while (open->nr) {
		struct call *call = &s->flight.calls[open->calls[--open->nr].call];

		if (call->func != func)
			continue;
		call->end = time > call->time ? time : call->time;
		return;
	}
}

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

static void note(struct tep_record *record, void *data)
{
	struct snapshot *s = data;
	struct flight *flight = &s->flight;
	unsigned long long ip, caller, depth = 0;
	int pid, id = tep_data_type(s->tep, record);
	struct call *call;
	uint32_t task;

	if (interrupted)
		die("interrupted");
	if (id != s->function_id && id != s->entry_id && id != s->exit_id)
		return;
	pid = tep_data_pid(s->tep, record);
	if (s->pid && pid != s->pid)
		return;
	task = task_of(s, pid, record->cpu);
	if (id == s->exit_id) {
		tep_read_number_field(s->left, record->data, &ip);
		leave(s, open_calls(s, task), ip, record->ts);
		return;
	}
	if (id == s->entry_id) {
		tep_read_number_field(s->entered, record->data, &ip);
		tep_read_number_field(s->depth, record->data, &depth);
		caller = enter(s, open_calls(s, task), depth, record->cpu);
	} else {
		tep_read_number_field(s->ip, record->data, &ip);
		tep_read_number_field(s->parent_ip, record->data, &caller);
	}
	flight->calls = grow(flight->calls, flight->nr_calls, sizeof(*flight->calls));
	call = &flight->calls[flight->nr_calls++];
	/* Names come later: meanwhile the rings are overwritten. */
	*call = (struct call){ .time = record->ts, .task = task, .func = ip, .caller = caller,
			       .cpu = record->cpu };
	if (flight->nr_calls > 1 && call->time < call[-1].time)
		call->time = call[-1].time;
	if (s->shows && flight->nr_calls >> 20 != s->shown) {
		s->shown = flight->nr_calls >> 20;
		fprintf(stderr, "\r%zu million calls", s->shown);
	}
}

/* Has the instance the calls of the last kernel? This one knows other tasks. */
static bool is_of_last_kernel(void)
{
	int fd = tracefs_instance_file_open(instance, "trace", O_RDONLY);
	char head[4096];
	ssize_t got = read(fd, head, sizeof(head) - 1);

	close(fd);
	head[got > 0 ? got : 0] = 0;
	return strstr(head, "# recorded by the last kernel");
}

static void read_comms(struct snapshot *s)
{
	char *text = NULL, *line;

	if (!is_of_last_kernel())
		text = tracefs_instance_file_read(NULL, "saved_cmdlines", NULL);
	for (line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n")) {
		char *comm;
		size_t key = MAX_CPUS + strtoul(line, &comm, 10);

		if (*comm == ' ' && key > MAX_CPUS && key < s->nr_keys && s->tasks[key])
			s->flight.tasks[s->tasks[key] - 1].comm = comm + 1;
	}
}

static char *describe(void)
{
	time_t now = time(NULL);
	struct utsname uts;
	char date[32], *info;

	uname(&uts);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	if (asprintf(&info, "host=%s\nkernel=%s %s\ndate=%s\nclock=%s\n", uts.nodename, uts.release,
		     uts.version, date, tracefs_get_clock(instance)) < 0)
		die("no memory");
	return info;
}

/* Recording goes on when the program ends. */
static bool is_paused;

static void resume_recording(void)
{
	if (is_paused)
		tracefs_instance_file_write(instance, "tracing_on", "1");
	is_paused = false;
}

static void pause_recording(void)
{
	is_paused = true;
	atexit(resume_recording);
	set("tracing_on", "0");
}

/* Takes what is recorded up to now. Without memory for that, recording waits for the reader. */
static struct pages *take_pages(const bool *cpus)
{
	struct pages *pages;

	if (tracefs_trace_is_on(instance) <= 0)
		return open_pages(instance, "trace_pipe_raw", cpus);
	if (tracefs_instance_file_write(instance, "snapshot", "1") < 0) {
		fprintf(stderr, "flight: no snapshot (%s): nothing is recorded meanwhile\n",
			strerror(errno));
		pause_recording();
		return open_pages(instance, "trace_pipe_raw", cpus);
	}
	pages = open_pages(instance, "snapshot_raw", cpus);
	/* Each file has a copy, so the other rings can go. */
	tracefs_instance_file_write(instance, "snapshot", "0");
	return pages;
}

/* Records until a function is called, or an event comes. */
static void wait_for(const char *func, char *event, const char *filter)
{
	char command[512], file[256];
	const char *what = func;

	if (func) {
		snprintf(file, sizeof(file), "set_ftrace_filter");
		snprintf(command, sizeof(command), "%s:traceoff:1", func);
	} else {
		char *name = strchr(event, ':');

		if (!name)
			die("no event: %s", event);
		*name++ = 0;
		what = name;
		snprintf(file, sizeof(file), "events/%s/%s/trigger", event, name);
		snprintf(command, sizeof(command), "traceoff:1%s%s", filter ? " if " : "",
			 filter ? filter : "");
	}
	if (tracefs_trace_is_on(instance) <= 0)
		die("recording is off: nothing can stop it");
	append(file, command);
	fprintf(stderr, "waiting for %s\n", what);
	while (!interrupted && tracefs_trace_is_on(instance) > 0)
		usleep(10000);
	/* It may be gone, as it was executed. */
	memmove(command + 1, command, strlen(command) + 1);
	command[0] = '!';
	tracefs_instance_file_append(instance, file, command);
	interrupted = 0;
	pause_recording();
}

static int find_event(const struct snapshot *s, const char *name, const char *first,
		      struct tep_format_field **one, const char *second,
		      struct tep_format_field **two)
{
	struct tep_event *event = tep_find_event_by_name(s->tep, "ftrace", name);

	if (!event)
		return -1;
	*one = tep_find_field(event, first);
	*two = tep_find_field(event, second);
	return event->id;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct option options[] = {
		{ "last", required_argument, NULL, 'l' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "trigger", required_argument, NULL, 't' },
		{ "event", required_argument, NULL, 'e' },
		{ }
	};
	static const char * const systems[] = { "ftrace", NULL };
	const char *out = NULL, *func = NULL, *filter = NULL;
	struct snapshot s = { .shows = isatty(2) };
	struct flight *flight = &s.flight;
	bool *cpus = NULL;
	char *event = NULL;
	size_t skip = 0;
	int opt;

	while ((opt = getopt_long(argc, argv, "o:p:", options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			out = optarg;
			break;
		case 'p':
			s.pid = parse_number(optarg, INT_MAX);
			break;
		case 'l':
			s.last = parse_number(optarg, UINT32_MAX) * 1000000;
			break;
		case 'c':
			cpus = parse_cpus(optarg);
			break;
		case 't':
			func = optarg;
			break;
		case 'e':
			event = optarg;
			if (optind < argc && argv[optind][0] != '-')
				filter = argv[optind++];
			break;
		default:
			return 2;
		}
	}
	if (!out)
		die("where to? flight snapshot -o FILE");
	find_instance();
	s.tep = tracefs_local_events_system(NULL, systems);
	if (!s.tep)
		die("no events: %s", strerror(errno));
	s.function_id = find_event(&s, "function", "ip", &s.ip, "parent_ip", &s.parent_ip);
	if (s.function_id < 0)
		die("no event ftrace:function");
	s.entry_id = find_event(&s, "funcgraph_entry", "func", &s.entered, "depth", &s.depth);
	s.exit_id = find_event(&s, "funcgraph_exit", "func", &s.left, "func", &s.left);
	signal(SIGINT, on_signal);
	if (func || event)
		wait_for(func, event, filter);
	read_pages(take_pages(cpus), note, &s);
	resume_recording();
	read_symbols();
	for (size_t i = 0; i < flight->nr_calls; i++) {
		flight->calls[i].func = name_of(flight, flight->calls[i].func);
		flight->calls[i].caller = name_of(flight, flight->calls[i].caller);
	}
	read_comms(&s);
	flight->info = describe();
	if (s.last)
		while (skip < flight->nr_calls && flight->calls[skip].time + s.last <
		       flight->calls[flight->nr_calls - 1].time)
			skip++;
	flight->calls += skip;
	flight->nr_calls -= skip;
	flight_write(flight, out);
	if (s.shows)
		fprintf(stderr, "\r");
	printf("%zu calls of %zu tasks\n", flight->nr_calls, flight->nr_tasks);
	return 0;
}
