// SPDX-License-Identifier: GPL-2.0-only
/*
 * ftfuzz: write valid, nearly valid and hostile words to the control files of function tracing.
 *
 * The idea: the files check each other. There are two instances, "one" and "two". Each write to
 * a file of "one" that the kernel accepted is repeated on "two", and each write that the kernel
 * refused is not. If a refused write had an effect, the two instances differ. A file of which all
 * writes were refused must read as before.
 *
 * A round is some writes, then a reset. After it all files must read as they did at the start. A
 * round depends only on the seed and its number, so a round that failed can be run alone. "ftfuzz
 * together" writes from several processes at once, to more instances, which come and go. What their
 * files read says nothing until all processes have ended. So each process also has an instance of
 * its own, whose filters nobody else changes: there a refused write must have no effect, too.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ftfuzz-words.h"

#define ROUND		100	/* writes a round and process */
#define SYSCTL		"/proc/sys/kernel"
#define ENABLED		SYSCTL "/ftrace_enabled"

static const char usage[] =
	"usage: ftfuzz alone TRACING SEED FIRST END\n"
	"       ftfuzz together TRACING SEED FIRST END PROCESSES\n"
	"  rounds FIRST to END - 1; a round of each process is 100 writes\n";

static const char *tracing;
static uint64_t seed, round_nr;
/* Of all processes. */
static struct counts {
	unsigned long writes;
	unsigned long refused;
} *counts;

/* In "together" a process knows only what the filters of its own instance have to read. */
static bool alone;
static unsigned int processes;
static char own[256];

/* In "together" this module comes and goes, and so do its functions. */
#define MODULE	"ftmod_a"

static void die(const char *what)
{
	fprintf(stderr, "ftfuzz: %s: %s\n", what, strerror(errno));
	exit(3);
}

/* --- what is wrong ---------------------------------------------------------------------------- */

/* What was done to the open file, as text for a person. */
static struct text history;

static void wrong(const char *format, ...)
{
	va_list args;

	printf("seed %llu round %llu: ", (unsigned long long)seed, (unsigned long long)round_nr);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\nafter: ");
	fwrite(history.bytes, 1, history.len, stdout);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

static void note_write(const char *bytes, size_t len, ssize_t ret)
{
	add(&history, " '");
	add_quoted(&history, bytes, len);
	add(&history, "'");
	if (ret < 0)
		add(&history, "=%s", strerrorname_np(errno));
	else if ((size_t)ret != len)
		add(&history, "=%zd", ret);
}

/* --- files ------------------------------------------------------------------------------------ */

/* A count in a command goes down when its function is called. */
static void hide_counts(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		if (!strncmp(from, ":count=", 7)) {
			from += 7 + strspn(from + 7, "0123456789");
			memcpy(to, ":count", 6);
			to += 6;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
}

/* Leave out the lines about the module. */
static void hide_module(char *text)
{
	char *to = text;

	for (char *line = text, *next; *line; line = next) {
		size_t len = strcspn(line, "\n") + 1;

		next = line + strnlen(line, len);
		if (memmem(line, next - line, MODULE, strlen(MODULE)))
			continue;
		memmove(to, line, next - line);
		to += next - line;
	}
	*to = 0;
}

/* The contents of a file, to be freed; nothing if the file cannot be opened. */
static char *contents(const char *path)
{
	size_t len = 0, room = 4096;
	char *text = malloc(room + 1);
	int fd = open(path, O_RDONLY);
	ssize_t n = 0;

	if (!text)
		die("memory");
	while (fd >= 0 && (n = read(fd, text + len, room - len)) > 0) {
		len += n;
		if (len < room)
			continue;
		room *= 2;
		text = realloc(text, room + 1);
		if (!text)
			die("memory");
	}
	if (n < 0 && alone)
		wrong("reading %s: %s", path, strerrorname_np(errno));
	if (fd >= 0)
		close(fd);
	text[len] = 0;
	hide_counts(text);
	if (!alone)
		hide_module(text);
	return text;
}

/* A path, good until seven more were made. */
static char *in(const char *dir, const char *name)
{
	static char paths[8][512];
	static unsigned int next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), "%.250s/%.250s", dir, name);
	return path;
}

