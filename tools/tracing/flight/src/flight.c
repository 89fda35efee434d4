// SPDX-License-Identifier: GPL-2.0-only
/* flight: records all calls of functions of the kernel, and shows the last ones. */
#define _GNU_SOURCE
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flight.h"

static const char usage[] =
	"usage: flight start [-F FUNC]... [-p PID]... [--time] [--returns]\n"
	"                    [--slower US] [--size MB] [--cpu LIST]\n"
	"       flight snapshot [--last MS] [--cpu LIST] [-p PID]\n"
	"                       [--trigger FUNC | --event SYSTEM:EVENT [FILTER]] -o FILE\n"
	"       flight show [-p TASK] [--flat [--reverse] | --slowest NR] FILE\n"
	"       flight export [-p TASK] --chrome | --folded -o OUT FILE\n"
	"       flight status\n"
	"       flight stop\n";

/* What is shown goes to a pager, as git does it. */
static FILE *open_pager(void)
{
	const char *pager = getenv("PAGER");
	FILE *out;

	if (!isatty(1))
		return stdout;
	setenv("LESS", "FRSX", 0);
	out = popen(pager && *pager ? pager : "less", "w");
	return out ? out : stdout;
}

static void close_pager(FILE *out)
{
	if (out == stdout)
		fflush(out);
	else
		pclose(out);
}

/* Is it the task of that number, or one of that name? */
static bool is_task(const struct task *task, const char *wanted)
{
	char pid[12];

	snprintf(pid, sizeof(pid), "%d", task->pid);
	return !strcmp(pid, wanted) || !strcmp(task->comm, wanted);
}

/* The calls of all tasks, or only of those that are wanted. */
static struct flight *read_calls(const char *path, const char *wanted)
{
	struct flight *flight = flight_read(path);
	size_t nr = 0;

	for (size_t i = 0; i < flight->nr_calls; i++)
		if (!wanted || is_task(&flight->tasks[flight->calls[i].task], wanted))
			flight->calls[nr++] = flight->calls[i];
	if (wanted && !nr)
		die("%s: no calls of %s", path, wanted);
	flight->nr_calls = nr;
	return flight;
}

static int cmd_show(int argc, char **argv)
{
	static const struct option options[] = {
		{ "flat", no_argument, NULL, 'f' },
		{ "reverse", no_argument, NULL, 'r' },
		{ "slowest", required_argument, NULL, 's' },
		{ }
	};
	bool flat = false, reverse = false;
	const char *task = NULL;
	int opt, slowest = 0;
	struct flight *flight;
	FILE *out;

	while ((opt = getopt_long(argc, argv, "p:", options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			flat = true;
			break;
		case 'r':
			reverse = true;
			break;
		case 'p':
			task = optarg;
			break;
		case 's':
			slowest = parse_number(optarg, INT_MAX);
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc)
		die("which file? flight show FILE");
	flight = read_calls(argv[optind], task);
	out = open_pager();
	for (const char *line = flight->info; *line; line += strcspn(line, "\n"), line += !!*line)
		fprintf(out, "# %.*s\n", (int)strcspn(line, "\n"), line);
	if (slowest > 0)
		show_slowest(flight, slowest, out);
	else if (flat || reverse)
		show_flat(flight, reverse, out);
	else
		show_tree(flight, out);
	close_pager(out);
	return 0;
}

static int cmd_export(int argc, char **argv)
{
	static const struct option options[] = {
		{ "chrome", no_argument, NULL, 'c' },
		{ "folded", no_argument, NULL, 'f' },
		{ }
	};
	const char *out = NULL, *task = NULL;
	int opt, how = 0;

	while ((opt = getopt_long(argc, argv, "o:p:", options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			out = optarg;
			break;
		case 'p':
			task = optarg;
			break;
		case '?':
			return 2;
		default:
			how = opt;
		}
	}
	if (!out || !how || optind + 1 != argc)
		die("flight export --chrome | --folded -o OUT FILE");
	(how == 'c' ? export_chrome : export_folded)(read_calls(argv[optind], task), out);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char	*name;
		int		(*run)(int argc, char **argv);
	} commands[] = {
		{ "start", cmd_start }, { "snapshot", cmd_snapshot }, { "show", cmd_show },
		{ "export", cmd_export }, { "status", cmd_status }, { "stop", cmd_stop },
	};

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
		printf("%s", usage);
		return 0;
	}
	fprintf(stderr, "%s", usage);
	return 2;
}
