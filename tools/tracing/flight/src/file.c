// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file of calls. It has all that is needed to read it later, on another machine.
 *
 *	"FLIGHT", 0, version	8 bytes
 *	sections, each:
 *		type		4 bytes, numbers are little endian
 *		crc		4 bytes, of the content, as zlib's crc32() has it
 *		size		8 bytes, of the content
 *		packed		8 bytes, of the content as compressed by zlib
 *		content		@packed bytes
 *
 * Types are in this order, each once. The content of CALLS is, for each call, six numbers: the
 * time since the call before, the CPU, the task, the function, its caller, and how long it took
 * plus 1, or 0 if no return was recorded. A byte of a number has 7 bits, the lowest ones first, and
 * bit 7 if there are more. The last section is empty. A reader refuses a file that is anything
 * else.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "flight.h"

#define MAGIC		"FLIGHT\0\2"
#define MAGIC_SIZE	8

enum { INFO = 1, NAMES, TASKS, CALLS, END };

/* More than a recorder can have; and what zlib can make of a byte. */
#define MAX_CONTENT	(16ULL << 30)
#define MAX_RATIO	1100

struct head {
	uint32_t	type, crc;
	uint64_t	size, packed;
};

struct buffer {
	unsigned char	*data;
	size_t		size, used;
};

static void put(struct buffer *b, const void *data, size_t size)
{
	if (b->size - b->used < size) {
		b->size = 2 * (b->size + size);
		b->data = xrealloc(b->data, b->size, 1);
	}
	memcpy(b->data + b->used, data, size);
	b->used += size;
}

static void put_number(struct buffer *b, uint64_t n)
{
	unsigned char bytes[10];
	unsigned int used = 0;

	do {
		bytes[used++] = (n & 0x7f) | (n > 0x7f ? 0x80 : 0);
		n >>= 7;
	} while (n);
	put(b, bytes, used);
}