/* Write as a reset does: what cannot be removed because it is not there is no matter. */
static void set(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | flags);

	if (fd < 0)
		return;
	if (*text && write(fd, text, strlen(text)) < 0)
		errno = 0;
	close(fd);
}

/* --- the files that are written to ------------------------------------------------------------ */

/* It holds a filter: words are collected, and take effect when the file is closed. */
#define FILTER	1
/* It exists once, in the top directory. */
#define TOP	2

static const struct target {
	const char *name;
	void (*word)(struct text *t);
	unsigned int weight;
	unsigned int flags;
} targets[] = {
	{ "set_ftrace_filter", filter_word, 40, FILTER },
	{ "set_ftrace_notrace", filter_word, 16, FILTER },
	{ "set_ftrace_pid", pid_word, 10, 0 },
	{ "set_ftrace_notrace_pid", pid_word, 8, 0 },
	{ "current_tracer", tracer_word, 5, 0 },
	{ "trace_options", option_word, 6, 0 },
	{ "set_graph_function", filter_word, 7, FILTER | TOP },
	{ "set_graph_notrace", filter_word, 5, FILTER | TOP },
	{ "stack_trace_filter", filter_word, 4, FILTER | TOP },
	{ "max_graph_depth", number_word, 2, TOP },
	{ ENABLED, number_word, 3, TOP },
	{ SYSCTL "/stack_tracer_enabled", number_word, 1, TOP },
};

static const struct target *some_target(void)
{
	unsigned int sum = 0, at;

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		sum += targets[i].weight;
	at = below(sum);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (at < targets[i].weight)
			return &targets[i];
		at -= targets[i].weight;
	}
	return NULL;
}

static const char *const instance_names[] = { "one", "two", "three", "four" };
static char top[256], instance[ARRAY_SIZE(instance_names)][256];

static const char *path_in(const char *dir, const struct target *target)
{
	return *target->name == '/' ? target->name : in(dir, target->name);
}

/* --- reset ------------------------------------------------------------------------------------ */

static char *first_state;

static struct option {
	char name[64];
	char value[8];
} options[64];

static size_t option_count;

static void read_options(void)
{
	DIR *dir = opendir(in(top, "options"));
	struct dirent *entry;

	if (!dir)
		die("options");
	while ((entry = readdir(dir)) && option_count < ARRAY_SIZE(options)) {
		struct option *option = &options[option_count];
		char *value;

		/* Of all instances one has trace_printk_dest. */
		if (*entry->d_name == '.' || !strcmp(entry->d_name, "trace_printk_dest"))
			continue;
		snprintf(option->name, sizeof(option->name), "options/%.50s", entry->d_name);
		value = contents(in(top, option->name));
		snprintf(option->value, sizeof(option->value), "%s", value);
		free(value);
		option_count++;
	}
	closedir(dir);
}

static void reset_dir(const char *dir)
{
	char word[128];

	set(in(dir, "current_tracer"), "nop", 0);
	for (const char *const *command = command_names; *command; command++) {
		snprintf(word, sizeof(word), "!*:%s\n", *command);
		set(in(dir, "set_ftrace_filter"), word, O_APPEND);
		snprintf(word, sizeof(word), "!*:%s:0\n", *command);
		set(in(dir, "set_ftrace_filter"), word, O_APPEND);
	}
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		if (targets[i].word == filter_word || targets[i].word == pid_word)
			set(in(dir, targets[i].name), "", O_TRUNC);
	for (size_t i = 0; i < option_count; i++)
		set(in(dir, options[i].name), options[i].value, 0);
	set(in(dir, "tracing_on"), "1", 0);
	set(in(dir, "trace"), "", O_TRUNC);
}

static void set_own(unsigned int process)
{
	snprintf(own, sizeof(own), "%.200s/instances/own%u", tracing, process);
}

