// SPDX-License-Identifier: GPL-2.0-only
/*
 * ftio: file operations that report the exact error, for guest scripts.
 *
 * A shell says "write error: Invalid argument" and loses the rest, but a test of a control file
 * needs the errno. If the kernel accepts the operation, a verb prints nothing and exits with 0. If
 * the kernel refuses the operation, the verb prints the name of the errno and exits with 1. Exit
 * status 2 is wrong usage; 3 is a failure outside the operation.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/elf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY	65534
#define RING_PAGES	1024
#define FAIL_NTH	"/proc/self/fail-nth"

/* The kernel's names of the errors. */
#ifdef __x86_64__
#define elfhdr		elf64_hdr
#define elf_phdr	elf64_phdr
#else
#define elfhdr		elf32_hdr
#define elf_phdr	elf32_phdr
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const char usage[] =
	"usage: ftio VERB ...\n"
	"  write FILE TEXT    open for writing with truncation, write TEXT, close\n"
	"  append FILE TEXT   the same with O_APPEND and no truncation\n"
	"  pwrite FILE TEXT   the same with pwrite(2), at position 0\n"
	"  map FILE           map the ring buffer of a CPU, trace_pipe_raw, and unmap it\n"
	"  read FILE          open and read to the end\n"
	"  open MODE FILE     open with MODE r, w, a or rw\n"
	"  mkdir DIR          rmdir DIR\n"
	"  insmod FILE        rmmod NAME\n"
	"  nobody VERB ...    do VERB as an unprivileged user\n"
	"  nth N VERB ...     do VERB; its Nth failable allocation fails; status 4 if it made fewer\n"
	"  nops               read \"ADDRESS NAME\" lines, list those not the 5-byte nop in /proc/kcore; or \"all nops\"\n"
	"  bytes ADDRESS N    print N bytes of kernel memory\n"
	"  perf ID FILTER [N]  count what an event, or N together, of trace event ID see of 10 one-byte reads\n"
	"  pokes FILE TEXT    write TEXT to FILE and print what perf is told of text and symbols that change\n";

static void die(const char *what)
{
	fprintf(stderr, "ftio: %s: %s\n", what, strerror(errno));
	exit(3);
}

static int refused(void)
{
	printf("%s\n", strerrorname_np(errno));
	return 1;
}

static int write_all(const char *file, const char *text, int flags)
{
	size_t left = strlen(text);
	int fd = open(file, flags);
	int err = 0;

	if (fd < 0)
		return refused();
	/* A control file takes a word at a time; go on as a shell would. */
	while (left) {
		ssize_t n = write(fd, text, left);

		if (n <= 0) {
			err = n ? errno : EIO;
			break;
		}
		text += n;
		left -= n;
	}
	if (close(fd) && !err)
		err = errno;
	errno = err;
	return err ? refused() : 0;
}

static int write_at(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return refused();
	if (pwrite(fd, text, strlen(text), 0) < 0)
		err = errno;
	if (close(fd) && !err)
		err = errno;
	errno = err;
	return err ? refused() : 0;
}

static int map_ring(const char *file)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK);
	size_t size = sysconf(_SC_PAGESIZE);
	void *page;

	if (fd < 0)
		return refused();
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return refused();
	munmap(page, size);
	close(fd);
	return 0;
}

static int read_all(const char *file)
{
	char buf[4096];
	int fd = open(file, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return refused();
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		;
	if (n < 0)
		return refused();
	close(fd);
	return 0;
}

static int open_mode(const char *mode, const char *file)
{
	int flags;

	if (!strcmp(mode, "r"))
		flags = O_RDONLY;
	else if (!strcmp(mode, "w"))
		flags = O_WRONLY;
	else if (!strcmp(mode, "a"))
		flags = O_WRONLY | O_APPEND;
	else if (!strcmp(mode, "rw"))
		flags = O_RDWR;
	else
		return 2;
	return open(file, flags) < 0 ? refused() : 0;
}

static int load_module(const char *file)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		return refused();
	return syscall(SYS_finit_module, fd, "", 0) ? refused() : 0;
}

static int run(int argc, char **argv);

static int as_nobody(int argc, char **argv)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		die("become nobody");
	return run(argc, argv);
}

/*
 * Each allocation that may fail counts the number in the file down. If 1 or more is left, no
 * allocation failed.
 */
static int with_failure(const char *n, int argc, char **argv)
{
	char left[16] = "";
	int fd = open(FAIL_NTH, O_RDWR);
	int err, ret;

	/* The kernel allocates for the first read, and stdio for its first output: not later. */
	if (fd < 0 || read(fd, left, sizeof(left) - 1) < 0)
		die(FAIL_NTH);
	setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
	if (pwrite(fd, n, strlen(n), 0) < 0)
		die(FAIL_NTH);
	ret = run(argc, argv);
	memset(left, 0, sizeof(left));
	err = pread(fd, left, sizeof(left) - 1, 0) < 0;
	if (pwrite(fd, "0", 1, 0) < 0 || err)
		die(FAIL_NTH);
	return atoi(left) > 0 ? 4 : ret;
}