static bool get_number(struct buffer *b, uint64_t *n)
{
	unsigned int shift = 0;
	unsigned char byte;

	*n = 0;
	do {
		if (b->used == b->size || shift > 63)
			return false;
		byte = b->data[b->used++];
		if (shift == 63 && byte > 1)
			return false;
		*n |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return true;
}

static bool get_index(struct buffer *b, uint32_t *n, size_t below)
{
	uint64_t number;

	if (!get_number(b, &number) || number >= below)
		return false;
	*n = number;
	return true;
}

static void write_section(FILE *f, uint32_t type, struct buffer *b)
{
	struct head head = { .type = type, .size = b->used };
	uLongf packed = compressBound(b->used);
	unsigned char *data = xrealloc(NULL, packed, 1);

	/* Fast: a snapshot of all CPUs is large, and its numbers are small already. */
	if (compress2(data, &packed, b->data ? b->data : data, b->used, 1) != Z_OK)
		die("no memory");
	head.packed = packed;
	for (size_t at = 0; at < b->used; at += INT_MAX) {
		size_t rest = b->used - at;

		head.crc = crc32(head.crc, b->data + at, rest < INT_MAX ? rest : INT_MAX);
	}
	fwrite(&head, sizeof(head), 1, f);
	fwrite(data, 1, packed, f);
	free(data);
	free(b->data);
	*b = (struct buffer){ };
}

void flight_write(const struct flight *flight, const char *path)
{
	FILE *f = fopen(path, "wb");
	struct buffer b = { };
	uint64_t last = 0;

	if (!f)
		die("%s: %s", path, strerror(errno));
	fwrite(MAGIC, MAGIC_SIZE, 1, f);
	put(&b, flight->info, strlen(flight->info) + 1);
	write_section(f, INFO, &b);
	for (size_t i = 0; i < flight->nr_names; i++)
		put(&b, flight->names[i], strlen(flight->names[i]) + 1);
	write_section(f, NAMES, &b);
	for (size_t i = 0; i < flight->nr_tasks; i++) {
		put(&b, &flight->tasks[i].pid, sizeof(flight->tasks[i].pid));
		put(&b, flight->tasks[i].comm, strlen(flight->tasks[i].comm) + 1);
	}
	write_section(f, TASKS, &b);
	for (size_t i = 0; i < flight->nr_calls; i++) {
		const struct call *call = &flight->calls[i];

		put_number(&b, call->time - last);
		put_number(&b, call->cpu);
		put_number(&b, call->task);
		put_number(&b, call->func);
		put_number(&b, call->caller);
		put_number(&b, call->end ? call->end - call->time + 1 : 0);
		last = call->time;
	}
	write_section(f, CALLS, &b);
	write_section(f, END, &b);
	if (ferror(f) | fclose(f))
		die("%s: %s", path, strerror(errno));
}

static struct buffer read_section(FILE *f, const char *path, uint32_t type)
{
	struct buffer b = { };
	unsigned char *data;
	struct head head;
	uint32_t crc = 0;
	uLongf size;

	if (fread(&head, sizeof(head), 1, f) != 1 || head.type != type)
		die("%s: is cut, or no file of flight", path);
	if (head.size > MAX_CONTENT || head.packed > MAX_CONTENT ||
	    head.size / MAX_RATIO > head.packed)
		die("%s: has a section of an impossible size", path);
	/* Do not trust the head of a section: read as much as the file has. */
	data = NULL;
	for (size_t at = 0, part; at < head.packed; at += part) {
		part = head.packed - at < 1 << 24 ? head.packed - at : 1 << 24;
		data = xrealloc(data, at + part, 1);
		if (fread(data + at, 1, part, f) != part)
			die("%s: is cut", path);
	}
	size = head.size;
	b.size = head.size;
	/* One more, so that text ends. */
	b.data = xrealloc(NULL, b.size + 1, 1);
	b.data[b.size] = 0;
	if (uncompress(b.data, &size, data ? data : b.data, head.packed) != Z_OK ||
	    size != head.size)
		die("%s: is damaged", path);
	free(data);
	for (size_t at = 0; at < b.size; at += INT_MAX)
		crc = crc32(crc, b.data + at, b.size - at < INT_MAX ? b.size - at : INT_MAX);
	if (crc != head.crc)
		die("%s: is damaged", path);
	return b;
}

/* Texts that are shown must not have control characters, which a terminal obeys. */
static const char *get_text(struct buffer *b, const char *path)
{
	const char *text = (const char *)b->data + b->used;

	for (; b->used < b->size && b->data[b->used]; b->used++)
		if (b->data[b->used] < ' ' || b->data[b->used] == 0x7f)
			b->data[b->used] = '?';
	if (b->used++ >= b->size)
		die("%s: has a text without end", path);
	return text;
}

struct flight *flight_read(const char *path)
{
	struct flight *flight = calloc(1, sizeof(*flight));
	struct buffer info, names, tasks, calls;
	char magic[MAGIC_SIZE];
	uint64_t time = 0;
	FILE *f = fopen(path, "rb");

	if (!f)
		die("%s: %s", path, strerror(errno));
	if (!flight)
		die("no memory");
	if (fread(magic, sizeof(magic), 1, f) != 1 || memcmp(magic, MAGIC, MAGIC_SIZE - 1))
		die("%s: no file of flight", path);
	if (magic[MAGIC_SIZE - 1] != MAGIC[MAGIC_SIZE - 1])
		die("%s: of version %d, and this program knows %d", path, magic[MAGIC_SIZE - 1],
		    MAGIC[MAGIC_SIZE - 1]);
	info = read_section(f, path, INFO);
	names = read_section(f, path, NAMES);
	tasks = read_section(f, path, TASKS);
	calls = read_section(f, path, CALLS);
	read_section(f, path, END);
	if (getc(f) != EOF)
		die("%s: has something behind its end", path);
	fclose(f);

	flight->info = (char *)info.data;
	while (names.used < names.size) {
		flight->names = grow(flight->names, flight->nr_names, sizeof(*flight->names));
		flight->names[flight->nr_names++] = get_text(&names, path);
	}
	while (tasks.used < tasks.size) {
		struct task task;

		if (tasks.size - tasks.used < sizeof(task.pid))
			die("%s: has half a task", path);
		memcpy(&task.pid, tasks.data + tasks.used, sizeof(task.pid));
		tasks.used += sizeof(task.pid);
		task.comm = get_text(&tasks, path);
		flight->tasks = grow(flight->tasks, flight->nr_tasks, sizeof(*flight->tasks));
		flight->tasks[flight->nr_tasks++] = task;
	}
	while (calls.used < calls.size) {
		struct call call;
		uint64_t since, took;
		uint32_t cpu;

		if (!get_number(&calls, &since) || __builtin_add_overflow(time, since, &time) ||
		    !get_index(&calls, &cpu, UINT16_MAX) ||
		    !get_index(&calls, &call.task, flight->nr_tasks) ||
		    !get_index(&calls, &call.func, flight->nr_names) ||
		    !get_index(&calls, &call.caller, flight->nr_names) ||
		    !get_number(&calls, &took) ||
		    __builtin_add_overflow(time, took ? took - 1 : 0, &call.end))
			die("%s: has a call that cannot be", path);
		call.time = time;
		call.end = took ? call.end : 0;
		call.cpu = cpu;
		flight->calls = grow(flight->calls, flight->nr_calls, sizeof(*flight->calls));
		flight->calls[flight->nr_calls++] = call;
	}
	free(calls.data);
	return flight;
}