static void reset(void)
{
	set(ENABLED, "1", 0);
	set(SYSCTL "/stack_tracer_enabled", "0", 0);
	set(in(top, "max_graph_depth"), "0", 0);
	reset_dir(top);
	for (unsigned int i = 0; i < processes; i++) {
		set_own(i);
		rmdir(own);
	}
	for (size_t i = 0; i < ARRAY_SIZE(instance_names); i++) {
		if (i < 2)
			mkdir(instance[i], 0755);
		else
			rmdir(instance[i]);
		if (i < 2)
			reset_dir(instance[i]);
	}
}

/* What all files read, to be freed. */
static char *whole_state(void)
{
	char *buf, *text;
	size_t size;
	FILE *out = open_memstream(&buf, &size);

	if (!out)
		die("memory");
	for (size_t d = 0; d < 3; d++) {
		const char *dir = d ? instance[d - 1] : top;

		for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
			if (d && targets[i].flags & TOP)
				continue;
			text = contents(path_in(dir, &targets[i]));
			fprintf(out, "== %s\n%s", path_in(dir, &targets[i]), text);
			free(text);
		}
		for (size_t i = 0; i < option_count; i++) {
			text = contents(in(dir, options[i].name));
			fprintf(out, "== %s\n%s", in(dir, options[i].name), text);
			free(text);
		}
	}
	text = contents(in(top, "enabled_functions"));
	fprintf(out, "== enabled_functions\n%s", text);
	free(text);
	fclose(out);
	return buf;
}

/* Fail if two states differ, and show the first lines that do. NOW is freed. */
static void check_same(const char *what, char *now, const char *before)
{
	const char *line = now;

	for (const char *a = now, *b = before; *a || *b; a++, b++) {
		if (*a != *b)
			wrong("%s; it reads '%.200s', wanted '%.200s'", what, line, b - (a - line));
		if (*a == '\n')
			line = a + 1;
	}
	free(now);
}

/* --- writing -------------------------------------------------------------------------------- */

/* An open file, and what the kernel took in it: pieces, to be written to the other instance. */
static struct opened {
	const struct target *target;
	char path[512];
	int fd;
	struct text text;
	size_t end[4096];
	size_t count;
	/* So many are complete. The others are a word that has no end yet. */
	size_t complete;
	bool refused;
	/* It is known what the file has to read. */
	bool checked;
	/* What the file reads; NULL if that may have changed. */
	char *reads;
} file;

/* By this process in this round. */
static unsigned int written;

static void took(const char *bytes, size_t len)
{
	if (file.count == ARRAY_SIZE(file.end) || file.text.len + len > TEXT_MAX)
		wrong("the kernel takes more than ftfuzz has room for");
	add_bytes(&file.text, bytes, len);
	file.end[file.count++] = file.text.len;
	if (!(file.target->flags & FILTER) || ends_word(bytes[len - 1]))
		file.complete = file.count;
	/* Until it is closed a filter does not change, but commands take effect. */
	if (!(file.target->flags & FILTER) || memchr(file.text.bytes, ':', file.text.len)) {
		free(file.reads);
		file.reads = NULL;
	}
}

static void refused(int err)
{
	/* The guide has all but EFAULT. */
	static const int documented[] = { EINVAL, ENODEV, ENOMEM, EBUSY, EPERM, ERANGE, EFAULT };
	/* The instance has gone. */
	bool known = err == ENOENT && !alone;

	/* A kernel that cannot switch tracing off says so: Linux 7.3. */
	known |= err == EOPNOTSUPP && !strcmp(file.target->name, ENABLED);
	for (size_t i = 0; i < ARRAY_SIZE(documented); i++)
		known |= err == documented[i];
	if (!known)
		wrong("%s: %s is no error that is documented", file.path, strerrorname_np(err));
	file.refused = true;
	file.count = file.complete;
	file.text.len = file.count ? file.end[file.count - 1] : 0;
	__atomic_add_fetch(&counts->refused, 1, __ATOMIC_RELAXED);
}

/* Was anything accepted? Blanks are nothing to a filter. */
static bool took_something(void)
{
	if (!(file.target->flags & FILTER))
		return file.count;
	for (size_t i = 0; i < file.text.len; i++)
		if (!ends_word(file.text.bytes[i]))
			return true;
	return false;
}