/* Where kernel memory is in /proc/kcore, an ELF core file. */
struct kcore {
	int fd;
	int count;
	struct elf_phdr ph[64];
};

static void kcore_open(struct kcore *k)
{
	struct elfhdr eh;

	k->fd = open("/proc/kcore", O_RDONLY);
	if (k->fd < 0)
		die("/proc/kcore");
	if (pread(k->fd, &eh, sizeof(eh), 0) != sizeof(eh))
		die("read /proc/kcore");
	k->count = eh.e_phnum;
	if (k->count > (int)ARRAY_SIZE(k->ph))
		die("too many segments");
	if (pread(k->fd, k->ph, k->count * sizeof(k->ph[0]), eh.e_phoff) < 0)
		die("read program headers");
}

static bool kcore_read(const struct kcore *k, unsigned long addr, void *buf, size_t len)
{
	for (int i = 0; i < k->count; i++) {
		const struct elf_phdr *p = &k->ph[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr + len > p->p_filesz)
			continue;
		return pread(k->fd, buf, len, p->p_offset + (addr - p->p_vaddr)) == (ssize_t)len;
	}
	return false;
}

/* Reading in pieces of several pages: a read() a site takes half a minute on an emulated CPU. */
#define WINDOW	65536

static int check_nops(void)
{
#ifdef __x86_64__
	static const unsigned char nop[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
#else
	static const unsigned char nop[5] = { 0x3e, 0x8d, 0x74, 0x26, 0x00 };
#endif
	static unsigned char window[WINDOW];
	unsigned long base = 0;
	size_t size = 0;
	long sites = 0, bad = 0;
	char line[512], name[256];
	struct kcore k;

	kcore_open(&k);
	while (fgets(line, sizeof(line), stdin)) {
		const unsigned char *b;
		unsigned char few[5];
		unsigned long addr;

		if (sscanf(line, "%lx %255s", &addr, name) != 2)
			die("a line is not \"ADDRESS NAME\"");
		sites++;
		if (!size || addr < base || addr + 5 > base + size) {
			size = WINDOW;
			base = addr;
			while (size > 5 && !kcore_read(&k, base, window, size))
				size /= 2;
			if (size <= 5)
				size = 0;
		}
		if (size) {
			b = window + (addr - base);
		} else if (kcore_read(&k, addr, few, sizeof(few))) {
			b = few;
		} else {
			printf("%s unreadable\n", name);
			bad++;
			continue;
		}
		if (memcmp(b, nop, sizeof(nop))) {
			printf("%s %02x %02x %02x %02x %02x\n", name, b[0], b[1], b[2], b[3], b[4]);
			bad++;
		}
	}
	/* An empty list proves nothing. */
	if (bad || !sites)
		return 1;
	printf("all nops\n");
	return 0;
}

static int show_bytes(unsigned long addr, size_t len)
{
	static unsigned char buf[WINDOW];
	struct kcore k;

	if (len > sizeof(buf))
		return 2;
	kcore_open(&k);
	if (!kcore_read(&k, addr, buf, len))
		die("address not in /proc/kcore");
	for (size_t i = 0; i < len; i++)
		printf("%s%02x", i ? " " : "", buf[i]);
	printf("\n");
	return 0;
}

/*
 * @nr events at the same time, each with the filter, as perf opens them for many CPUs and tasks.
 * Prints what all of them together see of ten reads. Reading a counter is a read, too, so all
 * events are off before that.
 */
static int count_perf(unsigned long id, const char *filter, unsigned int nr)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.disabled = 1,
		/* User stacks would cause page faults in a trace of the page fault handler. */
		.exclude_callchain_user = 1,
	};
	struct rlimit files = { nr + 16, nr + 16 };
	int zero = open("/dev/zero", O_RDONLY), *fd = calloc(nr, sizeof(*fd));
	unsigned long long count, sum = 0;
	char c;

	if (zero < 0 || !fd || setrlimit(RLIMIT_NOFILE, &files))
		die("no room for the events");
	for (unsigned int i = 0; i < nr; i++) {
		fd[i] = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
		if (fd[i] < 0 || ioctl(fd[i], PERF_EVENT_IOC_SET_FILTER, filter) ||
		    ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0))
			return refused();
	}
	for (int i = 0; i < 10; i++)
		if (read(zero, &c, 1) != 1)
			die("read /dev/zero");
	for (unsigned int i = 0; i < nr; i++)
		if (ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0))
			return refused();
	for (unsigned int i = 0; i < nr; i++) {
		if (read(fd[i], &count, sizeof(count)) != sizeof(count))
			die("read the counter");
		sum += count;
	}
	printf("%llu\n", sum);
	return 0;
}

