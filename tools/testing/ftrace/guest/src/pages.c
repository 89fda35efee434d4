// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: pages [-s|-w] FILE
 *
 * Read the pages of the ring buffer that FILE, a trace_pipe_raw, has, and print a line for each
 * event: its time, the pid, and "IP <-PARENT" of a call, or the number of another event. With -s
 * the pages are spliced to a pipe, as trace-cmd does it. With -w it waits for pages until the end.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL		1	/* the number of the event "function" */
#define TIME_EXTEND	30
#define PADDING		29

/* events/header_page, and events/header_event */
struct page {
	uint64_t	time;
	uint64_t	commit;
	uint32_t	data[];
};

struct entry {
	uint16_t	type;
	uint8_t		flags;
	uint8_t		preempt_count;
	int32_t		pid;
	uint64_t	ip;
	uint64_t	parent_ip;
};

static void show(uint64_t time, const void *data)
{
	struct entry entry;

	memcpy(&entry, data, sizeof(entry));
	/* Rounded as the file trace does it. */
	time += 500;
	printf("%llu.%06llu %d ", (unsigned long long)time / 1000000000,
	       (unsigned long long)time / 1000 % 1000000, entry.pid);
	if (entry.type == CALL)
		printf("%llx <-%llx\n", (unsigned long long)entry.ip,
		       (unsigned long long)entry.parent_ip);
	else
		printf("event %u\n", entry.type);
}

static void show_page(const struct page *page, size_t size)
{
	const uint32_t *at = page->data, *end;
	size_t used = page->commit & 0xfffff;
	uint64_t time = page->time;

	if (sizeof(*page) + used > size)
		errx(1, "a page has %zu bytes of events", used);
	end = (const uint32_t *)((const char *)page->data + used);
	while (at < end) {
		uint32_t type = *at & 31, delta = *at >> 5;

		at++;
		if (type == TIME_EXTEND) {
			time += ((uint64_t)*at++ << 27) + delta;
			continue;
		}
		if (type == PADDING)
			break;
		time += delta;
		show(time, at + !type);
		at += type ? type : *at / 4;
	}
	if (at > end)
		errx(1, "an event is longer than its page");
}

int main(int argc, char **argv)
{
	bool splices = argc == 3 && !strcmp(argv[1], "-s");
	bool waits = argc == 3 && !strcmp(argv[1], "-w");
	size_t size = sysconf(_SC_PAGESIZE);
	struct page *page = malloc(size);
	int fd, pipes[2];
	ssize_t got;

	if (argc != 2 + splices + waits || !page)
		errx(2, "usage: pages [-s|-w] FILE");
	fd = open(argv[argc - 1], O_RDONLY | (waits ? 0 : O_NONBLOCK));
	if (fd < 0 || pipe(pipes))
		err(1, "%s", argv[argc - 1]);
	for (;;) {
		if (splices) {
			got = splice(fd, NULL, pipes[1], NULL, size, SPLICE_F_NONBLOCK);
			if (got > 0)
				got = read(pipes[0], page, size);
		} else {
			got = read(fd, page, size);
		}
		if (got <= 0)
			break;
		if ((size_t)got != size)
			errx(1, "a page of %zd bytes", got);
		show_page(page, size);
		fflush(stdout);
	}
	if (got < 0)
		err(1, "read");
	return 0;
}