/* The last bytes of a page, with nothing behind it. */
static char *at_end_of_page(const char *bytes, size_t len)
{
	static char *page;

	if (!page) {
		page = mmap(NULL, TEXT_MAX + 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED || mprotect(page + TEXT_MAX, 4096, PROT_NONE))
			die("mmap");
	}
	return memcpy(page + TEXT_MAX - len, bytes, len);
}

/*
 * Much more than there is, but inside of user space: otherwise the write ends before it reaches the
 * file, and for the file there was no write.
 */
#define MUCH	(sizeof(long) > 4 ? 0x7fffffffUL : 0x100000UL)

/* Write LEN bytes, or as many as the kernel takes. A filter takes a word at a time. */
static void write_piece(const char *bytes, size_t len)
{
	while (len) {
		size_t count = len;
		ssize_t n;

		/* More than there is: the kernel may take it, or meet the end of the page. */
		if (one_in(50))
			count = one_in(2) ? len + 1 + below(4096) : MUCH;
		if (file.checked && !file.reads)
			file.reads = contents(file.path);
		n = write(file.fd, at_end_of_page(bytes, len), count);
		note_write(bytes, len, n);
		__atomic_add_fetch(&counts->writes, 1, __ATOMIC_RELAXED);
		written++;
		if (n < 0) {
			refused(errno);
			if (file.checked)
				check_same("a refused write had an effect", contents(file.path),
					   file.reads);
			return;
		}
		if (!n || n > (ssize_t)len)
			wrong("%s: of %zu bytes the kernel took %zd", file.path, len, n);
		took(bytes, n);
		bytes += n;
		len -= n;
	}
}

/* Words for the open file. Some files take one word a write. */
static void make_text(struct text *t)
{
	static const char *const blanks[] = {
		" ", "\n", "\n", "\n", "\t", "  ", "\r\n", "\v", "\f", "\xa0", "",
	};
	bool many = file.target->word == filter_word || file.target->word == pid_word;

	t->len = 0;
	if (one_in(30))
		return;
	if (one_in(20))
		add(t, "%s", PICK(blanks));
	for (unsigned int n = many && one_in(2) ? 1 + below(5) : 1; n; n--) {
		file.target->word(t);
		if (one_in(40))
			add_char(t, 0, 1);
		else if (n > 1 || !one_in(5))
			add(t, "%s", many ? PICK(blanks) : "\n");
	}
}

static void write_text(const struct text *t)
{
	size_t at = 0;

	while (at < t->len) {
		size_t len = one_in(4) ? 1 + below(t->len - at) : t->len - at;

		write_piece(t->bytes + at, len);
		at += len;
	}
}

/* Do to the other instance what the kernel took. */
static void repeat(int flags)
{
	const char *path = path_in(instance[1], file.target);
	int fd = open(path, flags);
	size_t at = 0;

	if (fd < 0)
		wrong("%s: %s", path, strerrorname_np(errno));
	for (size_t i = 0; i < file.count; i++) {
		size_t len = file.end[i] - at;
		ssize_t n = write(fd, file.text.bytes + at, len);

		if (n != (ssize_t)len)
			wrong("%s: piece %zu of %zu bytes was taken, now %zd are", path, i, len, n);
		at = file.end[i];
	}
	if (close(fd))
		add(&history, ", and on the other close=%s", strerrorname_np(errno));
}

static void check_twins(void)
{
	char *two = contents(path_in(instance[1], file.target));

	check_same("without the refused writes it reads otherwise",
		   contents(path_in(instance[0], file.target)), two);
	free(two);
}

static void start(const char *dir, const struct target *target)
{
	free(file.reads);
	file.reads = NULL;
	file.target = target;
	file.text.len = 0;
	file.count = 0;
	file.complete = 0;
	file.refused = false;
	file.checked = alone || (dir == own && target->flags & FILTER);
	snprintf(file.path, sizeof(file.path), "%s", path_in(dir, target));
	history.len = 0;
}

static void write_words(void)
{
	static struct text text;

	for (unsigned int n = 1 + (one_in(3) ? below(3) : 0); n; n--) {
		make_text(&text);
		write_text(&text);
	}
	if (one_in(50)) {
		char c;

		/* A file that is open for writing only says EBADF. */
		if (read(file.fd, &c, 1) < 0)
			lseek(file.fd, 0, SEEK_SET);
	}
}