struct poke_record {
	struct perf_event_header header;
	__u64 addr;
	__u16 old_len;
	__u16 new_len;
	__u8 bytes[];
};

struct symbol_record {
	struct perf_event_header header;
	__u64 addr;
	__u32 len;
	__u16 type;
	__u16 flags;
	char name[];
};

static void print_poke(const struct poke_record *poke)
{
	printf("poke %0*llx", (int)(2 * sizeof(long)), (unsigned long long)poke->addr);
	if (poke->new_len > 8) {
		printf(" %u bytes\n", poke->new_len);
		return;
	}
	for (int i = 0; i < poke->old_len + poke->new_len; i++)
		printf("%s%02x", i == poke->old_len ? " > " : " ", poke->bytes[i]);
	printf("\n");
}

static void print_symbol(const struct symbol_record *symbol)
{
	printf("%s %0*llx %u %s\n",
	       symbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? "gone" : "symbol",
	       (int)(2 * sizeof(long)), (unsigned long long)symbol->addr, symbol->len, symbol->name);
}

static void print_record(const struct perf_event_header *record)
{
	switch (record->type) {
	case PERF_RECORD_TEXT_POKE:
		print_poke((const void *)record);
		break;
	case PERF_RECORD_KSYMBOL:
		print_symbol((const void *)record);
		break;
	case PERF_RECORD_LOST:
		printf("lost\n");
		break;
	}
}

/* Of what this task does on any CPU; see perf_event_open(2). */
static int show_pokes(const char *file, const char *text)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.ksymbol = 1,
		.text_poke = 1,
	};
	size_t page = sysconf(_SC_PAGESIZE);
	const struct perf_event_mmap_page *control;
	const struct perf_event_header *record;
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	int status;

	if (fd < 0)
		return refused();
	control = mmap(NULL, (1 + RING_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		die("mmap of a perf event");
	status = write_all(file, text, O_WRONLY | O_TRUNC);
	for (__u64 at = 0; at < control->data_head; at += record->size) {
		record = (const void *)((const char *)control + page + at);
		print_record(record);
	}
	return status;
}

static int run(int argc, char **argv)
{
	const char *verb = argc ? argv[0] : "";

	if (!strcmp(verb, "write") && argc == 3)
		return write_all(argv[1], argv[2], O_WRONLY | O_TRUNC);
	if (!strcmp(verb, "append") && argc == 3)
		return write_all(argv[1], argv[2], O_WRONLY | O_APPEND);
	if (!strcmp(verb, "pwrite") && argc == 3)
		return write_at(argv[1], argv[2]);
	if (!strcmp(verb, "map") && argc == 2)
		return map_ring(argv[1]);
	if (!strcmp(verb, "read") && argc == 2)
		return read_all(argv[1]);
	if (!strcmp(verb, "open") && argc == 3)
		return open_mode(argv[1], argv[2]);
	if (!strcmp(verb, "mkdir") && argc == 2)
		return mkdir(argv[1], 0755) ? refused() : 0;
	if (!strcmp(verb, "rmdir") && argc == 2)
		return rmdir(argv[1]) ? refused() : 0;
	if (!strcmp(verb, "insmod") && argc == 2)
		return load_module(argv[1]);
	if (!strcmp(verb, "rmmod") && argc == 2)
		return syscall(SYS_delete_module, argv[1], O_NONBLOCK) ? refused() : 0;
	if (!strcmp(verb, "nobody") && argc > 1)
		return as_nobody(argc - 1, argv + 1);
	if (!strcmp(verb, "nth") && argc > 2)
		return with_failure(argv[1], argc - 2, argv + 2);
	if (!strcmp(verb, "nops") && argc == 1)
		return check_nops();
	if (!strcmp(verb, "bytes") && argc == 3)
		return show_bytes(strtoul(argv[1], NULL, 16), strtoul(argv[2], NULL, 0));
	if (!strcmp(verb, "perf") && argc == 3)
		return count_perf(strtoul(argv[1], NULL, 0), argv[2], 1);
	if (!strcmp(verb, "perf") && argc == 4)
		return count_perf(strtoul(argv[1], NULL, 0), argv[2], strtoul(argv[3], NULL, 0));
	if (!strcmp(verb, "pokes") && argc == 3)
		return show_pokes(argv[1], argv[2]);
	return 2;
}

int main(int argc, char **argv)
{
	int ret = run(argc - 1, argv + 1);

	if (ret == 2)
		fputs(usage, stderr);
	return ret;
}
