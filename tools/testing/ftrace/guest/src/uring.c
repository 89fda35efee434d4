// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write words to one open file from three threads at once: two of them through an io_uring each, the
 * third with write(2). io_uring does not take the lock of the file position.
 *
 * usage: uring FILE SECONDS WRITES WORD... - the threads write each WORD in turn, with a newline, for
 * SECONDS, and on a slow machine until there are WRITES
 *
 * Prints "writes N refused N", or the error of io_uring_setup(2). Each thread uses its own copy of the
 * words, so a word that is refused was mixed with another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct ring {
	int fd;
	atomic_uint *sq_tail, *cq_head, *cq_tail;
	unsigned int *sq_array, sq_mask, cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

struct writer {
	pthread_t thread;
	struct ring *ring;	/* NULL: write(2) */
	unsigned int first;
	long refused;
};

static int fd;
static char **words;
static unsigned int nr_words;
static atomic_bool stopped;
static atomic_long writes;

static void die(const char *what)
{
	perror(what);
	exit(3);
}

static void *ring_map(int ring, size_t size, off_t at)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, at);

	if (p == MAP_FAILED)
		die("mmap of a ring");
	return p;
}

/* Returns false if the kernel has no io_uring. */
static bool ring_open(struct ring *r)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	r->fd = syscall(SYS_io_uring_setup, 4, &p);
	if (r->fd < 0)
		return false;
	sq = ring_map(r->fd, p.sq_off.array + p.sq_entries * sizeof(unsigned int), IORING_OFF_SQ_RING);
	cq = ring_map(r->fd, p.cq_off.cqes + p.cq_entries * sizeof(*r->cqes), IORING_OFF_CQ_RING);
	r->sqes = ring_map(r->fd, p.sq_entries * sizeof(*r->sqes), IORING_OFF_SQES);
	r->sq_tail = (atomic_uint *)(sq + p.sq_off.tail);
	r->sq_mask = *(unsigned int *)(sq + p.sq_off.ring_mask);
	r->sq_array = (unsigned int *)(sq + p.sq_off.array);
	r->cq_head = (atomic_uint *)(cq + p.cq_off.head);
	r->cq_tail = (atomic_uint *)(cq + p.cq_off.tail);
	r->cq_mask = *(unsigned int *)(cq + p.cq_off.ring_mask);
	r->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return true;
}

static long ring_write(struct ring *r, const char *text)
{
	unsigned int tail = atomic_load(r->sq_tail), at = tail & r->sq_mask, head;
	long ret;

	r->sqes[at] = (struct io_uring_sqe) {
		.opcode = IORING_OP_WRITE,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (uintptr_t)text,
		.len = strlen(text),
	};
	r->sq_array[at] = at;
	atomic_store(r->sq_tail, tail + 1);
	while (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		if (errno != EINTR)
			die("io_uring_enter");
	head = atomic_load(r->cq_head);
	if (head == atomic_load(r->cq_tail))
		die("no completion");
	ret = r->cqes[head & r->cq_mask].res;
	atomic_store(r->cq_head, head + 1);
	return ret;
}

static void *writer_run(void *arg)
{
	struct writer *w = arg;
	char text[256];

	for (unsigned int i = w->first; !atomic_load(&stopped); i++) {
		long len = snprintf(text, sizeof(text), "%s\n", words[i % nr_words]), ret;

		ret = w->ring ? ring_write(w->ring, text) : write(fd, text, len);
		atomic_fetch_add(&writes, 1);
		w->refused += ret != len;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct ring rings[2];
	struct writer writers[3] = { 0 };
	long refused = 0;

	if (argc < 5) {
		fputs("usage: uring FILE SECONDS WRITES WORD...\n", stderr);
		return 2;
	}
	words = argv + 4;
	nr_words = argc - 4;
	fd = open(argv[1], O_WRONLY | O_TRUNC);
	if (fd < 0)
		die(argv[1]);
	for (int i = 0; i < 2; i++) {
		if (!ring_open(&rings[i])) {
			printf("%s\n", strerror(errno));
			return 1;
		}
		writers[i].ring = &rings[i];
	}
	for (int i = 0; i < 3; i++) {
		writers[i].first = i;
		if (pthread_create(&writers[i].thread, NULL, writer_run, &writers[i]))
			die("pthread_create");
	}
	sleep(atoi(argv[2]));
	while (atomic_load(&writes) < atol(argv[3]))
		usleep(100000);
	atomic_store(&stopped, true);
	for (int i = 0; i < 3; i++) {
		pthread_join(writers[i].thread, NULL);
		refused += writers[i].refused;
	}
	if (close(fd))
		die("close");
	printf("writes %ld refused %ld\n", atomic_load(&writes), refused);
	return 0;
}