/* Open a file, write, close. */
static void step(const char *dir)
{
	static const char what[] = "all writes were refused, but had an effect";
	const struct target *target = some_target();
	int flags = one_in(8) ? O_RDWR : O_WRONLY;
	char *before = NULL, *all = NULL;

	flags |= one_in(2) ? O_TRUNC : one_in(5) ? 0 : O_APPEND;
	if (target->flags & TOP)
		dir = top;
	start(dir, target);
	add(&history, "%s%s:", file.path, flags & O_TRUNC ? ", truncated" : "");
	if (file.checked)
		before = contents(file.path);
	if (alone && one_in(20))
		all = whole_state();

	file.fd = open(file.path, flags);
	if (file.fd < 0) {
		/* A kernel without this file, or an instance that has gone. */
		if (errno != ENOENT)
			refused(errno);
		goto out;
	}
	write_words();
	/* Closed when the process ends. */
	if (!alone && one_in(50))
		goto out;
	if (close(file.fd)) {
		add(&history, " close=%s", strerrorname_np(errno));
		refused(errno);
	}
	if (!file.checked)
		goto out;
	if (file.refused && !took_something()) {
		check_same(what, contents(file.path), before);
		if (all)
			check_same(what, whole_state(), all);
	} else if (dir == instance[0]) {
		repeat(flags);
	}
	if (dir == instance[0])
		check_twins();
out:
	free(all);
	free(before);
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void check_reset(void)
{
	reset();
	check_same("after a reset something is left", whole_state(), first_state);
}

static void write_alone(void)
{
	chance_from(seed, round_nr, 0);
	for (written = 0; written < ROUND; )
		step(one_in(4) ? top : instance[0]);
	check_reset();
}

static void write_as(unsigned int process)
{
	chance_from(seed, round_nr, 1 + process);
	set_own(process);
	if (mkdir(own, 0755))
		die(own);
	for (written = 0; written < ROUND; ) {
		unsigned int i = below(ARRAY_SIZE(instance));

		step(one_in(4) ? top : one_in(2) ? own : instance[i]);
		if (i < 2 || !one_in(4))
			continue;
		if (one_in(2))
			mkdir(instance[i], 0755);
		else
			rmdir(instance[i]);
	}
	_exit(0);
}

static void write_together(void)
{
	int status;

	fflush(stdout);
	for (unsigned int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			write_as(i);
	}
	while (wait(&status) > 0)
		if (status)
			wrong("a process ended with status 0x%x", status);
	history.len = 0;
	add(&history, "%u processes", processes);
	alone = true;
	check_reset();
	alone = false;
}

int main(int argc, char **argv)
{
	uint64_t end;
	char *list;

	if (argc < 6) {
		fputs(usage, stderr);
		return 2;
	}
	alone = !strcmp(argv[1], "alone");
	tracing = argv[2];
	seed = strtoull(argv[3], NULL, 0);
	round_nr = strtoull(argv[4], NULL, 0);
	end = strtoull(argv[5], NULL, 0);
	processes = argc > 6 ? atoi(argv[6]) : 0;
	if (alone == !!processes || (!alone && strcmp(argv[1], "together"))) {
		fputs(usage, stderr);
		return 2;
	}

	snprintf(top, sizeof(top), "%s", tracing);
	for (size_t i = 0; i < ARRAY_SIZE(instance); i++)
		snprintf(instance[i], sizeof(instance[i]), "%s/instances/%s", tracing,
			 instance_names[i]);
	list = contents(in(top, "available_filter_functions_addrs"));
	if (!*list)
		die("available_filter_functions_addrs");
	read_functions(list);
	read_options();
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (counts == MAP_FAILED)
		die("mmap");
	reset();
	first_state = whole_state();

	for (; round_nr < end; round_nr++) {
		if (alone)
			write_alone();
		else
			write_together();
	}
	rmdir(instance[0]);
	rmdir(instance[1]);
	printf("%lu writes, %lu refused\n", counts->writes, counts->refused);
	return 0;
}
