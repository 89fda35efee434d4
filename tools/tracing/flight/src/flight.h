/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the program know of a file of calls. */
#ifndef FLIGHT_H
#define FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A call: when, where, by which task; the function and its caller are numbers of names. */
struct call {
	uint64_t	time;	/* ns, or what the clock counts */
	uint64_t	end;	/* the return; 0 if it was not recorded */
	uint32_t	task;	/* number of a task */
	uint32_t	func;
	uint32_t	caller;
	uint16_t	cpu;
};

struct task {
	int32_t		pid;
	const char	*comm;
};

/* Calls of all CPUs, in the order of their times. */
struct flight {
	char		*info;	/* lines "key=value": where, when and how they were recorded */
	const char	**names;
	struct task	*tasks;
	struct call	*calls;
	size_t		nr_names, nr_tasks, nr_calls;
};

/*
 * A piece of a task's time: a function from its call on. Without a return its end is inferred: a
 * function has ended when one of its callers makes its next call.
 */
struct span {
	uint64_t	start, end;
	uint32_t	func, task;
	uint32_t	parent;		/* number of a span, or NO_SPAN */
	uint16_t	depth;
	uint16_t	cpu;
	bool		interrupt;	/* or called by one */
	bool		returns;	/* the end is recorded */
};

#define NO_SPAN	UINT32_MAX

/* util.c */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *xrealloc(void *p, size_t nr, size_t size);
void *grow(void *p, size_t nr, size_t size);
unsigned long parse_number(const char *text, unsigned long most);

/* file.c */
void flight_write(const struct flight *flight, const char *path);
struct flight *flight_read(const char *path);

/* names.c */
void read_symbols(void);
uint32_t name_of(struct flight *flight, uint32_t address);

/* pages.c */
struct pages;
struct tep_record;
struct tracefs_instance;

struct pages *open_pages(struct tracefs_instance *instance, const char *name, const bool *cpus);
void read_pages(struct pages *all, void (*tell)(struct tep_record *, void *), void *data);

/* tree.c */
struct span *flight_spans(const struct flight *flight);

/* show.c */
void show_flat(const struct flight *flight, bool reverse, FILE *out);
void show_tree(const struct flight *flight, FILE *out);
void show_slowest(const struct flight *flight, unsigned int nr, FILE *out);
void export_chrome(const struct flight *flight, const char *path);
void export_folded(const struct flight *flight, const char *path);

/* record.c */
int cmd_start(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);

#endif
