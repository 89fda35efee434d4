// SPDX-License-Identifier: GPL-2.0-only
/* Events of all CPUs in the order of their times, from files that have pages of the ring buffer. */
#include <errno.h>
#include <event-parse.h>
#include <fcntl.h>
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "flight.h"

struct pages {
	int			fd;
	int			cpu;
	struct kbuffer		*kbuf;
	void			*page;
	void			*event;	/* the next one; NULL if there is none */
	unsigned long long	time;
};

/* The kernel adds events to its pages when they are read, and has an empty page at the end. */
static void next_page(struct pages *p)
{
	ssize_t got;

	do {
		got = read(p->fd, p->page, sysconf(_SC_PAGESIZE));
	} while (got < 0 && errno == EINTR);
	if (got < 0 && errno != EAGAIN)
		die("cannot read pages of CPU %d: %s", p->cpu, strerror(errno));
	p->event = NULL;
	if (got <= 0)
		return;
	kbuffer_load_subbuffer(p->kbuf, p->page);
	p->event = kbuffer_read_event(p->kbuf, &p->time);
}

/* Opens per_cpu/cpuN/NAME of the CPUs that are wanted, or of all; ends with one without a page. */
struct pages *open_pages(struct tracefs_instance *instance, const char *name, const bool *cpus)
{
	int nr = sysconf(_SC_NPROCESSORS_CONF), used = 0;
	struct pages *all = calloc(nr + 1, sizeof(*all));

	for (int cpu = 0; all && cpu < nr; cpu++) {
		struct pages *p = &all[used];
		char file[64];

		if (cpus && !cpus[cpu])
			continue;
		snprintf(file, sizeof(file), "per_cpu/cpu%d/%s", cpu, name);
		p->fd = tracefs_instance_file_open(instance, file, O_RDONLY | O_NONBLOCK);
		/* CPUs that cannot come online have no files. */
		if (p->fd < 0 && errno == ENOENT)
			continue;
		if (p->fd < 0)
			die("cannot open %s: %s", file, strerror(errno));
		p->cpu = cpu;
		p->kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
		p->page = xrealloc(NULL, sysconf(_SC_PAGESIZE), 1);
		if (!p->kbuf)
			die("no memory");
		used++;
	}
	if (!all)
		die("no memory");
	return all;
}

/* Tells of each event, and closes the files. */
void read_pages(struct pages *all, void (*tell)(struct tep_record *, void *), void *data)
{
	struct pages *first;

	for (struct pages *p = all; p->page; p++)
		next_page(p);
	do {
		first = NULL;
		for (struct pages *p = all; p->page; p++)
			if (p->event && (!first || p->time < first->time))
				first = p;
		if (first) {
			struct tep_record record = {
				.ts = first->time, .cpu = first->cpu, .data = first->event,
				.size = kbuffer_event_size(first->kbuf) };

			tell(&record, data);
			first->event = kbuffer_next_event(first->kbuf, &first->time);
			if (!first->event)
				next_page(first);
		}
	} while (first);
	for (struct pages *p = all; p->page; p++) {
		close(p->fd);
		kbuffer_free(p->kbuf);
		free(p->page);
	}
	free(all);
}
